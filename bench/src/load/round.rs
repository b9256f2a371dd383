//! Warm-up, window and drain of all virtual clients together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use super::client::{Failure, VirtualClient};
use super::deadline::Slot;
use super::recorder::Recorder;
use crate::process::{Mark, Window};
use crate::stats::latency::PackedLatencies;
use crate::stats::sanity;
use crate::system::{BoxError, Caller};

/// How long a round is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// A time, ns.
    Time(u64),
    /// A number of requests, from one counter that all clients share.
    Requests(u64),
}

/// What all clients of a round look at. Written a few times a round, read in every call.
#[derive(Debug)]
pub struct Shared {
    epoch: Instant,
    /// The window, ns since the epoch. Open at `u64::MAX` while warming up.
    opens: AtomicU64,
    closes: AtomicU64,
    /// Calls still to be started when a number of them is given.
    tickets: Option<Tickets>,
    /// Where latencies go.
    pub recorder: Recorder,
}

#[derive(Debug)]
#[repr(align(128))]
struct Tickets {
    left: AtomicU64,
}

/// Whether a call belongs to the given number of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ticket {
    /// The window decides.
    Untold,
    /// It does.
    Counted,
}

impl Shared {
    /// Ns since the epoch of the round.
    pub fn now_ns(&self) -> u64 {
        let since = self.epoch.elapsed();
        since.as_secs() * 1_000_000_000 + u64::from(since.subsec_nanos())
    }

    /// Leave to start one more call, given when this client's last one ended; `None` when the round is over.
    pub fn next(&self, last_ended: u64) -> Option<Ticket> {
        if let Some(tickets) = &self.tickets
            && self.opens.load(Ordering::Relaxed) != u64::MAX
        {
            let take = |left: u64| left.checked_sub(1);
            return tickets
                .left
                .try_update(Ordering::Relaxed, Ordering::Relaxed, take)
                .ok()
                .map(|_| Ticket::Counted);
        }
        (last_ended < self.closes.load(Ordering::Relaxed)).then_some(Ticket::Untold)
    }

    /// Whether a call that ended at `ended` goes into the figures.
    pub fn counts(&self, ticket: Ticket, ended: u64) -> bool {
        match (ticket, &self.tickets) {
            (Ticket::Counted, _) => true,
            (Ticket::Untold, Some(_)) => false,
            (Ticket::Untold, None) => {
                ended >= self.opens.load(Ordering::Relaxed) && ended < self.closes.load(Ordering::Relaxed)
            }
        }
    }
}

/// What one client saw.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Calls made, warm-up and drain included.
    pub issued: u64,
    /// Right replies inside the window.
    pub recorded: u64,
    /// Start of the first and end of the last of these.
    pub first_ns: u64,
    /// See `first_ns`.
    pub last_ns: u64,
    /// Calls given up.
    pub timeouts: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Replies to someone else's call.
    pub swapped: u64,
    /// Replies to an earlier call.
    pub duplicate: u64,
    /// Replies that differ in another way.
    pub corrupt: u64,
    /// What the first failure said.
    pub first_error: Option<String>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            issued: 0,
            recorded: 0,
            first_ns: u64::MAX,
            last_ns: 0,
            timeouts: 0,
            failed: 0,
            swapped: 0,
            duplicate: 0,
            corrupt: 0,
            first_error: None,
        }
    }
}

impl Tally {
    /// Counts a call without a reply.
    pub fn fail(&mut self, failure: Failure) {
        match failure {
            Failure::Timeout => self.timeouts += 1,
            Failure::Error(error) => {
                self.failed += 1;
                self.first_error.get_or_insert_with(|| chain(&*error));
            }
        }
    }
}

/// What a round came to, as seen by the load generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadReport {
    /// Calls made, warm-up and drain included.
    pub issued: u64,
    /// Replies received, right or wrong.
    pub answered: u64,
    /// Calls that failed or were given up, and wrong replies, by kind.
    pub errors: Errors,
    /// Right replies completed inside the window.
    pub recorded: u64,
    /// Length of the window, ns.
    pub window_ns: u64,
    /// Latencies of these replies.
    pub latencies: PackedLatencies,
    /// Fairness index of the virtual clients over these replies.
    pub fairness: f64,
    /// The generator's own use of CPU in the window.
    pub usage: Window,
    /// Time to open all connections, ns.
    pub connect_ns: u64,
    /// What the first failure said.
    pub first_error: Option<String>,
}

impl LoadReport {
    /// Right replies a second.
    pub fn per_second(&self) -> f64 {
        self.recorded as f64 * 1e9 / self.window_ns as f64
    }
}

/// Calls without a right reply, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errors {
    /// The system reported a failure.
    pub failed: u64,
    /// Given up after `--timeout`.
    pub timeouts: u64,
    /// The reply to another client's call.
    pub swapped: u64,
    /// The reply to an earlier call of the same client.
    pub duplicate: u64,
    /// Another difference.
    pub corrupt: u64,
    /// Handled by the server, but the reply never came.
    pub lost: u64,
}

