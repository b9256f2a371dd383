#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| codec_msgpack::fuzz::frames(data));
