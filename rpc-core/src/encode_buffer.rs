//! Where payloads are encoded: one buffer a thread, from which each message takes its slice, so that a message costs no
//! allocation of its own.

use std::cell::RefCell;

use bytes::{Bytes, BytesMut};

use crate::EncodeError;

/// What a thread reserves at a time, in bytes: thirty messages of 1 KiB share an allocation. Each slice that lives on,
/// as in a call that waits for its answer, keeps the whole chunk alive.
const CHUNK: usize = 32 * 1024;

thread_local! {
    static BUFFER: RefCell<BytesMut> = RefCell::new(BytesMut::new());
}

/// Runs `encode` on this thread's buffer and returns what it wrote. A failure leaves nothing behind.
pub(crate) fn with_buffer(
    encode: impl FnOnce(&mut BytesMut) -> Result<(), EncodeError>,
) -> Result<Bytes, EncodeError> {
    // An encoder that itself encodes through here would find the buffer borrowed; it gets one of its own.
    BUFFER.with(|shared| match shared.try_borrow_mut() {
        Ok(mut buffer) => run(&mut buffer, encode),
        Err(_) => run(&mut BytesMut::new(), encode),
    })
}

fn run(
    buffer: &mut BytesMut,
    encode: impl FnOnce(&mut BytesMut) -> Result<(), EncodeError>,
) -> Result<Bytes, EncodeError> {
    if buffer.capacity() < CHUNK / 16 {
        // Taken back from the messages cut off earlier if they are all gone, else allocated.
        buffer.reserve(CHUNK);
    }
    // A panicking encoder must not leave half a message for the next.
    buffer.clear();
    encode(buffer)?;
    let message = buffer.split().freeze();
    if buffer.capacity() > 2 * CHUNK {
        // A huge message grew the buffer: do not keep the rest of its memory alive.
        *buffer = BytesMut::new();
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_nothing_for_the_next() {
        let failed = with_buffer(|buffer| {
            buffer.extend_from_slice(b"half");
            Err(EncodeError::new("stop"))
        });
        assert!(failed.is_err());
        let next = with_buffer(|buffer| {
            buffer.extend_from_slice(b"whole");
            Ok(())
        });
        assert_eq!(next.unwrap(), "whole");
    }

    #[test]
    fn an_encoder_may_encode() {
        let outer = with_buffer(|outer| {
            let inner = with_buffer(|inner| {
                inner.extend_from_slice(b"in");
                Ok(())
            })?;
            outer.extend_from_slice(&inner);
            Ok(())
        });
        assert_eq!(outer.unwrap(), "in");
    }
}
