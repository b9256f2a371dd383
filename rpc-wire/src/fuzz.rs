//! Bodies for fuzzers: they take any bytes and panic only when a promise is broken. The unit tests run them over seeded
//! inputs; the targets in `fuzz/` run them for as long as one likes.

use std::time::Instant;

use bytes::{BufMut, Bytes, BytesMut};
use rpc_core::ResponseHead;

use crate::{
    CallId, Event, Frame, Framing, Kind, Limits, MakeProtocol, MessageHeader, Protocol, TtHeader, Unary,
    WriteBuf,
};

/// What came out of a protocol, in a form that can be compared.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    events: Vec<String>,
    failed: bool,
    left: usize,
}

/// Feeds a stream to both sides of a protocol, whole and in the pieces that its first byte says: both ways the same comes
/// out, and no more is kept than came in.
///
/// # Panics
/// When that is not so.
pub fn frames<F: Framing>(framing: &F, data: &[u8]) {
    let Some((&step, stream)) = data.split_first() else { return };
    let step = usize::from(step).max(1);
    for side in [client::<F>, server::<F>] {
        let whole = feed(side(framing), [stream]);
        let pieces = feed(side(framing), stream.chunks(step));
        assert_eq!(whole, pieces, "the same bytes in other pieces gave something else");
    }
}

/// Puts bytes into the header of a TTHeader packet, around a call: the call is read or refused, and metadata that was read
/// and can be written is read again as it was.
///
/// # Panics
/// When it is not.
pub fn ttheader<H: MessageHeader>(header: &H, data: &[u8]) {
    let mut message = WriteBuf::new();
    header.write(Kind::Call, b"echo", 1, &mut message);
    let mut info = data.get(..MAX_INFO).unwrap_or(data).to_vec();
    info.resize(info.len().next_multiple_of(4).max(4), 0);
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let mut packet = BytesMut::new();
    packet.put_u32(number(10 + info.len() + 4 + message.len()));
    packet.put_slice(&[0x10, 0, 0, 0, 0, 0, 0, 1]);
    packet.put_u16(u16::try_from(info.len() / 4).unwrap_or(u16::MAX));
    packet.put_slice(&info);
    packet.put_u32(number(message.len()));
    packet.put(message);

    let mut framing = TtHeader::new(header.clone());
    let Ok(Some(Frame::Request { head, body, .. })) = framing.decode(&mut packet, usize::MAX) else { return };
    let mut written = WriteBuf::new();
    if framing.encode_request(1, &head, &body, &mut written).is_err() {
        return; // what a peer spelled in another way may have no representation here
    }
    let mut again = BytesMut::new();
    again.put(written);
    match framing.decode(&mut again, usize::MAX) {
        Ok(Some(Frame::Request { head: read, .. })) => assert_eq!(read.metadata, head.metadata),
        other => panic!("what was written is {other:?}"),
    }
}

/// The largest header that its length field can say, in bytes.
const MAX_INFO: usize = 262_140;

fn client<F: Framing>(framing: &F) -> Unary<F> {
    MakeProtocol::client(framing, &limits(), CallId(1))
}

fn server<F: Framing>(framing: &F) -> Unary<F> {
    MakeProtocol::server(framing, &limits())
}

fn limits() -> Limits {
    Limits { max_message: 64 * 1024, ..Limits::default() }
}

fn feed<'a>(mut protocol: impl Protocol, pieces: impl IntoIterator<Item = &'a [u8]>) -> Seen {
    let now = Instant::now();
    let (mut read, mut out, mut events, mut failed) = (BytesMut::new(), WriteBuf::new(), Vec::new(), false);
    for piece in pieces {
        read.extend_from_slice(piece);
        failed = protocol.handle_input(now, &mut read).is_err();
        while let Some(event) = protocol.poll_event() {
            if let Event::Request { id, body, .. } = &event {
                // An echo, so that what went in must be fit to come out.
                let _ = protocol.reply(
                    *id,
                    &ResponseHead::ok(),
                    &Bytes::copy_from_slice(body),
                    Default::default(),
                );
            }
            events.push(format!("{event:?}"));
        }
        protocol.poll_output(&mut out);
        if failed {
            break;
        }
    }
    if !failed {
        let _ = protocol.handle_eof(&read);
    }
    // After a failure how much is left depends on how the bytes came.
    Seen { events, failed, left: if failed { 0 } else { read.len() } }
}
