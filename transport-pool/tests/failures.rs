//! What a call that fails says: the kind, the stage, whether the peer can have executed it, and why.

mod common;

use std::time::Duration;

use bytes::Bytes;
use codec_thrift::framed;
use common::*;
use rpc_core::{Client, Name, RequestHead, Sent, Stage, TransportErrorKind};
use rpc_wire::Limits;
use tokio::time::Instant;
use transport_pool::{PoolConfig, lazy};

/// C019
#[tokio::test(start_paused = true)]
async fn a_peer_that_dies_in_the_middle_of_an_answer() {
    use TransportErrorKind::Closed;
    let (pool, mut host) = pool(PoolConfig::default());
    for (len, reset, sent, text) in [
        (
            10,
            false,
            Sent::Yes,
            ": got 10 bytes of an answer: the peer closed the connection inside a message",
        ),
        (10, true, Sent::Yes, ": got 10 bytes of an answer: connection reset"),
        (0, false, Sent::Maybe, ": the peer closed the connection"),
    ] {
        let dying = tokio::spawn(start(&pool, "one", None));
        let mut peer = host.accept().await;
        let request = peer.request().await.unwrap();
        peer.write(&reply(&request.name, request.id, b"one")[..len]).await;
        if reset {
            peer.reset()
        } else {
            drop(peer)
        }
        let error = bytes(dying.await.unwrap()).unwrap_err();
        assert_eq!(facts(&error), (Closed, Stage::Receive, sent));
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(pool.gauges(), gauges(0, 0));
        let next = tokio::spawn(start(&pool, "two", None));
        let serving = tokio::spawn(host.accept().await.serve());
        assert_eq!(bytes(next.await.unwrap()).unwrap(), "two");
        serving.abort(); // closes it while it is idle, which is no error at all
        let _ = serving.await;
    }
}

/// A server that multiplexes says that it goes to clients that did not ask to hear of it. That is no part of an answer.
#[tokio::test(start_paused = true)]
async fn a_farewell_is_no_part_of_an_answer() {
    const FAREWELL: &[u8] = b"\0\0\0\x2b\x10\0\0\0\0\0\0\0\0\x04\0\0\x01\0\x01\0\x05crrst\0\x011\0\
        \x80\x01\0\x02\0\0\0\x04none\0\0\0\0\0";
    for (more, sent) in [(0, Sent::Maybe), (5, Sent::Yes)] {
        let (net, mut host) = net(Wire::default());
        let pool = lazy(net, codec_thrift::ttheader(), PoolConfig::default());
        let head = RequestHead { method: Name::from_static("echo"), ..RequestHead::default() };
        let call = tokio::spawn(Client::new(pool.clone()).call_raw(head, Bytes::from_static(b"\0")));
        let mut peer = host.accept().await;
        peer.frame().await.unwrap();
        peer.write(FAREWELL).await;
        peer.write(&FAREWELL[..more]).await;
        drop(peer);
        let error = call.await.unwrap().unwrap_err();
        assert_eq!((error.sent(), pool.gauges()), (sent, gauges(0, 0)), "{error}");
    }
}

/// C036, and what stands behind an answer.
#[tokio::test(start_paused = true)]
async fn an_answer_to_something_else() {
    let (pool, mut host) = pool(PoolConfig::default());
    for (name, id, text) in [("echo", 2, "bad sequence id"), ("swap", 1, "wrong method")] {
        let confused = tokio::spawn(start(&pool, "one", None));
        let mut peer = host.accept().await;
        let request = peer.request().await.unwrap();
        peer.write(&reply(name.as_bytes(), request.id - 1 + id, b"one")).await;
        let error = bytes(confused.await.unwrap()).unwrap_err();
        assert_eq!(facts(&error), (TransportErrorKind::Protocol, Stage::Receive, Sent::Yes));
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(pool.gauges(), gauges(0, 0));
        peer.closed().await;
    }
    let answered = tokio::spawn(start(&pool, "one", None));
    let mut peer = host.accept().await;
    let request = peer.request().await.unwrap();
    let mut two = reply(&request.name, request.id, b"one");
    two.extend(reply(&request.name, request.id, b"one again"));
    peer.write(&two).await;
    assert_eq!(bytes(answered.await.unwrap()).unwrap(), "one");
    assert_eq!(pool.gauges(), gauges(0, 0), "the second answer may not stay on it");
}

