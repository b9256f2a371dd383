//! Thrift's other protocol and its other framing, where the peer is hostile or speaks another of them.
#![allow(clippy::unwrap_used, reason = "tests")]

use bytes::{Bytes, BytesMut};
use codec_thrift::{BinaryHeader, Compact, buffered, buffered_compact, framed, framed_compact};
use rpc_core::{Decode, DecodeErrorKind, Encode, Place, Router};
use rpc_net::{Server, Stream};
use rpc_test::{Net, PipeConfig, Probe, Running, Wire, golden, run};
use rpc_wire::Framed;
use tests_matrix::probe_idl::{GrowArgs, Tree};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

struct Scene {
    probe: Probe,
    _server: Running,
    wire: Wire,
}

impl Scene {
    async fn of(net: Net, probe: Probe, server: Server) -> Self {
        let (wire, server) = Wire::to(server, net, PipeConfig::default(), []).await;
        Self { probe, _server: server, wire }
    }

    async fn dial(&self) -> Stream {
        self.wire.dial().await.expect("the server takes connections")
    }

    /// Sends bytes on a connection of their own, which the server closes: it ends, so this does. What came until then.
    async fn refuses(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.dial().await;
        let _ = stream.write_all(bytes).await; // it may be closed already
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        rest
    }

    /// Sends a message on a connection of its own and demands the answer.
    async fn answers(&self, call: &[u8], reply: &[u8]) {
        let mut stream = self.dial().await;
        stream.write_all(call).await.unwrap();
        let mut found = vec![0; reply.len()];
        stream.read_exact(&mut found).await.expect("a whole answer");
        assert_eq!(golden::text(&found), golden::text(reply));
    }
}

/// The probe's service behind a protocol. A macro, since only the protocol says which codecs the router is for.
macro_rules! scene {
    ($net:expr, $protocol:expr) => {{
        let probe = Probe::new();
        let server = Server::new().accept($protocol, Router::new().add(probe.clone()));
        Scene::of($net, probe, server).await
    }};
}

fn in_frame(message: &[u8]) -> Vec<u8> {
    [&u32::try_from(message.len()).unwrap().to_be_bytes(), message].concat()
}

/// `echo("hi")` and its answer, without a frame.
const BINARY: [&str; 2] = [
    "80 01 00 01 00 00 00 04 65 63 68 6f 00 00 00 01 0b 00 01 00 00 00 02 68 69 00",
    "80 01 00 02 00 00 00 04 65 63 68 6f 00 00 00 01 0b 00 00 00 00 00 02 68 69 00",
];
const COMPACT: [&str; 2] =
    ["82 21 01 04 65 63 68 6f 18 02 68 69 00", "82 41 01 04 65 63 68 6f 08 00 02 68 69 00"];

fn bytes([call, reply]: [&str; 2]) -> [Vec<u8>; 2] {
    [golden::bytes(call), golden::bytes(reply)]
}

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
    c008_varints_that_are_too_long
    c010_nesting_in_compact
    c015_with_and_without_a_frame
    c016_the_old_header_by_option
}

/// In a header they end the connection, in a value they cost the call.
async fn c008_varints_that_are_too_long(net: Net) {
    let long = "80 80 80 80 80 80 80 80 80 80 01"; // of eleven bytes
    let scene = scene!(net, framed_compact());
    let unframed = scene!(net, buffered_compact());
    for header in [
        format!("82 21 {long} 04 65 63 68 6f 18 02 68 69 00"), // the id
        format!("82 21 01 {long} 65 63 68 6f 18 02 68 69 00"), // the length of the name
        "82 21 80 80 80 80 80 01 04 65 63 68 6f 18 02 68 69 00".to_owned(), // an id of six
    ] {
        let message = golden::bytes(&header);
        assert_eq!(scene.refuses(&in_frame(&message)).await, b"", "{header}");
        assert_eq!(unframed.refuses(&message).await, b"", "{header}");
    }
    for body in [
        "18 80 80 80 80 80 01 68 69 00",          // the length of a text
        "08 80 80 80 80 80 01 02 68 69 00",       // the id of a field
        "19 f5 80 80 80 80 80 01 00 00",          // the number of elements, of a field that nobody knows
        "16 80 80 80 80 80 80 80 80 80 80 01 00", // an i64 of eleven bytes
    ] {
        let message = golden::bytes(&format!("82 21 01 04 65 63 68 6f {body}"));
        // an exception with the number of a protocol error
        let mut stream = scene.dial().await;
        stream.write_all(&in_frame(&message)).await.unwrap();
        let mut frame = vec![0; usize::try_from(stream.read_u32().await.unwrap()).unwrap()];
        stream.read_exact(&mut frame).await.unwrap();
        assert_eq!(frame[..8], golden::bytes("82 61 01 04 65 63 68 6f"), "{body}");
        assert!(frame.ends_with(&[0x15, 14, 0]), "{body}: {}", golden::text(&frame));
        // Without a frame nobody can say where such a message ends.
        assert_eq!(unframed.refuses(&message).await, b"", "{body}");
    }
    let [call, reply] = bytes(COMPACT);
    scene.answers(&in_frame(&call), &in_frame(&reply)).await;
    unframed.answers(&call, &reply).await;
    assert_eq!((scene.probe.echoed(), unframed.probe.echoed()), (1, 1));
}

