//! Apache Thrift's libraries for Go, Node, C++ and Java: programs that `tests/peers/install` makes. All take the same words:
//! `client HOST PORT PROTOCOL TRANSPORT NAMES` or `server PROTOCOL TRANSPORT NAMES`.

use std::path::PathBuf;

use tokio::process::Command;

use crate::idl::echo::EchoRequest;
use crate::matrix::{Cell, Row};
use crate::program::{Missing, command, installed, made, run_checks, serve};
use crate::service::requests;
use crate::way::{self, Ours, Protocol, Theirs, Way};

type Program = (PathBuf, Vec<PathBuf>);

#[derive(Clone, Copy)]
struct Peer {
    name: &'static str,
    /// What its server calls itself.
    server_name: &'static str,
    /// The program, and the words before those that all take.
    program: fn() -> Result<Program, Missing>,
    /// How many checks its client makes.
    checks: usize,
    /// What its server is sent.
    requests: fn(Way) -> Vec<(&'static str, EchoRequest)>,
}

const GO: Peer = Peer {
    name: "Apache Go",
    server_name: "apache-go",
    program: || Ok((made("go/peer")?, Vec::new())),
    checks: 7,
    requests: |_| requests(),
};

const NODE: Peer = Peer {
    name: "Apache Node",
    server_name: "apache-node",
    program: || {
        let script = made("node/main.mjs")?;
        Ok((installed("node", "apt-get install nodejs npm, then run tests/peers/install")?, vec![script]))
    },
    checks: 9,
    requests: node_requests,
};

const CPP: Peer = Peer {
    name: "Apache C++",
    server_name: "apache-cpp",
    program: || Ok((made("cpp/peer")?, Vec::new())),
    checks: 8,
    requests: |_| requests(),
};

const JAVA: Peer = Peer {
    name: "Apache Java",
    server_name: "apache-java",
    program: || Ok((made("java/peer")?, Vec::new())),
    checks: 8,
    requests: |_| requests(),
};

/// Why npm's library is not sent lists of bools over compact.
const NODE_BOOLS: &str = "it reads each as false, whatever its byte; wire/thrift.md §3";

fn node_requests(way: Way) -> Vec<(&'static str, EchoRequest)> {
    let mut requests = requests();
    if way.protocol == Protocol::Compact {
        for (_, request) in &mut requests {
            request.flags.clear();
        }
    }
    requests
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for peer in [GO, NODE, CPP, JAVA] {
        rows.extend(Way::all().map(|way| Row {
            peer: peer.name,
            way: way.to_string(),
            calls_us: Cell::check(peer.calls_us(way, peer.checks, None)),
            is_called: Cell::check(peer.is_called(way)),
        }));
    }
    // Its oneway calls have the message type of calls.
    rows.extend(Way::all().map(|way| Row {
        peer: GO.name,
        way: format!("{way}: oneway"),
        calls_us: Cell::check(GO.calls_us(way, 1, Some("oneway"))),
        is_called: Cell::NotApplicable("in the row without this word"),
    }));
    rows.extend(Way::all().filter(|way| way.protocol == Protocol::Compact).map(|way| Row {
        peer: NODE.name,
        way: format!("{way}: lists of bools"),
        calls_us: Cell::NotApplicable(NODE_BOOLS),
        is_called: Cell::NotApplicable(NODE_BOOLS),
    }));
    rows.sort_by_key(|row| row.peer);
    rows
}

impl Peer {
    fn start(self, words: impl IntoIterator<Item = String>) -> Result<Command, Missing> {
        let (program, first) = (self.program)()?;
        let mut command = command(&program, first);
        command.args(words);
        Ok(command)
    }

    async fn calls_us(self, way: Way, checks: usize, more: Option<&'static str>) -> Result<(), Missing> {
        let ours = Ours::serve(way).await;
        let words = ["client".into(), "127.0.0.1".into(), ours.port.to_string()];
        let client =
            self.start(words.into_iter().chain(way.words().into_iter().chain(more).map(Into::into)))?;
        run_checks(client, checks).await;
        Ok(())
    }

    async fn is_called(self, way: Way) -> Result<(), Missing> {
        let server = self.start(["server".into()].into_iter().chain(way.words().map(Into::into)))?;
        let server = serve(server).await;
        let theirs = Theirs { name: self.server_name, requests: (self.requests)(way) };
        way::call(way, &server.address, &theirs).await;
        Ok(())
    }
}
