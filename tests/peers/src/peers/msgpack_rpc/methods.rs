use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rmpv::Value;
use rpc::msgpack::MsgPack;
use rpc::{Client, Context, Method, MethodTable, NamedService, Never, Place, Shape, Status};

use super::neovim::{Eval, SetVar};

methods! {
    Add = "add", Unary, (i64, i64) => i64;
    Echo = "echo", Unary, Vec<Value> => Vec<Value>;
    Fail = "fail", Unary, (String,) => ();
    Sleep = "sleep", Unary, (u64,) => u64;
    Note = "note", Oneway, (String,) => ();
    Count = "count", Unary, () => u64;
    // Has the caller, which must be Neovim, evaluate something.
    Ask = "ask", Unary, (String,) => Value;
    // Sets a variable of the caller by a notification.
    Tell = "tell", Unary, (String,) => ();
}

/// What the scripts expect of a server.
#[derive(Clone, Default)]
pub(super) struct Methods {
    notes: Arc<AtomicU64>,
}

impl NamedService<MsgPack> for Methods {
    const NAME: &'static str = "Methods";

    fn register(&self, table: &mut MethodTable<MsgPack>) {
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
        table.unary::<Ask, _, _>(|cx: Context, question| async move {
            let answer = match cx.caller() {
                Some(caller) => Client::with_codec(MsgPack::new(), caller).call::<Eval>(&question).await,
                None => return cx.finish::<Ask>(Err(Status::internal("no way back"))),
            };
            cx.finish::<Ask>(answer.map_err(Status::from))
        });
        table.unary::<Tell, _, _>(|cx: Context, (text,)| async move {
            let sent = match cx.caller() {
                Some(caller) => {
                    Client::with_codec(MsgPack::new(), caller).send::<SetVar>(&("told", text)).await
                }
                None => return cx.finish::<Tell>(Err(Status::internal("no way back"))),
            };
            cx.finish::<Tell>(sent.map(Ok).map_err(Status::from))
        });
    }
}
