use bytes::{Bytes, BytesMut};
use prost::Message;
use rpc_core::{DecodeError, DecodeErrorKind, Name, Status};
use rpc_wire::{
    Detect, Kind, Member, MessageHead, MessageHeader, Reader, WriteBuf, application_kind,
    status_from_application,
};

use crate::Protobuf;

/// The header that Kitex puts before a Protobuf payload, within a frame's length:
///
/// ```text
///   0        2        4              8        8+n       12+n
///   ├────────┼────────┼──────────────┼─────────┼─────────┼──────────────
///   │ 9001   │ type   │ name length n│ name    │ id      │ the message
/// ```
///
/// A failure travels as a message `{1: int32 number, 2: string text}` with the numbers of
/// [`ApplicationErrorKind`](rpc_wire::ApplicationErrorKind), whose table says how they stand to status codes and what is
/// lost. A type that is not Kitex's is answered with such a failure, and the connection goes on, where Kitex ends it.
///
/// Behind a [`TtHeader`](rpc_wire::TtHeader), which is Kitex's default, it stands in its frame all the same.
///
/// Source: `wire/thrift.md` §10 (Kitex's `protobuf.go`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KitexHeader;

const MAGIC: [u8; 2] = [0x90, 0x01];

impl MessageHeader for KitexHeader {
    type Codec = Protobuf;
    const FRAMED_NAME: &'static str = "kitex protobuf framed";
    const TTHEADER_NAME: &'static str = "kitex protobuf over ttheader";
    const NEEDS_FRAME: bool = true;
    const EMPTY_RESULT: &'static [u8] = &[];

    fn detect(&self, first: &[u8]) -> Detect {
        match first {
            [] => Detect::NeedMore,
            [magic] if *magic == MAGIC[0] => Detect::NeedMore,
            [a, b, ..] if [*a, *b] == MAGIC => Detect::Yes,
            _ => Detect::No,
        }
    }

    fn read(&self, message: &mut Bytes) -> Result<MessageHead, DecodeError> {
        let mut reader = Reader::new(message.clone());
        let magic = reader.u16()?.to_be_bytes();
        if magic != MAGIC {
            let detail = format!("{:02x}{:02x} in place of Kitex's magic number 9001", magic[0], magic[1]);
            return Err(DecodeError::new(DecodeErrorKind::Malformed, detail));
        }
        let kind = u8::try_from(reader.u16()?).unwrap_or(u8::MAX); // no such type either way
        let len = usize::try_from(reader.u32()?).map_err(|_| DecodeError::truncated())?;
        let name = Name::from_bytes(reader.bytes(len)?);
        let id = reader.u32()?;
        *message = reader.into_rest();
        Ok(MessageHead { kind, name, id })
    }

    fn header_len(&self, name: usize, _: u32) -> usize {
        MAGIC.len() + 2 + 4 + name + 4
    }

    fn write(&self, kind: Kind, name: &[u8], id: u32, dst: &mut WriteBuf) {
        dst.put_slice(&MAGIC);
        dst.put_u16(kind as u16);
        // The frame's length was checked to be no more than `i32::MAX`, and the name is a part of it.
        dst.put_u32(u32::try_from(name.len()).unwrap_or(u32::MAX));
        dst.put_slice(name);
        dst.put_u32(id);
    }

    fn write_exception(&self, status: &Status, dst: &mut BytesMut) {
        let failure = Failure { number: application_kind(status), text: status.message().to_owned() };
        // The only error is a buffer that is full, and this one grows.
        let _ = failure.encode(dst);
    }

    fn read_exception(&self, body: Bytes) -> Result<Status, DecodeError> {
        let failure = Failure::decode(body)
            .map_err(|error| DecodeError::new(DecodeErrorKind::Malformed, error.to_string()))?;
        Ok(status_from_application(failure.number, failure.text))
    }
}

/// It never stands without a frame.
impl Member for KitexHeader {
    type Scan = ();
}

/// Kitex's application exception.
#[derive(Clone, PartialEq, Message)]
struct Failure {
    #[prost(int32, tag = "1")]
    number: i32,
    #[prost(string, tag = "2")]
    text: String,
}

