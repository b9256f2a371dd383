use std::time::Duration;

use rpc_net::BackoffConfig;
use rpc_wire::{CallId, Limits};

/// What a [`Pool`](crate::Pool) allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// The most connections to the peer, those that are being made included; at least 1. So many calls can be in flight.
    /// Each costs a socket here and there, and one message of [`Limits::max_message`] at worst while it is in use.
    /// Default: 256, a quarter of the descriptors that a process usually gets.
    pub max_connections: usize,
    /// How many connections are kept while no call uses them. Above it the one that was not used for longest is closed.
    /// Default: 256, that is all of them, until [`idle_timeout`](Self::idle_timeout).
    pub max_idle: usize,
    /// A connection that no call used for so long is closed. It should be shorter than the time after which the peer closes
    /// it, or some calls will meet a connection that is just being closed. Default: 90 s.
    pub idle_timeout: Duration,
    /// How many calls may wait for a connection. Above it the transport is not ready. Default: 65,536, some 16 MiB.
    pub max_waiting: usize,
    /// What each connection allows. Its counts of calls mean nothing here, since there is one at a time.
    pub limits: Limits,
    /// How long to wait between attempts to connect.
    pub backoff: BackoffConfig,
    /// Where the ids of the first connection begin. Those of each further one begin 65,536 higher, so that calls on
    /// connections which follow each other have different ids. Default: 1.
    pub first_id: CallId,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            max_connections: 256,
            max_idle: 256,
            idle_timeout: Duration::from_secs(90),
            max_waiting: 65_536,
            limits: Limits::default(),
            backoff: BackoffConfig::default(),
            first_id: CallId(1),
        }
    }
}
