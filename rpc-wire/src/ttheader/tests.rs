use std::time::Duration;

use bytes::BufMut;
use proptest::prelude::*;
use rpc_core::{Code, Metadata, Name, Scope, Shape, Status, Value};

use super::info::{Entries, Entry, InfoWriter, MAX_PAIRS};
use super::packet::Packet;
use super::*;
use crate::testing::{HI, Strict, echo, every_way, golden, written};
use crate::{Answer, CallId, Event, Limits, MakeProtocol, More, Protocol};

const LIMIT: usize = 1 << 20;
/// The result `{0: "hi"}`.
const RESULT: &[u8] = b"\x0b\0\0\0\0\0\x02hi\0";

fn framing() -> TtHeader<Strict> {
    TtHeader::new(Strict)
}

fn with(change: impl FnOnce(&mut TtHeaderConfig)) -> TtHeader<Strict> {
    let mut config = TtHeaderConfig::default();
    change(&mut config);
    framing().with(config)
}

fn h1() -> Vec<u8> {
    golden(include_str!("../../testdata/h1-call.hex"))
}

fn h2() -> Vec<u8> {
    golden(include_str!("../../testdata/h2-business-error.hex"))
}

fn h3() -> Vec<u8> {
    golden(include_str!("../../testdata/h3-control.hex"))
}

fn t1() -> Vec<u8> {
    golden(include_str!("../../testdata/t1-call.hex"))
}

fn t4() -> Vec<u8> {
    golden(include_str!("../../testdata/t4-reply.hex"))
}

fn t5() -> Vec<u8> {
    golden(include_str!("../../testdata/t5-exception.hex"))
}

