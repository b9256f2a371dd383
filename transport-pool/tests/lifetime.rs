//! How long connections and tasks live.

mod common;

use std::time::Duration;

use common::*;
use rpc_core::TransportErrorKind;
use tokio::runtime::Handle;
use transport_pool::PoolConfig;

fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_nobody_uses_is_closed_without_a_call() {
    let (pool, mut host) = pool(PoolConfig::default());
    let first = tokio::spawn(start(&pool, "first", None));
    let mut peer = host.accept().await;
    for _ in 0..3 {
        let request = peer.request().await.unwrap();
        peer.echo(&request).await;
        tokio::time::sleep(Duration::from_secs(60)).await; // short of the time, again and again
        assert_eq!(pool.gauges(), gauges(1, 1));
        tokio::spawn(start(&pool, "next", None));
    }
    assert!(first.await.unwrap().is_ok());
    let request = peer.request().await.unwrap();
    peer.echo(&request).await;
    tokio::time::sleep(Duration::from_secs(89)).await;
    assert!(!peer.is_closed().await);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(peer.is_closed().await);
    assert_eq!((pool.gauges(), tasks()), (gauges(0, 0), 0));
    let again = tokio::spawn(start(&pool, "again", None));
    let mut peer = host.accept().await;
    let request = peer.request().await.unwrap();
    peer.echo(&request).await;
    assert!(again.await.unwrap().is_ok());
    tokio::time::sleep(Duration::from_secs(91)).await;
    assert!(peer.is_closed().await, "it is watched again");
}

#[tokio::test(start_paused = true)]
async fn a_connection_in_use_does_not_expire() {
    let (pool, mut host) = pool(PoolConfig::default());
    let long = tokio::spawn(start(&pool, "long", None));
    let mut peer = host.accept().await;
    let request = peer.request().await.unwrap();
    tokio::time::sleep(Duration::from_secs(1000)).await;
    peer.echo(&request).await;
    assert_eq!(bytes(long.await.unwrap()).unwrap(), "long");
    tokio::time::sleep(Duration::from_secs(80)).await;
    assert_eq!(pool.gauges(), gauges(1, 1));
}

#[tokio::test(start_paused = true)]
async fn requests_that_want_no_answer_are_traffic_too() {
    let (pool, mut host) = pool(PoolConfig::default());
    for _ in 0..5 {
        bytes(start_oneway(&pool, "note", None).await).unwrap();
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    assert_eq!((host.attempts(), pool.gauges()), (1, gauges(1, 1)));
    drop(host.accept().await);
}

#[tokio::test(start_paused = true)]
async fn with_the_pool_its_connections_and_tasks_end() {
    let (pool, mut host) = pool(PoolConfig { max_connections: 2, ..PoolConfig::default() });
    let first = tokio::spawn(start(&pool, "first", None));
    let mut peer = host.accept().await;
    let request = peer.request().await.unwrap();
    peer.echo(&request).await;
    assert!(first.await.unwrap().is_ok());
    assert_eq!(tasks(), 1, "one watches over idle connections");
    host.dials(Dials::Hang);
    let (mut one, mut two) = (start(&pool, "one", None), start(&pool, "two", None));
    assert!(poll_once(&mut one).await.is_pending() && poll_once(&mut two).await.is_pending());
    assert_eq!(tasks(), 2, "one dials");
    drop(pool);
    drop(two);
    // The call that is on a connection goes on.
    let request = peer.request().await.unwrap();
    peer.echo(&request).await;
    assert_eq!(bytes(one.await).unwrap(), "one");
    settle().await;
    assert!(peer.is_closed().await);
    assert_eq!(tasks(), 0);
}

#[test]
fn a_call_may_be_dropped_and_the_pool_used_after_its_runtime_is_gone() {
    let runtime =
        || tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let (pool, mut host) = pool(PoolConfig { max_connections: 1, ..PoolConfig::default() });
    let first = runtime();
    let (one, two) = first.block_on(async {
        let (mut one, mut two) = (start(&pool, "one", None), start(&pool, "two", None));
        assert!(poll_once(&mut one).await.is_pending() && poll_once(&mut two).await.is_pending());
        let _peer = host.accept().await;
        settle().await;
        assert!(poll_once(&mut one).await.is_pending());
        (one, two)
    });
    drop(first);
    drop(one); // its connection is closed, and there is nobody to dial for the other
    assert_eq!((pool.gauges().dialling, pool.gauges().connections), (0, 0));
    runtime().block_on(async {
        let error = bytes(two.await).unwrap_err();
        assert_eq!(error.kind(), TransportErrorKind::Connect);
        serve_all(host);
        assert_eq!(call(&pool, "three").await.unwrap(), "three");
        assert_eq!(pool.gauges(), gauges(1, 1));
    });
}
