use bytes::{Buf, BufMut, BytesMut};

use super::packet::patch;
use crate::FrameError;

/// One thing that a header says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    Text(&'a [u8], &'a [u8]),
    Number(u16, &'a [u8]),
    /// The access token, which has a block of its own.
    Token(&'a [u8]),
}

/// Goes through a header: two bytes of which only the second matters, then blocks.
///
/// ```text
///   protocol id │ number of transforms │ 01 count (key, value)…   texts by text
///                                      │ 10 count (key, value)…   texts by number
///                                      │ 11 token
///                                      │ 00                       padding, anywhere
/// ```
///
/// Texts and keys that are texts have two bytes of length. The protocol id says what the payload is, and is 0 whatever it
/// is: nobody believes it.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    rest: &'a [u8],
    block: Block,
    /// Pairs of the block that are still to come.
    left: u16,
    seen: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Texts = 0x01,
    Numbers = 0x10,
    Token = 0x11,
}

/// How many pairs a header may have. Real ones have some ten; a header that is full of the shortest would have 65,000, each
/// to be compared with the others.
pub(super) const MAX_PAIRS: usize = 1024;

impl<'a> Entries<'a> {
    /// # Errors
    /// When the payload is transformed: no deployed peer does that, though docs name numbers for zlib and snappy.
    pub(super) fn of(header: &'a [u8]) -> Result<Self, FrameError> {
        match header {
            [_, 0, rest @ ..] => Ok(Self { rest, block: Block::Texts, left: 0, seen: 0 }),
            [_, transforms, ..] => {
                Err(FrameError::malformed(format!("ttheader: {transforms} transforms of the payload")))
            }
            _ => Err(short()),
        }
    }

    /// The texts of a mesh's header, which begins with a magic number and a size.
    ///
    /// # Errors
    /// When their count can not be right.
    pub(super) fn of_mesh(header: &'a [u8]) -> Result<Self, FrameError> {
        let rest = header.get(4..).ok_or_else(short)?;
        let mut entries = Self { rest, block: Block::Texts, left: 0, seen: 0 };
        entries.begin(Block::Texts)?;
        Ok(entries)
    }

    fn u16(&mut self) -> Result<u16, FrameError> {
        self.rest.try_get_u16().map_err(|_| short())
    }

    #[inline]
    fn bytes(&mut self) -> Result<&'a [u8], FrameError> {
        let len = usize::from(self.u16()?);
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or_else(short)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// Reads the start of a block of pairs.
    fn begin(&mut self, block: Block) -> Result<(), FrameError> {
        (self.block, self.left) = (block, self.u16()?);
        self.seen += usize::from(self.left);
        // A pair of either kind takes four bytes at least.
        if usize::from(self.left) * 4 > self.rest.len() {
            return Err(short());
        }
        if self.seen > MAX_PAIRS {
            return Err(FrameError::malformed(format!("ttheader: more than {MAX_PAIRS} pairs")));
        }
        Ok(())
    }

    #[inline]
    fn step(&mut self) -> Result<Option<Entry<'a>>, FrameError> {
        while self.left == 0 {
            match self.rest.split_first() {
                None => return Ok(None),
                Some((id, rest)) => {
                    self.rest = rest;
                    match id {
                        0 => {}
                        0x01 => self.begin(Block::Texts)?,
                        0x10 => self.begin(Block::Numbers)?,
                        0x11 => return Ok(Some(Entry::Token(self.bytes()?))),
                        other => {
                            return Err(FrameError::malformed(format!(
                                "ttheader: no such block: {other:02x}"
                            )));
                        }
                    }
                }
            }
        }
        self.left -= 1;
        let entry = match self.block {
            Block::Numbers => Entry::Number(self.u16()?, self.bytes()?),
            _ => Entry::Text(self.bytes()?, self.bytes()?),
        };
        Ok(Some(entry))
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, FrameError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}

#[cold]
fn short() -> FrameError {
    FrameError::malformed("ttheader: a header that is cut short")
}

/// Appends what a header says, block by block. [`finish`](Self::finish) ends it.
#[derive(Debug)]
pub(super) struct InfoWriter<'a> {
    dst: &'a mut BytesMut,
    /// The block of pairs that was begun last, where its count goes, and the count.
    open: Option<(Block, usize)>,
    count: u16,
    pairs: usize,
}