/// A packet with a header that is written by hand.
fn packet(flags: u16, id: u32, payload: &[u8], info: impl FnOnce(&mut InfoWriter<'_>)) -> Vec<u8> {
    written(|dst| {
        packet::put(flags, id, payload.len(), dst, |dst| {
            info(&mut InfoWriter::begin(dst));
            Ok(())
        })
        .unwrap();
        dst.put_slice(payload);
    })
}

fn texts(pairs: &[(&str, &[u8])]) -> impl FnOnce(&mut InfoWriter<'_>) {
    |info| pairs.iter().for_each(|(key, value)| info.text(b"", key.as_bytes(), value).unwrap())
}

fn decode(bytes: &[u8]) -> Result<Frame<TtHeaderMirror>, FrameError> {
    framing().decode(&mut BytesMut::from(bytes), LIMIT).map(|frame| frame.expect("a whole packet"))
}

fn request(bytes: &[u8]) -> (RequestHead, TtHeaderMirror) {
    match decode(bytes).unwrap() {
        Frame::Request { head, mirror, .. } => (head, mirror),
        other => panic!("{other:?} is no request"),
    }
}

fn response(bytes: &[u8]) -> ResponseHead {
    match decode(bytes).unwrap() {
        Frame::Response { head, .. } => head,
        other => panic!("{other:?} is no response"),
    }
}

fn call(head: &RequestHead) -> Result<Vec<u8>, FrameError> {
    encode(&framing(), head)
}

fn encode(framing: &TtHeader<Strict>, head: &RequestHead) -> Result<Vec<u8>, FrameError> {
    let mut result = Ok(());
    let bytes = written(|dst| result = framing.encode_request(1, head, &Bytes::from_static(HI), dst));
    result.map(|()| bytes)
}

fn answer(
    framing: &TtHeader<Strict>,
    to: &TtHeaderMirror,
    head: &ResponseHead,
    body: &'static [u8],
) -> Result<Vec<u8>, FrameError> {
    let mut result = Ok(());
    let bytes = written(|dst| result = framing.encode_response(to, head, &Bytes::from_static(body), dst));
    result.map(|()| bytes)
}

fn metadata(pairs: &[(&'static str, &str, Scope)]) -> Metadata {
    let mut metadata = Metadata::new();
    pairs.iter().for_each(|(key, value, scope)| metadata.append(*key, *value, *scope));
    metadata
}

#[test]
fn a_call_is_kitexs_byte_for_byte() {
    let framing = with(|config| {
        config.caller = Some("cli".into());
        config.callee = Some("svc".into());
        config.out_of_order = false;
    });
    let head = RequestHead { service: Name::from_static("idl.Echo"), ..echo() };
    assert_eq!(encode(&framing, &head).unwrap(), h1());
    match decode(&h1()).unwrap() {
        Frame::Request { id: 1, head, body, answer: Answer::Wanted, .. } => {
            assert_eq!((head.service, head.method), (Name::from_static("Echo"), Name::from_static("echo")));
            assert_eq!((body, head.metadata.len(), head.deadline), (Bytes::from_static(HI), 0, None));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_business_error_is_kitexs_byte_for_byte() {
    let (_, mirror) = request(&h1());
    let head = ResponseHead::failed(Status::business(404, "nope"));
    assert_eq!(answer(&framing(), &mirror, &head, b"").unwrap(), h2());
    let status = response(&h2()).status.unwrap_err();
    assert_eq!((status.business_code(), status.message(), status.code()), (Some(404), "nope", Code::Unknown));
}

#[test]
fn business_errors_of_both_kinds_are_read() {
    let keys: &[(&str, &[u8])] =
        &[("biz-status", b"-7"), ("biz-message", b"nope"), ("biz-extra", b"{\"a\":\"b\"}")];
    // Kitex's stand beside an empty result, volo's beside an exception.
    for message in [t4(), t5()] {
        match decode(&packet(0, 1, &message, texts(keys))).unwrap() {
            Frame::Response { id: Some(1), head, body, .. } => {
                let status = head.status.unwrap_err();
                assert_eq!((status.business_code(), status.message()), (Some(-7), "nope"));
                assert_eq!((&status.details()[..], body.len()), (&b"{\"a\":\"b\"}"[..], 0));
                assert!(head.metadata.is_empty());
            }
            other => panic!("{other:?}"),
        }
    }
    for none in [&b"0"[..], b"", b"x", b"4294967296"] {
        assert!(response(&packet(0, 1, &t4(), texts(&[("biz-status", none)]))).status.is_ok());
        let status = response(&packet(0, 1, &t5(), texts(&[("biz-status", none)]))).status.unwrap_err();
        assert_eq!((status.code(), status.business_code()), (Code::Unimplemented, None));
    }
}

#[test]
fn business_errors_go_round_or_are_refused() {
    let (_, mirror) = request(&h1());
    let extra = |extra: &'static [u8]| {
        ResponseHead::failed(Status::business(5, "text").with_details(Bytes::from_static(extra)))
    };
    let bytes = answer(&framing(), &mirror, &extra(b"{\"k\":\"v\"}"), b"").unwrap();
    assert_eq!(response(&bytes).status, extra(b"{\"k\":\"v\"}").status);
    for bad in [
        extra(b"[]"),
        extra(b"{\xff}"),
        ResponseHead::failed(Status::business(0, "none")),
        ResponseHead::failed(Status::business(1, "x".repeat(65_536))),
    ] {
        let refused = answer(&framing(), &mirror, &bad, b"");
        assert!(matches!(refused, Err(FrameError::Unsupported(_))), "{refused:?}");
    }
}

#[test]
fn exceptions_stand_in_the_message() {
    let (_, mirror) = request(&h1());
    let head = ResponseHead::failed(Status::unimplemented("unknown method"));
    let bytes = answer(&framing(), &mirror, &head, b"").unwrap();
    assert!(bytes.ends_with(&t5()));
    let status = response(&bytes).status.unwrap_err();
    assert_eq!(
        (status.code(), status.wire_code(), status.business_code()),
        (Code::Unimplemented, Some(1), None)
    );
}

#[test]
fn answers_stand_as_their_requests_did() {
    for (payload, len) in [(Payload::Framed, 4 + 26), (Payload::Bare, 26)] {
        let asked = encode(&with(|config| config.payload = payload), &echo()).unwrap();
        let (_, mirror) = request(&asked);
        let bytes = answer(&framing(), &mirror, &ResponseHead::ok(), RESULT).unwrap();
        // Length, magic, no flags, id; then a header with the kind alone.
        assert_eq!(bytes[4..12], [0x10, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(bytes[12..14], [0, 3]);
        assert_eq!(bytes[14..26], [0, 0, 0x10, 0, 1, 0, 22, 0, 1, b'2', 0, 0]);
        assert_eq!(bytes.len(), 26 + len);
        assert!(bytes.ends_with(&t4()));
    }
}

#[test]
fn a_frame_has_to_fill_its_place() {
    for len in [25, 27, u32::MAX] {
        let payload = [&len.to_be_bytes()[..], &t1()].concat();
        assert!(decode(&packet(0, 1, &payload, |_| ())).is_err(), "{len}");
    }
    for payload in [&b""[..], &[0; 4], &[0x80], &[0x82, 0x21, 1, 4], &[0; 30]] {
        assert!(decode(&packet(0, 1, payload, |_| ())).is_err(), "{payload:02x?}");
    }
}

#[test]
fn the_protocol_id_is_not_believed() {
    for id in [0, 2, 3, 4, 0x10, 0x11, 0xff] {
        let mut bytes = h1();
        bytes[14] = id;
        assert_eq!(request(&bytes).0.method, "echo");
    }
}

#[test]
fn metadata_of_requests_is_spelled_by_how_far_it_goes() {
    let pairs = [
        ("Trace", "t", Scope::Persistent),
        ("Trace", "1", Scope::Transient),
        ("gdpr-token", "s", Scope::Transient),
    ];
    let head = RequestHead { metadata: metadata(&pairs), ..echo() };
    let bytes = call(&head).unwrap();
    let packet = Packet::open(Bytes::from(bytes.clone())).unwrap();
    let entries: Vec<_> = Entries::of(&packet.header).unwrap().map(Result::unwrap).collect();
    assert_eq!(
        entries,
        [
            Entry::Token(b"s"),
            Entry::Text(b"RPC_PERSIST_Trace", b"t"),
            Entry::Text(b"RPC_TRANSIT_Trace", b"1"),
            Entry::Number(9, b"echo"),
            Entry::Number(22, b"1"),
        ]
    );
    let read = request(&bytes).0.metadata;
    assert_eq!(read.len(), 3);
    assert_eq!(read.persistent(), metadata(&[("Trace", "t", Scope::Persistent)]));
    assert_eq!(read.get_text("gdpr-token"), Some("s"));
}

#[test]
fn what_peers_write_beside_metadata_stays_the_protocols_own() {
    let pairs: &[(&str, &[u8])] = &[
        ("isn", b"Echo"),
        ("rip", b"1.2.3.4:5"),
        ("crrst", b""),
        ("PV_x", b"y"),
        ("biz-status", b"0"),
        ("K_ProcessAtTime", b"1"),
        ("RPC_TRANSIT_UPSTREAM_a", b"1"),
        ("RPC_TRANSIT_b", b"2"),
        ("RPC_PERSIST_c", b"\xff\xfe"),
        ("RPC_PERSIST_c", b"3"),
        ("RPC_PERSIST_d", b"\xff"),
        ("RPC_PERSIST_", b"no key"),
        ("RPC_PERSIST_empty", b""),
    ];
    let (head, _) = request(&packet(0, 1, &t1(), texts(pairs)));
    assert_eq!(head.service, "Echo");
    let mut expected = metadata(&[
        ("a", "1", Scope::Transient),
        ("b", "2", Scope::Transient),
        ("c", "3", Scope::Persistent),
    ]);
    expected.append("d", Bytes::from_static(b"\xff"), Scope::Persistent);
    assert_eq!(head.metadata, expected);

    let mut all = pairs.to_vec();
    all.extend([("raw", &b"1"[..]), ("RPC_BACKWARD_volo", b"2"), ("Raw", b"3"), ("crc32c", b"")]);
    let head = response(&packet(0, 1, &t4(), texts(&all)));
    let expected =
        [("raw", "1"), ("volo", "2"), ("Raw", "3")].map(|(key, value)| (key, value, Scope::Transient));
    assert_eq!(head.metadata, metadata(&expected));
}

#[test]
fn metadata_of_answers_is_spelled_as_asked() {
    let (_, mirror) = request(&h1());
    let head = ResponseHead { status: Ok(()), metadata: metadata(&[("cost", "3", Scope::Transient)]) };
    let contains = |bytes: &[u8], text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    for (keys, prefixed) in [(BackwardKeys::Plain, false), (BackwardKeys::Prefixed, true)] {
        let framing = with(|config| config.backward_keys = keys);
        let bytes = answer(&framing, &mirror, &head, RESULT).unwrap();
        assert_eq!(contains(&bytes, b"RPC_BACKWARD_cost"), prefixed);
        assert_eq!(response(&bytes).metadata, head.metadata);
    }
}

#[test]
fn what_can_not_be_spelled_is_an_error() {
    let long: &'static str = "x".repeat(65_524).leak();
    let bad = [
        metadata(&[("", "v", Scope::Transient)]),
        metadata(&[("k", "", Scope::Transient)]),
        metadata(&[("k", "1", Scope::Transient), ("k", "2", Scope::Transient)]),
        metadata(&[("UPSTREAM_k", "v", Scope::Transient)]),
        metadata(&[(long, "v", Scope::Transient)]),
        metadata(&[("k", &"x".repeat(65_536), Scope::Persistent)]),
        metadata(&["a", "b", "c", "d", "e"].map(|key| (key, &long[..60_000], Scope::Transient))),
        (0..MAX_PAIRS).fold(Metadata::new(), |mut pairs, at| {
            pairs.append(format!("k{at}"), "v", Scope::Transient);
            pairs
        }),
    ];
    for metadata in bad {
        let refused = call(&RequestHead { metadata, ..echo() });
        assert!(matches!(refused, Err(FrameError::Unsupported(_))), "{refused:?}");
    }
    let fits = metadata(&[(&long[1..], &"x".repeat(65_535), Scope::Transient)]);
    assert_eq!(request(&call(&RequestHead { metadata: fits.clone(), ..echo() }).unwrap()).0.metadata, fits);

    let (_, mirror) = request(&h1());
    for key in [
        "isn",
        "crrst",
        "biz-status",
        "biz-other",
        "crc32c",
        "rip",
        "PV_a",
        "RPC_TRANSIT_a",
        "RPC_BACKWARD_a",
    ] {
        let head = ResponseHead { status: Ok(()), metadata: metadata(&[(key, "v", Scope::Transient)]) };
        let refused = answer(&framing(), &mirror, &head, RESULT);
        assert!(matches!(refused, Err(FrameError::Unsupported(_))), "{key}");
    }
    let both = metadata(&[("k", "1", Scope::Transient), ("k", "2", Scope::Persistent)]);
    let refused = answer(&framing(), &mirror, &ResponseHead { status: Ok(()), metadata: both }, RESULT);
    assert!(matches!(refused, Err(FrameError::Unsupported(_))));
    let streams = call(&RequestHead { shape: Shape::Duplex, ..echo() });
    assert!(matches!(streams, Err(FrameError::Unsupported(_))));
    let method = call(&RequestHead { method: Name::from("x".repeat(65_536)), ..echo() });
    assert!(matches!(method, Err(FrameError::Unsupported(_))));
}

/// The client's clock and the server's are not the same; what is left goes over.
#[test]
fn what_is_left_of_a_deadline_arrives() {
    let (client_now, server_now) = (Instant::now(), Instant::now() + Duration::from_secs(1000));
    for (left, millis) in [(1500, "1500"), (0, "1")] {
        let mut client = framing().client(&Limits::default(), CallId(1));
        let head = RequestHead { deadline: Some(client_now + Duration::from_millis(left)), ..echo() };
        client.set_time(client_now);
        client.open(&head, &Bytes::from_static(HI), More::Done).unwrap();
        let mut out = WriteBuf::new();
        client.poll_output(&mut out);
        let bytes = written(|dst| out.move_into(dst));
        let packet = Packet::open(Bytes::from(bytes.clone())).unwrap();
        assert!(
            Entries::of(&packet.header)
                .unwrap()
                .any(|entry| entry == Ok(Entry::Number(12, millis.as_bytes())))
        );

        let mut server = framing().server(&Limits::default());
        server.handle_input(server_now, &mut BytesMut::from(&bytes[..])).unwrap();
        let Some(Event::Request { head, .. }) = server.poll_event() else { panic!("no request") };
        let deadline = server_now + Duration::from_millis(left.max(1));
        assert_eq!((head.deadline, server.poll_timeout()), (Some(deadline), Some(deadline)));
        server.handle_timeout(deadline).unwrap();
        assert!(matches!(server.poll_event(), Some(Event::Reset { .. })));
        assert!(server.poll_output(&mut out), "it is answered");
    }
    // A fraction of a millisecond counts as a whole one.
    let mut framing = framing();
    framing.set_time(client_now);
    let head = RequestHead { deadline: Some(client_now + Duration::from_nanos(1_000_001)), ..echo() };
    assert!(encode(&framing, &head).unwrap().windows(5).any(|window| window == b"\0\x0c\0\x012"));
}

#[test]
fn a_timeout_that_is_none_says_nothing() {
    for text in [&b"0"[..], b"-1", b"", b"soon", b"\xff", b"99999999999999999999999", b"18446744073709551615"]
    {
        let bytes = packet(0, 1, &t1(), |info| info.number(12, text).unwrap());
        let mut framing = framing();
        framing.set_time(Instant::now());
        let Ok(Some(Frame::Request { head, .. })) = framing.decode(&mut BytesMut::from(&bytes[..]), LIMIT)
        else {
            panic!("no request")
        };
        assert_eq!(head.deadline, None, "{text:?}");
    }
}

#[test]
fn checksums_are_written_and_verified() {
    let asked = encode(&with(|config| config.checksum = true), &echo()).unwrap();
    assert!(asked.windows(8).any(|window| window == b"3e4685e4"), "that of the framed call");
    let (_, mirror) = request(&asked);
    let answered = answer(&framing(), &mirror, &ResponseHead::ok(), RESULT).unwrap();
    assert!(answered.windows(6).any(|window| window == b"crc32c"), "as it was asked");
    assert!(response(&answered).metadata.is_empty());
    let large: &'static [u8] = vec![7; WriteBuf::CHAIN_FROM].leak();
    let chained = answer(&framing(), &mirror, &ResponseHead::ok(), large).unwrap();
    assert!(response(&chained).status.is_ok());
    for mut bytes in [asked, answered] {
        *bytes.last_mut().unwrap() ^= 1;
        assert!(decode(&bytes).is_err());
    }
}

#[test]
fn requests_say_that_answers_may_come_in_any_order() {
    assert_eq!(call(&echo()).unwrap()[4..8], [0x10, 0, 0, 1]);
    let plain = with(|config| config.out_of_order = false);
    assert_eq!(encode(&plain, &echo()).unwrap()[4..8], [0x10, 0, 0, 0]);
    // One call at a time has no order, and nobody reads what comes between.
    for (max_in_flight, flags) in [(1, 0), (2, 1)] {
        let limits = Limits { max_in_flight, ..Limits::default() };
        let mut client = framing().client(&limits, CallId(1));
        client.open(&echo(), &Bytes::from_static(HI), More::Done).unwrap();
        assert_eq!(output(&mut client)[4..8], [0x10, 0, 0, flags]);
    }
}

fn server_after(request: &[u8]) -> Unary {
    let mut server = framing().server(&Limits::default());
    server.handle_input(Instant::now(), &mut BytesMut::from(request)).unwrap();
    assert!(matches!(server.poll_event(), Some(Event::Request { .. })));
    server
}

type Unary = crate::Unary<TtHeader<Strict>>;

fn output(protocol: &mut Unary) -> Vec<u8> {
    let mut out = WriteBuf::new();
    protocol.poll_output(&mut out);
    written(|dst| out.move_into(dst))
}

#[test]
fn a_server_that_goes_away_tells_a_client_that_multiplexes() {
    let mut server = server_after(&call(&echo()).unwrap());
    server.go_away();
    server.go_away();
    assert_eq!(output(&mut server), h3());
    server.reply(CallId(0), &ResponseHead::ok(), &Bytes::from_static(RESULT), More::Done).unwrap();
    assert!(!output(&mut server).windows(5).any(|window| window == b"crrst"));
}

#[test]
fn a_server_that_goes_away_tells_others_on_their_answers() {
    let mut server = server_after(&h1());
    server.go_away();
    assert_eq!(output(&mut server), b"");
    server.reply(CallId(0), &ResponseHead::ok(), &Bytes::from_static(RESULT), More::Done).unwrap();
    let bytes = output(&mut server);
    assert!(bytes.windows(8).any(|window| window == b"crrst\0\x011"));
    match decode(&bytes).unwrap() {
        Frame::Last(frame) => assert!(matches!(*frame, Frame::Response { id: Some(1), .. })),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_client_that_is_told_opens_no_more_calls_and_gets_its_answers() {
    let last = packet(0, 1, &t4(), texts(&[("crrst", b"1")]));
    for told in [[h3(), packet(0, 1, &t4(), |_| ())].concat(), last] {
        let mut client = framing().client(&Limits::default(), CallId(1));
        client.open(&echo(), &Bytes::from_static(HI), More::Done).unwrap();
        client.handle_input(Instant::now(), &mut BytesMut::from(&told[..])).unwrap();
        let (mut away, mut answered) = (false, false);
        while let Some(event) = client.poll_event() {
            match event {
                Event::GoAway => away = true,
                Event::Response { id: CallId(1), .. } => answered = true,
                other => panic!("{other:?}"),
            }
        }
        assert!(away && answered);
        assert_eq!(client.open(&echo(), &Bytes::new(), More::Done), Err(crate::OpenError::GoingAway));
    }
}

#[test]
fn packets_of_id_0() {
    // volo's first call has it.
    let mut zero = t1();
    zero[12..16].fill(0);
    assert!(matches!(decode(&packet(0, 0, &zero, |_| ())), Ok(Frame::Request { id: 0, .. })));
    let mut none = t4();
    none[12..16].fill(0);
    assert!(matches!(decode(&packet(0, 0, &none, |_| ())), Ok(Frame::Ignored)));
    // A proxy's exception without an id is for the call that the packet names.
    let mut failed = t5();
    failed[12..16].fill(0);
    assert!(matches!(decode(&packet(0, 9, &failed, |_| ())), Ok(Frame::Response { id: Some(9), .. })));
}

#[test]
fn streams_are_refused() {
    assert!(decode(&packet(2, 1, &t1(), |_| ())).is_err());
}

#[test]
fn detection_takes_the_magic_number() {
    let h1 = h1();
    for len in 0..6 {
        assert_eq!(Framing::detect(&framing(), &h1[..len]), Detect::NeedMore, "{len} bytes");
    }
    assert_eq!(Framing::detect(&framing(), &h1[..6]), Detect::Yes);
    for other in
        [&b"PRI * HT"[..], &[0x80, 1], &[0, 0, 0, 26, 0x80], &[0, 0, 0, 26, 0x10, 1], &[2, 0, 0, 0, 0x10, 0]]
    {
        assert_eq!(Framing::detect(&framing(), other), Detect::No);
    }
}

/// Headers that lie about a length or a count, or have what is not known.
#[test]
fn bad_headers_end_the_connection() {
    let header = |info: &[u8]| {
        let mut padded = [&[0, 0][..], info].concat();
        padded.resize(padded.len().next_multiple_of(4), 0);
        written(|dst| {
            dst.put_u32(u32::try_from(10 + padded.len() + t1().len()).unwrap());
            dst.put_slice(&[0x10, 0, 0, 0, 0, 0, 0, 1]);
            dst.put_u16(u16::try_from(padded.len() / 4).unwrap());
            dst.put_slice(&padded);
            dst.put_slice(&t1());
        })
    };
    assert!(decode(&header(&[])).is_ok());
    assert!(decode(&header(&[0, 0, 1, 0, 0, 0, 0x10, 0, 0, 0])).is_ok(), "padding may stand anywhere");
    let bad: [&[u8]; 10] = [
        &[0x02],
        &[0x01, 0],
        &[0x01, 0xff, 0xff],
        &[0x01, 0, 1, 0, 9],
        &[0x01, 0, 1, 0, 1, b'k', 0xff, 0xff],
        &[0x10, 0, 2, 0, 9, 0, 0],
        &[0x10, 0, 1, 0, 9, 0, 30],
        &[0x11],
        &[0x11, 0, 9, 1],
        &[0x12, 0, 0],
    ];
    for info in bad {
        assert!(decode(&header(info)).is_err(), "{info:02x?}");
    }
    let mut transformed = h1();
    transformed[15] = 1;
    assert!(decode(&transformed).is_err());
    for (at, value) in [(12, [0, 0]), (12, [0xff, 0xff]), (4, [0x10, 1]), (4, [0x0f, 0xff])] {
        let mut bytes = h1();
        bytes[at..at + 2].copy_from_slice(&value);
        assert!(decode(&bytes).is_err(), "{value:02x?} at {at}");
    }
    for len in [0, 10, u32::try_from(LIMIT).unwrap() + 1, i32::MAX.cast_unsigned(), u32::MAX] {
        let mut bytes = h1();
        bytes[..4].copy_from_slice(&len.to_be_bytes());
        assert!(decode(&bytes).is_err(), "a length of {len}");
    }
    let pairs: Vec<u8> = std::iter::repeat_n([0, 9, 0, 0], MAX_PAIRS + 1).flatten().collect();
    let count = u16::try_from(MAX_PAIRS + 1).unwrap().to_be_bytes();
    assert!(decode(&header(&[&[0x10], &count[..], &pairs].concat())).is_err());
}

#[test]
fn every_prefix_is_incomplete() {
    for message in [h1(), h2(), h3()] {
        for len in 0..message.len() {
            assert!(
                framing().decode(&mut BytesMut::from(&message[..len]), LIMIT).unwrap().is_none(),
                "{len}"
            );
        }
    }
}

#[test]
fn every_split_gives_the_same() {
    let closing = packet(0, 1, &t4(), texts(&[("crrst", b"1"), ("k", b"v")]));
    every_way(&framing(), &[h1(), closing]);
    every_way(&framing(), &[h2(), h3()]);
    let summed = encode(&with(|config| config.checksum = true), &echo()).unwrap();
    every_way(&framing(), &[packet(0, 1, &t5(), |_| ()), summed]);
}

proptest! {
    /// Metadata that can be spelled comes out as it went in.
    #[test]
    fn metadata_goes_round(pairs in prop::collection::btree_map("[a-zA-Z0-9_-]{1,12}", ("\\PC{1,9}", any::<bool>()), 0..9)) {
        let mut expected = Metadata::new();
        for (key, (value, persistent)) in pairs {
            let scope = if persistent { Scope::Persistent } else { Scope::Transient };
            if !(key.starts_with("UPSTREAM_") || key == "gdpr-token") {
                expected.append(key, value, scope);
            }
        }
        let bytes = call(&RequestHead { metadata: expected.clone(), ..echo() }).unwrap();
        prop_assert_eq!(request(&bytes).0.metadata, expected);
    }

    /// Whatever stands in a header, it is read or refused.
    #[test]
    fn any_header_is_read_or_refused(info in prop::collection::vec(any::<u8>(), 0..64)) {
        let bytes = packet(0, 1, &t1(), |writer| {
            let _ = writer.text(b"", b"", b"");
        });
        let mut bent = BytesMut::from(&bytes[..12]);
        let padded = info.len().next_multiple_of(4);
        bent.put_u16(u16::try_from(padded / 4).unwrap());
        bent.put_slice(&info);
        bent.put_bytes(0, padded - info.len());
        bent.put_slice(&t1());
        let len = u32::try_from(bent.len() - 4).unwrap();
        bent[..4].copy_from_slice(&len.to_be_bytes());
        let _ = decode(&bent);
    }
}

#[test]
fn binary_values_keep_their_bytes() {
    let mut metadata = Metadata::new();
    metadata.append("b", Bytes::from_static(b"\xff\0"), Scope::Transient);
    metadata.append("t", Bytes::from_static(b"text"), Scope::Transient);
    let read = request(&call(&RequestHead { metadata, ..echo() }).unwrap()).0.metadata;
    assert_eq!(read.get("b"), Some(&Value::Binary(Bytes::from_static(b"\xff\0"))));
    assert_eq!(read.get_text("t"), Some("text"));
}
