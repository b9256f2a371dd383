use rpc_core::{DecodeError, DecodeErrorKind, Name, Status};

use super::*;
use crate::testing::{HI, NoCodec, Strict, echo, every_way, golden, written};
use crate::{Answer, Kind, MessageHead, MessageHeader, Payload};

const LIMIT: usize = 1024;
/// The result `{0: "hi"}`.
const RESULT: &[u8] = b"\x0b\0\0\0\0\0\x02hi\0";

/// As [`Strict`], but it begins with `90 01` and stands in frames alone, as Kitex-Protobuf does.
#[derive(Clone, Copy, Debug, Default)]
struct Second;

impl MessageHeader for Second {
    type Codec = NoCodec;
    const FRAMED_NAME: &'static str = "second framed";
    const NEEDS_FRAME: bool = true;
    const EMPTY_RESULT: &'static [u8] = &[];

    fn detect(&self, first: &[u8]) -> Detect {
        match first {
            [0x90, 0x01, ..] => Detect::Yes,
            [] | [0x90] => Detect::NeedMore,
            _ => Detect::No,
        }
    }

    fn read(&self, message: &mut Bytes) -> Result<MessageHead, DecodeError> {
        let mut bytes = BytesMut::from(&message[..]);
        match bytes.first_mut() {
            Some(first @ 0x90) => *first = 0x80,
            _ => return Err(DecodeError::new(DecodeErrorKind::Malformed, "bad version")),
        }
        *message = bytes.freeze();
        MessageHeader::read(&Strict, message)
    }

    fn header_len(&self, name: usize, id: u32) -> usize {
        MessageHeader::header_len(&Strict, name, id)
    }

    fn write(&self, kind: Kind, name: &[u8], id: u32, dst: &mut WriteBuf) {
        let mut bytes = written(|dst| MessageHeader::write(&Strict, kind, name, id, dst));
        bytes[0] = 0x90;
        dst.put_slice(&bytes);
    }

    fn write_exception(&self, status: &Status, dst: &mut BytesMut) {
        MessageHeader::write_exception(&Strict, status, dst);
    }

    fn read_exception(&self, body: Bytes) -> Result<Status, DecodeError> {
        MessageHeader::read_exception(&Strict, body)
    }
}

impl Member for Second {
    type Scan = ();
}

fn family() -> Family<(Strict, Second)> {
    Family::new((Strict, Second))
}

fn call() -> Vec<u8> {
    golden(include_str!("../../testdata/t1-call.hex"))
}

fn second() -> Vec<u8> {
    let mut call = call();
    call[0] = 0x90;
    call
}

fn mesh() -> Vec<u8> {
    golden(include_str!("../../testdata/m1-mesh.hex"))
}

fn in_frame(message: &[u8]) -> Vec<u8> {
    [&u32::try_from(message.len()).unwrap().to_be_bytes()[..], message].concat()
}

fn tt(which: u8, payload: Payload) -> Vec<u8> {
    let family = family().with(TtHeaderConfig { payload, ..TtHeaderConfig::default() });
    let head = RequestHead { codec: CodecId(which), service: Name::from_static("Echo"), ..echo() };
    written(|dst| family.encode_request(1, &head, &Bytes::from_static(HI), dst).unwrap())
}

/// Every kind of request, with the codec that it is in, and the bytes that its answer has in front of the message.
fn requests() -> Vec<(&'static str, u8, Vec<u8>, usize)> {
    vec![
        ("buffered", 0, call(), 0),
        ("framed", 0, in_frame(&call()), 4),
        ("framed second", 1, in_frame(&second()), 4),
        ("ttheader", 0, tt(0, Payload::Framed), 30),
        ("bare ttheader", 0, tt(0, Payload::Bare), 26),
        ("ttheader second", 1, tt(1, Payload::Framed), 30),
        ("mesh", 0, mesh(), 0),
        ("framed mesh", 0, [&mesh()[..22], &in_frame(&call())].concat(), 4),
        ("framed mesh second", 1, [&mesh()[..22], &in_frame(&second())].concat(), 4),
    ]
}

#[test]
fn each_message_is_told_and_answered_in_its_own_way() {
    for (name, codec, bytes, before) in requests() {
        let mut src = BytesMut::from(&bytes[..]);
        let Ok(Some(Frame::Request { id: 1, head, body, answer: Answer::Wanted, mirror })) =
            family().decode(&mut src, LIMIT)
        else {
            panic!("{name}")
        };
        assert!(src.is_empty(), "{name}");
        assert_eq!((head.codec, head.method), (CodecId(codec), Name::from_static("echo")), "{name}");
        assert_eq!((body, head.metadata.len()), (Bytes::from_static(HI), 0), "{name}");
        assert_eq!(head.service == "Echo", before > 20, "{name}");

        let mut reply = golden(include_str!("../../testdata/t4-reply.hex"));
        reply[0] = if codec == 0 { 0x80 } else { 0x90 };
        let result = Bytes::from_static(RESULT);
        let answer = written(|dst| {
            family().encode_response(&mirror, &ResponseHead::ok(), &result, dst).unwrap();
        });
        assert_eq!((&answer[before..], answer.len()), (&reply[..], before + reply.len()), "{name}");
        let read = family().decode(&mut BytesMut::from(&answer[..]), LIMIT);
        assert!(
            matches!(read, Ok(Some(Frame::Response { id: Some(1), body, .. })) if body == result),
            "{name}"
        );
    }
}

