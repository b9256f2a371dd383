//! Caps, the queue, and peers that can not be reached.

mod common;

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use common::*;
use rpc_core::{Sent, Stage, TransportErrorKind};
use tower::Service;
use transport_pool::{PoolConfig, PoolGauges};

/// C098: so many calls that each take 20 ms.
#[tokio::test(start_paused = true)]
async fn no_more_connections_than_the_cap_and_first_come_first_served() {
    let (pool, mut host) = pool(PoolConfig { max_connections: 8, ..PoolConfig::default() });
    let order = Arc::<Mutex<Vec<u32>>>::default();
    let seen = order.clone();
    let peers = tokio::spawn(async move {
        for _ in 0..8 {
            let (mut peer, seen) = (host.accept().await, seen.clone());
            tokio::spawn(async move {
                while let Some(request) = peer.request().await {
                    let number = request.body.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
                    seen.lock().unwrap().push(number.unwrap());
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    peer.echo(&request).await;
                }
            });
        }
        host
    });
    let calls: Vec<_> = (0..2000_u32)
        .map(|n| tokio::spawn(start(&pool, n.to_be_bytes().to_vec(), Some(Duration::from_secs(6)))))
        .collect();
    settle().await;
    assert_eq!(pool.gauges(), PoolGauges { connections: 8, in_use: 8, waiting: 1992, ..gauges(8, 0) });
    for (n, call) in calls.into_iter().enumerate() {
        let answer = bytes(call.await.unwrap()).unwrap();
        assert_eq!(answer[..], u32::try_from(n).unwrap().to_be_bytes());
    }
    assert_eq!(pool.gauges(), gauges(8, 8));
    assert_eq!(*order.lock().unwrap(), (0..2000).collect::<Vec<_>>());
    let host = peers.await.unwrap();
    assert_eq!(host.attempts(), 8);
}

/// C098, second run: more than can be served in time.
#[tokio::test(start_paused = true)]
async fn calls_that_wait_too_long_end_at_their_deadline() {
    let (pool, mut host) = pool(PoolConfig { max_connections: 1, ..PoolConfig::default() });
    tokio::spawn(async move {
        let mut peer = host.accept().await;
        while let Some(request) = peer.request().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
            peer.echo(&request).await;
        }
    });
    let calls: Vec<_> = (0..100_u32)
        .map(|n| tokio::spawn(start(&pool, n.to_be_bytes().to_vec(), Some(Duration::from_millis(210)))))
        .collect();
    let (mut served, mut late) = (0, 0);
    for call in calls {
        match bytes(call.await.unwrap()) {
            Ok(_) => {
                assert_eq!(late, 0, "first come, first served");
                served += 1;
            }
            Err(error) => {
                assert_eq!(error.kind(), TransportErrorKind::Deadline);
                late += 1;
            }
        }
    }
    assert!((9..=11).contains(&served), "{served}");
    assert_eq!((served + late, pool.gauges().waiting, pool.gauges().in_use), (100, 0, 0));
}

/// C089, with fewer calls.
#[tokio::test(start_paused = true)]
async fn abandoned_waiters_leave_nothing_behind() {
    let (pool, host) = pool(PoolConfig { max_connections: 4, ..PoolConfig::default() });
    host.dials(Dials::Hang);
    let mut calls: Vec<_> =
        (0..1000_u32).map(|n| start(&pool, n.to_be_bytes().to_vec(), Some(Duration::from_secs(1)))).collect();
    for call in &mut calls {
        assert!(poll_once(call).await.is_pending());
    }
    assert_eq!(pool.gauges(), PoolGauges { dialling: 4, waiting: 1000, ..PoolGauges::default() });
    let timed_out = calls.split_off(500);
    drop(calls);
    assert_eq!(pool.gauges().waiting, 500);
    for call in timed_out {
        let error = bytes(call.await).unwrap_err();
        assert_eq!(facts(&error), (TransportErrorKind::Deadline, Stage::Connect, Sent::No));
    }
    assert_eq!(pool.gauges(), PoolGauges { dialling: 4, ..PoolGauges::default() });
    host.dials(Dials::Succeed);
    serve_all(host);
    assert_eq!(call(&pool, "first").await.unwrap(), "first");
    settle().await;
    assert_eq!(pool.gauges(), gauges(4, 4));
}

/// C094: it fails fast with the reason, dials no more than the back-off allows, and recovers within one step of it.
#[tokio::test(start_paused = true)]
async fn a_peer_that_comes_up_later() {
    let (pool, host) = pool(PoolConfig::default());
    host.dials(Dials::AreRefused);
    for _ in 0..5 {
        let error = call(&pool, "early").await.unwrap_err();
        assert_eq!(facts(&error), (TransportErrorKind::Connect, Stage::Connect, Sent::No));
        assert_eq!(error.to_string(), "no connection while connecting (memory:1): connection refused");
    }
    assert_eq!(host.attempts(), 1);
    host.dials(Dials::Succeed);
    tokio::time::sleep(PoolConfig::default().backoff.first).await;
    serve_all(host);
    assert_eq!(call(&pool, "late").await.unwrap(), "late");
}

