//! msgpack-rpc: a client on PyPI's `msgpack` calls our server, and our clients call Neovim.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rmpv::Value;
use rpc::{
    Client, Code, Codec, Context, Decode, EncodeOutcome, Method, MethodTable, NamedService, Never, Place,
    Router, Server, Shape, Speaks, Status, Transport, msgpack,
};
use tests_peers::peers::python::run_script;
use tests_peers::program::{command, found, installed, run_checks, serve};

/// Methods of plain serde types: the arguments are a tuple or a list.
macro_rules! methods {
    ($($method:ident = $name:literal, $shape:ident, $request:ty => $response:ty;)+) => {$(
        enum $method {}

        impl Method for $method {
            const SERVICE: &'static str = "";
            const NAME: &'static str = $name;
            const SHAPE: Shape = Shape::$shape;
            const REQUEST: Place = Place::Arguments;
            type Request = $request;
            type Response = $response;
            type Exception = Never;
        }
    )+};
}
methods! {
    Add = "add", Unary, (i64, i64) => i64;
    Echo = "echo", Unary, Vec<Value> => Vec<Value>;
    Fail = "fail", Unary, (String,) => ();
    Sleep = "sleep", Unary, (u64,) => u64;
    Note = "note", Oneway, (String,) => ();
    Count = "count", Unary, () => u64;
    ApiInfo = "nvim_get_api_info", Unary, () => (i64, Value);
    Eval = "nvim_eval", Unary, (String,) => Value;
    Strlen = "nvim_call_function", Unary, (&'static str, Vec<String>) => u64;
    SetVar = "nvim_set_var", Oneway, (&'static str, String) => ();
    GetVar = "nvim_get_var", Unary, (&'static str,) => String;
    NoSuchThing = "nvim_no_such_thing", Unary, () => Value;
}

/// What the scripts expect of a server.
#[derive(Clone, Default)]
struct Methods {
    notes: Arc<AtomicU64>,
}

impl<C> NamedService<C> for Methods
where
    C: Codec
        + Decode<(i64, i64)>
        + Decode<Vec<Value>>
        + Decode<(String,)>
        + Decode<(u64,)>
        + Decode<()>
        + EncodeOutcome<i64, Never>
        + EncodeOutcome<Vec<Value>, Never>
        + EncodeOutcome<(), Never>
        + EncodeOutcome<u64, Never>,
{
    const NAME: &'static str = "Methods";

    fn register(&self, table: &mut MethodTable<C>) {
        table.unary::<Add, _, _>(|cx: Context, (a, b)| async move { cx.finish::<Add>(Ok(Ok(a + b))) });
        table.unary::<Echo, _, _>(|cx: Context, values| async move { cx.finish::<Echo>(Ok(Ok(values))) });
        table.unary::<Fail, _, _>(|cx: Context, (text,)| async move {
            cx.finish::<Fail>(Err(Status::unknown(text)))
        });
        table.unary::<Sleep, _, _>(|cx: Context, (millis,)| async move {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            cx.finish::<Sleep>(Ok(Ok(millis)))
        });
        let notes = self.notes.clone();
        table.unary::<Note, _, _>(move |cx: Context, (_,)| {
            notes.fetch_add(1, Ordering::SeqCst);
            async move { cx.finish::<Note>(Ok(Ok(()))) }
        });
        let notes = self.notes.clone();
        table.unary::<Count, _, _>(move |cx: Context, ()| {
            let count = notes.load(Ordering::SeqCst);
            async move { cx.finish::<Count>(Ok(Ok(count))) }
        });
    }
}

#[tokio::test]
async fn a_python_client_calls_our_server() {
    let services = Router::new().add(Methods::default());
    let server = Server::new().accept(msgpack::Rpc::new(), services).listen("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port().to_string();
    let serving = tokio::spawn(server.serve());
    let client = run_script("msgpack_rpc_client.py", &["127.0.0.1", &port]);
    if let Some(client) = found(client) {
        run_checks(client, 21).await;
    }
    serving.abort();
}

#[tokio::test]
async fn our_clients_call_neovim() {
    let Some(nvim) = found(installed("nvim", "apt-get install neovim")) else { return };
    let server = serve_neovim(&nvim).await;
    call_neovim(rpc::mux::connect(&server.address, msgpack::Rpc::new()).await.unwrap()).await;
    call_neovim(rpc::pool::connect(&server.address, msgpack::Rpc::new()).await.unwrap()).await;
}

async fn serve_neovim(nvim: &std::path::Path) -> tests_peers::program::Running {
    let say = "call writefile(['listening ' . v:servername], '/dev/stdout')";
    serve(command(
        nvim,
        ["--headless", "-u", "NONE", "-i", "NONE", "-n", "--listen", "127.0.0.1:0", "-c", say],
    ))
    .await
}

async fn call_neovim<S: Transport + Speaks<Codec = msgpack::MsgPack>>(transport: S) {
    let client = Client::new(transport);
    let (channel, info) = client.call::<ApiInfo>(&()).await.unwrap().unwrap();
    assert!(channel > 0);
    let functions =
        info.as_map().and_then(|map| map.iter().find(|(key, _)| key.as_str() == Some("functions")));
    assert!(functions.and_then(|(_, functions)| functions.as_array()).is_some_and(|list| list.len() > 100));
    assert_eq!(client.call::<Eval>(&("1 + 2".into(),)).await.unwrap().unwrap(), Value::from(3));
    let error = client.call::<NoSuchThing>(&()).await.unwrap_err();
    assert!(error.to_string().contains("nvim_no_such_thing"), "{error}");
    assert_ne!(error.code(), Code::DeadlineExceeded);
    let calls = (0..200).map(|i: i64| client.call::<Eval>(&(i.to_string(),)));
    for (i, call) in calls.collect::<Vec<_>>().into_iter().map(tokio::spawn).enumerate() {
        assert_eq!(call.await.unwrap().unwrap().unwrap(), Value::from(i));
    }
    client.send::<SetVar>(&("seen", "héllo".into())).await.unwrap();
    // A notification has no answer, and over a pool the next call may take another connection.
    let mut seen = client.call::<GetVar>(&("seen",)).await;
    for _ in 0..1000 {
        if seen.is_ok() {
            break;
        }
        seen = client.call::<GetVar>(&("seen",)).await;
    }
    assert_eq!(seen.unwrap().unwrap(), "héllo");
    let text = "x".repeat(1_000_000);
    assert_eq!(client.call::<Strlen>(&("strlen", vec![text])).await.unwrap().unwrap(), 1_000_000);
}
