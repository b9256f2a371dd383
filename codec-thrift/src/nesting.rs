use rpc_core::{DecodeError, DecodeErrorKind, EncodeError};

use crate::DEPTH_LIMIT;

/// How deep in structs and containers a reader or a writer is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Depth(usize);

impl Depth {
    #[inline]
    pub(crate) fn enter(&mut self) -> Result<(), TooDeep> {
        if self.0 == DEPTH_LIMIT {
            return Err(TooDeep);
        }
        self.0 += 1;
        Ok(())
    }

    #[inline]
    pub(crate) fn leave(&mut self) {
        self.0 = self.0.saturating_sub(1);
    }
}

/// The next struct or container would be one level too deep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooDeep;

/// What errors say of it.
pub(crate) const TOO_DEEP: &str = "nested deeper than 64 levels";

impl From<TooDeep> for DecodeError {
    #[cold]
    fn from(_: TooDeep) -> Self {
        Self::new(DecodeErrorKind::Limit, TOO_DEEP)
    }
}

impl From<TooDeep> for EncodeError {
    #[cold]
    fn from(_: TooDeep) -> Self {
        Self::new(TOO_DEEP)
    }
}
