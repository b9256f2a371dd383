//! Bodies for fuzzers: they take any bytes and panic only when a promise is broken.

use std::fmt;

use bytes::{Bytes, BytesMut};
use rpc_core::{Decode as _, Encode as _, Place};
use rpc_wire::{Framed, MessageHeader as _, TtHeader};

use crate::{KitexHeader, Protobuf};

/// Feeds bytes to both sides of framed Kitex-Protobuf, as [`rpc_wire::fuzz::frames`] says.
///
/// # Panics
/// When the same bytes in other pieces give something else.
pub fn frames(data: &[u8]) {
    rpc_wire::fuzz::frames(&Framed::new(KitexHeader), data);
}

/// The same behind a TTHeader.
///
/// # Panics
/// When the same bytes in other pieces give something else.
pub fn ttheader_frames(data: &[u8]) {
    rpc_wire::fuzz::frames(&TtHeader::new(KitexHeader), data);
}

/// Reads a failure; one that can be read is written and read again.
///
/// # Panics
/// When it does not come out as it went in.
pub fn exception(data: &[u8]) {
    let Ok(status) = KitexHeader.read_exception(Bytes::copy_from_slice(data)) else { return };
    let mut written = BytesMut::new();
    KitexHeader.write_exception(&status, &mut written);
    assert_eq!(KitexHeader.read_exception(written.freeze()), Ok(status));
}

/// Reads a message; one that can be read is written, read and written again, with the same bytes both times. The type
/// should hold no hash maps, whose order changes.
///
/// # Panics
/// When the bytes differ.
pub fn message<T: prost::Message + Default + fmt::Debug>(data: &[u8]) {
    let Ok(read) = Protobuf.decode(Place::Message, Bytes::copy_from_slice(data)) else { return };
    let first = written::<T>(&read);
    match Protobuf.decode(Place::Message, first.clone()) {
        Ok(again) => assert_eq!(first, written::<T>(&again), "{read:?} was read, {again:?} after writing it"),
        Err(error) => panic!("{read:?} was read, but not after writing it: {error}"),
    }
}

fn written<T: prost::Message>(message: &T) -> Bytes {
    let mut dst = BytesMut::new();
    match Protobuf.encode(Place::Message, message, &mut dst) {
        Ok(()) => dst.freeze(),
        Err(error) => panic!("what was read can not be written: {error}"),
    }
}
