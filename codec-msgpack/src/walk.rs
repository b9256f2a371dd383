use rpc_core::{DecodeError, DecodeErrorKind};

use crate::read::{Item, NoItem, item};

/// How deep containers may nest in a payload, when it is read and when it is written.
pub(crate) const MAX_DEPTH: usize = 64;

/// Finds where a value ends, in as many steps as its bytes come in. It keeps its position, so that each byte is looked at
/// once however they come, and it keeps for each open container how many items are still to come, so that nesting costs
/// no stack of the thread.
///
/// ```text
///   94 00 01 a4 65 63 68 6f 91 …        open: [0, 0, 1]
///   └─ array of 4              │               │  │  └─ items to come in `91`
///                        at ───┘               │  └─ items to come in `94`
///                                              └─ whole values to come
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    /// Where the next item begins, from the value's start. It can lie behind the bytes that came.
    at: usize,
    /// Items to come, outermost first; the first entry counts the value itself. Empty when the value ended.
    open: Vec<usize>,
    max_depth: usize,
}

/// Why a value can not be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A byte that stands for nothing.
    Reserved,
    /// Nested deeper than the limit.
    TooDeep,
    /// A length or a count means at least so many bytes in all, which are more than the limit.
    TooLarge(u64),
}

impl Walker {
    /// A walker at the start of a value with at most `max_depth` containers in each other.
    pub(crate) fn new(max_depth: usize) -> Self {
        Self { at: 0, open: vec![1], max_depth }
    }

    /// Ready for the next value. It keeps its memory.
    pub(crate) fn restart(&mut self) {
        self.at = 0;
        self.open.clear();
        self.open.push(1);
    }

    /// Goes on in `bytes`, which begin where the value begins. Returns its length once all of it is there.
    ///
    /// # Errors
    /// When it is not a value, or its end lies behind `limit` bytes, which is told as soon as a length or a count says so.
    pub(crate) fn walk(&mut self, bytes: &[u8], limit: usize) -> Result<Option<usize>, Fault> {
        loop {
            while self.open.pop_if(|left| *left == 0).is_some() {}
            let depth = self.open.len();
            let Some(left) = self.open.last_mut() else { break };
            let Some(rest) = bytes.get(self.at..).filter(|rest| !rest.is_empty()) else { return Ok(None) };
            let (item, len) = match item(rest) {
                Ok(item) => item,
                Err(NoItem::Truncated) => return Ok(None),
                Err(NoItem::Reserved) => return Err(Fault::Reserved),
            };
            *left -= 1;
            let (contents, items) = match item {
                Item::Str(len) | Item::Bin(len) | Item::Ext(_, len) => (len, None),
                Item::Array(count) => (0, Some(count)),
                Item::Map(count) => (0, Some(count.saturating_mul(2))),
                _ => (0, None),
            };
            self.at = self.at.saturating_add(len).saturating_add(contents);
            // Each item takes a byte at least.
            let least = self.at.saturating_add(items.unwrap_or(0));
            if least > limit {
                return Err(Fault::TooLarge(u64::try_from(least).unwrap_or(u64::MAX)));
            }
            if let Some(items) = items {
                if depth > self.max_depth {
                    return Err(Fault::TooDeep);
                }
                self.open.push(items);
            }
        }
        Ok(Some(self.at).filter(|end| *end <= bytes.len()))
    }
}

/// The length of the value at the front of `bytes`, all of which must be there.
pub(crate) fn value_len(bytes: &[u8], max_depth: usize) -> Result<usize, DecodeError> {
    values_len(bytes, 1, max_depth)
}

/// The length of so many values at the front of `bytes`, all of which must be there.
pub(crate) fn values_len(bytes: &[u8], count: usize, max_depth: usize) -> Result<usize, DecodeError> {
    let mut walker = Walker { at: 0, open: vec![count], max_depth };
    match walker.walk(bytes, bytes.len()) {
        Ok(Some(len)) => Ok(len),
        Ok(None) | Err(Fault::TooLarge(_)) => Err(DecodeError::truncated()),
        Err(Fault::Reserved) => Err(NoItem::Reserved.into()),
        Err(Fault::TooDeep) => Err(too_deep(max_depth)),
    }
}

