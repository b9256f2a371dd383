//! The service of `echo.thrift`, said by hand in terms of Apache's types.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use rpc::thrift::apache::{Plain, Struct};
use rpc::thrift::{FieldHeader, TType, ThriftException, ThriftReader, ThriftValue, ThriftWriter};
use rpc::{
    Codec, Decode, DecodeError, EncodeError, EncodeOutcome, Method, MethodTable, NamedService, Never, Place,
    Shape,
};

use super::generated::{EchoError, EchoRequest, EchoResponse, EchoSyncHandler};

/// The method of that name.
#[derive(Debug)]
pub struct Echo;

impl Method for Echo {
    const SERVICE: &'static str = "Echo";
    const NAME: &'static str = "echo";
    const SHAPE: Shape = Shape::Unary;
    const REQUEST: Place = Place::Message;
    type Request = EchoRequest;
    type Response = EchoResponse;
    type Exception = EchoException;
}

/// The method of that name.
#[derive(Debug)]
pub struct Ping;

impl Method for Ping {
    const SERVICE: &'static str = "Echo";
    const NAME: &'static str = "ping";
    const SHAPE: Shape = Shape::Oneway;
    const REQUEST: Place = Place::Message;
    type Request = Plain<String>;
    type Response = Plain<()>;
    type Exception = Never;
}

/// What `echo` declares.
#[derive(Debug)]
pub enum EchoException {
    /// The server was asked to fail.
    Failed(Struct<EchoError>),
}

impl ThriftException for EchoException {
    fn write_field<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        let Self::Failed(error) = self;
        error.write_field(1, writer)
    }

    fn read_field<R: ThriftReader>(field: FieldHeader, reader: &mut R) -> Result<Option<Self>, DecodeError> {
        match (field.id, field.ttype) {
            (1, TType::Struct) => Struct::read(reader).map(|error| Some(Self::Failed(error))),
            _ => Ok(None),
        }
    }
}

fn answer(request: EchoRequest, pings: i32) -> Result<EchoResponse, EchoError> {
    match request.fail_code {
        None | Some(0) => Ok(EchoResponse::new(request, "apache-rust".to_owned(), pings)),
        Some(code) => Err(EchoError::new(code, format!("asked to fail: {}", request.must))),
    }
}

/// The service in our server.
#[derive(Clone, Debug, Default)]
pub struct OfTheirTypes {
    pings: Arc<AtomicI32>,
}

impl<C> NamedService<C> for OfTheirTypes
where
    C: Codec
        + Decode<EchoRequest>
        + EncodeOutcome<EchoResponse, EchoException>
        + Decode<Plain<String>>
        + EncodeOutcome<Plain<()>, Never>,
{
    const NAME: &'static str = "Echo";

    fn register(&self, table: &mut MethodTable<C>) {
        let pings = self.pings.clone();
        table.unary::<Echo, _, _>(move |context, request| {
            let pings = pings.load(Ordering::SeqCst);
            async move {
                let outcome = answer(request, pings).map_err(|error| EchoException::Failed(Struct(error)));
                context.finish::<Echo>(Ok(outcome))
            }
        });
        let pings = self.pings.clone();
        table.unary::<Ping, _, _>(move |context, _| {
            pings.fetch_add(1, Ordering::SeqCst);
            async move { context.finish::<Ping>(Ok(Ok(Plain(())))) }
        });
    }
}

/// What Apache's blocking server calls.
#[derive(Debug, Default)]
pub(super) struct Blocking {
    pings: AtomicI32,
}

impl EchoSyncHandler for Blocking {
    fn handle_echo(&self, request: EchoRequest) -> thrift::Result<EchoResponse> {
        answer(request, self.pings.load(Ordering::SeqCst)).map_err(Into::into)
    }

    fn handle_ping(&self, _: String) -> thrift::Result<()> {
        self.pings.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}
