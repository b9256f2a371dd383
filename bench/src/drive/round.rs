//! One round: a fresh server process, a fresh load process, one system.

use std::time::Duration;

use crate::child::spawn::{self, Process};
use crate::cli::settings::{Condition, Settings};
use crate::control::link::{Link, LinkError, unexpected};
use crate::control::messages::{AllocationPass, Answer, ClientOrder, LoadOrder, Request, ServerOrder, Task};
use crate::drive::host::{ANSWER_WITHIN, Host, link_failure, spawn_failure};
use crate::drive::noise::{CpuTimes, Noise};
use crate::exit::Failure;
use crate::load::round::{Extent, LoadReport};
use crate::process::Window;
use crate::system::Dispatch;
use crate::system::registry::Entry;

/// Calls of the pass that counts allocations; fewer if a round has fewer.
const COUNTED_CALLS: u64 = 20_000;
/// Rounds by number of requests may take this long.
const LONGEST_COUNT: Duration = Duration::from_secs(24 * 3600);
/// Opening many thousand connections takes a while.
const CONNECT_WITHIN: Duration = Duration::from_secs(60);

/// What one round of one system showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// What the clients saw. Lost replies are in its errors.
    pub load: LoadReport,
    /// What the server process used in the window.
    pub server: Window,
    /// Connections that the server accepted.
    pub accepted: u64,
    /// Requests handled by the server less replies that reached the clients, after draining.
    pub unbalanced: i64,
    /// Resident memory of the server before the first connection, bytes.
    pub idle_memory: u64,
    /// Resident memory of the server at the end of the window, bytes.
    pub memory: u64,
    /// What else ran on the CPUs of this machine that took part; none if the window was too short to tell.
    pub noise: Option<Noise>,
    /// Allocations per request, if they were counted.
    pub allocations: Option<Allocated>,
}

/// Allocations per request.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Allocated {
    /// In the client, without the load generator's own.
    pub client: f64,
    /// In the server.
    pub server: f64,
    /// Bytes in the client.
    pub client_bytes: f64,
    /// Bytes in the server.
    pub server_bytes: f64,
}

/// Runs one round.
///
/// # Errors
///
/// If a process does not come up or ends early, or the user interrupts.
pub fn run(
    host: &mut Host,
    entry: &Entry,
    condition: &Condition,
    settings: &Settings,
    count_allocations: bool,
) -> Result<Round, Failure> {
    let mut watched = settings.split.client.clone();
    if host.is_here() {
        watched.extend(settings.split.server.iter().filter(|cpu| !settings.split.client.contains(cpu)));
    }
    let here = host.is_here();
    let pinned = |cpus: &[usize]| if settings.split.pinned { cpus.to_vec() } else { Vec::new() };
    let mut server = host.start(ServerOrder {
        system: entry.name.to_owned(),
        addr: ([127, 0, 0, 1], 0).into(),
        threads: condition.server_threads,
        cpus: pinned(&settings.split.server),
        body: condition.body,
        dispatch: Dispatch::default(),
    })?;
    server.ask(&Request::ResetPeak)?;
    let idle = server.mark()?;
    let mut load = Load::start(&ClientOrder {
        threads: condition.client_threads,
        cpus: pinned(&settings.split.client),
        task: Task::Load(LoadOrder {
            system: entry.name.to_owned(),
            target: server.addr,
            callers: condition.concurrency,
            connections: condition.connections_for(entry.sharing),
            body: condition.body,
            seed: settings.seed,
            warmup_ns: nanos(settings.warmup),
            extent: settings.extent,
            timeout_ns: nanos(settings.timeout),
            verify: settings.verify,
        }),
    })?;

    load.go()?;
    load.expect(&Answer::Opened, CONNECT_WITHIN + settings.warmup)?;
    let before = CpuTimes::of(&watched);
    let open = server.mark()?;
    load.expect(&Answer::Closed, longest(settings.extent))?;
    let after = CpuTimes::of(&watched);
    let close = server.mark()?;
    let mut report = load.report(settings.timeout * 2 + ANSWER_WITHIN)?;
    let end = server.mark()?;

    let unbalanced = i128::from(end.requests) - i128::from(report.answered);
    // A call that failed or was given up may have been handled; that is an error, but not a lost reply.
    let failures = i128::from(report.errors.failures());
    report.errors.lost = u64::try_from(unbalanced - failures).unwrap_or(0);
    let allocations = if count_allocations && report.errors.total() == 0 {
        server.ask(&Request::Allocs { on: true })?;
        let calls = match settings.extent {
            Extent::Time(_) => COUNTED_CALLS,
            Extent::Requests(requests) => requests.min(COUNTED_CALLS),
        };
        let client = load.count_allocations(calls)?;
        match server.ask(&Request::Allocs { on: false })? {
            Answer::Allocs(counted) => Some(per_request(&client, &counted)),
            other => return Err(link_failure(unexpected(&other))),
        }
    } else {
        None
    };
    load.stop()?;
    server.ask(&Request::Stop)?;
    let used = Window { open, close };
    let own_ns = report.usage.cpu_ns() + if here { used.cpu_ns() } else { 0 };
    Ok(Round {
        noise: after.noise_since(&before, own_ns),
        load: report,
        server: used,
        accepted: end.accepted,
        unbalanced: i64::try_from(unbalanced).unwrap_or(i64::MAX),
        idle_memory: idle.resident,
        memory: close.resident,
        allocations,
    })
}

