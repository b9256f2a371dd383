use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use rpc_core::TransportError;
use rpc_net::{Backoff, BackoffConfig};

/// Which connections there are, who waits for one, and when to dial. It reads no clock, dials nothing and wakes nobody: it
/// is told what happened, and writes down what is [`Due`] for when its lock is free again.
///
/// While a call waits no connection is idle: one that is put back goes to the call that waits longest.
pub(crate) struct Shelf<T> {
    max_connections: usize,
    max_idle: usize,
    idle_timeout: Duration,
    /// The last one was used last, and is used next.
    idle: VecDeque<Idle<T>>,
    /// Connections, idle or in use.
    open: usize,
    dialling: usize,
    /// Calls that wait, by ticket: first come, first served.
    queue: BTreeMap<u64, Waker>,
    /// What calls waited for, until they take it.
    served: BTreeMap<u64, Served<T>>,
    next_ticket: u64,
    backoff: Backoff,
    /// Why the last attempt to connect failed, until one succeeds.
    failure: Option<Arc<TransportError>>,
    /// How many failures the back-off has counted.
    round: Round,
    /// The task that closes idle connections runs.
    reaper: bool,
    /// The task that dials again after the back-off runs.
    retry: bool,
}

struct Idle<T> {
    connection: T,
    since: Instant,
}

enum Served<T> {
    Connection(T),
    Failure(Arc<TransportError>),
}

/// What a call finds that wants a connection.
pub(crate) enum Taken<T> {
    Connection(T),
    /// It waits under this ticket.
    Queued(u64),
    /// There is none, and why.
    Unreachable(Arc<TransportError>),
}

/// Attempts to connect that are made at once fail for one reason, so the back-off counts the first of them alone. An attempt
/// remembers how many failures were counted when it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Round(u64);

/// What is to be done once the lock is free.
#[must_use]
pub(crate) struct Due<T> {
    /// So many attempts to connect are to be made; they are counted already.
    pub(crate) dials: usize,
    pub(crate) round: Round,
    pub(crate) wake: Vec<Waker>,
    /// A connection too many.
    pub(crate) close: Option<T>,
    /// Start the task that calls [`Shelf::expire`], first then.
    pub(crate) reap_at: Option<Instant>,
    /// Start the task that calls [`Shelf::retry`] then.
    pub(crate) retry_at: Option<Instant>,
}

impl<T> Default for Due<T> {
    fn default() -> Self {
        Self { dials: 0, round: Round(0), wake: Vec::new(), close: None, reap_at: None, retry_at: None }
    }
}

/// How many there are of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) open: usize,
    pub(crate) idle: usize,
    pub(crate) dialling: usize,
}

impl<T> Shelf<T> {
    pub(crate) fn new(
        max_connections: usize,
        max_idle: usize,
        idle_timeout: Duration,
        backoff: BackoffConfig,
    ) -> Self {
        Self {
            max_connections: max_connections.max(1),
            max_idle,
            idle_timeout,
            idle: VecDeque::new(),
            open: 0,
            dialling: 0,
            queue: BTreeMap::new(),
            served: BTreeMap::new(),
            next_ticket: 0,
            backoff: Backoff::new(backoff),
            failure: None,
            round: Round::default(),
            reaper: false,
            retry: false,
        }
    }

    /// Takes a connection, or a place in the queue. `ticket` is that of a call that waits already, or that took a
    /// connection which was of no use: it keeps its place.
    pub(crate) fn take(
        &mut self,
        ticket: Option<u64>,
        waker: &Waker,
        now: Instant,
        due: &mut Due<T>,
    ) -> Taken<T> {
        if let Some(served) = ticket.and_then(|ticket| self.served.remove(&ticket)) {
            return match served {
                Served::Connection(connection) => Taken::Connection(connection),
                Served::Failure(failure) => Taken::Unreachable(failure),
            };
        }
        if let Some(Idle { connection, .. }) = self.idle.pop_back() {
            return Taken::Connection(connection);
        }
        if self.open == 0
            && self.dialling == 0
            && !self.backoff.may_try(now)
            && let Some(failure) = &self.failure
        {
            return Taken::Unreachable(failure.clone());
        }
        let ticket = ticket.unwrap_or_else(|| {
            self.next_ticket += 1;
            self.next_ticket
        });
        self.queue.insert(ticket, waker.clone());
        self.settle(now, due);
        Taken::Queued(ticket)
    }

