//! What the codec makes of serde's types, and of odd and hostile bytes. The names of the cases are in the comments.

use std::collections::BTreeMap;
use std::fmt;

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use rmpv::Value;
use rpc_core::{
    Decode, DecodeError, DecodeErrorKind, DecodeOutcome, Encode, EncodeError, EncodeOutcome, Never, Place,
};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize};

use crate::testing::{on_small_stack, seeded, values, written};
use crate::{MsgPack, fuzz};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Bag {
    id: i32,
    text: String,
    data: Blob,
    list: Vec<u64>,
    named: BTreeMap<String, i8>,
    choice: Choice,
    inner: Option<Box<Bag>>,
    real: f64,
    narrow: f32,
    pair: (bool, char),
    small: i8,
    big: u64,
    unit: (),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
enum Choice {
    #[default]
    Nothing,
    Text(String),
    Pair(i32, i32),
    Named {
        a: i32,
        b: Option<i32>,
    },
    Again(Box<Choice>),
}

/// Bytes as serde knows them.
#[derive(Clone, Debug, Default, PartialEq)]
struct Blob(Vec<u8>);

impl Serialize for Blob {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Blob;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Blob, E> {
                Ok(Blob(bytes.to_vec()))
            }
        }
        deserializer.deserialize_byte_buf(Visitor)
    }
}

fn bag() -> Bag {
    Bag {
        id: -7,
        text: "tëxt".into(),
        data: Blob(vec![0, 255]),
        list: vec![1, 300, u64::MAX],
        named: BTreeMap::from([("a".into(), -1)]),
        choice: Choice::Named { a: 1, b: None },
        inner: Some(Box::new(Bag { choice: Choice::Pair(1, -1), ..Bag::default() })),
        real: 0.1,
        narrow: 0.5,
        pair: (true, 'ß'),
        small: i8::MIN,
        big: u64::MAX,
        unit: (),
    }
}

fn try_write<T: Serialize + ?Sized>(codec: MsgPack, place: Place, value: &T) -> Result<Vec<u8>, EncodeError> {
    let mut dst = BytesMut::from(&b"kept"[..]);
    codec.encode(place, value, &mut dst)?;
    assert_eq!(dst[..4], *b"kept");
    Ok(dst[4..].to_vec())
}

fn write_at<T: Serialize + ?Sized>(place: Place, value: &T) -> Vec<u8> {
    try_write(MsgPack::new(), place, value).unwrap()
}

fn read_at<T: DeserializeOwned>(place: Place, bytes: &[u8]) -> Result<T, DecodeError> {
    MsgPack::new().decode(place, Bytes::copy_from_slice(bytes))
}

fn write<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    write_at(Place::Item, value)
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    read_at(Place::Item, bytes)
}

fn fault<T: DeserializeOwned + fmt::Debug>(bytes: &[u8]) -> (DecodeErrorKind, String) {
    let error = read::<T>(bytes).unwrap_err();
    (error.kind(), error.to_string())
}

