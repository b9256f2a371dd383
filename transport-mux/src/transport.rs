use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use rpc_core::{Body, CodecSet, Request, Response, Router, Routes, Speaks, TransportError};
use rpc_net::{Connect, Dialer, TokioExecutor};
use rpc_wire::MakeProtocol;
use tower::Service;

use crate::slot::{Common, Slot, Slots, slots};
use crate::{CallFuture, MuxConfig};

/// Connects to `"host:port"` or `"unix:/path"` with the default configuration. One connection is made now, the others as
/// they are needed.
///
/// # Errors
/// When the first connection can not be made.
///
/// # Panics
/// When the protocol's answers carry no ids, so that calls can not share a connection; and outside of a tokio runtime.
pub async fn connect<P: MakeProtocol>(
    endpoint: impl AsRef<str>,
    protocol: P,
) -> Result<Mux<P>, TransportError> {
    connect_with(Dialer::new(endpoint), protocol, MuxConfig::default()).await
}

/// Connects by any means with any configuration.
///
/// # Errors
/// When the first connection can not be made.
///
/// # Panics
/// As [`connect`].
pub async fn connect_with<P: MakeProtocol, C: Connect>(
    connector: C,
    protocol: P,
    config: MuxConfig,
) -> Result<Mux<P, C>, TransportError> {
    connected(lazy(connector, protocol, config)).await
}

/// Connects as [`connect_with`], and serves calls of the peer, over all connections: for protocols that let either side call, as
/// msgpack-rpc does. Handlers run by the same rules as a server's, and call the peer by `Context::caller`; limits hold for
/// each connection, and calls beyond them are refused. Without services the peer's calls are answered as unknown methods.
///
/// They are served for as long as a clone of the transport lives.
///
/// # Errors
/// When the first connection can not be made.
///
/// # Panics
/// As [`connect`], and when the protocol does not let the peer call.
pub async fn connect_serving<P: MakeProtocol, C: Connect>(
    connector: C,
    protocol: P,
    config: MuxConfig,
    services: Router<P::Codecs>,
) -> Result<Mux<P, C>, TransportError> {
    connected(lazy_serving(connector, protocol, config, services)).await
}

/// A transport that makes its connections as they are needed, so that the peer may come up later.
///
/// # Panics
/// As [`connect`].
pub fn lazy<P: MakeProtocol, C: Connect>(connector: C, protocol: P, config: MuxConfig) -> Mux<P, C> {
    make(connector, protocol, config, None)
}

/// A transport that makes its connections as they are needed, and serves calls of the peer as [`connect_serving`] says. The
/// peer can call once there was a call from here.
///
/// # Panics
/// As [`connect_serving`].
pub fn lazy_serving<P: MakeProtocol, C: Connect>(
    connector: C,
    protocol: P,
    config: MuxConfig,
    services: Router<P::Codecs>,
) -> Mux<P, C> {
    assert!(protocol.is_symmetric(), "{} does not let a server call its client", protocol.name());
    let routes = services.into_routes(&protocol.codecs(), Arc::new(TokioExecutor::current()));
    make(connector, protocol, config, Some(routes))
}

fn make<P: MakeProtocol, C: Connect>(
    connector: C,
    protocol: P,
    config: MuxConfig,
    routes: Option<Routes>,
) -> Mux<P, C> {
    assert!(protocol.multiplexes(), "{} has no ids in its answers: it needs a pool", protocol.name());
    let slots = slots(connector, protocol, config, routes);
    Mux { shared: Arc::new(Shared { slots, next: AtomicUsize::new(0) }) }
}

async fn connected<P: MakeProtocol, C: Connect>(mux: Mux<P, C>) -> Result<Mux<P, C>, TransportError> {
    let io = mux.shared.common().connector.connect().await?;
    mux.shared.first().open(io);
    Ok(mux)
}

