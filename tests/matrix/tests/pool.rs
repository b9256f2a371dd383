//! The transport suite over the pool.

use codec_msgpack::Rpc;
use codec_protobuf::KitexHeader;
use rpc_test::transport_suite;
use rpc_wire::Framed;
use tests_matrix::PoolKind;

transport_suite!(framed_thrift, PoolKind, codec_thrift::framed());
transport_suite!(framed_kitex_protobuf, PoolKind, Framed::new(KitexHeader), encodes_all);
transport_suite!(msgpack_rpc, PoolKind, Rpc::new());
