//! Bytes that no well-behaved client sends, against a server with framed Thrift: over TCP and in memory. After each of them the
//! server answers a call on another connection.
#![allow(clippy::unwrap_used)] // all of it is a test

use codec_thrift::{Binary, FramedBinary};
use rpc_core::{Client, Code, Decode, DecodeErrorKind, Encode, Place, Router};
use rpc_net::{Server, ServerConfig, Stream};
use rpc_test::transport::{Kind, Settings, patient};
use rpc_test::{Net, PipeConfig, Probe, Rng, Running, Wire, golden, method, run, step, until};
use rpc_wire::{CallId, ConnectionErrorKind, Limits, MakeProtocol, Protocol};
use tests_matrix::MuxKind;
use tests_matrix::probe_idl::{Bag, Grow, GrowArgs, Idl, SwapArgs, Tree};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

struct Scene {
    probe: Probe,
    server: Running,
    wire: Wire,
}

impl Scene {
    async fn new(net: Net) -> Self {
        Self::with(net, ServerConfig::default()).await
    }

    async fn with(net: Net, config: ServerConfig) -> Self {
        let probe = Probe::new();
        let router = Router::new().add(probe.clone()).add(Idl);
        let server = Server::new().config(config).accept(codec_thrift::framed(), router);
        let (wire, server) = Wire::to(server, net, PipeConfig::default(), []).await;
        Self { probe, server, wire }
    }

    async fn dial(&self) -> Raw {
        Raw(self.wire.dial().await.expect("the server takes connections"))
    }

    /// A whole call on a connection of its own.
    async fn survives(&self) {
        let mut raw = self.dial().await;
        raw.echoes("still here").await;
    }

    /// Sends bytes on a connection of their own and returns all that comes until the server closes it.
    async fn refuses(&self, bytes: &[u8]) -> Vec<u8> {
        let mut raw = self.dial().await;
        raw.send(bytes).await;
        raw.rest().await
    }
}

/// A client that plays bytes.
struct Raw(Stream);

impl Raw {
    async fn send(&mut self, bytes: &[u8]) {
        // The server may have closed the connection already, which the test finds out by what it reads.
        let _ = self.0.write_all(bytes).await;
    }

    async fn frame(&mut self) -> Vec<u8> {
        let len = self.0.read_u32().await.expect("an answer");
        let mut frame = vec![0; usize::try_from(len).expect("a length")];
        self.0.read_exact(&mut frame).await.expect("a whole answer");
        frame
    }

    /// An application exception: its id, its number and its text.
    async fn exception(&mut self) -> (u32, i32, String) {
        let frame = self.frame().await;
        let (kind, _, id, body) = parts(&frame);
        assert_eq!(kind, 3, "{}", golden::text(&frame));
        assert_eq!(&body[..3], &[0x0b, 0, 1]);
        let len = usize::try_from(u32::from_be_bytes(body[3..7].try_into().unwrap())).unwrap();
        let text = String::from_utf8(body[7..7 + len].to_vec()).unwrap();
        assert_eq!(&body[7 + len..][..3], &[8, 0, 2]);
        let number = i32::from_be_bytes(body[10 + len..][..4].try_into().unwrap());
        assert_eq!(&body[14 + len..], &[0]);
        (id, number, text)
    }

    async fn echoes(&mut self, text: &str) {
        self.send(&echo(1, text)).await;
        assert_eq!(golden::text(&self.frame().await), golden::text(&echoed(1, text)));
    }

    /// What comes until the server closes the connection.
    async fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        // A reset is as good an end as any: the server closed with bytes of ours unread.
        let _ = self.0.read_to_end(&mut rest).await;
        rest
    }
}

/// Kind, name, id and payload of a message with the strict header.
fn parts(message: &[u8]) -> (u8, &[u8], u32, &[u8]) {
    assert_eq!(message[..3], [0x80, 1, 0]);
    let len = usize::try_from(u32::from_be_bytes(message[4..8].try_into().unwrap())).unwrap();
    let (name, rest) = message[8..].split_at(len);
    (message[3], name, u32::from_be_bytes(rest[..4].try_into().unwrap()), &rest[4..])
}

