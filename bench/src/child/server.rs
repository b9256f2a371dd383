//! A server process: one system, one control connection.

use super::{VERSION, die_with_parent, ready, runtime};
use crate::alloc;
use crate::control::link::{Link, LinkError};
use crate::control::messages::{Answer, Request, ServerOrder};
use crate::process::{self, Mark};
use crate::system::registry;
use crate::system::{BoxError, Server, ServerConfig};

/// Serves until the control connection or the parent is gone, or `Stop` comes.
///
/// # Errors
///
/// If the server can not be started, or the control connection fails.
pub fn run(order: &ServerOrder, parent: u32) -> Result<(), BoxError> {
    die_with_parent(parent)?;
    let entry = registry::find(&order.system).ok_or_else(|| format!("unknown system '{}'", order.system))?;
    let runtime = runtime::build(order.threads, &order.cpus)?;
    let config =
        ServerConfig { addr: order.addr, threads: order.threads, body: order.body, dispatch: order.dispatch };
    let server = (entry.start)(&runtime, config)?;
    let mut link = ready(Some(server.local_addr()))?;
    let ended = obey(&mut link, &*server);
    // Handlers may be in the middle of something; the process ends all the same.
    runtime.shutdown_background();
    match ended {
        Ok(()) | Err(LinkError::Ended) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn obey(link: &mut Link, server: &dyn Server) -> Result<(), LinkError> {
    loop {
        let answer = match link.receive(None)? {
            Request::Hello { .. } => Answer::Hello { version: VERSION.to_owned() },
            Request::Mark => Answer::Mark(Mark { accepted: server.accepted(), ..Mark::now() }),
            Request::ResetPeak => {
                process::reset_peak();
                Answer::Done
            }
            Request::Allocs { on: true } => {
                alloc::start();
                Answer::Done
            }
            Request::Allocs { on: false } => Answer::Allocs(alloc::stop()),
            Request::Stop => {
                link.send(&Answer::Done)?;
                return Ok(());
            }
            other => Answer::Failed { message: format!("a server can not do this: {other:?}") },
        };
        link.send(&answer)?;
    }
}
