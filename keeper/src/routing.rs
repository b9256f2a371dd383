use std::collections::BTreeMap;

use rpc_core::Name;

use crate::Aggregate;

/// Which members a call goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// Any one of them. One that can not be reached is passed over, as long as the call provably was not sent.
    Random,
    /// Those that a parameter's hash names. The same values go to the same members, and when a member joins or leaves, only
    /// the values that are its own go elsewhere.
    Hash {
        /// Which parameter, from 0. In Jubatus 0 is the cluster's name, and the id stands at 1.
        parameter: usize,
        /// How many members have a copy. Where there are fewer members it is all of them; 0 counts as 1.
        copies: usize,
        /// How their answers become one.
        aggregate: Aggregate,
    },
    /// All of them, at once.
    All(Aggregate),
}

impl Routing {
    /// [`Routing::Hash`] as Jubatus's proxies have it: by the id behind the cluster's name.
    pub fn by_id(copies: usize, aggregate: Aggregate) -> Self {
        Self::Hash { parameter: 1, copies, aggregate }
    }
}

/// What a keeper does with each method. A method that it does not know is refused as unknown, unless there is an
/// [`otherwise`](Self::otherwise).
///
/// ```
/// use keeper::{Aggregate, Methods, Routing};
///
/// let classifier = Methods::new()
///     .route("train", Routing::Random)
///     .route("classify", Routing::Random)
///     .route("clear", Routing::All(Aggregate::And))
///     .route("get_status", Routing::All(Aggregate::Merge));
/// # let _ = classifier;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Methods {
    routes: BTreeMap<Name, Routing>,
    otherwise: Option<Routing>,
}

impl Methods {
    /// No methods.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says where calls of a method go. The last word holds.
    #[must_use]
    pub fn route(mut self, method: impl Into<Name>, routing: Routing) -> Self {
        self.routes.insert(method.into(), routing);
        self
    }

    /// Says where calls of all other methods go.
    #[must_use]
    pub fn otherwise(mut self, routing: Routing) -> Self {
        self.otherwise = Some(routing);
        self
    }

    pub(crate) fn find(&self, method: &Name) -> Option<Routing> {
        self.routes.get(method).copied().or(self.otherwise)
    }
}