fn call(kind: u8, name: &[u8], id: u32, payload: &[u8]) -> Vec<u8> {
    let message = [
        &[0x80, 1, 0, kind],
        &u32::try_from(name.len()).unwrap().to_be_bytes()[..],
        name,
        &id.to_be_bytes(),
        payload,
    ]
    .concat();
    framed(&message)
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&u32::try_from(message.len()).unwrap().to_be_bytes(), message].concat()
}

fn string(field: u8, text: &[u8]) -> Vec<u8> {
    [&[0x0b, 0, field], &u32::try_from(text.len()).unwrap().to_be_bytes()[..], text, &[0]].concat()
}

fn echo(id: u32, text: &str) -> Vec<u8> {
    call(1, b"echo", id, &string(1, text.as_bytes()))
}

fn echoed(id: u32, text: &str) -> Vec<u8> {
    call(2, b"echo", id, &string(0, text.as_bytes()))[4..].to_vec()
}

const PROTOCOL_ERROR: i32 = 7;
const UNKNOWN_METHOD: i32 = 1;
const INVALID_MESSAGE_TYPE: i32 = 2;

macro_rules! on_both {
    ($($case:ident)+) => {
        mod memory {
            $(
                #[test]
                fn $case() {
                    super::run(super::Net::Memory, super::$case(super::Net::Memory));
                }
            )+
        }
        mod tcp {
            $(
                #[test]
                fn $case() {
                    super::run(super::Net::Tcp, super::$case(super::Net::Tcp));
                }
            )+
        }
    };
}
on_both! {
    c001_a_huge_frame_is_refused_by_its_length
    c002_absurd_lengths
    c003_a_frame_of_length_zero
    c004_a_text_longer_than_its_frame
    c005_negative_lengths_and_counts
    c010_nesting
    c013_text_that_is_not_utf8
    c014_another_protocol
    c015_without_a_frame
    c016_the_old_header
    c018_every_split_and_all_at_once
    c023_a_required_field_is_missing
    c027_elements_that_come_twice
    c029_a_void_method
    c032_an_unknown_method
    c035_wrong_kinds_of_message
    c039_names_that_do_not_resolve
    c085_any_id
    repeated_ids_are_answered_in_their_order
    sizes_of_two_gigabytes
    random_bytes
    truncated_messages
}

async fn c001_a_huge_frame_is_refused_by_its_length(net: Net) {
    let scene = Scene::new(net).await;
    let mut connections = Vec::new();
    for _ in 0..100 {
        let mut raw = scene.dial().await;
        raw.send(&[0x7f, 0xff, 0xff, 0xff]).await;
        connections.push(raw);
    }
    for raw in &mut connections {
        assert_eq!(raw.rest().await, b"");
    }
    if net == Net::Tcp {
        until("all are counted", || scene.server.gauges().broken() == 100).await;
    }
    until("none is left", || scene.server.gauges().connections() == 0).await;
    scene.survives().await;
}

async fn c002_absurd_lengths(net: Net) {
    let scene = Scene::new(net).await;
    let random = Rng::new(2).bytes(64);
    for length in [[0xff; 4], [0x80, 0, 0, 0], [0xff, 0xff, 0xff, 0xfb]] {
        assert_eq!(scene.refuses(&[&length[..], &random].concat()).await, b"");
    }
    scene.survives().await;
}

/// It is refused and ends the connection, as `Framed` says.
async fn c003_a_frame_of_length_zero(net: Net) {
    let scene = Scene::new(net).await;
    assert_eq!(scene.refuses(&[0, 0, 0, 0]).await, b"");
    assert_eq!(scene.refuses(&[&[0, 0, 0, 0], &echo(1, "behind it")[..]].concat()).await, b"");
    assert_eq!(scene.probe.echoed(), 0);
    scene.survives().await;
}

async fn c004_a_text_longer_than_its_frame(net: Net) {
    let scene = Scene::new(net).await;
    let mut raw = scene.dial().await;
    let bytes = golden::bytes(
        "00 00 00 1a 80 01 00 01 00 00 00 04 65 63 68 6f 00 00 00 01 0b 00 01 04 00 00 00 68 69 00",
    );
    for _ in 0..1000 {
        raw.send(&bytes).await;
        let (id, number, text) = raw.exception().await;
        assert_eq!((id, number), (1, PROTOCOL_ERROR), "{text}");
        assert!(text.contains("text") && text.contains("67108864"), "{text}");
    }
    raw.echoes("in step").await;
    assert_eq!(scene.probe.echoed(), 1);
}