impl<'a> InfoWriter<'a> {
    /// Begins a header.
    pub(super) fn begin(dst: &'a mut BytesMut) -> Self {
        dst.put_slice(&[0, 0]);
        Self { dst, open: None, count: 0, pairs: 0 }
    }

    /// Ends the header.
    pub(super) fn finish(mut self) {
        self.close();
    }

    /// Writes how many pairs the block has, now that it is known.
    #[inline]
    fn close(&mut self) {
        if let Some((_, at)) = self.open.take() {
            patch(self.dst, at, self.count.to_be_bytes());
        }
    }

    /// Appends the access token.
    pub(super) fn token(&mut self, token: &[u8]) -> Result<(), FrameError> {
        self.close();
        self.dst.put_u8(Block::Token as u8);
        self.bytes(token)
    }

    /// Appends a pair whose key is a text, given in two parts.
    #[inline]
    pub(super) fn text(&mut self, prefix: &[u8], key: &[u8], value: &[u8]) -> Result<(), FrameError> {
        self.count(Block::Texts)?;
        self.dst.put_u16(counted(prefix.len() + key.len())?);
        self.dst.put_slice(prefix);
        self.dst.put_slice(key);
        self.bytes(value)
    }

    /// Appends a pair whose key is a number.
    #[inline]
    pub(super) fn number(&mut self, key: u16, value: &[u8]) -> Result<(), FrameError> {
        self.count(Block::Numbers)?;
        self.dst.put_u32(u32::from(key) << 16 | u32::from(counted(value.len())?));
        self.dst.put_slice(value);
        Ok(())
    }

    /// Appends a pair whose key is a number, and its value too.
    #[inline]
    pub(super) fn decimal(&mut self, key: u16, value: u64) -> Result<(), FrameError> {
        self.number(key, Digits::of(value).as_bytes())
    }

    /// Counts a pair in its block, which is begun where another one is open.
    #[inline]
    fn count(&mut self, block: Block) -> Result<(), FrameError> {
        self.pairs += 1;
        if self.pairs > MAX_PAIRS {
            return Err(too_many());
        }
        if self.open.is_none_or(|(open, _)| open != block) {
            self.close();
            self.dst.put_slice(&[block as u8, 0, 0]);
            (self.open, self.count) = (Some((block, self.dst.len() - 2)), 0);
        }
        self.count += 1; // no more than `MAX_PAIRS`
        Ok(())
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), FrameError> {
        self.dst.put_u16(counted(bytes.len())?);
        self.dst.put_slice(bytes);
        Ok(())
    }
}

/// The length of a key or a value, as it is written.
#[inline]
fn counted(len: usize) -> Result<u16, FrameError> {
    u16::try_from(len).map_err(|_| too_long(len))
}

#[cold]
fn too_many() -> FrameError {
    FrameError::Unsupported(format!("more than {MAX_PAIRS} pairs in a ttheader").into())
}

#[cold]
fn too_long(len: usize) -> FrameError {
    FrameError::Unsupported(format!("{len} bytes in a key or value: ttheader has room for 65,535").into())
}

/// A number's decimal digits. Every call has two numbers in its header, and the standard library's formatting of them took a
/// twentieth of it.
struct Digits {
    digits: [u8; Self::MOST],
    begin: usize,
}

impl Digits {
    /// Those of 2^64 - 1.
    const MOST: usize = 20;

    #[inline]
    fn of(mut value: u64) -> Self {
        let mut this = Self { digits: [b'0'; Self::MOST], begin: Self::MOST };
        for (at, digit) in this.digits.iter_mut().enumerate().rev() {
            let [last, ..] = (value % 10).to_le_bytes();
            *digit = b'0' + last;
            this.begin = at;
            value /= 10;
            if value == 0 {
                break;
            }
        }
        this
    }

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        self.digits.get(self.begin..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_standard_library() {
        for value in [0, 1, 9, 10, 99, 100, 1234, 5000, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            assert_eq!(Digits::of(value).as_bytes(), value.to_string().as_bytes());
        }
    }
}
