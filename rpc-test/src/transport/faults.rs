use std::pin::pin;

use futures::future::join_all;
use rpc_core::{Code, Initiator, Sent, Stage as At, TransportErrorKind};
use tokio::task::JoinSet;

use super::{Kind, Stage, Subject, failed};
use crate::{Answer, Net, Text, method, until};

/// A message of this size is within the limit of these cases, one twice as large is not.
const LIMIT: usize = 2000;

/// A request above the limit is refused before a byte of it leaves.
pub async fn too_large_a_request<K: Kind, P: Subject>(net: Net, protocol: P) {
    let mut stage = Stage::new(net, protocol);
    stage.client.limits.max_message = LIMIT;
    let scene = stage.set::<K>().await;
    scene.echo("fits").await;
    let error =
        failed::<method::Echo>(scene.client.call::<method::Echo>(&Text::new("x".repeat(2 * LIMIT))).await);
    assert_eq!(error.transport().map(|error| error.kind()), Some(TransportErrorKind::TooLarge), "{error}");
    assert_eq!((error.code(), error.sent()), (Code::ResourceExhausted, Sent::No));
    assert_eq!((error.stage(), error.initiator()), (Some(At::Send), Initiator::Caller));
    scene.echo("fits too").await;
    assert_eq!((scene.wire.dials(), scene.probe.echoed()), (1, 2));
    scene.comes_to_rest().await;
}

/// An answer above the server's limit becomes a failure of that call.
pub async fn too_large_an_answer_to_send<K: Kind, P: Subject>(net: Net, protocol: P) {
    let mut stage = Stage::new(net, protocol);
    stage.server.limits.max_message = LIMIT;
    let scene = stage.set::<K>().await;
    let error =
        failed::<method::Big>(scene.client.call::<method::Big>(&Text::new((2 * LIMIT).to_string())).await);
    assert_eq!(error.sent(), Sent::Yes);
    let status = error.status().expect("the server's answer");
    assert!(status.message().contains("limit"), "{status}");
    scene.echo("fits").await;
    assert_eq!(scene.wire.dials(), 1);
    scene.comes_to_rest().await;
}

/// An answer above the client's limit ends the connection, and with it the call; the next call gets a new one.
pub async fn too_large_an_answer_to_take<K: Kind, P: Subject>(net: Net, protocol: P) {
    let mut stage = Stage::new(net, protocol);
    stage.client.limits.max_message = LIMIT;
    let scene = stage.set::<K>().await;
    let error =
        failed::<method::Big>(scene.client.call::<method::Big>(&Text::new((2 * LIMIT).to_string())).await);
    assert_eq!(error.transport().map(|error| error.kind()), Some(TransportErrorKind::TooLarge), "{error}");
    assert_ne!(error.sent(), Sent::No, "{error}");
    assert_eq!(error.stage(), Some(At::Receive), "{error}");
    scene.echo("fits").await;
    scene.comes_to_rest().await;
}

/// A request that can not be encoded costs nothing but an error: no byte leaves, no connection is touched.
pub async fn a_request_that_can_not_be_encoded<K: Kind, P: Subject>(net: Net, protocol: P) {
    let scene = Stage::new(net, protocol).set::<K>().await;
    scene.echo("before").await;
    let written = |scene: &super::Scene<K, P>| scene.wire.traffic().iter().map(|t| t.written()).sum::<u64>();
    let before = written(&scene);
    let error = failed::<method::Echo>(scene.client.call::<method::Echo>(&Text::unencodable()).await);
    assert_eq!((error.code(), error.sent()), (Code::InvalidArgument, Sent::No));
    assert_eq!((error.stage(), error.initiator()), (Some(At::Encode), Initiator::Caller));
    assert!(scene.client.send::<method::Fire>(&Text::unencodable()).await.is_err());
    assert_eq!(written(&scene), before);
    scene.echo("after").await;
    assert_eq!((scene.wire.dials(), scene.probe.echoed(), scene.probe.fired()), (1, 2, 0));
    scene.comes_to_rest().await;
}

/// An answer that can not be encoded becomes a failure of that call, and leaves no bytes in the stream.
pub async fn an_answer_that_can_not_be_encoded<K: Kind, P: Subject>(net: Net, protocol: P) {
    let scene = Stage::new(net, protocol).set::<K>().await;
    for _ in 0..3 {
        let failing = scene.client.call::<method::Unencodable>(&Text::new("please"));
        let (error, ()) = tokio::join!(failing, scene.echo("beside it"));
        let error = failed::<method::Unencodable>(error);
        assert_eq!((error.code(), error.sent()), (Code::Internal, Sent::Yes), "{error}");
        scene.echo("after it").await;
    }
    scene.comes_to_rest().await;
}

/// A handler's panic is an internal error for its caller, and nothing for anyone else.
pub async fn a_panic_hurts_one_call<K: Kind, P: Subject>(net: Net, protocol: P) {
    let scene = Stage::new(net, protocol).set::<K>().await;
    let mut neighbours = JoinSet::new();
    for i in 0..50 {
        let client = scene.client.clone();
        neighbours.spawn(async move { (i, client.call::<method::Hold>(&Text::new(i.to_string())).await) });
    }
    until("the neighbours run", || scene.probe.holding() == 50).await;
    let secret = Text::new("secret text");
    let panics = join_all((0..3).map(|_| scene.client.call::<method::Panic>(&secret))).await;
    for error in panics {
        let error = failed::<method::Panic>(error);
        assert_eq!((error.code(), error.sent()), (Code::Internal, Sent::Yes), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    assert_eq!(scene.probe.holding(), 50);
    scene.probe.release(50);
    while let Some(neighbour) = neighbours.join_next().await {
        let (i, answer) = neighbour.expect("no panic here");
        assert_eq!(answer.expect("an answer"), Ok(Answer::new(i.to_string())));
    }
    let mut last = pin!(scene.echo("the server lives"));
    last.as_mut().await;
    scene.comes_to_rest().await;
}
