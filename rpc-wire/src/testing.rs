//! A message header for the tests of framings: Thrift's strict binary one, with a payload that is a struct of texts and
//! 32-bit numbers.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use rpc_core::{Codec, DecodeError, DecodeErrorKind, Exceptions, Name, RequestHead, Status};

use crate::{
    Detect, FrameError, Framing, Kind, MessageHead, MessageHeader, Reader, Unframed, WriteBuf,
    application_kind, status_from_application,
};

#[derive(Clone, Debug, Default)]
pub(crate) struct NoCodec;

impl Codec for NoCodec {
    const NAME: &'static str = "none";
    const EXCEPTIONS: Exceptions = Exceptions::InBody;
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Strict;

impl MessageHeader for Strict {
    type Codec = NoCodec;
    const FRAMED_NAME: &'static str = "strict framed";
    const BUFFERED_NAME: &'static str = "strict buffered";
    const TTHEADER_NAME: &'static str = "strict over ttheader";

    fn detect(&self, first: &[u8]) -> Detect {
        match first {
            [0x80, 0x01, ..] => Detect::Yes,
            [] | [0x80] => Detect::NeedMore,
            _ => Detect::No,
        }
    }

    fn read(&self, message: &mut Bytes) -> Result<MessageHead, DecodeError> {
        let mut reader = Reader::new(std::mem::take(message));
        if reader.u16()? != 0x8001 {
            return Err(DecodeError::new(DecodeErrorKind::Malformed, "bad version"));
        }
        let kind = u8::try_from(reader.u16()?).unwrap_or(u8::MAX);
        let len = usize::try_from(reader.u32()?).unwrap();
        let name = Name::from_bytes(reader.bytes(len)?);
        let id = reader.u32()?;
        *message = reader.into_rest();
        Ok(MessageHead { kind, name, id })
    }

    fn header_len(&self, name: usize, _: u32) -> usize {
        12 + name
    }

    fn write(&self, kind: Kind, name: &[u8], id: u32, dst: &mut WriteBuf) {
        dst.put_u32(0x8001_0000 | kind as u32);
        dst.put_u32(u32::try_from(name.len()).unwrap());
        dst.put_slice(name);
        dst.put_u32(id);
    }

    fn write_exception(&self, status: &Status, dst: &mut BytesMut) {
        dst.put_slice(&[0x0b, 0, 1]);
        dst.put_u32(u32::try_from(status.message().len()).unwrap());
        dst.put_slice(status.message().as_bytes());
        dst.put_slice(&[0x08, 0, 2]);
        dst.put_i32(application_kind(status));
        dst.put_u8(0);
    }

    fn read_exception(&self, body: Bytes) -> Result<Status, DecodeError> {
        let mut reader = Reader::new(body);
        reader.skip(3)?;
        let len = usize::try_from(reader.u32()?).unwrap();
        let text = String::from_utf8_lossy(&reader.bytes(len)?).into_owned();
        reader.skip(3)?;
        let kind = reader.u32()?.cast_signed();
        reader.skip(1)?;
        reader.finish()?;
        Ok(status_from_application(kind, text))
    }
}

/// Goes on behind the last field that was whole.
impl Unframed for Strict {
    type Scan = usize;

    fn scan(&self, at: &mut usize, src: &[u8], limit: usize) -> Result<Option<usize>, FrameError> {
        loop {
            let Some(rest) = src.get(*at..) else { return Ok(None) };
            let step = match (*at, rest) {
                (0, _) if self.detect(rest) == Detect::No => {
                    return Err(FrameError::malformed("bad version"));
                }
                (0, [_, _, _, _, len @ ..]) => counted(len, 12),
                (_, [0, ..]) => return Ok(Some(*at + 1)),
                (1.., [8, ..]) => Some(7),
                (1.., [11, _, _, len @ ..]) => counted(len, 7),
                (1.., [11, ..]) | (_, []) | (0, _) => None,
                _ => return Err(FrameError::malformed("no such type")),
            };
            let Some(step) = step else { return Ok(None) };
            if *at + step > limit {
                return Err(FrameError::too_large((*at + step) as u64, limit));
            }
            *at += step;
        }
    }
}

/// A length in front of so many bytes, and what stands around them.
fn counted(len: &[u8], around: usize) -> Option<usize> {
    len.first_chunk().map(|len| usize::try_from(u32::from_be_bytes(*len)).unwrap() + around)
}

/// The bytes of a file of `testdata`: two hex digits a byte, and a comment behind `#`.
pub(crate) fn golden(text: &str) -> Vec<u8> {
    let digits = text.lines().filter_map(|line| line.split('#').next()).flat_map(str::split_whitespace);
    digits.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// What was written.
pub(crate) fn written(write: impl FnOnce(&mut WriteBuf)) -> Vec<u8> {
    let mut dst = WriteBuf::new();
    write(&mut dst);
    dst.copy_to_bytes(dst.remaining()).to_vec()
}

/// A head that calls `echo`.
pub(crate) fn echo() -> RequestHead {
    RequestHead { method: Name::from_static("echo"), ..RequestHead::default() }
}

/// The struct `{1: "hi"}`.
pub(crate) const HI: &[u8] = &[0x0b, 0, 1, 0, 0, 0, 2, b'h', b'i', 0];

/// Feeds good messages to both sides: whole and in pieces of every size, cut at every place, with every bit flipped.
pub(crate) fn every_way<F: Framing>(framing: &F, messages: &[Vec<u8>]) {
    let stream = messages.concat();
    let fed = |step: usize, stream: &[u8]| {
        crate::fuzz::frames(framing, &[&[u8::try_from(step).unwrap()], stream].concat());
    };
    for step in 1..stream.len().min(255) {
        fed(step, &stream);
    }
    for len in 0..stream.len() {
        fed(3, &stream[..len]);
    }
    for bit in 0..stream.len() * 8 {
        let mut flipped = stream.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fed(1, &flipped);
    }
}
