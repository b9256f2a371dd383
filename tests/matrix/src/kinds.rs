use rpc_test::Wire;
use rpc_test::transport::{Kind, Settings};
use rpc_wire::MakeProtocol;
use transport_mux::{Mux, MuxConfig};
use transport_pool::{Pool, PoolConfig};

/// Many calls at once on each connection.
#[derive(Debug)]
pub enum MuxKind {}

impl Kind for MuxKind {
    type Transport<P: MakeProtocol> = Mux<P, Wire>;
    const SHARES: bool = true;

    fn make<P: MakeProtocol>(wire: Wire, protocol: P, settings: Settings) -> Mux<P, Wire> {
        let Settings { limits, first_id, connections } = settings;
        let config = MuxConfig { limits, first_id, connections, ..MuxConfig::default() };
        transport_mux::lazy(wire, protocol, config)
    }

    fn busy<P: MakeProtocol>(transport: &Mux<P, Wire>) -> usize {
        let gauges = transport.gauges();
        gauges.in_flight + gauges.answered + gauges.waiting
    }
}

/// One call at a time on each connection.
#[derive(Debug)]
pub enum PoolKind {}

impl Kind for PoolKind {
    type Transport<P: MakeProtocol> = Pool<P, Wire>;
    const SHARES: bool = false;

    fn make<P: MakeProtocol>(wire: Wire, protocol: P, settings: Settings) -> Pool<P, Wire> {
        let Settings { limits, first_id, .. } = settings;
        transport_pool::lazy(wire, protocol, PoolConfig { limits, first_id, ..PoolConfig::default() })
    }

    fn busy<P: MakeProtocol>(transport: &Pool<P, Wire>) -> usize {
        let gauges = transport.gauges();
        gauges.in_use + gauges.dialling + gauges.waiting
    }
}
