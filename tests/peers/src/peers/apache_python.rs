//! Apache Thrift's Python library. The scripts generate their types when they start.

use super::python::Scripts;
use crate::matrix::{Cell, Row};
use crate::program::{Missing, installed};
use crate::way::{Around, Names, Protocol, Way};

pub(super) const SCRIPTS: Scripts = Scripts {
    peer: "Apache Python",
    client: "apache_client.py",
    server: "apache_server.py",
    name: "apache-py",
    needs: compiler,
};

pub(super) fn rows() -> Vec<Row> {
    let mut rows: Vec<_> = Way::all().chain(Way::old()).map(|way| SCRIPTS.row(way, way.words()[0])).collect();
    for way in Way::all().filter(|way| way.names == Names::Plain) {
        let accelerated = match way.protocol {
            Protocol::Compact => "compact-accelerated",
            _ => "binary-accelerated",
        };
        rows.push(SCRIPTS.row(way, accelerated));
        rows.push(Row {
            peer: "Apache Python, nonblocking",
            way: way.to_string(),
            calls_us: Cell::NotApplicable("a server alone"),
            is_called: match way.around {
                Around::Frame => {
                    Cell::check(SCRIPTS.is_called(way, way.words()[0], &["--server", "nonblocking"]))
                }
                Around::Nothing => Cell::NotApplicable("it reads frames only; wire/thrift.md §4"),
            },
        });
    }
    rows
}

fn compiler() -> Result<(), Missing> {
    installed("thrift", "apt-get install thrift-compiler").map(drop)
}