    /// Takes a call out of the queue. Returns what it was given and did not take, to be put back.
    pub(crate) fn give_up(&mut self, ticket: u64) -> Option<T> {
        self.queue.remove(&ticket);
        match self.served.remove(&ticket) {
            Some(Served::Connection(connection)) => Some(connection),
            Some(Served::Failure(_)) | None => None,
        }
    }

    /// A connection can be used again.
    pub(crate) fn put_back(&mut self, connection: T, now: Instant, due: &mut Due<T>) {
        if let Some((ticket, waker)) = self.queue.pop_first() {
            self.served.insert(ticket, Served::Connection(connection));
            due.wake.push(waker);
            return;
        }
        self.idle.push_back(Idle { connection, since: now });
        if self.idle.len() > self.max_idle {
            due.close = self.idle.pop_front().map(|idle| idle.connection);
            self.open -= 1;
        }
        if !self.reaper
            && let Some(at) = self.next_expiry()
        {
            self.reaper = true;
            due.reap_at = Some(at);
        }
    }

    /// A connection that was in use is gone.
    pub(crate) fn lost(&mut self, now: Instant, due: &mut Due<T>) {
        self.open -= 1;
        self.settle(now, due);
    }

    /// A connection was made without an attempt that was due here.
    pub(crate) fn add(&mut self, connection: T, now: Instant, due: &mut Due<T>) {
        self.open += 1;
        self.put_back(connection, now, due);
    }

    /// An attempt to connect succeeded.
    pub(crate) fn dialled(&mut self, connection: T, now: Instant, due: &mut Due<T>) {
        self.dialling -= 1;
        self.backoff.succeeded();
        self.failure = None;
        self.add(connection, now, due);
        self.settle(now, due);
    }

    /// An attempt to connect failed.
    pub(crate) fn failed(&mut self, error: TransportError, round: Round, now: Instant, due: &mut Due<T>) {
        self.dialling -= 1;
        self.failure = Some(Arc::new(error));
        if round == self.round {
            self.round.0 += 1;
            self.backoff.failed(now);
        }
        self.settle(now, due);
    }

    /// An attempt to connect was broken off, and whoever could make another may be gone too: nothing is due but to wake
    /// those for whom there is nothing to wait for.
    pub(crate) fn broken_off(&mut self, error: TransportError) -> Vec<Waker> {
        self.dialling -= 1;
        self.failure = Some(Arc::new(error));
        self.fail_if_hopeless()
    }

    /// The back-off is over.
    pub(crate) fn retry(&mut self, now: Instant, due: &mut Due<T>) {
        self.retry = false;
        self.settle(now, due);
    }

    /// Takes out what nobody used for too long. Returns when to call it next; `None` when nothing is idle, and then the
    /// task that calls it ends.
    pub(crate) fn expire(&mut self, now: Instant) -> (Vec<T>, Option<Instant>) {
        let mut expired = Vec::new();
        while let Some(at) = self.next_expiry()
            && at <= now
            && let Some(idle) = self.idle.pop_front()
        {
            self.open -= 1;
            expired.push(idle.connection);
        }
        let next = self.next_expiry();
        self.reaper = next.is_some();
        (expired, next)
    }

    /// The task that calls [`expire`](Self::expire) ended otherwise.
    pub(crate) fn reaper_ended(&mut self) {
        self.reaper = false;
    }

    /// The task that calls [`retry`](Self::retry) ended otherwise.
    pub(crate) fn retry_ended(&mut self) {
        self.retry = false;
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts { open: self.open, idle: self.idle.len(), dialling: self.dialling }
    }

    fn next_expiry(&self) -> Option<Instant> {
        self.idle.front()?.since.checked_add(self.idle_timeout)
    }

    /// Sees to it that those who wait will be served, or hear that they will not be.
    fn settle(&mut self, now: Instant, due: &mut Due<T>) {
        if self.queue.is_empty() {
            return;
        }
        let room = self.max_connections.saturating_sub(self.open + self.dialling);
        if self.backoff.may_try(now) {
            // While attempts fail, one at a time is enough to see when that is over.
            let wanted = if self.failure.is_some() { 1 } else { self.queue.len() };
            let dials = wanted.saturating_sub(self.dialling).min(room);
            self.dialling += dials;
            due.dials += dials;
            due.round = self.round;
        } else if self.open > 0 && room > 0 && !self.retry {
            self.retry = true;
            due.retry_at = self.backoff.until();
        }
        due.wake.append(&mut self.fail_if_hopeless());
    }

