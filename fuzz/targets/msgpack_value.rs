#![no_main]

type Value = Vec<(u64, Option<String>, bool)>;

libfuzzer_sys::fuzz_target!(|data: &[u8]| codec_msgpack::fuzz::value::<Value>(data));
