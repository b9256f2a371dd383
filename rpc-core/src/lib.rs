//! A call takes a typed request to one handler of one service and brings one typed outcome back; this crate holds the
//! contracts that a call crosses, and the two ends of the stack.
//!
//! ```text
//!  application                                             application
//!       │ M::Request        ▲ M::Response                       ▲ M::Request   │ M::Response
//!  ┌────▼───────────────────┴────┐                         ┌────┴─── handler ──▼─────────┐
//!  │ Client: owns the deadline   │   T meets bytes here,   │ Routes: the method table    │
//!  │ encode · decode (C: Codec)  │◄─ and nowhere else ────►│ decode · encode (C: Codec)  │
//!  └────┬───────────────────▲────┘                         └────▲──────────────────┬─────┘
//!       │ Request<Body>     │ Response<Body>                    │ Request<Body>    │ Response<Body>
//!    tower layers           │                                tower layers          │
//!       ▼                   │                                   │                  ▼
//!    Transport to one peer: pool | mux | memory              Serve one connection: any protocol
//! ```
//!
//! To read in this order: [`codec`](crate::Codec), [`envelope`](crate::RequestHead), [`transport`](crate::Transport),
//! [`client`](crate::Client), [`server`](crate::Router).
//!
//! It knows nothing of sockets, framings, or ids of calls, and it spawns nothing.

mod body;
mod client;
mod codec;
mod encode_buffer;
mod envelope;
mod error;
pub mod layer;
mod server;
mod status;
mod transport;

pub use body::{Body, BodyFrame, BodyStream};
pub use client::{Call, CallOptions, CallRaw, Client, ReplyMetadata};
pub use codec::{
    Codec, CodecId, CodecSet, Decode, DecodeError, DecodeErrorKind, DecodeOutcome, Encode, EncodeError,
    EncodeOutcome, Exceptions, Place,
};
pub use envelope::{
    Metadata, Method, Name, Never, Origin, Outcome, Request, RequestHead, Response, ResponseHead, Scope,
    Shape, Value,
};
pub use error::{Error, Initiator, Sent, Stage, TransportError, TransportErrorKind, is_disconnect};
pub use server::{
    Accepts, BoxFuture, Caller, Context, Dispatch, Executor, Finished, MethodTable, NamedService,
    RouteFuture, Router, Routes,
};
pub use status::{Code, Status};
pub use transport::{Speaks, Transport};

/// Any error, as tower's layers pass it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
