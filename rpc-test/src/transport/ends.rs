use std::pin::pin;
use std::time::Duration;

use rpc_core::{Code, Sent, Stage as At, TransportErrorKind};
use tokio::task::JoinSet;

use super::{Kind, Scene, Stage, Subject, failed, patient};
use crate::{Answer, Cut, How, Net, PipeConfig, Rng, Text, Way, method, poll_times, step, until};

/// A call is given up after each number of steps that it can take, with its bytes a piece further each time: the next call
/// gets its own answer, and nothing is left of the one given up.
pub async fn dropped_at_every_step<K: Kind, P: Subject>(net: Net, protocol: P) {
    let mut stage = Stage::new(net, protocol);
    stage.pipe = PipeConfig { chunk: 3, capacity: 3, cut: None };
    let mut steps = 0;
    loop {
        let scene = stage.clone().set::<K>().await;
        let done = {
            let mut call = pin!(scene.client.call::<method::Echo>(&Text::new("given up")));
            poll_times(call.as_mut(), steps).await
        };
        scene.echo("the next").await;
        scene.echo("the one after it").await;
        scene.is_at_rest().await;
        if let Some(answer) = done {
            assert_eq!(answer.expect("an answer"), Ok(Answer::new("given up")));
            assert!(steps > 5, "a call takes more than {steps} steps in pieces of three bytes");
            return;
        }
        steps += 1;
    }
}

/// A call ends at its deadline while its handler runs; its answer, when it comes, is nobody's.
pub async fn a_deadline_then_the_next_call<K: Kind, P: Subject>(net: Net, protocol: P) {
    let scene = Stage::new(net, protocol).set::<K>().await;
    let impatient = scene.client.with(patient().timeout(Duration::from_millis(30)));
    for i in 0..5 {
        let late = impatient.call::<method::Hold>(&Text::new("late")).await;
        let error = failed::<method::Hold>(late);
        assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
        if net == Net::Tcp && error.sent() == Sent::No {
            continue; // on a busy machine the time may be up before there is a connection
        }
        // `Yes` where the server knows of the deadline, and its answer came first.
        assert_eq!(error.stage(), Some(At::Receive), "{error}");
        assert_ne!(error.sent(), Sent::No, "{error}");
        let next = format!("next {i}");
        let mut next_call = pin!(scene.client.call::<method::Echo>(&Text::new(next.as_str())));
        let early = poll_times(next_call.as_mut(), 1).await;
        if K::SHARES {
            scene.probe.release(1); // the late answer comes while the next call is under way
        } else {
            until("the handler is dropped with its connection", || scene.probe.holding() == 0).await;
        }
        let answer = match early {
            Some(answer) => answer,
            None => next_call.await,
        };
        assert_eq!(answer.expect("an answer"), Ok(Answer::new(next)));
        // Where the protocol carries deadlines the server may have dropped the handler, which then needed no leave.
        until("the late handler is gone", || scene.probe.holding() == 0).await;
        scene.probe.take_back();
    }
    scene.comes_to_rest().await;
}

/// The connection breaks after each number of bytes of an exchange, either way: the call ends with an error that does not deny
/// what may have happened, is never executed twice, and the next call works.
pub async fn a_peer_that_vanishes_at_any_byte<K: Kind, P: Subject>(net: Net, protocol: P) {
    let total = {
        let scene = Stage::new(net, protocol.clone()).set::<K>().await;
        scene.echo("whole").await;
        let traffic = scene.wire.traffic();
        (traffic[0].written(), traffic[0].read())
    };
    let to_server = (0..total.0).map(|after| (Way::ToServer, after));
    let to_client = (0..=total.1).map(|after| (Way::ToClient, after));
    for (way, after) in to_server.chain(to_client) {
        for how in [How::Eof, How::Reset] {
            let mut stage = Stage::new(net, protocol.clone());
            let cut = PipeConfig { cut: Some(Cut { way, after, how }), ..PipeConfig::default() };
            stage.first = vec![cut];
            let scene = stage.set::<K>().await;
            let result = scene.client.call::<method::Echo>(&Text::new("whole")).await;
            let context = format!("{way:?} {how:?} after {after} of {total:?}: {result:?}");
            if (way, after) == (Way::ToClient, total.1) {
                assert_eq!(result.expect(&context), Ok(Answer::new("whole")));
            } else if scene.wire.dials() == 1 {
                let error = failed::<method::Echo>(result);
                let kind = error.transport().map(|error| error.kind());
                assert_eq!(kind, Some(TransportErrorKind::Closed), "{context}");
                assert_ne!(error.sent(), Sent::No, "{context}: then it would have been sent again");
                assert_eq!(error.endpoint(), Some("memory"), "{context}");
            } else {
                // Sent again: then it had provably not been executed.
                assert_eq!(result.expect(&context), Ok(Answer::new("whole")));
            }
            step().await;
            assert!(scene.probe.echoed() <= 1, "{context}: executed twice");
            let before = scene.probe.echoed();
            scene.echo("next").await;
            assert_eq!(scene.probe.echoed(), before + 1);
            scene.comes_to_rest().await;
        }
    }
}

