//! What the Python peers share.

use std::ffi::OsString;
use std::path::PathBuf;

use tokio::process::Command;

use crate::matrix::{Cell, Row};
use crate::program::{Missing, command, made, run_checks, script, serve};
use crate::service::requests;
use crate::way::{Ours, Theirs, Way, call};

/// The Python that has the peers' libraries.
///
/// # Errors
/// When `tests/peers/install` did not run.
pub fn python() -> Result<PathBuf, Missing> {
    made("python/bin/python")
}

/// A script with arguments for the peers' Python.
///
/// # Errors
/// Where that Python is missing.
pub fn run_script(name: &str, arguments: &[&str]) -> Result<Command, Missing> {
    let arguments = arguments.iter().map(OsString::from);
    Ok(command(&python()?, [OsString::from("-u"), script(name).into()].into_iter().chain(arguments)))
}

/// A Thrift library's two scripts.
#[derive(Clone, Copy)]
pub(super) struct Scripts {
    pub(super) peer: &'static str,
    pub(super) client: &'static str,
    pub(super) server: &'static str,
    /// What the server calls itself.
    pub(super) name: &'static str,
    /// What they need besides.
    pub(super) needs: fn() -> Result<(), Missing>,
}

impl Scripts {
    /// A row for one of the library's implementations of a protocol.
    pub(super) fn row(self, way: Way, implementation: &'static str) -> Row {
        let other = implementation != way.words()[0];
        Row {
            peer: self.peer,
            way: if other { format!("{way} ({implementation})") } else { way.to_string() },
            calls_us: Cell::check(self.calls_us(way, implementation)),
            is_called: Cell::check(self.is_called(way, implementation, &[])),
        }
    }

    /// Its client, which calls a port of 127.0.0.1.
    pub(super) fn client_of(
        self,
        way: Way,
        implementation: &'static str,
        port: u16,
    ) -> Result<Command, Missing> {
        (self.needs)()?;
        let port = port.to_string();
        run_script(self.client, &[&["127.0.0.1", &port], &options(way, implementation)[..]].concat())
    }

    /// Its server, which gets some options more.
    pub(super) fn server_of(
        self,
        way: Way,
        implementation: &'static str,
        more: &[&'static str],
    ) -> Result<Command, Missing> {
        (self.needs)()?;
        run_script(self.server, &[&options(way, implementation)[..], more].concat())
    }

    async fn calls_us(self, way: Way, implementation: &'static str) -> Result<(), Missing> {
        let ours = Ours::serve(way).await;
        run_checks(self.client_of(way, implementation, ours.port)?, 8).await;
        Ok(())
    }

    /// Our clients call its server.
    pub(super) async fn is_called(
        self,
        way: Way,
        implementation: &'static str,
        more: &'static [&'static str],
    ) -> Result<(), Missing> {
        let server = serve(self.server_of(way, implementation, more)?).await;
        call(way, &server.address, &Theirs { name: self.name, requests: requests() }).await;
        Ok(())
    }
}

fn options(way: Way, implementation: &'static str) -> Vec<&'static str> {
    let [_, transport, names] = way.words();
    let mut options = vec!["--protocol", implementation, "--transport", transport];
    if names == "multiplexed" {
        options.extend(["--multiplexed", "Echo"]);
    }
    options
}
