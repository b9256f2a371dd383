//! When a connection is used again, and when it must not be.

mod common;

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use codec_thrift::framed;
use common::*;
use rpc_core::{Sent, Stage, TransportErrorKind};
use rpc_wire::CallId;
use tokio::task::coop;
use transport_pool::{PoolConfig, connect_with, lazy};

const SOON: Option<Duration> = Some(Duration::from_millis(100));

#[tokio::test(start_paused = true)]
async fn the_connection_that_was_used_last_is_used_next() {
    let (pool, mut host) = pool(PoolConfig::default());
    let (mut first, mut second) = (start(&pool, "1", None), start(&pool, "2", None));
    assert!(poll_once(&mut first).await.is_pending() && poll_once(&mut second).await.is_pending());
    let (mut one, mut two) = (host.accept().await, host.accept().await);
    let answers = async {
        let (to_one, to_two) = (one.request().await.unwrap(), two.request().await.unwrap());
        assert_eq!((&to_one.body[..], &to_two.body[..]), (&b"1"[..], &b"2"[..]));
        two.echo(&to_two).await;
        settle().await;
        one.echo(&to_one).await;
    };
    let (first, second, ()) = tokio::join!(first, second, answers);
    assert_eq!((&bytes(first).unwrap()[..], &bytes(second).unwrap()[..]), (&b"1"[..], &b"2"[..]));
    assert_eq!(pool.gauges(), gauges(2, 2));
    let serving = tokio::spawn(one.serve());
    assert_eq!(call(&pool, "three").await.unwrap(), "three");
    assert_eq!(call(&pool, "four").await.unwrap(), "four");
    drop(pool);
    assert_eq!(serving.await.unwrap(), [&b"three"[..], b"four"]);
    two.closed().await; // nothing was sent to it
}

/// C081, with the answer at every moment around the deadline.
#[tokio::test(start_paused = true)]
async fn a_late_answer_is_never_the_next_calls() {
    for delay in 95..105 {
        let (pool, mut host) = pool(PoolConfig::default());
        let late = tokio::spawn(start(&pool, "one", SOON));
        let mut peer = host.accept().await;
        let first = peer.request().await.unwrap();
        tokio::time::sleep(Duration::from_millis(delay)).await;
        peer.try_write(&reply(&first.name, first.id, b"one")).await; // it may be closed by now
        match bytes(late.await.unwrap()) {
            Ok(answer) => assert_eq!(answer, "one"),
            Err(error) => {
                let expected = (TransportErrorKind::Deadline, Stage::Receive, Sent::Maybe);
                assert_eq!(facts(&error), expected);
                peer.closed().await;
                let next = tokio::spawn(start(&pool, "two", SOON));
                let mut peer = host.accept().await;
                let second = peer.request().await.unwrap();
                assert_ne!(second.id, first.id);
                peer.echo(&second).await;
                assert_eq!(bytes(next.await.unwrap()).unwrap(), "two");
                assert_eq!(pool.gauges(), gauges(1, 1));
            }
        }
    }
}