/// A connection that its server closes while it is idle is replaced without an error.
pub async fn a_server_that_vanishes_is_dialled_again<K: Kind, P: Subject>(net: Net, protocol: P) {
    for how in [How::Eof, How::Reset] {
        let mut stage = Stage::new(net, protocol.clone());
        stage.client.connections = 2;
        let whole = {
            let scene = Stage::new(net, protocol.clone()).set::<K>().await;
            scene.echo("first").await;
            scene.wire.traffic()[0].read()
        };
        stage.first = vec![PipeConfig {
            cut: Some(Cut { way: Way::ToClient, after: whole, how }),
            ..PipeConfig::default()
        }];
        let scene = stage.set::<K>().await;
        scene.echo("first").await;
        for _ in 0..100 {
            step().await; // the cut is seen as soon as the client looks for more
        }
        for i in 0..10 {
            scene.echo(&i.to_string()).await;
        }
        scene.comes_to_rest().await;
    }
}

/// Nobody listens: calls fail at once and say so, and work once somebody does.
pub async fn nobody_there<K: Kind, P: Subject>(net: Net, protocol: P) {
    let mut scene = Stage::new(net, protocol).set::<K>().await;
    scene.server.stopped().await;
    for _ in 0..5 {
        let error = failed::<method::Echo>(scene.client.call::<method::Echo>(&Text::new("hello?")).await);
        assert_eq!((error.code(), error.sent()), (Code::Unavailable, Sent::No), "{error}");
        assert_eq!((error.stage(), error.endpoint()), (Some(At::Connect), Some("memory")), "{error}");
        assert!(error.to_string().contains("connection refused"), "{error}");
    }
    scene.comes_to_rest().await;
}

/// A server that stops lets calls in flight end, and takes no new ones.
pub async fn a_stop_drains<K: Kind, P: Subject>(net: Net, protocol: P) {
    let mut scene = Stage::new(net, protocol).set::<K>().await;
    let mut calls = hold(&scene, 5).await;
    scene.server.begin_stop();
    refuses_late_calls(&scene).await;
    assert!(!scene.server.has_stopped());
    scene.probe.release(5);
    while let Some(call) = calls.join_next().await {
        assert_eq!(call.expect("no panic").expect("an answer"), Ok(Answer::new("held")));
    }
    scene.server.stopped().await;
    assert_eq!((scene.probe.dropped(), scene.server.gauges().connections()), (0, 0));
    scene.is_at_rest().await;
}

/// A server that stops cuts what has not ended within its patience.
pub async fn a_stop_cuts<K: Kind, P: Subject>(net: Net, protocol: P) {
    let mut stage = Stage::new(net, protocol);
    stage.server.drain_timeout = Duration::from_millis(100);
    let mut scene = stage.set::<K>().await;
    let mut calls = hold(&scene, 5).await;
    scene.server.stopped().await;
    while let Some(call) = calls.join_next().await {
        let error = failed::<method::Hold>(call.expect("no panic"));
        let kind = error.transport().map(|error| error.kind());
        assert_eq!((kind, error.sent()), (Some(TransportErrorKind::Closed), Sent::Maybe), "{error}");
    }
    until("the handlers are dropped", || scene.probe.dropped() == 5).await;
    assert_eq!(scene.server.gauges().connections(), 0);
    scene.is_at_rest().await;
}

async fn hold<K: Kind, P: Subject>(
    scene: &Scene<K, P>,
    count: usize,
) -> JoinSet<Result<Result<Answer, rpc_core::Never>, rpc_core::Error>> {
    let mut calls = JoinSet::new();
    for _ in 0..count {
        calls.spawn(scene.client.call::<method::Hold>(&Text::new("held")));
    }
    until("the calls run", || scene.probe.holding() == count).await;
    calls
}

