use bytes::{Bytes, BytesMut};
use rpc_core::{Code, EncodeError, Name, Status};

use super::AROUND;
use super::render::Rendered;
use crate::read::{Item, item};
use crate::text::short;
use crate::walk::{MAX_DEPTH, value_len};
use crate::write::{self, Dialect};

/// How a server writes a failure. The protocol allows any value, and peers show different ones well.
///
/// | | example | code | message | details |
/// |---|---|---|---|---|
/// | `Text` | `"not_found: no such user"` | kept | kept | lost |
/// | `Pair` | `[5, "no such user"]` | kept, but `cancelled` | kept | lost |
/// | `Map` | `{"code": "not_found", "message": "no such user", "details": …}` | kept | kept | kept |
/// | `Jubatus` | as `Text`, but two kinds are numbers, and then the result says more | kept | kept | lost |
///
/// A declared exception is always `{"code": "exception", "message": …, "name": …, "value": …}`, so that it comes out whole
/// at a peer that knows the method's definition.
///
/// Clients read all of these and what deployed peers send:
///
/// | error value | code |
/// |---|---|
/// | a text that begins with a code's name and `": "` | that code |
/// | any other text | `unknown` |
/// | `[number, text]` | gRPC's code of the number, but for Neovim's kinds 0 (`unknown`) and 1 (`invalid_argument`) |
/// | a map with `"message"` | that of `"code"`, a name or gRPC's number |
/// | 1, with the method's name as the result (Jubatus) | `unimplemented` |
/// | 2, with a text as the result (Jubatus) | `invalid_argument` |
/// | anything else | `unknown`, and the value as the message |
///
/// A number stays in [`Status::wire_code`]. [`Status::details`] holds the error value as it came, the value of a declared
/// exception, or the details of a map that has some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorForm {
    /// A text, which every peer shows. The code's name stands before the message, but for plain failures of a handler
    /// (`unknown`), so that those read as the handler wrote them.
    #[default]
    Text,
    /// gRPC's number of the code, and the message: for clients that look at numbers. It is the form of Neovim's own errors,
    /// whose two kinds are read as `unknown` and `invalid_argument`.
    Pair,
    /// A map: for peers of this library.
    Map,
    /// As Jubatus does: 1 for `unimplemented`, with the method's name as the result, 2 for `invalid_argument`, with the text as
    /// the result. Others are texts.
    Jubatus,
}

/// Jubatus's numbers: there is no such method, and the parameters do not fit it.
const NO_METHOD: u64 = 1;
const BAD_ARGUMENT: u64 = 2;

impl ErrorForm {
    /// Whether a failure names the method that was called.
    pub(super) fn names_methods(self) -> bool {
        self == Self::Jubatus
    }

    /// Writes error and result.
    pub(super) fn write(
        self,
        status: &Status,
        method: &Name,
        dialect: Dialect,
        dst: &mut BytesMut,
    ) -> Result<(), EncodeError> {
        if self == Self::Jubatus && status.exception_name().is_none() {
            let (number, result) = match status.code() {
                Code::Unimplemented => (NO_METHOD, method.as_bytes()),
                Code::InvalidArgument => (BAD_ARGUMENT, status.message().as_bytes()),
                _ => return Self::Text.write(status, method, dialect, dst),
            };
            write::uint(dst, number);
            return write::str(dst, result, dialect);
        }
        self.write_error(status, dialect, dst)?;
        write::nil(dst);
        Ok(())
    }

    fn write_error(self, status: &Status, dialect: Dialect, dst: &mut BytesMut) -> Result<(), EncodeError> {
        let text = |dst: &mut BytesMut, text: &str| write::str(dst, text.as_bytes(), dialect);
        if let Some(name) = status.exception_name() {
            let value = status.details();
            if value_len(value, MAX_DEPTH).ok() != Some(value.len()) {
                return Err(EncodeError::new("the exception's value is not one value of MessagePack"));
            }
            write::map(dst, 4)?;
            text(dst, "code")?;
            text(dst, EXCEPTION)?;
            text(dst, "message")?;
            text(dst, status.message())?;
            text(dst, "name")?;
            write::str(dst, name.as_bytes(), dialect)?;
            text(dst, "value")?;
            dst.extend_from_slice(value);
            return Ok(());
        }
        match self {
            Self::Text | Self::Jubatus => match status.code() {
                Code::Unknown if prefixed(status.message()).is_none() => text(dst, status.message()),
                code => text(dst, &format!("{code}: {}", status.message())),
            },
            Self::Pair => {
                write::array(dst, 2)?;
                write::int(dst, status.code().number().into());
                text(dst, status.message())
            }
            Self::Map => {
                let details = status.details();
                write::map(dst, if details.is_empty() { 2 } else { 3 })?;
                text(dst, "code")?;
                text(dst, status.code().name())?;
                text(dst, "message")?;
                text(dst, status.message())?;
                if !details.is_empty() {
                    text(dst, "details")?;
                    write::bin(dst, details, dialect)?;
                }
                Ok(())
            }
        }
    }
}

