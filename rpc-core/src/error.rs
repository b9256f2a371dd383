//! Why a call failed: what happened, whose fault it was, at which stage, and whether the peer may have executed it.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::{BoxError, Code, DecodeError, EncodeError, Name, Status};

/// Whether the peer can have seen the request, and so have executed it. Retry looks at nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sent {
    /// Provably not: no byte of it left this process, or the peer said that it did not execute it.
    No,
    /// Some or all bytes left; nothing is known of what became of them.
    Maybe,
    /// The peer began to answer.
    Yes,
}

/// Where in a call something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Looking the peer's name up.
    Resolve,
    /// Connecting.
    Connect,
    /// Waiting for a connection or a free slot on one.
    Queue,
    /// Encoding the request.
    Encode,
    /// Writing the request.
    Send,
    /// Waiting for the answer, or reading it.
    Receive,
    /// Decoding the answer.
    Decode,
    /// In the peer's server or handler, as its answer says.
    Peer,
    /// On a server: reading what a peer calls.
    Serve,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resolve => "looking the name up",
            Self::Connect => "connecting",
            Self::Queue => "waiting for a connection",
            Self::Encode => "encoding the request",
            Self::Send => "sending the request",
            Self::Receive => "waiting for the answer",
            Self::Decode => "decoding the answer",
            Self::Peer => "at the peer",
            Self::Serve => "reading requests",
        })
    }
}

/// Whose doing an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Initiator {
    /// The code that made the call.
    Caller,
    /// This library.
    Library,
    /// The other end of the connection, or the network before it.
    Peer,
}

/// What went wrong below the codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// No connection could be had.
    Connect,
    /// The connection ended or broke while the call was on it.
    Closed,
    /// The call's time was up.
    Deadline,
    /// The caller gave the call up.
    Cancelled,
    /// The message is larger than a limit.
    TooLarge,
    /// Too many calls are waiting already.
    Overloaded,
    /// The peer is shutting down and did not execute the call.
    ShuttingDown,
    /// The peer broke the rules of the protocol.
    Protocol,
    /// The protocol can not carry such a call.
    Unsupported,
}

impl TransportErrorKind {
    /// The class that the error has for a caller.
    pub const fn code(self) -> Code {
        match self {
            Self::Connect | Self::Closed | Self::ShuttingDown => Code::Unavailable,
            Self::Deadline => Code::DeadlineExceeded,
            Self::Cancelled => Code::Cancelled,
            Self::TooLarge | Self::Overloaded => Code::ResourceExhausted,
            Self::Protocol => Code::Internal,
            Self::Unsupported => Code::Unimplemented,
        }
    }

    const fn initiator(self) -> Initiator {
        match self {
            Self::Connect | Self::Closed | Self::ShuttingDown | Self::Protocol => Initiator::Peer,
            Self::Deadline | Self::Cancelled | Self::TooLarge | Self::Unsupported => Initiator::Caller,
            Self::Overloaded => Initiator::Library,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Connect => "no connection",
            Self::Closed => "connection closed",
            Self::Deadline => "deadline exceeded",
            Self::Cancelled => "cancelled",
            Self::TooLarge => "message too large",
            Self::Overloaded => "too many calls waiting",
            Self::ShuttingDown => "peer is shutting down, not executed",
            Self::Protocol => "protocol violation",
            Self::Unsupported => "not supported by the protocol",
        }
    }
}

/// No whole answer came. Everything else is a [`Response`](crate::Response), whatever its status.
#[derive(Debug)]
pub struct TransportError(Box<Fault>);

#[derive(Debug)]
struct Fault {
    kind: TransportErrorKind,
    stage: Stage,
    sent: Sent,
    endpoint: Option<Arc<str>>,
    method: Option<(Name, Name)>,
    source: Option<BoxError>,
}

impl TransportError {
    /// An error of a kind, at a stage, with what is known of the request's fate.
    #[cold]
    pub fn new(kind: TransportErrorKind, stage: Stage, sent: Sent) -> Self {
        Self(Box::new(Fault { kind, stage, sent, endpoint: None, method: None, source: None }))
    }

    /// The time was up at a stage.
    #[cold]
    pub fn deadline(stage: Stage, sent: Sent) -> Self {
        Self::new(TransportErrorKind::Deadline, stage, sent)
    }

    /// The same with the peer's address.
    #[must_use]
    pub fn at(mut self, endpoint: Arc<str>) -> Self {
        self.0.endpoint = Some(endpoint);
        self
    }

    /// The same with the method that was called.
    #[must_use]
    pub fn calling(mut self, service: Name, method: Name) -> Self {
        self.0.method = Some((service, method));
        self
    }

