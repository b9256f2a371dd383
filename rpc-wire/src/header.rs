use bytes::{Bytes, BytesMut};
use rpc_core::{Codec, DecodeError, Name, Status};

use crate::{Detect, WriteBuf};

/// What kind of message a header announces. The numbers are those of Thrift and of Kitex-Protobuf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A request that is answered.
    Call = 1,
    /// A result.
    Reply = 2,
    /// A failure below the service's own.
    Exception = 3,
    /// A request that is not answered.
    Oneway = 4,
}

impl Kind {
    /// The kind of a number.
    pub fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Call),
            2 => Some(Self::Reply),
            3 => Some(Self::Exception),
            4 => Some(Self::Oneway),
            _ => None,
        }
    }
}

/// What stands before a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageHead {
    /// The kind's number. Numbers that [`Kind`] does not know are answered, not dispatched; where the wire has more bits,
    /// one that does not fit stands here as 255.
    pub kind: u8,
    /// The method's name, as it stands there.
    pub name: Name,
    /// The id, as the bits that stand there.
    pub id: u32,
}

/// The header that Thrift and Kitex put before each payload. Its codec crate supplies it; [`Framed`](crate::Framed)
/// and other framings put it into a stream.
pub trait MessageHeader: Clone + Send + Sync + 'static {
    /// The codec of the payload behind it.
    type Codec: Codec;

    /// The name of framed messages in errors and traces, such as `"thrift framed binary"`.
    const FRAMED_NAME: &'static str;
    /// The name of unframed messages, such as `"thrift buffered binary"`.
    const BUFFERED_NAME: &'static str = "buffered";
    /// The name of messages behind Kitex's transport header, such as `"thrift binary over ttheader"`.
    const TTHEADER_NAME: &'static str = "ttheader";
    /// Whether a message with it always stands in a frame, also where another layer tells its length. Default: no.
    const NEEDS_FRAME: bool = false;
    /// What stands in place of a payload when the outcome of a call is told elsewhere: a result without a field. Default:
    /// the end of a Thrift struct.
    const EMPTY_RESULT: &'static [u8] = &[0];

    /// Whether a message that begins with these bytes has this header.
    fn detect(&self, first: &[u8]) -> Detect;

    /// Takes the header off the front of a message.
    ///
    /// # Errors
    /// When there is no such header.
    fn read(&self, message: &mut Bytes) -> Result<MessageHead, DecodeError>;

    /// How many bytes [`write`](Self::write) appends for a name of so many bytes and this id.
    fn header_len(&self, name: usize, id: u32) -> usize;

    /// Appends a header.
    fn write(&self, kind: Kind, name: &[u8], id: u32, dst: &mut WriteBuf);

    /// Appends what stands in place of a payload when a call fails.
    fn write_exception(&self, status: &Status, dst: &mut BytesMut);

    /// Reads what stands in place of a payload when a call fails.
    ///
    /// # Errors
    /// When it is not that.
    fn read_exception(&self, body: Bytes) -> Result<Status, DecodeError>;

    /// The codec, as it is configured.
    fn codec(&self) -> Self::Codec {
        Default::default()
    }
}