#[cold]
pub(crate) fn too_deep(max_depth: usize) -> DecodeError {
    DecodeError::new(DecodeErrorKind::Limit, format!("nested deeper than {max_depth} levels"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{seeded, values, written};

    fn walk(bytes: &[u8]) -> Result<Option<usize>, Fault> {
        Walker::new(MAX_DEPTH).walk(bytes, 1 << 20)
    }

    #[test]
    fn depth_is_counted_also_in_last_elements() {
        for (open, depth) in [(&b"\x91"[..], 64), (b"\x81\xa1a", 64), (b"\x92\xc0", 64)] {
            assert_eq!(walk(&[&open.repeat(depth)[..], b"\xc0"].concat()), Ok(Some(open.len() * depth + 1)));
            assert_eq!(walk(&[&open.repeat(depth + 1)[..], b"\xc0"].concat()), Err(Fault::TooDeep));
            assert_eq!(walk(&open.repeat(10_000)), Err(Fault::TooDeep));
        }
        assert_eq!(walk(&[&b"\x91".repeat(63)[..], b"\x90"].concat()), Ok(Some(64)));
        assert_eq!(walk(&[&b"\x91".repeat(64)[..], b"\x90"].concat()), Err(Fault::TooDeep));
    }

    /// C161: the claim is refused at once, not when the limit is reached.
    #[test]
    fn claims_beyond_the_limit_are_errors_at_once() {
        for claim in [
            &b"\xdd\xff\xff\xff\xff"[..],
            b"\xdf\xff\xff\xff\xff",
            b"\xdf\x00\x08\x00\x00",
            b"\xdb\xff\xff\xff\xf0",
            b"\xc6\xff\xff\xff\xff",
            b"\xc9\xff\xff\xff\xff\x01",
        ] {
            assert!(matches!(walk(claim), Err(Fault::TooLarge(end)) if end > 1 << 20), "{claim:02x?}");
            assert!(matches!(walk(&[b"\x91", claim].concat()), Err(Fault::TooLarge(_))), "{claim:02x?}");
        }
        assert_eq!(walk(b"\xda\xff\xff"), Ok(None));
    }

    #[test]
    fn a_value_may_be_as_large_as_the_limit() {
        let value = b"\xa4abcd";
        assert_eq!(Walker::new(1).walk(value, 5), Ok(Some(5)));
        assert_eq!(Walker::new(1).walk(&value[..1], 4), Err(Fault::TooLarge(5)));
    }

    proptest! {
        #![proptest_config(seeded(1000))]

        /// However the bytes come, the value ends where an independent reader says.
        #[test]
        fn values_end_where_rmpv_says(value in values(), more in prop::collection::vec(any::<u8>(), 0..8), step in 1usize..9) {
            let bytes = written(&value);
            let stream = [&bytes[..], &more].concat();
            prop_assert_eq!(walk(&stream), Ok(Some(bytes.len())));
            let mut walker = Walker::new(MAX_DEPTH);
            for end in (0..bytes.len()).step_by(step) {
                prop_assert_eq!(walker.walk(&stream[..end], 1 << 20), Ok(None));
            }
            prop_assert_eq!(walker.walk(&stream, 1 << 20), Ok(Some(bytes.len())));
        }

        /// What is no value to one is none to the other.
        #[test]
        fn random_bytes_are_values_to_both_or_neither(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            // rmpv takes c1 for nil.
            let bytes: Vec<u8> = bytes.into_iter().map(|byte| if byte == 0xc1 { 0xc0 } else { byte }).collect();
            let mut left = &bytes[..];
            let expected = rmpv::decode::read_value_ref(&mut left).ok().map(|_| bytes.len() - left.len());
            prop_assert_eq!(value_len(&bytes, 1024).ok(), expected);
        }
    }
}
