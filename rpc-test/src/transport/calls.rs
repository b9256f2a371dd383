use futures::future::join_all;
use rpc_core::Code;
use rpc_wire::CallId;

use super::{Kind, Stage, Subject, failed};
use crate::{Answer, Net, PipeConfig, Text, method, until};

/// A call is answered, and the next one too, on the same connection.
pub async fn echo<K: Kind, P: Subject>(net: Net, protocol: P) {
    let scene = Stage::new(net, protocol).set::<K>().await;
    scene.echo("hi").await;
    scene.echo("").await;
    scene.echo("ünïcödé, and \u{0} too").await;
    assert_eq!((scene.wire.dials(), scene.probe.echoed()), (1, 3));
    scene.comes_to_rest().await;
}

/// A thousand calls at once, each with its own answer; some of their handlers are not ready at once.
pub async fn a_thousand_at_once<K: Kind, P: Subject>(net: Net, protocol: P) {
    let scene = Stage::new(net, protocol).set::<K>().await;
    let calls = (0..1000_usize).map(|i| {
        let client = scene.client.clone();
        tokio::spawn(async move {
            let text = if i % 3 == 0 { (i % 7).to_string() } else { format!("call {i}") };
            let answer = match i % 3 {
                0 => client.call::<method::Slow>(&Text::new(text.as_str())).await,
                _ => client.call::<method::Echo>(&Text::new(text.as_str())).await,
            };
            assert_eq!(answer.expect("an answer"), Ok(Answer::new(text)));
        })
    });
    for call in join_all(calls).await {
        call.expect("no panic");
    }
    if K::SHARES {
        assert_eq!(scene.wire.dials(), 1);
    }
    scene.comes_to_rest().await;
}

/// Texts as long as buffers are, one more and one less; and a megabyte.
pub async fn every_size_around_the_buffers<K: Kind, P: Subject>(net: Net, protocol: P) {
    let scene = Stage::new(net, protocol).set::<K>().await;
    let around = |size: usize| size - 5..=size + 5;
    let sizes = [0, 1].into_iter().chain(around(4096)).chain(around(8192)).chain(around(65_536));
    for size in sizes.chain([131_072, 1_048_576]) {
        let text: String = ('a'..='z').cycle().take(size).collect();
        scene.echo(&text).await;
    }
    scene.comes_to_rest().await;
}

/// A call that is answered late does not hold up one that came after it.
pub async fn answers_out_of_order<K: Kind, P: Subject>(net: Net, protocol: P) {
    let scene = Stage::new(net, protocol).set::<K>().await;
    let first = tokio::spawn(scene.client.call::<method::Hold>(&Text::new("first")));
    until("the first call runs", || scene.probe.holding() == 1).await;
    scene.echo("second").await;
    scene.probe.release(1);
    assert_eq!(first.await.expect("no panic").expect("an answer"), Ok(Answer::new("first")));
    assert_eq!(scene.wire.dials(), if K::SHARES { 1 } else { 2 });
    scene.comes_to_rest().await;
}

/// A oneway call runs and is not answered; the connection goes on.
pub async fn oneway<K: Kind, P: Subject>(net: Net, protocol: P) {
    let scene = Stage::new(net, protocol).set::<K>().await;
    for sent in 1..=10 {
        scene.client.send::<method::Fire>(&Text::new("go")).await.expect("it is sent");
        scene.echo("after it").await;
        until("the oneway call ran", || scene.probe.fired() == sent).await;
    }
    scene.comes_to_rest().await;
}

/// A method that nobody serves is an error of that call alone.
pub async fn unknown_method<K: Kind, P: Subject>(net: Net, protocol: P) {
    let scene = Stage::new(net, protocol).set::<K>().await;
    for _ in 0..3 {
        let error = failed::<method::Unknown>(scene.client.call::<method::Unknown>(&Text::new("hi")).await);
        assert_eq!(error.code(), Code::Unimplemented, "{error}");
        assert!(error.to_string().contains("nope"), "{error}");
        scene.echo("as if nothing had been").await;
    }
    assert_eq!(scene.wire.dials(), 1);
    scene.comes_to_rest().await;
}

/// Ids reach their end and begin again, one call after the other and many at once.
pub async fn ids_wrap_around<K: Kind, P: Subject>(net: Net, protocol: P) {
    let mut stage = Stage::new(net, protocol);
    stage.client.first_id = CallId(i32::MAX.cast_unsigned() - 12);
    let scene = stage.set::<K>().await;
    for i in 0..10 {
        scene.echo(&i.to_string()).await;
    }
    join_all((0..50).map(|i| {
        let scene = &scene;
        async move { scene.echo(&i.to_string()).await }
    }))
    .await;
    scene.comes_to_rest().await;
}

/// However the bytes are split on their way, the same comes out.
pub async fn every_split_of_the_bytes<K: Kind, P: Subject>(net: Net, protocol: P) {
    for chunk in (1..=64).chain([100, 1000, 4095]) {
        let mut stage = Stage::new(net, protocol.clone());
        stage.pipe = PipeConfig::in_pieces(chunk);
        let scene = stage.set::<K>().await;
        let long = "x".repeat(10_000);
        let texts = ["hi", &long, "", "ho"];
        join_all(texts.map(|text| scene.echo(text))).await;
        let error = failed::<method::Unknown>(scene.client.call::<method::Unknown>(&Text::new("hi")).await);
        assert_eq!(error.code(), Code::Unimplemented, "{error}");
        scene.echo("after it").await;
        scene.comes_to_rest().await;
    }
}

/// A connection that takes a few bytes at a time, with answers that are far larger: all arrive, and small calls beside them.
pub async fn a_slow_reader<K: Kind, P: Subject>(net: Net, protocol: P) {
    let mut stage = Stage::new(net, protocol);
    stage.pipe = PipeConfig { chunk: 7, capacity: 64, cut: None };
    stage.server.write_budget = 1000;
    let scene = stage.set::<K>().await;
    let big = (0..8).map(|_| async {
        let answer = scene.client.call::<method::Big>(&Text::new("20000")).await;
        assert_eq!(answer.expect("an answer").map(|answer| answer.text.len()), Ok(20_000));
    });
    let small = (0..50).map(|i| {
        let scene = &scene;
        async move { scene.echo(&i.to_string()).await }
    });
    tokio::join!(join_all(big), join_all(small));
    scene.comes_to_rest().await;
}
