//! Failures in a service's own terms, which stand in the header while the message is a success with an empty result.
//!
//! That is how Kitex writes them. volo writes an exception beside the same keys, so the keys come first when an answer is
//! read, whatever its message is. Source: `wire/thrift.md` §9.

use bytes::Bytes;
use rpc_core::Status;

use super::info::InfoWriter;
use super::keys::text;
use crate::FrameError;

/// What the keys of an answer say.
#[derive(Debug, Default)]
pub(super) struct Business<'a> {
    pub(super) code: &'a [u8],
    pub(super) message: &'a [u8],
    pub(super) extra: &'a [u8],
}

impl Business<'_> {
    /// The status that they mean. No number, 0 and what is no number say that there was no failure. The extras are a slice
    /// of `header`; they are meant to be a JSON object of texts, which nobody checks here.
    pub(super) fn status(&self, header: &Bytes) -> Option<Status> {
        let code = str::from_utf8(self.code).ok()?.parse::<i32>().ok().filter(|code| *code != 0)?;
        let message = String::from_utf8_lossy(self.message).into_owned();
        Some(Status::business(code, message).with_details(header.slice_ref(self.extra)))
    }
}

/// Appends the keys of a status.
///
/// # Errors
/// When the number is 0, when the details are no JSON object, and when they or the message are too long.
pub(super) fn put(code: i32, status: &Status, info: &mut InfoWriter<'_>) -> Result<(), FrameError> {
    if code == 0 {
        return Err(FrameError::Unsupported("a business error of number 0 says that there is none".into()));
    }
    info.text(b"", text::BUSINESS_CODE, code.to_string().as_bytes())?;
    info.text(b"", text::BUSINESS_MESSAGE, status.message().as_bytes())?;
    match status.details().trim_ascii() {
        [] => Ok(()),
        extra @ [b'{', .., b'}'] if str::from_utf8(extra).is_ok() => {
            info.text(b"", text::BUSINESS_EXTRA, extra)
        }
        _ => Err(FrameError::Unsupported("the details of a business error have to be a JSON object".into())),
    }
}
