//! A service that is older than its callers: what it does not know it reads and passes on.
#![allow(clippy::unwrap_used)]

mod support;

use bytes::Bytes;
use codegen_tests::kept::older as kept;
use codegen_tests::thrift::newer::{Inner, Oops, Shape, Value};
use codegen_tests::thrift::older;
use rpc::msgpack::MsgPack;
use rpc::thrift::{Binary, Compact, ThriftStruct, Uuid};
use rpc::{Codec, Decode, DecodeErrorKind, Encode, Place};
use std::collections::{BTreeMap, HashMap, HashSet};
use support::{decode, encode, hex};

fn value() -> Value {
    let inner = |id| Inner {
        id,
        label: format!("inner {id}"),
        weight: Some(f64::from(id) / 2.0),
        marks: vec![HashMap::from([("x".to_owned(), true)]), HashMap::new()],
    };
    Value {
        id: -1,
        name: Some("name".into()),
        flag: true,
        inner: inner(1),
        inners: vec![inner(2), inner(3)],
        shape: Some(Shape::Inner(inner(4))),
        counts: HashMap::from([("k".to_owned(), i64::MIN)]),
        ids: HashSet::from([1, -2]),
        key: Uuid([7; 16]),
        oops: Some(Oops { code: 5, cause: Some(inner(6)) }),
        changed: "text".into(),
    }
}

/// Sends the value through a service that knows the older schema, which changes what it knows.
fn passed_on<O, C, D>(from: C, to: D, change: impl FnOnce(&mut O)) -> Value
where
    O: ThriftStruct,
    C: Codec + Encode<Value> + Decode<O>,
    D: Codec + Encode<O> + Decode<Value>,
{
    let mut older: O =
        decode(from.clone(), Place::Item, encode(from, Place::Item, &value()).unwrap()).unwrap();
    change(&mut older);
    decode(to.clone(), Place::Item, encode(to, Place::Item, &older).unwrap()).unwrap()
}

#[test]
fn what_is_unknown_is_passed_on_in_either_protocol() {
    let change = |value: &mut kept::Value| {
        assert_eq!(value.unknown_fields.ids().collect::<HashSet<_>>(), HashSet::from([2, 3, 7, 8, 9, 11]));
        assert_eq!(value.inner.unknown_fields.ids().count(), 3);
        assert!(matches!(&value.shape, Some(kept::Shape::Unknown(fields)) if fields.ids().eq([3])));
        value.inner.id = 100;
        value.inners.swap(0, 1);
        value.oops.as_mut().unwrap().code = 200;
    };
    let mut expected = value();
    expected.inner.id = 100;
    expected.inners.swap(0, 1);
    expected.oops.as_mut().unwrap().code = 200;
    assert_eq!(passed_on(Binary, Binary, change), expected);
    assert_eq!(passed_on(Compact, Compact, change), expected);
    assert_eq!(passed_on(Binary, Compact, change), expected);
    assert_eq!(passed_on(Compact, Binary, change), expected);
}

#[test]
fn unless_it_was_asked_for_nothing_is_kept() {
    let shape = |value: &mut older::Value| value.shape = None;
    let expected = Value { id: -1, inner: Inner { id: 1, ..Inner::default() }, ..Value::default() };
    let passed = passed_on(Binary, Compact, shape);
    assert_eq!((passed.id, passed.inner, passed.name), (expected.id, expected.inner, None));
}

#[test]
fn a_type_with_unknown_fields_is_used_as_any_other() {
    assert_eq!(*kept::FULL, kept::Inner { id: 5, ..kept::Inner::default() });
    assert!(kept::Inner::default().unknown_fields.is_empty());
    // equality sees them, and text names their ids
    let inner: kept::Inner = decode(Binary, Place::Item, hex("08 00 01 00 00 00 05 02 00 09 01 00")).unwrap();
    assert_ne!(inner, *kept::FULL);
    assert_eq!(format!("{inner:?}"), "Inner { id: 5, unknown_fields: {9} }");
    // a field that is called so already, in a type that is a key
    let key = kept::Key { unknown_fields: 1, more: BTreeMap::new(), ..kept::Key::default() };
    let more = kept::Key { more: BTreeMap::from([(key, 2)]), ..kept::Key::default() };
    assert!(more.unknown_fields2.is_empty());
    support::round_trip(&more);
    support::there_and_back(Compact, &more);
}

#[test]
fn a_union_is_written_if_something_was_kept() {
    let union: kept::Shape = decode(Binary, Place::Item, hex("0b 00 02 00 00 00 01 78 00")).unwrap();
    assert_eq!(encode(Compact, Place::Item, &union).unwrap(), hex("28 01 78 00"));
    // a known field beside unknown ones counts alone
    let both = hex("0b 00 02 00 00 00 01 78 08 00 01 00 00 00 03 00");
    assert_eq!(decode(Binary, Place::Item, both), Ok(kept::Shape::Radius(3)));
    let error = decode::<_, kept::Shape>(Binary, Place::Item, hex("00")).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::Missing);
    assert!(
        encode(Binary, Place::Item, &kept::Shape::Unknown(rpc::thrift::UnknownFields::default())).is_err()
    );
    // MessagePack has no ids of Thrift
    assert!(encode(MsgPack::new(), Place::Item, &union).is_err());
}

#[test]
fn what_is_kept_has_the_limits_of_what_is_read() {
    let read = |bytes: Vec<u8>| decode::<_, kept::Inner>(Compact, Place::Item, Bytes::from(bytes));
    // an unknown field of lists in lists: the struct is a level itself
    for (levels, fits) in [(63, true), (64, false), (20_000, false)] {
        let inner = read([&[0x99][..], &[0x19].repeat(levels - 1), &[0x03, 0]].concat());
        assert_eq!(inner.is_ok(), fits, "{levels}");
        if let Ok(inner) = inner {
            assert!(encode(Binary, Place::Item, &inner).is_ok());
            // one level further down it does not fit any more
            let value = kept::Value { inner, ..kept::Value::default() };
            assert!(encode(Binary, Place::Item, &value).is_err());
        }
    }
    let claim = read(vec![0x99, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x07, 0]);
    assert_eq!(claim.unwrap_err().kind(), DecodeErrorKind::Limit);
}
