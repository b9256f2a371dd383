//! The peers, a file each: how its programs are started, and its rows of the table.

mod apache_python;
pub mod apache_rust;
mod compiled;
mod kitex;
mod msgpack_rpc;
pub mod python;
mod thriftpy2;

use crate::matrix::Row;

/// Every row of the table.
pub fn rows() -> Vec<Row> {
    [
        apache_python::rows(),
        thriftpy2::rows(),
        compiled::rows(),
        kitex::rows(),
        apache_rust::rows(),
        msgpack_rpc::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
