use std::time::Duration;

use bytes::BufMut;
use proptest::prelude::*;
use rpc_core::{Code, Metadata, Name, Scope, Shape, Status, Value};

use super::*;
use crate::testing::echo;
use crate::ttheader::info::{Entries, Entry, MAX_PAIRS};
use crate::ttheader::packet::Packet;
use crate::{CallId, Event, Limits, MakeProtocol, More, Protocol};

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
fn metadata_of_requests_is_spelled_by_how_far_it_goes() {
    let pairs = [
        ("Trace", "t", Scope::Persistent),
        ("Trace", "1", Scope::Transient),
        ("gdpr-token", "s", Scope::Transient),
    ];
    let head = RequestHead { metadata: metadata(&pairs), ..echo() };
    let bytes = call(&head).unwrap();
    let packet = Packet::open(Bytes::from(bytes.clone())).unwrap();
    let entries: Vec<_> = Entries::of(packet.header()).unwrap().map(Result::unwrap).collect();
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
    let head = ResponseHead { metadata: metadata(&[("cost", "3", Scope::Transient)]), ..ResponseHead::ok() };
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
        let head = ResponseHead { metadata: metadata(&[(key, "v", Scope::Transient)]), ..ResponseHead::ok() };
        let refused = answer(&framing(), &mirror, &head, RESULT);
        assert!(matches!(refused, Err(FrameError::Unsupported(_))), "{key}");
    }
    let both = metadata(&[("k", "1", Scope::Transient), ("k", "2", Scope::Persistent)]);
    let refused = answer(&framing(), &mirror, &ResponseHead { metadata: both, ..ResponseHead::ok() }, RESULT);
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
            Entries::of(packet.header())
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
    fn any_header_is_read_or_refused(
        info in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..4, Just(0x10), Just(0x11)], 0..64),
        pairs in prop::collection::vec(("RPC_(TRANSIT|PERSIST)_[a-c]{0,2}|isn|crc32c", "[ab]{0,2}"), 0..6),
    ) {
        crate::fuzz::ttheader(&Strict, &info);
        let mut header = BytesMut::new();
        let mut writer = InfoWriter::begin(&mut header);
        for (key, value) in &pairs {
            writer.text(b"", key.as_bytes(), value.as_bytes()).unwrap();
        }
        writer.finish();
        header.put_slice(&info);
        crate::fuzz::ttheader(&Strict, &header);
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
