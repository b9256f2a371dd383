//! What a peer claims is not what is allocated: every allocation of a thread is counted while bytes that lie about their size are
//! read.
#![allow(clippy::unwrap_used)] // all of it is a test
#![allow(unsafe_code, reason = "a global allocator can not be written without it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use codec_msgpack::{MsgPack, Rpc};
use codec_protobuf::{KitexHeader, Protobuf};
use codec_thrift::Binary;
use rpc_core::{Decode, Place, Router};
use rpc_net::Server;
use rpc_test::{Answer, Net, PipeConfig, Probe, Text, Wire, golden, run, until};
use rpc_wire::{Framed, Limits, MakeProtocol, Protocol};
use tests_matrix::probe_idl::{GrowArgs, SwapArgs};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[global_allocator]
static ALLOCATOR: Watched = Watched;

struct Watched;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

impl Watched {
    fn took(bytes: usize) {
        LARGEST.set(LARGEST.get().max(bytes));
        HELD.set(HELD.get() + bytes.cast_signed());
        PEAK.set(PEAK.get().max(HELD.get()));
    }

    fn gave(bytes: usize) {
        HELD.set(HELD.get() - bytes.cast_signed());
    }
}

// SAFETY: every method hands its arguments unchanged to the system's allocator, which fulfils the contract of `GlobalAlloc`; the
// count touches thread-locals without destructors only, and neither allocates nor panics.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::took(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        Self::gave(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::took(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        Self::gave(layout.size());
        Self::took(new_size);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

/// What this thread allocated meanwhile, in bytes.
struct Allocated {
    /// At once.
    largest: usize,
    /// At most at one time, beyond what it held before.
    peak: isize,
}

fn watch<T>(work: impl FnOnce() -> T) -> (T, Allocated) {
    LARGEST.set(0);
    HELD.set(0);
    PEAK.set(0);
    let output = work();
    (output, Allocated { largest: LARGEST.get(), peak: PEAK.get() })
}

/// What a decoder may allocate for a message of a few dozen bytes: errors have texts, and tables a first size.
const LITTLE: usize = 4096;

#[test]
fn the_count_is_true() {
    let (kept, allocated) = watch(|| {
        drop(vec![0_u8; 100_000]);
        vec![0_u8; 1000]
    });
    assert_eq!((allocated.largest, allocated.peak), (100_000, 100_000));
    let ((), allocated) = watch(|| drop(kept));
    assert_eq!((allocated.largest, allocated.peak), (0, 0));
}

/// Feeds bytes to a protocol on the server's side, and on the client's.
fn feed<P: MakeProtocol>(protocol: &P, bytes: &[u8]) {
    for side in
        [protocol.server(&Limits::default()), protocol.client(&Limits::default(), rpc_wire::CallId(1))]
    {
        let mut side = side;
        let mut read = BytesMut::from(bytes);
        let (_, allocated) = watch(|| {
            let result = side.handle_input(Instant::now(), &mut read);
            while side.poll_event().is_some() {}
            result.is_err()
        });
        assert!(
            allocated.largest <= LITTLE && allocated.peak <= LITTLE.cast_signed(),
            "{} for {} at {}",
            allocated.peak,
            golden::text(bytes),
            MakeProtocol::name(protocol)
        );
    }
}

/// Lengths of frames, of names and of headers, beyond the limit and within it.
#[test]
fn c001_c004_c016_claims_in_frames_and_headers() {
    for bytes in [
        "7f ff ff ff",
        "ff ff ff ff",
        "01 00 00 00",                               // exactly the limit
        "01 00 00 00 80 01 00 01 00 00 00 04 65 63", // and the beginning of a message
        "00 00 00 14 80 01 00 01 7f ff ff ff 65 63 68 6f 00 00 00 01 00 00 00 00", // the name
        "00 00 00 14 80 01 00 01 00 ff ff ff 65 63 68 6f 00 00 00 01 00 00 00 00",
        "00 00 00 08 00 ff ff ff 65 63 68 6f", // the old header's name
        "00 00 00 1a 80 01 00 01 00 00 00 04 65 63 68 6f 00 00 00 01 0b 00 01 04 00 00 00 68 69 00",
        "00 00 00 14 90 01 00 01 7f ff ff ff 65 63 68 6f 00 00 00 01 00 00 00 00", // Kitex's header
    ] {
        let bytes = golden::bytes(bytes);
        feed(&codec_thrift::framed(), &bytes);
        feed(&Framed::new(KitexHeader), &bytes);
    }
}

#[test]
fn c161_claims_in_msgpack_rpc() {
    for claim in [
        "94 00 01 a4 65 63 68 6f dd ff ff ff ff",       // an array
        "94 00 01 a4 65 63 68 6f 91 db ff ff ff f0",    // a text
        "94 00 01 a4 65 63 68 6f 91 c6 ff ff ff ff",    // bytes
        "94 00 01 a4 65 63 68 6f 91 c9 ff ff ff ff 01", // ext
        "94 00 01 a4 65 63 68 6f 91 df ff ff ff ff",    // a map
        "94 00 01 a4 65 63 68 6f 91 db 00 ff 00 00",    // a text within the limit
        "94 00 01 a4 65 63 68 6f 91 dd 00 10 00 00",    // an array within the limit
        "94 00 01 db ff ff ff ff",                      // the name
        "94 00 01 db 00 ff 00 00",
        "dd ff ff ff ff",             // the envelope
        "94 01 01 db ff ff ff ff",    // an answer's error
        "94 01 01 c0 dd ff ff ff ff", // an answer's result
    ] {
        feed(&Rpc::new(), &golden::bytes(claim));
    }
}

