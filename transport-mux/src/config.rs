use rpc_net::BackoffConfig;
use rpc_wire::{CallId, Limits};

/// What a [`Mux`](crate::Mux) allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MuxConfig {
    /// Connections to the peer. Each costs a task and a socket here and there; each is served by one task at a time on most
    /// servers, so more of them spread the work over a server's cores. Default: the number of cores, 4 at most.
    pub connections: usize,
    /// What each connection allows.
    pub limits: Limits,
    /// How many calls may wait for a connection or for a slot on one, over all connections. Above it the transport is not
    /// ready. Default: 65,536, some 16 MiB.
    pub max_waiting: usize,
    /// How long to wait between attempts to connect.
    pub backoff: BackoffConfig,
    /// Where each connection's ids begin. Default: 1.
    pub first_id: CallId,
}

impl Default for MuxConfig {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            connections: cores.min(4),
            limits: Limits::default(),
            max_waiting: 65_536,
            backoff: BackoffConfig::default(),
            first_id: CallId(1),
        }
    }
}
