use std::cell::Cell;

use bytes::BytesMut;

/// A buffer that grew larger than this is not kept, in bytes: twice what one read asks for.
const LARGEST_KEPT: usize = 128 * 1024;

thread_local! {
    /// What is left of the buffer that the thread read into last. Answers that were cut off its front are other handles to
    /// the same memory, so the rest can be read into while callers still hold them; the memory is used from its start
    /// again once they are gone. So a thread needs one buffer for all its connections, and answers cost no allocation.
    static SPARE: Cell<BytesMut> = Cell::default();
}

/// The bytes that a connection read and its protocol did not take. It holds no memory between reads.
#[derive(Debug, Default)]
pub(crate) struct ReadBuffer {
    bytes: BytesMut,
    grown: bool,
}

impl ReadBuffer {
    /// The buffer, to read into.
    pub(crate) fn fill(&mut self) -> &mut BytesMut {
        if self.bytes.capacity() == 0 {
            self.bytes = SPARE.take();
        }
        &mut self.bytes
    }

    /// The buffer, to take messages from.
    pub(crate) fn drain(&mut self) -> &mut BytesMut {
        // Only now is its whole size to be seen: afterwards its capacity is what the messages left.
        self.grown |= self.bytes.capacity() > LARGEST_KEPT;
        &mut self.bytes
    }

    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes
    }

    /// Gives the memory of an empty buffer back.
    pub(crate) fn release(&mut self) {
        if self.bytes.is_empty() && self.bytes.capacity() > 0 {
            let bytes = std::mem::take(&mut self.bytes);
            if !std::mem::take(&mut self.grown) {
                SPARE.set(bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_buffer_serves_the_next_connection_while_an_answer_is_held() {
        let (mut first, mut second) = (ReadBuffer::default(), ReadBuffer::default());
        first.fill().reserve(64 * 1024);
        first.fill().extend_from_slice(b"answer");
        let answer = first.drain().split().freeze();
        first.release();
        assert_eq!(first.bytes.capacity(), 0);
        second.fill().extend_from_slice(b"other");
        assert_eq!(second.unread().as_ptr(), answer.as_ptr().wrapping_add(answer.len()));
        second.release(); // not empty: it keeps its bytes
        assert_eq!((second.unread(), &answer[..]), (&b"other"[..], &b"answer"[..]));
    }

    #[test]
    fn a_buffer_that_grew_is_not_kept() {
        let mut buffer = ReadBuffer::default();
        buffer.fill().extend_from_slice(&vec![0; LARGEST_KEPT + 1]);
        buffer.drain().clear();
        buffer.release();
        assert_eq!(buffer.fill().capacity(), 0);
    }
}
