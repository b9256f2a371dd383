//! tonic, as it comes and tuned.

use std::marker::PhantomData;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::net::TcpStream;
use tonic::codegen::tokio_stream::Stream;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};

use self::proto::echo_client::EchoClient;
use self::proto::echo_server::{Echo as EchoService, EchoServer};
use self::proto::{BurnRequest, BurnResponse, EchoRequest, EchoResponse};
use crate::system::{
    BoxError, Burn, Caller, ClientConfig, Echo, Reply, Server, ServerConfig, Sharing, System,
};
use crate::work;

#[allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    reason = "generated"
)]
mod proto {
    tonic::include_proto!("bench");
}

/// Room beside the body in a message.
const OVERHEAD: usize = 1 << 10;
/// What tonic decodes unless told otherwise.
const DEFAULT_LIMIT: usize = 4 << 20;
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 64 << 20;
const DEFAULT_BUFFER: usize = 1024;

/// Which options tonic runs with.
pub trait Tuning: Send + Sync + std::fmt::Debug + 'static {
    /// Name of the system.
    const NAME: &'static str;
    /// For the report.
    const DESCRIPTION: &'static str;
    /// Changes the client's options.
    fn client(endpoint: Endpoint, config: &ClientConfig) -> Endpoint;
    /// Changes the server's options.
    fn server(server: tonic::transport::Server) -> tonic::transport::Server;
}

/// Every option as it comes.
#[derive(Debug)]
pub struct Stock;

impl Tuning for Stock {
    const NAME: &'static str = "tonic";
    const DESCRIPTION: &'static str = "stock options, plaintext, channels used round-robin";

    fn client(endpoint: Endpoint, _config: &ClientConfig) -> Endpoint {
        endpoint
    }

    fn server(server: tonic::transport::Server) -> tonic::transport::Server {
        server
    }
}

/// Larger windows, no adaptive window, request buffer for all callers, no limit on streams.
#[derive(Debug)]
pub struct Tuned;

impl Tuning for Tuned {
    const NAME: &'static str = "tonic-tuned";
    const DESCRIPTION: &'static str = "4 MiB stream and 64 MiB connection windows, adaptive window off, buffer for all callers, no stream limit";

    fn client(endpoint: Endpoint, config: &ClientConfig) -> Endpoint {
        endpoint
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .http2_adaptive_window(false)
            .buffer_size(config.callers.max(DEFAULT_BUFFER))
    }

    fn server(server: tonic::transport::Server) -> tonic::transport::Server {
        server
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .http2_adaptive_window(Some(false))
            .max_concurrent_streams(None)
    }
}

/// tonic with these options.
#[derive(Debug)]
pub struct Tonic<T>(PhantomData<T>);

impl<T: Tuning> System for Tonic<T> {
    const NAME: &'static str = T::NAME;
    const SHARING: Sharing = Sharing::Shared;
    type Server = TonicServer;
    type Caller = TonicCaller;

    fn version() -> &'static str {
        env!("BENCH_TONIC_VERSION")
    }

    fn describe() -> &'static str {
        T::DESCRIPTION
    }

    async fn start(config: ServerConfig) -> Result<TonicServer, BoxError> {
        let incoming = TcpIncoming::bind(config.addr)?.with_nodelay(Some(true));
        let addr = incoming.local_addr()?;
        let accepted = Arc::new(AtomicU64::new(0));
        let mut service = EchoServer::new(Handlers);
        if let Some(limit) = raised_limit(config.body) {
            service = service.max_decoding_message_size(limit);
        }
        let incoming = Counted { incoming, accepted: Arc::clone(&accepted) };
        let serving = T::server(tonic::transport::Server::builder()).add_service(service);
        tokio::spawn(async move {
            if let Err(error) = serving.serve_with_incoming(incoming).await {
                eprintln!("tonic's server ended: {error}");
            }
        });
        Ok(TonicServer { addr, accepted })
    }

    async fn connect(config: ClientConfig) -> Result<Vec<TonicCaller>, BoxError> {
        let endpoint = Endpoint::from_shared(format!("http://{}", config.addr))?.tcp_nodelay(true);
        let endpoint = T::client(endpoint, &config);
        let mut channels = Vec::with_capacity(config.connections);
        for _ in 0..config.connections {
            channels.push(endpoint.connect().await?);
        }
        let limit = raised_limit(config.body);
        let clients = channels.iter().cycle().take(config.callers).map(|channel| {
            let client = EchoClient::new(channel.clone());
            TonicCaller {
                client: limit.map_or(client.clone(), |limit| client.max_decoding_message_size(limit)),
            }
        });
        Ok(clients.collect())
    }
}

/// The limit to set, if the default would refuse this body.
fn raised_limit(body: usize) -> Option<usize> {
    (body + OVERHEAD > DEFAULT_LIMIT).then_some(body + OVERHEAD)
}

/// The serving side.
#[derive(Debug)]
pub struct TonicServer {
    addr: SocketAddr,
    accepted: Arc<AtomicU64>,
}

impl Server for TonicServer {
    fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }
}

/// Counts connections on their way in.
struct Counted {
    incoming: TcpIncoming,
    accepted: Arc<AtomicU64>,
}

impl Stream for Counted {
    type Item = std::io::Result<TcpStream>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.incoming).poll_next(cx);
        if matches!(next, Poll::Ready(Some(Ok(_)))) {
            self.accepted.fetch_add(1, Ordering::Relaxed);
        }
        next
    }
}

struct Handlers;

#[tonic::async_trait]
impl EchoService for Handlers {
    async fn echo(&self, request: Request<EchoRequest>) -> Result<Response<EchoResponse>, Status> {
        let EchoRequest { action, msg } = request.into_inner();
        let (action, msg) = work::echo(action, msg);
        Ok(Response::new(EchoResponse { action, msg }))
    }

    async fn burn(&self, request: Request<BurnRequest>) -> Result<Response<BurnResponse>, Status> {
        let micros = request.into_inner().micros;
        work::burn(micros);
        Ok(Response::new(BurnResponse { micros }))
    }
}

/// One virtual client on one of the channels.
#[derive(Debug)]
pub struct TonicCaller {
    client: EchoClient<Channel>,
}

impl Caller for TonicCaller {
    type Reply = EchoResponse;

    async fn call(&mut self, request: Echo<'_>) -> Result<EchoResponse, BoxError> {
        let request = EchoRequest { action: request.action.to_owned(), msg: request.msg.to_owned() };
        Ok(self.client.echo(request).await?.into_inner())
    }
}

impl Burn for TonicCaller {
    async fn burn(&mut self, micros: u32) -> Result<(), BoxError> {
        self.client.burn(BurnRequest { micros }).await?;
        Ok(())
    }
}

impl Reply for EchoResponse {
    fn action(&self) -> &[u8] {
        self.action.as_bytes()
    }

    fn msg(&self) -> &[u8] {
        self.msg.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_bodies_raise_the_limit() {
        assert_eq!(raised_limit(1024), None);
        assert_eq!(raised_limit(4 << 20), Some((4 << 20) + OVERHEAD));
    }
}
