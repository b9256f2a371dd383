//! Our own systems: each codec over each transport, by public API and with default options.

use std::net::SocketAddr;

use rpc::net::{Bound, Dialer};
use rpc::{CallOptions, Context, Router, Status};

use crate::system::{
    BoxError, Burn, Caller, ClientConfig, Codec, Dispatch, Echo, Pair, Reply, Server, ServerConfig, Sharing,
    System, Transport,
};
use crate::work;

#[allow(missing_docs, unreachable_pub, unused_qualifications, reason = "generated")]
mod thrift_idl {
    rpc::include_idl!("echo.thrift");
}

#[allow(missing_docs, unreachable_pub, unused_qualifications, reason = "generated")]
mod proto_idl {
    rpc::include_idl!("echo.proto");
}

/// The service, for the types of one definition language.
macro_rules! handlers {
    ($idl:path) => {
        use $idl as idl;

        /// The handlers of these systems.
        #[derive(Debug)]
        pub struct Handlers;

        #[allow(clippy::useless_conversion, reason = "one definition language has signed numbers here")]
        impl idl::Echo for Handlers {
            async fn echo(
                &self,
                _: &Context,
                request: idl::EchoRequest,
            ) -> Result<idl::EchoResponse, Status> {
                let (action, msg) = work::echo(request.action, request.msg);
                Ok(idl::EchoResponse { action, msg })
            }

            async fn burn(
                &self,
                _: &Context,
                request: idl::BurnRequest,
            ) -> Result<idl::BurnResponse, Status> {
                work::burn(request.micros.try_into().unwrap_or(0));
                Ok(idl::BurnResponse { micros: request.micros })
            }
        }

        impl Reply for idl::EchoResponse {
            fn action(&self) -> &[u8] {
                self.action.as_bytes()
            }

            fn msg(&self) -> &[u8] {
                self.msg.as_bytes()
            }
        }
    };
}

/// Systems of one definition language: how each is named and chosen, and the protocol that it speaks.
macro_rules! systems {
    ($($system:ident: $name:literal, $codec:tt over $transport:ident, $protocol:ty = $make:expr;)+) => {$(
        #[doc = concat!("`", $name, "`.")]
        #[derive(Debug)]
        pub struct $system;

        impl System for $system {
            const NAME: &'static str = $name;
            const OURS: bool = true;
            const PAIR: Option<Pair> = pair!($codec over $transport);
            const SHARING: Sharing = transports::$transport::SHARING;
            type Server = Running;
            type Caller = OursCaller<idl::EchoClient<CodecOf<$protocol>, transports::$transport::Of<$protocol>>>;

            fn version() -> &'static str {
                env!("CARGO_PKG_VERSION")
            }

            fn describe() -> &'static str {
                "default options but for the number of connections"
            }

            async fn start(config: ServerConfig) -> Result<Running, BoxError> {
                let services = Router::new().add_with(idl::EchoServer::new(Handlers), dispatch(&config));
                run(rpc::Server::new().accept($make, services).listen(config.addr.to_string()).await?)
            }

            async fn connect(config: ClientConfig) -> Result<Vec<Self::Caller>, BoxError> {
                let transport = transports::$transport::connect(&config, $make).await?;
                let options = CallOptions::new().timeout(config.timeout);
                let client = idl::EchoClient::new(transport).with(options);
                Ok((0..config.callers).map(|_| OursCaller { client: client.clone() }).collect())
            }
        }

        impl Caller for OursCaller<idl::EchoClient<CodecOf<$protocol>, transports::$transport::Of<$protocol>>> {
            type Reply = idl::EchoResponse;

            async fn call(&mut self, request: Echo<'_>) -> Result<idl::EchoResponse, BoxError> {
                let request =
                    idl::EchoRequest { action: request.action.to_owned(), msg: request.msg.to_owned() };
                Ok(self.client.echo(request).await?)
            }
        }

        impl Burn for OursCaller<idl::EchoClient<CodecOf<$protocol>, transports::$transport::Of<$protocol>>> {
            #[allow(clippy::useless_conversion, reason = "one definition language has signed numbers here")]
            async fn burn(&mut self, micros: u32) -> Result<(), BoxError> {
                self.client.burn(idl::BurnRequest { micros: micros.try_into()? }).await?;
                Ok(())
            }
        }
    )+};
}

