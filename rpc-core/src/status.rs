//! How a call ended, in the peer's words: gRPC's codes, which the other protocols are mapped to.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;

use crate::{Error, Name};

/// The class of a failure: gRPC's canonical codes without `OK`
/// (<https://grpc.io/docs/guides/status-codes/>). The discriminants are gRPC's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // their meaning is gRPC's
pub enum Code {
    Cancelled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    AlreadyExists = 6,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Aborted = 10,
    OutOfRange = 11,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    DataLoss = 15,
    Unauthenticated = 16,
}

impl Code {
    /// All codes, in the order of their numbers.
    pub const ALL: [Self; 16] = [
        Self::Cancelled,
        Self::Unknown,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::AlreadyExists,
        Self::PermissionDenied,
        Self::ResourceExhausted,
        Self::FailedPrecondition,
        Self::Aborted,
        Self::OutOfRange,
        Self::Unimplemented,
        Self::Internal,
        Self::Unavailable,
        Self::DataLoss,
        Self::Unauthenticated,
    ];

    /// The code of a number; `None` for 0 (success) and for numbers that gRPC does not define.
    pub fn from_number(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.number() == number)
    }

    /// gRPC's number.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The name in Connect's and gRPC's documents: `"deadline_exceeded"`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
            Self::InvalidArgument => "invalid_argument",
            Self::DeadlineExceeded => "deadline_exceeded",
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::PermissionDenied => "permission_denied",
            Self::ResourceExhausted => "resource_exhausted",
            Self::FailedPrecondition => "failed_precondition",
            Self::Aborted => "aborted",
            Self::OutOfRange => "out_of_range",
            Self::Unimplemented => "unimplemented",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::DataLoss => "data_loss",
            Self::Unauthenticated => "unauthenticated",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A failure that a handler, a layer or the server answers with. It is one pointer wide.
#[derive(Clone, PartialEq, Eq)]
pub struct Status(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    code: Code,
    message: Cow<'static, str>,
    details: Bytes,
    exception: Option<Name>,
    wire_code: Option<i32>,
    business_code: Option<i32>,
}

impl Status {
    /// A failure of a class, with a text for people.
    #[cold]
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        let message = message.into();
        Self(Box::new(Inner {
            code,
            message,
            details: Bytes::new(),
            exception: None,
            wire_code: None,
            business_code: None,
        }))
    }

    /// A failure in the service's own terms: the call itself went well, and the number, which is not 0, means what the
    /// service says. Its class is [`Code::Unknown`]. Protocols that have a place for such numbers carry it as it is
    /// (Kitex's business errors over TTHeader, whose JSON object of extras is in [`details`](Self::details)); with others
    /// the class and the text arrive.
    #[cold]
    pub fn business(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        let mut status = Self::new(Code::Unknown, message);
        status.0.business_code = Some(code);
        status
    }

    /// A declared exception, for codecs that carry it in the status: its name, and its encoded value.
    #[cold]
    pub fn exception(name: impl Into<Name>, value: Bytes) -> Self {
        let name = name.into();
        let mut status = Self::new(Code::Unknown, format!("exception {name}"));
        status.0.exception = Some(name);
        status.0.details = value;
        status
    }

    /// The class.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The text for people.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Structured details, in a form that the protocol defines: encoded `google.rpc.Status` in gRPC, the error value in
    /// msgpack-rpc, the exception's value where [`Status::exception_name`] is set.
    pub fn details(&self) -> &Bytes {
        &self.0.details
    }

    /// The same with details.
    #[must_use]
    pub fn with_details(mut self, details: Bytes) -> Self {
        self.0.details = details;
        self
    }

    /// The name of the declared exception that this status carries.
    pub fn exception_name(&self) -> Option<&Name> {
        self.0.exception.as_ref()
    }

    /// The number that stood on the wire where the protocol has numbers of its own, as Thrift's application exceptions
    /// do. It is kept even where it is known to nobody.
    pub fn wire_code(&self) -> Option<i32> {
        self.0.wire_code
    }

    /// The service's own number for the failure; see [`Status::business`].
    pub fn business_code(&self) -> Option<i32> {
        self.0.business_code
    }

    /// The same with a number of the protocol's own.
    #[must_use]
    pub fn with_wire_code(mut self, code: i32) -> Self {
        self.0.wire_code = Some(code);
        self
    }
}

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident => $code:ident),+ $(,)?) => {
        impl Status {$(
            $(#[$doc])*
            #[cold]
            pub fn $name(message: impl Into<Cow<'static, str>>) -> Self {
                Self::new(Code::$code, message)
            }
        )+}
    };
}
constructors! {
    /// The call was given up.
    cancelled => Cancelled,
    /// An error of no known class.
    unknown => Unknown,
    /// The caller's argument is wrong, whatever the state of the server.
    invalid_argument => InvalidArgument,
    /// The time was up.
    deadline_exceeded => DeadlineExceeded,
    /// Something that was asked for does not exist.
    not_found => NotFound,
    /// Something that was to be made exists.
    already_exists => AlreadyExists,
    /// The caller may not do this.
    permission_denied => PermissionDenied,
    /// A quota or a limit is used up.
    resource_exhausted => ResourceExhausted,
    /// The server's state does not allow this.
    failed_precondition => FailedPrecondition,
    /// The operation was broken off, as by a conflict.
    aborted => Aborted,
    /// Past the valid range.
    out_of_range => OutOfRange,
    /// There is no such method.
    unimplemented => Unimplemented,
    /// Something that must hold does not.
    internal => Internal,
    /// The server can not serve now.
    unavailable => Unavailable,
    /// Data is lost for good.
    data_loss => DataLoss,
    /// The caller did not say credibly who it is.
    unauthenticated => Unauthenticated,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.message())
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Status");
        debug.field("code", &self.code()).field("message", &self.message());
        if let Some(name) = self.exception_name() {
            debug.field("exception", name);
        }
        if let Some(code) = self.wire_code() {
            debug.field("wire_code", &code);
        }
        if let Some(code) = self.business_code() {
            debug.field("business_code", &code);
        }
        if !self.details().is_empty() {
            debug.field("details", &format_args!("{} bytes", self.details().len()));
        }
        debug.finish()
    }
}

impl std::error::Error for Status {}

/// A handler may end with `?` on a call of its own: the caller gets the class and the text, not the inner details.
impl From<Error> for Status {
    fn from(error: Error) -> Self {
        match error.status() {
            Some(status) => status.clone(),
            None => Self::new(error.code(), error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grpcs() {
        assert_eq!(Code::from_number(0), None);
        assert_eq!(Code::from_number(17), None);
        for (code, number) in Code::ALL.into_iter().zip(1..) {
            assert_eq!((code.number(), Code::from_number(number)), (number, Some(code)));
        }
    }

    #[test]
    fn a_result_is_one_pointer_wide() {
        assert_eq!(size_of::<Result<(), Status>>(), size_of::<usize>());
    }
}