#[cfg(test)]
mod tests {
    use bytes::Buf;
    use rpc_core::{Code, RequestHead, ResponseHead};
    use rpc_wire::{Answer, Frame, FrameError, Framed, Framing, Payload, TtHeader, TtHeaderConfig};

    use super::*;
    use crate::fuzz;

    const LIMIT: usize = 1024;

    /// The bytes of a file of `testdata`: two hex digits a byte, and a comment behind `#`.
    fn golden(text: &str) -> Vec<u8> {
        let digits = text.lines().filter_map(|line| line.split('#').next()).flat_map(str::split_whitespace);
        digits.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    }

    fn call() -> Vec<u8> {
        golden(include_str!("../testdata/p1-call.hex"))
    }

    fn exception() -> Vec<u8> {
        golden(include_str!("../testdata/p2-exception.hex"))
    }

    fn framing() -> Framed<KitexHeader> {
        Framed::new(KitexHeader)
    }

    fn decode(bytes: &[u8]) -> Option<Frame<rpc_wire::MessageMirror>> {
        framing().decode(&mut BytesMut::from(bytes), LIMIT).unwrap()
    }

    fn written(write: impl FnOnce(&mut WriteBuf)) -> Vec<u8> {
        let mut dst = WriteBuf::new();
        write(&mut dst);
        dst.copy_to_bytes(dst.remaining()).to_vec()
    }

    #[test]
    fn a_call_is_kitexs_byte_for_byte() {
        let head = RequestHead { method: Name::from_static("Echo"), ..RequestHead::default() };
        let body = Bytes::from_static(b"\x0a\x02hi");
        let bytes = written(|dst| framing().encode_request(7, &head, &body, dst).unwrap());
        assert_eq!(bytes, call());
        let Some(Frame::Request { id, head, body: read, answer, .. }) = decode(&bytes) else {
            panic!("not a request")
        };
        assert_eq!((id, head.method, read, answer), (7, Name::from_static("Echo"), body, Answer::Wanted));
        assert!(head.service.is_empty());
    }

    #[test]
    fn an_exception_is_kitexs_byte_for_byte() {
        let Some(Frame::Request { mirror, .. }) = decode(&call()) else { panic!("not a request") };
        let failed = ResponseHead::failed(Status::unimplemented("unknown method"));
        let bytes = written(|dst| framing().encode_response(&mirror, &failed, &Bytes::new(), dst).unwrap());
        assert_eq!(bytes, exception());
        let Some(Frame::Response { id, head, .. }) = decode(&bytes) else { panic!("not a response") };
        let status = head.status.unwrap_err();
        assert_eq!((id, status.code(), status.message()), (Some(7), Code::Unimplemented, "unknown method"));
        assert_eq!(status.wire_code(), Some(1));
    }

    /// Behind a TTHeader, messages stand as they do without it, failures too; it alone tells business errors.
    #[test]
    fn a_ttheader_stands_before_the_same_bytes() {
        let framing = TtHeader::new(KitexHeader);
        let head = head_of_echo();
        let asked = written(|dst| {
            framing.encode_request(7, &head, &Bytes::from_static(b"\x0a\x02hi"), dst).unwrap();
        });
        assert!(asked.ends_with(&call()));
        let decode = |bytes: &[u8]| framing.clone().decode(&mut BytesMut::from(bytes), LIMIT).unwrap();
        let Some(Frame::Request { id: 7, mirror, .. }) = decode(&asked) else { panic!("not a request") };
        let answer = |status: Status| {
            let failed = ResponseHead::failed(status);
            written(|dst| framing.encode_response(&mirror, &failed, &Bytes::new(), dst).unwrap())
        };
        let failed = answer(Status::unimplemented("unknown method"));
        assert!(failed.ends_with(&exception()));
        let Some(Frame::Response { id: Some(7), head, .. }) = decode(&failed) else { panic!("no response") };
        assert_eq!(head.status.unwrap_err().wire_code(), Some(1));
        let business = answer(Status::business(9, "no"));
        assert!(business.ends_with(b"\x90\x01\0\x02\0\0\0\x04Echo\0\0\0\x07"), "an empty message");
        let Some(Frame::Response { head, .. }) = decode(&business) else { panic!("no response") };
        assert_eq!(head.status.unwrap_err().business_code(), Some(9));

        for message in [asked, failed, business] {
            for bit in 0..message.len() * 8 {
                let mut flipped = message.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                fuzz::ttheader_frames(&[&[3], &flipped[..]].concat());
            }
        }
        let bare = TtHeaderConfig { payload: Payload::Bare, ..TtHeaderConfig::default() };
        let refused = framing.clone().with(bare).encode_request(
            7,
            &head_of_echo(),
            &Bytes::new(),
            &mut WriteBuf::new(),
        );
        assert!(
            matches!(refused, Err(FrameError::Unsupported(_))),
            "Kitex takes no such message without its frame"
        );
    }