impl Errors {
    /// Calls that failed or were given up.
    pub fn failures(&self) -> u64 {
        self.failed + self.timeouts
    }

    /// Replies that were wrong, doubled or missing: with any of these a cell is invalid.
    pub fn wrong(&self) -> u64 {
        self.swapped + self.duplicate + self.corrupt + self.lost
    }

    /// Both together.
    pub fn total(&self) -> u64 {
        self.failures() + self.wrong()
    }

    /// Adds those of another round.
    pub fn add(&mut self, other: &Self) {
        self.failed += other.failed;
        self.timeouts += other.timeouts;
        self.swapped += other.swapped;
        self.duplicate += other.duplicate;
        self.corrupt += other.corrupt;
        self.lost += other.lost;
    }
}

/// What to do with the clients.
#[derive(Debug, Clone, Copy)]
pub struct RoundOrder {
    /// Load before the window.
    pub warmup: Duration,
    /// The window.
    pub extent: Extent,
    /// Limit of a call.
    pub timeout: Duration,
    /// Worker threads of the runtime.
    pub workers: usize,
}

/// An end of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// It has opened.
    Opened,
    /// It has closed; calls in flight are being awaited.
    Closed,
}

/// Runs one round on the calling thread, which must not be one of the runtime's: it sleeps, watches for overdue
/// calls, and tells when the window opens and closes.
///
/// # Errors
///
/// If a virtual client panicked, or `tell` failed.
pub fn run<C: Caller>(
    runtime: &Runtime,
    clients: Vec<VirtualClient<C>>,
    order: &RoundOrder,
    mut tell: impl FnMut(Edge) -> Result<(), BoxError>,
) -> Result<(Vec<VirtualClient<C>>, LoadReport), BoxError> {
    let slots: Vec<Arc<Slot>> = clients.iter().map(VirtualClient::slot).collect();
    let tickets = match order.extent {
        Extent::Time(_) => None,
        Extent::Requests(requests) => Some(Tickets { left: AtomicU64::new(requests) }),
    };
    let shared = Arc::new(Shared {
        epoch: Instant::now(),
        opens: AtomicU64::new(u64::MAX),
        closes: AtomicU64::new(u64::MAX),
        tickets,
        recorder: Recorder::new(order.workers),
    });
    let watch = Watch { shared: &shared, slots: &slots, limit: order.timeout };
    let tasks: Vec<_> =
        clients.into_iter().map(|client| runtime.spawn(client.run(Arc::clone(&shared)))).collect();

    watch.until(|| shared.epoch.elapsed() >= order.warmup, Some(shared.epoch + order.warmup));
    let open = Mark::now();
    let start = shared.now_ns();
    if let Extent::Time(length) = order.extent {
        shared.closes.store(start + length, Ordering::Relaxed);
    }
    shared.opens.store(start, Ordering::Relaxed);
    tell(Edge::Opened)?;
    if let Extent::Time(length) = order.extent {
        let end = shared.epoch + Duration::from_nanos(start + length);
        watch.until(|| Instant::now() >= end, Some(end));
    } else {
        watch.until(|| tasks.iter().all(tokio::task::JoinHandle::is_finished), None);
    }
    let usage = Window { open, close: Mark::now() };
    tell(Edge::Closed)?;

    watch.until(|| tasks.iter().all(tokio::task::JoinHandle::is_finished), None);
    let mut back = Vec::with_capacity(tasks.len());
    let mut tallies = Vec::with_capacity(tasks.len());
    for task in tasks {
        let (client, tally) = runtime.block_on(task)?;
        back.push(client);
        tallies.push(tally);
    }
    Ok((back, report(&shared, order, &tallies, usage)))
}

fn report(shared: &Shared, order: &RoundOrder, tallies: &[Tally], usage: Window) -> LoadReport {
    let sum = |field: fn(&Tally) -> u64| tallies.iter().map(field).sum::<u64>();
    let errors = Errors {
        failed: sum(|tally| tally.failed),
        timeouts: sum(|tally| tally.timeouts),
        swapped: sum(|tally| tally.swapped),
        duplicate: sum(|tally| tally.duplicate),
        corrupt: sum(|tally| tally.corrupt),
        lost: 0,
    };
    let issued = sum(|tally| tally.issued);
    let window_ns = match order.extent {
        Extent::Time(length) => length,
        Extent::Requests(_) => {
            let first = tallies.iter().map(|tally| tally.first_ns).min().unwrap_or(0);
            let last = tallies.iter().map(|tally| tally.last_ns).max().unwrap_or(0);
            last.saturating_sub(first)
        }
    };
    let counts: Vec<u64> = tallies.iter().map(|tally| tally.recorded).collect();
    LoadReport {
        issued,
        answered: issued - errors.failures(),
        errors,
        recorded: counts.iter().sum(),
        window_ns,
        latencies: shared.recorder.merged().pack(),
        fairness: sanity::fairness(&counts),
        usage,
        connect_ns: 0,
        first_error: tallies.iter().find_map(|tally| tally.first_error.clone()),
    }
}

