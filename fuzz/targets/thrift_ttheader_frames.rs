#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rpc_wire::fuzz::ttheader(&codec_thrift::BinaryHeader::new(), data));
