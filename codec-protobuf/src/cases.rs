//! What prost does with odd and hostile messages, as the codec hands it on. The names of the cases are in the comments.

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use prost::Message;
use rpc_core::{Decode, DecodeError, DecodeErrorKind, Encode, Place};

use crate::{Protobuf, fuzz};

/// A message with a field of each kind that the cases need.
#[derive(Clone, PartialEq, Message)]
struct Bag {
    #[prost(string, tag = "1")]
    text: String,
    #[prost(bytes = "bytes", tag = "2")]
    data: Bytes,
    #[prost(double, tag = "3")]
    real: f64,
    #[prost(double, repeated, tag = "4")]
    reals: Vec<f64>,
    #[prost(int64, repeated, tag = "5")]
    numbers: Vec<i64>,
    #[prost(fixed32, repeated, tag = "6")]
    fixed: Vec<u32>,
    #[prost(bool, repeated, tag = "7")]
    flags: Vec<bool>,
    #[prost(message, optional, boxed, tag = "8")]
    inner: Option<Box<Bag>>,
    #[prost(enumeration = "Color", repeated, tag = "9")]
    colors: Vec<i32>,
    #[prost(btree_map = "string, message", tag = "10")]
    named: std::collections::BTreeMap<String, Bag>,
    #[prost(int32, tag = "11")]
    number: i32,
    #[prost(double, optional, tag = "12")]
    maybe: Option<f64>,
    #[prost(oneof = "Choice", tags = "20, 21, 22")]
    choice: Option<Choice>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Choice {
    #[prost(string, tag = "20")]
    Text(String),
    #[prost(message, tag = "21")]
    Bag(Box<Bag>),
    #[prost(double, tag = "22")]
    Real(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
enum Color {
    Red = 0,
    Blue = 1,
}

fn read(bytes: impl AsRef<[u8]>) -> Result<Bag, DecodeError> {
    Protobuf.decode(Place::Message, Bytes::copy_from_slice(bytes.as_ref()))
}

fn write(bag: &Bag) -> Bytes {
    let mut dst = BytesMut::new();
    Protobuf.encode(Place::Message, bag, &mut dst).unwrap();
    dst.freeze()
}

/// A length-delimited field.
fn field(key: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![key];
    prost::encode_length_delimiter(value.len(), &mut bytes).unwrap();
    bytes.extend_from_slice(value);
    bytes
}

/// `levels` length-delimited fields of this key, one within the other, with the right lengths.
fn nested(key: u8, levels: usize) -> Vec<u8> {
    (0..levels).fold(Vec::new(), |bytes, _| field(key, &bytes))
}

/// Runs on a stack as small as a worker thread's may be.
fn on_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(256 * 1024).spawn(run).unwrap().join().unwrap()
}

/// C041, as far as prost can: reading has a limit, writing has none.
#[test]
fn nesting_beyond_the_limit_is_an_error() {
    const INNER: u8 = 8 << 3 | 2;
    on_small_stack(|| {
        assert!(read(nested(INNER, 100)).is_ok());
        for levels in [101, 10_000] {
            assert_eq!(read(nested(INNER, levels)).unwrap_err().kind(), DecodeErrorKind::Limit, "{levels}");
        }
        // Unknown groups are skipped by recursion too.
        let mut groups = Vec::new();
        for wire_type in [3, 4] {
            for _ in 0..1_000 {
                prost::encoding::encode_varint(31 << 3 | wire_type, &mut groups);
            }
        }
        assert_eq!(read(groups).unwrap_err().kind(), DecodeErrorKind::Limit);
    });
}

/// C042, but for a −0.0 without presence, which prost leaves out.
#[test]
fn floats_keep_their_bits() {
    let odd =
        [-0.0, f64::from_bits(0x7ff8_0000_dead_beef), f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE];
    let bag = Bag { reals: odd.to_vec(), ..Bag::default() };
    let bits = |reals: &[f64]| reals.iter().map(|real| real.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&read(write(&bag)).unwrap().reals), bits(&odd));
    for real in odd {
        let bag = Bag { maybe: Some(real), choice: Some(Choice::Real(real)), ..Bag::default() };
        let Bag { maybe: Some(maybe), choice: Some(Choice::Real(choice)), .. } = read(write(&bag)).unwrap()
        else {
            panic!("{real} was lost");
        };
        assert_eq!((maybe.to_bits(), choice.to_bits()), (real.to_bits(), real.to_bits()));
    }
    assert!(write(&Bag { real: 0.0, ..Bag::default() }).is_empty());
    assert_eq!(read(b"\x19\0\0\0\0\0\0\0\x80").unwrap().real.to_bits(), (-0.0f64).to_bits());
    assert!(
        write(&Bag { real: -0.0, ..Bag::default() }).is_empty(),
        "prost writes it now: change the crate's docs"
    );
}

/// C044.
#[test]
fn repeated_numbers_are_read_packed_and_unpacked() {
    // numbers: 1 unpacked, 2 and 3 packed, none packed, 4 unpacked
    let numbers = read(b"\x28\x01\x2a\x02\x02\x03\x2a\x00\x28\x04").unwrap().numbers;
    assert_eq!(numbers, [1, 2, 3, 4]);
    let fixed = read(b"\x35\x01\0\0\0\x32\x08\x02\0\0\0\x03\0\0\0\x32\x00").unwrap().fixed;
    assert_eq!(fixed, [1, 2, 3]);
    let one = 1f64.to_le_bytes();
    let reals = read([&b"\x21"[..], &one, b"\x22\x08", &one, b"\x22\x00"].concat()).unwrap().reals;
    assert_eq!(reals, [1.0, 1.0]);
    assert_eq!(read(b"\x38\x01\x3a\x02\x00\x01").unwrap().flags, [true, false, true]);
    // An enum's number that is not known is kept.
    assert_eq!(read(b"\x48\x01\x4a\x02\x00\x07").unwrap().colors, [Color::Blue as i32, Color::Red as i32, 7]);

    let bag =
        Bag { numbers: vec![1, 2], fixed: vec![1], flags: vec![true], colors: vec![1], ..Bag::default() };
    assert_eq!(&write(&bag)[..], b"\x2a\x02\x01\x02\x32\x04\x01\0\0\0\x3a\x01\x01\x4a\x01\x01");
}

/// C046.
#[test]
fn the_last_member_wins_and_messages_merge() {
    // choice: text "a", then bag {text "x"}, then bag {number 5}: the same member merges
    let merged = read(b"\xa2\x01\x01a\xaa\x01\x03\x0a\x01x\xaa\x01\x02\x58\x05").unwrap();
    let inner = Bag { text: "x".into(), number: 5, ..Bag::default() };
    assert_eq!(merged.choice, Some(Choice::Bag(Box::new(inner.clone()))));
    // another member after it wins
    let last = read(b"\xaa\x01\x03\x0a\x01x\xa2\x01\x01a").unwrap();
    assert_eq!(last.choice, Some(Choice::Text("a".into())));
    // the same message-typed field twice
    assert_eq!(read(b"\x42\x03\x0a\x01x\x42\x02\x58\x05").unwrap().inner, Some(Box::new(inner)));
    // a scalar twice
    assert_eq!(read(b"\x58\x01\x58\x02").unwrap().number, 2);
}

/// C047.
#[test]
fn malformed_tags_and_lengths_are_errors() {
    let cases: [(&str, &[u8]); 12] = [
        ("field number 0", b"\x00\x01"),
        ("wire type 6", b"\x0e\x01"),
        ("wire type 7", b"\x0f\x01"),
        ("length 2^63", b"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
        ("length 2^64-1", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ("packed length 2^31-1", b"\x2a\xff\xff\xff\xff\x07"),
        ("packed fixed length 2^31-1", b"\x32\xff\xff\xff\xff\x07"),
        ("unknown field, length 2^32-1", b"\xfa\x01\xff\xff\xff\xff\x0f"),
        ("varint of 11 bytes", b"\x58\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ("fixed64 cut short", b"\x19\0\0\0\0\0\0\0"),
        ("end of a group without its start", b"\x0c"),
        ("group without its end", b"\xfb\x01\x08\x01"),
    ];
    for (what, bytes) in cases {
        assert!(read(bytes).is_err(), "{what}");
    }
}

/// C048.
#[test]
fn text_must_be_utf8_and_bytes_need_not() {
    for bad in [&b"\xff\xfe"[..], b"\xc0\x80", b"\xed\xa0\x80"] {
        let error = read(field(0x0a, bad)).unwrap_err();
        assert_eq!(error.kind(), DecodeErrorKind::NotUtf8);
        assert!(error.to_string().contains("Bag.text"), "{error}");
        let error = read(field(0x42, &field(0x0a, bad))).unwrap_err().to_string();
        assert!(error.contains("Bag.inner") && error.contains("Bag.text"), "{error}");
        let data = read(field(0x12, bad)).unwrap().data;
        assert_eq!(data, bad);
    }
    let bag = Bag { text: "a\0😀".into(), ..Bag::default() };
    assert_eq!(read(write(&bag)), Ok(bag));
}

fn bags() -> impl Strategy<Value = Bag> {
    let leaf = (
        ("[a-zß😀]{0,6}", prop::collection::vec(any::<u8>(), 0..12), any::<i32>(), any::<Option<f64>>()),
        prop::collection::vec(any::<f64>(), 0..4),
        prop::collection::vec(any::<i64>(), 0..4),
        prop::collection::vec(any::<bool>(), 0..4),
    );
    let leaf = leaf.prop_map(|((text, data, number, maybe), reals, numbers, flags)| Bag {
        text,
        data: data.into(),
        number,
        maybe,
        reals,
        numbers,
        flags,
        ..Bag::default()
    });
    leaf.prop_recursive(4, 12, 2, |inner| {
        (inner.clone(), inner, "[a-c]{0,2}", 0..3).prop_map(|(mut outer, inner, name, which)| {
            match which {
                0 => outer.inner = Some(Box::new(inner)),
                1 => drop(outer.named.insert(name, inner)),
                _ => outer.choice = Some(Choice::Bag(Box::new(inner))),
            }
            outer
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(0x7072_6f74), failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// C169: each prefix is an error or a value, each flipped bit too; nothing panics, and what can be read can be written.
    #[test]
    fn damaged_messages_are_errors_or_values(bag in bags()) {
        let bytes = write(&bag);
        prop_assert_eq!(read(&bytes), Ok(bag));
        for len in 0..bytes.len() {
            fuzz::message::<Bag>(&bytes[..len]);
        }
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fuzz::message::<Bag>(&flipped);
        }
    }

    #[test]
    fn random_bytes_are_errors_or_values(data in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz::message::<Bag>(&data);
        fuzz::frames(&data);
        fuzz::exception(&data);
    }
}