/// A stopping server takes no new connections, and refuses calls on those it has. Until it has heard of its stop, which over TCP
/// is another thread's turn, it serves them.
async fn refuses_late_calls<K: Kind, P: Subject>(scene: &Scene<K, P>) {
    while scene.wire.dial().await.is_ok() {
        step().await;
    }
    if !K::SHARES {
        // All connections are in use: a call waits for one of them, or for the peer to come back.
        let client = scene.client.with(patient().timeout(Duration::from_millis(50)));
        let error = failed::<method::Echo>(client.call::<method::Echo>(&Text::new("late")).await);
        assert_eq!((error.code(), error.sent()), (Code::DeadlineExceeded, Sent::No), "{error}");
        assert_eq!(scene.probe.echoed(), 0);
        return;
    }
    let mut served = 0;
    let error = loop {
        match scene.client.call::<method::Echo>(&Text::new("late")).await {
            Err(error) => break error,
            Ok(_) => served += 1,
        }
    };
    // Where the protocol has a word for going away, the client hears it and looks for another connection.
    let refused = error.to_string().contains("shutting down, not executed");
    assert!(refused || error.sent() == Sent::No, "{error}");
    assert_eq!(scene.probe.echoed(), served, "executed though it was refused");
}

/// When a connection goes without a goodbye, the handlers of its calls are dropped, and no others.
pub async fn a_client_that_vanishes_drops_its_handlers<K: Kind, P: Subject>(net: Net, protocol: P) {
    let mut stage = Stage::new(net, protocol);
    let cut = {
        let scene = stage.clone().set::<K>().await;
        let _held = hold(&scene, 1).await;
        scene.wire.traffic()[0].written()
    };
    // The second request on the first connection does not get through, and takes the first with it.
    stage.first = vec![PipeConfig {
        cut: Some(Cut { way: Way::ToServer, after: cut, how: How::Reset }),
        ..PipeConfig::default()
    }];
    if !K::SHARES {
        return; // one exchange at a time: there is no second request beside the first
    }
    let scene = stage.set::<K>().await;
    let mut held = hold(&scene, 1).await;
    let error = failed::<method::Echo>(scene.client.call::<method::Echo>(&Text::new("cut")).await);
    assert_eq!(error.code(), Code::Unavailable, "{error}");
    let error = failed::<method::Hold>(held.join_next().await.expect("one call").expect("no panic"));
    assert_eq!((error.code(), error.sent()), (Code::Unavailable, Sent::Maybe), "{error}");
    until("its handler is dropped", || scene.probe.dropped() == 1).await;
    scene.echo("on a new connection").await;
    scene.comes_to_rest().await;
}

/// Calls that end in all ways at once, by a seed: each that is answered has its own answer, and afterwards nothing is left.
pub async fn a_storm_leaves_nothing_behind<K: Kind, P: Subject>(net: Net, protocol: P) {
    let mut stage = Stage::new(net, protocol);
    stage.pipe = PipeConfig::in_pieces(50);
    stage.client.connections = 3;
    let scene = stage.set::<K>().await;
    let mut rng = Rng::new(7);
    let mut calls = JoinSet::new();
    for i in 0..600_usize {
        let (client, way, steps) = (scene.client.clone(), rng.below(6), rng.below(12));
        let impatient = client.with(patient().timeout(Duration::from_millis(1 + steps as u64)));
        let text = format!("call {i}");
        calls.spawn(async move {
            let expected = Ok(Answer::new(text.as_str()));
            match way {
                0 => assert_eq!(
                    client.call::<method::Echo>(&Text::new(text)).await.expect("an answer"),
                    expected
                ),
                1 => {
                    let mut call = pin!(client.call::<method::Echo>(&Text::new(text)));
                    if let Some(answer) = poll_times(call.as_mut(), steps).await {
                        assert_eq!(answer.expect("an answer"), expected);
                    }
                }
                2 => {
                    let mut call = pin!(client.call::<method::Hold>(&Text::new(text)));
                    assert!(poll_times(call.as_mut(), steps).await.is_none());
                }
                3 => {
                    let error =
                        failed::<method::Hold>(impatient.call::<method::Hold>(&Text::new(text)).await);
                    assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
                }
                4 => {
                    let error =
                        failed::<method::Unknown>(client.call::<method::Unknown>(&Text::new(text)).await);
                    assert_eq!(error.code(), Code::Unimplemented, "{error}");
                }
                _ => client.send::<method::Fire>(&Text::new(text)).await.expect("it is sent"),
            }
        });
        if i % 10 == 0 {
            step().await;
        }
    }
    while let Some(call) = calls.join_next().await {
        call.expect("no panic");
    }
    scene.echo("after the storm").await;
    scene.comes_to_rest().await;
    scene.echo("after the calm").await;
}