/// C083: a long answer that comes in pieces, given up at many points.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_while_its_answer_comes_closes_the_connection() {
    for polls in 1..40 {
        let (pool, mut host) = pool(PoolConfig::default());
        let peers = tokio::spawn(async move {
            let mut cut_off = 0;
            loop {
                let mut peer = host.accept().await;
                let Some(request) = peer.request().await else { continue };
                if request.body != b"long" {
                    peer.echo(&request).await;
                    return (peer.serve().await, cut_off);
                }
                let long = reply(&request.name, request.id, &vec![7; 4 * 1024 * 1024]);
                assert!(!peer.try_write(&long).await, "it was not read to its end");
                cut_off += 1;
            }
        });
        let mut long = start(&pool, "long", None);
        for _ in 0..polls {
            assert!(poll_once(&mut long).await.is_pending(), "the answer is longer than {polls} polls read");
            tokio::task::yield_now().await;
        }
        drop(long);
        assert_eq!(pool.gauges().in_use, 0);
        assert_eq!(call(&pool, "short").await.unwrap(), "short");
        assert_eq!(call(&pool, "shorter").await.unwrap(), "shorter");
        drop(pool);
        let (served, cut_off) = peers.await.unwrap();
        assert_eq!(served, [b"shorter"]);
        assert_eq!(cut_off, usize::from(polls > 1), "the first poll only dials");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_may_be_dropped_at_every_await() {
    let mut polls = 0;
    loop {
        let (net, host) = net(Wire { drips: true, ..Wire::default() });
        let pool = lazy(net, framed(), PoolConfig::default());
        let bodies = serve_all(host);
        assert_eq!(call(&pool, "before").await.unwrap(), "before");
        let mut dropped = start(&pool, "dropped", None);
        let mut outcome = Poll::Pending;
        for _ in 0..polls {
            outcome = poll_once(&mut dropped).await;
            tokio::task::yield_now().await;
            if outcome.is_ready() {
                break;
            }
        }
        drop(dropped);
        assert_eq!(pool.gauges().in_use, 0);
        assert_eq!(call(&pool, "after").await.unwrap(), "after");
        assert_eq!(call(&pool, "and again").await.unwrap(), "and again");
        assert_eq!((pool.gauges().in_use, pool.gauges().waiting), (0, 0));
        drop(pool);
        settle().await;
        let mut bodies: Vec<_> = bodies.lock().unwrap().iter().cloned().collect();
        bodies.retain(|body| body != b"dropped");
        assert_eq!(bodies.len(), 3, "after {polls} polls");
        if let Poll::Ready(answer) = outcome {
            assert_eq!(bytes(answer).unwrap(), "dropped");
            break;
        }
        polls += 1;
    }
    assert!(polls > 50, "each byte is an await: {polls}");
}

/// C085
#[tokio::test(start_paused = true)]
async fn ids_begin_again_at_one() {
    let last = i32::MAX.cast_unsigned();
    let (pool, mut host) = pool(PoolConfig { first_id: CallId(last - 2), ..PoolConfig::default() });
    let peer = tokio::spawn(async move {
        let (mut peer, mut ids) = (host.accept().await, Vec::new());
        while let Some(request) = peer.request().await {
            ids.push(request.id);
            peer.echo(&request).await;
        }
        ids
    });
    for body in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"] {
        assert_eq!(call(&pool, body).await.unwrap(), body);
    }
    drop(pool);
    assert_eq!(peer.await.unwrap(), [last - 2, last - 1, last, 1, 2, 3, 4, 5, 6, 7]);
}

/// C086: what happened while it was idle is no call's concern.
#[tokio::test(start_paused = true)]
async fn a_connection_that_ended_while_idle_is_replaced_in_silence() {
    for how in ["closed", "reset", "unasked bytes", "a byte"] {
        let (pool, mut host) = pool(PoolConfig::default());
        let first = tokio::spawn(start(&pool, "first", None));
        let mut peer = host.accept().await;
        let request = peer.request().await.unwrap();
        peer.echo(&request).await;
        assert_eq!(bytes(first.await.unwrap()).unwrap(), "first");
        let kept = match how {
            "closed" => {
                drop(peer);
                None
            }
            "reset" => {
                peer.reset();
                None
            }
            "unasked bytes" => {
                peer.write(&reply(b"echo", request.id + 1, b"late")).await;
                Some(peer)
            }
            _ => {
                peer.write(&[0]).await;
                Some(peer)
            }
        };
        let second = tokio::spawn(start(&pool, "second", None));
        let serving = tokio::spawn(host.accept().await.serve());
        assert_eq!(bytes(second.await.unwrap()).unwrap(), "second", "{how}");
        assert_eq!(pool.gauges(), gauges(1, 1), "{how}");
        if let Some(mut peer) = kept {
            peer.closed().await;
        }
        drop(pool);
        assert_eq!(serving.await.unwrap(), [b"second"]);
    }
}

