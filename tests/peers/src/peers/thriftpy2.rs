//! thriftpy2, a Python library that reads the IDL at run time. It sends the id 0 with every call, and reads sets as lists.

use super::python::Scripts;
use crate::matrix::Row;
use crate::way::{Names, Protocol, Way};

const SCRIPTS: Scripts = Scripts {
    peer: "thriftpy2",
    client: "thriftpy2_client.py",
    server: "thriftpy2_server.py",
    name: "thriftpy2",
    needs: || Ok(()),
};

pub(super) fn rows() -> Vec<Row> {
    let mut rows: Vec<_> = Way::all().chain(Way::old()).map(|way| SCRIPTS.row(way, way.words()[0])).collect();
    // Its implementation in C knows binary alone.
    let cython = Way::all().filter(|way| way.protocol == Protocol::Binary && way.names == Names::Plain);
    rows.extend(cython.map(|way| SCRIPTS.row(way, "cython")));
    rows
}
