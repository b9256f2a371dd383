//! The transport suite over the mux.

use rpc_test::transport_suite;
use tests_matrix::MuxKind;

transport_suite!(framed_thrift, MuxKind, codec_thrift::framed());
