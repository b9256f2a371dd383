//! TTHeader: the transport suite over both transports, and what only a header carries, from end to end.
#![allow(clippy::unwrap_used)] // all of it is a test

use codec_protobuf::KitexHeader;
use codec_thrift::{BinaryHeader, CompactHeader};
use rpc_test::transport_suite;
use rpc_wire::{MessageHeader, Payload, TtHeader, TtHeaderConfig};
use tests_matrix::{MuxKind, PoolKind};

/// Unframed, with checksums.
fn bare() -> TtHeader<CompactHeader> {
    let config = TtHeaderConfig { payload: Payload::Bare, checksum: true, ..TtHeaderConfig::default() };
    TtHeader::new(CompactHeader).with(config)
}

mod mux {
    use super::*;

    transport_suite!(thrift, MuxKind, TtHeader::new(BinaryHeader::new()));
    transport_suite!(bare_compact_thrift, MuxKind, bare());
    transport_suite!(kitex_protobuf, MuxKind, TtHeader::new(KitexHeader), encodes_all);
}

mod pool {
    use super::*;

    /// One call at a time, and nothing unasked between.
    fn in_order<H: MessageHeader>(header: H) -> TtHeader<H> {
        TtHeader::new(header).with(TtHeaderConfig { out_of_order: false, ..TtHeaderConfig::default() })
    }

    transport_suite!(thrift, PoolKind, in_order(BinaryHeader::new()));
    transport_suite!(kitex_protobuf, PoolKind, in_order(KitexHeader), encodes_all);
}
