//! How a server says that it takes no more calls, without being asked: a packet of id 0 with the key `crrst`.
//!
//! Only clients that multiplex read answers which they did not wait for, so it is for those alone; the others find the key
//! on their next answer. Source: `wire/thrift.md` §12.

/// The packet as Kitex writes it: an answer named `none` with nothing in it, unframed and in Thrift binary whatever the
/// connection speaks.
pub(super) const GOING_AWAY: &[u8] = b"\
    \x00\x00\x00\x2b\x10\x00\x00\x00\x00\x00\x00\x00\x00\x04\
    \x00\x00\x01\x00\x01\x00\x05crrst\x00\x011\x00\
    \x80\x01\x00\x02\x00\x00\x00\x04none\x00\x00\x00\x00\x00";

/// The id of packets that are about the connection.
pub(super) const ID: u32 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_kitexs_byte_for_byte() {
        assert_eq!(GOING_AWAY, crate::testing::golden(include_str!("../../testdata/h3-control.hex")));
    }
}