async fn c005_negative_lengths_and_counts(net: Net) {
    let scene = Scene::new(net).await;
    let mut raw = scene.dial().await;
    for bytes in [
        "00 00 00 18 80 01 00 01 00 00 00 04 65 63 68 6f 00 00 00 01 0b 00 01 ff ff ff ff 00",
        "00 00 00 19 80 01 00 01 00 00 00 04 65 63 68 6f 00 00 00 01 0f 00 63 08 ff ff ff ff 00",
    ] {
        raw.send(&golden::bytes(bytes)).await;
        let (id, number, text) = raw.exception().await;
        assert_eq!((id, number), (1, PROTOCOL_ERROR), "{text}");
        assert!(text.contains("-1"), "{text}");
        raw.echoes("in step").await;
    }
}

/// `grow` takes as many levels as the limit allows, and no more; a value that is deeper is not sent either.
async fn c010_nesting(net: Net) {
    let scene = Scene::new(net).await;
    let transport = MuxKind::make(scene.wire.clone(), codec_thrift::framed(), Settings::default());
    let client = Client::new(transport).with(patient());
    // The arguments are a level, and each tree is two: itself and its list.
    for levels in [1, 31, 32] {
        let args = GrowArgs { tree: Some(Tree::nested(levels)) };
        let grown = client.call::<Grow>(&args).await.expect("within the limit");
        assert_eq!(grown, Ok(i32::try_from(levels).unwrap()));
    }
    let error = client.call::<Grow>(&GrowArgs { tree: Some(Tree::nested(33)) }).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");

    let mut raw = scene.dial().await;
    for levels in [33, 10_000, 20_000] {
        // A known field, then one that nobody knows and that is left out.
        for field in [1, 77] {
            let tree = [[0x0f, 0, 2, 0x0c, 0, 0, 0, 1].repeat(levels - 1), vec![0; levels]].concat();
            raw.send(&call(1, b"grow", 9, &[&[0x0c, 0, field][..], &tree, &[0]].concat())).await;
            let (id, number, text) = raw.exception().await;
            assert_eq!((id, number), (9, PROTOCOL_ERROR));
            assert!(text.contains("nested deeper than 64 levels"), "{text}");
        }
    }
    raw.echoes("in step").await;
}

async fn c013_text_that_is_not_utf8(net: Net) {
    let scene = Scene::new(net).await;
    let mut raw = scene.dial().await;
    raw.send(&golden::bytes(
        "00 00 00 24 80 01 00 01 00 00 00 04 65 63 68 6f 00 00 00 01 0b 00 4d 00 00 00 03 ff fe 80
         0b 00 01 00 00 00 02 68 69 00",
    ))
    .await;
    assert_eq!(raw.frame().await, echoed(1, "hi"), "field 77 is nobody's");
    raw.send(&call(1, b"echo", 2, &string(1, b"ab\xff"))).await;
    let (id, number, text) = raw.exception().await;
    assert_eq!((id, number), (2, PROTOCOL_ERROR));
    assert!(text.contains("text: not UTF-8 from byte 2 on"), "{text}");
    raw.echoes("in step").await;
}

async fn c014_another_protocol(net: Net) {
    let scene = Scene::new(net).await;
    for hello in [
        &b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..],
        b"POST /rpc HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3],
        &[0x94, 0, 1, 0xa4, b'e', b'c', b'h', b'o', 0x91, 0xa2, b'h', b'i'],
    ] {
        for _ in 0..20 {
            assert_eq!(scene.refuses(hello).await, b"");
        }
    }
    scene.survives().await;
}

async fn c015_without_a_frame(net: Net) {
    let scene = Scene::new(net).await;
    assert_eq!(scene.refuses(&echo(1, "hi")[4..]).await, b"");
    let compact = golden::bytes("82 21 01 04 65 63 68 6f 18 02 68 69 00");
    assert_eq!(scene.refuses(&compact).await, b"");
    assert_eq!(scene.refuses(&framed(&compact)).await, b"");
    assert_eq!(scene.probe.echoed(), 0);
    scene.survives().await;
}

