//! What the tests share.
#![allow(dead_code, clippy::unwrap_used, clippy::missing_panics_doc)]

use bytes::{Bytes, BytesMut};
use rpc::msgpack::MsgPack;
use rpc::thrift::Binary;
use rpc::{
    BoxFuture, Codec, Decode, DecodeError, Dispatch, Encode, EncodeError, Executor, NamedService, Place,
    Router, Routes,
};
use std::fmt::Debug;
use std::sync::Arc;

/// Runs what handlers leave behind on the test's own runtime.
struct Here;

impl Executor for Here {
    fn spawn(&self, task: BoxFuture<()>) {
        drop(tokio::spawn(task));
    }

    fn spawn_blocking(&self, task: BoxFuture<()>) {
        drop(tokio::spawn(task));
    }
}

/// A service as the transport of a client: requests go to its handlers without a network between.
pub(crate) fn routes<C: Codec>(codec: C, service: impl NamedService<C>) -> Routes {
    Router::new().add_with(service, Dispatch::Inline).into_routes(&(codec,), Arc::new(Here))
}

/// Bytes from hex, spaces left out.
pub(crate) fn hex(text: &str) -> Bytes {
    let digits: Vec<u8> =
        text.chars().filter_map(|c| c.to_digit(16)).map(|digit| u8::try_from(digit).unwrap()).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

pub(crate) fn encode<C: Encode<T>, T>(codec: C, place: Place, value: &T) -> Result<Bytes, EncodeError> {
    let mut dst = BytesMut::new();
    codec.encode(place, value, &mut dst).map(|()| dst.freeze())
}

pub(crate) fn decode<C: Decode<T>, T>(codec: C, place: Place, bytes: Bytes) -> Result<T, DecodeError> {
    codec.decode(place, bytes)
}

/// There and back over Thrift's binary protocol and over MessagePack in both of its forms.
pub(crate) fn round_trip<T>(value: &T)
where
    T: PartialEq + Debug,
    Binary: Encode<T> + Decode<T>,
    MsgPack: Encode<T> + Decode<T>,
{
    there_and_back(Binary, value);
    there_and_back(MsgPack::new(), value);
    there_and_back(MsgPack::new().structs_as_maps(true), value);
}

pub(crate) fn there_and_back<C, T>(codec: C, value: &T)
where
    T: PartialEq + Debug,
    C: Encode<T> + Decode<T>,
{
    let bytes = encode(codec.clone(), Place::Item, value).unwrap();
    let read: T =
        decode(codec.clone(), Place::Item, bytes).unwrap_or_else(|error| panic!("{error}: {value:?}"));
    assert_eq!(&read, value, "{codec:?}");
}