#[test]
fn detection_takes_no_more_bytes_than_it_needs() {
    for (name, _, bytes, _) in requests() {
        // A mesh's header is told by its own two bytes.
        let needed = match name {
            "buffered" => 2,
            _ if name.contains("mesh") => 2,
            _ => 6,
        };
        for len in 0..needed {
            assert_eq!(Framing::detect(&family(), &bytes[..len]), Detect::NeedMore, "{name}, {len} bytes");
        }
        assert_eq!(Framing::detect(&family(), &bytes[..needed]), Detect::Yes, "{name}");
    }
    for other in [&b"PRI * HT"[..], &[0x16, 3], &[0x90, 1], &[0xff, 0xae], &[0, 0, 0, 9, 0x94], &[0x82, 0x21]]
    {
        assert_eq!(Framing::detect(&family(), other), Detect::No, "{other:02x?}");
    }
}

#[test]
fn what_is_not_of_the_family_ends_the_connection() {
    let behind_mesh = |payload: &[u8]| [&mesh()[..22], payload].concat();
    let mut lying = mesh();
    lying[5] = 9; // nine pairs where one stands
    let bad = [
        second(), // not in a frame
        b"PRI * HTTP/2.0\r\n\r\n".to_vec(),
        behind_mesh(&tt(0, Payload::Framed)),
        behind_mesh(&second()),
        behind_mesh(b"\xff\xaf\0\0"),
        lying,
        in_frame(&[0x82; 30]),
        vec![0, 0, 0, 0, 0x80, 1],
        vec![1, 0, 0, 0, 0x80, 1],
    ];
    for bytes in bad {
        assert!(family().decode(&mut BytesMut::from(&bytes[..]), LIMIT).is_err(), "{bytes:02x?}");
    }
}

#[test]
fn a_mesh_names_the_service_and_metadata() {
    let text = |text: &str| [&u16::try_from(text.len()).unwrap().to_be_bytes()[..], text.as_bytes()].concat();
    let pairs = [["isn", "Echo"], ["RPC_PERSIST_k", "v"], ["rip", "1.2.3.4:5"]];
    let block = [&[0, 3][..], &pairs.concat().into_iter().flat_map(text).collect::<Vec<_>>()].concat();
    let size = u16::try_from(block.len()).unwrap().to_be_bytes();
    let bytes = [&[0xff, 0xaf][..], &size, &block, &call()].concat();
    let Ok(Some(Frame::Request { head, .. })) = family().decode(&mut BytesMut::from(&bytes[..]), LIMIT)
    else {
        panic!("not a request")
    };
    assert_eq!((head.service, head.metadata.len()), (Name::from_static("Echo"), 1));
    assert_eq!(head.metadata.persistent().get_text("k"), Some("v"));
}

#[test]
fn clients_speak_as_they_are_told() {
    let body = Bytes::from_static(HI);
    let encode = |speaks: Speaks, which: u8| {
        let head = RequestHead { codec: CodecId(which), ..echo() };
        let mut result = Ok(());
        let bytes = written(|dst| result = family().speaks(speaks).encode_request(1, &head, &body, dst));
        result.map(|()| bytes)
    };
    assert_eq!(encode(Speaks::Buffered, 0), Ok(call()));
    assert_eq!(encode(Speaks::Framed, 0), Ok(in_frame(&call())));
    assert_eq!(encode(Speaks::Framed, 1), Ok(in_frame(&second())));
    assert!(encode(Speaks::TtHeader, 1).unwrap().ends_with(&in_frame(&second())));
    assert!(matches!(encode(Speaks::Buffered, 1), Err(FrameError::Unsupported(_))));
    assert!(matches!(encode(Speaks::Framed, 2), Err(FrameError::Unsupported(_))));
}

#[test]
fn every_prefix_is_incomplete() {
    for (name, _, bytes, _) in requests() {
        for len in 0..bytes.len() {
            let read = family().decode(&mut BytesMut::from(&bytes[..len]), LIMIT);
            assert!(matches!(read, Ok(None)), "{name}, {len} bytes: {read:?}");
        }
    }
}

#[test]
fn every_split_gives_the_same() {
    let all: Vec<_> = requests().into_iter().map(|(_, _, bytes, _)| bytes).collect();
    for messages in all.chunks(3) {
        every_way(&family(), messages);
    }
}

/// Behind a header alone there is a word for going away, and so a reason to serve what crosses it.
#[test]
fn only_a_connection_that_spoke_ttheader_can_say_that_it_goes() {
    for (speaks, says) in [(Speaks::TtHeader, true), (Speaks::Framed, false), (Speaks::Buffered, false)] {
        let mut family = family();
        let request = written(|dst| {
            family.clone().speaks(speaks).encode_request(1, &echo(), &Bytes::from_static(HI), dst).unwrap();
        });
        assert!(!family.says_that_it_goes());
        assert!(matches!(
            family.decode(&mut BytesMut::from(&request[..]), LIMIT),
            Ok(Some(Frame::Request { .. }))
        ));
        assert_eq!(family.says_that_it_goes(), says, "{speaks:?}");
    }
}