/// What stands as the code of a declared exception.
const EXCEPTION: &str = "exception";

/// The failure that an error value means; `None` when it is nil. Both are whole values.
pub(super) fn read(error: &[u8], result: &[u8]) -> Option<Status> {
    let (first, len) = item(error).ok()?;
    let rest = error.get(len..).unwrap_or_default();
    let status = match first {
        Item::Nil => return None,
        Item::Uint(number) => numbered(number, text(result)),
        Item::Str(_) | Item::Bin(_) => {
            let text = text(error).unwrap_or_default();
            match prefixed(&text) {
                Some((code, message)) => Status::new(code, message.to_owned()),
                None => Status::unknown(text),
            }
        }
        Item::Array(2) => pair(rest).unwrap_or_else(|| unknown(error)),
        Item::Map(count) => return Some(map(error, rest, count).unwrap_or_else(|| unknown(error))),
        _ => unknown(error),
    };
    // A copy: a status may live long, and a slice would keep the read buffer alive as long.
    Some(status.with_details(Bytes::copy_from_slice(error)))
}

/// Any value as a failure.
fn unknown(error: &[u8]) -> Status {
    Status::unknown(short(Rendered(error))).with_details(Bytes::copy_from_slice(error))
}

/// A number alone: Jubatus sends two.
fn numbered(number: u64, text: Option<String>) -> Status {
    let status = match (number, text) {
        (NO_METHOD, Some(method)) => Status::unimplemented(format!("unknown method {method:?}")),
        (NO_METHOD, None) => Status::unimplemented("unknown method"),
        (BAD_ARGUMENT, Some(text)) => Status::invalid_argument(text),
        (BAD_ARGUMENT, None) => Status::invalid_argument("the parameters do not fit the method"),
        (number, Some(text)) => Status::unknown(format!("error {number}: {text}")),
        (number, None) => Status::unknown(format!("error {number}")),
    };
    with_number(status, number)
}

fn with_number(status: Status, number: u64) -> Status {
    match i32::try_from(number) {
        Ok(number) => status.with_wire_code(number),
        Err(_) => status,
    }
}

/// A number and a text.
fn pair(bytes: &[u8]) -> Option<Status> {
    let (Item::Uint(number), len) = item(bytes).ok()? else { return None };
    let code = match number {
        1 => Code::InvalidArgument,
        _ => code_of(number),
    };
    Some(with_number(Status::new(code, text(bytes.get(len..)?)?), number))
}

fn code_of(number: u64) -> Code {
    i32::try_from(number).ok().and_then(Code::from_number).unwrap_or(Code::Unknown)
}

/// A map, of which `bytes` are the pairs.
fn map(error: &[u8], mut bytes: &[u8], count: usize) -> Option<Status> {
    let (mut code, mut message, mut name, mut value, mut details) = (None, None, None, None, None);
    for _ in 0..count {
        let key = text(next(&mut bytes)?);
        let pair = next(&mut bytes)?;
        match key.as_deref() {
            Some("code") => code = Some(pair),
            Some("message") => message = text(pair),
            Some("name") => name = text(pair),
            Some("value") => value = Some(pair),
            Some("details") => details = bin(pair),
            _ => {}
        }
    }
    let named = code.and_then(text);
    if let (Some(EXCEPTION), Some(name), Some(value)) = (named.as_deref(), name, value) {
        return Some(Status::exception(Name::from(name), Bytes::copy_from_slice(value)));
    }
    let message = message?;
    let details = Bytes::copy_from_slice(details.unwrap_or(error));
    let status = match (named, code.map(item)) {
        (Some(named), _) => Status::new(code_named(&named).unwrap_or(Code::Unknown), message),
        (None, Some(Ok((Item::Uint(number), _)))) => {
            with_number(Status::new(code_of(number), message), number)
        }
        _ => Status::unknown(message),
    };
    Some(status.with_details(details))
}

fn next<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (value, rest) = bytes.split_at_checked(value_len(bytes, MAX_DEPTH + AROUND).ok()?)?;
    *bytes = rest;
    Some(value)
}

