#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| codec_protobuf::fuzz::frames(data));