    /// With no connection and none to come, tells those who wait.
    fn fail_if_hopeless(&mut self) -> Vec<Waker> {
        let mut wake = Vec::new();
        if self.open == 0
            && self.dialling == 0
            && let Some(failure) = &self.failure
        {
            for (ticket, waker) in std::mem::take(&mut self.queue) {
                self.served.insert(ticket, Served::Failure(failure.clone()));
                wake.push(waker);
            }
        }
        wake
    }
}

#[cfg(test)]
mod tests {
    use rpc_core::{Sent, Stage, TransportErrorKind};

    use super::*;

    /// Connections are numbers here.
    struct Bench {
        shelf: Shelf<u32>,
        now: Instant,
        due: Due<u32>,
    }

    impl Bench {
        fn new(max_connections: usize, max_idle: usize) -> Self {
            let idle_timeout = Duration::from_secs(90);
            let backoff = BackoffConfig { first: Duration::from_secs(1), longest: Duration::from_secs(8) };
            let shelf = Shelf::new(max_connections, max_idle, idle_timeout, backoff);
            Self { shelf, now: Instant::now(), due: Due::default() }
        }

        fn pass(&mut self, seconds: u64) {
            self.now += Duration::from_secs(seconds);
        }

        fn take(&mut self, ticket: Option<u64>) -> Taken<u32> {
            self.shelf.take(ticket, Waker::noop(), self.now, &mut self.due)
        }

        fn queued(&mut self) -> u64 {
            match self.take(None) {
                Taken::Queued(ticket) => ticket,
                _ => panic!("there was something to take"),
            }
        }

        fn connection(&mut self, ticket: Option<u64>) -> u32 {
            match self.take(ticket) {
                Taken::Connection(connection) => connection,
                _ => panic!("there is no connection"),
            }
        }

        fn is_unreachable(&mut self, ticket: Option<u64>) -> bool {
            matches!(self.take(ticket), Taken::Unreachable(_))
        }

        fn put_back(&mut self, connection: u32) {
            self.shelf.put_back(connection, self.now, &mut self.due);
        }

        fn lost(&mut self) {
            self.shelf.lost(self.now, &mut self.due);
        }

        fn dialled(&mut self, connection: u32) {
            self.shelf.dialled(connection, self.now, &mut self.due);
        }

        fn failed(&mut self, round: Round) {
            let error = TransportError::new(TransportErrorKind::Connect, Stage::Connect, Sent::No);
            self.shelf.failed(error, round, self.now, &mut self.due);
        }

        fn due(&mut self) -> Due<u32> {
            std::mem::take(&mut self.due)
        }

        fn counts(&self) -> (usize, usize, usize) {
            let Counts { open, idle, dialling } = self.shelf.counts();
            (open, idle, dialling)
        }
    }

    #[test]
    fn a_burst_dials_no_more_than_the_cap_and_is_served_in_order() {
        let mut bench = Bench::new(2, 2);
        let tickets: Vec<_> = (0..5).map(|_| bench.queued()).collect();
        assert_eq!((bench.due().dials, bench.counts()), (2, (0, 0, 2)));
        bench.dialled(7);
        assert_eq!((bench.due().wake.len(), bench.counts()), (1, (1, 0, 1)));
        assert_eq!(bench.connection(Some(tickets[0])), 7);
        for ticket in &tickets[1..] {
            bench.put_back(7);
            assert_eq!(bench.connection(Some(*ticket)), 7);
        }
        bench.put_back(7);
        assert_eq!((bench.due().dials, bench.counts()), (0, (1, 1, 1)));
    }

    #[test]
    fn last_used_first_and_the_oldest_is_closed_above_the_cap_on_idle_ones() {
        let mut bench = Bench::new(3, 2);
        for connection in 1..=3 {
            bench.shelf.add(connection, bench.now, &mut bench.due);
        }
        assert_eq!((bench.due().close, bench.counts()), (Some(1), (2, 2, 0)));
        assert_eq!((bench.connection(None), bench.connection(None)), (3, 2));
    }

    #[test]
    fn who_gives_up_hands_on_what_it_was_given() {
        let mut bench = Bench::new(1, 1);
        let (first, second, third) = (bench.queued(), bench.queued(), bench.queued());
        bench.dialled(1);
        assert_eq!(bench.shelf.give_up(second), None);
        assert_eq!(bench.shelf.give_up(first), Some(1));
        bench.put_back(1);
        assert_eq!(bench.connection(Some(third)), 1);
        assert!(bench.shelf.queue.is_empty() && bench.shelf.served.is_empty());
    }

