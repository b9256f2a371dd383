//! Random, truncated and bent bytes on every framing: whatever comes, the server answers the next connection, and nothing of it
//! stays. `hostile.rs` has the cases that only Thrift knows.
#![allow(clippy::unwrap_used)] // all of it is a test

use codec_msgpack::Rpc;
use codec_protobuf::KitexHeader;
use rpc_core::{Client, RequestHead, Router};
use rpc_net::{Server, ServerConfig};
use rpc_test::transport::{Kind, Settings, Subject, patient};
use rpc_test::{Answer, Net, PipeConfig, Probe, Rng, Text, Wire, golden, method, run, until};
use rpc_wire::{CallId, Framed, Framing, Limits, More, Protocol, WriteBuf};
use tests_matrix::MuxKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// What a client sends for a call of `echo`.
fn call<P: Subject>(protocol: &P, text: &str) -> Vec<u8> {
    use bytes::{Buf, BytesMut};
    use rpc_core::{CodecSet, Encode, Method};

    let mut client = protocol.client(&Limits::default(), CallId(1));
    let mut body = BytesMut::new();
    protocol.codecs().first().encode(method::Echo::REQUEST, &Text::new(text), &mut body).unwrap();
    client.open(&RequestHead::of::<method::Echo>(), &body.freeze(), More::Done).unwrap();
    let mut out = WriteBuf::new();
    client.poll_output(&mut out);
    out.copy_to_bytes(out.remaining()).to_vec()
}

/// Streams by a seed: good messages, bent ones, random bytes, cut at any place.
fn stream(rng: &mut Rng, good: &[Vec<u8>]) -> Vec<u8> {
    let mut stream = Vec::new();
    for _ in 0..1 + rng.below(3) {
        let len = rng.below(60);
        let mut message =
            if rng.below(4) == 0 { rng.bytes(len) } else { good[rng.below(good.len())].clone() };
        for _ in 0..rng.below(3) {
            let at = rng.below(message.len().max(1));
            match (message.get_mut(at), rng.below(3)) {
                (Some(byte), 0) => *byte ^= 1 << rng.below(8),
                (Some(byte), 1) => *byte = [0, 0x7f, 0x80, 0xff, 0xdd, 0xdf][rng.below(6)],
                (Some(_), _) => message.truncate(at),
                (None, _) => {}
            }
        }
        stream.extend_from_slice(&message);
    }
    stream
}

async fn survives<P: Subject>(net: Net, protocol: P) {
    let probe = Probe::new();
    let config =
        ServerConfig { limits: Limits { max_message: 4096, ..Limits::default() }, ..ServerConfig::default() };
    let server = Server::new().config(config).accept(protocol.clone(), Router::new().add(probe.clone()));
    let (wire, server) = Wire::to(server, net, PipeConfig::default(), []).await;
    let transport = MuxKind::make(wire.clone(), protocol.clone(), Settings::default());
    let client = Client::new(transport).with(patient());
    let good: Vec<_> =
        ["", "hi", "a longer text than that"].iter().map(|text| call(&protocol, text)).collect();
    let mut rng = Rng::new(3);
    for round in 0..if net == Net::Memory { 1000 } else { 150 } {
        let mut raw = wire.dial().await.expect("the server takes connections");
        raw.write_all(&stream(&mut rng, &good)).await.ok();
        raw.shutdown().await.ok();
        let mut rest = Vec::new();
        raw.read_to_end(&mut rest).await.ok();
        if round % 50 == 0 {
            let answer = client.call::<method::Echo>(&Text::new("still here")).await;
            assert_eq!(answer.expect("an answer"), Ok(Answer::new("still here")));
        }
    }
    assert_eq!(MuxKind::busy(client.transport()), 0);
    until("nothing is left", || server.gauges().in_flight() == 0 && server.gauges().connections() == 1).await;
}

#[test]
fn framed_thrift() {
    run(Net::Memory, survives(Net::Memory, codec_thrift::framed()));
    run(Net::Tcp, survives(Net::Tcp, codec_thrift::framed()));
}

#[test]
fn framed_kitex_protobuf() {
    run(Net::Memory, survives(Net::Memory, Framed::new(KitexHeader)));
    run(Net::Tcp, survives(Net::Tcp, Framed::new(KitexHeader)));
}

#[test]
fn msgpack_rpc() {
    run(Net::Memory, survives(Net::Memory, Rpc::new()));
    run(Net::Tcp, survives(Net::Tcp, Rpc::new()));
}

