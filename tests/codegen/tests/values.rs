//! Defaults and constants.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

mod support;

use codegen_tests::thrift::values::values::{self, Defaults, Inner, Kind, Nested, Nothing, Pick};
use codegen_tests::thrift::values::values_shared::{self, Shared};
use rpc::thrift::{Binary, Uuid};
use rpc::{DecodeErrorKind, Place};
use std::collections::{HashMap, HashSet};
use support::{decode, encode, hex, round_trip};

fn inner() -> Inner {
    Inner { a: 5, b: None, c: Some(6), d: vec![1, 2] }
}

fn id() -> Uuid {
    "00112233-4455-6677-8899-aabbccddeeff".parse().unwrap()
}

fn expected() -> Defaults {
    Defaults {
        whole: 3.0,
        yes: true,
        no: false,
        negative: -7,
        hex: 255,
        exponent: 1500.0,
        least: i64::MIN,
        most: i64::MAX,
        tiny: i8::MIN,
        by_name: Kind::SECOND,
        by_number: Kind(4),
        shared: Shared::TWO,
        double_quoted: "it's \"so\" – é".into(),
        single_quoted: "say \"hi\"\n\t\\".into(),
        blob: "raw".into(),
        list: vec![1, 2, 3],
        set: HashSet::from(["a".into(), "b".into()]),
        map: HashMap::from([("x".into(), Kind::SECOND), ("y".into(), Kind::SECOND)]),
        inner: Inner { a: 1, b: Some("two".into()), ..inner() },
        optional_with_default: Some(9),
        optional_struct: Some(inner()),
        from_other_file: 42,
        required_with_default: 11,
        id: id(),
        pick: Pick::Text("t".into()),
        nothing: None,
        plain_struct: inner(),
    }
}

#[test]
fn defaults_are_those_of_the_schema() {
    assert_eq!(Defaults::default(), expected());
    assert_eq!(Inner::default(), inner());
    round_trip(&expected());
}

#[test]
fn a_missing_field_takes_its_default() {
    // field 23 is required, whatever its default
    let error = decode::<_, Defaults>(Binary, Place::Item, hex("00")).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::Missing);
    let read: Defaults = decode(Binary, Place::Item, hex("08 00 17 00 00 00 0b 00")).unwrap();
    assert_eq!(read, expected());
}

#[test]
fn unions_have_a_default() {
    assert_eq!(Pick::default(), Pick::Text("chosen".into()));
    assert_eq!(Nested::default(), Nested::Pick(Pick::default()));
    // there is nothing to choose
    assert_eq!(Nothing::default(), Nothing::Unknown(0));
    assert!(encode(Binary, Place::Item, &Nothing::default()).is_err());
    assert_eq!(Kind::default(), Kind(0));
}

#[test]
fn constants_are_those_of_the_schema() {
    const { assert!(values::YES) };
    assert_eq!((values::TINY, values::LEAST, values::COPY), (-128, i64::MIN, values_shared::NUMBER));
    assert_eq!((values::HALF, values::MINUS), (0.5, -1e300));
    assert_eq!(
        (values::TEXT, values::BLOB, values::ID, values::KIND),
        ("text", &b"blob"[..], id(), Kind::SECOND)
    );
    assert_eq!(*values::INNERS, [inner(), Inner { c: Some(1), ..inner() }]);
    assert_eq!(values::NESTED["a"][&1], "b");
    assert_eq!(*values::INNER, Inner { a: 99, ..inner() });
    assert_eq!(*values::ALL, Defaults { inner: values::INNER.clone(), ..expected() });
    assert_eq!(*values::PICK, Pick::Number(3));
}
