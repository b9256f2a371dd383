//! What every transport must do over every framing.
//!
//! [`transport_suite!`](crate::transport_suite) makes a test of each case, over memory and over TCP, for a [`Kind`] of transport
//! and a protocol. The cases themselves are the functions here.
//!
//! - `calls`: what happens when all is well: echo, many at once, order, oneway, sizes, splits.
//! - `faults`: what happens when a call fails: limits, encoding, panics, unknown methods.
//! - `ends`: what happens when a call ends early: dropped, late, cut off, drained.

mod calls;
mod ends;
mod faults;

use std::fmt;
use std::time::Duration;

use rpc_core::{Accepts, CallOptions, Client, CodecSet, Error, Outcome, Router, Speaks, Transport};
use rpc_net::{Server, ServerConfig};
use rpc_wire::{CallId, Limits, MakeProtocol};

pub use self::calls::*;
pub use self::ends::*;
pub use self::faults::*;
use crate::{Answer, Carries, Net, PipeConfig, Probe, Running, Text, Wire, method, until};

/// A kind of transport: how one is made, and what it says of itself.
pub trait Kind: 'static {
    /// The transport.
    type Transport<P: MakeProtocol>: Transport + Speaks<Codec = First<P>> + fmt::Debug;

    /// Whether several calls share a connection.
    const SHARES: bool;

    /// One that dials with `wire` when it needs a connection.
    fn make<P: MakeProtocol>(wire: Wire, protocol: P, settings: Settings) -> Self::Transport<P>;

    /// How many calls it knows of, in whatever state.
    fn busy<P: MakeProtocol>(transport: &Self::Transport<P>) -> usize;
}

/// The codec that a protocol's clients use.
pub type First<P> = <<P as MakeProtocol>::Codecs as CodecSet>::First;

/// A protocol that can carry the probe service.
pub trait Subject: MakeProtocol<Codecs: Accepts<Probe> + CodecSet<First: Carries>> {}

impl<P> Subject for P where P: MakeProtocol<Codecs: Accepts<Probe> + CodecSet<First: Carries>> {}

/// What a transport is to be made with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What each connection allows.
    pub limits: Limits,
    /// Where ids begin, for protocols that have some.
    pub first_id: CallId,
    /// How many connections there may be, for a transport that shares them.
    pub connections: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { limits: Limits::default(), first_id: CallId(1), connections: 1 }
    }
}

/// A server with the probe service and a client to it, in the making.
#[derive(Clone, Debug)]
pub struct Stage<P> {
    /// What both speak.
    pub protocol: P,
    /// What lies between them.
    pub net: Net,
    /// What the server allows.
    pub server: ServerConfig,
    /// What the client allows.
    pub client: Settings,
    /// How pipes are.
    pub pipe: PipeConfig,
    /// How the first pipes are.
    pub first: Vec<PipeConfig>,
}

impl<P: Subject> Stage<P> {
    /// One with all defaults.
    pub fn new(net: Net, protocol: P) -> Self {
        Self {
            protocol,
            net,
            server: ServerConfig::default(),
            client: Settings::default(),
            pipe: PipeConfig::default(),
            first: Vec::new(),
        }
    }

    /// Runs the server and makes the client.
    pub async fn set<K: Kind>(self) -> Scene<K, P> {
        let Self { protocol, net, server, client, pipe, first } = self;
        let probe = Probe::new();
        let router = Router::<P::Codecs>::new().add(probe.clone());
        let server = Server::new().config(server).accept(protocol.clone(), router);
        let (wire, server) = Wire::to(server, net, pipe, first).await;
        let transport = K::make(wire.clone(), protocol, client);
        let client = Client::new(transport.clone()).with(patient());
        Scene { client, transport, probe, server, wire }
    }
}

/// No call fails for being slow, since tests run on busy machines.
pub fn patient() -> CallOptions {
    CallOptions::new().timeout(Duration::from_secs(60))
}

/// A client, its transport, and the server that it calls.
#[derive(Debug)]
pub struct Scene<K: Kind, P: Subject> {
    /// The client.
    pub client: Client<First<P>, K::Transport<P>>,
    /// Its transport.
    pub transport: K::Transport<P>,
    /// The service.
    pub probe: Probe,
    /// The server.
    pub server: Running,
    /// The way to it.
    pub wire: Wire,
}

