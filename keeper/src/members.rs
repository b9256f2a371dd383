use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::ring::{Ring, mix};

/// The members of a cluster, by name, each with the transport to it. Clones are the same: whoever learns of changes keeps one
/// and calls [`set`](Self::set), while a [`Keeper`](crate::Keeper) has another.
pub struct Members<T>(Arc<Shared<T>>);

struct Shared<T> {
    now: RwLock<Arc<Snapshot<T>>>,
    random: AtomicU64,
}

/// The members at a moment: a call sees one of these from its begin to its end.
pub(crate) struct Snapshot<T> {
    members: Vec<(String, T)>,
    ring: Ring,
}

impl<T> Members<T> {
    /// The members, each with a name of its own, such as its address, and the transport to it.
    pub fn new(members: impl IntoIterator<Item = (String, T)>) -> Self {
        let seed = RandomState::new().build_hasher().finish();
        let now = RwLock::new(Arc::new(Snapshot::new(members)));
        Self(Arc::new(Shared { now, random: AtomicU64::new(seed) }))
    }

    /// Replaces them all. Calls that are on their way stay where they are. A member that stays should come with a clone of the
    /// transport that it had, so that its connections stay; where it is on the ring depends on its name alone. Of two with
    /// one name the last counts.
    pub fn set(&self, members: impl IntoIterator<Item = (String, T)>) {
        let next = Arc::new(Snapshot::new(members));
        let mut now = self.0.now.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *now, next);
        drop(now);
        drop(before); // which may close connections
    }

    /// Their names, in order.
    pub fn names(&self) -> Vec<String> {
        self.snapshot().members.iter().map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot<T>> {
        self.0.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A number that nobody can tell before.
    pub(crate) fn random(&self) -> u64 {
        mix(self.0.random.fetch_add(1, Ordering::Relaxed))
    }
}

impl<T> Clone for Members<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Members<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Members").field(&self.names()).finish()
    }
}

impl<T> Snapshot<T> {
    fn new(members: impl IntoIterator<Item = (String, T)>) -> Self {
        // In the order of their names, so that answers are put together in the same order by all keepers.
        let by_name: std::collections::BTreeMap<String, T> = members.into_iter().collect();
        let members: Vec<_> = by_name.into_iter().collect();
        let ring = Ring::new(members.iter().map(|(name, _)| name.as_str()));
        Self { members, ring }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &(String, T)> {
        self.members.iter()
    }

    /// All of them, beginning with one by chance.
    pub(crate) fn all_from(&self, random: u64) -> impl Iterator<Item = &(String, T)> {
        let count = u64::try_from(self.members.len()).unwrap_or(u64::MAX);
        let start = random.checked_rem(count).and_then(|start| usize::try_from(start).ok());
        let (before, behind) = self.members.split_at(start.unwrap_or_default());
        behind.iter().chain(before)
    }

    pub(crate) fn of_key(&self, key: &[u8], copies: usize) -> impl Iterator<Item = &(String, T)> {
        self.ring.find(key, copies).into_iter().filter_map(|member| self.members.get(member))
    }
}