async fn c016_the_old_header(net: Net) {
    let scene = Scene::new(net).await;
    for bytes in [
        "00 00 00 17 00 00 00 04 65 63 68 6f 01 00 00 00 01 0b 00 01 00 00 00 02 68 69 00",
        "00 00 00 08 00 ff ff ff 65 63 68 6f",
    ] {
        assert_eq!(scene.refuses(&golden::bytes(bytes)).await, b"");
    }
    assert_eq!(scene.probe.echoed(), 0);
    scene.survives().await;
}

async fn c018_every_split_and_all_at_once(net: Net) {
    let scene = Scene::new(net).await;
    let whole = echo(1, "hi");
    let mut raw = scene.dial().await;
    for byte in &whole {
        raw.send(&[*byte]).await;
        step().await;
    }
    assert_eq!(raw.frame().await, echoed(1, "hi"));
    for at in 1..whole.len() {
        raw.send(&whole[..at]).await;
        step().await;
        raw.send(&whole[at..]).await;
        assert_eq!(raw.frame().await, echoed(1, "hi"), "cut at {at}");
    }
    raw.send(&[echo(7, "a"), call(1, b"nope", 8, &[0]), echo(9, "b")].concat()).await;
    assert_eq!(raw.frame().await, echoed(7, "a"));
    let (id, number, _) = raw.exception().await;
    assert_eq!((id, number), (8, UNKNOWN_METHOD));
    assert_eq!(raw.frame().await, echoed(9, "b"));
}

async fn c023_a_required_field_is_missing(net: Net) {
    let scene = Scene::new(net).await;
    let mut raw = scene.dial().await;
    raw.send(&golden::bytes(
        "00 00 00 1d 80 01 00 01 00 00 00 04 73 77 61 70 00 00 00 01 0c 00 01 0b 00 02 00 00 00 01 78 00 00",
    ))
    .await;
    let (id, number, text) = raw.exception().await;
    assert_eq!((id, number), (1, PROTOCOL_ERROR));
    assert!(text.contains("Bag.id"), "{text}");
    raw.echoes("in step").await;
}

/// Elements that come twice count once, and as many are written as the count says.
async fn c027_elements_that_come_twice(net: Net) {
    let scene = Scene::new(net).await;
    let mut raw = scene.dial().await;
    raw.send(&golden::bytes(
        "00 00 00 34 80 01 00 01 00 00 00 04 73 77 61 70 00 00 00 01 0c 00 01 0a 00 01 00 00 00 00
         00 00 00 01 0e 00 08 08 00 00 00 03 00 00 00 07 00 00 00 07 00 00 00 09 00 00",
    ))
    .await;
    golden::assert_bytes(
        &raw.frame().await,
        "80 01 00 02 00 00 00 04 73 77 61 70 00 00 00 01   # reply, swap, 1
         0c 00 00                                          # field 0: Bag
         0a 00 01 00 00 00 00 00 00 00 01                  # id: 1
         0e 00 08 08 00 00 00 02 00 00 00 07 00 00 00 09   # uniq: 7, 9
         00 00",
    );
}

async fn c029_a_void_method(net: Net) {
    let scene = Scene::new(net).await;
    let mut raw = scene.dial().await;
    for (how, answer) in [
        (0, "80 01 00 02 00 00 00 04 70 6f 6b 65 00 00 00 01 00"),
        (
            5,
            "80 01 00 02 00 00 00 04 70 6f 6b 65 00 00 00 01 0c 00 01 08 00 01 00 00 00 05
             0b 00 02 00 00 00 03 62 61 64 00 00",
        ),
    ] {
        raw.send(&call(1, b"poke", 1, &[8, 0, 1, 0, 0, 0, how, 0])).await;
        golden::assert_bytes(&raw.frame().await, answer);
    }
}

