use bytes::{Bytes, BytesMut};
use rpc_core::{RequestHead, ResponseHead};

use crate::message::{self, Message, Naming};
use crate::{Detect, Frame, FrameError, Framing, MessageHeader, MessageMirror, Order, WriteBuf};

/// A message header whose messages tell by their own bytes where they end, so that they need no frame around them.
pub trait Unframed: MessageHeader {
    /// Where a look for the end of a message stopped. The default is the start of a message.
    type Scan: Default + Clone + Send + Sync + 'static;

    /// Finds the end of the message at the front of `src`. It returns the message's length, which is at most `src.len()`, or
    /// `None` while the message is not whole. The next call then gets the same `scan`, and in `src` the same bytes with
    /// more behind them; it goes on where this one stopped, so that a message which comes in many small pieces is looked
    /// at once.
    ///
    /// It allocates nothing by what the message claims, and `scan` holds a bounded amount of memory.
    ///
    /// # Errors
    /// When the bytes are no message, when it is nested too deeply, or when it is sure to have more than `limit` bytes: as
    /// early as that can be told, so that a claim of two gigabytes is not waited for.
    fn scan(&self, scan: &mut Self::Scan, src: &[u8], limit: usize) -> Result<Option<usize>, FrameError>;
}

/// Messages one behind the other, with nothing around them: what Thrift calls the buffered or unframed transport.
///
/// Multiplexed names are as in [`Framed`](crate::Framed).
///
/// Source: `wire/thrift.md` §4.
#[derive(Clone, Debug, Default)]
pub struct Buffered<H: Unframed> {
    header: H,
    naming: Naming,
    scan: H::Scan,
}

impl<H: Unframed> Buffered<H> {
    /// The framing of messages with this header.
    pub fn new(header: H) -> Self {
        Self { header, naming: Naming::Bare, scan: H::Scan::default() }
    }

    /// The same, but requests call `Service:method`, which is what servers of several services behind Apache's
    /// multiplexed processor want. A request that names no service calls `method`.
    #[must_use]
    pub fn multiplexed(mut self) -> Self {
        self.naming = Naming::Qualified;
        self
    }
}

impl<H: Unframed> Framing for Buffered<H> {
    type Codecs = (H::Codec,);
    type Mirror = MessageMirror;
    const ORDER: Order = Order::ById;
    const PREFIX: usize = 0;

    fn name(&self) -> &'static str {
        H::BUFFERED_NAME
    }

    fn encode_request(
        &self,
        id: u32,
        head: &RequestHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        Message::request(id, head, self.naming, body)?.put(&self.header, dst);
        Ok(())
    }

    fn encode_response(
        &self,
        to: &MessageMirror,
        head: &ResponseHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        if head.silent {
            return Ok(());
        }
        Message::answer(&self.header, to, head, body).put(&self.header, dst);
        Ok(())
    }

    fn decode(
        &mut self,
        src: &mut BytesMut,
        limit: usize,
    ) -> Result<Option<Frame<MessageMirror>>, FrameError> {
        let Some(len) = whole(&self.header, &mut self.scan, src, limit)? else { return Ok(None) };
        message::read(&self.header, src.split_to(len).freeze(), |mirror| mirror).map(Some)
    }

    fn detect(&self, first: &[u8]) -> Detect {
        self.header.detect(first)
    }

    fn codecs(&self) -> (H::Codec,) {
        (self.header.codec(),)
    }
}

/// How many bytes the message at the front of `src` has; `None` while it is not whole.
pub(crate) fn whole<H: Unframed>(
    header: &H,
    scan: &mut H::Scan,
    src: &[u8],
    limit: usize,
) -> Result<Option<usize>, FrameError> {
    let whole = header.scan(scan, src, limit)?.map(|len| len.min(src.len()));
    let seen = whole.unwrap_or(src.len());
    if seen > limit {
        return Err(FrameError::too_large(u64::try_from(seen).unwrap_or(u64::MAX), limit));
    }
    if whole.is_some() {
        *scan = H::Scan::default();
    }
    Ok(whole)
}

#[cfg(test)]
mod tests;
