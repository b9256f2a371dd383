use std::marker::PhantomData;

use bytes::{Bytes, BytesMut};
use rpc_core::{Codec, DecodeError, Status};
use rpc_wire::{Detect, FrameError, Kind, MessageHead, MessageHeader, Unframed, WriteBuf};

/// The message header `H`, in front of payloads of the codec `C`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Header<H, C> {
    header: H,
    codec: PhantomData<fn() -> C>,
}

impl<H, C> Header<H, C> {
    /// The header, as `header` writes and reads it.
    pub const fn new(header: H) -> Self {
        Self { header, codec: PhantomData }
    }
}

impl<H: MessageHeader, C: Codec> MessageHeader for Header<H, C> {
    type Codec = C;
    const FRAMED_NAME: &'static str = H::FRAMED_NAME;
    const BUFFERED_NAME: &'static str = H::BUFFERED_NAME;
    const TTHEADER_NAME: &'static str = H::TTHEADER_NAME;

    fn detect(&self, first: &[u8]) -> Detect {
        self.header.detect(first)
    }

    fn read(&self, message: &mut Bytes) -> Result<MessageHead, DecodeError> {
        self.header.read(message)
    }

    fn header_len(&self, name: usize, id: u32) -> usize {
        self.header.header_len(name, id)
    }

    fn write(&self, kind: Kind, name: &[u8], id: u32, dst: &mut WriteBuf) {
        self.header.write(kind, name, id, dst);
    }

    fn write_exception(&self, status: &Status, dst: &mut BytesMut) {
        self.header.write_exception(status, dst);
    }

    fn read_exception(&self, body: Bytes) -> Result<Status, DecodeError> {
        self.header.read_exception(body)
    }
}

impl<H: Unframed, C: Codec> Unframed for Header<H, C> {
    type Scan = H::Scan;

    fn scan(&self, scan: &mut H::Scan, src: &[u8], limit: usize) -> Result<Option<usize>, FrameError> {
        self.header.scan(scan, src, limit)
    }
}
