use std::fmt;

use rpc_core::{Code, Status};

/// The number that an application exception carries in Thrift and in Kitex-Protobuf. It is open: a peer may send any
/// number, and one that nobody knows is kept, never an error of decoding.
///
/// How it stands to [`Code`], for every protocol that sends these numbers:
///
/// | number | meaning | read as | written for |
/// |---|---|---|---|
/// | 0 | unknown | `unknown` | `unknown` |
/// | 1 | unknown method | `unimplemented` | `unimplemented` |
/// | 2 | invalid message type | `internal` | |
/// | 3 | wrong method name | `internal` | |
/// | 4 | bad sequence id | `internal` | |
/// | 5 | missing result | `internal` | |
/// | 6 | internal error | `internal` | `internal`, and each code that is not named here |
/// | 7 | protocol error: the arguments can not be decoded | `invalid_argument` | `invalid_argument` |
/// | 8 | invalid transform | `internal` | |
/// | 9 | invalid protocol | `internal` | |
/// | 10 | unsupported client type | `internal` | |
/// | 11 | validation failed | `invalid_argument` | |
/// | 20 | unknown service (Kitex) | `unimplemented` | |
/// | 21 | no service name (Kitex) | `invalid_argument` | |
/// | any other | not ours to know | `unknown` | |
///
/// The number that was read stays in [`Status::wire_code`], and a status that is passed on goes out under it as long as
/// the number still means the status's code.
///
/// What is lost: a code without a number of its own, such as `not_found` or `unavailable`, goes out as 6 with its message
/// as it is, so the peer reads `internal`. A status's details are lost too.
///
/// Source: `wire/thrift.md` §1 (Apache's `TApplicationException`; Kitex's `trans_errors.go`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ApplicationErrorKind(pub i32);

impl ApplicationErrorKind {
    /// No known kind.
    pub const UNKNOWN: Self = Self(0);
    /// The server has no such method.
    pub const UNKNOWN_METHOD: Self = Self(1);
    /// The message's type is none of those that the protocol defines.
    pub const INVALID_MESSAGE_TYPE: Self = Self(2);
    /// The answer names another method than the request.
    pub const WRONG_METHOD_NAME: Self = Self(3);
    /// The answer carries another id than the request.
    pub const BAD_SEQUENCE_ID: Self = Self(4);
    /// A result holds neither a response nor an exception.
    pub const MISSING_RESULT: Self = Self(5);
    /// The handler failed in a way that its definition does not declare.
    pub const INTERNAL_ERROR: Self = Self(6);
    /// The arguments can not be decoded.
    pub const PROTOCOL_ERROR: Self = Self(7);
    /// The message was transformed in a way that the peer does not know.
    pub const INVALID_TRANSFORM: Self = Self(8);
    /// The value does not fit the protocol.
    pub const INVALID_PROTOCOL: Self = Self(9);
    /// The peer does not serve this kind of client.
    pub const UNSUPPORTED_CLIENT_TYPE: Self = Self(10);
    /// The arguments could be decoded but are not valid.
    pub const VALIDATION_FAILED: Self = Self(11);
    /// The server has no such service. Kitex alone sends it.
    pub const UNKNOWN_SERVICE: Self = Self(20);
    /// The request should have named a service. Kitex alone sends it.
    pub const NO_SERVICE_NAME: Self = Self(21);

    /// The class of the failure, by the table above.
    pub const fn code(self) -> Code {
        match self {
            Self::UNKNOWN_METHOD | Self::UNKNOWN_SERVICE => Code::Unimplemented,
            Self::INVALID_MESSAGE_TYPE
            | Self::WRONG_METHOD_NAME
            | Self::BAD_SEQUENCE_ID
            | Self::MISSING_RESULT
            | Self::INTERNAL_ERROR
            | Self::INVALID_TRANSFORM
            | Self::INVALID_PROTOCOL
            | Self::UNSUPPORTED_CLIENT_TYPE => Code::Internal,
            Self::PROTOCOL_ERROR | Self::VALIDATION_FAILED | Self::NO_SERVICE_NAME => Code::InvalidArgument,
            _ => Code::Unknown,
        }
    }
}

impl fmt::Display for ApplicationErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::UNKNOWN => "unknown error",
            Self::UNKNOWN_METHOD => "unknown method",
            Self::INVALID_MESSAGE_TYPE => "invalid message type",
            Self::WRONG_METHOD_NAME => "wrong method name",
            Self::BAD_SEQUENCE_ID => "bad sequence id",
            Self::MISSING_RESULT => "missing result",
            Self::INTERNAL_ERROR => "internal error",
            Self::PROTOCOL_ERROR => "protocol error",
            Self::INVALID_TRANSFORM => "invalid transform",
            Self::INVALID_PROTOCOL => "invalid protocol",
            Self::UNSUPPORTED_CLIENT_TYPE => "unsupported client type",
            Self::VALIDATION_FAILED => "validation failed",
            Self::UNKNOWN_SERVICE => "unknown service",
            Self::NO_SERVICE_NAME => "no service name",
            Self(number) => return write!(f, "application error {number}"),
        })
    }
}

/// The status that an application exception means, with its number kept in [`Status::wire_code`]. An exception without a
/// text gets the name of its kind.
pub fn status_from_application(kind: i32, message: String) -> Status {
    let known = ApplicationErrorKind(kind);
    let message = if message.is_empty() { known.to_string() } else { message };
    Status::new(known.code(), message).with_wire_code(kind)
}

/// The number under which a status goes out.
pub fn application_kind(status: &Status) -> i32 {
    // A number may come from a protocol with other numbers: it counts only where it says the same.
    if let Some(kind) = status.wire_code().filter(|kind| ApplicationErrorKind(*kind).code() == status.code())
    {
        return kind;
    }
    let kind = match status.code() {
        Code::Unknown => ApplicationErrorKind::UNKNOWN,
        Code::Unimplemented => ApplicationErrorKind::UNKNOWN_METHOD,
        Code::InvalidArgument => ApplicationErrorKind::PROTOCOL_ERROR,
        _ => ApplicationErrorKind::INTERNAL_ERROR,
    };
    kind.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_survives_a_status() {
        for kind in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20, 21, 12_001, -1, i32::MIN, i32::MAX] {
            let status = status_from_application(kind, "text".into());
            assert_eq!((status.wire_code(), status.message()), (Some(kind), "text"));
            assert_eq!(application_kind(&status), kind);
        }
    }

    #[test]
    fn every_code_has_a_number_that_reads_as_it_or_as_internal() {
        for code in Code::ALL {
            let kind = application_kind(&Status::new(code, "text"));
            let expected = match code {
                Code::Unknown | Code::Unimplemented | Code::InvalidArgument => code,
                _ => Code::Internal,
            };
            assert_eq!(ApplicationErrorKind(kind).code(), expected, "{code}");
        }
    }

    #[test]
    fn a_number_of_another_protocol_does_not_falsify_the_code() {
        let status = Status::not_found("gone").with_wire_code(1);
        assert_eq!(application_kind(&status), ApplicationErrorKind::INTERNAL_ERROR.0);
    }

    #[test]
    fn an_exception_without_a_text_gets_one() {
        assert_eq!(status_from_application(20, String::new()).message(), "unknown service");
        assert_eq!(status_from_application(77, String::new()).message(), "application error 77");
    }
}
