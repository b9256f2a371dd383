//! The transport suite over the mux.

use codec_msgpack::Rpc;
use codec_protobuf::KitexHeader;
use rpc_test::transport_suite;
use rpc_wire::Framed;
use tests_matrix::MuxKind;

transport_suite!(framed_thrift, MuxKind, codec_thrift::framed());
transport_suite!(framed_kitex_protobuf, MuxKind, Framed::new(KitexHeader), encodes_all);
transport_suite!(msgpack_rpc, MuxKind, Rpc::new());
