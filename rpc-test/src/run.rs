use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

/// What lies between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Net {
    /// Pipes in memory, on one thread whose clock stands still until nothing else is to be done: time limits pass at once,
    /// and every run is the same.
    Memory,
    /// Sockets on 127.0.0.1, on two threads.
    Tcp,
}

/// A test may take so long before it counts as hanging.
const HANGS: Duration = Duration::from_secs(100);

/// Runs a test on a runtime that fits the network.
///
/// # Panics
/// When the test hangs.
pub fn run<F: Future>(net: Net, test: F) -> F::Output {
    let runtime = match net {
        // An interval of 1: the test itself gets a turn after each turn of a task.
        Net::Memory => {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            builder.enable_all().start_paused(true).event_interval(1).build()
        }
        Net::Tcp => tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build(),
    };
    let runtime = runtime.expect("a runtime");
    let output = runtime.block_on(async { tokio::time::timeout(HANGS, test).await.expect("the test hangs") });
    runtime.shutdown_background();
    output
}

/// Lets everything that is ready run for a moment.
pub async fn step() {
    tokio::task::yield_now().await;
}

/// Returns once the condition holds.
///
/// # Panics
/// When it does not come to hold, by the clock on the wall and not tokio's.
pub async fn until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < HANGS / 4, "waited in vain: {what}");
        step().await;
    }
}

/// Polls a future so many times, with a moment for all others between. `None` when it is not ready by then.
pub async fn poll_times<F: Future>(mut future: Pin<&mut F>, times: usize) -> Option<F::Output> {
    for _ in 0..times {
        let polled = poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => Poll::Ready(None),
        });
        if let Some(output) = polled.await {
            return Some(output);
        }
        step().await;
    }
    None
}
