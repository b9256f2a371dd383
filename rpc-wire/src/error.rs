use std::borrow::Cow;
use std::fmt;

use rpc_core::DecodeError;

/// Why a connection can not go on. Calls in flight on it fail; the process and other connections notice nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionError {
    kind: ConnectionErrorKind,
    detail: Cow<'static, str>,
}

/// What a connection broke over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConnectionErrorKind {
    /// The bytes are not of the protocol, so that the stream can not be followed any further.
    Malformed,
    /// A message is larger than the limit.
    TooLarge,
    /// The peer closed the connection in the middle of a message.
    Truncated,
    /// Too many calls that were given up are still unanswered.
    Unresponsive,
}

impl ConnectionError {
    /// An error of a kind, with a text that says what was found.
    #[cold]
    pub fn new(kind: ConnectionErrorKind, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, detail: detail.into() }
    }

    /// What the connection broke over.
    pub fn kind(&self) -> ConnectionErrorKind {
        self.kind
    }
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for ConnectionError {}

/// Why a framing can not encode or decode.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// The stream is lost: nothing after these bytes can be trusted.
    Connection(ConnectionError),
    /// The message has no representation in this framing.
    Unsupported(Cow<'static, str>),
}

impl FrameError {
    /// The bytes are not of the protocol.
    #[cold]
    pub fn malformed(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::Connection(ConnectionError::new(ConnectionErrorKind::Malformed, detail))
    }

    /// A message claims more bytes than the limit allows.
    #[cold]
    pub fn too_large(claimed: u64, limit: usize) -> Self {
        let detail = format!("frame too large: {claimed} bytes claimed, the limit is {limit}");
        Self::Connection(ConnectionError::new(ConnectionErrorKind::TooLarge, detail))
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection(error) => error.fmt(f),
            Self::Unsupported(detail) => f.write_str(detail),
        }
    }
}

impl std::error::Error for FrameError {}

/// An envelope that can not be read makes the whole stream doubtful.
impl From<DecodeError> for FrameError {
    fn from(error: DecodeError) -> Self {
        Self::malformed(format!("message header: {error}"))
    }
}

/// Why a call could not be put on a connection. Nothing of it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// As many calls are in flight as the limit allows.
    Full,
    /// The connection takes no new calls: either side is going away.
    GoingAway,
    /// The message is larger than the limit.
    TooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The protocol can not carry such a call.
    Unsupported(Cow<'static, str>),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("as many calls are in flight as the limit allows"),
            Self::GoingAway => f.write_str("the connection is going away"),
            Self::TooLarge { size, limit } => write!(f, "the message has {size} bytes, the limit is {limit}"),
            Self::Unsupported(detail) => f.write_str(detail),
        }
    }
}

impl std::error::Error for OpenError {}

/// Why an answer could not be put on a connection. Nothing of it was written, and the call can still be answered with a
/// failure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// There is no such call: it was reset, or answered.
    Unknown,
    /// The message is larger than the limit.
    TooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The protocol can not carry such an answer.
    Unsupported(Cow<'static, str>),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("there is no such call"),
            Self::TooLarge { size, limit } => write!(f, "the message has {size} bytes, the limit is {limit}"),
            Self::Unsupported(detail) => f.write_str(detail),
        }
    }
}

impl std::error::Error for CallError {}
