//! Unframed Thrift: the transport suite over both transports.

use codec_thrift::{BinaryHeader, CompactHeader};
use rpc_test::transport_suite;
use rpc_wire::Buffered;
use tests_matrix::{MuxKind, PoolKind};

mod mux {
    use super::*;

    transport_suite!(binary, MuxKind, Buffered::new(BinaryHeader::new()));
    transport_suite!(compact, MuxKind, Buffered::new(CompactHeader));
    transport_suite!(multiplexed, MuxKind, Buffered::new(BinaryHeader::new()).multiplexed());
}

mod pool {
    use super::*;

    transport_suite!(binary, PoolKind, Buffered::new(BinaryHeader::new()));
    transport_suite!(compact, PoolKind, Buffered::new(CompactHeader));
}
