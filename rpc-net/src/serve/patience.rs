use std::time::{Duration, Instant};

/// How long a peer may take, and when its connection counts as idle. It reads no clock where nothing has to be timed.
pub(super) struct Patience {
    stall_timeout: Duration,
    /// When the part of a message that was read has to be whole.
    message_due: Option<Instant>,
    /// When some of what waits to be written has to be taken, and how much was written when that was set.
    write_due: Option<(Instant, u64)>,
    idle: Idle,
    /// Until when an idle connection is kept for requests that are on their way, while it stops.
    crossed_until: Option<Instant>,
    /// Something was read since that was last looked at.
    heard: bool,
}

/// Whether a connection has been idle for long.
enum Idle {
    /// It was not looked at yet.
    No,
    /// Then it is looked at whether something was read.
    Until(Instant),
    /// It holds no memory for messages.
    Released,
}

/// How long a connection keeps the memory for messages without having any; it may be twice as long.
const IDLE_AFTER: Duration = Duration::from_secs(1);

/// How long a request that the peer sent before it heard that the connection ends may take to come in. Kitex's servers wait for
/// half as long.
const CROSSING: Duration = Duration::from_millis(200);

/// What a peer has to take in the time that it has for that, in bytes: so that one that reads a byte now and then does not
/// hold a connection for ever.
const LEAST_TAKEN: u64 = 16 * 1024;

impl Patience {
    pub(super) fn new(stall_timeout: Duration) -> Self {
        Self {
            stall_timeout,
            message_due: None,
            write_due: None,
            idle: Idle::No,
            crossed_until: None,
            heard: false,
        }
    }

    /// When to look again.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        let idle = if let Idle::Until(at) = self.idle { Some(at) } else { None };
        let stalled = self.write_due.map(|(due, _)| due);
        [self.message_due, stalled, idle, self.crossed_until].into_iter().flatten().min()
    }

    /// Notes that something was read.
    pub(super) fn heard(&mut self) {
        self.heard = true;
        if self.crossed_until.is_some() {
            self.may_be_crossed();
        }
        if matches!(self.idle, Idle::Released) {
            self.idle = Idle::No;
        }
    }

    /// The peer is told that the connection ends: what it sent before it heard that should still come in.
    pub(super) fn may_be_crossed(&mut self) {
        self.crossed_until = now().checked_add(CROSSING);
    }

    /// Whether such requests are still waited for.
    pub(super) fn is_crossed(&self) -> bool {
        self.crossed_until.is_some()
    }

    /// Notes that such requests had their time, if so.
    pub(super) fn end_crossing(&mut self, now: Instant) {
        self.crossed_until = self.crossed_until.filter(|until| *until > now);
    }

    /// Notes that there is nothing to read. Says whether the time for being idle began to run just now.
    pub(super) fn rests(&mut self) -> bool {
        let begins = matches!(self.idle, Idle::No);
        if begins {
            self.idle = Idle::Until(now() + IDLE_AFTER);
        }
        begins
    }

    /// Says whether the memory for messages is to be given back now: once for each time without anything to read.
    pub(super) fn is_idle(&mut self, now: Instant) -> bool {
        if !matches!(self.idle, Idle::Until(at) if at <= now) {
            return false;
        }
        let idle = !std::mem::take(&mut self.heard);
        self.idle = if idle { Idle::Released } else { Idle::Until(now + IDLE_AFTER) };
        idle
    }

    /// The part of a message that is left after `progress` or without any has to become whole in time.
    pub(super) fn expects_rest(&mut self, now: Instant, progress: bool) {
        if progress || self.message_due.is_none() {
            self.message_due = now.checked_add(self.stall_timeout);
        }
    }

    /// No part of a message is left, or it is not the peer who holds it up.
    pub(super) fn expects_nothing(&mut self) {
        self.message_due = None;
    }

    /// A peer has to read what it is sent, and not in crumbs. Says whether the time for that began to run just now.
    pub(super) fn writes(&mut self, waiting: bool, written: u64) -> bool {
        if !waiting {
            self.write_due = None;
            return false;
        }
        if self.write_due.is_some_and(|(_, before)| written.saturating_sub(before) < LEAST_TAKEN) {
            return false;
        }
        self.write_due = now().checked_add(self.stall_timeout).map(|due| (due, written));
        self.write_due.is_some()
    }

    /// What the peer took too long for.
    pub(super) fn exhausted(&self, now: Instant) -> Option<&'static str> {
        let stalled = |due: Option<Instant>| due.is_some_and(|due| due <= now);
        if stalled(self.message_due) {
            Some("a message was begun and not finished in time")
        } else if stalled(self.write_due.map(|(due, _)| due)) {
            Some("the peer does not read its answers")
        } else {
            None
        }
    }
}

/// Tokio's clock, which tests move by hand.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