const MAPS: MsgPack = MsgPack::new().structs_as_maps(true);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Args {
    a: i32,
    b: Inner,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Inner {
    c: i32,
}

#[test]
fn arguments_are_an_array_whatever_structs_are() {
    let args = Args { a: 1, b: Inner { c: 2 } };
    assert_eq!(write_at(Place::Arguments, &args), b"\x92\x01\x91\x02");
    let maps = try_write(MAPS, Place::Arguments, &args).unwrap();
    assert_eq!(maps, b"\x92\x01\x81\xa1c\x02");
    for bytes in [&b"\x92\x01\x91\x02"[..], &maps, b"\x93\x01\x92\x02\x03\x04"] {
        assert_eq!(read_at::<Args>(Place::Arguments, bytes), Ok(Args { a: 1, b: Inner { c: 2 } }));
    }
    assert_eq!(write_at(Place::Arguments, &()), b"\x90");
    assert_eq!(read_at(Place::Arguments, b"\x90"), Ok(()));
    assert_eq!(read_at(Place::Arguments, b"\x92\x01\x02"), Ok(()), "surplus parameters");
    assert_eq!(read_at(Place::Arguments, b"\x93\x01\x02\x03"), Ok((1, 2)), "surplus parameters");
    for bad in [&b"\x82\xa1a\x01\xa1b\x91\x02"[..], b"\x01", b"\xc0", b"\x91\x01", b""] {
        assert!(read_at::<Args>(Place::Arguments, bad).is_err(), "{bad:02x?}");
    }
    assert!(try_write(MsgPack::new(), Place::Arguments, &5).is_err());
    assert!(try_write(MsgPack::new(), Place::Arguments, "text").is_err());
    assert!(try_write(MsgPack::new(), Place::Arguments, &BTreeMap::from([(1, 2)])).is_err());
}

#[test]
fn a_message_is_the_one_element_of_an_array() {
    assert_eq!(write_at(Place::Message, &Inner { c: 5 }), b"\x91\x91\x05");
    assert_eq!(try_write(MAPS, Place::Message, &Inner { c: 5 }).unwrap(), b"\x91\x81\xa1c\x05");
    assert_eq!(read_at(Place::Message, b"\x91\x91\x05"), Ok(Inner { c: 5 }));
    assert_eq!(read_at(Place::Message, b"\x92\x81\xa1c\x05\xc0"), Ok(Inner { c: 5 }), "surplus parameters");
    assert_eq!(read_at::<Inner>(Place::Message, b"\x90").unwrap_err().kind(), DecodeErrorKind::Missing);
    assert!(read_at::<Inner>(Place::Message, b"\x81\xa1c\x05").is_err());
}

#[test]
fn of_an_outcome_only_what_is_in_it_is_written() {
    fn written<R: Serialize, E: Serialize>(place: Place, outcome: &Result<R, E>) -> BytesMut {
        let mut dst = BytesMut::new();
        MsgPack::new().encode_outcome(place, outcome, &mut dst).unwrap();
        dst
    }
    fn outcome<R, E>(place: Place, bytes: &'static [u8]) -> Result<Result<R, E>, DecodeError>
    where
        R: DeserializeOwned,
        E: DeserializeOwned,
    {
        MsgPack::new().decode_outcome(place, Bytes::from_static(bytes))
    }
    let (ok, err): (Result<_, String>, Result<Inner, _>) = (Ok(Inner { c: 5 }), Err(String::from("no")));
    assert_eq!(written(Place::Result, &ok), b"\x91\x05"[..]);
    assert_eq!(written(Place::Exception, &err), b"\xa2no"[..]);
    assert_eq!(outcome(Place::Result, b"\x91\x05"), Ok(ok));
    assert_eq!(outcome(Place::Exception, b"\xa2no"), Ok(err));
    assert_eq!(written(Place::Result, &Ok::<_, Never>(())), b"\xc0"[..]);
    assert_eq!(outcome(Place::Result, b"\xc0"), Ok(Ok::<_, Never>(())));
    assert!(outcome::<(), Never>(Place::Exception, b"\xc0").is_err());
    // A `Result` within it is a value like any other.
    let nested: Result<Result<i32, String>, Never> = Ok(Err("no".into()));
    assert_eq!(written(Place::Result, &nested), b"\x81\xa3Err\xa2no"[..]);
    assert_eq!(outcome(Place::Result, b"\x81\xa3Err\xa2no"), Ok(nested));
}

#[test]
fn structs_are_arrays_or_maps_and_both_are_read() {
    let bag = bag();
    for bytes in [write(&bag), try_write(MAPS, Place::Item, &bag).unwrap()] {
        assert_eq!(read(&bytes), Ok(bag.clone()));
    }
    // By an independent writer the bytes are the same.
    assert_eq!(write(&bag), rmp_serde::to_vec(&bag).unwrap());
    assert_eq!(try_write(MAPS, Place::Item, &bag).unwrap(), rmp_serde::to_vec_named(&bag).unwrap());
    assert_eq!(rmp_serde::from_slice::<Bag>(&write(&bag)).unwrap(), bag);
    // More fields than are known, in both forms.
    assert_eq!(read(b"\x93\x05\xc0\x91\x91\x00"), Ok(Inner { c: 5 }));
    assert_eq!(read(b"\x82\xa1x\x91\x91\x00\xa1c\x05"), Ok(Inner { c: 5 }));
    let missing = fault::<Args>(b"\x81\xa1a\x01");
    assert_eq!(missing, (DecodeErrorKind::Missing, "cannot decode: the field b is missing".into()));
}

/// Fields that derived code leaves out must not move those behind them.
#[test]
fn left_out_fields_keep_their_place() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Sparse {
        #[serde(skip_serializing_if = "Option::is_none")]
        a: Option<i32>,
        b: i32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        c: Option<i32>,
    }
    let sparse = Sparse { a: None, b: 7, c: None };
    assert_eq!(write(&sparse), b"\x93\xc0\x07\xc0");
    assert_eq!(read(&write(&sparse)), Ok(Sparse { a: None, b: 7, c: None }));
    assert_eq!(try_write(MAPS, Place::Item, &sparse).unwrap(), b"\x81\xa1b\x07");
    assert_eq!(read(b"\x81\xa1b\x07"), Ok(sparse));
}

/// A wrong count would put the stream out of step, whoever's fault it is.
#[test]
fn counts_are_of_what_was_written() {
    struct Liar(Option<usize>, usize);
    impl Serialize for Liar {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut seq = serializer.serialize_seq(self.0)?;
            for i in 0..self.1 {
                seq.serialize_element(&i)?;
            }
            seq.end()
        }
    }
    for announced in [None, Some(0), Some(2), Some(20), Some(70_000)] {
        for count in [0, 1, 2, 15, 16, 17] {
            let numbers: Vec<usize> = (0..count).collect();
            assert_eq!(write(&Liar(announced, count)), write(&numbers));
            let nested = (Liar(announced, count), 1);
            assert_eq!(write(&nested), write(&(&numbers, 1)));
        }
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Flat {
        a: i32,
        #[serde(flatten)]
        more: BTreeMap<String, i32>,
    }
    let flat = Flat { a: 1, more: BTreeMap::from([("b".into(), 2)]) };
    assert_eq!(write(&flat), b"\x82\xa1a\x01\xa1b\x02");
    assert_eq!(read(&write(&flat)), Ok(flat));
}

#[test]
fn variants_are_names_or_maps_of_one_pair() {
    for (choice, bytes) in [
        (Choice::Nothing, &b"\xa7Nothing"[..]),
        (Choice::Text("x".into()), b"\x81\xa4Text\xa1x"),
        (Choice::Pair(1, 2), b"\x81\xa4Pair\x92\x01\x02"),
        (Choice::Named { a: 1, b: Some(2) }, b"\x81\xa5Named\x92\x01\x02"),
        (Choice::Again(Box::default()), b"\x81\xa5Again\xa7Nothing"),
    ] {
        assert_eq!(write(&choice), bytes);
        assert_eq!(read(bytes), Ok(choice));
    }
    assert_eq!(
        try_write(MAPS, Place::Item, &Choice::Named { a: 1, b: None }).unwrap(),
        b"\x81\xa5Named\x82\xa1a\x01\xa1b\xc0"
    );
    assert_eq!(read(b"\x81\xa5Named\x81\xa1a\x01"), Ok(Choice::Named { a: 1, b: None }));
    assert_eq!(read(b"\x00"), Ok(Choice::Nothing), "by its place");
    assert_eq!(read(b"\x81\x00\x91\x01"), Ok(Choice::Nothing), "with something that a newer peer put in");
    for bad in
        [&b"\xa4Text"[..], b"\xa4None", b"\x82\xa4Text\xa1x\xa4Text\xa1x", b"\x80", b"\x90", b"\xc0", b"\x09"]
    {
        assert!(read::<Choice>(bad).is_err(), "{bad:02x?}");
    }
}

/// C162: the value counts, not the width.
#[test]
fn integers_are_read_in_any_form_that_fits() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Narrow {
        small: i8,
    }
    for bytes in [
        &b"\x05"[..],
        b"\xcc\x05",
        b"\xcd\x00\x05",
        b"\xce\x00\x00\x00\x05",
        b"\xcf\x00\x00\x00\x00\x00\x00\x00\x05",
        b"\xd0\x05",
        b"\xd1\x00\x05",
        b"\xd2\x00\x00\x00\x05",
        b"\xd3\x00\x00\x00\x00\x00\x00\x00\x05",
    ] {
        assert_eq!(read::<u8>(bytes), Ok(5));
        assert_eq!(read::<i64>(bytes), Ok(5));
        assert_eq!(read::<i128>(bytes), Ok(5));
        assert_eq!(read::<f64>(bytes), Ok(5.0));
        assert_eq!(read::<f32>(bytes), Ok(5.0));
    }
    let two_to_63 = b"\xcf\x80\x00\x00\x00\x00\x00\x00\x00";
    assert_eq!(read::<u64>(two_to_63), Ok(1 << 63));
    assert_eq!(read::<f32>(two_to_63), Ok(9_223_372_036_854_775_808.0));
    assert_eq!(read::<i64>(b"\xd3\x80\x00\x00\x00\x00\x00\x00\x00"), Ok(i64::MIN));
    assert_eq!(read::<f64>(b"\xd3\x80\x00\x00\x00\x00\x00\x00\x00"), Ok(-9_223_372_036_854_775_808.0));
    for (error, value) in [
        (fault::<i64>(two_to_63).1, "9223372036854775808"),
        (fault::<u64>(b"\xff").1, "-1"),
        (fault::<f64>(b"\xcf\x00\x20\x00\x00\x00\x00\x00\x01").1, "9007199254740993"),
        (fault::<f32>(b"\xce\x01\x00\x00\x01").1, "16777217"),
        (fault::<i32>(b"\xca\x40\x40\x00\x00").1, "3.0"),
        (fault::<f32>(b"\xcb\x7f\xef\xff\xff\xff\xff\xff\xff").1, "out of range"),
    ] {
        assert!(error.contains(value), "{error}");
    }
    let (_, error) = fault::<Narrow>(b"\x91\xcd\x01\x2c");
    assert!(error.contains("small") && error.contains("300"), "{error}");
    let (_, error) = fault::<Narrow>(b"\x81\xa5small\xcc\x80");
    assert!(error.contains("small") && error.contains("128"), "{error}");
    assert_eq!(read::<f64>(b"\xca\x3f\x00\x00\x00"), Ok(0.5));
    assert_eq!(read::<f32>(b"\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a"), Ok(0.1));
    assert!(read::<f32>(b"\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00").unwrap().is_infinite());
    assert!(try_write(MsgPack::new(), Place::Item, &u128::MAX).is_err());
    assert!(try_write(MsgPack::new(), Place::Item, &i128::MIN).is_err());
    assert_eq!(write(&(-1i128, 5u128)), b"\x92\xff\x05");
}

