use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use crate::{Caller, CodecId, Metadata, Method, Name, Shape, Status};

/// What a request says beside its payload. Making a plain one allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct RequestHead {
    /// The service's full name; empty where the wire does not name it.
    pub service: Name,
    /// That name is advice: a server that knows no such service takes the method by its own name, if one service alone has it.
    /// Servers of TTHeader's family do so. Set on the server.
    pub service_is_advice: bool,
    /// The method's name.
    pub method: Name,
    /// Who sends how many messages. On the server it is what the wire tells: a request that wants no answer is
    /// [`Shape::Oneway`].
    pub shape: Shape,
    /// Which of the protocol's codecs the payload is in.
    pub codec: CodecId,
    /// When the caller gives up, as an instant of this machine; the wire carries what remains.
    pub deadline: Option<Instant>,
    /// Pairs that travel beside the payload.
    pub metadata: Metadata,
    /// Where the request came from. Set on the server.
    pub origin: Option<Arc<Origin>>,
}

impl RequestHead {
    /// The head of a call of `M`, without deadline and metadata.
    pub fn of<M: Method>() -> Self {
        Self {
            service: Name::from_static(M::SERVICE),
            method: Name::from_static(M::NAME),
            shape: M::SHAPE,
            ..Self::default()
        }
    }

    /// Whether the caller waits for an answer.
    pub fn wants_answer(&self) -> bool {
        self.shape != Shape::Oneway
    }
}

/// The connection that a request came in by.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The peer's address, where the connection has one.
    pub peer: Option<SocketAddr>,
    /// The name of the protocol that the connection speaks.
    pub protocol: &'static str,
    /// What calls the peer over the connection, where the protocol lets either side call.
    pub caller: Option<Caller>,
}

/// A request on its way through the layers.
#[derive(Debug)]
pub struct Request<B> {
    /// What it says beside its payload.
    pub head: RequestHead,
    /// The payload.
    pub body: B,
}

/// What a response says beside its payload.
#[derive(Clone, Debug)]
pub struct ResponseHead {
    /// Whether the call succeeded; a declared exception in the body counts as success here.
    pub status: Result<(), Status>,
    /// Pairs that travel beside the payload.
    pub metadata: Metadata,
    /// The service's definition says that the method answers nothing ([`Shape::Oneway`](crate::Shape::Oneway)), whatever its
    /// request said: some Thrift clients write their oneway calls as calls, and take an answer for that of their next one.
    pub silent: bool,
}

impl ResponseHead {
    /// The head of a success, without metadata.
    pub const fn ok() -> Self {
        Self { status: Ok(()), metadata: Metadata::new(), silent: false }
    }

    /// The head of a failure, without metadata.
    pub const fn failed(status: Status) -> Self {
        Self { status: Err(status), metadata: Metadata::new(), silent: false }
    }
}

/// A response on its way through the layers. A whole answer of the peer is one of these whatever its status; an error
/// of the service below means that no whole answer came.
#[derive(Debug)]
pub struct Response<B> {
    /// What it says beside its payload.
    pub head: ResponseHead,
    /// The payload; empty on failure.
    pub body: B,
}
