use bytes::{Bytes, BytesMut};
use rpc_core::{
    Codec, Decode, DecodeError, DecodeOutcome, Encode, EncodeError, EncodeOutcome, Exceptions, Place,
};

use crate::binary::{Reader, Writer};
use crate::outcome::ThriftOutcome;
use crate::{ThriftException, ThriftStruct, ThriftValue};

/// Thrift's binary protocol, for generated types. Declared exceptions travel inside the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Binary;

impl Codec for Binary {
    const NAME: &'static str = "thrift";
    const EXCEPTIONS: Exceptions = Exceptions::InBody;
}

impl<T: ThriftStruct> Encode<T> for Binary {
    fn encode(&self, _: Place, message: &T, dst: &mut BytesMut) -> Result<(), EncodeError> {
        message.write(&mut Writer::new(dst))
    }
}

impl<T: ThriftStruct> Decode<T> for Binary {
    fn decode(&self, _: Place, src: Bytes) -> Result<T, DecodeError> {
        let mut reader = Reader::new(src);
        let message = T::read(&mut reader)?;
        reader.finish()?;
        Ok(message)
    }
}

impl<T: ThriftValue, E: ThriftException> EncodeOutcome<T, E> for Binary {
    fn encode_outcome(
        &self,
        _: Place,
        outcome: &Result<T, E>,
        dst: &mut BytesMut,
    ) -> Result<(), EncodeError> {
        outcome.write_outcome(&mut Writer::new(dst))
    }
}

impl<T: ThriftValue, E: ThriftException> DecodeOutcome<T, E> for Binary {
    fn decode_outcome(&self, _: Place, src: Bytes) -> Result<Result<T, E>, DecodeError> {
        let mut reader = Reader::new(src);
        let outcome = ThriftOutcome::read_outcome(&mut reader)?;
        reader.finish()?;
        Ok(outcome)
    }
}
