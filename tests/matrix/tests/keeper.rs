//! A keeper between clients and members: whom calls go to, what becomes of the answers, and of members that come and go.
#![allow(clippy::unwrap_used)] // all of it is a test

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::BytesMut;
use codec_msgpack::{ErrorForm, MsgPack, Rpc};
use futures::future::join_all;
use keeper::{Aggregate, Keeper, Members, Methods, Routing};
use rpc_core::{
    Client, Code, Context, Encode, Error, Method, MethodTable, Name, NamedService, Never, Place, RequestHead,
    Router, Shape, Status,
};
use rpc_net::Server;
use rpc_test::transport::patient;
use rpc_test::{Net, PipeConfig, Running, Wire, run, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;
use transport_mux::{Mux, MuxConfig};

macro_rules! methods {
    ($($method:ident = $name:literal, $shape:ident, $request:ty => $response:ty;)+) => {$(
        enum $method {}

        impl Method for $method {
            const SERVICE: &'static str = "member";
            const NAME: &'static str = $name;
            const SHAPE: Shape = Shape::$shape;
            const REQUEST: Place = Place::Arguments;
            type Request = $request;
            type Response = $response;
            type Exception = Never;
        }
    )+};
}
// The cluster's name comes first, as with Jubatus; then, where there is one, the id.
methods! {
    Who = "who", Unary, (String,) => String;
    Get = "get", Unary, (String, String) => String;
    Put = "put", Unary, (String, String, i64) => bool;
    Ready = "ready", Unary, (String,) => bool;
    AnyReady = "any_ready", Unary, (String,) => bool;
    Size = "size", Unary, (String,) => u64;
    Keys = "keys", Unary, (String,) => Vec<String>;
    GetStatus = "get_status", Unary, (String,) => BTreeMap<String, BTreeMap<String, String>>;
    First = "first", Unary, (String,) => String;
    Fail = "fail", Unary, (String,) => bool;
    Hold = "hold", Unary, (String,) => bool;
    Note = "note", Oneway, (String,) => ();
    Unrouted = "unrouted", Unary, (String,) => String;
    Missing = "missing", Unary, (String,) => bool;
}

fn routes() -> Methods {
    Methods::new()
        .route("who", Routing::Random)
        .route("get", Routing::by_id(1, Aggregate::First))
        .route("put", Routing::by_id(2, Aggregate::And))
        .route("ready", Routing::All(Aggregate::And))
        .route("any_ready", Routing::All(Aggregate::Or))
        .route("size", Routing::All(Aggregate::Add))
        .route("keys", Routing::All(Aggregate::Concat))
        .route("get_status", Routing::All(Aggregate::Merge))
        .route("first", Routing::All(Aggregate::First))
        .route("fail", Routing::All(Aggregate::And))
        .route("hold", Routing::All(Aggregate::And))
        .route("note", Routing::All(Aggregate::First))
        .route("missing", Routing::All(Aggregate::And))
}

/// A member's service. Clones are the same one.
#[derive(Clone)]
struct Member(Arc<State>);

struct State {
    name: String,
    calls: AtomicUsize,
    stored: Mutex<BTreeMap<String, i64>>,
    gate: Semaphore,
    holding: AtomicUsize,
}

impl Member {
    fn new(name: String) -> Self {
        let (stored, gate) = (Mutex::default(), Semaphore::new(0));
        let (calls, holding) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self(Arc::new(State { name, calls, stored, gate, holding }))
    }

    fn calls(&self) -> usize {
        self.0.calls.load(Ordering::SeqCst)
    }

    fn stored(&self) -> BTreeMap<String, i64> {
        self.0.stored.lock().unwrap().clone()
    }

    fn is_last(&self) -> bool {
        self.0.name == "m2"
    }
}

macro_rules! handlers {
    ($table:ident, $member:ident, $($method:ident($request:pat) => $answer:expr;)+) => {$(
        let member = $member.clone();
        $table.unary::<$method, _, _>(move |cx: Context, $request| {
            let $member = member.clone();
            async move {
                $member.0.calls.fetch_add(1, Ordering::SeqCst);
                cx.finish::<$method>($answer)
            }
        });
    )+};
}

impl NamedService<MsgPack> for Member {
    const NAME: &'static str = "member";

    fn register(&self, table: &mut MethodTable<MsgPack>) {
        let member = self.clone();
        handlers! { table, member,
            Who(_) => Ok(Ok(member.0.name.clone()));
            Get(_) => Ok(Ok(member.0.name.clone()));
            Put((_, id, value)) => Ok(Ok(member.0.stored.lock().unwrap().insert(id, value).is_none()));
            Ready(_) => Ok(Ok(!member.is_last()));
            AnyReady(_) => Ok(Ok(member.is_last()));
            Size(_) => Ok(Ok(member.stored().len() as u64));
            Keys(_) => Ok(Ok(member.stored().into_keys().collect()));
            GetStatus(_) => Ok(Ok([(member.0.name.clone(), BTreeMap::from([("up".into(), "yes".into())]))].into()));
            First(_) => Ok(Ok(member.0.name.clone()));
            Fail(_) => if member.0.name == "m0" { Ok(Ok(true)) } else { Err(Status::unknown(format!("{} is full", member.0.name))) };
            Hold(_) => {
                member.0.holding.fetch_add(1, Ordering::SeqCst);
                member.0.gate.acquire().await.unwrap().forget();
                Ok(Ok(true))
            };
            Note(_) => Ok(Ok(()));
            Unrouted(_) => Ok(Ok(member.0.name.clone()));
        }
    }
}

fn jubatus() -> Rpc {
    Rpc::new().with_codec(MsgPack::new().raw_compat(true)).errors(ErrorForm::Jubatus)
}

/// A cluster with its keeper, and a client of that.
struct Cluster {
    members: Vec<(Member, Running, Wire)>,
    handle: Members<Mux<Rpc, Wire>>,
    client: Client<MsgPack, Mux<Rpc, Wire>>,
    wire: Wire,
    keeper: Running,
}

async fn member(net: Net, name: &str) -> (Member, Running, Wire) {
    let member = Member::new(name.to_owned());
    let server = Server::new().accept(jubatus(), Router::new().add(member.clone()));
    let (wire, server) = Wire::to(server, net, PipeConfig::default(), []).await;
    (member, server, wire)
}

fn transport(wire: &Wire) -> Mux<Rpc, Wire> {
    let config = MuxConfig { connections: 1, ..MuxConfig::default() };
    transport_mux::lazy(wire.clone(), jubatus(), config)
}

fn with_transport((member, _, wire): &(Member, Running, Wire)) -> (String, Mux<Rpc, Wire>) {
    (member.0.name.clone(), transport(wire))
}

async fn cluster(net: Net, count: usize) -> Cluster {
    let mut members = Vec::new();
    for i in 0..count {
        members.push(member(net, &format!("m{i}")).await);
    }
    let handle = Members::new(members.iter().map(with_transport));
    let keeper = Keeper::new(handle.clone(), routes()).timeout(Duration::from_secs(5));
    let server = Server::new().accept(jubatus().whole_names(true), Router::new().fallback(keeper));
    let (wire, running) = Wire::to(server, net, PipeConfig::default(), []).await;
    let client = Client::new(transport(&wire)).with(patient());
    Cluster { members, handle, client, wire, keeper: running }
}

const NETS: [Net; 2] = [Net::Memory, Net::Tcp];

fn name() -> (String,) {
    ("c1".to_owned(),)
}

fn id(id: &str) -> (String, String) {
    ("c1".to_owned(), id.to_owned())
}

fn ok<T>(result: Result<Result<T, Never>, Error>) -> T {
    match result.unwrap() {
        Ok(value) => value,
        Err(never) => match never {},
    }
}

fn message(error: &Error) -> &str {
    error.status().map_or("", Status::message)
}

#[test]
fn any_member_is_asked_and_all_have_their_turn() {
    for net in NETS {
        run(net, async {
            let cluster = cluster(net, 3).await;
            let calls = (0..300).map(|_| cluster.client.call::<Who>(&name()));
            let mut seen = BTreeMap::new();
            for who in join_all(calls).await {
                *seen.entry(ok(who)).or_insert(0) += 1;
            }
            let counts: Vec<_> = cluster.members.iter().map(|(member, ..)| member.calls()).collect();
            assert_eq!(counts.iter().sum::<usize>(), 300, "each call is made once");
            assert!(seen.len() == 3 && seen.values().all(|count| *count > 30), "{seen:?}");
        });
    }
}

#[test]
fn an_id_stays_where_it_is_when_another_member_leaves() {
    run(Net::Memory, async {
        let cluster = cluster(Net::Memory, 4).await;
        let ids: Vec<_> = (0..200).map(|i| format!("user{i}")).collect();
        let places = async || {
            let calls = ids.iter().map(|one| cluster.client.call::<Get>(&id(one)));
            join_all(calls).await.into_iter().map(ok).collect::<Vec<_>>()
        };
        let before = places().await;
        assert_eq!(before, places().await);
        cluster
            .handle
            .set(cluster.members.iter().filter(|(member, ..)| member.0.name != "m1").map(with_transport));
        assert_eq!(cluster.handle.names(), ["m0", "m2", "m3"]);
        let after = places().await;
        for ((one, was), is) in ids.iter().zip(&before).zip(&after) {
            assert!(was == is || (was == "m1" && is != "m1"), "{one} went from {was} to {is}");
        }
        assert!(before.contains(&"m1".to_owned()) && !after.contains(&"m1".to_owned()));
        cluster.handle.set(cluster.members.iter().map(with_transport));
        assert_eq!(places().await, before);
    });
}

#[test]
fn copies_are_on_so_many_members_and_their_answers_are_one() {
    for net in NETS {
        run(net, async {
            let cluster = cluster(net, 4).await;
            for i in 0..40 {
                let put = ("c1".to_owned(), format!("user{i}"), i);
                assert!(ok(cluster.client.call::<Put>(&put).await), "both are new");
                assert!(!ok(cluster.client.call::<Put>(&put).await), "neither is new");
            }
            for i in 0..40 {
                let holders: Vec<_> = cluster
                    .members
                    .iter()
                    .filter(|(member, ..)| member.stored().contains_key(&format!("user{i}")))
                    .map(|(member, ..)| member.0.name.clone())
                    .collect();
                assert_eq!(holders.len(), 2, "user{i} is with {holders:?}");
                // The one that is asked for it is one of those that have it.
                let asked = ok(cluster.client.call::<Get>(&id(&format!("user{i}"))).await);
                assert!(holders.contains(&asked), "{asked} of {holders:?}");
            }
            assert_eq!(ok(cluster.client.call::<Size>(&name()).await), 80);
            assert_eq!(ok(cluster.client.call::<Keys>(&name()).await).len(), 80);
        });
    }
}

#[test]
fn all_members_are_asked_and_their_answers_put_together() {
    for net in NETS {
        run(net, async {
            let cluster = cluster(net, 3).await;
            assert!(!ok(cluster.client.call::<Ready>(&name()).await));
            assert!(ok(cluster.client.call::<AnyReady>(&name()).await));
            assert_eq!(ok(cluster.client.call::<Size>(&name()).await), 0);
            assert_eq!(ok(cluster.client.call::<Keys>(&name()).await), Vec::<String>::new());
            assert_eq!(ok(cluster.client.call::<First>(&name()).await), "m0");
            let status = ok(cluster.client.call::<GetStatus>(&name()).await);
            assert_eq!(status.into_keys().collect::<Vec<_>>(), ["m0", "m1", "m2"]);
            assert!(cluster.members.iter().all(|(member, ..)| member.calls() == 6));
            cluster.client.send::<Note>(&name()).await.unwrap();
            until("all are told", || cluster.members.iter().all(|(member, ..)| member.calls() == 7)).await;
        });
    }
}

#[test]
fn failures_are_told_as_jubatus_s_proxies_tell_them() {
    for net in NETS {
        run(net, async {
            let mut cluster = cluster(net, 3).await;
            let error = cluster.client.call::<Fail>(&name()).await.unwrap_err();
            assert_eq!(
                (error.code(), message(&error)),
                (Code::Unknown, "m1 is full"),
                "the first that failed"
            );
            for error in [
                cluster.client.call::<Unrouted>(&name()).await.unwrap_err(),
                cluster.client.call::<Missing>(&name()).await.map(drop).unwrap_err(),
            ] {
                assert_eq!(error.code(), Code::Unimplemented, "{error}");
            }
            // Without an id nobody can tell where to.
            let mut params = BytesMut::new();
            MsgPack::new().encode(Place::Arguments, &name(), &mut params).unwrap();
            let head = RequestHead { method: Name::from_static("get"), ..RequestHead::default() };
            let answer = cluster.client.call_raw(head, params.freeze()).await.unwrap();
            assert_eq!(answer.head.status.unwrap_err().code(), Code::InvalidArgument);

            let (_, gone, _) = &mut cluster.members[1];
            gone.stopped().await;
            let error = cluster.client.call::<Ready>(&name()).await.unwrap_err();
            assert_eq!((error.code(), message(&error)), (Code::Unknown, "connect error in proxy"));
            // Others answer for it where any may.
            for who in join_all((0..60).map(|_| cluster.client.call::<Who>(&name()))).await {
                assert_ne!(ok(who), "m1");
            }
            // What belongs to it is not anybody's.
            let gets = join_all((0..60).map(|i| cluster.client.call::<Get>(&id(&format!("user{i}"))))).await;
            let failed: Vec<_> = gets.iter().filter_map(|get| get.as_ref().err()).collect();
            assert!(!failed.is_empty() && failed.len() < 60);
            assert!(failed.iter().all(|error| message(error) == "connect error in proxy"), "{failed:?}");

            cluster.handle.set([]);
            let error = cluster.client.call::<Who>(&name()).await.unwrap_err();
            assert_eq!(message(&error), "no server found");
        });
    }
}

/// The clock of memory stands still until nothing else is to be done, so that no time passes here.
#[test]
fn a_member_that_does_not_answer_is_told_of_in_time() {
    run(Net::Memory, async {
        let cluster = cluster(Net::Memory, 2).await;
        cluster.members[0].0.0.gate.add_permits(1);
        let error = cluster.client.call::<Hold>(&name()).await.unwrap_err();
        assert_eq!((error.code(), message(&error)), (Code::Unknown, "request timed out"));
        assert!(cluster.members.iter().all(|(member, ..)| member.0.holding.load(Ordering::SeqCst) == 1));
    });
}

/// The bytes of parameters and results go through as they are, in forms that nobody here would write.
#[test]
fn nothing_is_decoded_on_the_way() {
    run(Net::Memory, async {
        let (wire, mut script) = Wire::to_script(PipeConfig::default());
        let members = Members::new([("played".to_owned(), transport(&wire))]);
        let keeper = Keeper::new(members, Methods::new().otherwise(Routing::by_id(1, Aggregate::And)));
        let server = Server::new().accept(jubatus().whole_names(true), Router::new().fallback(keeper));
        let (front, _running) = Wire::to(server, Net::Memory, PipeConfig::default(), []).await;
        let mut caller = front.dial_pipe();
        let params = b"\xdc\x00\x03\xd9\x02c1\xc4\x02id\xd4\x05\x07";
        caller.write_all(&[&b"\x94\x00\x63\xa5a.b/c"[..], params].concat()).await.unwrap();
        let mut peer = script.accept().await;
        let call = [&b"\x94\x00\x01\xa5a.b/c"[..], params].concat();
        assert_eq!(peer.take(call.len()).await, call);
        peer.send(b"\x94\x01\x01\xc0\xd9\x02ok").await;
        let mut answer = [0; 8];
        caller.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"\x94\x01\x63\xc0\xd9\x02ok");
        // Jubatus's own errors, whose results are no nil.
        for error in [&b"\x01\xa5a.b/c"[..], b"\x02\xa3bad", b"\xa3odd\xc0"] {
            caller.write_all(&[&b"\x94\x00\x63\xa5a.b/c"[..], params].concat()).await.unwrap();
            let sent = peer.take(call.len()).await;
            peer.send(&[b"\x94\x01", &sent[2..3], error].concat()).await;
            let mut answer = vec![0; 3 + error.len()];
            caller.read_exact(&mut answer).await.unwrap();
            assert_eq!(answer, [b"\x94\x01\x63", error].concat());
        }
    });
}

