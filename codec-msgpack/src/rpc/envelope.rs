use bytes::{Bytes, BytesMut};
use rpc_core::{DecodeError, Name, Status};
use rpc_wire::{Detect, FrameError};

use super::{AROUND, MAX_NAME};
use crate::read::{Item, item};
use crate::walk::{MAX_DEPTH, value_len};
use crate::write;

const REQUEST: u64 = 0;
const RESPONSE: u64 = 1;
const NOTIFICATION: u64 = 2;

/// A message, taken apart. Names that can not be taken are told apart from the message, so that it can be answered.
#[derive(Debug)]
pub(super) enum Envelope {
    Request { id: u32, method: Result<Name, Status>, params: Bytes },
    Response { id: u32, error: Bytes, result: Bytes },
    Notification { method: Result<Name, Status>, params: Bytes },
}

/// Takes a whole message apart. `message` is one whole value.
pub(super) fn parse(message: Bytes) -> Result<Envelope, FrameError> {
    let mut fields = Fields(message);
    let count = match fields.next()? {
        Item::Array(count) => count,
        _ => return Err(not_a_message()),
    };
    match (count, fields.next()?) {
        (4, Item::Uint(REQUEST)) => {
            let id = fields.id()?;
            Ok(Envelope::Request { id, method: fields.method()?, params: fields.0 })
        }
        (4, Item::Uint(RESPONSE)) => {
            let id = fields.id()?;
            Ok(Envelope::Response { id, error: fields.value()?, result: fields.0 })
        }
        (3, Item::Uint(NOTIFICATION)) => {
            Ok(Envelope::Notification { method: fields.method()?, params: fields.0 })
        }
        (count, Item::Uint(kind)) => {
            Err(FrameError::malformed(format!("an array of {count} is no message of type {kind}")))
        }
        _ => Err(FrameError::malformed("the type of a message is not a number")),
    }
}

/// What is left of a message.
struct Fields(Bytes);

impl Fields {
    fn next(&mut self) -> Result<Item, DecodeError> {
        let (item, len) = item(&self.0)?;
        self.take(len)?;
        Ok(item)
    }

    fn take(&mut self, len: usize) -> Result<Bytes, DecodeError> {
        if len > self.0.len() { Err(DecodeError::truncated()) } else { Ok(self.0.split_to(len)) }
    }

    fn value(&mut self) -> Result<Bytes, DecodeError> {
        self.take(value_len(&self.0, MAX_DEPTH + AROUND)?)
    }

    fn id(&mut self) -> Result<u32, FrameError> {
        match self.next()? {
            Item::Uint(id) => u32::try_from(id).ok(),
            _ => None,
        }
        .ok_or_else(|| FrameError::malformed("the id of a message is not a number of 32 bits"))
    }

    fn method(&mut self) -> Result<Result<Name, Status>, FrameError> {
        let (Item::Str(len) | Item::Bin(len)) = self.next()? else {
            return Err(FrameError::malformed("the name of a method is not a text"));
        };
        let name = Name::from_bytes(self.take(len)?);
        Ok(if len > MAX_NAME {
            Err(Status::invalid_argument(format!("a method's name of {len} bytes; {MAX_NAME} are allowed")))
        } else {
            Ok(name)
        })
    }
}

/// Refuses what no message begins with, so that nobody waits for the end of it.
pub(super) fn check_start(first: u8) -> Result<(), FrameError> {
    match first {
        0x93 | 0x94 | 0xdc | 0xdd => Ok(()),
        _ => Err(not_a_message()),
    }
}

#[cold]
fn not_a_message() -> FrameError {
    FrameError::malformed("not msgpack-rpc: a message is an array of 3 or 4")
}

/// What a client may begin with: an array of 4 with a 0, or of 3 with a 2, in each form of an array. A server speaks first
/// never, so a response is not among them.
const BEGINNINGS: [&[u8]; 6] = [
    &[0x94, 0],
    &[0x93, 2],
    &[0xdc, 0, 4, 0],
    &[0xdc, 0, 3, 2],
    &[0xdd, 0, 0, 0, 4, 0],
    &[0xdd, 0, 0, 0, 3, 2],
];

pub(super) fn detect(first: &[u8]) -> Detect {
    if BEGINNINGS.iter().any(|beginning| first.starts_with(beginning)) {
        Detect::Yes
    } else if BEGINNINGS.iter().any(|beginning| beginning.starts_with(first)) {
        Detect::NeedMore
    } else {
        Detect::No
    }
}

pub(super) fn request(dst: &mut BytesMut, id: u32) {
    dst.extend_from_slice(&[0x94, 0]);
    write::uint(dst, id.into());
}

pub(super) fn notification(dst: &mut BytesMut) {
    dst.extend_from_slice(&[0x93, 2]);
}

pub(super) fn response(dst: &mut BytesMut, id: u32) {
    dst.extend_from_slice(&[0x94, 1]);
    write::uint(dst, id.into());
}