    /// The same with what caused it.
    #[must_use]
    pub fn because(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> TransportErrorKind {
        self.0.kind
    }

    /// Where in the call.
    pub fn stage(&self) -> Stage {
        self.0.stage
    }

    /// Whether the peer can have executed the call, in any of its attempts.
    pub fn sent(&self) -> Sent {
        self.0.sent
    }

    /// The peer's address.
    pub fn endpoint(&self) -> Option<&Arc<str>> {
        self.0.endpoint.as_ref()
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} while {}", self.0.kind.text(), self.0.stage)?;
        if let Some(endpoint) = &self.0.endpoint {
            write!(f, " ({endpoint})")?;
        }
        write_causes(f, self.0.source.as_deref().map(|source| source as _))
    }
}

impl std::error::Error for TransportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// Why a call failed. One pointer wide; what it holds is seen through its methods.
pub struct Error(Box<Repr>);

struct Repr {
    method: Option<(Name, Name)>,
    attempts: u32,
    /// What is known of the attempts before the last.
    sent_before: Sent,
    cause: Cause,
}

enum Cause {
    Encode(EncodeError),
    Decode(DecodeError),
    Transport(TransportError),
    Status(Status),
    Foreign(BoxError),
}

impl Error {
    /// An error of a transport or of a layer above it. A [`TransportError`] or a [`Status`] is found again inside;
    /// of any other error it is not known whether the call was executed.
    #[cold]
    pub fn from_service(error: BoxError) -> Self {
        let error = match error.downcast::<TransportError>() {
            Ok(error) => return Self::of(Cause::Transport(*error)),
            Err(error) => error,
        };
        match error.downcast::<Status>() {
            Ok(status) => Self::of(Cause::Status(*status)),
            Err(error) => Self::of(Cause::Foreign(error)),
        }
    }

    /// The class that [`from_service`](Self::from_service) finds in an error.
    pub(crate) fn code_of(error: &BoxError) -> Code {
        if let Some(error) = error.downcast_ref::<TransportError>() {
            return error.kind().code();
        }
        error.downcast_ref::<Status>().map_or(Code::Unknown, Status::code)
    }

    /// The same, with the method that was called.
    #[must_use]
    pub fn calling(mut self, service: Name, method: Name) -> Self {
        self.0.method = Some((service, method));
        self
    }

    /// The same, with how many times the request was sent, and what is known of the times before the last.
    #[must_use]
    pub(crate) fn after_attempts(mut self, attempts: u32, sent_before: Sent) -> Self {
        self.0.attempts = attempts;
        self.0.sent_before = sent_before;
        self
    }

    /// How many times the request was sent, or tried to be.
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    fn of(cause: Cause) -> Self {
        Self(Box::new(Repr { method: None, attempts: 1, sent_before: Sent::No, cause }))
    }

    /// The class of the failure.
    pub fn code(&self) -> Code {
        match &self.0.cause {
            Cause::Encode(_) => Code::InvalidArgument,
            Cause::Decode(_) => Code::Internal,
            Cause::Transport(error) => error.kind().code(),
            Cause::Status(status) => status.code(),
            Cause::Foreign(_) => Code::Unknown,
        }
    }

    /// Whether the peer can have executed the call, in any of its attempts.
    pub fn sent(&self) -> Sent {
        let last = match &self.0.cause {
            Cause::Encode(_) => Sent::No,
            Cause::Decode(_) | Cause::Status(_) => Sent::Yes,
            Cause::Transport(error) => error.sent(),
            Cause::Foreign(_) => Sent::Maybe,
        };
        last.max(self.0.sent_before)
    }

    /// Where in the call it failed; `None` where a foreign layer failed it.
    pub fn stage(&self) -> Option<Stage> {
        match &self.0.cause {
            Cause::Encode(_) => Some(Stage::Encode),
            Cause::Decode(_) => Some(Stage::Decode),
            Cause::Transport(error) => Some(error.stage()),
            Cause::Status(_) => Some(Stage::Peer),
            Cause::Foreign(_) => None,
        }
    }

    /// Whose doing it is.
    pub fn initiator(&self) -> Initiator {
        match &self.0.cause {
            Cause::Encode(_) => Initiator::Caller,
            Cause::Decode(_) | Cause::Status(_) => Initiator::Peer,
            Cause::Transport(error) => error.kind().initiator(),
            Cause::Foreign(_) => Initiator::Library,
        }
    }

    /// The peer's answer, if it is the answer that says failure.
    pub fn status(&self) -> Option<&Status> {
        match &self.0.cause {
            Cause::Status(status) => Some(status),
            _ => None,
        }
    }

    /// What went wrong below the codec, if it was there.
    pub fn transport(&self) -> Option<&TransportError> {
        match &self.0.cause {
            Cause::Transport(error) => Some(error),
            _ => None,
        }
    }

    /// The peer's address, where the failure has one.
    pub fn endpoint(&self) -> Option<&str> {
        self.transport().and_then(TransportError::endpoint).map(|endpoint| &**endpoint)
    }