#[test]
fn members_are_replaced_while_calls_go_on() {
    for net in NETS {
        run(net, async {
            let mut cluster = cluster(net, 2).await;
            let held = tokio::spawn(cluster.client.call::<Hold>(&name()));
            until("both hold", || {
                cluster.members.iter().all(|(member, ..)| member.0.holding.load(Ordering::SeqCst) == 1)
            })
            .await;
            cluster.members.push(member(net, "m2").await);
            cluster.handle.set(cluster.members.iter().skip(2).map(with_transport));
            assert_eq!(ok(cluster.client.call::<First>(&name()).await), "m2");
            for (member, ..) in &cluster.members[..2] {
                member.0.gate.add_permits(1);
            }
            assert!(ok(held.await.unwrap()), "it stayed with those that it was made to");
            let left = &cluster.members[0].1;
            until("a member that left has no connection", || left.gauges().connections() == 0).await;
        });
    }
}

#[test]
fn a_call_that_is_given_up_leaves_nothing() {
    run(Net::Memory, async {
        let cluster = cluster(Net::Memory, 2).await;
        let mut caller = cluster.wire.dial_pipe();
        caller.write_all(b"\x94\x00\x07\xa4hold\x91\xa2c1").await.unwrap();
        until("both hold", || {
            cluster.members.iter().all(|(member, ..)| member.0.holding.load(Ordering::SeqCst) == 1)
        })
        .await;
        drop(caller);
        until("nothing is in flight", || cluster.keeper.gauges().in_flight() == 0).await;
        for (member, ..) in &cluster.members {
            member.0.gate.add_permits(1);
        }
        assert_eq!(ok(cluster.client.call::<First>(&name()).await), "m0");
    });
}
