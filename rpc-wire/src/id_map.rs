/// Values by call id, for ids that are given out one after the other: a table that is indexed by the id's low bits, so that
/// finding a value costs one comparison. It grows when two ids that are in it meet in one place, or it is half full.
///
/// An id is `0..=u32::MAX`.
#[derive(Debug)]
pub struct IdMap<T> {
    /// A power of two of places.
    slots: Vec<Option<(u32, T)>>,
    len: usize,
}

impl<T> IdMap<T> {
    /// An empty map. It holds no memory.
    pub const fn new() -> Self {
        Self { slots: Vec::new(), len: 0 }
    }

    /// How many values are in it.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether an id can be put in without growing. A caller that gives out ids skips those that can not.
    pub fn has_room(&self, id: u32) -> bool {
        self.len * 2 < self.slots.len() && self.slot(id).is_some_and(Option::is_none)
    }

    /// Makes room, so that most ids can be put in without growing.
    pub fn reserve(&mut self) {
        if self.len * 2 >= self.slots.len() {
            self.grow();
        }
    }

    /// Puts a value in, and returns the one that was there under that id.
    pub fn insert(&mut self, id: u32, value: T) -> Option<T> {
        self.reserve();
        loop {
            match self.slot_mut(id) {
                Some(Some((found, old))) if *found == id => return Some(std::mem::replace(old, value)),
                Some(slot @ None) => {
                    *slot = Some((id, value));
                    self.len += 1;
                    return None;
                }
                _ => self.grow(),
            }
        }
    }

    /// The value of an id.
    pub fn get(&self, id: u32) -> Option<&T> {
        match self.slot(id) {
            Some(Some((found, value))) if *found == id => Some(value),
            _ => None,
        }
    }

    /// The value of an id, to change.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        match self.slot_mut(id) {
            Some(Some((found, value))) if *found == id => Some(value),
            _ => None,
        }
    }

    /// Takes the value of an id out.
    pub fn remove(&mut self, id: u32) -> Option<T> {
        let (_, value) = self.slot_mut(id)?.take_if(|(found, _)| *found == id)?;
        self.len -= 1;
        Some(value)
    }

    /// All values, in no order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        self.slots.iter_mut().flatten().map(|(id, value)| (*id, value))
    }

    /// Takes all values out, in no order.
    pub fn drain(&mut self) -> impl Iterator<Item = (u32, T)> + use<T> {
        self.len = 0;
        std::mem::take(&mut self.slots).into_iter().flatten()
    }

    fn slot(&self, id: u32) -> Option<&Option<(u32, T)>> {
        self.slots.get(self.place(id)?)
    }

    fn slot_mut(&mut self, id: u32) -> Option<&mut Option<(u32, T)>> {
        let place = self.place(id)?;
        self.slots.get_mut(place)
    }

    fn place(&self, id: u32) -> Option<usize> {
        Some(usize::try_from(id).ok()? & self.slots.len().checked_sub(1)?)
    }

    /// Doubles until every id has a place of its own.
    fn grow(&mut self) {
        let mut size = (self.slots.len() * 2).max(MIN_SLOTS);
        let old: Vec<(u32, T)> = std::mem::take(&mut self.slots).into_iter().flatten().collect();
        // Ids that agree in so many low bits that the table would be huge do not come from a counter. They are at most
        // `u32::MAX` apart, so the loop ends.
        while !distinct(&old, size) {
            size *= 2;
        }
        self.slots.resize_with(size, || None);
        for (id, value) in old {
            if let Some(slot) = self.slot_mut(id) {
                *slot = Some((id, value));
            }
        }
    }
}

impl<T> Default for IdMap<T> {
    fn default() -> Self {
        Self::new()
    }
}

const MIN_SLOTS: usize = 16;

fn distinct<T>(entries: &[(u32, T)], size: usize) -> bool {
    let mut places: Vec<usize> =
        entries.iter().map(|(id, _)| usize::try_from(*id).unwrap_or(usize::MAX) & (size - 1)).collect();
    places.sort_unstable();
    places.windows(2).all(|pair| pair.first() != pair.last())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// It is a map.
        #[test]
        fn agrees_with_a_hash_map(steps in prop::collection::vec((any::<bool>(), 0u32..200, any::<u8>()), 0..400)) {
            let (mut map, mut model) = (IdMap::new(), HashMap::new());
            for (put, id, value) in steps {
                if put {
                    prop_assert_eq!(map.insert(id, value), model.insert(id, value));
                } else {
                    prop_assert_eq!(map.remove(id), model.remove(&id));
                }
                prop_assert_eq!(map.len(), model.len());
                prop_assert_eq!(map.get(id), model.get(&id));
            }
            let mut all: Vec<_> = map.drain().collect();
            all.sort_unstable();
            let mut expected: Vec<_> = model.into_iter().collect();
            expected.sort_unstable();
            prop_assert_eq!(all, expected);
        }
    }

    #[test]
    fn a_counter_that_wraps_finds_its_places() {
        let mut map = IdMap::new();
        for id in (u32::MAX - 50..=u32::MAX).chain(0..50) {
            assert_eq!(map.insert(id, id), None);
        }
        assert_eq!(map.len(), 101);
        assert!((u32::MAX - 50..=u32::MAX).chain(0..50).all(|id| map.remove(id) == Some(id)));
    }
}
