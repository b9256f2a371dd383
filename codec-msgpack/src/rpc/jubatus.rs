//! Jubatus's habits (`wire/msgpack-rpc.md` §4), byte for byte, against a service as its clients expect one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Instant;

use bytes::Buf;
use rpc_core::{
    Body, BoxFuture, Code, Context, Executor, Method, MethodTable, Name, NamedService, Never, Place, Request,
    Router, Routes,
};
use rpc_wire::{CallId, Event, Limits, MakeProtocol, More, Protocol, Unary};
use serde::{Deserialize, Serialize};
use tower::Service as _;

use super::*;
use crate::testing::golden;

macro_rules! golden {
    ($name:literal) => {
        golden(include_str!(concat!("../../testdata/", $name, ".hex")))
    };
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Datum {
    string_values: Vec<(String, String)>,
    num_values: Vec<(String, f64)>,
    binary_values: Vec<(String, Vec<u8>)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LabeledDatum {
    label: String,
    data: Datum,
}

macro_rules! methods {
    ($($method:ident = $name:literal, $request:ty => $response:ty;)+) => {$(
        enum $method {}

        impl Method for $method {
            const SERVICE: &'static str = "classifier";
            const NAME: &'static str = $name;
            const SHAPE: Shape = Shape::Unary;
            const REQUEST: Place = Place::Arguments;
            type Request = $request;
            type Response = $response;
            type Exception = Never;
        }
    )+};
}
// The cluster's name comes first everywhere.
methods! {
    Clear = "clear", (String,) => bool;
    SetLabel = "set_label", (String, String) => bool;
    Train = "train", (String, Vec<LabeledDatum>) => u32;
    GetStatus = "get_status", (String,) => BTreeMap<String, BTreeMap<String, String>>;
    Save = "save", (String, String) => BTreeMap<String, String>;
}

/// A server that knows one datum, and a proxy's failure to save.
#[derive(Clone)]
struct Classifier;

impl NamedService<MsgPack> for Classifier {
    const NAME: &'static str = "classifier";

    fn register(&self, table: &mut MethodTable<MsgPack>) {
        table.unary::<Clear, _, _>(
            |cx: Context, (name,)| async move { cx.finish::<Clear>(Ok(Ok(name == "c1"))) },
        );
        table.unary::<SetLabel, _, _>(|cx: Context, (_, label)| async move {
            cx.finish::<SetLabel>(Ok(Ok(label == "sports")))
        });
        table.unary::<Train, _, _>(|cx: Context, (_, data)| async move {
            assert_eq!(data, [sample()]);
            cx.finish::<Train>(Ok(Ok(1)))
        });
        table.unary::<GetStatus, _, _>(|cx: Context, (_,)| async move {
            let version = [("VERSION".to_owned(), "x".repeat(40))].into();
            cx.finish::<GetStatus>(Ok(Ok([("127.0.0.1_9199".to_owned(), version)].into())))
        });
        table.unary::<Save, _, _>(|cx: Context, _| async move {
            cx.finish::<Save>(Err(Status::unknown("connect error in proxy")))
        });
    }
}

fn sample() -> LabeledDatum {
    let data = Datum {
        string_values: vec![("t".into(), "hi".into())],
        num_values: vec![("n".into(), 1.0)],
        binary_values: vec![],
    };
    LabeledDatum { label: "spam".into(), data }
}

fn jubatus() -> Rpc {
    Rpc::new().with_codec(MsgPack::new().raw_compat(true)).errors(ErrorForm::Jubatus)
}

struct NeverElsewhere;

impl Executor for NeverElsewhere {
    fn spawn(&self, _: BoxFuture<()>) {
        panic!("handlers run where they are polled");
    }

    fn spawn_blocking(&self, task: BoxFuture<()>) {
        self.spawn(task);
    }
}

/// What the server answers to these bytes.
fn served(input: &[u8]) -> Vec<u8> {
    let router = Router::<(MsgPack,)>::new().add_with(Classifier, rpc_core::Dispatch::Inline);
    let mut routes: Routes = router.into_routes(&Framing::codecs(&jubatus()), Arc::new(NeverElsewhere));
    let mut server: Unary<Rpc> = MakeProtocol::server(&jubatus(), &Limits::default());
    server.handle_input(Instant::now(), &mut BytesMut::from(input)).unwrap();
    while let Some(event) = server.poll_event() {
        let Event::Request { id, head, body, .. } = event else { panic!("{event:?}") };
        let mut future = Box::pin(routes.call(Request { head, body: Body::Once(body) }));
        let Poll::Ready(Ok(response)) = future.as_mut().poll(&mut TaskContext::from_waker(Waker::noop()))
        else {
            panic!("a handler that waits")
        };
        server.reply(id, &response.head, &response.body.into_once().unwrap(), More::Done).unwrap();
    }
    let mut out = WriteBuf::new();
    server.poll_output(&mut out);
    out.copy_to_bytes(out.remaining()).to_vec()
}

/// What a client of ours makes of an answer to its first call.
fn understood(bytes: &[u8]) -> ResponseHead {
    let mut client: Unary<Rpc> = MakeProtocol::client(&jubatus(), &Limits::default(), CallId(1));
    let head = RequestHead { method: Name::from_static("any"), ..RequestHead::default() };
    // The vectors have ids up to 4.
    for _ in 0..4 {
        client.open(&head, &Bytes::from_static(b"\x91\xa0"), More::Done).unwrap();
    }
    client.handle_input(Instant::now(), &mut BytesMut::from(bytes)).unwrap();
    match client.poll_event() {
        Some(Event::Response { head, .. }) => head,
        other => panic!("{other:?}"),
    }
}

#[test]
fn calls_are_answered_byte_for_byte() {
    assert_eq!(served(&golden!("j1-clear")), golden!("j2-cleared"));
    assert_eq!(served(&golden!("j4-set-label")), b"\x94\x01\x03\xc0\xc3");
    assert_eq!(served(&golden!("j5-train")), b"\x94\x01\x04\xc0\x01");
    assert!(understood(&golden!("j2-cleared")).status.is_ok());
}

#[test]
fn an_unknown_method_is_1_with_its_name_as_the_result() {
    assert_eq!(served(b"\x94\x00\x02\xa6nosuch\x91\xa0"), golden!("j3-unknown-method"));
    // Also where its name would name a service.
    assert_eq!(served(b"\x94\x00\x02\xa3a.b\x91\xa0"), b"\x94\x01\x02\x01\xa3a.b");
    let status = understood(&golden!("j3-unknown-method")).status.unwrap_err();
    assert_eq!((status.code(), status.wire_code()), (Code::Unimplemented, Some(1)));
}

#[test]
fn parameters_that_do_not_fit_are_2_with_a_text_as_the_result() {
    let too_few = &b"\x94\x00\x03\xa5train\x91\xa2c1"[..];
    let wrong_type = &b"\x94\x00\x03\xa5clear\x91\x05"[..];
    let no_array = &b"\x94\x00\x03\xa5clear\x80"[..];
    for call in [too_few, wrong_type, no_array] {
        let answer = served(call);
        assert_eq!(answer[..4], *b"\x94\x01\x03\x02", "{answer:02x?}");
        assert!(matches!(answer[4], 0xa1..=0xbf | 0xda), "a text, and none with 8 bits of length");
        let status = understood(&answer).status.unwrap_err();
        assert_eq!((status.code(), status.wire_code()), (Code::InvalidArgument, Some(2)));
        assert!(!status.message().is_empty());
    }
}

#[test]
fn parameters_that_are_too_many_are_left_out() {
    assert_eq!(served(b"\x94\x00\x01\xa5clear\x93\xa2c1\x05\xc0"), golden!("j2-cleared"));
    let labelled = b"\x94\x00\x03\xa9set_label\x93\xa2c1\xa6sports\x92\x01\x02";
    assert_eq!(served(labelled), b"\x94\x01\x03\xc0\xc3");
}

/// Structs are arrays in the order of their fields: what is missing at the end has its default, what is too much is left out.
#[test]
fn structs_may_be_shorter_and_longer() {
    let train =
        |datum: &[u8]| served(&[&b"\x94\x00\x04\xa5train\x92\xa2c1\x91\x92\xa4spam"[..], datum].concat());
    let lists = b"\x91\x92\xa1t\xa2hi\x91\x92\xa1n\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00";
    // Of two lists, as before Jubatus 0.5, and of one more than there are.
    assert_eq!(train(&[b"\x92", &lists[..]].concat()), b"\x94\x01\x04\xc0\x01");
    assert_eq!(train(&[b"\x94", &lists[..], b"\x90\xa3new"].concat()), b"\x94\x01\x04\xc0\x01");
}

#[test]
fn a_handler_s_failure_is_its_text() {
    assert_eq!(served(b"\x94\x00\x03\xa4save\x92\xa2c1\xa2m1"), golden!("j6-proxy-error"));
    let status = understood(&golden!("j6-proxy-error")).status.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::Unknown, "connect error in proxy"));
}

/// Deployed servers and clients know no 8-bit length of a text.
#[test]
fn long_texts_are_in_the_old_dialect() {
    let answer = served(b"\x94\x00\x01\xaaget_status\x91\xa0");
    let start = b"\x94\x01\x01\xc0\x81\xae127.0.0.1_9199\x81\xa7VERSION\xda\x00\x28";
    assert_eq!(answer, [&start[..], &b"x".repeat(40)].concat());
}

/// What a member refused goes through a proxy as it came.
#[test]
fn failures_come_through_a_proxy() {
    for vector in [golden!("j3-unknown-method"), golden!("j6-proxy-error"), b"\x94\x01\x03\x02\xa3bad".into()]
    {
        let head = understood(&vector);
        let mut out = WriteBuf::new();
        let mirror = (vector[2].into(), Name::from_static("nosuch"));
        jubatus().encode_response(&mirror, &head, &Bytes::new(), &mut out).unwrap();
        assert_eq!(out.copy_to_bytes(out.remaining()), vector);
    }
}
