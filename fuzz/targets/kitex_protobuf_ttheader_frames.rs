#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| codec_protobuf::fuzz::ttheader_frames(data));
