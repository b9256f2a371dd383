//! A service from end to end, in several codecs: the generated client calls the generated server.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use codegen_tests::{proto, thrift};
use rpc::msgpack::MsgPack;
use rpc::protobuf::Protobuf;
use rpc::thrift::Binary;
use rpc::{CallOptions, Code, Context, Error, ReplyMetadata, Status};
use std::sync::{Arc, Mutex};
use support::routes;
use thrift::hello::{GreeterClient, GreeterServer, GreeterWakeError, HelloReply, HelloRequest, Nobody};

#[derive(Default)]
struct Greetings {
    waved_at: Mutex<Vec<String>>,
}

impl thrift::hello::Greeter for Greetings {
    async fn say_hello(&self, cx: &Context, request: HelloRequest) -> Result<HelloReply, Status> {
        cx.reply_metadata("greeted-by", "test");
        if request.name.is_empty() {
            return Err(Status::invalid_argument("no name"));
        }
        Ok(HelloReply { message: format!("Hello, {}!", request.name) })
    }

    async fn wake(
        &self,
        _: &Context,
        request: HelloRequest,
        loudness: i32,
    ) -> Result<HelloReply, GreeterWakeError> {
        match (request.name.as_str(), loudness) {
            ("nobody", _) => Err(Nobody { message: "not here".into() })?,
            (_, 0) => Err(Status::failed_precondition("too quiet"))?,
            (name, _) => Ok(HelloReply { message: format!("{name} is awake") }),
        }
    }

    async fn wave(&self, _: &Context, to: String) -> Result<(), Status> {
        self.waved_at.lock().unwrap().push(to);
        Ok(())
    }
}

macro_rules! every_kind_of_end {
    ($test:ident, $codec:expr) => {
        #[tokio::test]
        async fn $test() -> Result<(), Error> {
            let greetings = Arc::new(Greetings::default());
            let server = GreeterServer::from_arc(Arc::clone(&greetings));
            let client = GreeterClient::with_codec($codec, routes($codec, server));

            let metadata = ReplyMetadata::new();
            let reply = client.with(CallOptions::new().reply_metadata(&metadata));
            let reply = reply.say_hello(HelloRequest { name: "world".into() }).await?;
            assert_eq!(reply.message, "Hello, world!");
            assert!(metadata.take().get("greeted-by").is_some());
            let error = client.say_hello(HelloRequest::default()).await.unwrap_err();
            assert_eq!((error.code(), error.status().unwrap().message()), (Code::InvalidArgument, "no name"));

            assert_eq!(client.wake(HelloRequest { name: "Ann".into() }, 7).await?.message, "Ann is awake");
            match client.wake(HelloRequest { name: "nobody".into() }, 7).await {
                Err(GreeterWakeError::Nobody(nobody)) => assert_eq!(nobody.to_string(), "Nobody: not here"),
                other => panic!("{other:?}"),
            }
            match client.wake(HelloRequest { name: "Ann".into() }, 0).await {
                Err(GreeterWakeError::Other(error)) => assert_eq!(error.code(), Code::FailedPrecondition),
                other => panic!("{other:?}"),
            }

            let waving = client.wave("Bob".into());
            drop(client);
            tokio::spawn(waving).await.unwrap()?;
            assert_eq!(*greetings.waved_at.lock().unwrap(), ["Bob"]);
            Ok(())
        }
    };
}
every_kind_of_end!(thrift_over_binary, Binary);
every_kind_of_end!(thrift_over_msgpack, MsgPack::new());

#[tokio::test]
async fn one_service_is_served_in_several_codecs() -> Result<(), Error> {
    let server = GreeterServer::new(Greetings::default());
    let binary = GreeterClient::with_codec(Binary, routes(Binary, server.clone()));
    let msgpack = GreeterClient::with_codec(MsgPack::new(), routes(MsgPack::new(), server));
    let request = HelloRequest { name: "you".into() };
    assert_eq!(binary.say_hello(request.clone()).await?, msgpack.say_hello(request).await?);
    Ok(())
}

#[tokio::test]
async fn a_server_answers_in_the_form_that_its_codec_is_set_to() -> Result<(), Error> {
    use rpc::{Client, Encode, Place, RequestHead};
    use thrift::hello::greeter_methods::{SayHello, SayHelloArgs};
    let args = SayHelloArgs { request: HelloRequest { name: "you".into() } };
    let mut request = bytes::BytesMut::new();
    MsgPack::new().encode(Place::Arguments, &args, &mut request)?;
    let request = request.freeze();
    for (structs_as_maps, first) in [(false, 0x91), (true, 0x81)] {
        let codec = MsgPack::new().structs_as_maps(structs_as_maps);
        let client = Client::with_codec(codec, routes(codec, GreeterServer::new(Greetings::default())));
        let answer = client.call_raw(RequestHead::of::<SayHello>(), request.clone()).await?;
        assert_eq!(answer.body.first(), Some(&first));
    }
    Ok(())
}

