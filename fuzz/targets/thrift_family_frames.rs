#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rpc_wire::fuzz::frames(&codec_thrift::family(), data));
