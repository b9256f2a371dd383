//! The `jubatus` Python client against a small classifier with Jubatus's conventions, directly and through a keeper.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};

use keeper::{Aggregate, Keeper, Members, Methods, Routing};
use rmpv::Value;
use rpc::msgpack::{ErrorForm, MsgPack, Rpc};
use rpc::{Context, Method, MethodTable, NamedService, Never, Place, Router, Server, Shape};
use tokio::task::JoinHandle;

use crate::matrix::{Cell, Row};
use crate::program::{Missing, command, made, run_checks, script};

/// Texts, numbers and bytes by key.
type Datum = (Vec<(String, String)>, Vec<(String, f64)>, Vec<Value>);

// The cluster's name is the first argument of each.
methods! {
    GetConfig = "get_config", Unary, (String,) => String;
    Train = "train", Unary, (String, Vec<(String, Datum)>) => i32;
    Classify = "classify", Unary, (String, Vec<Datum>) => Vec<Vec<(String, f64)>>;
    GetLabels = "get_labels", Unary, (String,) => BTreeMap<String, u64>;
    SetLabel = "set_label", Unary, (String, String) => bool;
    Clear = "clear", Unary, (String,) => bool;
    Save = "save", Unary, (String, String) => BTreeMap<String, String>;
    Load = "load", Unary, (String, String) => bool;
    GetStatus = "get_status", Unary, (String,) => BTreeMap<String, BTreeMap<String, String>>;
}

pub(super) fn rows() -> Vec<Row> {
    let row = |members: usize, way: &str| Row {
        peer: "Jubatus's Python client",
        way: way.into(),
        calls_us: Cell::check(calls_us(members)),
        is_called: Cell::NotApplicable("a client alone"),
    };
    vec![row(0, "msgpack-rpc"), row(2, "msgpack-rpc, through a keeper of 2")]
}

/// Counts how often each label was trained. Clones are the same one.
#[derive(Clone)]
struct Classifier {
    name: String,
    labels: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl Classifier {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), labels: Arc::default() }
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<String, u64>) -> T) -> T {
        act(&mut self.labels.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Knows one model, and forgets the labels for it.
    fn load(&self, id: &str) -> bool {
        let known = id == "model";
        if known {
            self.with(BTreeMap::clear);
        }
        known
    }

    fn train(&self, data: Vec<(String, Datum)>) -> i32 {
        let count = i32::try_from(data.len()).unwrap_or(i32::MAX);
        self.with(|labels| data.into_iter().for_each(|(label, _)| *labels.entry(label).or_default() += 1));
        count
    }

    /// A score for each label that is one of the datum's texts: how often it was trained.
    fn classify(&self, data: &[Datum]) -> Vec<Vec<(String, f64)>> {
        #[allow(clippy::cast_precision_loss, reason = "there are few")]
        let scores = |(texts, _, _): &Datum| {
            self.with(|labels| {
                let known = texts.iter().filter_map(|(_, text)| labels.get_key_value(text));
                known.map(|(label, count)| (label.clone(), *count as f64)).collect()
            })
        };
        data.iter().map(scores).collect()
    }
}

/// A text that current writers give 8 bits of length, which such clients do not know.
fn config() -> String {
    format!("{{\"method\": \"{}\"}}", "x".repeat(100))
}

macro_rules! handlers {
    ($table:ident, $this:ident, $($method:ident($request:pat) => $answer:expr;)+) => {$(
        let this = $this.clone();
        $table.unary::<$method, _, _>(move |cx: Context, $request| {
            let $this = &this;
            let answer = $answer;
            async move { cx.finish::<$method>(Ok(Ok(answer))) }
        });
    )+};
}

impl NamedService<MsgPack> for Classifier {
    const NAME: &'static str = "classifier";

    fn register(&self, table: &mut MethodTable<MsgPack>) {
        let this = self;
        handlers! { table, this,
            GetConfig(_) => { let _ = this; config() };
            Train((_, data)) => this.train(data);
            Classify((_, data)) => this.classify(&data);
            GetLabels(_) => this.with(|labels| labels.clone());
            SetLabel((_, label)) => this.with(|labels| labels.insert(label, 0).is_none());
            Clear(_) => this.with(|labels| { labels.clear(); true });
            Save((_, id)) => [(this.name.clone(), format!("{}_{id}.jubatus", this.name))].into();
            Load((_, id)) => this.load(&id);
            GetStatus(_) => [(this.name.clone(), [("labels".to_owned(), this.with(|labels| labels.len()).to_string())].into())].into();
        }
    }
}

/// Replies in the old dialect, and numbers for unknown methods and bad arguments.
fn protocol() -> Rpc {
    Rpc::new().with_codec(MsgPack::new().raw_compat(true)).errors(ErrorForm::Jubatus)
}

/// As Jubatus's own proxy for its classifier has it.
fn routes() -> Methods {
    Methods::new()
        .route("get_config", Routing::Random)
        .route("train", Routing::Random)
        .route("classify", Routing::Random)
        .route("get_labels", Routing::Random)
        .route("set_label", Routing::All(Aggregate::And))
        .route("clear", Routing::All(Aggregate::And))
        .route("save", Routing::All(Aggregate::Merge))
        .route("load", Routing::All(Aggregate::And))
        .route("get_status", Routing::All(Aggregate::Merge))
}

/// A server until it is dropped.
struct Serving {
    address: String,
    task: JoinHandle<()>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serving(router: Router<(MsgPack,)>) -> Serving {
    let server = Server::new().accept(protocol().whole_names(true), router);
    let listening = server.listen("127.0.0.1:0").await.expect("a port");
    let address = listening.local_addr().expect("an address").to_string();
    let task = tokio::spawn(async move { listening.serve().await.expect("it serves") });
    Serving { address, task }
}

/// With so many members behind a keeper, or with 0 without one.
async fn calls_us(members: usize) -> Result<(), Missing> {
    let python = made("jubatus/bin/python")?;
    let mut servers = Vec::new();
    let mut known = Vec::new();
    for i in 0..members.max(1) {
        let name = format!("member{i}");
        let server = serving(Router::new().add(Classifier::new(&name))).await;
        known.push((name, rpc::mux::connect(&server.address, protocol()).await.expect("a mux")));
        servers.push(server);
    }
    let front = match members {
        0 => servers.remove(0),
        _ => serving(Router::new().fallback(Keeper::new(Members::new(known), routes()))).await,
    };
    let (host, port) = front.address.rsplit_once(':').expect("a host and a port");
    let arguments = ["-u".into(), script("jubatus_client.py").into_os_string(), host.into(), port.into()];
    let count = OsString::from(members.max(1).to_string());
    run_checks(command(&python, arguments.into_iter().chain([count])), 12).await;
    Ok(())
}