/// The text that a value is; what is not UTF-8 in it is replaced.
fn text(value: &[u8]) -> Option<String> {
    bin(value).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// The bytes of a value of either type.
fn bin(value: &[u8]) -> Option<&[u8]> {
    match item(value).ok()? {
        (Item::Str(contents) | Item::Bin(contents), len) => value.get(len..)?.get(..contents),
        _ => None,
    }
}

/// Code and message of a text that names its code.
fn prefixed(text: &str) -> Option<(Code, &str)> {
    let (name, message) = text.split_once(": ")?;
    Some((code_named(name)?, message))
}

fn code_named(name: &str) -> Option<Code> {
    Code::ALL.into_iter().find(|code| code.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(form: ErrorForm, status: &Status) -> BytesMut {
        let mut dst = BytesMut::new();
        form.write_error(status, Dialect::Current, &mut dst).unwrap();
        dst
    }

    fn through(form: ErrorForm, status: &Status) -> Status {
        read(&written(form, status), b"\xc0").unwrap()
    }

    #[test]
    fn codes_and_messages_come_through_in_each_form() {
        for form in [ErrorForm::Text, ErrorForm::Pair, ErrorForm::Map] {
            for code in Code::ALL {
                for message in ["", "on purpose", "not_found: as a message", ": ", "unknown: x"] {
                    let status = through(form, &Status::new(code, message));
                    assert_eq!(status.message(), message, "{form:?}");
                    if (form, code) != (ErrorForm::Pair, Code::Cancelled) {
                        assert_eq!(status.code(), code, "{form:?}, {message:?}");
                    }
                }
            }
        }
    }

    /// Clients in other languages compare the text of an error.
    #[test]
    fn a_plain_failure_of_a_handler_is_its_text() {
        assert_eq!(written(ErrorForm::Text, &Status::unknown("on purpose"))[..], *b"\xaaon purpose");
    }

    #[test]
    fn details_come_through_in_a_map() {
        let status = Status::aborted("conflict").with_details(Bytes::from_static(b"\x00\xff"));
        assert_eq!(through(ErrorForm::Map, &status), status);
        let plain = Status::aborted("conflict");
        let read = through(ErrorForm::Map, &plain);
        assert_eq!(read.details()[..], written(ErrorForm::Map, &plain)[..]);
    }

    #[test]
    fn declared_exceptions_come_through_in_each_form() {
        let status = Status::exception("Overdrawn", Bytes::from_static(b"\x92\x01\xa1x"));
        for form in [ErrorForm::Text, ErrorForm::Pair, ErrorForm::Map] {
            assert_eq!(through(form, &status), status);
        }
        for bad in [&b""[..], b"\x92\x01", b"\x01\x02", b"\xc1"] {
            let status = Status::exception("Overdrawn", Bytes::copy_from_slice(bad));
            assert!(
                ErrorForm::Text.write_error(&status, Dialect::Current, &mut BytesMut::new()).is_err(),
                "{bad:x?}"
            );
        }
    }

    #[test]
    fn deployed_peers_errors_are_understood() {
        type Case = (&'static [u8], &'static [u8], Code, &'static str, Option<i32>);
        let cases: [Case; 11] = [
            (b"\x01", b"\xa6nosuch", Code::Unimplemented, "unknown method \"nosuch\"", Some(1)),
            (b"\x02", b"\xa3bad", Code::InvalidArgument, "bad", Some(2)),
            (b"\x01", b"\xc0", Code::Unimplemented, "unknown method", Some(1)),
            (b"\x07", b"\xc0", Code::Unknown, "error 7", Some(7)),
            (b"\x92\x00\xa4oops", b"\xc0", Code::Unknown, "oops", Some(0)),
            (b"\x92\x01\xa4oops", b"\xc0", Code::InvalidArgument, "oops", Some(1)),
            (b"\x92\xcd\x03\xe7\xa4oops", b"\xc0", Code::Unknown, "oops", Some(999)),
            (b"\x82\xa4code\x05\xa7message\xa4gone", b"\xc0", Code::NotFound, "gone", Some(5)),
            (b"\x81\xa7message\xa4gone", b"\xc0", Code::Unknown, "gone", None),
            (b"\xc2", b"\x05", Code::Unknown, "false", None),
            (b"\x93\x01\x02\xc4\x01x", b"\xc0", Code::Unknown, "[1, 2, <1 bytes>]", None),
        ];
        for (error, result, code, message, number) in cases {
            let status = read(error, result).unwrap();
            assert_eq!((status.code(), status.message(), status.wire_code()), (code, message, number));
            assert_eq!(status.details()[..], *error);
        }
        assert_eq!(read(b"\xc0", b"\x01"), None);
    }
}
