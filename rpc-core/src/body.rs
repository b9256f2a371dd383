//! What a message carries when it crosses the layers: bytes, once or as a stream.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::Stream;

use crate::{BoxError, ResponseHead};

/// The payload of a request or a response. A unary call is one [`Body::Once`] each way and never a stream of one.
#[derive(Debug)]
pub enum Body {
    /// One encoded message.
    Once(Bytes),
    /// Encoded messages one after the other, then the trailers.
    Stream(BodyStream),
}

impl Body {
    /// A body without bytes.
    pub const fn empty() -> Self {
        Self::Once(Bytes::new())
    }

    /// A second body with the same bytes, which costs no copy; `None` for a stream, since it can be read only once.
    pub fn try_clone(&self) -> Option<Self> {
        match self {
            Self::Once(bytes) => Some(Self::Once(bytes.clone())),
            Self::Stream(_) => None,
        }
    }

    /// The bytes of a unary message; `None` for a stream.
    pub fn into_once(self) -> Option<Bytes> {
        match self {
            Self::Once(bytes) => Some(bytes),
            Self::Stream(_) => None,
        }
    }

    /// How many bytes the body holds, where that is known.
    pub fn len_hint(&self) -> Option<usize> {
        match self {
            Self::Once(bytes) => Some(bytes.len()),
            Self::Stream(_) => None,
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::Once(bytes)
    }
}

/// What a stream yields.
#[derive(Debug)]
pub enum BodyFrame {
    /// One encoded message.
    Message(Bytes),
    /// The end, with its status and metadata. Nothing follows.
    Trailers(ResponseHead),
}

/// A stream of encoded messages that ends with trailers. An error is the connection's, not the peer's answer.
pub struct BodyStream(Pin<Box<dyn Stream<Item = Result<BodyFrame, BoxError>> + Send>>);

impl BodyStream {
    /// Wraps a stream. The stream is polled no more after its trailers or its first error.
    pub fn new(stream: impl Stream<Item = Result<BodyFrame, BoxError>> + Send + 'static) -> Self {
        Self(Box::pin(stream))
    }
}

impl Stream for BodyStream {
    type Item = Result<BodyFrame, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for BodyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BodyStream")
    }
}