/// How the flags name a system. `_` stands for another form of one that the flags know.
macro_rules! pair {
    (_ over $transport:ident) => {
        None
    };
    ($codec:ident over $transport:ident) => {
        Some(Pair { codec: Codec::$codec, transport: Transport::$transport })
    };
}

/// Types of `echo.thrift`.
pub mod of_thrift {
    use super::*;

    handlers!(super::thrift_idl::bench);
    systems! {
        ThriftPool: "thrift/pool", Thrift over Pool, rpc::thrift::FramedBinary = rpc::thrift::framed();
        ThriftMux: "thrift/mux", Thrift over Mux, rpc::thrift::FramedBinary = rpc::thrift::framed();
        MsgpackPool: "msgpack/pool", Msgpack over Pool, rpc::msgpack::Rpc = rpc::msgpack::Rpc::new();
        MsgpackMux: "msgpack/mux", Msgpack over Mux, rpc::msgpack::Rpc = rpc::msgpack::Rpc::new();
        CompactMux: "thrift-compact/mux", _ over Mux, rpc::thrift::FramedCompact = rpc::thrift::framed_compact();
        ThriftTtHeaderMux: "thrift-ttheader/mux", _ over Mux, rpc::thrift::TtHeaderBinary = rpc::thrift::ttheader();
    }
}

/// Types of `echo.proto`.
pub mod of_proto {
    use super::*;

    handlers!(super::proto_idl::bench);
    systems! {
        ProtobufPool: "protobuf/pool", Protobuf over Pool, rpc::protobuf::KitexFramed = rpc::protobuf::kitex_framed();
        ProtobufMux: "protobuf/mux", Protobuf over Mux, rpc::protobuf::KitexFramed = rpc::protobuf::kitex_framed();
        ProtobufTtHeaderMux: "protobuf-ttheader/mux", _ over Mux, rpc::protobuf::KitexTtHeader = rpc::protobuf::kitex_ttheader();
    }
}

/// The codec that a protocol carries.
type CodecOf<P> = <<P as rpc::wire::MakeProtocol>::Codecs as rpc::CodecSet>::First;

/// How each transport connects.
#[allow(non_snake_case, reason = "named like the variants of `Transport`")]
mod transports {
    use super::*;

    pub(super) mod Pool {
        use super::*;

        pub(in super::super) const SHARING: Sharing = Sharing::Exclusive;
        pub(in super::super) type Of<P> = rpc::pool::Pool<P>;

        pub(in super::super) async fn connect<P: rpc::wire::MakeProtocol>(
            config: &ClientConfig,
            protocol: P,
        ) -> Result<Of<P>, BoxError> {
            let options = rpc::pool::PoolConfig {
                max_connections: config.connections,
                max_idle: config.connections,
                ..Default::default()
            };
            Ok(rpc::pool::connect_with(Dialer::new(config.addr.to_string()), protocol, options).await?)
        }
    }

    pub(super) mod Mux {
        use super::*;

        pub(in super::super) const SHARING: Sharing = Sharing::Shared;
        pub(in super::super) type Of<P> = rpc::mux::Mux<P>;

        pub(in super::super) async fn connect<P: rpc::wire::MakeProtocol>(
            config: &ClientConfig,
            protocol: P,
        ) -> Result<Of<P>, BoxError> {
            let options = rpc::mux::MuxConfig { connections: config.connections, ..Default::default() };
            Ok(rpc::mux::connect_with(Dialer::new(config.addr.to_string()), protocol, options).await?)
        }
    }
}

fn dispatch(config: &ServerConfig) -> rpc::Dispatch {
    match config.dispatch {
        Dispatch::Adaptive => rpc::Dispatch::Adaptive,
        Dispatch::Blocking => rpc::Dispatch::Blocking,
    }
}

fn run(bound: Bound) -> Result<Running, BoxError> {
    let addr = bound.local_addr().ok_or("no TCP address")?;
    let gauges = bound.gauges();
    tokio::spawn(bound.serve());
    Ok(Running { addr, gauges })
}

/// The serving side.
#[derive(Debug)]
pub struct Running {
    addr: SocketAddr,
    gauges: rpc::net::ServerGauges,
}

impl Server for Running {
    fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    fn accepted(&self) -> u64 {
        self.gauges.accepted().try_into().unwrap_or(u64::MAX)
    }
}

/// One virtual client.
#[derive(Debug)]
pub struct OursCaller<C> {
    client: C,
}
