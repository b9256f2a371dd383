//! What is said on a control connection.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::alloc::Allocations;
use crate::busy::{BusyOrder, BusyReport};
use crate::load::round::{Extent, LoadReport};
use crate::message::Verify;
use crate::process::Mark;
use crate::system::Dispatch;

/// From the driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// Who is there? Both sides must be of the same version.
    Hello {
        /// The driver's.
        version: String,
    },
    /// To a supervisor: a fresh server process, please. Answer: `Ready`.
    Start(ServerOrder),
    /// To a server: a reading. Answer: `Mark`.
    Mark,
    /// To a server: forget the peak of memory. Answer: `Done`.
    ResetPeak,
    /// To a server: start or stop to count allocations. Answer: `Allocs`.
    Allocs {
        /// Start or stop.
        on: bool,
    },
    /// To a load generator: do what was ordered. Answers: `Opened`, `Closed`, `Report`.
    Go,
    /// To a load generator: this many calls, with allocations counted. Answer: `Counted`.
    CountAllocations {
        /// How many.
        calls: u64,
    },
    /// End.
    Stop,
}

/// To the driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// To `Hello`.
    Hello {
        /// The answerer's.
        version: String,
    },
    /// To `Start`.
    Ready {
        /// Where the new server listens.
        addr: SocketAddr,
    },
    /// To `Mark`.
    Mark(Mark),
    /// To `Allocs`: counted since the start.
    Allocs(Allocations),
    /// To what has no other answer.
    Done,
    /// The window has opened.
    Opened,
    /// The window has closed; the calls in flight are being awaited.
    Closed,
    /// All calls have ended.
    Report(Box<LoadReport>),
    /// To `Go`, when busy handlers were ordered.
    Busy(Box<BusyReport>),
    /// To `CountAllocations`.
    Counted(AllocationPass),
    /// It can not be done.
    Failed {
        /// Why.
        message: String,
    },
}

/// The allocations of a load generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocationPass {
    /// Calls made.
    pub calls: u64,
    /// Allocated in all.
    pub total: Allocations,
    /// Allocated by the same generator over a system that does nothing.
    pub own: Allocations,
}

/// What a server process is started with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerOrder {
    /// Name of the system.
    pub system: String,
    /// Where to listen.
    pub addr: SocketAddr,
    /// Worker threads.
    pub threads: usize,
    /// CPUs to stay on; empty: any.
    pub cpus: Vec<usize>,
    /// Largest body, bytes.
    pub body: usize,
    /// How handlers run.
    pub dispatch: Dispatch,
}

/// What a load process is started with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientOrder {
    /// Worker threads.
    pub threads: usize,
    /// CPUs to stay on; empty: any.
    pub cpus: Vec<usize>,
    /// What to do.
    pub task: Task,
}

/// What a load process does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// A closed loop against a server.
    Load(LoadOrder),
    /// The same loop against nothing.
    Noop(LoadOrder),
    /// The test of busy handlers.
    Busy(BusyOrder),
}

/// A closed loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadOrder {
    /// Name of the system.
    pub system: String,
    /// The server.
    pub target: SocketAddr,
    /// Virtual clients.
    pub callers: usize,
    /// Connections.
    pub connections: usize,
    /// Body, bytes.
    pub body: usize,
    /// Seed of the bodies.
    pub seed: u64,
    /// Load before the window, ns.
    pub warmup_ns: u64,
    /// The window.
    pub extent: Extent,
    /// Limit of a call, ns.
    pub timeout_ns: u64,
    /// How much of the replies is compared.
    pub verify: Verify,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_object_a_line() {
        let text = serde_json::to_string(&Request::Allocs { on: true }).expect("JSON");
        assert_eq!(text, r#"{"request":"allocs","on":true}"#);
        let text =
            serde_json::to_string(&Answer::Mark(Mark { requests: 7, ..Mark::default() })).expect("JSON");
        assert!(text.starts_with(r#"{"answer":"mark","at_ns":0,"requests":7,"#), "{text}");
        assert!(!text.contains('\n'));
        assert!(serde_json::from_str::<Request>(r#"{"request":"reboot"}"#).is_err());
    }
}