#[tokio::test(start_paused = true)]
async fn bytes_that_are_no_answer() {
    let (pool, mut host) = pool(PoolConfig::default());
    for (answer, kind) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], TransportErrorKind::Protocol),
        (&[0x7f, 0xff, 0xff, 0xff, 0], TransportErrorKind::TooLarge),
        (&[0xff, 0xff, 0xff, 0xff, 0], TransportErrorKind::TooLarge),
        (&[0, 0, 0, 0], TransportErrorKind::Protocol),
    ] {
        let confused = tokio::spawn(start(&pool, "one", None));
        let mut peer = host.accept().await;
        peer.request().await.unwrap();
        peer.write(answer).await;
        let error = bytes(confused.await.unwrap()).unwrap_err();
        assert_eq!(facts(&error), (kind, Stage::Receive, Sent::Yes), "{error}");
        peer.closed().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_too_large_leaves_no_bytes_and_the_connection_usable() {
    let limits = Limits { max_message: 1000, ..Limits::default() };
    let (pool, mut host) = pool(PoolConfig { limits, ..PoolConfig::default() });
    let error = bytes(start(&pool, vec![0; 1000], None).await).unwrap_err();
    assert_eq!(facts(&error), (TransportErrorKind::TooLarge, Stage::Send, Sent::No));
    assert_eq!(pool.gauges(), gauges(1, 1));
    let serving = tokio::spawn(host.accept().await.serve());
    assert_eq!(call(&pool, "small").await.unwrap(), "small");
    drop(pool);
    assert_eq!(serving.await.unwrap(), [b"small"]);
}

/// C091: whatever takes the time, the call ends at its deadline and says where it was.
#[tokio::test(start_paused = true)]
async fn the_deadline_counts_from_the_call() {
    const TIMEOUT: Duration = Duration::from_millis(500);
    for (what, stage, sent) in [
        ("the dial hangs", Stage::Connect, Sent::No),
        ("all connections are in use", Stage::Queue, Sent::No),
        ("the peer never reads", Stage::Send, Sent::Maybe),
        ("the peer never answers", Stage::Receive, Sent::Maybe),
        ("the peer stops within the answer", Stage::Receive, Sent::Yes),
    ] {
        let (net, mut host) = net(Wire { capacity: 1000, ..Wire::default() });
        let pool = lazy(net, framed(), PoolConfig { max_connections: 1, ..PoolConfig::default() });
        let (mut busy, mut size) = (None, 10);
        match what {
            "the dial hangs" => host.dials(Dials::Hang),
            "all connections are in use" => busy = Some(tokio::spawn(start(&pool, "busy", None))),
            "the peer never reads" => size = 5000,
            _ => {}
        }
        settle().await;
        let begun = Instant::now();
        let late = tokio::spawn(start(&pool, vec![0; size], Some(TIMEOUT)));
        let peer = match what {
            "the dial hangs" => None,
            "the peer stops within the answer" => {
                let mut peer = host.accept().await;
                let request = peer.request().await.unwrap();
                peer.write(&reply(&request.name, request.id, b"one")[..10]).await;
                Some(peer)
            }
            _ => Some(host.accept().await),
        };
        let error = bytes(late.await.unwrap()).unwrap_err();
        assert_eq!(facts(&error), (TransportErrorKind::Deadline, stage, sent), "{what}");
        let took = begun.elapsed();
        assert!(took >= TIMEOUT && took <= TIMEOUT + Duration::from_millis(2), "{what}: {took:?}");
        drop((peer, busy));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_time_is_up_is_not_sent() {
    let (pool, mut host) = pool(PoolConfig::default());
    let error = bytes(start(&pool, "late", Some(Duration::ZERO)).await).unwrap_err();
    assert_eq!(facts(&error), (TransportErrorKind::Deadline, Stage::Queue, Sent::No));
    assert!(!host.has_more() && host.attempts() == 0);
}

/// The timer of a connection stays armed for an earlier call; later deadlines hold all the same.
#[tokio::test(start_paused = true)]
async fn deadlines_hold_on_a_connection_that_had_others() {
    let (pool, mut host) = pool(PoolConfig::default());
    let mut peer = None;
    for timeout in [100, 1000, 50].map(Duration::from_millis) {
        let call = tokio::spawn(start(&pool, "answered", Some(timeout)));
        if peer.is_none() {
            peer = Some(host.accept().await);
        }
        let peer = peer.as_mut().unwrap();
        let request = peer.request().await.unwrap();
        settle().await; // while it waits, its deadline reaches the timer
        peer.echo(&request).await;
        assert_eq!(bytes(call.await.unwrap()).unwrap(), "answered");
    }
    let (begun, timeout) = (Instant::now(), Duration::from_millis(300));
    let error = bytes(start(&pool, "late", Some(timeout)).await).unwrap_err();
    assert_eq!(facts(&error), (TransportErrorKind::Deadline, Stage::Receive, Sent::Maybe));
    let took = begun.elapsed();
    assert!(took >= timeout && took <= timeout + Duration::from_millis(2), "{took:?}");
    assert_eq!(host.attempts(), 1);
}
