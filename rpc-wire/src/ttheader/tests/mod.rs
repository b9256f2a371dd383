//! Packets by hand and against written ones.
//!
//! - `layout`: the packet, its payload, and what is no packet.
//! - `heads`: what a header says of calls and answers.
//! - `connection`: going away, ids and flags.

mod connection;
mod heads;
mod layout;

use rpc_core::{Metadata, Scope};

use super::info::InfoWriter;
use super::*;
use crate::testing::{HI, Strict, golden, written};

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
    golden(include_str!("../../../testdata/h1-call.hex"))
}

fn h2() -> Vec<u8> {
    golden(include_str!("../../../testdata/h2-business-error.hex"))
}

fn h3() -> Vec<u8> {
    golden(include_str!("../../../testdata/h3-control.hex"))
}

fn t1() -> Vec<u8> {
    golden(include_str!("../../../testdata/t1-call.hex"))
}

fn t4() -> Vec<u8> {
    golden(include_str!("../../../testdata/t4-reply.hex"))
}

fn t5() -> Vec<u8> {
    golden(include_str!("../../../testdata/t5-exception.hex"))
}

/// A packet with a header that is written by hand.
fn packet(flags: u16, id: u32, payload: &[u8], info: impl FnOnce(&mut InfoWriter<'_>)) -> Vec<u8> {
    written(|dst| {
        packet::put(flags, id, payload.len(), dst, |dst| {
            let mut writer = InfoWriter::begin(dst);
            info(&mut writer);
            writer.finish();
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
