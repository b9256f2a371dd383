//! The bytes of framed Thrift binary against written ones, which an encoder of other make produced.

use std::time::Instant;

use crate::support::{golden, in_frame, written};
use bytes::{Bytes, BytesMut};
use codec_thrift::{BinaryHeader, CompactHeader, framed};
use rpc_core::{Code, RequestHead, ResponseHead, Shape, Status};
use rpc_wire::{CallId, Detect, Event, Framed, Kind, Limits, MakeProtocol, MessageHeader, More, Protocol};

fn call() -> Vec<u8> {
    golden(include_str!("../../testdata/call-framed.hex"))
}

fn reply() -> Vec<u8> {
    golden(include_str!("../../testdata/reply.hex"))
}

fn exception() -> Vec<u8> {
    golden(include_str!("../../testdata/exception.hex"))
}

/// The payload of `echo("hi")`, and of its answer.
const ARGUMENTS: &[u8] = &[0x0b, 0, 1, 0, 0, 0, 2, b'h', b'i', 0];
const RESULT: &[u8] = &[0x0b, 0, 0, 0, 0, 0, 2, b'h', b'i', 0];

#[test]
fn a_client_writes_the_call_and_reads_its_answers() {
    let mut client = framed().client(&Limits::default(), CallId(1));
    let head = RequestHead { method: "echo".into(), ..RequestHead::default() };
    let open =
        |client: &mut dyn Protocol| client.open(&head, &Bytes::from_static(ARGUMENTS), More::Done).unwrap();
    let id = open(&mut client);
    assert_eq!(written(&mut client), call());
    client.handle_input(Instant::now(), &mut BytesMut::from(&in_frame(&reply())[..])).unwrap();
    match client.poll_event() {
        Some(Event::Response { id: answered, head, body, more: More::Done }) => {
            assert_eq!((answered, head.status, &body[..]), (id, Ok(()), RESULT));
        }
        other => panic!("{other:?}"),
    }
    let mut client = framed().client(&Limits::default(), CallId(1));
    open(&mut client);
    client.handle_input(Instant::now(), &mut BytesMut::from(&in_frame(&exception())[..])).unwrap();
    let Some(Event::Response { head, .. }) = client.poll_event() else { panic!("no answer") };
    let status = head.status.unwrap_err();
    let found = (status.code(), status.wire_code(), status.message());
    assert_eq!(found, (Code::Unimplemented, Some(1), "unknown method"));
}

#[test]
fn a_server_reads_the_call_and_writes_its_answers() {
    let answers: [(ResponseHead, &[u8], Vec<u8>); 2] = [
        (ResponseHead::ok(), RESULT, reply()),
        (ResponseHead::failed(Status::unimplemented("unknown method")), &[], exception()),
    ];
    for (head, body, bytes) in answers {
        let mut server = framed().server(&Limits::default());
        server.handle_input(Instant::now(), &mut BytesMut::from(&call()[..])).unwrap();
        let Some(Event::Request { id, head: request, body: arguments, more: More::Done }) =
            server.poll_event()
        else {
            panic!("no request")
        };
        assert_eq!((request.method, request.shape, &arguments[..]), ("echo".into(), Shape::Unary, ARGUMENTS));
        assert!(request.service.is_empty());
        server.reply(id, &head, &Bytes::from_static(body), More::Done).unwrap();
        assert_eq!(written(&mut server), in_frame(&bytes));
    }
}

#[test]
fn a_qualified_name_names_the_service_and_the_answer_does_not() {
    let mut bytes = golden("80 01 00 01 00 00 00 09 68 65 6c 6c 6f 3a 73 61 79 00 00 00 02 00"); // hello:say
    let mut server = framed().server(&Limits::default());
    server.handle_input(Instant::now(), &mut BytesMut::from(&in_frame(&bytes)[..])).unwrap();
    let Some(Event::Request { id, head, .. }) = server.poll_event() else { panic!("no request") };
    assert_eq!((head.service, head.method), ("hello".into(), "say".into()));
    server.reply(id, &ResponseHead::ok(), &Bytes::from_static(&[0]), More::Done).unwrap();
    bytes.splice(3..17, golden("02 00 00 00 03 73 61 79"));
    assert_eq!(written(&mut server), in_frame(&bytes));
}

#[test]
fn a_oneway_call_has_a_kind_of_its_own_and_both_are_taken() {
    let mut client = framed().client(&Limits::default(), CallId(1));
    let head = RequestHead { method: "echo".into(), shape: Shape::Oneway, ..RequestHead::default() };
    client.open(&head, &Bytes::from_static(ARGUMENTS), More::Done).unwrap();
    let mut oneway = call();
    oneway[7] = Kind::Oneway as u8;
    assert_eq!(written(&mut client), oneway);
    let mut server = framed().server(&Limits::default());
    server.handle_input(Instant::now(), &mut BytesMut::from(&oneway[..])).unwrap();
    let Some(Event::Request { id, head, .. }) = server.poll_event() else { panic!("no request") };
    assert!(!head.wants_answer());
    server
        .reply(id, &ResponseHead::failed(Status::internal("nobody reads it")), &Bytes::new(), More::Done)
        .unwrap();
    assert_eq!((written(&mut server), server.in_flight()), (vec![], 0));
}

