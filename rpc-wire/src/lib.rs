//! Wire protocols as values: bytes go in, events come out; calls go in, bytes come out. Nothing here reads a clock, owns a
//! socket, takes a lock or spawns a task, so everything here can be tested byte by byte and fuzzed.
//!
//! ```text
//!   handle_input(bytes)  ┌────────────┐  poll_event()   → Request · Response · Reset · GoAway
//!   handle_timeout(now)  │  Protocol  │
//!   open · reply · reset │ (Unary<F>) │  poll_output()  → WriteBuf
//!   go_away              └────────────┘  poll_timeout() → Instant
//! ```
//!
//! - `protocol`: the [`Protocol`] trait, and the events it yields.
//! - `framing`: the [`Framing`] trait: one message in and out of a byte stream.
//! - `unary`: [`Unary`], the engine that makes a protocol of any framing: ids, calls in flight, order, limits, deadlines.
//! - `header`, `message`: Thrift's kind of message header, and what every framing does with messages that have one.
//! - `framed`, `buffered`: the framings with a length before each message, and with nothing.
//! - `ttheader`: the framing with Kitex's header in front of each message.
//! - `family`: all of these on one connection, told apart message by message.
//! - `application_error`: the numbers of Thrift's and Kitex's application exceptions, and the statuses they mean.
//! - `write_buf`: what is to be written. `coding`: the checked reader. `id_map`: values by call id.
//! - `fuzz`: bodies for fuzzers, which the unit tests run as well.
#![warn(clippy::indexing_slicing)]

mod application_error;
mod buffered;
mod coding;
mod error;
mod family;
mod framed;
mod framing;
pub mod fuzz;
mod header;
mod id_map;
mod limits;
mod message;
mod protocol;
#[cfg(test)]
mod testing;
mod ttheader;
mod unary;
mod write_buf;

pub use application_error::{ApplicationErrorKind, application_kind, status_from_application};
pub use buffered::{Buffered, Unframed};
pub use coding::Reader;
pub use error::{CallError, ConnectionError, ConnectionErrorKind, FrameError, OpenError};
pub use family::{Family, FamilyMirror, Headers, Member, Speaks};
pub use framed::Framed;
pub use framing::{Answer, Detect, Frame, Framing, Order};
pub use header::{Kind, MessageHead, MessageHeader};
pub use id_map::IdMap;
pub use limits::Limits;
pub use message::MessageMirror;
pub use protocol::{CallId, Event, MakeProtocol, More, Protocol, Reason};
pub use ttheader::{BackwardKeys, Payload, TtHeader, TtHeaderConfig, TtHeaderMirror};
pub use unary::Unary;
pub use write_buf::{Mark, WriteBuf};
