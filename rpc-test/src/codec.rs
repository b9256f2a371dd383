//! What every codec must do with every value.

use std::fmt::Debug;

use bytes::{Bytes, BytesMut};
use rpc_core::{
    Codec, Decode, DecodeError, DecodeErrorKind, DecodeOutcome, Encode, EncodeError, EncodeOutcome,
    Exceptions, Place,
};

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

/// Messages: round trip; appending only; every truncation and leftover bytes refused, or at least survived.
///
/// # Panics
/// When the codec does something else.
pub fn suite<C, T>(codec: &C, place: Place, values: &[T], truncated: Truncated, leftover: Leftover)
where
    C: Encode<T> + Decode<T>,
    T: PartialEq + Debug,
{
    check(
        values,
        (truncated, leftover),
        |value, dst| codec.encode(place, value, dst),
        |src| codec.decode(place, src),
    );
}

/// The same for the outcomes of methods. An exception stands where the codec carries it.
///
/// # Panics
/// When the codec does something else.
pub fn outcomes<C, R, E>(codec: &C, values: &[Result<R, E>], truncated: Truncated, leftover: Leftover)
where
    C: EncodeOutcome<R, E> + DecodeOutcome<R, E>,
    R: PartialEq + Debug,
    E: PartialEq + Debug,
{
    for value in values {
        let place = place_of::<C, R, E>(value);
        check(
            std::slice::from_ref(value),
            (truncated, leftover),
            |value, dst| codec.encode_outcome(place, value, dst),
            |src| codec.decode_outcome(place, src),
        );
    }
}

/// A message that has no bytes: it is refused, and what stood there before stays.
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

/// The same for the outcome of a method.
///
/// # Panics
/// When the codec writes it.
pub fn refuses_outcome<C, R, E>(codec: &C, value: &Result<R, E>)
where
    C: EncodeOutcome<R, E>,
    R: Debug,
    E: Debug,
{
    let mut dst = BytesMut::from(KEPT);
    let place = place_of::<C, R, E>(value);
    assert!(codec.encode_outcome(place, value, &mut dst).is_err(), "{value:?} was written");
    assert!(dst.starts_with(KEPT), "what stood there before was changed");
}

fn place_of<C: Codec, R, E>(outcome: &Result<R, E>) -> Place {
    match outcome {
        Err(_) if C::EXCEPTIONS == Exceptions::InStatus => Place::Exception,
        _ => Place::Result,
    }
}

fn check<T: PartialEq + Debug>(
    values: &[T],
    (truncated, leftover): (Truncated, Leftover),
    encode: impl Fn(&T, &mut BytesMut) -> Result<(), EncodeError>,
    decode: impl Fn(Bytes) -> Result<T, DecodeError>,
) {
    for value in values {
        let mut dst = BytesMut::from(KEPT);
        encode(value, &mut dst).unwrap_or_else(|error| panic!("{value:?}: {error}"));
        assert!(dst.starts_with(KEPT), "what stood there before {value:?} was changed");
        let bytes = dst.split_off(KEPT.len()).freeze();

        let decoded = decode(bytes.clone()).unwrap_or_else(|error| panic!("{value:?}: {error}"));
        assert_eq!(&decoded, value);

        for len in 0..bytes.len() {
            let result = decode(bytes.slice(..len));
            assert!(
                truncated == Truncated::MayPass || result.is_err(),
                "{len} of {} bytes of {value:?} passed as {result:?}",
                bytes.len(),
            );
        }

        let longer: Bytes = [&bytes[..], &[0]].concat().into();
        match (leftover, decode(longer)) {
            (Leftover::IsRefused, Err(error)) => assert_eq!(error.kind(), DecodeErrorKind::Leftover),
            (Leftover::IsRefused, Ok(other)) => panic!("{value:?} with a byte behind it passed as {other:?}"),
            (Leftover::BelongsToIt, _) => {}
        }
    }
}

const KEPT: &[u8] = b"what stands there";
