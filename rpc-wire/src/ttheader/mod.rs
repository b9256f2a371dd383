//! TTHeader: a header in front of a message, for what the message has no place for: the service, the time that is left,
//! metadata, failures in the service's own terms, the end of a connection.
//!
//! - `layer`: packets around messages, whatever header those have; `TtHeader` here gives it one.
//! - `packet`: the fixed part, and cutting a packet out of the stream. `payload`: framed or not.
//! - `info`: the part of variable length, block by block. `keys`: what stands there by number and by text.
//! - `heading`: what it says of a request and of an answer. `metadata`, `business`: parts of that.
//! - `crc`: the checksum. `control`: packets about the connection.
//!
//! Source: `wire/thrift.md` §5–§9, §12, §14–§17 (Kitex's and volo's codecs).

mod business;
mod config;
mod control;
mod crc;
mod heading;
mod info;
mod keys;
mod layer;
mod metadata;
mod packet;
mod payload;

use std::time::Instant;

use bytes::{Bytes, BytesMut};
use rpc_core::{RequestHead, ResponseHead};

pub use self::config::{BackwardKeys, Payload, TtHeaderConfig};
pub(crate) use self::heading::read_mesh;
pub(crate) use self::layer::Layer;
pub use self::layer::TtHeaderMirror;
pub(crate) use self::packet::{MAGIC, PREFIX, whole};
use crate::message::Header;
use crate::{Detect, Frame, FrameError, Framing, MessageHeader, Order, WriteBuf};

/// Kitex's TTHeader in front of messages with the header `H`, framed or not: the server answers as it is asked, the client
/// writes what [`TtHeaderConfig`] says.
///
/// | of a call | as | |
/// |---|---|---|
/// | the service | the text `isn` | without its package, as Kitex's servers know it |
/// | what is left of the deadline | number 12, milliseconds | only where the transport tells the time |
/// | transient and persistent metadata | `RPC_TRANSIT_…`, `RPC_PERSIST_…` | `gdpr-token` in a block of its own |
/// | metadata of an answer | the key as it is | or as volo reads it, see [`BackwardKeys`] |
/// | [a business error](rpc_core::Status::business) | `biz-status`, `biz-message`, `biz-extra` | beside an empty result |
/// | any other failure | an exception in the message | as without the header |
///
/// A binary value that is UTF-8 arrives as text, since values on the wire have no type. What can not be spelled is an
/// error: keys and values that are empty or have more than 65,535 bytes, two values for a key, keys of an answer that are
/// the protocol's own, more than 1,024 pairs or 262,140 bytes in all.
///
/// What the header says of the peer's address (`rip`) is not believed: anybody can write it. The protocol id is not looked
/// at: peers write 0 whatever the payload is, so its own first bytes decide.
#[derive(Clone, Debug, Default)]
pub struct TtHeader<H> {
    header: H,
    layer: Layer,
}

impl<H: MessageHeader> TtHeader<H> {
    /// The framing around messages with this header, with all defaults.
    pub fn new(header: H) -> Self {
        Self { header, layer: Layer::default() }
    }

    /// The same with another configuration.
    #[must_use]
    pub fn with(mut self, config: TtHeaderConfig) -> Self {
        self.layer.config = config;
        self
    }
}

impl<H: MessageHeader> Framing for TtHeader<H> {
    type Codecs = (H::Codec,);
    type Mirror = TtHeaderMirror;
    const ORDER: Order = Order::ById;
    const PREFIX: usize = PREFIX;
    const TIMED: bool = true;

    fn name(&self) -> &'static str {
        H::TTHEADER_NAME
    }

    fn encode_request(
        &self,
        id: u32,
        head: &RequestHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        self.layer.put_request(&self.header, id, head, body, dst)
    }

    fn encode_response(
        &self,
        to: &TtHeaderMirror,
        head: &ResponseHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        if head.silent {
            return Ok(());
        }
        self.layer.put_answer(&self.header, to, head, body, dst)
    }

    fn decode(
        &mut self,
        src: &mut BytesMut,
        limit: usize,
    ) -> Result<Option<Frame<TtHeaderMirror>>, FrameError> {
        let Some(len) = whole(src, limit)? else { return Ok(None) };
        let header = &self.header;
        let which = |first: &[u8]| (Header::detect(header, first) == Detect::Yes).then_some((0, header));
        self.layer.read(src.split_to(len).freeze(), which).map(Some)
    }

    fn set_time(&mut self, now: Instant) {
        self.layer.set_time(now);
    }

    fn one_at_a_time(&mut self) {
        self.layer.config.out_of_order = false;
    }

    fn go_away(&mut self, dst: &mut WriteBuf) {
        self.layer.go_away(dst);
    }

    fn says_that_it_goes(&self) -> bool {
        true
    }

    /// A length and the magic number behind it.
    fn detect(&self, first: &[u8]) -> Detect {
        // The limit is not known here; 0 and 1 are the first bytes of lengths up to 32 MiB.
        match first {
            [] => Detect::NeedMore,
            [0 | 1, rest @ ..] => match rest.get(PREFIX - 1..) {
                None | Some([]) => Detect::NeedMore,
                Some([high]) if *high == MAGIC[0] => Detect::NeedMore,
                Some(magic) if magic.starts_with(&MAGIC) => Detect::Yes,
                Some(_) => Detect::No,
            },
            _ => Detect::No,
        }
    }

    fn codecs(&self) -> (H::Codec,) {
        (self.header.codec(),)
    }
}

#[cfg(test)]
mod tests;