    #[test]
    fn a_call_that_got_a_dead_connection_keeps_its_place() {
        let mut bench = Bench::new(1, 1);
        let (first, second) = (bench.queued(), bench.queued());
        bench.dialled(1);
        assert_eq!((bench.connection(Some(first)), bench.due().dials), (1, 1));
        bench.lost(); // it was dead: one is dialled for the other call already
        assert!(matches!(bench.take(Some(first)), Taken::Queued(ticket) if ticket == first));
        assert_eq!((bench.due().dials, bench.counts()), (1, (0, 0, 1)));
        bench.dialled(2);
        assert_eq!(bench.connection(Some(first)), 2);
        bench.put_back(2);
        assert_eq!(bench.connection(Some(second)), 2);
    }

    #[test]
    fn a_burst_of_failures_counts_once_and_later_attempts_are_single() {
        let mut bench = Bench::new(8, 8);
        let tickets: Vec<_> = (0..8).map(|_| bench.queued()).collect();
        let Due { dials, round, .. } = bench.due();
        assert_eq!(dials, 8);
        for _ in 0..8 {
            assert_eq!(bench.due().wake.len(), 0); // another attempt may succeed
            bench.failed(round);
        }
        assert_eq!((bench.due().wake.len(), bench.counts()), (8, (0, 0, 0)));
        assert!(tickets.into_iter().all(|ticket| bench.is_unreachable(Some(ticket))));
        assert!(bench.is_unreachable(None), "within the back-off calls fail at once");
        bench.pass(1); // one step of the back-off, not eight
        let (first, second) = (bench.queued(), bench.queued());
        let Due { dials, round, .. } = bench.due();
        assert_eq!((dials, bench.counts()), (1, (0, 0, 1)));
        bench.failed(round);
        assert!(bench.is_unreachable(Some(first)) && bench.is_unreachable(Some(second)));
        bench.pass(2);
        let _ = (bench.queued(), bench.queued());
        bench.dialled(1);
        assert_eq!(bench.counts(), (1, 0, 1), "the peer is back: all who wait may dial");
    }

    #[test]
    fn while_other_connections_serve_a_failed_dial_is_tried_again_without_a_new_call() {
        let mut bench = Bench::new(2, 2);
        bench.shelf.add(1, bench.now, &mut bench.due);
        let busy = bench.connection(None);
        let ticket = bench.queued();
        let round = bench.due().round;
        bench.failed(round);
        let due = bench.due();
        assert!(
            due.wake.is_empty() && due.retry_at.is_some_and(|at| at > bench.now),
            "it can still be served"
        );
        bench.pass(1);
        bench.shelf.retry(bench.now, &mut bench.due);
        assert_eq!(bench.due().dials, 1);
        bench.dialled(2);
        assert_eq!((busy, bench.connection(Some(ticket))), (1, 2));
    }

    #[test]
    fn the_last_connection_lost_during_back_off_fails_those_who_wait() {
        let mut bench = Bench::new(2, 2);
        bench.shelf.add(1, bench.now, &mut bench.due);
        bench.connection(None);
        let ticket = bench.queued();
        let round = bench.due().round;
        bench.failed(round);
        bench.lost();
        assert_eq!(bench.due().wake.len(), 1);
        assert!(bench.is_unreachable(Some(ticket)));
    }

    #[test]
    fn idle_ones_expire_and_the_reaper_is_started_once() {
        let mut bench = Bench::new(3, 3);
        bench.shelf.add(1, bench.now, &mut bench.due);
        assert_eq!(bench.due().reap_at, Some(bench.now + Duration::from_secs(90)));
        bench.pass(30);
        bench.shelf.add(2, bench.now, &mut bench.due);
        assert_eq!(bench.due().reap_at, None);
        bench.pass(60);
        let next = bench.now + Duration::from_secs(30);
        assert_eq!(bench.shelf.expire(bench.now), (vec![1], Some(next)));
        bench.pass(30);
        assert_eq!(bench.shelf.expire(bench.now), (vec![2], None));
        assert_eq!(bench.counts(), (0, 0, 0));
        bench.shelf.add(3, bench.now, &mut bench.due);
        assert!(bench.due().reap_at.is_some());
    }
}