/// A task whose budget is used up is told that nothing is ready, whatever there is.
#[tokio::test(start_paused = true)]
async fn a_task_without_budget_sees_that_a_connection_ended() {
    let (pool, mut host) = pool(PoolConfig::default());
    let first = tokio::spawn(start(&pool, "first", None));
    let mut peer = host.accept().await;
    let request = peer.request().await.unwrap();
    peer.echo(&request).await;
    assert!(first.await.unwrap().is_ok());
    drop(peer);
    let mut second = start(&pool, "second", None);
    let mut spent = false;
    let second = tokio::spawn(poll_fn(move |cx| {
        while !spent && coop::has_budget_remaining() {
            assert!(pin!(coop::consume_budget()).poll(cx).is_ready());
        }
        spent = true;
        Pin::new(&mut second).poll(cx)
    }));
    serve_all(host);
    assert_eq!(bytes(second.await.unwrap()).unwrap(), "second");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_was_never_used_is_looked_at_too() {
    let (net, mut host) = net(Wire::default());
    let pool = connect_with(net, framed(), PoolConfig::default()).await.unwrap();
    drop(host.accept().await);
    let call = tokio::spawn(start(&pool, "body", None));
    tokio::spawn(host.accept().await.serve());
    assert_eq!(bytes(call.await.unwrap()).unwrap(), "body");
}

/// C086: the race that can not be won.
#[tokio::test(start_paused = true)]
async fn a_connection_that_ends_under_a_call_may_have_carried_it() {
    let (pool, mut host) = pool(PoolConfig::default());
    for reset in [false, true] {
        let lost = tokio::spawn(start(&pool, "body", None));
        let mut peer = host.accept().await;
        peer.request().await.unwrap();
        if reset {
            peer.reset()
        } else {
            drop(peer)
        }
        let error = bytes(lost.await.unwrap()).unwrap_err();
        assert_eq!(facts(&error), (TransportErrorKind::Closed, Stage::Receive, Sent::Maybe));
        assert_eq!(pool.gauges(), gauges(0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_closes_each_new_connection_is_not_dialled_again_and_again() {
    let (pool, mut host) = pool(PoolConfig::default());
    let lost = tokio::spawn(start(&pool, "body", None));
    drop(host.accept().await);
    let error = bytes(lost.await.unwrap()).unwrap_err();
    assert_eq!((error.kind(), host.attempts()), (TransportErrorKind::Closed, 1));
}

#[tokio::test(start_paused = true)]
async fn a_oneway_call_ends_when_it_is_written_and_leaves_the_connection_usable() {
    let (pool, mut host) = pool(PoolConfig::default());
    let note = tokio::spawn(start_oneway(&pool, "note", SOON));
    let mut peer = host.accept().await;
    assert_eq!(bytes(note.await.unwrap()).unwrap(), "");
    assert_eq!(pool.gauges(), gauges(1, 1));
    let note = peer.request().await.unwrap();
    assert_eq!((note.kind, &note.name[..], &note.body[..]), (4, &b"note"[..], &b"note"[..]));
    let serving = tokio::spawn(peer.serve());
    assert_eq!(call(&pool, "call").await.unwrap(), "call");
    drop(pool);
    assert_eq!(serving.await.unwrap(), [b"call"]);
}

#[tokio::test(start_paused = true)]
async fn a_oneway_call_that_is_half_written_closes_the_connection() {
    let (net, mut host) = net(Wire { capacity: 16, ..Wire::default() });
    let pool = lazy(net, framed(), PoolConfig::default());
    let error = bytes(start_oneway(&pool, vec![1; 100], SOON).await).unwrap_err();
    assert_eq!(facts(&error), (TransportErrorKind::Deadline, Stage::Send, Sent::Maybe));
    assert_eq!((host.accept().await.request().await, pool.gauges()), (None, gauges(0, 0)));
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_a_request_that_is_not_read_to_its_end_is_taken() {
    let (net, mut host) = net(Wire { capacity: 64, ..Wire::default() });
    let pool = lazy(net, framed(), PoolConfig::default());
    let refused = tokio::spawn(start(&pool, vec![1; 1000], None));
    let mut peer = host.accept().await;
    peer.write(&reply(b"echo", 1, b"no")).await;
    assert_eq!(bytes(refused.await.unwrap()).unwrap(), "no");
    assert_eq!((peer.request().await, pool.gauges()), (None, gauges(0, 0)));
}