async fn c032_an_unknown_method(net: Net) {
    let scene = Scene::new(net).await;
    let mut raw = scene.dial().await;
    raw.send(&golden::bytes(
        "00 00 00 1e 80 01 00 01 00 00 00 04 6e 6f 70 65 00 00 00 05 0c 00 01 0b 00 01 00 00 00 02
         7a 7a 00 00
         00 00 00 1a 80 01 00 01 00 00 00 04 65 63 68 6f 00 00 00 06 0b 00 01 00 00 00 02 6f 6b 00",
    ))
    .await;
    let refusal = raw.frame().await;
    let (kind, name, id, _) = parts(&refusal);
    assert_eq!((kind, name, id), (3, &b"nope"[..], 5));
    assert_eq!(raw.frame().await, echoed(6, "ok"));
}

async fn c035_wrong_kinds_of_message(net: Net) {
    let scene = Scene::new(net).await;
    let payload = string(1, b"hi");
    for kind in [2, 3] {
        assert_eq!(scene.refuses(&call(kind, b"echo", 1, &payload)).await, b"", "an answer to a server");
    }
    let mut raw = scene.dial().await;
    for kind in [0, 5, 7, 0xff] {
        raw.send(&call(kind, b"echo", 4, &payload)).await;
        let (id, number, text) = raw.exception().await;
        assert_eq!((id, number), (4, INVALID_MESSAGE_TYPE), "{text}");
    }
    // The byte above the kind is not 0.
    let mut odd = call(1, b"echo", 4, &payload);
    odd[6] = 1;
    raw.send(&odd).await;
    assert_eq!(raw.exception().await.1, INVALID_MESSAGE_TYPE);
    assert_eq!(scene.probe.echoed(), 0);
    raw.echoes("in step").await;
}

async fn c039_names_that_do_not_resolve(net: Net) {
    let scene = Scene::new(net).await;
    let mut raw = scene.dial().await;
    let long = vec![b'n'; 70_000];
    for (name, answered) in [
        (&b"Nope:echo"[..], &b"echo"[..]),
        (b"Probe:", b""),
        (b":", b""),
        (b"", b""),
        (b"Probe:echo:more", b"echo:more"),
        (b"\xff\xfe", b"\xff\xfe"),
        (&long, &long),
    ] {
        raw.send(&call(1, name, 3, &string(1, b"hi"))).await;
        let refusal = raw.frame().await;
        let (kind, found, id, _) = parts(&refusal);
        assert_eq!((kind, found, id), (3, answered, 3));
    }
    assert_eq!(scene.probe.echoed(), 0);
    for name in [&b"Probe:echo"[..], b"probe.Probe:echo"] {
        raw.send(&call(1, name, 3, &string(1, b"hi"))).await;
        assert_eq!(raw.frame().await, echoed(3, "hi"));
    }
}

async fn c085_any_id(net: Net) {
    let scene = Scene::new(net).await;
    let mut raw = scene.dial().await;
    for id in [0x8000_0000, 0xffff_ffff, 0, 0x7fff_ffff] {
        raw.send(&echo(id, "hi")).await;
        assert_eq!(raw.frame().await, echoed(id, "hi"));
    }
}

/// Some clients give all their calls the id 0 and rely on the order of the answers.
async fn repeated_ids_are_answered_in_their_order(net: Net) {
    let scene = Scene::new(net).await;
    let mut raw = scene.dial().await;
    let hold = |text: &[u8]| call(1, b"hold", 0, &string(1, text));
    raw.send(
        &[hold(b"first"), echo(0, "second"), hold(b"third"), echo(0, "fourth"), echo(5, "other")].concat(),
    )
    .await;
    assert_eq!(raw.frame().await, echoed(5, "other"), "another id does not wait");
    until("all run", || scene.probe.holding() == 2).await;
    scene.probe.release(2);
    for text in ["first", "second", "third", "fourth"] {
        let frame = raw.frame().await;
        let (kind, _, id, payload) = parts(&frame);
        assert_eq!((kind, id, payload), (2, 0, &string(0, text.as_bytes())[..]));
    }
}