    /// The service and the method that were called.
    pub fn method(&self) -> Option<(&Name, &Name)> {
        self.0.method.as_ref().map(|(service, method)| (service, method))
    }

    fn cause(&self) -> &(dyn std::error::Error + 'static) {
        match &self.0.cause {
            Cause::Encode(error) => error,
            Cause::Decode(error) => error,
            Cause::Transport(error) => error,
            Cause::Status(status) => status,
            Cause::Foreign(error) => &**error,
        }
    }
}

impl From<EncodeError> for Error {
    fn from(error: EncodeError) -> Self {
        Self::of(Cause::Encode(error))
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Self::of(Cause::Decode(error))
    }
}

impl From<TransportError> for Error {
    fn from(error: TransportError) -> Self {
        Self::of(Cause::Transport(error))
    }
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        Self::of(Cause::Status(status))
    }
}

/// One line: the class, the method, what happened where, and the causes down to the first.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((service, method)) = &self.0.method {
            write!(f, "{service}/{method}: ")?;
        }
        match &self.0.cause {
            Cause::Status(status) => write!(f, "{status}"),
            Cause::Foreign(error) => {
                write!(f, "{}", self.code())?;
                write_causes(f, Some(&**error))
            }
            _ => write!(f, "{}: {}", self.code(), self.cause()),
        }?;
        if self.0.attempts > 1 { write!(f, " (attempt {})", self.0.attempts) } else { Ok(()) }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self}; sent: {:?})", self.sent())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.cause())
    }
}

/// Writes the chain of causes, each once: an error around another may say nothing but what that one says.
fn write_causes(
    f: &mut fmt::Formatter<'_>,
    mut cause: Option<&(dyn std::error::Error + 'static)>,
) -> fmt::Result {
    let mut said = None;
    while let Some(error) = cause {
        let text = error.to_string();
        if said.as_ref() != Some(&text) {
            write!(f, ": {text}")?;
            said = Some(text);
        }
        // These write their own causes.
        if error.is::<TransportError>() || error.is::<Error>() {
            break;
        }
        cause = error.source();
    }
    Ok(())
}

/// Whether a refused or a vanished peer is meant, as opposed to a fault of this machine.
pub fn is_disconnect(error: &io::Error) -> bool {
    use io::ErrorKind::*;
    matches!(
        error.kind(),
        ConnectionReset | ConnectionAborted | BrokenPipe | NotConnected | UnexpectedEof | TimedOut
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_the_story() {
        let cause = io::Error::from(io::ErrorKind::ConnectionRefused);
        let error = TransportError::new(TransportErrorKind::Connect, Stage::Connect, Sent::No)
            .at("127.0.0.1:1".into())
            .because(cause);
        let error = Error::from_service(error.into()).calling("hello.Greeter".into(), "SayHello".into());
        assert_eq!(
            error.to_string(),
            "hello.Greeter/SayHello: unavailable: no connection while connecting (127.0.0.1:1): connection refused"
        );
        assert_eq!(
            (error.code(), error.sent(), error.stage()),
            (Code::Unavailable, Sent::No, Some(Stage::Connect))
        );
        let transport = std::error::Error::source(&error).unwrap();
        assert!(std::error::Error::source(transport).unwrap().is::<io::Error>());
    }

    #[test]
    fn an_unknown_error_may_have_been_sent() {
        let error = Error::from_service("a layer's own".into());
        assert_eq!((error.sent(), error.code()), (Sent::Maybe, Code::Unknown));
        assert_eq!(error.to_string(), "unknown: a layer's own");
    }

    /// Says what its cause says, as an error does that many calls share.
    #[derive(Debug)]
    struct Around(io::Error);

    impl fmt::Display for Around {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            fmt::Display::fmt(&self.0, f)
        }
    }

    impl std::error::Error for Around {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn what_was_just_said_is_not_said_again() {
        let refused = || Around(io::Error::from(io::ErrorKind::ConnectionRefused));
        let error = TransportError::new(TransportErrorKind::Connect, Stage::Connect, Sent::No);
        assert_eq!(
            error.because(refused()).to_string(),
            "no connection while connecting: connection refused"
        );
        let error = Error::from_service(refused().into());
        assert_eq!(error.to_string(), "unknown: connection refused");
        let mut last: &dyn std::error::Error = &error;
        while let Some(cause) = last.source() {
            last = cause;
        }
        assert!(last.is::<io::Error>());
    }

    #[test]
    fn a_class_is_found_without_taking_the_error_apart() {
        let late = || TransportError::deadline(Stage::Receive, Sent::Maybe);
        for (error, code) in [
            (BoxError::from(late()), Code::DeadlineExceeded),
            (Status::unavailable("not now").into(), Code::Unavailable),
            ("a layer's own".into(), Code::Unknown),
        ] {
            assert_eq!(Error::code_of(&error), code);
            assert_eq!(Error::from_service(error).code(), code);
        }
    }
}
