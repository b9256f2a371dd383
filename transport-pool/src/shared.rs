use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Waker};
use std::time::Instant;

use rpc_core::{Sent, Stage, TransportError, TransportErrorKind};
use rpc_net::{Connect, Waiting};
use rpc_wire::{CallId, MakeProtocol};
use tokio::runtime::Handle;
use tokio::time::sleep_until;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::PoolConfig;
use crate::connection::Connection;
use crate::shelf::{Counts, Due, Round, Shelf, Taken};

/// A connection is boxed since it moves between the shelf and the calls.
pub(crate) type Pooled<P, C> = Box<Connection<<C as Connect>::Io, <P as MakeProtocol>::Protocol>>;

/// What the clones of a pool and its calls share. It ends with the last of them, and its tasks with it.
pub(crate) struct Shared<P: MakeProtocol, C: Connect> {
    pub(crate) connector: C,
    pub(crate) protocol: P,
    pub(crate) waiting: Waiting,
    config: PoolConfig,
    shelf: Mutex<Shelf<Pooled<P, C>>>,
    /// Connections that were made.
    made: AtomicU32,
    /// Cancelled when this ends. The tasks hold it, and this only weakly.
    gone: CancellationToken,
    _ends: DropGuard,
}

/// How much higher the ids of each further connection begin.
const ID_STRIDE: u32 = 65_536;
const LAST_ID: u32 = i32::MAX.cast_unsigned();

impl<P: MakeProtocol, C: Connect> Shared<P, C> {
    pub(crate) fn new(connector: C, protocol: P, mut config: PoolConfig) -> Self {
        // So that protocols do not invite the peer to say anything unasked.
        config.limits.max_in_flight = 1;
        let shelf =
            Shelf::new(config.max_connections, config.max_idle, config.idle_timeout, config.backoff.clone());
        let gone = CancellationToken::new();
        Self {
            connector,
            protocol,
            waiting: Waiting::new(config.max_waiting),
            config,
            shelf: Mutex::new(shelf),
            made: AtomicU32::new(0),
            _ends: gone.clone().drop_guard(),
            gone,
        }
    }

    /// Takes a connection on which nothing came since its last exchange, or a place in the queue.
    ///
    /// One that was just dialled for a call that waited is not asked: if its peer closes it at once, the call is to say so,
    /// or it would be dialled again and again.
    pub(crate) fn take(
        self: &Arc<Self>,
        ticket: Option<u64>,
        now: Instant,
        cx: &mut Context<'_>,
    ) -> Taken<Pooled<P, C>> {
        loop {
            let mut due = Due::default();
            let taken = self.lock().take(ticket, cx.waker(), now, &mut due);
            self.carry_out(due);
            match taken {
                Taken::Connection(mut connection) => {
                    let just_dialled = ticket.is_some() && !connection.is_used();
                    if just_dialled || connection.is_quiet(cx) {
                        return Taken::Connection(connection);
                    }
                    self.close(connection);
                }
                taken => return taken,
            }
        }
    }

    /// Takes back the connection of an exchange that is over or given up. It is closed unless it is provably clean.
    pub(crate) fn put_back(self: &Arc<Self>, mut connection: Pooled<P, C>) {
        if !connection.finish() {
            return self.close(connection);
        }
        // One clock reading less for each call, and near enough.
        let now = connection.alive_at();
        let mut due = Due::default();
        self.lock().put_back(connection, now, &mut due);
        self.carry_out(due);
    }

    fn close(self: &Arc<Self>, connection: Pooled<P, C>) {
        drop(connection); // before another is dialled in its place
        let mut due = Due::default();
        self.lock().lost(now(), &mut due);
        self.carry_out(due);
    }

    /// Takes a call out of the queue.
    pub(crate) fn give_up_waiting(self: &Arc<Self>, ticket: u64) {
        let given = self.lock().give_up(ticket);
        if let Some(connection) = given {
            self.put_back(connection);
        }
    }

    /// Puts a connection that was made without the shelf's doing on it.
    pub(crate) fn add(self: &Arc<Self>, io: C::Io) {
        let connection = self.connection(io);
        let mut due = Due::default();
        self.lock().add(connection, now(), &mut due);
        self.carry_out(due);
    }

    pub(crate) fn counts(&self) -> Counts {
        self.lock().counts()
    }

    /// An error of this transport's.
    pub(crate) fn error(&self, kind: TransportErrorKind, stage: Stage) -> TransportError {
        TransportError::new(kind, stage, Sent::No).at(self.connector.endpoint().clone())
    }

