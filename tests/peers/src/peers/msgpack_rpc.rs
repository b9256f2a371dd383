//! msgpack-rpc: a client on PyPI's `msgpack`; Neovim, as a server and as a client.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rmpv::Value;
use rpc::{
    Client, Code, Codec, Context, Decode, EncodeOutcome, Method, MethodTable, NamedService, Never, Place,
    Router, Server, Shape, Speaks, Status, Transport, msgpack,
};

use super::python::run_script;
use crate::matrix::{Cell, Row};
use crate::program::{Missing, command, installed, run_checks, serve};

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

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row {
            peer: "Python's msgpack",
            way: "msgpack-rpc".into(),
            calls_us: Cell::check(calls_us("msgpack_rpc_client.py", 21)),
            is_called: Cell::NotApplicable("a client alone"),
        },
        Row {
            peer: "Neovim",
            way: "msgpack-rpc".into(),
            calls_us: Cell::check(async {
                neovim()?;
                calls_us("nvim_as_client.py", 5).await
            }),
            is_called: Cell::check(our_clients_call_neovim()),
        },
    ]
}

fn neovim() -> Result<PathBuf, Missing> {
    installed("nvim", "apt-get install neovim")
}

async fn calls_us(script: &'static str, checks: usize) -> Result<(), Missing> {
    let services = Router::new().add(Methods::default());
    let server = Server::new().accept(msgpack::Rpc::new(), services);
    let listening = server.listen("127.0.0.1:0").await.expect("a port");
    let port = listening.local_addr().expect("an address").port().to_string();
    let client = run_script(script, &["127.0.0.1", &port])?;
    let serving = tokio::spawn(listening.serve());
    run_checks(client, checks).await;
    serving.abort();
    Ok(())
}

async fn our_clients_call_neovim() -> Result<(), Missing> {
    let say = "call writefile(['listening ' . v:servername], '/dev/stdout')";
    let arguments = ["--headless", "-u", "NONE", "-i", "NONE", "-n", "--listen", "127.0.0.1:0", "-c", say];
    let server = serve(command(&neovim()?, arguments)).await;
    let address = &server.address;
    call_neovim(rpc::mux::connect(address, msgpack::Rpc::new()).await.expect("a mux")).await;
    call_neovim(rpc::pool::connect(address, msgpack::Rpc::new()).await.expect("a pool")).await;
    Ok(())
}

async fn call_neovim<S: Transport + Speaks<Codec = msgpack::MsgPack>>(transport: S) {
    let client = Client::new(transport);
    let (channel, info) = client.call::<ApiInfo>(&()).await.expect("an answer").expect("no exception");
    assert!(channel > 0);
    let functions =
        info.as_map().and_then(|map| map.iter().find(|(key, _)| key.as_str() == Some("functions")));
    assert!(functions.and_then(|(_, functions)| functions.as_array()).is_some_and(|list| list.len() > 100));
    assert_eq!(
        client.call::<Eval>(&("1 + 2".into(),)).await.expect("an answer").expect("no exception"),
        Value::from(3)
    );
    let error = client.call::<NoSuchThing>(&()).await.expect_err("an error");
    assert!(error.to_string().contains("nvim_no_such_thing"), "{error}");
    assert_ne!(error.code(), Code::DeadlineExceeded);
    let calls = (0..200).map(|i: i64| client.call::<Eval>(&(i.to_string(),)));
    for (i, call) in calls.collect::<Vec<_>>().into_iter().map(tokio::spawn).enumerate() {
        assert_eq!(call.await.expect("a task").expect("an answer").expect("no exception"), Value::from(i));
    }
    client.send::<SetVar>(&("seen", "héllo".into())).await.expect("sent");
    // A notification has no answer, and over a pool the next call may take another connection.
    let mut seen = client.call::<GetVar>(&("seen",)).await;
    for _ in 0..1000 {
        if seen.is_ok() {
            break;
        }
        seen = client.call::<GetVar>(&("seen",)).await;
    }
    assert_eq!(seen.expect("an answer").expect("no exception"), "héllo");
    let text = "x".repeat(1_000_000);
    assert_eq!(
        client.call::<Strlen>(&("strlen", vec![text])).await.expect("an answer").expect("no exception"),
        1_000_000
    );
}