/// C048.
#[test]
fn text_must_be_utf8_and_bytes_need_not() {
    #[derive(Debug, Deserialize)]
    #[allow(dead_code)] // read for its errors
    struct Texts {
        first: String,
        second: Texts2,
    }
    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct Texts2 {
        text: String,
    }
    for bad in [&b"\xa2\xff\xfe"[..], b"\xa2\xc0\x80", b"\xc4\x02\xff\xfe", b"\xd9\x02\xff\xfe"] {
        assert_eq!(fault::<String>(bad).0, DecodeErrorKind::NotUtf8);
        let (kind, error) = fault::<Texts>(&[b"\x92\xa1a\x91", bad].concat());
        assert_eq!(kind, DecodeErrorKind::NotUtf8);
        assert!(error.starts_with("cannot decode second.text: "), "{error}");
        assert_eq!(read::<Blob>(bad).unwrap().0, bad[bad.len() - 2..]);
    }
    assert_eq!(read(b"\xc4\x02hi"), Ok(String::from("hi")));
    assert_eq!(read(b"\xa2hi"), Ok(Blob(b"hi".to_vec())));
    assert_eq!(read(&write("a\0😀")), Ok(String::from("a\0😀")));
    assert_eq!(read(b"\xc4\x03\x01\x02\xff"), Ok(vec![1u8, 2, 255]), "a list of bytes");
    // A value of no fixed type keeps the bytes of a text that is none.
    assert_eq!(read(b"\xa2\xff\xfe"), Ok(Value::Binary(vec![0xff, 0xfe])));
}