/// The transport. Clones share its connections, which end when the last clone and the last call are gone.
pub struct Mux<P: MakeProtocol, C: Connect = Dialer> {
    shared: Arc<Shared<P, C>>,
}

/// What the clones of a transport and its calls share.
pub(crate) struct Shared<P: MakeProtocol, C: Connect> {
    slots: Slots<P, C>,
    next: AtomicUsize,
}

impl<P: MakeProtocol, C: Connect> Shared<P, C> {
    fn common(&self) -> &Common<P, C> {
        &self.first().common
    }

    fn first(&self) -> &Arc<Slot<P, C>> {
        self.slot(0)
    }

    /// The slot with this number, which [`choose`](Mux::choose) or [`open_slot`](Self::open_slot) named.
    pub(crate) fn slot(&self, number: usize) -> &Arc<Slot<P, C>> {
        let Some(slot) = self.slots.get(number) else {
            unreachable!("numbers come from the slots, and there is one")
        };
        slot
    }

    /// A slot that has a connection.
    pub(crate) fn open_slot(&self) -> Option<usize> {
        self.slots.iter().position(|slot| slot.is_open())
    }
}

impl<P: MakeProtocol, C: Connect> Mux<P, C> {
    /// What is going on now.
    pub fn gauges(&self) -> MuxGauges {
        let waiting = self.shared.common().waiting.count();
        let mut gauges = MuxGauges { waiting, ..MuxGauges::default() };
        for (in_flight, answered) in self.shared.slots.iter().filter_map(|slot| slot.count()) {
            gauges.connections += 1;
            gauges.in_flight += in_flight;
            gauges.answered += answered;
        }
        gauges
    }

    /// The connection for the next call: each in turn, but one that is open before one that is not.
    fn choose(&self) -> usize {
        let slots = self.shared.slots.len();
        if slots == 1 {
            return 0;
        }
        let chosen = self.shared.next.fetch_add(1, Ordering::Relaxed) % slots;
        let slot = self.shared.slot(chosen);
        if slot.is_open() {
            return chosen;
        }
        // It is dialled all the same, so that the load spreads again; calls need not wait for that if another is open.
        slot.dial();
        let others = (1..slots).map(|step| (chosen + step) % slots);
        others.into_iter().find(|other| self.shared.slot(*other).is_open()).unwrap_or(chosen)
    }
}

impl<P: MakeProtocol, C: Connect> Service<Request<Body>> for Mux<P, C> {
    type Response = Response<Body>;
    type Error = TransportError;
    type Future = CallFuture<P, C>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.shared.common().waiting.poll_ready(cx).map(Ok)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        CallFuture::new(self.shared.clone(), self.choose(), request)
    }
}

impl<P: MakeProtocol, C: Connect> Speaks for Mux<P, C> {
    type Codec = <P::Codecs as CodecSet>::First;

    fn codec(&self) -> Self::Codec {
        self.shared.common().protocol.codecs().first()
    }
}

impl<P: MakeProtocol, C: Connect> Clone for Mux<P, C> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<P: MakeProtocol, C: Connect> Drop for Shared<P, C> {
    fn drop(&mut self) {
        for slot in &self.slots {
            slot.close();
        }
    }
}

impl<P: MakeProtocol, C: Connect> fmt::Debug for Mux<P, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let common = self.shared.common();
        f.debug_struct("Mux")
            .field("endpoint", common.connector.endpoint())
            .field("protocol", &common.protocol.name())
            .field("gauges", &self.gauges())
            .finish()
    }
}

/// What is going on in a [`Mux`]. When no call is made, everything but `connections` is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MuxGauges {
    /// Connections that are open.
    pub connections: usize,
    /// Calls that were sent and not answered yet.
    pub in_flight: usize,
    /// Calls whose answer is here and was not taken by the caller yet.
    pub answered: usize,
    /// Calls that wait for a connection, or for a slot on one.
    pub waiting: usize,
}
