//! pynvim, Neovim's client in Python, against a server that plays Neovim's part.

use rmpv::Value;
use rpc::msgpack::{ErrorForm, MsgPack, Rpc};
use rpc::{Client, Context, Method, MethodTable, NamedService, Never, Place, Router, Server, Shape, Status};

use crate::matrix::{Cell, Row};
use crate::peers::python::run_script;
use crate::program::{Missing, run_checks};

methods! {
    ApiInfo = "nvim_get_api_info", Unary, () => (i64, Value);
    SetClientInfo = "nvim_set_client_info", Unary, Vec<Value> => ();
    Eval = "nvim_eval", Unary, (String,) => i64;
    CurrentBuffer = "nvim_get_current_buf", Unary, () => Value;
    LineCount = "nvim_buf_line_count", Unary, (Value,) => i64;
    Ask = "ask", Unary, (String,) => Value;
    Tell = "tell", Unary, (String,) => ();
    // What pynvim serves.
    Answer = "answer", Unary, (String,) => Value;
    Event = "event", Oneway, (String,) => ();
}

pub(super) fn rows() -> Vec<Row> {
    vec![Row {
        peer: "pynvim",
        way: "msgpack-rpc".into(),
        calls_us: Cell::check(calls_us()),
        is_called: Cell::NotApplicable("a client, which serves while it calls"),
    }]
}

/// Handles are ext values: 0 is a buffer, and here there is the buffer 1 alone.
const BUFFER: i8 = 0;

#[derive(Clone)]
struct Editor;

impl NamedService<MsgPack> for Editor {
    const NAME: &'static str = "Editor";

    fn register(&self, table: &mut MethodTable<MsgPack>) {
        table.unary::<ApiInfo, _, _>(|cx: Context, ()| async move {
            cx.finish::<ApiInfo>(Ok(Ok((1, api_info()))))
        });
        table.unary::<SetClientInfo, _, _>(|cx: Context, info| async move {
            let known = info.first().and_then(Value::as_str).is_some();
            let done = if known { Ok(Ok(())) } else { Err(Status::invalid_argument("no name")) };
            cx.finish::<SetClientInfo>(done)
        });
        table.unary::<Eval, _, _>(|cx: Context, (expression,)| async move {
            let value = expression.split('+').map(|number| number.trim().parse::<i64>()).sum();
            let value: Result<i64, _> = value;
            cx.finish::<Eval>(value.map(Ok).map_err(|error| Status::invalid_argument(error.to_string())))
        });
        table.unary::<CurrentBuffer, _, _>(|cx: Context, ()| async move {
            cx.finish::<CurrentBuffer>(Ok(Ok(Value::Ext(BUFFER, vec![1]))))
        });
        table.unary::<LineCount, _, _>(|cx: Context, (buffer,)| async move {
            let count = if buffer == Value::Ext(BUFFER, vec![1]) {
                Ok(Ok(7))
            } else {
                Err(Status::not_found("buffer"))
            };
            cx.finish::<LineCount>(count)
        });
        table.unary::<Ask, _, _>(|cx: Context, question| async move {
            let back = Client::with_codec(MsgPack::new(), cx.caller().expect("msgpack-rpc is symmetric"));
            let answer = back.call::<Answer>(&question).await;
            cx.finish::<Ask>(answer.map_err(Status::from))
        });
        table.unary::<Tell, _, _>(|cx: Context, event| async move {
            let back = Client::with_codec(MsgPack::new(), cx.caller().expect("msgpack-rpc is symmetric"));
            let sent = back.send::<Event>(&event).await;
            cx.finish::<Tell>(sent.map(Ok).map_err(Status::from))
        });
    }
}

fn api_info() -> Value {
    let map = |pairs: Vec<(&str, Value)>| {
        Value::Map(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect())
    };
    let kind = |id: i64| map(vec![("id", id.into())]);
    map(vec![
        ("version", map(vec![("api_level", 9.into())])),
        ("types", map(vec![("Buffer", kind(0)), ("Window", kind(1)), ("Tabpage", kind(2))])),
    ])
}

async fn calls_us() -> Result<(), Missing> {
    // Neovim's errors are a number and a text.
    let server = Server::new().accept(Rpc::new().errors(ErrorForm::Pair), Router::new().add(Editor));
    let listening = server.listen("127.0.0.1:0").await.expect("a port");
    let port = listening.local_addr().expect("an address").port().to_string();
    let client = run_script("pynvim_client.py", &["127.0.0.1", &port])?;
    let serving = tokio::spawn(listening.serve());
    run_checks(client, 7).await;
    serving.abort();
    Ok(())
}
