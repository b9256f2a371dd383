use bytes::{Bytes, BytesMut};
use rpc_core::{RequestHead, ResponseHead};

use crate::message::Messages;
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
    messages: Messages<H>,
    scan: H::Scan,
}

impl<H: Unframed> Buffered<H> {
    /// The framing of messages with this header.
    pub fn new(header: H) -> Self {
        Self { messages: Messages::new(header), scan: H::Scan::default() }
    }

    /// The same, but requests call `Service:method`, which is what servers of several services behind Apache's
    /// multiplexed processor want. A request that names no service calls `method`.
    #[must_use]
    pub fn multiplexed(mut self) -> Self {
        self.messages.multiplexed = true;
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
        self.messages.put(&self.messages.request(id, head, body)?, dst);
        Ok(())
    }

    fn encode_response(
        &self,
        to: &MessageMirror,
        head: &ResponseHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        self.messages.put(&self.messages.answer(to, head, body), dst);
        Ok(())
    }

    fn decode(
        &mut self,
        src: &mut BytesMut,
        limit: usize,
    ) -> Result<Option<Frame<MessageMirror>>, FrameError> {
        match cut(&self.messages.header, &mut self.scan, src, limit)? {
            Some(message) => self.messages.read(message).map(Some),
            None => Ok(None),
        }
    }

    fn detect(&self, first: &[u8]) -> Detect {
        self.messages.header.detect(first)
    }

    fn codecs(&self) -> (H::Codec,) {
        (self.messages.header.codec(),)
    }
}

/// Cuts a message off the front of `src`, or nothing while it is not whole.
pub(crate) fn cut<H: Unframed>(
    header: &H,
    scan: &mut H::Scan,
    src: &mut BytesMut,
    limit: usize,
) -> Result<Option<Bytes>, FrameError> {
    let whole = header.scan(scan, src, limit)?;
    let seen = whole.unwrap_or(src.len());
    if seen > limit {
        return Err(FrameError::too_large(u64::try_from(seen).unwrap_or(u64::MAX), limit));
    }
    let Some(len) = whole else { return Ok(None) };
    *scan = H::Scan::default();
    Ok(Some(src.split_to(len.min(src.len())).freeze()))
}

#[cfg(test)]
mod tests;