fn decode<C: Decode<T>, T>(codec: &C, place: Place, bytes: &[u8]) {
    let bytes = Bytes::copy_from_slice(bytes);
    let (result, allocated) = watch(|| codec.decode(place, bytes.clone()));
    assert!(result.is_err(), "{} was decoded", golden::text(&bytes));
    assert!(
        allocated.largest <= LITTLE && allocated.peak <= LITTLE.cast_signed(),
        "{} for {}",
        allocated.peak,
        golden::text(&bytes)
    );
}

#[test]
fn c004_c005_claims_in_thrift_values() {
    let sizes = [i32::MAX, -1, i32::MIN, 0x0100_0000, 1000].map(i32::to_be_bytes);
    for size in sizes {
        for (before, after) in [
            ("0b 00 01", ""),                  // echo's text; for the others a field that is skipped
            ("0f 00 63 08", ""),               // a list that nobody knows
            ("0d 00 63 0b 0c", ""),            // a map that nobody knows
            ("0c 00 01 0b 00 02", ""),         // swap's bag, its name
            ("0c 00 01 0b 00 03", ""),         // its bytes
            ("0c 00 01 0e 00 08 08", ""),      // its set
            ("0c 00 01 0f 00 02 0c", "00 00"), // grow's tree, its list
        ] {
            let bytes = [golden::bytes(before), size.to_vec(), golden::bytes(after)].concat();
            decode::<_, Text>(&Binary, Place::Arguments, &bytes);
            decode::<_, SwapArgs>(&Binary, Place::Arguments, &bytes);
            decode::<_, GrowArgs>(&Binary, Place::Arguments, &bytes);
        }
    }
}

#[test]
fn c161_claims_in_msgpack_values() {
    for claim in [
        "91 dd ff ff ff ff",
        "91 db ff ff ff f0",
        "91 c6 ff ff ff ff",
        "91 c9 ff ff ff ff 01",
        "91 df ff ff ff ff",
        "91 81 a4 74 65 78 74 db 7f ff ff ff",
        "91 81 a4 6e 6f 70 65 dd 7f ff ff ff", // of a field that nobody knows
        "dd ff ff ff ff",
    ] {
        decode::<_, Text>(&MsgPack::new(), Place::Arguments, &golden::bytes(claim));
    }
    for claim in ["db ff ff ff ff", "dd ff ff ff ff", "df 00 10 00 00"] {
        decode::<_, Answer>(&MsgPack::new(), Place::Result, &golden::bytes(claim));
    }
}

#[test]
fn c047_claims_in_protobuf_values() {
    for claim in [
        "0a ff ff ff ff 0f",                // field 1: 4 GiB
        "0a ff ff ff ff ff ff ff ff 7f",    // 2^63 - 1
        "0a ff ff ff ff ff ff ff ff ff 01", // 2^64 - 1
        "0a 80 80 80 08",                   // 16 MiB
        "12 ff ff ff ff 0f",                // a field that nobody knows
    ] {
        decode::<_, Text>(&Protobuf, Place::Arguments, &golden::bytes(claim));
    }
}

/// A hundred connections that claim two gigabytes each, and a thousand calls whose text claims 64 MiB, take a server no memory.
#[test]
fn c001_c004_a_server_under_claims() {
    run(Net::Memory, async {
        let server = Server::new().accept(codec_thrift::framed(), Router::new().add(Probe::new()));
        // As small as sockets, since these pipes are the test's own memory.
        let pipe = PipeConfig { capacity: 256, ..PipeConfig::default() };
        let (wire, server) = Wire::to(server, Net::Memory, pipe, []).await;
        let lie = golden::bytes(
            "00 00 00 1a 80 01 00 01 00 00 00 04 65 63 68 6f 00 00 00 01 0b 00 01 04 00 00 00 68 69 00",
        );
        LARGEST.set(0);
        HELD.set(0);
        PEAK.set(0);
        let mut connections = Vec::new();
        for _ in 0..100 {
            let mut raw = wire.dial_pipe();
            raw.write_all(&[0x7f, 0xff, 0xff, 0xff]).await.unwrap();
            connections.push(raw);
        }
        until("all are refused", || server.gauges().connections() == 0).await;
        assert!(PEAK.get() < 8 * 1024 * 1024, "{} bytes for a hundred connections", PEAK.get());
        assert!(LARGEST.get() <= 64 * 1024, "{} bytes at once", LARGEST.get());
        drop(connections);

        let mut raw = wire.dial_pipe();
        HELD.set(0);
        PEAK.set(0);
        for _ in 0..1000 {
            raw.write_all(&lie).await.unwrap();
            let len = raw.read_u32().await.unwrap();
            let mut answer = vec![0; usize::try_from(len).unwrap()];
            raw.read_exact(&mut answer).await.unwrap();
            assert_eq!(answer[3], 3, "an exception");
        }
        assert!(PEAK.get() < 1024 * 1024, "{} bytes for a thousand calls", PEAK.get());
    });
}