fn per_request(client: &AllocationPass, server: &crate::alloc::Allocations) -> Allocated {
    let each = |total: u64, own: u64| total.saturating_sub(own) as f64 / client.calls as f64;
    Allocated {
        client: each(client.total.calls, client.own.calls),
        server: each(server.calls, 0),
        client_bytes: each(client.total.bytes, client.own.bytes),
        server_bytes: each(server.bytes, 0),
    }
}

fn longest(extent: Extent) -> Duration {
    match extent {
        Extent::Time(ns) => Duration::from_nanos(ns) + ANSWER_WITHIN,
        Extent::Requests(_) => LONGEST_COUNT,
    }
}

/// A time in ns; the longest that fits if it does not.
pub fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A load process, ended when this is dropped.
#[derive(Debug)]
pub struct Load {
    link: Link,
    _process: Process,
}

impl Load {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// If it does not come up.
    pub fn start(order: &ClientOrder) -> Result<Self, Failure> {
        let text = serde_json::to_string(order).map_err(Failure::internal)?;
        let (process, link) = spawn::spawn("load", &text).map_err(|error| spawn_failure(&error))?;
        Ok(Self { link, _process: process })
    }

    /// Tells it to begin.
    ///
    /// # Errors
    ///
    /// If it is gone.
    pub fn go(&mut self) -> Result<(), Failure> {
        self.link.send(&Request::Go).map_err(failure)
    }

    /// Waits for any answer.
    ///
    /// # Errors
    ///
    /// If it does not come in time, or the process failed.
    pub fn answer(&mut self, limit: Duration) -> Result<Answer, Failure> {
        self.link.answer(limit).map_err(failure)
    }

    /// Waits for this answer.
    ///
    /// # Errors
    ///
    /// If another one comes, or none in time.
    pub fn expect(&mut self, due: &Answer, limit: Duration) -> Result<(), Failure> {
        let answer = self.answer(limit)?;
        if answer == *due { Ok(()) } else { Err(failure(unexpected(&answer))) }
    }

    /// Waits for the report.
    ///
    /// # Errors
    ///
    /// As [`answer`](Self::answer).
    pub fn report(&mut self, limit: Duration) -> Result<LoadReport, Failure> {
        match self.answer(limit)? {
            Answer::Report(report) => Ok(*report),
            other => Err(failure(unexpected(&other))),
        }
    }

    /// Ends it in good order.
    ///
    /// # Errors
    ///
    /// If it is gone already.
    pub fn stop(&mut self) -> Result<(), Failure> {
        self.link.ask(&Request::Stop, ANSWER_WITHIN).map_err(failure).map(drop)
    }

    fn count_allocations(&mut self, calls: u64) -> Result<AllocationPass, Failure> {
        match self.link.ask(&Request::CountAllocations { calls }, CONNECT_WITHIN).map_err(failure)? {
            Answer::Counted(pass) => Ok(pass),
            other => Err(failure(unexpected(&other))),
        }
    }
}

fn failure(error: LinkError) -> Failure {
    match link_failure(error) {
        Failure::Internal(what) => Failure::Internal(format!("load generator: {what}")),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::Allocations;

    #[test]
    fn the_generators_own_allocations_are_taken_off() {
        let pass = AllocationPass {
            calls: 1_000,
            total: Allocations { calls: 3_500, bytes: 2_000_000 },
            own: Allocations { calls: 500, bytes: 1_000_000 },
        };
        let each = per_request(&pass, &Allocations { calls: 2_000, bytes: 64_000 });
        assert_eq!(
            (each.client, each.server, each.client_bytes, each.server_bytes),
            (3.0, 2.0, 1000.0, 64.0)
        );
    }
}