/// A text that is cut at the limit, numbers that nobody knows, fields that are missing.
#[test]
fn exceptions_come_through() {
    let statuses = [
        Status::internal(""),
        Status::internal("x".repeat(64 * 1024)),
        Status::unknown("own number").with_wire_code(12_005),
        Status::invalid_argument("bad"),
    ];
    for status in statuses {
        let mut bytes = BytesMut::new();
        BinaryHeader::new().write_exception(&status, &mut bytes);
        let read = BinaryHeader::new().read_exception(bytes.freeze()).unwrap();
        assert_eq!(read.code(), status.code());
        assert!(status.message().is_empty() || read.message() == status.message());
        assert!(status.wire_code().is_none_or(|code| read.wire_code() == Some(code)));
    }
    let mut bytes = BytesMut::new();
    BinaryHeader::new().write_exception(&Status::internal("x".repeat(1_000_000)), &mut bytes);
    assert!(bytes.len() <= 64 * 1024 + 15, "an exception fits within any sensible limit");
    // It is cut between two characters, since peers refuse a text that is not UTF-8.
    let text = format!("x{}", "é".repeat(40_000));
    bytes.clear();
    BinaryHeader::new().write_exception(&Status::internal(text.clone()), &mut bytes);
    let read = BinaryHeader::new().read_exception(bytes.split().freeze()).unwrap();
    assert_eq!(read.message().len(), 64 * 1024 - 1);
    assert!(text.starts_with(read.message()));
    CompactHeader.write_exception(&Status::internal(text.clone()), &mut bytes);
    let read = CompactHeader.read_exception(bytes.freeze()).unwrap();
    assert_eq!(read.message().len(), 64 * 1024 - 1);
    let bare = BinaryHeader::new().read_exception(Bytes::from_static(&[0])).unwrap();
    assert_eq!((bare.code(), bare.wire_code(), bare.message()), (Code::Unknown, Some(0), "unknown error"));
    // A text that is not UTF-8 does not hide the failure behind another.
    let odd = golden("0b 00 01 00 00 00 02 ff fe 08 00 02 00 00 00 01 00");
    assert_eq!(BinaryHeader::new().read_exception(odd.into()).unwrap().code(), Code::Unimplemented);
}

/// The first six bytes tell: what could be a length, then the version.
#[test]
fn the_fewest_bytes_tell_the_protocol() {
    let call = call();
    for len in 0..6 {
        assert_eq!(MakeProtocol::detect(&framed(), &call[..len]), Detect::NeedMore, "{len} bytes");
    }
    assert_eq!(MakeProtocol::detect(&framed(), &call[..6]), Detect::Yes);
    let others: [&[u8]; 8] = [
        b"GET / HTTP/1.1",
        b"PRI * HTTP/2.0",
        &[0x16, 3, 1, 2],
        &[0x80, 1, 0, 1],          // unframed
        &[0x82, 0x21],             // unframed, compact
        &[0x94, 0, 1, 0xa4],       // msgpack-rpc
        &[0, 0, 0, 9, 0x90, 1],    // framed Kitex-Protobuf
        &[0, 0, 0, 9, 0x82, 0x21], // framed, compact
    ];
    for other in others {
        assert_eq!(MakeProtocol::detect(&framed(), other), Detect::No, "{other:02x?}");
    }
}

/// The call without a version is read where it is allowed, and its answer has a version all the same.
#[test]
fn the_old_header_by_option() {
    let old = golden("00 00 00 04 65 63 68 6f 01 00 00 00 01 0b 00 01 00 00 00 02 68 69 00");
    assert_eq!(old.len(), 23);
    let lenient = Framed::new(BinaryHeader::new().accept_non_strict());
    for call in [in_frame(&old), call()] {
        let mut server = lenient.server(&Limits::default());
        server.handle_input(Instant::now(), &mut BytesMut::from(&call[..])).unwrap();
        let Some(Event::Request { id, head, body, .. }) = server.poll_event() else { panic!("no request") };
        assert_eq!((head.method, &body[..]), ("echo".into(), ARGUMENTS));
        server.reply(id, &ResponseHead::ok(), &Bytes::from_static(RESULT), More::Done).unwrap();
        assert_eq!(written(&mut server), in_frame(&reply()));
    }
    let error = framed()
        .server(&Limits::default())
        .handle_input(Instant::now(), &mut BytesMut::from(&in_frame(&old)[..]))
        .unwrap_err();
    assert!(error.to_string().contains("bad version: 0000"), "{error}");

    let header = BinaryHeader::new().accept_non_strict();
    for len in 0..old.len() - ARGUMENTS.len() {
        assert!(header.read(&mut Bytes::copy_from_slice(&old[..len])).is_err(), "{len} bytes are a header");
    }
    let mut negative = Bytes::from(golden("80 02 00 04 65 63 68 6f 01 00 00 00 01"));
    assert!(header.read(&mut negative).unwrap_err().to_string().contains("bad version: 8002"));
}

/// Five bytes tell: what could be a name's length, and the first letter of the name.
#[test]
fn the_old_header_is_detected_by_its_name() {
    let header = BinaryHeader::new().accept_non_strict();
    let old = golden("00 00 00 04 65 63 68 6f 01 00 00 00 01");
    for len in 0..5 {
        assert_eq!(header.detect(&old[..len]), Detect::NeedMore, "{len} bytes");
        assert_eq!(BinaryHeader::new().detect(&old[..len]) == Detect::NeedMore, len == 0);
    }
    assert_eq!(header.detect(&old[..5]), Detect::Yes);
    assert_eq!(header.detect(&call()[4..]), Detect::Yes);
    let others: [&[u8]; 6] = [
        &call(),                      // framed
        &in_frame(&old),              // the same within a frame
        &[0, 0, 0, 0x58, 0x10, 0],    // TTHeader
        &[0, 0, 0, 9, 0x90, 1],       // framed Kitex-Protobuf
        &[0, 0, 0, 0, 1, 0, 0, 0, 1], // a name of no letters
        b"GET / HTTP/1.1",
    ];
    for other in others {
        assert_eq!(header.detect(other), Detect::No, "{other:02x?}");
    }
}
