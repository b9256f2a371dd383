use std::fmt;

use crate::Place;

/// Who sends how many messages in a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One request, one response.
    #[default]
    Unary,
    /// One request, no response at all.
    Oneway,
    /// Many requests, one response.
    ClientStream,
    /// One request, many responses.
    ServerStream,
    /// Many requests, many responses.
    Duplex,
}

/// A method of a service definition, as a type. Generated code implements it; it is never a value.
pub trait Method: 'static {
    /// The service's full name, with its package where the definition language has one: `"hello.Greeter"`.
    const SERVICE: &'static str;
    /// The method's name as it stands on the wire.
    const NAME: &'static str;
    /// Who sends how many messages.
    const SHAPE: Shape;
    /// [`Place::Arguments`] or [`Place::Message`].
    const REQUEST: Place;
    /// What a caller sends: the message, or a struct of all arguments.
    type Request: Send + 'static;
    /// What a handler returns.
    type Response: Send + 'static;
    /// The declared exceptions; [`Never`] where there are none.
    type Exception: Send + 'static;
}

/// How a method ended as its definition sees it: with a response, or with an exception that it declares.
pub type Outcome<M> = Result<<M as Method>::Response, <M as Method>::Exception>;

/// The exception of a method that declares none: it has no values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Never {}

impl fmt::Display for Never {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl std::error::Error for Never {}
