use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Bytes that wait to be written: small pieces copied together, large ones chained as they are.
///
/// It implements [`Buf`], so that a writer can hand all of it to one vectored write.
#[derive(Debug, Default)]
pub struct WriteBuf {
    /// Full pieces, before `tail`.
    chunks: VecDeque<Bytes>,
    /// Where small pieces are copied to.
    tail: BytesMut,
    /// Bytes in `chunks`.
    chained: usize,
}

/// A place in a [`WriteBuf`] to which it can be cut back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    chunks: usize,
    chained: usize,
    tail: usize,
}

impl WriteBuf {
    /// From this size on a payload is chained instead of copied, in bytes. Copying 8 KiB takes well under a microsecond,
    /// less than a further element of a vectored write and the later free of the payload cost.
    pub const CHAIN_FROM: usize = 8 * 1024;

    /// An empty buffer. It holds no memory until something is written.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a copy.
    pub fn put_slice(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
    }

    /// Appends a payload: copied when it is small, chained when it is large.
    pub fn put_bytes(&mut self, bytes: &Bytes) {
        if bytes.len() < Self::CHAIN_FROM {
            self.tail.extend_from_slice(bytes);
        } else {
            self.seal();
            self.chained += bytes.len();
            self.chunks.push_back(bytes.clone());
        }
    }

    /// Where small pieces go: for encoders that write many. What is appended here counts as copied.
    pub fn tail_mut(&mut self) -> &mut BytesMut {
        &mut self.tail
    }

    /// How many bytes wait.
    pub fn len(&self) -> usize {
        self.chained + self.tail.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The present end, to cut back to.
    pub fn mark(&self) -> Mark {
        Mark { chunks: self.chunks.len(), chained: self.chained, tail: self.tail.len() }
    }

    /// Bytes appended since the mark.
    pub fn since(&self, mark: Mark) -> usize {
        self.len().saturating_sub(mark.chained + mark.tail)
    }

    /// Takes back what was appended since the mark. Nothing may have been read or moved away in between.
    pub fn rollback(&mut self, mark: Mark) {
        if self.chunks.len() > mark.chunks && mark.tail > 0 {
            // The tail of then was sealed into the first chunk after the mark.
            if let Some(sealed) = self.chunks.get(mark.chunks) {
                self.tail = BytesMut::from(sealed.get(..mark.tail).unwrap_or_default());
            }
        }
        self.chunks.truncate(mark.chunks);
        self.chained = mark.chained;
        self.tail.truncate(mark.tail);
    }

    /// Moves everything into `dst`, behind what is there. When `dst` is empty the two are swapped, which costs nothing and
    /// leaves `dst`'s memory here for the next round.
    pub fn move_into(&mut self, dst: &mut WriteBuf) {
        if dst.is_empty() {
            dst.chunks.clear();
            dst.tail.clear();
            std::mem::swap(self, dst);
        } else {
            self.seal();
            dst.seal();
            dst.chained += std::mem::take(&mut self.chained);
            dst.chunks.append(&mut self.chunks);
        }
    }

    /// Gives the memory of an empty buffer back.
    pub fn release(&mut self) {
        if self.is_empty() {
            *self = Self::default();
        }
    }

    /// Makes a chunk of the tail.
    fn seal(&mut self) {
        if !self.tail.is_empty() {
            self.chained += self.tail.len();
            self.chunks.push_back(self.tail.split().freeze());
        }
    }
}

impl Buf for WriteBuf {
    fn remaining(&self) -> usize {
        self.len()
    }

    fn chunk(&self) -> &[u8] {
        self.chunks.front().map_or(&self.tail[..], |chunk| &chunk[..])
    }

    fn advance(&mut self, mut count: usize) {
        while let Some(front) = self.chunks.front_mut() {
            if count < front.len() {
                front.advance(count);
                self.chained -= count;
                return;
            }
            count -= front.len();
            self.chained -= front.len();
            self.chunks.pop_front();
        }
        if count == self.tail.len() {
            self.tail.clear(); // keeps the memory, where `advance` would give up its front
        } else {
            self.tail.advance(count);
        }
    }

    fn chunks_vectored<'a>(&'a self, dst: &mut [IoSlice<'a>]) -> usize {
        let pieces = self.chunks.iter().map(|chunk| &chunk[..]).chain([&self.tail[..]]);
        let mut count = 0;
        for (slot, piece) in dst.iter_mut().zip(pieces.filter(|piece| !piece.is_empty())) {
            *slot = IoSlice::new(piece);
            count += 1;
        }
        count
    }
}

/// Appends numbers in network order.
impl WriteBuf {
    /// One byte.
    pub fn put_u8(&mut self, value: u8) {
        self.tail.put_u8(value);
    }

    /// Two bytes.
    pub fn put_u16(&mut self, value: u16) {
        self.tail.put_u16(value);
    }

    /// Four bytes.
    pub fn put_u32(&mut self, value: u32) {
        self.tail.put_u32(value);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(mut buf: WriteBuf) -> Vec<u8> {
        buf.copy_to_bytes(buf.remaining()).to_vec()
    }

    #[test]
    fn rollback_over_a_chained_payload_restores_the_tail() {
        let mut buf = WriteBuf::new();
        buf.put_slice(b"kept");
        let mark = buf.mark();
        buf.put_slice(b"header");
        buf.put_bytes(&Bytes::from(vec![7; WriteBuf::CHAIN_FROM]));
        buf.put_slice(b"more");
        assert_eq!(buf.since(mark), 10 + WriteBuf::CHAIN_FROM);
        buf.rollback(mark);
        assert_eq!((buf.len(), buf.since(mark)), (4, 0));
        buf.put_slice(b"!");
        assert_eq!(all(buf), b"kept!");
    }

    proptest! {
        /// Whatever is put, moved and read in whatever pieces, the bytes come out in order.
        #[test]
        fn bytes_come_out_in_order(
            pieces in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), any::<bool>(), any::<bool>()), 0..20),
            reads in prop::collection::vec(1usize..9000, 1..20),
        ) {
            let (mut source, mut sink, mut expected) = (WriteBuf::new(), WriteBuf::new(), Vec::new());
            for (piece, large, flush) in pieces {
                let piece = if large { piece.repeat(1 + WriteBuf::CHAIN_FROM / piece.len().max(1)) } else { piece };
                expected.extend_from_slice(&piece);
                source.put_bytes(&Bytes::from(piece));
                if flush {
                    source.move_into(&mut sink);
                }
            }
            source.move_into(&mut sink);
            prop_assert!(source.is_empty());
            prop_assert_eq!(sink.remaining(), expected.len());
            let mut got = Vec::new();
            for size in reads.iter().cycle() {
                let mut slices = [IoSlice::new(&[]); 4];
                let filled = sink.chunks_vectored(&mut slices);
                let seen: Vec<u8> = slices.iter().take(filled).flat_map(|slice| slice.to_vec()).collect();
                let take = (*size).min(seen.len());
                if take == 0 {
                    break;
                }
                got.extend_from_slice(&seen[..take]);
                sink.advance(take);
            }
            prop_assert_eq!(got, expected);
        }
    }
}
