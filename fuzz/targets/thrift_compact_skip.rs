#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(codec_thrift::fuzz::skip_compact_struct(data)));
