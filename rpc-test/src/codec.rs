//! What every codec must do with every value.

use std::fmt::Debug;

use bytes::{Bytes, BytesMut};
use rpc_core::{Decode, DecodeErrorKind, Encode, Place};

/// Whether a codec can tell that bytes end too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncated {
    /// Always: every value says where it ends.
    IsRefused,
    /// Not always: a value that ends between two fields is a value.
    MayPass,
}

/// Whether a codec can tell that bytes follow a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftover {
    /// Yes: a value says where it ends.
    IsRefused,
    /// No: whatever follows belongs to the value.
    BelongsToIt,
}

/// Round trip; appending only; every truncation and leftover bytes refused, or at least survived.
///
/// # Panics
/// When the codec does something else.
pub fn suite<C, T>(codec: &C, place: Place, values: &[T], truncated: Truncated, leftover: Leftover)
where
    C: Encode<T> + Decode<T>,
    T: PartialEq + Debug,
{
    for value in values {
        let mut dst = BytesMut::from(KEPT);
        codec.encode(place, value, &mut dst).unwrap_or_else(|error| panic!("{value:?}: {error}"));
        assert!(dst.starts_with(KEPT), "what stood there before {value:?} was changed");
        let bytes = dst.split_off(KEPT.len()).freeze();

        let decoded = codec.decode(place, bytes.clone()).unwrap_or_else(|error| panic!("{value:?}: {error}"));
        assert_eq!(&decoded, value);

        for len in 0..bytes.len() {
            let result = codec.decode(place, bytes.slice(..len));
            assert!(
                truncated == Truncated::MayPass || result.is_err(),
                "{len} of {} bytes of {value:?} passed as {result:?}",
                bytes.len(),
            );
        }

        let longer: Bytes = [&bytes[..], &[0]].concat().into();
        match (leftover, codec.decode(place, longer)) {
            (Leftover::IsRefused, Err(error)) => assert_eq!(error.kind(), DecodeErrorKind::Leftover),
            (Leftover::IsRefused, Ok(other)) => panic!("{value:?} with a byte behind it passed as {other:?}"),
            (Leftover::BelongsToIt, _) => {}
        }
    }
}

/// A value that has no bytes: it is refused, and what stood there before stays.
///
/// # Panics
/// When the codec writes it.
pub fn refuses<C, T>(codec: &C, place: Place, value: &T)
where
    C: Encode<T>,
    T: Debug,
{
    let mut dst = BytesMut::from(KEPT);
    assert!(codec.encode(place, value, &mut dst).is_err(), "{value:?} was written");
    assert!(dst.starts_with(KEPT), "what stood there before was changed");
}

const KEPT: &[u8] = b"what stands there";
