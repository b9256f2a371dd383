//! Every system by name. This is the one place to add one.

use tokio::runtime::Runtime;

use super::{BoxError, Burn, Pair, Server, ServerConfig, Sharing, System};
use crate::busy::{self, BusyOrder};
use crate::child::load::{self, Job};
use crate::control::messages::LoadOrder;
use crate::systems::ours::of_proto::{ProtobufMux, ProtobufPool, ProtobufTtHeaderMux};
use crate::systems::ours::of_thrift::{
    CompactMux, MsgpackMux, MsgpackPool, ThriftMux, ThriftPool, ThriftTtHeaderMux,
};
use crate::systems::raw_tcp::RawTcp;
use crate::systems::tonic::{Stock, Tonic, Tuned};

/// All of them, in the order in which lists and tables show them: ours first, then what they are compared with.
static SYSTEMS: &[Entry] = &[
    Entry::of::<ProtobufPool>().burning::<ProtobufPool>(),
    Entry::of::<ProtobufMux>().burning::<ProtobufMux>(),
    Entry::of::<ThriftPool>().burning::<ThriftPool>(),
    Entry::of::<ThriftMux>().burning::<ThriftMux>(),
    Entry::of::<MsgpackPool>().burning::<MsgpackPool>(),
    Entry::of::<MsgpackMux>().burning::<MsgpackMux>(),
    Entry::of::<CompactMux>().burning::<CompactMux>(),
    Entry::of::<ThriftTtHeaderMux>().burning::<ThriftTtHeaderMux>(),
    Entry::of::<ProtobufTtHeaderMux>().burning::<ProtobufTtHeaderMux>(),
    Entry::of::<Tonic<Stock>>().burning::<Tonic<Stock>>(),
    Entry::of::<Tonic<Tuned>>().burning::<Tonic<Tuned>>(),
    Entry::of::<RawTcp>(),
];

/// Starts a server on a runtime.
pub type Start = fn(&Runtime, ServerConfig) -> Result<Box<dyn Server>, BoxError>;
/// Does what was ordered, in a load process.
pub type Drive<Order> = fn(Job<'_>, &Order) -> Result<(), BoxError>;

/// A system as a value: its facts, and the copies of the generic code that are made for it.
#[derive(Debug)]
pub struct Entry {
    /// As on the command line.
    pub name: &'static str,
    /// Whether it is one of our own.
    pub ours: bool,
    /// Codec and transport, if those choose it.
    pub pair: Option<Pair>,
    /// How virtual clients share connections.
    pub sharing: Sharing,
    /// Whether it only shows what the machine can do.
    pub floor: bool,
    /// Version of the implementation.
    pub version: fn() -> &'static str,
    /// The options in effect.
    pub describe: fn() -> &'static str,
    /// Starts its server.
    pub start: Start,
    /// Connects and runs rounds.
    pub load: Drive<LoadOrder>,
    /// Connects and runs the test of busy handlers, if it has one that burns CPU.
    pub busy: Option<Drive<BusyOrder>>,
}

impl Entry {
    /// The entry of system `S`.
    const fn of<S: System>() -> Self {
        Self {
            name: S::NAME,
            ours: S::OURS,
            pair: S::PAIR,
            sharing: S::SHARING,
            floor: S::FLOOR,
            version: S::version,
            describe: S::describe,
            start: start::<S>,
            load: load::drive::<S>,
            busy: None,
        }
    }

    /// The same, also for the test of busy handlers.
    const fn burning<S: System<Caller: Burn>>(self) -> Self {
        Self { busy: Some(busy::drive::<S>), ..self }
    }
}

/// All systems.
pub fn all() -> &'static [Entry] {
    SYSTEMS
}

/// The system of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    SYSTEMS.iter().find(|entry| entry.name == name)
}

/// The system of this pair.
pub fn of_pair(pair: Pair) -> Option<&'static Entry> {
    SYSTEMS.iter().find(|entry| entry.pair == Some(pair))
}

fn start<S: System>(runtime: &Runtime, config: ServerConfig) -> Result<Box<dyn Server>, BoxError> {
    Ok(Box::new(runtime.block_on(S::start(config))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_pairs_are_unique() {
        for (place, entry) in SYSTEMS.iter().enumerate() {
            assert!(SYSTEMS[..place].iter().all(|other| other.name != entry.name), "{}", entry.name);
            if let Some(pair) = entry.pair {
                assert_eq!(entry.name, format!("{}/{}", pair.codec.name(), pair.transport.name()));
                assert!(entry.ours);
                assert_eq!(of_pair(pair).map(|found| found.name), Some(entry.name));
            }
        }
        assert!(find("tonic").is_some());
        assert!(find("tonik").is_none());
    }
}