/// The limit is the same in both protocols: on write, on read, and where it is left out, with a frame and without.
async fn c010_nesting_in_compact(net: Net) {
    let written = |levels| {
        let mut dst = BytesMut::new();
        let args = GrowArgs { tree: Some(Tree::nested(levels)) };
        Compact.encode(Place::Arguments, &args, &mut dst).map(|()| dst.freeze())
    };
    for levels in [1, 31, 32] {
        let args: GrowArgs = Compact.decode(Place::Arguments, written(levels).unwrap()).unwrap();
        assert_eq!(args.tree.unwrap().levels(), levels);
    }
    assert!(written(33).unwrap_err().to_string().contains("nested deeper than 64 levels"));
    let (scene, unframed) = (scene!(net, framed_compact()), scene!(net, buffered_compact()));
    for levels in [33, 20_000] {
        let tree = [[0x29, 0x1c].repeat(levels - 1), vec![0; levels]].concat();
        let args = Bytes::from([&[0x1c][..], &tree, &[0]].concat());
        let error = Decode::<GrowArgs>::decode(&Compact, Place::Arguments, args).unwrap_err();
        assert_eq!(error.kind(), DecodeErrorKind::Limit, "{levels}");
        // a field of echo that nobody knows
        let message = [&golden::bytes("82 21 01 04 65 63 68 6f 5c")[..], &tree, &[0]].concat();
        let mut stream = scene.dial().await;
        stream.write_all(&in_frame(&message)).await.unwrap();
        let mut frame = vec![0; usize::try_from(stream.read_u32().await.unwrap()).unwrap()];
        stream.read_exact(&mut frame).await.unwrap();
        assert!(String::from_utf8_lossy(&frame).contains("nested deeper than 64 levels"));
        assert_eq!(unframed.refuses(&message).await, b"");
    }
    let [call, reply] = bytes(COMPACT);
    scene.answers(&in_frame(&call), &in_frame(&reply)).await;
    unframed.answers(&call, &reply).await;
}

/// A server of one framing closes the connection of the other, in either protocol; one of the right framing answers.
async fn c015_with_and_without_a_frame(net: Net) {
    let ([binary, binary_reply], [compact, compact_reply]) = (bytes(BINARY), bytes(COMPACT));
    let scene = scene!(net, buffered());
    for wrong in [in_frame(&binary), in_frame(&compact), compact.clone()] {
        assert_eq!(scene.refuses(&wrong).await, b"", "{}", golden::text(&wrong));
    }
    scene.answers(&binary, &binary_reply).await;
    let scene = scene!(net, buffered_compact());
    for wrong in [in_frame(&binary), in_frame(&compact), binary.clone()] {
        assert_eq!(scene.refuses(&wrong).await, b"", "{}", golden::text(&wrong));
    }
    scene.answers(&compact, &compact_reply).await;
    let scene = scene!(net, framed_compact());
    for wrong in [binary.clone(), compact.clone(), in_frame(&binary)] {
        assert_eq!(scene.refuses(&wrong).await, b"", "{}", golden::text(&wrong));
    }
    scene.answers(&in_frame(&compact), &in_frame(&compact_reply)).await;
    let scene = scene!(net, framed());
    scene.answers(&in_frame(&binary), &in_frame(&binary_reply)).await;
}

/// By option the old header is read, and answered in kind; what it claims is checked all the same.
async fn c016_the_old_header_by_option(net: Net) {
    let header = BinaryHeader::new().accept_non_strict();
    let old = golden::bytes("00 00 00 04 65 63 68 6f 01 00 00 00 01 0b 00 01 00 00 00 02 68 69 00");
    let scene = scene!(net, Framed::new(header));
    let mut stream = scene.dial().await;
    stream.write_all(&in_frame(&old)).await.unwrap();
    let mut frame = vec![0; usize::try_from(stream.read_u32().await.unwrap()).unwrap()];
    stream.read_exact(&mut frame).await.unwrap();
    assert!(frame.ends_with(&golden::bytes("0b 00 00 00 00 00 02 68 69 00")), "{}", golden::text(&frame));
    // the new one is as welcome
    let [call, reply] = bytes(BINARY);
    scene.answers(&in_frame(&call), &in_frame(&reply)).await;
    // a name of 16 MiB in a frame of eight bytes
    assert_eq!(scene.refuses(&golden::bytes("00 00 00 08 00 ff ff ff 65 63 68 6f")).await, b"");
    assert_eq!(scene.probe.echoed(), 2);
    // and refused where it is not asked for, also without a frame
    let strict = scene!(net, buffered());
    assert_eq!(strict.refuses(&old).await, b"");
    assert_eq!(strict.probe.echoed(), 0);
}
