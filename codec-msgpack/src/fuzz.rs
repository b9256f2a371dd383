//! Bodies for fuzzers: they take any bytes and panic only when a promise is broken.

use std::fmt;

use bytes::{Bytes, BytesMut};
use rpc_core::{Decode as _, Encode as _, Place};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::walk::{MAX_DEPTH, value_len};
use crate::{MsgPack, Rpc};

/// Feeds bytes to both sides of msgpack-rpc, as [`rpc_wire::fuzz::frames`] says.
///
/// # Panics
/// When the same bytes in other pieces give something else.
pub fn frames(data: &[u8]) {
    rpc_wire::fuzz::frames(&Rpc::new(), data);
}

/// Reads a value in the place that the first byte says. One that can be read is written, read and written again, with the
/// same bytes both times. The type should hold no hash maps, whose order changes.
///
/// # Panics
/// When the bytes differ, or when a value is read where there is not exactly one.
pub fn value<T: Serialize + DeserializeOwned + fmt::Debug>(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    let place = match first % 5 {
        0 => Place::Arguments,
        1 => Place::Message,
        2 => Place::Result,
        3 => Place::Exception,
        _ => Place::Item,
    };
    let codec = match first / 5 % 3 {
        0 => MsgPack::new(),
        1 => MsgPack::new().structs_as_maps(true),
        _ => MsgPack::new().raw_compat(true),
    };
    let Ok(read) = codec.decode(place, Bytes::copy_from_slice(data)) else { return };
    let whole = value_len(data, MAX_DEPTH).ok() == Some(data.len());
    assert!(whole, "a value was read where there is not one: {read:?}");
    // Some that can be read can not be written: bytes may become a list, which is a level more, and the old dialect has no
    // ext values.
    let Some(first) = written::<T>(codec, place, &read) else { return };
    match codec.decode(place, first.clone()) {
        Ok(again) => assert_eq!(Some(first), written::<T>(codec, place, &again), "{place:?}: {again:?}"),
        Err(error) => panic!("{read:?} was read, but not after writing it: {error}"),
    }
}

fn written<T: Serialize>(codec: MsgPack, place: Place, value: &T) -> Option<Bytes> {
    let mut dst = BytesMut::new();
    codec.encode(place, value, &mut dst).ok()?;
    Some(dst.freeze())
}
