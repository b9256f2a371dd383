//! The whole family on one port: the transport suite in each framing that its clients may speak, and clients of single
//! framings and codecs against one server.
#![allow(clippy::unwrap_used)] // all of it is a test

use codec_protobuf::KitexHeader;
use codec_thrift::{BinaryHeader, CompactHeader};
use rpc_core::{Client, Router};
use rpc_net::Server;
use rpc_test::transport::{First, Kind, Settings, Subject, patient};
use rpc_test::{Answer, Net, PipeConfig, Probe, Text, Wire, method, run, transport_suite};
use rpc_wire::{Buffered, Family, Framed, Payload, Speaks, TtHeader, TtHeaderConfig};
use tests_matrix::{MuxKind, PoolKind};

type Kitex = Family<(BinaryHeader, CompactHeader, KitexHeader)>;

fn family() -> Kitex {
    Family::new((BinaryHeader::new(), CompactHeader, KitexHeader))
}

mod mux {
    use super::*;

    transport_suite!(ttheader, MuxKind, family());
    transport_suite!(buffered, MuxKind, family().speaks(Speaks::Buffered));
}

mod pool {
    use super::*;

    transport_suite!(framed, PoolKind, family().speaks(Speaks::Framed));
}

/// Calls over either transport, one after the other and at once, with answers that are failures among them.
async fn calls<K: Kind, P: Subject>(wire: &Wire, protocol: P) {
    let name = protocol.name();
    let transport: K::Transport<P> = K::make(wire.clone(), protocol, Settings::default());
    let client = Client::<First<P>, _>::new(transport).with(patient());
    for text in ["", "hi", "a longer text"] {
        let answer = client.call::<method::Echo>(&Text::new(text)).await;
        assert_eq!(answer.unwrap_or_else(|error| panic!("{name}: {error}")), Ok(Answer::new(text)), "{name}");
    }
    let error = client.call::<method::Unknown>(&Text::new("?")).await.unwrap_err();
    assert_eq!(error.code(), rpc_core::Code::Unimplemented, "{name}: {error}");
    client.send::<method::Fire>(&Text::new("!")).await.unwrap();
    let at_once = (0..50).map(|i| client.call::<method::Echo>(&Text::new(format!("call {i}"))));
    for (i, answer) in futures::future::join_all(at_once).await.into_iter().enumerate() {
        assert_eq!(answer.unwrap(), Ok(Answer::new(format!("call {i}"))), "{name}");
    }
}

#[test]
fn one_port_serves_each_framing_in_each_codec() {
    run(Net::Memory, async {
        let probe = Probe::new();
        let server = Server::new().accept(family(), Router::new().add(probe.clone()));
        let (wire, server) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
        let bare = TtHeaderConfig { payload: Payload::Bare, checksum: true, ..TtHeaderConfig::default() };
        calls::<MuxKind, _>(&wire, codec_thrift::framed()).await;
        calls::<PoolKind, _>(&wire, codec_thrift::framed()).await;
        calls::<MuxKind, _>(&wire, codec_thrift::framed().multiplexed()).await;
        calls::<MuxKind, _>(&wire, Framed::new(CompactHeader)).await;
        calls::<MuxKind, _>(&wire, Framed::new(KitexHeader)).await;
        calls::<MuxKind, _>(&wire, Buffered::new(BinaryHeader::new())).await;
        calls::<PoolKind, _>(&wire, Buffered::new(CompactHeader)).await;
        calls::<MuxKind, _>(&wire, TtHeader::new(BinaryHeader::new())).await;
        calls::<MuxKind, _>(&wire, TtHeader::new(BinaryHeader::new()).with(bare.clone())).await;
        calls::<MuxKind, _>(&wire, TtHeader::new(CompactHeader)).await;
        calls::<PoolKind, _>(&wire, TtHeader::new(CompactHeader)).await;
        calls::<MuxKind, _>(&wire, TtHeader::new(KitexHeader)).await;
        assert_eq!((probe.fired(), server.gauges().in_flight()), (12, 0));
    });
}