    fn lock(&self) -> MutexGuard<'_, Shelf<Pooled<P, C>>> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connection(&self, io: C::Io) -> Pooled<P, C> {
        let made = self.made.fetch_add(1, Ordering::Relaxed);
        let first_id = self.config.first_id.0.wrapping_add(made.wrapping_mul(ID_STRIDE)) & LAST_ID;
        let protocol = self.protocol.client(&self.config.limits, CallId(first_id));
        Box::new(Connection::new(io, protocol))
    }

    /// Does what the shelf could not do under its lock.
    fn carry_out(self: &Arc<Self>, due: Due<Pooled<P, C>>) {
        let Due { dials, round, wake, close, reap_at, retry_at } = due;
        drop(close);
        for _ in 0..dials {
            // On a task of its own: it goes on when the call for which it began is given up.
            let attempt = Attempt { pool: Some(Arc::downgrade(self)), round };
            spawn(dial(attempt, self.connector.clone(), self.gone.clone()));
        }
        if let Some(at) = reap_at {
            spawn(reap(Reaper(Some(Arc::downgrade(self))), at, self.gone.clone()));
        }
        if let Some(at) = retry_at {
            spawn(retry(Retry(Some(Arc::downgrade(self))), at, self.gone.clone()));
        }
        wake.into_iter().for_each(Waker::wake);
    }

    fn dialled(self: &Arc<Self>, result: Result<C::Io, TransportError>, round: Round) {
        let result = result.map(|io| self.connection(io));
        let mut due = Due::default();
        let now = now();
        match result {
            Ok(connection) => self.lock().dialled(connection, now, &mut due),
            Err(error) => self.lock().failed(error, round, now, &mut due),
        }
        self.carry_out(due);
    }
}

/// Starts a task. A call may be dropped outside of a runtime, where none can be started: then its guard reports that.
fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(task);
    }
}

/// Tokio's clock, which tests move by hand.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// One attempt to connect, for whoever waits longest by then.
async fn dial<P: MakeProtocol, C: Connect>(attempt: Attempt<P, C>, connector: C, gone: CancellationToken) {
    if let Some(result) = gone.run_until_cancelled(connector.connect()).await {
        attempt.finish(result);
    }
}

/// Reports what became of an attempt, also when its task is broken off.
struct Attempt<P: MakeProtocol, C: Connect> {
    pool: Option<Weak<Shared<P, C>>>,
    round: Round,
}

impl<P: MakeProtocol, C: Connect> Attempt<P, C> {
    fn finish(mut self, result: Result<C::Io, TransportError>) {
        if let Some(pool) = self.pool.take().and_then(|pool| pool.upgrade()) {
            pool.dialled(result, self.round);
        }
    }
}

impl<P: MakeProtocol, C: Connect> Drop for Attempt<P, C> {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take().and_then(|pool| pool.upgrade()) {
            let error = pool.error(TransportErrorKind::Connect, Stage::Connect);
            let wake = pool.lock().broken_off(error.because("the attempt was broken off"));
            wake.into_iter().for_each(Waker::wake);
        }
    }
}

/// Closes connections that nobody uses. It runs while there are any.
async fn reap<P: MakeProtocol, C: Connect>(
    mut reaper: Reaper<P, C>,
    mut at: Instant,
    gone: CancellationToken,
) {
    while gone.run_until_cancelled(sleep_until(at.into())).await.is_some()
        && let Some(pool) = reaper.0.as_ref().and_then(Weak::upgrade)
    {
        let (expired, next) = pool.lock().expire(now());
        drop(expired);
        match next {
            Some(next) => at = next,
            None => {
                reaper.0 = None; // the shelf knows, and may have had another started by now
                return;
            }
        }
    }
}

struct Reaper<P: MakeProtocol, C: Connect>(Option<Weak<Shared<P, C>>>);

impl<P: MakeProtocol, C: Connect> Drop for Reaper<P, C> {
    fn drop(&mut self) {
        if let Some(pool) = self.0.take().and_then(|pool| pool.upgrade()) {
            pool.lock().reaper_ended();
        }
    }
}

/// Dials again once the back-off is over, for calls that wait while other connections are in use.
async fn retry<P: MakeProtocol, C: Connect>(mut retry: Retry<P, C>, at: Instant, gone: CancellationToken) {
    if gone.run_until_cancelled(sleep_until(at.into())).await.is_some()
        && let Some(pool) = retry.0.take().and_then(|pool| pool.upgrade())
    {
        let mut due = Due::default();
        pool.lock().retry(now(), &mut due);
        pool.carry_out(due);
    }
}

struct Retry<P: MakeProtocol, C: Connect>(Option<Weak<Shared<P, C>>>);

impl<P: MakeProtocol, C: Connect> Drop for Retry<P, C> {
    fn drop(&mut self) {
        if let Some(pool) = self.0.take().and_then(|pool| pool.upgrade()) {
            pool.lock().retry_ended();
        }
    }
}
