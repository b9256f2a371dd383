//! Programs of Apache Thrift's libraries in other languages, which `tests/peers/install` makes. Each takes the same words:
//! `client HOST PORT PROTOCOL TRANSPORT NAMES` or `server PROTOCOL TRANSPORT NAMES`.

use crate::matrix::Row;

pub(super) fn rows() -> Vec<Row> {
    Vec::new()
}