#[test]
fn the_old_dialect_is_written_on_demand() {
    let raw = MsgPack::new().raw_compat(true);
    let text = "x".repeat(40);
    let bytes = try_write(raw, Place::Item, &(&text, Blob(vec![255, 0]))).unwrap();
    assert_eq!(bytes, [b"\x92\xda\x00\x28", text.as_bytes(), b"\xa2\xff\x00"].concat());
    assert_eq!(read(&bytes), Ok((text, Blob(vec![255, 0]))));
    assert!(try_write(raw, Place::Item, &Value::Ext(0, vec![1])).is_err());
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct List(Option<Box<List>>);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Node {
    next: Option<Box<Node>>,
}

impl Node {
    fn deep(levels: usize) -> Self {
        (1..levels).fold(Self { next: None }, |next, _| Self { next: Some(Box::new(next)) })
    }
}

/// Takes a deep value apart without recursion, which the small stack would not stand.
fn dismantle(mut node: Node) {
    while let Some(next) = node.next.take() {
        node = *next;
    }
}

/// C160, reading.
#[test]
fn depth_bombs_are_errors_on_a_small_stack() {
    on_small_stack(|| {
        let bombs = [b"\x91".repeat(10_000), b"\x81\xa1a".repeat(10_000), b"\x81\xa5Again".repeat(10_000)];
        for bomb in &bombs {
            assert_eq!(read::<Value>(bomb).unwrap_err().kind(), DecodeErrorKind::Limit);
            assert_eq!(read::<IgnoredAny>(bomb).unwrap_err().kind(), DecodeErrorKind::Limit);
            let unknown = [&b"\x81\xa1x"[..], bomb].concat();
            assert_eq!(read::<Inner>(&unknown).unwrap_err().kind(), DecodeErrorKind::Limit);
            let surplus = [&b"\x92\x01"[..], bomb].concat();
            assert_eq!(read::<Inner>(&surplus).unwrap_err().kind(), DecodeErrorKind::Limit);
            let parameters = [&b"\x91"[..], bomb].concat();
            let error = read_at::<(Value,)>(Place::Arguments, &parameters).unwrap_err();
            assert_eq!(error.kind(), DecodeErrorKind::Limit);
            let error = read_at::<Value>(Place::Message, &parameters).unwrap_err();
            assert_eq!(error.kind(), DecodeErrorKind::Limit);
        }
        assert_eq!(read::<Node>(&bombs[0]).unwrap_err().kind(), DecodeErrorKind::Limit);
        assert_eq!(read::<Choice>(&bombs[2]).unwrap_err().kind(), DecodeErrorKind::Limit);
        // Types that nest without a byte.
        assert_eq!(read::<List>(b"\x01").unwrap_err().kind(), DecodeErrorKind::Limit);
        for (levels, fits) in [(64, true), (65, false)] {
            let bytes = [&b"\x91".repeat(levels)[..], b"\xc0"].concat();
            assert_eq!(read::<Node>(&bytes).is_ok(), fits);
            assert_eq!(read::<Value>(&bytes).is_ok(), fits);
            assert_eq!(read::<IgnoredAny>(&bytes).is_ok(), fits);
        }
    });
}

/// C160, writing.
#[test]
fn values_beyond_the_depth_are_not_written() {
    on_small_stack(|| {
        for codec in [MsgPack::new(), MAPS] {
            for (levels, fits) in [(64, true), (65, false), (10_000, false)] {
                let node = Node::deep(levels);
                assert_eq!(try_write(codec, Place::Item, &node).is_ok(), fits, "{levels}");
                dismantle(node);
            }
            let mut choice = Choice::Nothing;
            for _ in 0..65 {
                choice = Choice::Again(Box::new(choice));
            }
            let error = try_write(codec, Place::Item, &choice).unwrap_err().to_string();
            assert!(error.contains("deeper than 64 levels"), "{error}");
        }
        let mut list = List(None);
        for _ in 0..1_000 {
            list = List(Some(Box::new(list)));
        }
        assert!(try_write(MsgPack::new(), Place::Item, &list).is_err());
        // The array around a message is a level.
        assert!(try_write(MsgPack::new(), Place::Message, &Node::deep(63)).is_ok());
        assert!(try_write(MsgPack::new(), Place::Message, &Node::deep(64)).is_err());
    });
}

#[test]
fn an_error_of_writing_names_the_field() {
    #[derive(Serialize)]
    struct Outer {
        inner: Wide,
    }
    #[derive(Serialize)]
    struct Wide {
        number: u128,
    }
    let error =
        try_write(MsgPack::new(), Place::Item, &Outer { inner: Wide { number: 1 << 64 } }).unwrap_err();
    assert_eq!(error.to_string(), "cannot encode inner.number: 18446744073709551616 needs more than 64 bits");
}

/// C161: checked against what is there, before anything is allocated or read.
#[test]
fn declared_sizes_are_checked_first() {
    for claim in [
        &b"\xdd\xff\xff\xff\xff"[..],
        b"\xdb\xff\xff\xff\xf0",
        b"\xc6\xff\xff\xff\xff",
        b"\xc9\xff\xff\xff\xff\x01",
        b"\xdf\xff\xff\xff\xff",
        b"\xdf\x00\x00\x00\x01\xc0",
        b"\xdc\x00\x03\x01\x02",
    ] {
        for bytes in [claim.to_vec(), [b"\x91", claim].concat(), [b"\x81\xa1c", claim].concat()] {
            assert_eq!(fault::<Value>(&bytes).0, DecodeErrorKind::Truncated, "{bytes:02x?}");
            assert_eq!(fault::<IgnoredAny>(&bytes).0, DecodeErrorKind::Truncated);
            assert!(read::<Vec<Vec<u64>>>(&bytes).is_err());
            assert!(read::<BTreeMap<String, String>>(&bytes).is_err());
            assert!(read::<Inner>(&bytes).is_err());
        }
    }
}

#[test]
fn only_one_whole_value_is_read() {
    assert_eq!(fault::<i32>(b"\x01\x02").0, DecodeErrorKind::Leftover);
    assert_eq!(fault::<i32>(b"").0, DecodeErrorKind::Truncated);
    assert_eq!(fault::<i32>(b"\xc1").0, DecodeErrorKind::Malformed);
    assert!(read::<(i32, i32)>(b"\x93\x01\x02\x03").is_err(), "a tuple is all of its elements");
}

/// An error quotes what a peer sent, but no more of it than a log line stands.
#[test]
fn errors_are_short() {
    let text = write(&"x".repeat(1 << 20));
    let (_, error) = fault::<i32>(&text);
    assert!(error.contains("xxx") && error.len() < 400, "{} bytes", error.len());
}

/// The value with each text that is none as bytes.
fn texts_or_bytes(value: Value) -> Value {
    match value {
        Value::String(text) if text.is_err() => Value::Binary(text.into_bytes()),
        Value::Array(elements) => Value::Array(elements.into_iter().map(texts_or_bytes).collect()),
        Value::Map(pairs) => {
            Value::Map(pairs.into_iter().map(|(a, b)| (texts_or_bytes(a), texts_or_bytes(b))).collect())
        }
        other => other,
    }
}

fn bags() -> impl Strategy<Value = Bag> {
    let choice = prop_oneof![
        Just(Choice::Nothing),
        "[a-zß]{0,4}".prop_map(Choice::Text),
        any::<(i32, i32)>().prop_map(|(a, b)| Choice::Pair(a, b)),
        any::<(i32, Option<i32>)>().prop_map(|(a, b)| Choice::Named { a, b }),
    ];
    let choice =
        choice.prop_recursive(3, 3, 1, |inner| inner.prop_map(|inner| Choice::Again(Box::new(inner))));
    let leaf = (
        (any::<i32>(), "[a-zß😀]{0,6}", prop::collection::vec(any::<u8>(), 0..8), choice),
        (
            prop::collection::vec(any::<u64>(), 0..5),
            prop::collection::btree_map("[a-z]{0,2}", any::<i8>(), 0..3),
        ),
        any::<(f64, f32, (bool, char), i8, u64)>(),
    );
    let leaf =
        leaf.prop_map(|((id, text, data, choice), (list, named), (real, narrow, pair, small, big))| Bag {
            id,
            text,
            data: Blob(data),
            list,
            named,
            choice,
            inner: None,
            real,
            narrow,
            pair,
            small,
            big,
            unit: (),
        });
    leaf.prop_recursive(2, 2, 1, |inner| {
        (inner.clone(), inner).prop_map(|(outer, inner)| Bag { inner: Some(Box::new(inner)), ..outer })
    })
}

proptest! {
    #![proptest_config(seeded(1000))]

    /// Any value that an independent writer wrote is read, and written again as it was.
    #[test]
    fn any_value_comes_through(value in values(), how: u8) {
        let bytes = written(&value);
        prop_assert_eq!(read::<Value>(&bytes), Ok(value.clone()));
        prop_assert_eq!(write(&value), bytes.clone());
        fuzz::value::<Value>(&[&[how], &bytes[..]].concat());
    }

    /// What is read is what an independent reader reads.
    #[test]
    fn random_bytes_are_errors_or_values(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        fuzz::value::<Bag>(&bytes);
        fuzz::value::<Choice>(&bytes);
        fuzz::value::<(i32, Vec<String>)>(&bytes);
        if let Ok(value) = read::<Value>(&bytes) {
            let expected = rmpv::decode::read_value(&mut &bytes[..]).ok().map(texts_or_bytes);
            prop_assert_eq!(expected, Some(value));
        }
    }
}

proptest! {
    #![proptest_config(seeded(200))]

    /// C169: no prefix is a value, each flipped bit gives an error or a value.
    #[test]
    fn damaged_messages_are_errors_or_values(bag in bags(), how: u8) {
        let codec = MsgPack::new().structs_as_maps(how % 2 == 1);
        let bytes = try_write(codec, Place::Item, &bag).unwrap();
        prop_assert_eq!(read(&bytes), Ok(bag));
        for len in 0..bytes.len() {
            prop_assert!(read::<Bag>(&bytes[..len]).is_err());
        }
        // Each bit, in one place and one form after the other.
        for (bit, how) in (0..bytes.len() * 8).zip((how..=u8::MAX).chain(0..=u8::MAX).cycle()) {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fuzz::value::<Bag>(&[&[how], &flipped[..]].concat());
        }
    }
}