impl<K: Kind, P: Subject> Scene<K, P> {
    /// Calls `echo` and checks the answer.
    ///
    /// # Panics
    /// When it is another.
    pub async fn echo(&self, text: &str) {
        let answer = self.client.call::<method::Echo>(&Text::new(text)).await;
        assert_eq!(answer.expect("an answer"), Ok(Answer::new(text)));
    }

    /// Lets all held handlers go, and checks that nothing is left of any call: no gauge, no handler.
    ///
    /// # Panics
    /// When something is.
    pub async fn comes_to_rest(&self) {
        self.probe.release_all();
        self.is_at_rest().await;
    }

    /// Checks that nothing is left of any call, while handlers that nobody waits for may be held.
    ///
    /// # Panics
    /// When something is.
    pub async fn is_at_rest(&self) {
        until("the transport's gauges are at rest", || K::busy(&self.transport) == 0).await;
        until("the handlers are gone", || self.probe.holding() == 0).await;
        until("the server's gauge is at rest", || self.server.gauges().in_flight() == 0).await;
    }
}

/// The error of a call that must fail.
///
/// # Panics
/// When it did not.
fn failed<M: rpc_core::Method>(result: Result<Outcome<M>, Error>) -> Error {
    match result {
        Err(error) => error,
        Ok(_) => panic!("the call of {} did not fail", M::NAME),
    }
}

/// Makes a module of tests: `transport_suite!(framed_thrift, MuxKind, codec_thrift::framed())`. With the word `encodes_all` behind
/// it the cases are left out that need a value which the codec refuses to write.
#[macro_export]
macro_rules! transport_suite {
    ($name:ident, $kind:ty, $protocol:expr) => {
        mod $name {
            use super::*;

            $crate::transport_suite!(@all $kind, $protocol);
            mod unencodable {
                use super::*;

                $crate::transport_suite!(@memory $kind, $protocol;
                    a_request_that_can_not_be_encoded an_answer_that_can_not_be_encoded
                );
                $crate::transport_suite!(@tcp $kind, $protocol;
                    a_request_that_can_not_be_encoded an_answer_that_can_not_be_encoded
                );
            }
        }
    };
    ($name:ident, $kind:ty, $protocol:expr, encodes_all) => {
        mod $name {
            use super::*;

            $crate::transport_suite!(@all $kind, $protocol);
        }
    };
    (@all $kind:ty, $protocol:expr) => {
        $crate::transport_suite!(@memory $kind, $protocol;
            echo a_thousand_at_once every_size_around_the_buffers answers_out_of_order oneway unknown_method
            ids_wrap_around every_split_of_the_bytes a_slow_reader
            too_large_a_request too_large_an_answer_to_send too_large_an_answer_to_take a_panic_hurts_one_call
            dropped_at_every_step a_deadline_then_the_next_call a_peer_that_vanishes_at_any_byte
            a_server_that_vanishes_is_dialled_again nobody_there
            a_stop_drains a_stop_cuts a_client_that_vanishes_drops_its_handlers
            a_storm_leaves_nothing_behind
        );
        $crate::transport_suite!(@tcp $kind, $protocol;
            echo a_thousand_at_once every_size_around_the_buffers answers_out_of_order oneway unknown_method
            ids_wrap_around
            too_large_a_request too_large_an_answer_to_send too_large_an_answer_to_take a_panic_hurts_one_call
            a_deadline_then_the_next_call a_stop_drains a_stop_cuts a_storm_leaves_nothing_behind
        );
    };
    (@memory $kind:ty, $protocol:expr; $($case:ident)+) => {
        mod memory {
            use super::*;
            $(
                #[test]
                fn $case() {
                    $crate::run($crate::Net::Memory, $crate::transport::$case::<$kind, _>($crate::Net::Memory, $protocol));
                }
            )+
        }
    };
    (@tcp $kind:ty, $protocol:expr; $($case:ident)+) => {
        mod tcp {
            use super::*;
            $(
                #[test]
                fn $case() {
                    $crate::run($crate::Net::Tcp, $crate::transport::$case::<$kind, _>($crate::Net::Tcp, $protocol));
                }
            )+
        }
    };
}
