//! msgpack-rpc: a client on PyPI's `msgpack`; Neovim, as a server and as a client; its Python client; Jubatus's.
//!
//! - `methods`: what the first of these call.
//! - `neovim`, `pynvim`, `jubatus`: the others.

/// Methods of plain serde types: the arguments are a tuple or a list.
macro_rules! methods {
    ($($method:ident = $name:literal, $shape:ident, $request:ty => $response:ty;)+) => {$(
        pub(super) enum $method {}

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
mod jubatus;
mod methods;
mod neovim;
mod pynvim;

use rpc::{Router, Server, msgpack};

use super::python::run_script;
use crate::matrix::{Cell, Row};
use crate::program::{Missing, run_checks};

pub(super) fn rows() -> Vec<Row> {
    let python = Row {
        peer: "Python's msgpack",
        way: "msgpack-rpc".into(),
        calls_us: Cell::check(calls_us()),
        is_called: Cell::NotApplicable("a client alone"),
    };
    [vec![python], neovim::rows(), pynvim::rows(), jubatus::rows()].into_iter().flatten().collect()
}

async fn calls_us() -> Result<(), Missing> {
    let services = Router::new().add(methods::Methods::default());
    let listening =
        Server::new().accept(msgpack::Rpc::new(), services).listen("127.0.0.1:0").await.expect("a port");
    let port = listening.local_addr().expect("an address").port().to_string();
    let client = run_script("msgpack_rpc_client.py", &["127.0.0.1", &port])?;
    let serving = tokio::spawn(listening.serve());
    run_checks(client, 21).await;
    serving.abort();
    Ok(())
}
