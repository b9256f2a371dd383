use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use codec_msgpack::MsgPack;
use codec_msgpack::value::{Kind, RawValue};
use futures::future::join_all;
use rpc_core::{
    Body, BoxFuture, CallOptions, Client, Error, Request, RequestHead, Response, ResponseHead, Sent, Status,
    Transport, TransportErrorKind,
};

use crate::members::Snapshot;
use crate::{Aggregate, Members, Methods, Routing, failure};

/// Hands calls on to the members of a cluster, and their answers back. It is a tower service of bytes: give it to
/// `Router::fallback`, with a protocol that hands names on unchanged.
///
/// What a member answers goes to the caller as it is, failures too. When members could not be asked, or several answered and
/// one of them failed, the caller is told of the first failure in the order of their names: `connect error in proxy`,
/// `timeout error in proxy`, `request timed out`, or a member's own text. A oneway call goes to the same members, oneway.
///
/// # Cancel safety
/// Dropping a call gives up those that it became.
///
/// # Example
/// ```no_run
/// use keeper::{Aggregate, Keeper, Members, Methods, Routing};
/// use rpc_core::{Router, Transport};
///
/// # fn example<T: Transport>(a: T, b: T) {
/// let members = Members::new([("10.0.0.1:9199".to_owned(), a), ("10.0.0.2:9199".to_owned(), b)]);
/// let methods = Methods::new()
///     .route("update_row", Routing::by_id(2, Aggregate::And))
///     .otherwise(Routing::Random);
/// let services = Router::<(codec_msgpack::MsgPack,)>::new().fallback(Keeper::new(members.clone(), methods));
/// // Server::new().accept(codec_msgpack::Rpc::new().whole_names(true), services)…
/// # let _ = services;
/// # }
/// ```
pub struct Keeper<T> {
    members: Members<T>,
    methods: Arc<Methods>,
    options: CallOptions,
}

/// How long Jubatus's proxies wait for their servers.
const TIMEOUT: Duration = Duration::from_secs(10);

impl<T: Transport> Keeper<T> {
    /// A keeper of these members.
    pub fn new(members: Members<T>, methods: Methods) -> Self {
        Self { members, methods: Arc::new(methods), options: CallOptions::new().timeout(TIMEOUT) }
    }

    /// How long a member may take for a call. Default: 10 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.timeout(timeout);
        self
    }

    /// The members, to replace them.
    pub fn members(&self) -> &Members<T> {
        &self.members
    }

    async fn forward(self, request: Request<Body>) -> Result<Response<Body>, Status> {
        let Request { mut head, body } = request;
        head.origin = None; // it came by another connection than it leaves by
        let Some(params) = body.into_once() else {
            return Err(Status::unimplemented("streams are not handed on"));
        };
        let Some(routing) = self.methods.find(&head.method) else {
            return Err(Status::unimplemented(format!("unknown method {:?}", head.method)));
        };
        let members = self.members.snapshot();
        let (asked, aggregate): (Vec<_>, _) = match routing {
            Routing::Random => return self.ask_any(&members, &head, &params).await,
            Routing::Hash { parameter, copies, aggregate } => {
                (members.of_key(key(&params, parameter)?, copies).collect(), aggregate)
            }
            Routing::All(aggregate) => (members.all().collect(), aggregate),
        };
        if asked.is_empty() {
            return Err(failure::nobody());
        }
        let answers = asked.iter().map(|(name, member)| async {
            self.ask(member, &head, &params).await.map_err(|error| failure::of(name, &error))
        });
        put_together(aggregate, join_all(answers).await)
    }

    /// Asks one member; another if it is sure that the call did not reach it.
    async fn ask_any(
        &self,
        members: &Snapshot<T>,
        head: &RequestHead,
        params: &Bytes,
    ) -> Result<Response<Body>, Status> {
        let mut failed = failure::nobody();
        for (name, member) in members.all_from(self.members.random()) {
            match self.ask(member, head, params).await {
                Ok(response) => return Ok(Response { head: response.head, body: response.body.into() }),
                Err(error) => {
                    failed = failure::of(name, &error);
                    if !may_pass_over(&error) {
                        break;
                    }
                }
            }
        }
        Err(failed)
    }

    async fn ask(&self, member: &T, head: &RequestHead, params: &Bytes) -> Result<Response<Bytes>, Error> {
        let client = Client::with_codec(MsgPack::new(), member.clone()).with(self.options.clone());
        client.call_raw(head.clone(), params.clone()).await
    }
}

/// Whether a call may go to another member: this one was not reached, which says nothing about the others.
fn may_pass_over(error: &Error) -> bool {
    use TransportErrorKind::{Closed, Connect, Overloaded, ShuttingDown};
    let kind = error.transport().map(|error| error.kind());
    error.sent() == Sent::No && matches!(kind, Some(Connect | Closed | ShuttingDown | Overloaded))
}

/// What a parameter is hashed by: the bytes of a text, so that they may stand in either of its forms; else the value's own.
fn key(params: &[u8], parameter: usize) -> Result<&[u8], Status> {
    let value = RawValue::new(params).map_err(|error| Status::invalid_argument(error.to_string()))?;
    let found = match value.kind() {
        Kind::Array(mut elements) => elements.nth(parameter),
        _ => None,
    };
    match found {
        Some(value) => Ok(match value.kind() {
            Kind::Str(text) | Kind::Bin(text) => text,
            _ => value.bytes(),
        }),
        None => {
            Err(Status::invalid_argument(format!("there is no parameter {parameter}, which says where to")))
        }
    }
}

fn put_together(
    aggregate: Aggregate,
    answers: Vec<Result<Response<Bytes>, Status>>,
) -> Result<Response<Body>, Status> {
    let mut bodies = Vec::with_capacity(answers.len());
    for answer in answers {
        let Response { head, body } = answer?;
        head.status?;
        bodies.push(body);
    }
    Ok(Response { head: ResponseHead::ok(), body: aggregate.of(&bodies)?.into() })
}

impl<T: Transport> tower::Service<Request<Body>> for Keeper<T> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let keeper = self.clone();
        Box::pin(async move {
            let failed = |status| Response { head: ResponseHead::failed(status), body: Body::empty() };
            Ok(keeper.forward(request).await.unwrap_or_else(failed))
        })
    }
}

impl<T> Clone for Keeper<T> {
    fn clone(&self) -> Self {
        Self { members: self.members.clone(), methods: self.methods.clone(), options: self.options.clone() }
    }
}

impl<T> fmt::Debug for Keeper<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper")
            .field("members", &self.members)
            .field("methods", &self.methods)
            .finish_non_exhaustive()
    }
}
