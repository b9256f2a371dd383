use bytes::Buf;
use proptest::prelude::*;
use rpc_core::{Code, Decode, Encode, Name, Place};
use rpc_wire::{CallId, ConnectionErrorKind, Event, Limits, MakeProtocol, More, Protocol, Unary};

use super::*;
use crate::fuzz;
use crate::testing::{golden, on_small_stack, seeded, values, written};

const LIMIT: usize = 64 * 1024;

macro_rules! golden {
    ($name:literal) => {
        golden(include_str!(concat!("../../testdata/", $name, ".hex")))
    };
}

/// Every message of the golden bytes.
fn messages() -> Vec<Vec<u8>> {
    vec![
        golden!("r1-request"),
        golden!("r2-response"),
        golden!("r3-notification"),
        golden!("r4-request-with-a-long-id"),
        golden!("r5-error"),
        golden!("j1-clear"),
        golden!("j2-cleared"),
        golden!("j3-unknown-method"),
        golden!("j4-set-label"),
        golden!("j5-train"),
        golden!("j6-proxy-error"),
        golden!("n1-eval"),
        golden!("n2-evaluated"),
        golden!("n3-unknown-method"),
    ]
}

fn decode(bytes: &[u8]) -> Result<Option<Frame<Mirror>>, FrameError> {
    let mut src = BytesMut::from(bytes);
    let frame = Rpc::new().decode(&mut src, LIMIT);
    if let Ok(Some(_)) = &frame {
        assert!(src.is_empty(), "{} bytes were left", src.len());
    }
    frame
}

fn out(write: impl FnOnce(&mut WriteBuf) -> Result<(), FrameError>) -> Vec<u8> {
    let mut dst = WriteBuf::new();
    write(&mut dst).unwrap();
    dst.copy_to_bytes(dst.remaining()).to_vec()
}

fn params<T>(value: &T) -> Bytes
where
    MsgPack: Encode<T>,
{
    let mut dst = BytesMut::new();
    MsgPack::new().encode(Place::Arguments, value, &mut dst).unwrap();
    dst.freeze()
}

fn head(method: &'static str, shape: Shape) -> RequestHead {
    RequestHead { method: Name::from_static(method), shape, ..RequestHead::default() }
}

fn request(id: u32, method: &'static str, body: Bytes) -> Vec<u8> {
    out(|dst| Rpc::new().encode_request(id, &head(method, Shape::Unary), &body, dst))
}

fn mirror(id: u32) -> Mirror {
    (id, Name::default())
}

fn response(id: u32, head: ResponseHead, body: &'static [u8]) -> Vec<u8> {
    out(|dst| Rpc::new().encode_response(&mirror(id), &head, &Bytes::from_static(body), dst))
}

/// What a request holds: id, method, payload.
fn requested(bytes: &[u8]) -> (u32, Name, Bytes) {
    match decode(bytes) {
        Ok(Some(Frame::Request { id, head, body, answer: Answer::Wanted, mirror })) => {
            assert_eq!((mirror.0, head.shape), (id, Shape::Unary));
            (id, head.method, body)
        }
        other => panic!("{other:?}"),
    }
}

/// What a response holds: id, status, payload.
fn answered(bytes: &[u8]) -> (u32, Result<(), Status>, Bytes) {
    match decode(bytes) {
        Ok(Some(Frame::Response { id: Some(id), method: None, head, body })) => (id, head.status, body),
        other => panic!("{other:?}"),
    }
}

type Datum = (Vec<(String, String)>, Vec<(String, f64)>, Vec<(String, String)>);

