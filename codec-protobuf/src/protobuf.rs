use bytes::{Bytes, BytesMut};
use rpc_core::{
    Codec, Decode, DecodeError, DecodeErrorKind, DecodeOutcome, Encode, EncodeError, EncodeOutcome,
    Exceptions, Never, Place,
};

/// Protobuf. A payload is the message itself: nothing is wrapped around requests or responses, and an empty message is
/// no bytes.
///
/// Protobuf declares no exceptions, so methods in it have the exception [`Never`].
///
/// Fields of the type `Bytes` are slices of what was read: a short one that is kept pins the whole read buffer. Fields of
/// the types `String` and `Vec<u8>` are copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protobuf;

impl Codec for Protobuf {
    const NAME: &'static str = "proto";
    const EXCEPTIONS: Exceptions = Exceptions::InStatus;
}

impl<T: prost::Message> Encode<T> for Protobuf {
    fn encode(&self, _: Place, message: &T, dst: &mut BytesMut) -> Result<(), EncodeError> {
        message.encode(dst).map_err(|error| EncodeError::new(error.to_string()))
    }
}

impl<T: prost::Message + Default> Decode<T> for Protobuf {
    fn decode(&self, _: Place, src: Bytes) -> Result<T, DecodeError> {
        T::decode(src).map_err(|error| decode_error(&error))
    }
}

impl<R: prost::Message> EncodeOutcome<R, Never> for Protobuf {
    fn encode_outcome(
        &self,
        place: Place,
        outcome: &Result<R, Never>,
        dst: &mut BytesMut,
    ) -> Result<(), EncodeError> {
        match outcome {
            Ok(response) => self.encode(place, response, dst),
            Err(never) => match *never {},
        }
    }
}

impl<R: prost::Message + Default> DecodeOutcome<R, Never> for Protobuf {
    fn decode_outcome(&self, place: Place, src: Bytes) -> Result<Result<R, Never>, DecodeError> {
        match place {
            Place::Exception => Err(DecodeError::new(
                DecodeErrorKind::Malformed,
                "a declared exception, which Protobuf has not",
            )),
            _ => self.decode(place, src).map(Ok),
        }
    }
}

/// prost's errors say what is wrong as a text alone, with the fields that it was found in.
#[cold]
fn decode_error(error: &prost::DecodeError) -> DecodeError {
    let text = error.to_string();
    let kind = match text.rsplit(": ").next() {
        Some("buffer underflow" | "delimited length exceeded") => DecodeErrorKind::Truncated,
        Some("recursion limit reached") => DecodeErrorKind::Limit,
        Some("data is not UTF-8 encoded") => DecodeErrorKind::NotUtf8,
        _ => DecodeErrorKind::Malformed,
    };
    let detail = text.strip_prefix("failed to decode Protobuf message: ").unwrap_or(&text);
    DecodeError::new(kind, detail.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_its_message() {
        let mut dst = BytesMut::from(&b"kept"[..]);
        let outcome: Result<String, Never> = Ok("hi".into());
        Protobuf.encode_outcome(Place::Result, &outcome, &mut dst).unwrap();
        assert_eq!(dst, b"kept\x0a\x02hi"[..]);
        assert_eq!(Protobuf.decode_outcome(Place::Result, dst.split_off(4).freeze()), Ok(outcome));
    }

    #[test]
    fn nothing_is_an_empty_message() {
        assert_eq!(Protobuf.decode(Place::Message, Bytes::new()), Ok(String::new()));
        assert_eq!(Protobuf.decode_outcome(Place::Result, Bytes::new()), Ok(Ok::<_, Never>(0u64)));
    }

    #[test]
    fn there_are_no_declared_exceptions() {
        let read: Result<Result<(), Never>, _> = Protobuf.decode_outcome(Place::Exception, Bytes::new());
        assert_eq!(read.unwrap_err().kind(), DecodeErrorKind::Malformed);
    }
}
