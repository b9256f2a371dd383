use std::time::{Duration, Instant};

use bytes::Bytes;
use rpc_core::{Metadata, Name, RequestHead, ResponseHead, Status};

use super::TtHeaderConfig;
use super::business::{self, Business};
use super::info::{Entries, Entry, InfoWriter};
use super::keys::{number, text};
use super::metadata::{self, Pairs};
use super::packet::Packet;
use crate::{FrameError, Kind};

/// What a header says of an answer.
#[derive(Debug, Default)]
pub(super) struct AnswerHeading<'a> {
    pub(super) failure: Option<Status>,
    pub(super) metadata: Metadata,
    /// The peer takes no more calls on the connection.
    pub(super) closing: bool,
    pub(super) checksum: Option<&'a [u8]>,
}

/// Reads what a header says of a request into the request's head, and returns what it says of the payload's checksum. The
/// time that the caller gives the call counts from `now`. A service that the message names itself stays.
///
/// # Errors
/// When the header is not well formed.
pub(super) fn read_request<'a>(
    packet: &'a Packet,
    head: &mut RequestHead,
    now: Option<Instant>,
) -> Result<Option<&'a [u8]>, FrameError> {
    collect(packet.whole(), Entries::of(packet.header())?, head, now)
}

/// Reads the texts that a mesh put before a message: the two bytes of their size, before those the magic number.
///
/// # Errors
/// When they are not well formed.
pub(crate) fn read_mesh(header: &Bytes, head: &mut RequestHead) -> Result<(), FrameError> {
    collect(header, Entries::of_mesh(header)?, head, None).map(drop)
}

/// `of` is what the entries are slices of.
fn collect<'a>(
    of: &'a Bytes,
    entries: Entries<'a>,
    head: &mut RequestHead,
    now: Option<Instant>,
) -> Result<Option<&'a [u8]>, FrameError> {
    let (mut pairs, mut checksum, mut service, mut left) = (Pairs::of(of), None, None, None);
    for entry in entries {
        match entry? {
            Entry::Text(text::SERVICE, name) => service = Some(name),
            Entry::Text(text::CHECKSUM, said) => checksum = Some(said),
            Entry::Text(key, value) => pairs.request(key, value),
            Entry::Token(token) => pairs.token(token),
            Entry::Number(number::TIMEOUT, millis) => left = timeout(millis),
            Entry::Number(..) => {}
        }
    }
    if let (Some(name), true) = (service, head.service.is_empty()) {
        head.service = Name::from_bytes(of.slice_ref(name));
        head.service_is_advice = true;
    }
    head.deadline = left.zip(now).and_then(|(left, now)| now.checked_add(left));
    head.metadata = pairs.into_metadata();
    Ok(checksum)
}

impl<'a> AnswerHeading<'a> {
    /// # Errors
    /// When the header is not well formed.
    pub(super) fn read(packet: &'a Packet) -> Result<Self, FrameError> {
        let (mut heading, mut pairs, mut business) =
            (Self::default(), Pairs::of(packet.whole()), Business::default());
        for entry in Entries::of(packet.header())? {
            match entry? {
                Entry::Text(text::CLOSING, value) => heading.closing = !value.is_empty(),
                Entry::Text(text::CHECKSUM, said) => heading.checksum = Some(said),
                Entry::Text(text::BUSINESS_CODE, value) => business.code = value,
                Entry::Text(text::BUSINESS_MESSAGE, value) => business.message = value,
                Entry::Text(text::BUSINESS_EXTRA, value) => business.extra = value,
                Entry::Text(key, value) => pairs.answer(key, value),
                Entry::Token(_) | Entry::Number(..) => {}
            }
        }
        heading.failure = business.status(packet.whole());
        heading.metadata = pairs.into_metadata();
        Ok(heading)
    }
}

/// A positive number of milliseconds. What is none says nothing, as in Kitex, nor does one beyond seven weeks.
fn timeout(millis: &[u8]) -> Option<Duration> {
    let millis = str::from_utf8(millis).ok()?.parse::<u32>().ok().filter(|millis| *millis > 0)?;
    Some(Duration::from_millis(millis.into()))
}

/// Appends what a header says of a request.
///
/// # Errors
/// When something has no representation.
pub(super) fn put_request(
    head: &RequestHead,
    kind: Kind,
    config: &TtHeaderConfig,
    remaining: Option<Duration>,
    checksum: Option<&str>,
    info: &mut InfoWriter<'_>,
) -> Result<(), FrameError> {
    metadata::put_token(&head.metadata, info)?;
    let service = without_package(&head.service);
    if !service.is_empty() {
        info.text(b"", text::SERVICE, service)?;
    }
    metadata::put_request(&head.metadata, info)?;
    put_checksum(checksum, info)?;
    if let Some(caller) = &config.caller {
        info.number(number::CALLER, caller.as_bytes())?;
    }
    if let Some(callee) = &config.callee {
        info.number(number::CALLEE, callee.as_bytes())?;
    }
    info.number(number::METHOD, head.method.as_bytes())?;
    if let Some(remaining) = remaining {
        info.decimal(number::TIMEOUT, millis(remaining))?;
    }
    put_kind(kind, info)
}

/// Appends what a header says of an answer. A business error is told here alone.
///
/// # Errors
/// When something has no representation.
pub(super) fn put_answer(
    head: &ResponseHead,
    kind: Kind,
    config: &TtHeaderConfig,
    closing: bool,
    checksum: Option<&str>,
    info: &mut InfoWriter<'_>,
) -> Result<(), FrameError> {
    if let Err(status) = &head.status
        && let Some(code) = status.business_code()
    {
        business::put(code, status, info)?;
    }
    if closing {
        info.text(b"", text::CLOSING, b"1")?;
    }
    metadata::put_answer(&head.metadata, config.backward_keys, info)?;
    put_checksum(checksum, info)?;
    put_kind(kind, info)
}

fn put_checksum(checksum: Option<&str>, info: &mut InfoWriter<'_>) -> Result<(), FrameError> {
    match checksum {
        Some(checksum) => info.text(b"", text::CHECKSUM, checksum.as_bytes()),
        None => Ok(()),
    }
}

fn put_kind(kind: Kind, info: &mut InfoWriter<'_>) -> Result<(), FrameError> {
    info.decimal(number::MESSAGE_KIND, kind as u64)
}

/// Kitex's and volo's servers know a service by its name alone.
fn without_package(service: &Name) -> &[u8] {
    service.as_bytes().rsplit(|byte| *byte == b'.').next().unwrap_or_default()
}

/// Rounded up, so that the server does not give up first, and at least 1, since 0 says that there is no limit.
fn millis(remaining: Duration) -> u64 {
    let begun = u64::from(!remaining.subsec_nanos().is_multiple_of(1_000_000));
    let millis = remaining.as_secs().saturating_mul(1000).saturating_add(remaining.subsec_millis().into());
    millis.saturating_add(begun).max(1)
}
