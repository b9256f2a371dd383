//! Servers that stop gracefully while they are called, and another that takes over. Over TTHeader no call may fail: the server
//! says that it goes, and answers what it was asked. Without it a connection can only be closed, and the calls that cross
//! that fail, as they do where Kitex multiplexes.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rpc::{CallOptions, Error, Sent};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::{Around, FirstThatListens, Ours, Way, program, with_clients};
use crate::hop::Looks;
use crate::idl::hop::Ask;
use crate::program::{Conversation, Missing};

/// How many callers there are.
const CALLERS: usize = 16;
/// How many calls are made before the first server stops, and again after it is gone.
const EACH: usize = 2000;

/// Kitex's client calls; the first of our servers stops.
pub(super) async fn ours_stops(way: Way) -> Result<(), Missing> {
    let (first, second) = (Ours::serve(way).await, Ours::serve(way).await);
    let mut client = Conversation::start(program("load", way, &[&first.address, &second.address])?);
    client.hear("calling").await;
    assert_eq!((second.accepted)(), 0);
    client.tell("stopping").await;
    first.stop().await;
    client.tell("stopped").await;
    let printed = client.end().await;
    let (summary, failed) = printed.split_last().expect("a summary");
    let (calls, failures) = summary.split_once(" calls, ").expect("a summary");
    assert!(calls.parse::<usize>().expect("a number") > 2 * EACH, "{summary}");
    assert_eq!(failures, format!("{} failed", failed.len()));
    assert!((second.accepted)() > 0);
    if way.bears_stops() {
        assert!(failed.is_empty(), "{printed:#?}");
    }
    // Each connection is closed once. Where calls share them there are two.
    let closes = if way.around == Around::Mux { 2 } else { 1 };
    assert!(failed.len() <= CALLERS * closes, "{printed:#?}");
    for failure in failed {
        let crossed = failure.starts_with("failed, begun before: remote or network error")
            || failure.starts_with("failed, begun stopping: remote or network error");
        assert!(crossed, "{failure}");
    }
    Ok(())
}

/// Our clients call; the first of Kitex's servers stops, then, under the next transport, the second.
pub(super) async fn it_stops(way: Way) -> Result<(), Missing> {
    let mut servers = VecDeque::new();
    for _ in 0..3 {
        let mut server = Conversation::start(program("server", way, &[])?);
        let address = server.hear("listening ").await;
        servers.push_back((server, address));
    }
    let addresses: Vec<_> = servers.iter().map(|(_, address)| address.clone()).collect();
    let connector = || FirstThatListens::of(&addresses);
    with_clients!(way, connector(), load(way, &mut servers));
    Ok(())
}

/// Calls while the first of the servers stops.
async fn load<L: Looks>(client: L, way: Way, servers: &mut VecDeque<(Conversation, String)>) {
    let (mut first, _) = servers.pop_front().expect("a server");
    let calls = Arc::new(Load::default());
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        callers.spawn(calls.clone().call(client.clone()));
    }
    calls.enough.notified().await;
    first.tell("stop").await;
    first.hear("stopped").await;
    first.end().await;
    calls.stopped.store(true, Ordering::SeqCst);
    while let Some(caller) = callers.join_next().await {
        caller.expect("a caller");
    }
    let (_, second) = servers.front().expect("a server");
    let seen = client.look(CallOptions::new(), Ask::default()).await.expect("an answer");
    assert!(seen.text.ends_with(second), "{seen:?}");
    let failed = calls.failed.lock().expect("no panic");
    if way.bears_stops() {
        assert!(failed.is_empty(), "{failed:#?}");
    }
    for (began_after, error) in &*failed {
        let crossed = !began_after && error.sent() == Sent::Maybe;
        assert!(crossed && error.transport().is_some(), "{error:?}, begun after: {began_after}");
    }
}

#[derive(Default)]
struct Load {
    made: AtomicUsize,
    made_after: AtomicUsize,
    /// The first server is gone.
    stopped: AtomicBool,
    enough: Notify,
    /// Whether the call began after that, and what became of it.
    failed: Mutex<Vec<(bool, Error)>>,
}

impl Load {
    async fn call<L: Looks>(self: Arc<Self>, client: L) {
        loop {
            let after = self.stopped.load(Ordering::SeqCst);
            let outcome = client.look(CallOptions::new(), Ask::default()).await;
            if let Err(error) = outcome {
                self.failed.lock().expect("no panic").push((after, error));
            }
            if self.made.fetch_add(1, Ordering::SeqCst) + 1 == EACH {
                self.enough.notify_one();
            }
            if after && self.made_after.fetch_add(1, Ordering::SeqCst) + 1 >= EACH {
                return;
            }
        }
    }
}