#[test]
fn requests_are_written_byte_for_byte_and_read_again() {
    let datum: Datum = (vec![("t".into(), "hi".into())], vec![("n".into(), 1.0)], vec![]);
    for (id, method, body, expected) in [
        (1, "add", params(&(1, 2)), golden!("r1-request")),
        (0xdead_beef, "add", params(&(1, 2)), golden!("r4-request-with-a-long-id")),
        (1, "clear", params(&("c1",)), golden!("j1-clear")),
        (3, "set_label", params(&("c1", "sports")), golden!("j4-set-label")),
        (4, "train", params(&("c1", [("spam", datum)])), golden!("j5-train")),
        (5, "nvim_eval", params(&("1+1",)), golden!("n1-eval")),
    ] {
        assert_eq!(request(id, method, body.clone()), expected);
        assert_eq!(requested(&expected), (id, Name::from_static(method), body));
    }
}

#[test]
fn a_notification_is_a_oneway_request() {
    let bytes = golden!("r3-notification");
    let body = params(&("hi",));
    assert_eq!(out(|dst| Rpc::new().encode_request(9, &head("log", Shape::Oneway), &body, dst)), bytes);
    match decode(&bytes) {
        Ok(Some(Frame::Request { id: 0, head, body: read, answer: Answer::None, .. })) => {
            assert_eq!((head.method, head.shape, read), (Name::from_static("log"), Shape::Oneway, body));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn responses_are_written_byte_for_byte_and_read_again() {
    for (id, body, expected) in [
        (1, &b"\x03"[..], golden!("r2-response")),
        (1, b"\xc3", golden!("j2-cleared")),
        (5, b"\x02", golden!("n2-evaluated")),
    ] {
        assert_eq!(response(id, ResponseHead::ok(), body), expected);
        assert_eq!(answered(&expected), (id, Ok(()), Bytes::from_static(body)));
    }
    assert_eq!(response(2, ResponseHead::ok(), b""), b"\x94\x01\x02\xc0\xc0");
}

#[test]
fn failures_are_written_byte_for_byte_and_read_again() {
    assert_eq!(response(1, ResponseHead::failed(Status::unknown("boom")), b"ignored"), golden!("r5-error"));
    for (bytes, id, code, message) in [
        (golden!("r5-error"), 1, Code::Unknown, "boom"),
        (golden!("j3-unknown-method"), 2, Code::Unimplemented, "unknown method \"nosuch\""),
        (golden!("j6-proxy-error"), 3, Code::Unknown, "connect error in proxy"),
        (golden!("n3-unknown-method"), 6, Code::Unknown, "Invalid method: foo"),
    ] {
        let (read, status, body) = answered(&bytes);
        let status = status.unwrap_err();
        assert_eq!((read, status.code(), status.message(), body.len()), (id, code, message, 0));
    }
}

#[test]
fn an_ext_value_is_read_and_written() {
    let bytes = Bytes::from(golden!("n4-buffer"));
    let buffer: rmpv::Value = MsgPack::new().decode(Place::Result, bytes.clone()).unwrap();
    assert_eq!(buffer, rmpv::Value::Ext(0, vec![1]));
    let mut again = BytesMut::new();
    MsgPack::new().encode(Place::Item, &buffer, &mut again).unwrap();
    assert_eq!(again, bytes);
}

#[test]
fn names_may_name_a_service() {
    let named = |rpc: Rpc, name: &'static str| {
        let mut src = BytesMut::from(&request(1, name, params(&()))[..]);
        match rpc.clone().decode(&mut src, LIMIT) {
            Ok(Some(Frame::Request { head, .. })) => (head.service, head.method),
            other => panic!("{other:?}"),
        }
    };
    let names = |service, method| (Name::from_static(service), Name::from_static(method));
    assert_eq!(named(Rpc::new(), "add"), names("", "add"));
    assert_eq!(named(Rpc::new(), "Calc.add"), names("Calc", "add"));
    assert_eq!(named(Rpc::new(), "math.Calc/add"), names("math.Calc", "add"));
    assert_eq!(named(Rpc::new().whole_names(true), "math.Calc/add"), names("", "math.Calc/add"));

    let head = RequestHead { service: Name::from_static("math.Calc"), ..head("add", Shape::Unary) };
    let rpc = Rpc::new().names(NameFormat::FullPath);
    let bytes = out(|dst| rpc.encode_request(1, &head, &params(&()), dst));
    assert_eq!(bytes, b"\x94\x00\x01\xadmath.Calc/add\x90");
}

/// C162 for ids, C165: every form of every id that fits is taken, no other.
#[test]
fn ids_are_read_in_any_form() {
    let with_id = |id: &[u8]| [b"\x94\x00", id, b"\xa1f\x90"].concat();
    for (id, value) in [
        (&b"\x00"[..], 0),
        (b"\xcc\x05", 5),
        (b"\xcd\x00\x05", 5),
        (b"\xce\x00\x00\x00\x05", 5),
        (b"\xcf\x00\x00\x00\x00\x00\x00\x00\x05", 5),
        (b"\xd0\x05", 5),
        (b"\xd3\x00\x00\x00\x00\x00\x00\x00\x05", 5),
        (b"\xce\xff\xff\xff\xff", u32::MAX),
        (b"\xd3\x00\x00\x00\x00\xff\xff\xff\xff", u32::MAX),
    ] {
        assert_eq!(requested(&with_id(id)).0, value);
    }
    for id in [
        &b"\xcf\x00\x00\x00\x01\x00\x00\x00\x00"[..],
        b"\xff",
        b"\xd0\x80",
        b"\xa15",
        b"\xc0",
        b"\xca\0\0\0\0",
    ] {
        assert!(decode(&with_id(id)).is_err(), "{id:02x?}");
    }
    let id = b"\x94\x00\xce\xff\xff\xff\xff\xa4echo\x91\xa2hi";
    assert_eq!(requested(id), (u32::MAX, Name::from_static("echo"), params(&("hi",))));
}

#[test]
fn envelopes_are_read_in_any_form() {
    let expected = (1, Name::from_static("f"), Bytes::from_static(b"\x90"));
    for bytes in [
        &b"\x94\x00\x01\xa1f\x90"[..],
        b"\xdc\x00\x04\xcc\x00\x01\xd9\x01f\x90",
        b"\xdd\x00\x00\x00\x04\xd0\x00\x01\xc4\x01f\x90",
        b"\x94\xcf\x00\x00\x00\x00\x00\x00\x00\x00\x01\xda\x00\x01f\x90",
    ] {
        assert_eq!(requested(bytes), expected);
    }
}

/// C166: what is no message ends the connection, since nothing after it can be trusted.
#[test]
fn malformed_envelopes_end_the_connection() {
    for bytes in [
        &b"\x93\x00\xa4fire\x90"[..],
        b"\x93\x01\x01\xc0",
        b"\x94\x02\x01\xa1f\x90",
        b"\x94\x03\x01\xa1f\x90",
        b"\x94\xff\x01\xa1f\x90",
        b"\x94\xa10\x01\xa1f\x90",
        b"\xdc\x00\x05\x00\x01\xa1f\x90\xc0",
        b"\x95\x00\x01\xa1f\x90\xc0",
        b"\x92\x00\x01",
        b"\x80",
        b"\x94\x00\x01\x05\x90",
        b"\x94\x00\x01\xc0\x90",
        b"\x94\x00\x01\xa1f\xc1",
        b"\xdc\x00\x00",
        b"GET / HTTP/1.1\r\n",
    ] {
        assert!(decode(bytes).is_err(), "{bytes:02x?}");
    }
}

#[test]
fn bad_parameters_and_names_are_answered_and_notifications_of_them_ignored() {
    let long = [&b"\xda\x04\x01"[..], &[b'x'; 1025]].concat();
    for (name, params) in
        [(&b"\xa1f"[..], &b"\x80"[..]), (b"\xa1f", b"\xc0"), (b"\xa1f", b"\x05"), (&long, b"\x90")]
    {
        match decode(&[b"\x94\x00\x07", name, params].concat()) {
            Ok(Some(Frame::Refused { id: 7, status, mirror: (7, _) })) => {
                assert_eq!(status.code(), Code::InvalidArgument);
            }
            other => panic!("{other:?}"),
        }
        let notification = decode(&[b"\x93\x02", name, params].concat());
        assert!(matches!(notification, Ok(Some(Frame::Ignored))), "{notification:?}");
    }
    let longest = [&b"\x94\x00\x07\xda\x04\x00"[..], &[b'x'; 1024], b"\x90"].concat();
    assert_eq!(requested(&longest).1.len(), 1024);
}

#[test]
fn what_has_no_representation_is_refused() {
    let rpc = Rpc::new();
    let fails = |head: RequestHead, body: &'static [u8]| {
        let body = Bytes::from_static(body);
        let result = rpc.encode_request(1, &head, &body, &mut WriteBuf::new());
        assert!(matches!(result, Err(FrameError::Unsupported(_))), "{head:?}");
    };
    fails(head("f", Shape::Duplex), b"\x90");
    fails(head("f", Shape::Unary), b"");
    fails(head("f", Shape::Unary), b"\x80");
    fails(RequestHead { method: Name::from("x".repeat(1025)), ..RequestHead::default() }, b"\x90");
}

#[test]
fn the_old_dialect_goes_for_the_envelope_too() {
    let rpc = Rpc::new().with_codec(MsgPack::new().raw_compat(true));
    let text = "x".repeat(40);
    let failed = ResponseHead::failed(Status::unknown(text.clone()));
    let bytes = out(|dst| rpc.encode_response(&mirror(1), &failed, &Bytes::new(), dst));
    assert_eq!(bytes, [b"\x94\x01\x01\xda\x00\x28", text.as_bytes(), b"\xc0"].concat());
    let head = RequestHead { method: Name::from(text.clone()), ..RequestHead::default() };
    let bytes = out(|dst| rpc.encode_request(1, &head, &params(&()), dst));
    assert_eq!(bytes, [b"\x94\x00\x01\xda\x00\x28", text.as_bytes(), b"\x90"].concat());
    assert_eq!(Framing::codecs(&rpc), (MsgPack::new().raw_compat(true),));
}

#[test]
fn detection_takes_the_fewest_bytes() {
    let first_decided = |bytes: &[u8]| {
        let mut said = (0..=bytes.len()).map(|len| (len, Framing::detect(&Rpc::new(), &bytes[..len])));
        said.find(|(_, detect)| *detect != Detect::NeedMore)
    };
    assert_eq!(first_decided(&golden!("r1-request")), Some((2, Detect::Yes)));
    assert_eq!(first_decided(&golden!("r3-notification")), Some((2, Detect::Yes)));
    assert_eq!(first_decided(b"\xdc\x00\x04\x00\x01"), Some((4, Detect::Yes)));
    assert_eq!(first_decided(b"\xdd\x00\x00\x00\x03\x02\xa1"), Some((6, Detect::Yes)));
    for other in
        [&b"\x00\x00\x00\x14"[..], b"\x80\x01\x00\x01", b"\x82\x21", b"PRI * HTTP/2.0", b"GET /", b"\x08\x00"]
    {
        assert_eq!(first_decided(other), Some((1, Detect::No)));
    }
    assert_eq!(first_decided(&golden!("r2-response")), Some((2, Detect::No)));
    assert_eq!(first_decided(b"\x93\x00"), Some((2, Detect::No)));
}

/// C161: an error at once, long before the limit is reached, and nothing is allocated by the claim.
#[test]
fn declared_sizes_beyond_the_limit_are_errors_at_once() {
    let claims: [&[u8]; 6] = [
        b"\xdd\xff\xff\xff\xff",
        b"\x91\xdb\xff\xff\xff\xf0",
        b"\x91\xc6\xff\xff\xff\xff",
        b"\x91\xc9\xff\xff\xff\xff\x01",
        b"\x91\xdf\xff\xff\xff\xff",
        b"\xdf\x80\x00\x00\x00",
    ];
    for claim in claims {
        let Err(FrameError::Connection(error)) = decode(&[b"\x94\x00\x01\xa4echo", claim].concat()) else {
            panic!("{claim:02x?}")
        };
        assert_eq!(error.kind(), ConnectionErrorKind::TooLarge);
    }
}

#[test]
fn the_limit_is_that_of_the_whole_message() {
    let bytes = golden!("r1-request");
    assert!(matches!(Rpc::new().decode(&mut BytesMut::from(&bytes[..]), bytes.len()), Ok(Some(_))));
    let mut whole = BytesMut::from(&bytes[..]);
    assert!(Rpc::new().decode(&mut whole, bytes.len() - 1).is_err());
}

/// C160.
#[test]
fn depth_bombs_are_errors_on_a_small_stack() {
    on_small_stack(|| {
        for bomb in [b"\x91".repeat(10_000), b"\x81\xa1a".repeat(10_000)] {
            for start in
                [&b"\x94\x00\x01\xa4echo"[..], b"\x94\x01\x01", b"\x94\x01\x01\xc0", b"\x93\x02\xa1f"]
            {
                let Err(error) = decode(&[start, &bomb].concat()) else { panic!("{start:02x?}") };
                assert!(error.to_string().contains("deeper than 64 levels"), "{error}");
            }
        }
        // An error value as deep as the envelope lets through is shown without harm.
        let deep = [&b"\x94\x01\x01"[..], &b"\x91".repeat(64), b"\xc0\xc0"].concat();
        assert_eq!(answered(&deep).1.unwrap_err().code(), Code::Unknown);
    });
}

/// What the codec may write, the framing must let through.
#[test]
fn payloads_of_the_full_depth_fit_into_each_envelope() {
    let payload = Bytes::from([&b"\x91".repeat(64)[..], b"\xc0"].concat());
    assert_eq!(requested(&request(1, "f", payload.clone())).2, payload);
    let exception = ResponseHead::failed(Status::exception("f", payload.clone()));
    let status = answered(&response(1, exception, b"")).1.unwrap_err();
    assert_eq!(status.details(), &payload);
}

/// Drives a server's connection over `input` and answers what is asked; returns what it wrote.
fn serve(input: &[u8], mut answer: impl FnMut(&RequestHead, &Bytes) -> (ResponseHead, Bytes)) -> Vec<u8> {
    let now = std::time::Instant::now();
    let mut server: Unary<Rpc> = MakeProtocol::server(&Rpc::new(), &Limits::default());
    let mut src = BytesMut::from(input);
    server.handle_input(now, &mut src).unwrap();
    assert!(src.is_empty());
    let mut calls = Vec::new();
    while let Some(event) = server.poll_event() {
        let Event::Request { id, head, body, .. } = event else { panic!("{event:?}") };
        calls.push((id, answer(&head, &body)));
    }
    for (id, (head, body)) in calls {
        server.reply(id, &head, &body, More::Done).unwrap();
    }
    let mut out = WriteBuf::new();
    server.poll_output(&mut out);
    assert_eq!(server.in_flight(), 0);
    out.copy_to_bytes(out.remaining()).to_vec()
}

/// C165: each of the calls that share an id is answered, in their order.
#[test]
fn calls_with_one_id_are_each_answered() {
    let input = [request(7, "echo", params(&("a",))), request(7, "echo", params(&("b",)))].concat();
    let out = serve(&input, |_, body| (ResponseHead::ok(), body.clone()));
    assert_eq!(out, b"\x94\x01\x07\xc0\x91\xa1a\x94\x01\x07\xc0\x91\xa1b");
}

/// C165: an answer to nothing is told and changes nothing.
#[test]
fn unknown_answers_are_stray() {
    let now = std::time::Instant::now();
    let mut client: Unary<Rpc> = MakeProtocol::client(&Rpc::new(), &Limits::default(), CallId(1));
    let id = client.open(&head("add", Shape::Unary), &params(&(1, 2)), More::Done).unwrap();
    let answers = [response(99, ResponseHead::ok(), b"\x07"), golden!("r2-response")].concat();
    client.handle_input(now, &mut BytesMut::from(&answers[..])).unwrap();
    assert!(matches!(client.poll_event(), Some(Event::Stray)));
    match client.poll_event() {
        Some(Event::Response { id: answered, head, body, .. }) => {
            assert_eq!((answered, head.status, &body[..]), (id, Ok(()), &b"\x03"[..]));
        }
        other => panic!("{other:?}"),
    }
}

/// C166: not a byte back, whatever becomes of it, and the next request is served.
#[test]
fn notifications_stay_silent() {
    let input = [
        &b"\x93\x02\xa4fire\x91\xa2go"[..],
        b"\x93\x02\xa4fire\x80",
        b"\x93\x02\xa4none\x90",
        &golden!("r1-request"),
    ];
    let mut seen = Vec::new();
    let out = serve(&input.concat(), |head, _| {
        seen.push(head.method.to_string());
        match head.wants_answer() {
            true => (ResponseHead::ok(), Bytes::from_static(b"\x03")),
            false => (ResponseHead::failed(Status::internal("on purpose")), Bytes::new()),
        }
    });
    assert_eq!(out, golden!("r2-response"));
    assert_eq!(seen, ["fire", "none", "add"]);
}

#[test]
fn every_split_of_every_message_gives_the_same_frames() {
    let stream = messages().concat();
    for step in 1..=u8::MAX {
        fuzz::frames(&[&[step], &stream[..]].concat());
    }
}

/// C169.
#[test]
fn every_prefix_is_incomplete_and_no_flipped_bit_panics() {
    for message in messages() {
        for len in 0..message.len() {
            assert!(matches!(decode(&message[..len]), Ok(None)), "{len} bytes of {message:02x?}");
        }
        for bit in 0..message.len() * 8 {
            let mut flipped = message.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fuzz::frames(&[&[1], &flipped[..]].concat());
        }
    }
}

proptest! {
    #![proptest_config(seeded(400))]

    /// Any parameters that an independent writer wrote come through unchanged, however they are split.
    #[test]
    fn parameters_come_through(elements in prop::collection::vec(values(), 0..4), id: u32, step in 1u8..) {
        let body = written(&rmpv::Value::Array(elements));
        let bytes = request(id, "f", Bytes::from(body.clone()));
        prop_assert_eq!(requested(&bytes), (id, Name::from_static("f"), Bytes::from(body)));
        fuzz::frames(&[&[step], &bytes[..]].concat());
    }

    /// Whatever value stands as an error, it is a failure that keeps it, unless it is nil.
    #[test]
    fn any_error_value_is_a_failure(error in values()) {
        let error = written(&error);
        let (_, status, _) = answered(&[b"\x94\x01\x07", &error[..], b"\xc0"].concat());
        match status {
            Ok(()) => prop_assert_eq!(&error[..], b"\xc0"),
            Err(status) => prop_assert_eq!(&status.details()[..], &error[..]),
        }
    }
}

proptest! {
    #![proptest_config(seeded(3000))]

    #[test]
    fn random_bytes_do_no_harm(data in prop::collection::vec(any::<u8>(), 0..80), kind in 0usize..4) {
        let start: &[u8] = [&b""[..], b"\x94\x00\x01\xa1f", b"\x94\x01\x01", b"\x93\x02\xa1f"][kind];
        fuzz::frames(&[&data[..data.len().min(1)], start, data.get(1..).unwrap_or_default()].concat());
    }
}