/// Lengths and counts of 2^31 − 1 and −1 wherever one can stand, in fields that are known and in others.
async fn sizes_of_two_gigabytes(net: Net) {
    let scene = Scene::new(net).await;
    let mut raw = scene.dial().await;
    for size in [i32::MAX, -1, i32::MIN, 0x0100_0000] {
        let size = size.to_be_bytes();
        let mut payloads = Vec::new();
        for field in [1, 77] {
            payloads.push([&[0x0b, 0, field][..], &size].concat());
            for element in [2, 3, 8, 10, 11, 12, 13, 14, 15] {
                payloads.push([&[0x0f, 0, field, element][..], &size].concat());
                payloads.push([&[0x0e, 0, field, element][..], &size].concat());
                payloads.push([&[0x0d, 0, field, element, element][..], &size].concat());
            }
        }
        for payload in payloads {
            raw.send(&call(1, b"echo", 1, &[&payload[..], &[0; 20]].concat())).await;
            let (id, number, text) = raw.exception().await;
            assert_eq!((id, number), (1, PROTOCOL_ERROR), "{text}");
        }
        // The name's length: then the envelope is lost, and with it the stream.
        let name = [&[0x80, 1, 0, 1][..], &size, b"echo", &[0; 20]].concat();
        assert_eq!(scene.refuses(&framed(&name)).await, b"");
    }
    raw.echoes("in step").await;
}

async fn random_bytes(net: Net) {
    let scene = Scene::new(net).await;
    let mut rng = Rng::new(11);
    for _ in 0..100 {
        let len = rng.below(300);
        let mut raw = scene.dial().await;
        raw.send(&rng.bytes(len)).await;
        raw.0.shutdown().await.ok();
        raw.rest().await;
        // In a whole frame, so that the header is looked at; behind a good header, so that the payload is.
        let len = 1 + rng.below(300);
        let mut raw = scene.dial().await;
        raw.send(&framed(&rng.bytes(len))).await;
        raw.send(&call(1, b"echo", 1, &rng.bytes(len))).await;
        raw.0.shutdown().await.ok();
        raw.rest().await;
    }
    scene.survives().await;
    until("none is left", || scene.server.gauges().connections() <= 1).await;
}

async fn truncated_messages(net: Net) {
    let scene = Scene::new(net).await;
    let whole = echo(1, "a text of some length");
    for len in 0..whole.len() {
        let mut raw = scene.dial().await;
        raw.send(&whole[..len]).await;
        raw.0.shutdown().await.ok();
        assert_eq!(raw.rest().await, b"", "after {len} bytes");
        // Cut inside of a frame that says so.
        if len > 4 {
            let mut raw = scene.dial().await;
            raw.send(&framed(&whole[4..len])).await;
            raw.0.shutdown().await.ok();
            let answer = raw.rest().await;
            let header = 4 + 4 + 4 + 4;
            assert_eq!(answer.is_empty(), len < 4 + header, "after {len} bytes: {}", golden::text(&answer));
        }
    }
    assert_eq!(scene.probe.echoed(), 0);
    scene.survives().await;
}

/// What is claimed is not reserved: neither beyond the limit nor within it.
#[test]
fn a_claim_reserves_nothing() {
    let mut server = codec_thrift::framed().server(&Limits::default());
    let now = std::time::Instant::now();
    let mut read = bytes::BytesMut::from(&[0x7f, 0xff, 0xff, 0xff][..]);
    let error = server.handle_input(now, &mut read).unwrap_err();
    assert_eq!(error.kind(), ConnectionErrorKind::TooLarge);
    assert!(error.to_string().contains("2147483647") && error.to_string().contains("16777216"), "{error}");

    let mut server = codec_thrift::framed().server(&Limits::default());
    let mut read = bytes::BytesMut::from(&[0x01, 0, 0, 0, 0x80, 1, 0, 1][..]);
    server.handle_input(now, &mut read).unwrap();
    assert!(read.len() == 8 && read.capacity() <= 64, "{} of {}", read.len(), read.capacity());
    assert!(server.poll_event().is_none());
}

