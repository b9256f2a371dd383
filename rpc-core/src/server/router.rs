use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use tower::util::BoxCloneSyncService;
use tower::{Service, ServiceExt};

use super::dispatch::{Dispatch, Executor, Route, RouteFuture};
use super::method_table::{MethodTable, NamedService, unary_parts};
use crate::{Body, BoxError, Codec, CodecSet, Request, Response, Status};

/// Collects services that are called in the codecs `Cs`, a tuple that the protocol gives: the compiler refuses a service
/// whose types one of them can not carry.
///
/// A request finds its method by service and method where the wire names both, else by the method's name if only one
/// service has it; so it does too where the wire's name for the service is [advice](crate::RequestHead::service_is_advice),
/// there is no such service, and no [`fallback`](Self::fallback) either.
pub struct Router<Cs> {
    services: Vec<&'static str>,
    /// The services wait for the codecs, which the protocol configures.
    register: Vec<Register<Cs>>,
    fallback: Option<Fallback>,
}

type Register<Cs> = Box<dyn FnOnce(&Cs, &mut Table) + Send>;
type Fallback = BoxCloneSyncService<Request<Body>, Response<Body>, BoxError>;

impl<Cs: CodecSet> Router<Cs> {
    /// A router without services.
    pub fn new() -> Self {
        Self { services: Vec::new(), register: Vec::new(), fallback: None }
    }

    /// Adds a service, whose handlers run where [`Dispatch::Adaptive`] says.
    ///
    /// # Panics
    /// When a service of that name was added already.
    #[must_use]
    #[track_caller]
    #[allow(clippy::should_implement_trait, reason = "nobody takes this for a sum")]
    pub fn add<S>(self, service: S) -> Self
    where
        Cs: Accepts<S>,
        S: Send + 'static,
    {
        self.add_with(service, Dispatch::default())
    }

    /// Adds a service and says where its handlers run.
    ///
    /// # Panics
    /// When a service of that name was added already.
    #[must_use]
    #[track_caller]
    pub fn add_with<S>(mut self, service: S, dispatch: Dispatch) -> Self
    where
        Cs: Accepts<S>,
        S: Send + 'static,
    {
        let name = Cs::name_of(&service);
        assert!(!self.services.contains(&name), "the service {name} was added twice");
        self.services.push(name);
        self.register.push(Box::new(move |codecs, table| codecs.register(&service, dispatch, table)));
        self
    }

    /// Gives requests that no service has to `service`, with their bytes as they are: for proxies.
    #[must_use]
    pub fn fallback<S>(mut self, service: S) -> Self
    where
        S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
    {
        self.fallback = Some(BoxCloneSyncService::new(service.map_err(Into::into)));
        self
    }

    /// Ends the collecting. Services are served in these codecs; `executor` runs the handlers that leave their connection's task.
    pub fn into_routes(self, codecs: &Cs, executor: Arc<dyn Executor>) -> Routes {
        let mut table = Table { services: self.services, methods: BTreeMap::new(), fallback: self.fallback };
        for register in self.register {
            register(codecs, &mut table);
        }
        Routes { table: Arc::new(table), executor }
    }
}

impl<Cs: CodecSet> Default for Router<Cs> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Cs> fmt::Debug for Router<Cs> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router").field("services", &self.services).finish_non_exhaustive()
    }
}

/// A tuple of codecs in each of which the service `S` can be called.
pub trait Accepts<S>: CodecSet {
    #[doc(hidden)]
    fn name_of(service: &S) -> &'static str;
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn register(&self, service: &S, dispatch: Dispatch, table: &mut Table);
}

macro_rules! accepts {
    ($(($($codec:ident),+)),+ $(,)?) => {$(
        #[allow(private_interfaces)]
        impl<S, $($codec: Codec),+> Accepts<S> for ($($codec,)+)
        where
            $(S: NamedService<$codec>),+
        {
            fn name_of(_: &S) -> &'static str {
                first_name!(S, $($codec),+)
            }

            #[allow(non_snake_case)]
            fn register(&self, service: &S, dispatch: Dispatch, table: &mut Table) {
                let mut methods = Vec::new();
                let ($($codec,)+) = self;
                $(
                    let mut in_codec = MethodTable::new($codec.clone());
                    service.register(&mut in_codec);
                    methods.push(in_codec.methods);
                )+
                table.add(first_name!(S, $($codec),+), methods, dispatch);
            }
        }
    )+};
}
macro_rules! first_name {
    ($service:ident, $first:ident $(, $more:ident)*) => {
        <$service as NamedService<$first>>::NAME
    };
}
accepts!((A), (A, B), (A, B, D), (A, B, D, E));

