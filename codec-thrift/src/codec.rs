use bytes::{Bytes, BytesMut};
use rpc_core::{
    Codec, Decode, DecodeError, DecodeOutcome, Encode, EncodeError, EncodeOutcome, Exceptions, Place,
};

use crate::outcome::ThriftOutcome;
use crate::{ThriftException, ThriftStruct, ThriftValue, binary, compact};

/// Thrift's binary protocol, for generated types. Declared exceptions travel inside the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Binary;

/// Thrift's compact protocol, for generated types. Declared exceptions travel inside the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compact;

macro_rules! codec {
    ($codec:ident, $protocol:ident, $name:literal) => {
        impl Codec for $codec {
            const NAME: &'static str = $name;
            const EXCEPTIONS: Exceptions = Exceptions::InBody;
        }

        impl<T: ThriftStruct> Encode<T> for $codec {
            fn encode(&self, _: Place, message: &T, dst: &mut BytesMut) -> Result<(), EncodeError> {
                message.write(&mut $protocol::Writer::new(dst))
            }
        }

        impl<T: ThriftStruct> Decode<T> for $codec {
            fn decode(&self, _: Place, src: Bytes) -> Result<T, DecodeError> {
                let mut reader = $protocol::Reader::new(src);
                let message = T::read(&mut reader)?;
                reader.finish()?;
                Ok(message)
            }
        }

        impl<T: ThriftValue, E: ThriftException> EncodeOutcome<T, E> for $codec {
            fn encode_outcome(
                &self,
                _: Place,
                outcome: &Result<T, E>,
                dst: &mut BytesMut,
            ) -> Result<(), EncodeError> {
                outcome.write_outcome(&mut $protocol::Writer::new(dst))
            }
        }

        impl<T: ThriftValue, E: ThriftException> DecodeOutcome<T, E> for $codec {
            fn decode_outcome(&self, _: Place, src: Bytes) -> Result<Result<T, E>, DecodeError> {
                let mut reader = $protocol::Reader::new(src);
                let outcome = ThriftOutcome::read_outcome(&mut reader)?;
                reader.finish()?;
                Ok(outcome)
            }
        }
    };
}
codec!(Binary, binary, "thrift");
codec!(Compact, compact, "thrift-compact");
