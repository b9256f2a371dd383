use crate::DEPTH_LIMIT;
use crate::nesting::TooDeep;

/// The ids of the fields that were read or written last, in the struct at hand and in those around it. How many there can be
/// is bounded by the depth, which is counted here too.
#[derive(Clone, Debug)]
pub(super) struct FieldIds {
    last: i16,
    depth: usize,
    /// By depth: the id in the struct around the one that begins there. A container's place is unused.
    outer: [i16; DEPTH_LIMIT],
}

impl FieldIds {
    pub(super) fn new() -> Self {
        Self { last: 0, depth: 0, outer: [0; DEPTH_LIMIT] }
    }

    #[inline]
    pub(super) fn enter_struct(&mut self) -> Result<(), TooDeep> {
        let place = self.outer.get_mut(self.depth).ok_or(TooDeep)?;
        *place = std::mem::take(&mut self.last);
        self.depth += 1;
        Ok(())
    }

    #[inline]
    pub(super) fn leave_struct(&mut self) {
        self.leave_container();
        self.last = self.outer.get(self.depth).copied().unwrap_or_default();
    }

    #[inline]
    pub(super) fn enter_container(&mut self) -> Result<(), TooDeep> {
        if self.depth == DEPTH_LIMIT {
            return Err(TooDeep);
        }
        self.depth += 1;
        Ok(())
    }

    #[inline]
    pub(super) fn leave_container(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// The last id; 0 before the first field.
    #[inline]
    pub(super) fn last(&self) -> i16 {
        self.last
    }

    #[inline]
    pub(super) fn set_last(&mut self, id: i16) {
        self.last = id;
    }
}