/// All methods of all services of a router. Clones share them.
#[derive(Clone)]
pub struct Routes {
    table: Arc<Table>,
    executor: Arc<dyn Executor>,
}

impl Service<Request<Body>> for Routes {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = RouteFuture;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> RouteFuture {
        let route = match self.table.find(&request) {
            Ok(route) => route.clone(),
            Err(status) => match &self.table.fallback {
                Some(service) => return RouteFuture::fallback(Box::pin(service.clone().oneshot(request))),
                None => return RouteFuture::ready(status),
            },
        };
        match unary_parts(request) {
            Some((head, body)) => route.call(head, body, &self.executor),
            None => RouteFuture::ready(Status::unimplemented("the method takes one message, not a stream")),
        }
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routes").field("services", &self.table.services).finish_non_exhaustive()
    }
}

/// The method table: name, then service, then codec.
pub(crate) struct Table {
    services: Vec<&'static str>,
    /// A tree: for the few methods that most services have, it costs less to ask than a hash table.
    methods: BTreeMap<&'static [u8], Vec<Entry>>,
    fallback: Option<Fallback>,
}

struct Entry {
    service: &'static str,
    /// One for each codec, in the order of the tuple.
    routes: Vec<Arc<Route>>,
}

impl Table {
    /// `codecs` holds the same methods once for each codec.
    fn add(
        &mut self,
        service: &'static str,
        codecs: Vec<Vec<(&'static str, crate::Shape, super::method_table::Start)>>,
        dispatch: Dispatch,
    ) {
        for (name, shape, start) in codecs.into_iter().flatten() {
            let entries = self.methods.entry(name.as_bytes()).or_default();
            let route = Arc::new(Route::new(start, shape, dispatch));
            match entries.iter_mut().find(|entry| entry.service == service) {
                Some(entry) => entry.routes.push(route),
                None => entries.push(Entry { service, routes: vec![route] }),
            }
        }
    }

    fn find(&self, request: &Request<Body>) -> Result<&Arc<Route>, Status> {
        let (service, method) = (&request.head.service, &request.head.method);
        let entries = self.methods.get(method.as_bytes()).map_or(&[][..], Vec::as_slice);
        let entry = if service.is_empty() {
            match entries {
                [entry] => entry,
                [] => return Err(Status::unimplemented(format!("unknown method {method:?}"))),
                _ => {
                    let services = entries.iter().map(|entry| entry.service).collect::<Vec<_>>().join(", ");
                    return Err(Status::unimplemented(format!(
                        "method {method:?} is in several services ({services}): the call must name one"
                    )));
                }
            }
        } else {
            let full = entries.iter().find(|entry| entry.service.as_bytes() == service.as_bytes());
            let mut named = entries.iter().filter(|entry| is_named(entry.service, service.as_bytes()));
            match (full.or_else(|| named.next()), named.next()) {
                (Some(entry), _) if full.is_some() => entry,
                (Some(entry), None) => entry,
                (Some(one), Some(other)) => {
                    return Err(Status::unimplemented(format!(
                        "service {service:?} may be {} or {}: the call must name its package",
                        one.service, other.service
                    )));
                }
                (None, _) if self.services.iter().any(|known| is_named(known, service.as_bytes())) => {
                    return Err(Status::unimplemented(format!(
                        "unknown method {method:?} of service {service:?}"
                    )));
                }
                (None, _) => match entries {
                    [entry] if request.head.service_is_advice && self.fallback.is_none() => entry,
                    _ => return Err(Status::unimplemented(format!("unknown service {service:?}"))),
                },
            }
        };
        let codec = usize::from(request.head.codec.0);
        entry
            .routes
            .get(codec)
            .ok_or_else(|| Status::internal("the protocol named a codec that it does not have"))
    }
}

/// Whether the wire's name means the service: its full name, or the name without its package, which is all that Thrift's
/// protocols carry.
fn is_named(service: &str, wire: &[u8]) -> bool {
    let (full, wire_len) = (service.as_bytes(), wire.len());
    full == wire
        || (full.ends_with(wire)
            && full.len().checked_sub(wire_len + 1).and_then(|dot| full.get(dot)) == Some(&b'.'))
}