    fn head_of_echo() -> RequestHead {
        RequestHead { method: Name::from_static("Echo"), ..RequestHead::default() }
    }

    #[test]
    fn numbers_that_nobody_knows_are_kept() {
        let mut body = BytesMut::new();
        Failure { number: -5, text: "odd".into() }.encode(&mut body).unwrap();
        let status = KitexHeader.read_exception(body.freeze()).unwrap();
        assert_eq!((status.code(), status.wire_code(), status.message()), (Code::Unknown, Some(-5), "odd"));
    }

    #[test]
    fn a_response_repeats_name_and_id() {
        let Some(Frame::Request { mirror, .. }) = decode(&call()) else { panic!("not a request") };
        let bytes = written(|dst| {
            framing().encode_response(&mirror, &ResponseHead::ok(), &Bytes::from_static(b"x"), dst).unwrap();
        });
        let Some(Frame::Response { id, method, head, body }) = decode(&bytes) else {
            panic!("not a response")
        };
        assert_eq!(
            (id, method, body),
            (Some(7), Some(Bytes::from_static(b"Echo")), Bytes::from_static(b"x"))
        );
        assert!(head.status.is_ok());
    }

    #[test]
    fn detection_takes_two_bytes_of_the_header() {
        assert_eq!(KitexHeader.detect(&[]), Detect::NeedMore);
        assert_eq!(KitexHeader.detect(&[0x90]), Detect::NeedMore);
        assert_eq!(KitexHeader.detect(&[0x90, 0x01]), Detect::Yes);
        assert_eq!(KitexHeader.detect(&[0x90, 0x02]), Detect::No);
        assert_eq!(KitexHeader.detect(&[0x80]), Detect::No);
        assert_eq!(Framing::detect(&framing(), &call()), Detect::Yes);
    }

    /// Each header that is cut short, lies about its length or is none.
    #[test]
    fn bad_headers_are_errors() {
        let call = call();
        let message = Bytes::from(call).split_off(4);
        for len in 0..16 {
            assert!(KitexHeader.read(&mut message.slice(..len)).is_err(), "{len} bytes");
        }
        for (at, bytes) in [(0, &[0x80, 0x01][..]), (4, &[0xff; 4]), (4, &[0x7f, 0xff, 0xff, 0xff])] {
            let mut bad = BytesMut::from(&message[..]);
            bad[at..at + bytes.len()].copy_from_slice(bytes);
            assert!(KitexHeader.read(&mut bad.freeze()).is_err(), "{bytes:02x?} at {at}");
        }
    }

    #[test]
    fn types_that_are_not_kitexs_are_answered() {
        let mut bytes = call();
        bytes[7] = 9;
        let Some(Frame::Refused { id, status, .. }) = decode(&bytes) else { panic!("not refused") };
        assert_eq!((id, status.message()), (7, "invalid message type 9"));
        bytes[6] = 1;
        let Some(Frame::Refused { id, status, .. }) = decode(&bytes) else { panic!("not refused") };
        assert_eq!((id, status.wire_code()), (7, Some(2)));
    }

    #[test]
    fn every_prefix_is_incomplete_and_no_flipped_bit_panics() {
        for message in [call(), exception()] {
            for len in 0..message.len() {
                assert!(decode(&message[..len]).is_none(), "{len} bytes");
            }
            for bit in 0..message.len() * 8 {
                let mut flipped = message.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                fuzz::frames(&[&[3], &flipped[..]].concat());
                fuzz::exception(&flipped[20..]);
            }
        }
    }
}
