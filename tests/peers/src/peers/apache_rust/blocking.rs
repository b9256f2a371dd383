//! Apache's blocking client and server, each in a thread.

use thrift::protocol::{
    TBinaryInputProtocol, TBinaryInputProtocolFactory, TBinaryOutputProtocol, TBinaryOutputProtocolFactory,
    TCompactInputProtocol, TCompactInputProtocolFactory, TCompactOutputProtocol,
    TCompactOutputProtocolFactory, TInputProtocol, TInputProtocolFactory, TMultiplexedOutputProtocol,
    TOutputProtocol, TOutputProtocolFactory,
};
use thrift::server::{TMultiplexedProcessor, TProcessor, TServer};
use thrift::transport::{
    ReadHalf, TBufferedReadTransport, TBufferedReadTransportFactory, TBufferedWriteTransport,
    TBufferedWriteTransportFactory, TFramedReadTransport, TFramedReadTransportFactory, TFramedWriteTransport,
    TFramedWriteTransportFactory, TIoChannel, TReadTransportFactory, TTcpChannel, TWriteTransportFactory,
    WriteHalf,
};

use super::echo_requests;
use super::generated::{EchoError, EchoRequest, EchoSyncClient, EchoSyncProcessor, TEchoSyncClient};
use super::service::Blocking;
use crate::way::{Around, Names, Protocol, Way};

type Reading = Box<dyn TInputProtocol + Send>;
type Writing = Box<dyn TOutputProtocol + Send>;

/// Makes all calls to a server.
///
/// # Panics
/// When an answer is another than it should be.
pub(super) fn call(way: Way, port: u16) {
    let mut client = client(way, port);
    for (name, request) in echo_requests() {
        let response = client.echo(request.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(response.request, request, "{name}");
    }
    let (_, minimal) = echo_requests().swap_remove(1);
    let failing = EchoRequest { fail_code: Some(7), ..minimal.clone() };
    match client.echo(failing) {
        Err(thrift::Error::User(error)) => {
            assert_eq!(error.downcast_ref::<EchoError>().and_then(|error| error.code), Some(7));
        }
        other => panic!("{other:?}"),
    }
    let before = client.echo(minimal.clone()).expect("an answer").pings;
    client.ping("note".into()).expect("a ping");
    // The server handles it while it answers the next call.
    assert!((0..1000).any(|_| client.echo(minimal.clone()).expect("an answer").pings != before));
}

/// A client over a connection to 127.0.0.1.
fn client(way: Way, port: u16) -> EchoSyncClient<Reading, Writing> {
    let mut channel = TTcpChannel::new();
    channel.open(("127.0.0.1", port)).expect("a connection");
    let (read, write): (ReadHalf<TTcpChannel>, WriteHalf<TTcpChannel>) = channel.split().expect("two halves");
    let (read, write): (Box<dyn std::io::Read + Send>, Box<dyn std::io::Write + Send>) = match way.around {
        Around::Frame => {
            (Box::new(TFramedReadTransport::new(read)), Box::new(TFramedWriteTransport::new(write)))
        }
        Around::Nothing => {
            (Box::new(TBufferedReadTransport::new(read)), Box::new(TBufferedWriteTransport::new(write)))
        }
    };
    let (input, output): (Reading, Writing) = match way.protocol {
        Protocol::Binary | Protocol::OldBinary => {
            let strict = way.protocol == Protocol::Binary;
            (
                Box::new(TBinaryInputProtocol::new(read, strict)),
                Box::new(TBinaryOutputProtocol::new(write, strict)),
            )
        }
        Protocol::Compact => {
            (Box::new(TCompactInputProtocol::new(read)), Box::new(TCompactOutputProtocol::new(write)))
        }
    };
    match way.names {
        Names::Plain => EchoSyncClient::new(input, output),
        Names::Multiplexed => {
            EchoSyncClient::new(input, Box::new(TMultiplexedOutputProtocol::new("Echo", output)))
        }
    }
}

/// Serves in a thread that ends with the process; returns the address.
///
/// # Panics
/// When there is no free port.
pub(super) fn serve(way: Way) -> String {
    let processor = EchoSyncProcessor::new(Blocking::default());
    match way.names {
        Names::Plain => serve_with(way, processor),
        Names::Multiplexed => {
            let mut several = TMultiplexedProcessor::new();
            several.register("Echo", Box::new(processor), false).expect("a name of its own");
            serve_with(way, several)
        }
    }
}

fn serve_with<P: TProcessor + Send + Sync + 'static>(way: Way, processor: P) -> String {
    let (read, write): (Box<dyn TReadTransportFactory + Send>, Box<dyn TWriteTransportFactory + Send>) =
        match way.around {
            Around::Frame => {
                (Box::new(TFramedReadTransportFactory::new()), Box::new(TFramedWriteTransportFactory::new()))
            }
            Around::Nothing => (
                Box::new(TBufferedReadTransportFactory::new()),
                Box::new(TBufferedWriteTransportFactory::new()),
            ),
        };
    let (input, output): (Box<dyn TInputProtocolFactory + Send>, Box<dyn TOutputProtocolFactory + Send>) =
        match way.protocol {
            Protocol::Binary | Protocol::OldBinary => {
                (Box::new(TBinaryInputProtocolFactory::new()), Box::new(TBinaryOutputProtocolFactory::new()))
            }
            Protocol::Compact => (
                Box::new(TCompactInputProtocolFactory::new()),
                Box::new(TCompactOutputProtocolFactory::new()),
            ),
        };
    let mut server = TServer::new(read, input, write, output, processor, 4);
    // The port is free now; the server can not choose one itself and say so.
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = free.expect("a free port").to_string();
    std::thread::spawn({
        let address = address.clone();
        move || server.listen(address)
    });
    address
}
