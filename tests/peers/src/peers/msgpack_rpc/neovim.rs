//! Neovim, over TCP and Unix sockets: it calls and is called, and either side calls back before it answers.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use rmpv::Value;
use rpc::msgpack::{MsgPack, Rpc};
use rpc::mux::{Mux, MuxConfig};
use rpc::{
    Client, Code, Context, Method, MethodTable, NamedService, Never, Place, Router, Server, Shape, Speaks,
    Status, Transport,
};
use tokio::sync::mpsc;

use super::methods::Methods;
use crate::matrix::{Cell, Row};
use crate::peers::python::run_script;
use crate::program::{Missing, Running, command, installed, run_checks, serve};

methods! {
    ApiInfo = "nvim_get_api_info", Unary, () => (i64, Value);
    SetClientInfo = "nvim_set_client_info", Unary, Vec<Value> => ();
    Eval = "nvim_eval", Unary, (String,) => Value;
    Run = "nvim_command", Unary, (String,) => ();
    Strlen = "nvim_call_function", Unary, (&'static str, Vec<String>) => u64;
    SetVar = "nvim_set_var", Oneway, (&'static str, String) => ();
    GetVar = "nvim_get_var", Unary, (&'static str,) => String;
    NoSuchThing = "nvim_no_such_thing", Unary, () => Value;
    // What it calls here.
    Greet = "greet", Unary, (String,) => String;
    Event = "event", Oneway, (i64, String) => ();
}

/// Where a Neovim and a server of ours meet.
#[derive(Clone, Copy)]
enum Meeting {
    Tcp,
    Unix,
}

pub(super) fn rows() -> Vec<Row> {
    let places = [(Meeting::Tcp, "msgpack-rpc"), (Meeting::Unix, "msgpack-rpc, Unix socket")];
    let row = |(place, way): (Meeting, &str)| Row {
        peer: "Neovim",
        way: way.into(),
        calls_us: Cell::check(calls_us(place)),
        is_called: Cell::check(is_called(place)),
    };
    places.map(row).into()
}

fn neovim() -> Result<PathBuf, Missing> {
    installed("nvim", "apt-get install neovim")
}

/// A path for a Unix socket, which is short enough for one.
fn socket() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("rpc-peers-{}-{count}.sock", std::process::id()))
}

async fn calls_us(place: Meeting) -> Result<(), Missing> {
    neovim()?;
    let path = socket();
    let at = match place {
        Meeting::Tcp => "127.0.0.1:0".to_owned(),
        Meeting::Unix => format!("unix:{}", path.display()),
    };
    let server = Server::new().accept(Rpc::new(), Router::new().add(Methods::default()));
    let listening = server.listen(&at).await.expect("an endpoint");
    let at = listening.local_addr().map_or(at, |address| address.to_string());
    let client = run_script("nvim_as_client.py", &[&at])?;
    let serving = tokio::spawn(listening.serve());
    run_checks(client, 8).await;
    serving.abort();
    let _ = std::fs::remove_file(path); // there is none but for a Unix socket
    Ok(())
}

async fn is_called(place: Meeting) -> Result<(), Missing> {
    let path = socket();
    let at = match place {
        Meeting::Tcp => "127.0.0.1:0".to_owned(),
        Meeting::Unix => path.display().to_string(),
    };
    let server = start(&at).await?;
    let endpoint = match place {
        Meeting::Tcp => server.address.clone(),
        Meeting::Unix => format!("unix:{}", server.address),
    };
    call(rpc::mux::connect(&endpoint, Rpc::new()).await.expect("a mux")).await;
    call(rpc::pool::connect(&endpoint, Rpc::new()).await.expect("a pool")).await;
    both_ways(&endpoint).await;
    drop(server);
    let _ = std::fs::remove_file(path);
    Ok(())
}

async fn start(at: &str) -> Result<Running, Missing> {
    let say = "call writefile(['listening ' . v:servername], '/dev/stdout')";
    let arguments = ["--headless", "-u", "NONE", "-i", "NONE", "-n", "--listen", at, "-c", say];
    Ok(serve(command(&neovim()?, arguments)).await)
}

fn ok<T>(result: Result<Result<T, Never>, rpc::Error>) -> T {
    match result.expect("an answer") {
        Ok(value) => value,
        Err(never) => match never {},
    }
}

async fn call<S: Transport + Speaks<Codec = MsgPack>>(transport: S) {
    let client = Client::new(transport);
    let (channel, info) = ok(client.call::<ApiInfo>(&()).await);
    assert!(channel > 0);
    let functions =
        info.as_map().and_then(|map| map.iter().find(|(key, _)| key.as_str() == Some("functions")));
    assert!(functions.and_then(|(_, functions)| functions.as_array()).is_some_and(|list| list.len() > 100));
    assert_eq!(ok(client.call::<Eval>(&("1 + 2".into(),)).await), Value::from(3));
    let error = client.call::<NoSuchThing>(&()).await.expect_err("an error");
    assert!(error.to_string().contains("nvim_no_such_thing"), "{error}");
    assert_ne!(error.code(), Code::DeadlineExceeded);
    let calls = (0..200).map(|i: i64| client.call::<Eval>(&(i.to_string(),)));
    for (i, call) in calls.collect::<Vec<_>>().into_iter().map(tokio::spawn).enumerate() {
        assert_eq!(ok(call.await.expect("a task")), Value::from(i));
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
    assert_eq!(ok(seen), "héllo");
    let text = "x".repeat(1_000_000);
    assert_eq!(ok(client.call::<Strlen>(&("strlen", vec![text])).await), 1_000_000);
    ok(client.call::<Run>(&("unlet g:seen".into(),)).await);
}

/// What Neovim calls of a client: it greets, with a word that it asks Neovim for before, and notes events.
#[derive(Clone)]
struct Host(mpsc::UnboundedSender<(i64, String)>);

impl NamedService<MsgPack> for Host {
    const NAME: &'static str = "Host";

    fn register(&self, table: &mut MethodTable<MsgPack>) {
        table.unary::<Greet, _, _>(|cx: Context, (name,)| async move {
            let back = Client::with_codec(MsgPack::new(), cx.caller().expect("Neovim takes calls"));
            // Neovim waits for the answer, and serves this meanwhile.
            let greeting = back.call::<Eval>(&("join(['Hel', 'lo'], '')".into(),)).await;
            let greeting = greeting.map(|Ok(word)| Ok(format!("{}, {name}!", word.as_str().unwrap_or("?"))));
            cx.finish::<Greet>(greeting.map_err(Status::from))
        });
        let events = self.0.clone();
        table.unary::<Event, _, _>(move |cx: Context, event| {
            let kept = events.send(event).map_err(|_| Status::unavailable("nobody listens"));
            async move { cx.finish::<Event>(kept.map(Ok)) }
        });
    }
}

/// A client that Neovim calls, while it waits for an answer of Neovim's itself.
async fn both_ways(endpoint: &str) {
    let (sender, mut events) = mpsc::unbounded_channel();
    let config = MuxConfig { connections: 1, ..MuxConfig::default() };
    let services = Router::new().add(Host(sender));
    let dialer = rpc::net::Dialer::new(endpoint);
    let mux: Mux<Rpc> = rpc::mux::connect_serving(dialer, Rpc::new(), config, services).await.expect("a mux");
    let client = Client::new(mux);
    let (channel, _) = ok(client.call::<ApiInfo>(&()).await);
    // First of all: otherwise Neovim takes an answer that is not to its last request for a fault, and ends the channel.
    let empty = || Value::Map(Vec::new());
    let kind = Value::from("msgpack-rpc");
    ok(client.call::<SetClientInfo>(&vec!["peers".into(), empty(), kind, empty(), empty()]).await);

    let greet = |name: &str| (format!("rpcrequest({channel}, 'greet', '{name}')"),);
    assert_eq!(ok(client.call::<Eval>(&greet("Vim")).await), Value::from("Hello, Vim!"));
    // One after the other: older releases of Neovim want the answer to their last request first, whatever they were told.
    for i in 0..8 {
        let greeted = ok(client.call::<Eval>(&greet(&i.to_string())).await);
        assert_eq!(greeted, Value::from(format!("Hello, {i}!")));
    }
    for i in 0..5 {
        let notify = format!("call rpcnotify({channel}, 'event', {i}, 'from Neovim')");
        ok(client.call::<Run>(&(notify,)).await);
    }
    for i in 0..5 {
        assert_eq!(events.recv().await, Some((i, "from Neovim".to_owned())));
    }
    let error =
        client.call::<Eval>(&(format!("rpcrequest({channel}, 'nope')"),)).await.expect_err("an error");
    assert!(error.to_string().contains("unknown method"), "{error}");
    assert_eq!(ok(client.call::<Eval>(&("6 * 7".into(),)).await), Value::from(42), "the channel stands");
}
