//! A keeper in front of two servers: it hands calls on without knowing their types, by the id that they carry, or to both
//! servers, whose answers it puts together. The services are written for Jubatus's clients: the cluster's name comes first.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use keeper::{Aggregate, Keeper, Members, Methods, Routing};
use rpc::{
    Client, Context, Method, MethodTable, NamedService, Never, Place, Router, Server, Shape, msgpack, mux,
};

/// A method of a store: its name, arguments and answer.
macro_rules! method {
    ($method:ident, $name:literal, $request:ty, $response:ty) => {
        enum $method {}

        impl Method for $method {
            const SERVICE: &'static str = "Store";
            const NAME: &'static str = $name;
            const SHAPE: Shape = Shape::Unary;
            const REQUEST: Place = Place::Arguments;
            type Request = $request;
            type Response = $response;
            type Exception = Never;
        }
    };
}
method!(Put, "put", (String, String, String), bool);
method!(Get, "get", (String, String), Option<String>);
method!(Count, "count", (String,), u64);

/// One server's part of what is stored.
#[derive(Clone, Default)]
struct Store(Arc<Mutex<BTreeMap<String, String>>>);

impl Store {
    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<String, String>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl NamedService<msgpack::MsgPack> for Store {
    const NAME: &'static str = "Store";

    fn register(&self, table: &mut MethodTable<msgpack::MsgPack>) {
        let store = self.clone();
        table.unary::<Put, _, _>(move |cx: Context, (_, id, value)| {
            let new = store.with(|stored| stored.insert(id, value).is_none());
            async move { cx.finish::<Put>(Ok(Ok(new))) }
        });
        let store = self.clone();
        table.unary::<Get, _, _>(move |cx: Context, (_, id)| {
            let found = store.with(|stored| stored.get(&id).cloned());
            async move { cx.finish::<Get>(Ok(Ok(found))) }
        });
        let store = self.clone();
        table.unary::<Count, _, _>(move |cx: Context, (_,)| {
            let count = store.with(|stored| stored.len() as u64);
            async move { cx.finish::<Count>(Ok(Ok(count))) }
        });
    }
}

/// As Jubatus speaks: texts in the old dialect, and numbers for some errors.
fn protocol() -> msgpack::Rpc {
    let codec = msgpack::MsgPack::new().raw_compat(true);
    msgpack::Rpc::new().with_codec(codec).errors(msgpack::ErrorForm::Jubatus)
}

/// Serves until the process ends, and says where.
async fn serve(router: Router<(msgpack::MsgPack,)>) -> Result<String, Box<dyn std::error::Error>> {
    let server = Server::new().accept(protocol().whole_names(true), router).listen("127.0.0.1:0").await?;
    let address = server.local_addr().ok_or("no address")?.to_string();
    tokio::spawn(server.serve());
    Ok(address)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stores = [Store::default(), Store::default()];
    let mut members = Vec::new();
    for (name, store) in ["first", "second"].into_iter().zip(&stores) {
        let address = serve(Router::new().add(store.clone())).await?;
        members.push((name.to_owned(), mux::connect(address, protocol()).await?));
    }

    let methods = Methods::new()
        .route("put", Routing::by_id(1, Aggregate::First))
        .route("get", Routing::by_id(1, Aggregate::First))
        .route("count", Routing::All(Aggregate::Add));
    let keeper = Keeper::new(Members::new(members), methods);
    let address = serve(Router::new().fallback(keeper)).await?;

    let client = Client::new(mux::connect(address, protocol()).await?);
    let cluster = || "cluster".to_owned();
    for i in 0..100 {
        let Ok(_) = client.call::<Put>(&(cluster(), format!("id{i}"), format!("value {i}"))).await?;
    }
    let Ok(value) = client.call::<Get>(&(cluster(), "id42".into())).await?;
    let Ok(count) = client.call::<Count>(&(cluster(),)).await?;
    let parts = stores.each_ref().map(|store| store.with(|stored| stored.len()));
    println!("id42 is {}", value.as_deref().unwrap_or("nowhere"));
    println!("{count} are stored, {} and {}", parts[0], parts[1]);
    Ok(())
}