/// Each truncation and each flipped bit of some messages is an error or a value, never anything worse; lengths within them
/// reserve nothing.
#[test]
fn c169_every_prefix_and_every_flipped_bit() {
    let bag = |name: &str| SwapArgs {
        bag: Some(Bag {
            id: Some(7),
            name: Some(name.into()),
            blob: Some(b"bytes".as_slice().into()),
            uniq: Some([1, 2, 3].into()),
        }),
    };
    let tree = GrowArgs { tree: Some(Tree::nested(5)) };
    let mut messages = Vec::new();
    for name in ["", "x", "a name", "ein längerer Name"] {
        let mut dst = bytes::BytesMut::new();
        Binary.encode(Place::Arguments, &bag(name), &mut dst).unwrap();
        messages.push(dst.freeze());
    }
    let mut dst = bytes::BytesMut::new();
    Binary.encode(Place::Arguments, &tree, &mut dst).unwrap();
    messages.push(dst.freeze());
    let decode = |bytes: bytes::Bytes| {
        let swap: Result<SwapArgs, _> = Binary.decode(Place::Arguments, bytes.clone());
        let grow: Result<GrowArgs, _> = Binary.decode(Place::Arguments, bytes.clone());
        let _ = codec_thrift::fuzz::skip_struct(&bytes);
        (swap, grow)
    };
    for message in &messages {
        for len in 0..message.len() {
            let (swap, grow) = decode(message.slice(..len));
            assert!(swap.is_err() && grow.is_err(), "{len} of {} bytes passed", message.len());
        }
        for bit in 0..message.len() * 8 {
            let mut flipped = message.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let _ = decode(flipped.into());
        }
        let (swap, grow) = decode([&message[..], &[0]].concat().into());
        let leftover = |kind: Option<DecodeErrorKind>| kind == Some(DecodeErrorKind::Leftover);
        assert!(leftover(swap.err().map(|e| e.kind())) || leftover(grow.err().map(|e| e.kind())));
    }
    let mut rng = Rng::new(169);
    for _ in 0..2000 {
        let (a, b) = (&messages[rng.below(messages.len())], &messages[rng.below(messages.len())]);
        let splice = [&a[..rng.below(a.len())], &b[rng.below(b.len())..]].concat();
        let _ = decode(splice.into());
    }
}

/// A few thousand streams of good, bent and random messages, whole and in pieces.
#[test]
fn the_fuzz_body_over_seeded_streams() {
    let framing: FramedBinary = codec_thrift::framed();
    let mut rng = Rng::new(1);
    for round in 0..4000 {
        let mut stream = vec![u8::try_from(1 + rng.below(40)).unwrap()];
        for _ in 0..1 + rng.below(4) {
            let text = String::from_utf8_lossy(&rng.bytes(10)).into_owned();
            let id = u32::try_from(rng.below(3)).unwrap();
            let mut message = match rng.below(5) {
                0 => rng.bytes(20),
                1 => framed(&rng.bytes(20)),
                2 => call(u8::try_from(rng.below(6)).unwrap(), b"echo", id, &rng.bytes(12)),
                3 => call(2, b"echo", id, &string(0, text.as_bytes())),
                _ => echo(id, &text),
            };
            if round % 2 == 0 {
                let at = rng.below(message.len());
                message[at] ^= 1 << rng.below(8);
            }
            if rng.below(10) == 0 {
                message.truncate(rng.below(message.len()));
            }
            stream.extend_from_slice(&message);
        }
        rpc_wire::fuzz::frames(&framing, &stream);
    }
}

/// Sizes at which buffers end: see the suite's case for C017. Here the limit itself, to the byte.
#[test]
fn the_limit_is_exact() {
    run(Net::Memory, async {
        let config = ServerConfig {
            limits: Limits { max_message: 1000, ..Limits::default() },
            ..ServerConfig::default()
        };
        let scene = Scene::with(Net::Memory, config).await;
        let overhead = echo(1, "").len() - 4;
        let mut raw = scene.dial().await;
        raw.echoes(&"x".repeat(1000 - overhead)).await;
        assert_eq!(scene.refuses(&echo(1, &"x".repeat(1001 - overhead))).await, b"");
        raw.echoes("other connections notice nothing").await;
    });
}

/// The client's first id is where it is told to be, and 0 is never one.
#[test]
fn our_clients_never_use_the_id_zero() {
    let mut client = codec_thrift::framed().client(&Limits::default(), CallId(0));
    let head = rpc_core::RequestHead::of::<method::Echo>();
    let id = client.open(&head, &bytes::Bytes::new(), Default::default()).unwrap();
    assert_eq!(id, CallId(1));
}