#[tokio::test]
async fn a_typed_call_is_hardly_larger_than_what_it_stands_on() {
    use thrift::hello::greeter_methods::{SayHello, SayHelloArgs};
    let client = GreeterClient::with_codec(Binary, routes(Binary, GreeterServer::new(Greetings::default())));
    let args = SayHelloArgs { request: HelloRequest::default() };
    let untyped = size_of_val(&client.client().call::<SayHello>(&args));
    let typed = size_of_val(&client.say_hello(args.request));
    assert!(typed <= untyped + 16, "{typed} > {untyped} + 16");
}

#[test]
fn who_tells_no_exception_from_another_gets_its_text() {
    let declared = || GreeterWakeError::from(Nobody { message: "not here".into() });
    let error = Error::from(declared());
    assert_eq!((error.code(), error.status().unwrap().message()), (Code::Unknown, "Nobody: not here"));
    assert_eq!(Status::from(declared()).code(), Code::Unknown);
    let other = GreeterWakeError::from(Status::not_found("gone"));
    assert_eq!(Error::from(other).code(), Code::NotFound);
    let boxed: Box<dyn std::error::Error> = declared().into();
    assert_eq!(boxed.to_string(), "Nobody: not here");
}

#[tokio::test]
async fn an_arc_implements_the_service_too() {
    let greetings = Arc::new(Greetings::default());
    let server: GreeterServer<Arc<Greetings>> = GreeterServer::new(Arc::clone(&greetings));
    let client = GreeterClient::with_codec(Binary, routes(Binary, server));
    client.wave("all".into()).await.unwrap();
    assert_eq!(greetings.waved_at.lock().unwrap().len(), 1);
}

struct ProtoGreetings;

impl proto::hello::Greeter for ProtoGreetings {
    async fn say_hello(
        &self,
        _: &Context,
        request: proto::hello::HelloRequest,
    ) -> Result<proto::hello::HelloReply, Status> {
        Ok(proto::hello::HelloReply { message: format!("{request:?}") })
    }

    async fn wave(&self, _: &Context, (): ()) -> Result<(), Status> {
        Err(Status::unavailable("no hands"))
    }

    async fn stamp(
        &self,
        _: &Context,
        request: proto::hello::Stamped,
    ) -> Result<proto::hello::Stamped, Status> {
        Ok(request)
    }

    async fn new_2(
        &self,
        _: &Context,
        request: proto::hello::HelloReply,
    ) -> Result<proto::hello::HelloReply, Status> {
        Ok(request)
    }
}

fn proto_request() -> proto::hello::HelloRequest {
    use proto::hello::hello_request::{Manner, Nested, Tone};
    proto::hello::HelloRequest {
        name: "world".into(),
        blob: vec![0, 1, 255].into(),
        counts: [("a".to_owned(), -1)].into(),
        more: vec![proto::hello::HelloRequest {
            manner: Some(Manner::Title("Dr".into())),
            maybe: Some(0),
            ..Default::default()
        }],
        maybe: None,
        tone: Tone::Kind.into(),
        r#type: "t".into(),
        manner: Some(Manner::Nested(Box::new(Nested { request: Some(Box::default()) }))),
    }
}

#[tokio::test]
async fn proto_over_protobuf() -> Result<(), Error> {
    let server = proto::hello::GreeterServer::new(ProtoGreetings);
    let client = proto::hello::GreeterClient::with_codec(Protobuf, routes(Protobuf, server));
    let request = proto_request();
    assert_eq!(client.say_hello(request.clone()).await?.message, format!("{request:?}"));
    assert_eq!(client.wave(()).await.unwrap_err().code(), Code::Unavailable);
    let at = rpc::codegen::prost_types::Timestamp { seconds: 5, nanos: 6 };
    let stamped = proto::hello::Stamped { at: Some(at) };
    assert_eq!(client.stamp(stamped).await?, stamped);
    let reply = proto::hello::HelloReply { message: "m".into() };
    assert_eq!(client.new_2(reply.clone()).await?, reply);
    Ok(())
}

#[test]
fn proto_types_over_msgpack() {
    let request = proto_request();
    support::there_and_back(MsgPack::new(), &request);
    support::there_and_back(MsgPack::new().structs_as_maps(true), &request);
    support::there_and_back(Protobuf, &request);
}