/// The calling thread's part: sleeping, and looking for calls that take too long.
struct Watch<'a> {
    shared: &'a Shared,
    slots: &'a [Arc<Slot>],
    limit: Duration,
}

impl Watch<'_> {
    fn until(&self, done: impl Fn() -> bool, end: Option<Instant>) {
        let limit_ns = u64::try_from(self.limit.as_nanos()).unwrap_or(u64::MAX);
        // Without a known end, look often enough that the end is noticed soon; a look costs microseconds.
        let longest = if end.is_some() { self.limit / 8 } else { Duration::from_millis(2) };
        while !done() {
            let left = end.map_or(longest, |end| end.saturating_duration_since(Instant::now()));
            std::thread::sleep(left.min(longest));
            let now = self.shared.now_ns();
            self.slots.iter().for_each(|slot| slot.look(now, limit_ns));
        }
    }
}

/// An error with its causes, on one line.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text.replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Template, Verify};
    use crate::system::{Echo, Reply};
    use crate::systems::noop::{NoopCaller, Turns};

    fn runtime() -> Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
    }

    fn order(extent: Extent) -> RoundOrder {
        RoundOrder { warmup: Duration::from_millis(5), extent, timeout: Duration::from_secs(5), workers: 2 }
    }

    fn clients<C: Caller>(callers: Vec<C>) -> Vec<VirtualClient<C>> {
        let templates = (0..).map(|client| Template::new(42, client, 64, Verify::Full));
        callers
            .into_iter()
            .zip(templates)
            .map(|(caller, template)| VirtualClient::new(caller, template))
            .collect()
    }

    fn noops() -> Vec<VirtualClient<NoopCaller>> {
        clients((0..8).map(|_| NoopCaller::new(Turns::Give)).collect())
    }

    #[test]
    fn a_number_of_requests_is_exact() {
        let (back, report) =
            run(&runtime(), noops(), &order(Extent::Requests(10_000)), |_| Ok(())).expect("a round");
        assert_eq!(back.len(), 8);
        assert_eq!(report.recorded, 10_000);
        assert_eq!(report.latencies.moments.count, 10_000);
        assert_eq!(report.errors, Errors::default());
        assert!(report.issued >= 10_000 && report.answered == report.issued);
        assert!(report.window_ns > 0 && report.per_second() > 0.0);
    }

    #[test]
    fn a_window_of_time() {
        let (_, report) =
            run(&runtime(), noops(), &order(Extent::Time(20_000_000)), |_| Ok(())).expect("a round");
        assert_eq!(report.window_ns, 20_000_000);
        assert!(report.recorded > 0 && report.recorded < report.answered);
        assert_eq!(report.latencies.moments.count, report.recorded);
        assert!(report.usage.length_ns() >= 20_000_000);
    }

    /// Answers wrongly in a way that depends on the number of the call.
    struct Faulty(u64);

    struct Text(String);

    impl Reply for Text {
        fn action(&self) -> &[u8] {
            b"echo"
        }
        fn msg(&self) -> &[u8] {
            self.0.as_bytes()
        }
    }

    impl Caller for Faulty {
        type Reply = Text;

        async fn call(&mut self, request: Echo<'_>) -> Result<Text, BoxError> {
            self.0 += 1;
            tokio::task::yield_now().await;
            match self.0 {
                10 => Err("told to fail".into()),
                20 => Ok(Text(request.msg.replacen("0000", "0001", 1))),
                30 => Ok(Text(request.msg.to_lowercase())),
                40 => std::future::pending().await,
                _ => Ok(Text(request.msg.to_owned())),
            }
        }
    }

    #[test]
    fn faults_are_counted_by_kind() {
        let order = RoundOrder { timeout: Duration::from_millis(40), ..order(Extent::Requests(1_000)) };
        let order = RoundOrder { warmup: Duration::ZERO, ..order };
        let (_, report) = run(&runtime(), clients(vec![Faulty(0)]), &order, |_| Ok(())).expect("a round");
        let expected = Errors { failed: 1, timeouts: 1, swapped: 1, corrupt: 1, ..Errors::default() };
        assert_eq!(report.errors, expected);
        assert_eq!(report.first_error.as_deref(), Some("told to fail"));
        assert_eq!((report.errors.failures(), report.errors.wrong(), report.errors.total()), (2, 2, 4));
    }

    #[test]
    fn a_hopeless_client_gives_up() {
        struct Dead;
        impl Caller for Dead {
            type Reply = Text;
            async fn call(&mut self, _: Echo<'_>) -> Result<Text, BoxError> {
                Err("gone".into())
            }
        }
        let (_, report) =
            run(&runtime(), clients(vec![Dead]), &order(Extent::Requests(1_000_000)), |_| Ok(()))
                .expect("a round");
        assert_eq!(report.errors.failed, 1_000);
        assert_eq!(report.recorded, 0);
    }
}