/// The fuzz body, over a few thousand of the same streams.
#[test]
fn the_fuzz_bodies_over_seeded_streams() {
    fn check<F: Framing + Subject>(framing: F) {
        let good: Vec<_> =
            ["", "hi", "a longer text than that"].iter().map(|text| call(&framing, text)).collect();
        let mut rng = Rng::new(4);
        for _ in 0..3000 {
            let mut data = vec![u8::try_from(1 + rng.below(40)).unwrap()];
            data.extend_from_slice(&stream(&mut rng, &good));
            rpc_wire::fuzz::frames(&framing, &data);
        }
    }
    check(codec_thrift::framed());
    check(Framed::new(KitexHeader));
    check(Rpc::new());
}

/// Sends bytes to a server of msgpack-rpc, then closes that side, and returns what came.
async fn msgpack(bytes: &[u8]) -> Vec<u8> {
    let probe = Probe::new();
    let server = Server::new().accept(Rpc::new(), Router::new().add(probe));
    let (wire, _server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
    let mut raw = wire.dial_pipe();
    raw.write_all(bytes).await.unwrap();
    raw.shutdown().await.ok();
    let mut rest = Vec::new();
    raw.read_to_end(&mut rest).await.ok();
    rest
}

const ECHO_HI: &str = "94 00 01 a4 65 63 68 6f 91 a2 68 69";
const HI: &str = "94 01 01 c0 a2 68 69";

/// Nesting beyond the limit, sizes that are not there, arrays that are no message: the connection ends without an answer, and
/// what came before is answered.
#[test]
fn c160_c161_messages_that_can_not_be_followed() {
    run(Net::Memory, async {
        let deep = [&golden::bytes("94 00 01 a4 65 63 68 6f")[..], &[0x91; 10_000]].concat();
        let maps =
            [&golden::bytes("94 00 01 a4 65 63 68 6f 91")[..], &[0x81, 0xa1, 0x61].repeat(10_000)].concat();
        let claims = [
            "94 00 01 a4 65 63 68 6f dd ff ff ff ff",
            "94 00 01 a4 65 63 68 6f 91 db ff ff ff f0",
            "94 00 01 a4 65 63 68 6f 91 c6 ff ff ff f0",
            "94 00 01 a4 65 63 68 6f 91 c9 ff ff ff f0 01",
            "94 00 01 a4 65 63 68 6f 91 df ff ff ff ff",
            "94 00 01 db 7f ff ff ff",
            "93 00 01 a4",
            "93 02 05 91 a2 67 6f",
            "95 00 01 a4 65 63 68 6f 91 a2 68 69 c0",
            "dd ff ff ff ff",
            "c1",
        ];
        let all = [deep, maps].into_iter().chain(claims.iter().map(|claim| golden::bytes(claim)));
        for bytes in all {
            let answer = msgpack(&[&golden::bytes(ECHO_HI)[..], &bytes].concat()).await;
            assert_eq!(golden::text(&answer), HI, "before {}", golden::text(&bytes[..bytes.len().min(20)]));
        }
    });
}

#[test]
fn c165_ids() {
    run(Net::Memory, async {
        for (id, answered) in [
            ("00", true),
            ("ce ff ff ff ff", true),
            ("cf 00 00 00 00 ff ff ff ff", true),
            ("cf 00 00 00 01 00 00 00 00", false),
            ("ff", false),
            ("a1 31", false),
        ] {
            let call = golden::bytes(&format!("94 00 {id} a4 65 63 68 6f 91 a2 68 69"));
            let answer = golden::text(&msgpack(&call).await);
            assert_eq!(answer.ends_with("c0 a2 68 69"), answered, "id {id}: {answer}");
        }
        // Two calls with one id: both are answered, in their order.
        let second = "94 00 01 a4 65 63 68 6f 91 a2 68 6f";
        let answer = msgpack(&golden::bytes(&format!("{ECHO_HI} {second}"))).await;
        assert_eq!(golden::text(&answer), format!("{HI} 94 01 01 c0 a2 68 6f"));
        // An answer that nobody waits for means nothing.
        let answer = msgpack(&golden::bytes(&format!("94 01 63 c0 01 {ECHO_HI}"))).await;
        assert_eq!(golden::text(&answer), HI);
    });
}

#[test]
fn c166_notifications_stay_silent() {
    run(Net::Memory, async {
        for notification in [
            "93 02 a4 66 69 72 65 91 a2 67 6f",                   // fire
            "93 02 a4 66 69 72 65 90",                            // without its parameter
            "93 02 a4 66 69 72 65 c0",                            // with no array of parameters
            "93 02 a4 6e 6f 70 65 91 a2 67 6f",                   // an unknown method
            "93 02 ab 75 6e 65 6e 63 6f 64 61 62 6c 65 91 a1 78", // an answer that can not be encoded
        ] {
            let answer = msgpack(&golden::bytes(&format!("{notification} {ECHO_HI}"))).await;
            assert_eq!(golden::text(&answer), HI, "after {notification}");
        }
    });
}
