//! The codecs, further cases: text and bytes in each of them, floats and nesting where Protobuf has more places for them.
#![allow(clippy::unwrap_used)] // all of it is a test

use std::collections::HashMap;

use bytes::{Bytes, BytesMut};
use codec_msgpack::MsgPack;
use codec_protobuf::Protobuf;
use codec_thrift::Binary;
use rpc_core::{Decode, DecodeErrorKind, Encode, Place};
use rpc_test::{Text, golden};
use tests_matrix::probe_idl::{Bag, SwapArgs};

fn encode<C: Encode<T>, T>(codec: &C, value: &T) -> Bytes {
    let mut dst = BytesMut::new();
    codec.encode(Place::Arguments, value, &mut dst).unwrap();
    dst.freeze()
}

/// Bytes that are no UTF-8: a stray byte, an overlong form, half of a surrogate, a character cut short.
const NO_TEXTS: [&[u8]; 4] = [b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\xf0\x9f\x98"];

/// In each codec a text that is none is an error with the field's name, and text of any kind comes through as it is.
#[test]
fn c048_text_is_utf8_in_every_codec() {
    fn check<C: Encode<Text> + Decode<Text>>(codec: &C, message: impl Fn(&[u8]) -> Vec<u8>) {
        for bad in NO_TEXTS {
            let error = codec.decode(Place::Arguments, message(bad).into()).unwrap_err();
            assert_eq!(error.kind(), DecodeErrorKind::NotUtf8, "{error}");
            assert!(error.to_string().contains("text"), "{error}");
        }
        for good in ["", "\0", "a\0b", "ü漢😀", "\u{10ffff}"] {
            let bytes = encode(codec, &Text::new(good));
            assert_eq!(codec.decode(Place::Arguments, bytes), Ok(Text::new(good)));
            assert_eq!(codec.decode(Place::Arguments, message(good.as_bytes()).into()), Ok(Text::new(good)));
        }
    }
    let len = |bytes: &[u8]| u8::try_from(bytes.len()).unwrap();
    check(&Binary, |text| [&[0x0b, 0, 1, 0, 0, 0, len(text)], text, &[0]].concat());
    check(&MsgPack::new(), |text| [&[0x91, 0xa0 | len(text)], text].concat());
    check(&Protobuf, |text| [&[0x0a, len(text)], text].concat());
}

/// The same bytes in a binary field are nobody's business.
#[test]
fn c048_binary_is_left_as_it_is() {
    for bytes in NO_TEXTS {
        let bag = Bag { id: Some(1), blob: Some(Bytes::from_static(bytes)), ..Bag::default() };
        let args = SwapArgs { bag: Some(bag) };
        assert_eq!(Binary.decode(Place::Arguments, encode(&Binary, &args)), Ok(args));
    }
}

/// What Protobuf has places for.
#[derive(Clone, PartialEq, prost::Message)]
struct Places {
    #[prost(float, tag = "1")]
    plain: f32,
    #[prost(float, optional, tag = "2")]
    maybe: Option<f32>,
    #[prost(float, repeated, tag = "3")]
    many: Vec<f32>,
    #[prost(map = "int32, double", tag = "4")]
    by_key: HashMap<i32, f64>,
    #[prost(map = "int32, message", tag = "5")]
    nested: HashMap<i32, Places>,
}

/// Floats of four bytes, and doubles as the values of a map.
#[test]
fn c042_floats_keep_their_bits_wherever_they_stand() {
    for bits in [0x8000_0000, 0x7fc0_beef, 0xffc0_0001, 0x7f80_0000, 0xff80_0000, 1] {
        let float = f32::from_bits(bits);
        let wide = f64::from_bits(u64::from(bits) << 32 | 1);
        let places = Places {
            maybe: Some(float),
            many: vec![float, float],
            by_key: HashMap::from([(7, wide)]),
            ..Places::default()
        };
        let read: Places = Protobuf.decode(Place::Arguments, encode(&Protobuf, &places)).unwrap();
        assert_eq!(read.maybe.map(f32::to_bits), Some(bits));
        assert_eq!(read.many.iter().map(|float| float.to_bits()).collect::<Vec<_>>(), [bits, bits]);
        assert_eq!(read.by_key[&7].to_bits(), wide.to_bits());
    }
    assert!(encode(&Protobuf, &Places { plain: 0.0, ..Places::default() }).is_empty());
    let negative: Places = Protobuf.decode(Place::Arguments, golden::bytes("0d 00 00 00 80").into()).unwrap();
    assert_eq!(negative.plain.to_bits(), (-0.0_f32).to_bits());
}

/// Messages within the values of maps count as levels too: each is two, the entry and the message.
#[test]
fn c041_nesting_in_the_values_of_maps_ends_at_the_limit() {
    let nested = |levels: usize| {
        let mut bytes = Vec::new();
        for _ in 0..levels {
            let mut entry = vec![0x12];
            prost::encode_length_delimiter(bytes.len(), &mut entry).unwrap();
            entry.extend_from_slice(&bytes);
            bytes = vec![0x2a];
            prost::encode_length_delimiter(entry.len(), &mut bytes).unwrap();
            bytes.extend_from_slice(&entry);
        }
        Bytes::from(bytes)
    };
    let read = |levels| {
        let small = std::thread::Builder::new().stack_size(256 * 1024);
        let bytes = nested(levels);
        let result = small.spawn(move || Protobuf.decode(Place::Arguments, bytes).map(|_: Places| ()));
        result.unwrap().join().expect("no overflow of the stack")
    };
    assert_eq!(read(20), Ok(()));
    for levels in [101, 5000] {
        assert_eq!(read(levels).unwrap_err().kind(), DecodeErrorKind::Limit, "{levels} levels");
    }
}
