use rpc_core::{Code, Name, Status};

use super::*;
use crate::testing::{HI, Strict, echo, every_way, golden, written};
use crate::{Answer, ConnectionErrorKind};

const LIMIT: usize = 1024;

fn framing() -> Buffered<Strict> {
    Buffered::new(Strict)
}

fn call() -> Vec<u8> {
    golden(include_str!("../../testdata/t1-call.hex"))
}

fn exception() -> Vec<u8> {
    golden(include_str!("../../testdata/t5-exception.hex"))
}

fn reply() -> Vec<u8> {
    golden(include_str!("../../testdata/t4-reply.hex"))
}

fn decode(bytes: &[u8]) -> Result<Option<Frame<MessageMirror>>, FrameError> {
    framing().decode(&mut BytesMut::from(bytes), LIMIT)
}

#[test]
fn messages_are_apaches_byte_for_byte() {
    let hi = Bytes::from_static(HI);
    assert_eq!(written(|dst| framing().encode_request(1, &echo(), &hi, dst).unwrap()), call());
    let Ok(Some(Frame::Request { id: 1, head, body, answer: Answer::Wanted, mirror })) = decode(&call())
    else {
        panic!("not a request")
    };
    assert_eq!((head.method, body), (Name::from_static("echo"), hi));

    let result = Bytes::from_static(b"\x0b\0\0\0\0\0\x02hi\0");
    let head = ResponseHead::ok();
    assert_eq!(written(|dst| framing().encode_response(&mirror, &head, &result, dst).unwrap()), reply());
    let Ok(Some(Frame::Response { id: Some(1), method: Some(method), body, .. })) = decode(&reply()) else {
        panic!("not a response")
    };
    assert_eq!((&method[..], body), (&b"echo"[..], result));

    let head = ResponseHead::failed(Status::unimplemented("unknown method"));
    let bytes = written(|dst| framing().encode_response(&mirror, &head, &Bytes::new(), dst).unwrap());
    assert_eq!(bytes, exception());
    let Ok(Some(Frame::Response { id: Some(1), method: None, head, .. })) = decode(&bytes) else {
        panic!("not a response")
    };
    assert_eq!(head.status.unwrap_err().code(), Code::Unimplemented);
}

#[test]
fn messages_stand_one_behind_the_other() {
    let mut src = BytesMut::from(&[call(), exception(), call()].concat()[..]);
    let mut framing = framing();
    for _ in 0..3 {
        assert!(framing.decode(&mut src, LIMIT).unwrap().is_some());
    }
    assert!(src.is_empty());
}

#[test]
fn every_prefix_is_incomplete() {
    for message in [call(), reply(), exception()] {
        for len in 0..message.len() {
            assert!(decode(&message[..len]).unwrap().is_none(), "{len} bytes");
        }
    }
}

#[test]
fn every_split_gives_the_same() {
    every_way(&framing(), &[call(), reply(), exception()]);
}

#[test]
fn a_message_beyond_the_limit_is_refused_before_it_came() {
    // 23 bytes in, the text's length says that the message has 25 at least.
    for (limit, len, large) in [(26, 26, false), (25, 26, true), (24, 23, true), (25, 23, false)] {
        match framing().decode(&mut BytesMut::from(&call()[..len]), limit) {
            Ok(_) => assert!(!large, "{len} bytes, limit {limit}"),
            Err(FrameError::Connection(error)) => {
                assert_eq!((large, error.kind()), (true, ConnectionErrorKind::TooLarge));
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn multiplexed_requests_name_their_service() {
    let head = RequestHead { service: Name::from_static("Echo"), ..echo() };
    let hi = Bytes::from_static(HI);
    let bytes = written(|dst| framing().multiplexed().encode_request(1, &head, &hi, dst).unwrap());
    assert_eq!(&bytes[4..17], b"\0\0\0\x09Echo:echo");
    let Ok(Some(Frame::Request { head: read, mirror, .. })) = decode(&bytes) else { panic!("not a request") };
    assert_eq!((read.service, read.method), (head.service, head.method));
    // The answer is that of a server that knows nothing of it.
    let result = Bytes::from_static(b"\x0b\0\0\0\0\0\x02hi\0");
    let head = ResponseHead::ok();
    assert_eq!(written(|dst| framing().encode_response(&mirror, &head, &result, dst).unwrap()), reply());

    let nameless = written(|dst| framing().multiplexed().encode_request(1, &echo(), &hi, dst).unwrap());
    assert_eq!(nameless, call());
    let colon = RequestHead { service: Name::from_static("a:b"), ..echo() };
    let refused = framing().multiplexed().encode_request(1, &colon, &hi, &mut WriteBuf::new());
    assert!(matches!(refused, Err(FrameError::Unsupported(_))));
}