#[tokio::test(start_paused = true)]
async fn attempts_slow_down_while_the_peer_is_away() {
    let (pool, host) = pool(PoolConfig::default());
    host.dials(Dials::AreRefused);
    for _ in 0..2000 {
        // Twenty callers, every 10 ms, for 20 s.
        let calls: Vec<_> = (0..20).map(|_| tokio::spawn(start(&pool, "x", None))).collect();
        for call in calls {
            bytes(call.await.unwrap()).unwrap_err();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // 20 at once to begin with; then waits of 50 ms, doubled up to 5 s, each at least half as long: 15 at most in 20 s.
    assert!((20 + 5..=20 + 15).contains(&host.attempts()), "{}", host.attempts());
    assert_eq!(pool.gauges(), PoolGauges::default());
}

#[tokio::test(start_paused = true)]
async fn it_is_not_ready_while_as_many_wait_as_may() {
    let (mut pool, mut host) =
        pool(PoolConfig { max_connections: 1, max_waiting: 2, ..PoolConfig::default() });
    let mut calls: Vec<_> = (0..3).map(|_| start(&pool, "x", None)).collect();
    for call in &mut calls {
        assert!(poll_once(call).await.is_pending());
    }
    // The first has no connection yet either.
    assert_eq!(pool.gauges().waiting, 3);
    let mut other = pool.clone();
    let ready = tokio::spawn(async move { poll_fn(|cx| other.poll_ready(cx)).await });
    let peer = host.accept().await;
    settle().await;
    assert!(poll_once(&mut calls[0]).await.is_pending());
    assert_eq!((pool.gauges().waiting, ready.is_finished()), (2, false));
    drop(calls.pop());
    ready.await.unwrap().unwrap();
    assert!(matches!(poll_fn(|cx| Poll::Ready(pool.poll_ready(cx))).await, Poll::Ready(Ok(()))));
    drop(calls);
    settle().await;
    // When the first was dropped, its connection was closed and another dialled for the second.
    assert_eq!((pool.gauges(), host.attempts()), (gauges(1, 1), 2));
    drop(peer);
}

/// After a storm of calls that are answered, given up and late, in all states, everything is back at rest.
#[tokio::test(start_paused = true)]
async fn a_storm_leaves_every_gauge_at_rest() {
    let (pool, mut host) = pool(PoolConfig { max_connections: 5, max_idle: 3, ..PoolConfig::default() });
    tokio::spawn(async move {
        loop {
            let mut peer = host.accept().await;
            tokio::spawn(async move {
                let mut turn = 0_u64;
                while let Some(request) = peer.request().await {
                    turn += 1;
                    tokio::time::sleep(Duration::from_millis(turn % 4 * 10)).await;
                    let wanted = request.kind == 1;
                    if wanted && !peer.try_write(&reply(&request.name, request.id, &request.body)).await {
                        return;
                    }
                }
            });
        }
    });
    let calls: Vec<_> = (0..600_u32)
        .map(|n| {
            let body = n.to_be_bytes().to_vec();
            let deadline = Duration::from_millis(u64::from(n) % 7 * 20 + 15);
            let call = if n % 11 == 0 {
                start_oneway(&pool, body, Some(deadline))
            } else {
                start(&pool, body, Some(deadline))
            };
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(u64::from(n) % 50)).await;
                match n % 3 {
                    0 => {
                        let patience = Duration::from_millis(u64::from(n) % 13 * 5);
                        tokio::time::timeout(patience, call).await.ok().map(bytes)
                    }
                    _ => Some(bytes(call.await)),
                }
            })
        })
        .collect();
    let (mut answered, mut late, mut given_up) = (0, 0, 0);
    for (n, call) in calls.into_iter().enumerate() {
        match call.await.unwrap() {
            Some(Ok(answer)) if n % 11 == 0 => assert_eq!(answer, ""),
            Some(Ok(answer)) => {
                assert_eq!(answer[..], u32::try_from(n).unwrap().to_be_bytes());
                answered += 1;
            }
            Some(Err(error)) => {
                assert_eq!(error.kind(), TransportErrorKind::Deadline);
                late += 1;
            }
            None => given_up += 1,
        }
    }
    assert!(answered > 10 && late > 10 && given_up > 10, "{answered} {late} {given_up}");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let rest = pool.gauges();
    assert_eq!((rest.in_use, rest.dialling, rest.waiting), (0, 0, 0));
    assert!(rest.idle == rest.connections && rest.idle <= 3);
    assert_eq!(call(&pool, "after").await.unwrap(), "after");
}
