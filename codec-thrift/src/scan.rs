use std::fmt;

use rpc_core::{DecodeError, DecodeErrorKind};
use rpc_wire::FrameError;

use crate::nesting::TooDeep;
use crate::source::unknown_type;
use crate::{DEPTH_LIMIT, TType};

/// Where a look for the end of an unframed message stopped: half a kilobyte, whatever the message holds.
///
/// What is open is kept here and not on the call stack, so that it can be gone on with when more bytes have come. Of bytes
/// that came already, the scan reads at most those of one number again.
#[derive(Clone)]
pub struct Scan {
    /// How many bytes the message is known to have; more than have come, where a text's length ran ahead of it.
    at: usize,
    /// The type of the value that follows a field's header.
    value: Option<TType>,
    depth: usize,
    open: [Open; DEPTH_LIMIT],
}

#[derive(Clone, Copy, Debug)]
enum Open {
    Struct,
    /// What is left of a container. The types of a map's keys and values take turns.
    Elements {
        next: TType,
        other: TType,
        left: u32,
    },
}

/// What the pieces of a message look like in a protocol. Each method looks at the front of `src` and returns `None` while the
/// piece is not whole, else what it says and how many bytes it takes.
///
/// # Errors
/// When it is no such piece.
pub(crate) trait Grammar {
    /// The message's header. It may take more bytes than are there.
    fn header(&self, src: &[u8]) -> Result<Option<usize>, DecodeError>;
    fn field(&self, src: &[u8]) -> Result<Option<(Field, usize)>, DecodeError>;
    /// What stands before a list's or a set's elements: their type and number.
    fn list(&self, src: &[u8]) -> Result<Option<(TType, u32, usize)>, DecodeError>;
    /// What stands before a map's pairs: the keys' type, the values' type and the number of pairs.
    fn map(&self, src: &[u8]) -> Result<Option<(TType, TType, u32, usize)>, DecodeError>;
    /// A value without parts. It may take more bytes than are there.
    fn scalar(&self, ttype: TType, src: &[u8]) -> Result<Option<usize>, DecodeError>;
    /// The fewest bytes that an element of the type takes.
    fn least(&self, ttype: TType) -> usize;
    /// How many bytes each element of the type takes, where it is the same for all.
    fn width(&self, ttype: TType) -> Option<usize>;
}

/// What a field's header says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Field {
    /// There is none: the struct ends.
    Stop,
    /// A value of this type follows.
    Of(TType),
    /// The header holds the value.
    Held,
}

impl Default for Scan {
    fn default() -> Self {
        Self { at: 0, value: None, depth: 0, open: [Open::Struct; DEPTH_LIMIT] }
    }
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.open.get(..self.depth);
        f.debug_struct("Scan").field("at", &self.at).field("value", &self.value).field("open", &open).finish()
    }
}

impl Scan {
    /// Goes on to the end of the message, or of what has come of it.
    pub(crate) fn advance(
        &mut self,
        grammar: &impl Grammar,
        src: &[u8],
        limit: usize,
    ) -> Result<Option<usize>, FrameError> {
        loop {
            let Some(rest) = src.get(self.at..) else { return Ok(None) };
            let piece = self.next_piece(grammar, rest).map_err(|error| {
                FrameError::malformed(format!("unframed message, at byte {}: {error}", self.at))
            })?;
            let Some(Piece { len, more }) = piece else { return Ok(None) };
            self.at = self.at.saturating_add(len);
            let least = self.at.saturating_add(more);
            if least > limit {
                return Err(FrameError::too_large(u64::try_from(least).unwrap_or(u64::MAX), limit));
            }
            if self.depth == 0 {
                return Ok(Some(self.at));
            }
        }
    }

    /// Takes the next piece, and notes what follows it. The step from one element of a container to the next has no bytes.
    fn next_piece(&mut self, grammar: &impl Grammar, rest: &[u8]) -> Result<Option<Piece>, DecodeError> {
        if let Some(ttype) = self.value {
            let Some((piece, open)) = value(grammar, ttype, rest)? else { return Ok(None) };
            self.value = None;
            if let Some(open) = open {
                self.open(open)?;
            }
            return Ok(Some(piece));
        }
        let innermost = self.depth.checked_sub(1).and_then(|place| self.open.get_mut(place));
        match innermost {
            None => {
                let Some(len) = grammar.header(rest)? else { return Ok(None) };
                self.open(Open::Struct)?;
                Ok(Some(Piece::of(len)))
            }
            Some(Open::Struct) => {
                let Some((field, len)) = grammar.field(rest)? else { return Ok(None) };
                match field {
                    Field::Stop => self.depth -= 1,
                    Field::Of(ttype) => self.value = Some(ttype),
                    Field::Held => {}
                }
                Ok(Some(Piece::of(len)))
            }
            Some(Open::Elements { next, other, left }) => {
                let width = grammar.width(*next).filter(|_| next == other);
                match (left.checked_sub(1), width) {
                    (None, _) => self.depth -= 1,
                    (Some(_), Some(width)) => {
                        let len = width.saturating_mul(in_memory(*left));
                        self.depth -= 1;
                        return Ok(Some(Piece::of(len)));
                    }
                    (Some(after), None) => {
                        *left = after;
                        self.value = Some(*next);
                        std::mem::swap(next, other);
                    }
                }
                Ok(Some(Piece::of(0)))
            }
        }
    }

    fn open(&mut self, open: Open) -> Result<(), TooDeep> {
        *self.open.get_mut(self.depth).ok_or(TooDeep)? = open;
        self.depth += 1;
        Ok(())
    }
}

/// What is known of the bytes of a message from a piece on.
struct Piece {
    /// How many are the piece's; it may be more than have come.
    len: usize,
    /// How many there must be behind it at least.
    more: usize,
}

impl Piece {
    fn of(len: usize) -> Self {
        Self { len, more: 0 }
    }
}

/// A value without parts, or the beginning of one that has some, with what is open then.
fn value(
    grammar: &impl Grammar,
    ttype: TType,
    rest: &[u8],
) -> Result<Option<(Piece, Option<Open>)>, DecodeError> {
    Ok(match ttype {
        TType::Stop => return Err(unknown_type(ttype.number())),
        TType::Struct => Some((Piece { len: 0, more: 1 }, Some(Open::Struct))),
        TType::List | TType::Set => grammar.list(rest)?.map(|(element, left, len)| {
            let more = in_memory(left).saturating_mul(grammar.least(element));
            (Piece { len, more }, Some(Open::Elements { next: element, other: element, left }))
        }),
        TType::Map => match grammar.map(rest)? {
            None => None,
            Some((key, value, pairs, len)) => {
                let more = in_memory(pairs).saturating_mul(grammar.least(key) + grammar.least(value));
                let left = pairs.checked_mul(2).ok_or_else(|| too_many(pairs))?;
                Some((Piece { len, more }, Some(Open::Elements { next: key, other: value, left })))
            }
        },
        scalar => grammar.scalar(scalar, rest)?.map(|len| (Piece::of(len), None)),
    })
}

fn in_memory(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cold]
fn too_many(pairs: u32) -> DecodeError {
    DecodeError::new(DecodeErrorKind::Limit, format!("a map of {pairs} pairs"))
}
