//! A service from end to end: the generated client calls the generated server, without a network between.

use codegen_tests::thrift::hello::hello::Greeter;
use codegen_tests::thrift::hello::{
    GreeterClient, GreeterServer, GreeterWakeError, HelloReply, HelloRequest, Nobody,
};
use rpc::{CallOptions, Code, Codec, Context, Dispatch, Error, NamedService, Router, Routes, Status};
use std::sync::{Arc, Mutex};
use tests_support::Here;

mod tests_support {
    use std::future::Future;
    use std::pin::Pin;

    /// Runs nothing elsewhere: handlers of these tests are ready at once.
    pub(crate) struct Here;

    impl rpc::Executor for Here {
        fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
            drop(tokio::spawn(future));
        }

        fn spawn_blocking(&self, work: Pin<Box<dyn Future<Output = ()> + Send>>) {
            drop(tokio::spawn(work));
        }
    }
}

#[derive(Default)]
struct Greetings {
    waved_at: Mutex<Vec<String>>,
}

impl Greeter for Greetings {
    async fn say_hello(&self, _: &Context, request: HelloRequest) -> Result<HelloReply, Status> {
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

fn routes<C: Codec>(server: GreeterServer<Greetings>) -> Routes
where
    GreeterServer<Greetings>: NamedService<C>,
{
    Router::<(C,)>::new().add_with(server, Dispatch::Inline).into_routes(Arc::new(Here))
}

async fn calls<C: Codec>(codec: C)
where
    GreeterServer<Greetings>: NamedService<C>,
{
    let _ = codec;
}

#[tokio::test]
async fn every_kind_of_end() -> Result<(), Error> {
    calls(rpc::thrift::Binary).await;
    let greetings = Arc::new(Greetings::default());
    let server = GreeterServer::from_arc(Arc::clone(&greetings));
    let client = GreeterClient::with_codec(rpc::thrift::Binary, routes::<rpc::thrift::Binary>(server));

    let reply = client.say_hello(HelloRequest { name: "world".into() }).await?;
    assert_eq!(reply.message, "Hello, world!");
    let error = client.say_hello(HelloRequest::default()).await.unwrap_err();
    assert_eq!((error.code(), error.status().map(Status::message)), (Code::InvalidArgument, Some("no name")));

    let impatient = client.with(CallOptions::new().retries(0));
    assert_eq!(impatient.wake(HelloRequest { name: "Ann".into() }, 7).await?.message, "Ann is awake");
    match impatient.wake(HelloRequest { name: "nobody".into() }, 7).await {
        Err(GreeterWakeError::Nobody(nobody)) => assert_eq!(nobody.to_string(), "Nobody: not here"),
        other => panic!("{other:?}"),
    }
    match impatient.wake(HelloRequest { name: "Ann".into() }, 0).await {
        Err(GreeterWakeError::Other(error)) => assert_eq!(error.code(), Code::FailedPrecondition),
        other => panic!("{other:?}"),
    }

    let waving = client.wave("Bob".into());
    drop(client);
    tokio::spawn(waving).await.unwrap()?;
    assert_eq!(*greetings.waved_at.lock().unwrap(), ["Bob"]);
    Ok(())
}
