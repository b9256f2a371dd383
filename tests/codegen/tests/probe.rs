//! Bytes of other implementations, read and written by generated types.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use bytes::{Bytes, BytesMut};
use codegen_tests::thrift::probe::probe_methods::{
    Echo, EchoArgs, GrowArgs, Poke, PokeException, Swap, SwapArgs,
};
use codegen_tests::thrift::probe::{Bag, Color, Empty, Oops, Shape, Tree};
use rpc::thrift::{Binary, Compact};
use rpc::{DecodeError, DecodeErrorKind, DecodeOutcome, EncodeOutcome, Method, Outcome, Place};
use std::collections::{HashMap, HashSet};
use support::{decode, encode, hex};

/// The arguments of `swap`, without the message's header.
fn swap(text: &str) -> Result<Bag, DecodeError> {
    decode::<_, SwapArgs>(Binary, Place::Arguments, hex(text)).map(|args| args.bag)
}

fn bytes_of(bag: &Bag) -> Bytes {
    encode(Binary, Place::Arguments, &SwapArgs { bag: bag.clone() }).unwrap()
}

const BAG_1: &str = "0c 00 01 0a 00 01 00 00 00 00 00 00 00 01";

#[test]
fn arguments_are_a_struct_with_their_ids() {
    let args = EchoArgs { text: "hi".into() };
    let bytes = hex("0b 00 01 00 00 00 02 68 69 00");
    assert_eq!(encode(Binary, Place::Arguments, &args).unwrap(), bytes);
    assert_eq!(decode(Binary, Place::Arguments, bytes), Ok(args));
}

#[test]
fn an_unknown_field_is_left_out_whatever_it_holds() {
    let bytes = hex("0b 00 4d 00 00 00 03 ff fe 80 0b 00 01 00 00 00 02 68 69 00");
    assert_eq!(decode(Binary, Place::Arguments, bytes), Ok(EchoArgs { text: "hi".into() }));
    let bytes = hex("0b 00 01 00 00 00 03 ff fe 80 00");
    let error = decode::<_, EchoArgs>(Binary, Place::Arguments, bytes).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::NotUtf8);
    assert!(error.to_string().starts_with("cannot decode text:"), "{error}");
    // a known id of another type
    let bytes = hex("08 00 01 00 00 00 05 00");
    assert_eq!(decode(Binary, Place::Arguments, bytes), Ok(EchoArgs { text: String::new() }));
}

#[test]
fn a_union_holds_its_known_field() {
    let bag = swap(&format!(
        "{BAG_1} 0c 00 05 08 00 09 00 00 00 07 08 00 01 00 00 00 03 00 08 00 06 00 00 00 2a 00 00"
    ))
    .unwrap();
    assert_eq!((bag.shape, bag.tail), (Some(Shape::Radius(3)), Some(42)));
}

#[test]
fn a_union_with_two_fields_or_none_is_an_error() {
    let two = format!("{BAG_1} 0c 00 05 08 00 01 00 00 00 03 0b 00 02 00 00 00 01 78 00 00 00");
    let error = swap(&two).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::Malformed);
    assert_eq!(error.to_string(), "cannot decode bag.shape: more than one field of union `Shape` is set");
    let error = swap(&format!("{BAG_1} 0c 00 05 00 00 00")).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::Missing);
}

#[test]
fn a_union_with_an_unknown_field_is_read_and_not_written() {
    let bag = swap(&format!("{BAG_1} 0c 00 05 08 00 09 00 00 00 07 00 00 00")).unwrap();
    assert_eq!(bag.shape, Some(Shape::Unknown(9)));
    let error = encode(Binary, Place::Arguments, &SwapArgs { bag }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot encode bag.shape: union `Shape` has no field that its definition knows"
    );
}

#[test]
fn an_unknown_enum_number_is_kept() {
    let text = format!("{BAG_1} 08 00 04 00 00 00 4d 00 00");
    let bag = swap(&text).unwrap();
    assert_eq!(bag.color, Some(Color(77)));
    assert_eq!(bytes_of(&bag), hex(&text));
    assert_eq!(format!("{:?} {:?} {}", Color(77), Color::RED, Color::GREEN), "Color(77) RED GREEN");
    assert_eq!((Color(77).name(), Color::RED.name()), (None, Some("RED")));
    assert!(Color::RED < Color(77) && Color::from(2) == Color::GREEN);
}

#[test]
fn a_missing_required_field_is_named() {
    let error = swap("0c 00 01 0b 00 02 00 00 00 01 78 00 00").unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::Missing);
    assert_eq!(error.to_string(), "cannot decode bag: missing required field `Bag.id`");
}

#[test]
fn what_is_unset_is_not_written() {
    let bag = Bag { id: 1, ..Bag::default() };
    assert_eq!(bytes_of(&bag), hex(&format!("{BAG_1} 00 00")));
}

#[test]
fn duplicates_in_a_set_count_once() {
    let bag =
        swap(&format!("{BAG_1} 0e 00 08 08 00 00 00 03 00 00 00 07 00 00 00 07 00 00 00 09 00 00")).unwrap();
    assert_eq!(bag.uniq, Some(HashSet::from([7, 9])));
    let again = bytes_of(&bag);
    assert_eq!(again.get(14..22).unwrap(), &hex("0e 00 08 08 00 00 00 02")[..]);
    // of equal keys the last counts
    let pair = |value: &str| format!("3f f8 00 00 00 00 00 00 00 00 00 01 {value}");
    let bag =
        swap(&format!("{BAG_1} 0d 00 07 04 0b 00 00 00 02 {} {} 00 00", pair("61"), pair("62"))).unwrap();
    assert_eq!(bag.bykey, Some(HashMap::from([(1.5.into(), "b".to_owned())])));
}

/// How a method ended, from the bytes of its result.
fn outcome<M: Method>(bytes: Bytes) -> Result<Outcome<M>, DecodeError>
where
    Binary: DecodeOutcome<M::Response, M::Exception>,
{
    Binary.decode_outcome(Place::Result, bytes)
}

#[test]
fn a_void_method_ends_with_nothing_or_with_an_exception() {
    let read = |text| outcome::<Poke>(hex(text)).unwrap();
    assert_eq!(read("00"), Ok(()));
    let exception = Err(PokeException::Oops(Oops { code: 5, text: "bad".into() }));
    let bytes = "0c 00 01 08 00 01 00 00 00 05 0b 00 02 00 00 00 03 62 61 64 00 00";
    assert_eq!(read(bytes), exception.clone());
    let written = |outcome| {
        let mut dst = BytesMut::new();
        Binary.encode_outcome(Place::Result, &outcome, &mut dst).map(|()| dst.freeze())
    };
    assert_eq!(written(exception).unwrap(), hex(bytes));
    assert_eq!(written(Outcome::<Poke>::Ok(())).unwrap(), hex("00"));
}

#[test]
fn a_result_without_anything_is_no_default() {
    let error = outcome::<Echo>(hex("00")).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::MissingResult);
    let error = outcome::<Swap>(hex("00")).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::MissingResult);
}

#[test]
fn empty_things() {
    let bag = Bag {
        name: Some(String::new()),
        blob: Some(Bytes::new()),
        bykey: Some(HashMap::new()),
        uniq: Some(HashSet::new()),
        flags: Some(Vec::new()),
        ..Bag::default()
    };
    let bytes = "0c 00 01 0a 00 01 00 00 00 00 00 00 00 00 \
                 0b 00 02 00 00 00 00 0b 00 03 00 00 00 00 \
                 0d 00 07 04 0b 00 00 00 00 0e 00 08 08 00 00 00 00 0f 00 09 02 00 00 00 00 00 00";
    assert_eq!(bytes_of(&bag), hex(bytes));
    assert_eq!(swap(bytes), Ok(bag.clone()));
    assert_eq!(encode(Binary, Place::Item, &Empty {}).unwrap(), hex("00"));
    assert_eq!(encode(Binary, Place::Item, &Tree::default()).unwrap(), hex("00"));
    // an empty map has no types, the others keep theirs
    let bytes = hex("1c 16 00 18 00 18 00 4b 00 1a 05 19 01 00 00");
    let args = SwapArgs { bag };
    assert_eq!(encode(Compact, Place::Arguments, &args).unwrap(), bytes);
    assert_eq!(decode(Compact, Place::Arguments, bytes), Ok(args));
    assert_eq!(encode(Compact, Place::Item, &Empty {}).unwrap(), hex("00"));
    // within each other
    let tree = Tree { val: None, kids: Some(vec![Tree { val: None, kids: Some(vec![]) }, Tree::default()]) };
    assert_eq!(encode(Compact, Place::Item, &tree).unwrap(), hex("29 2c 29 0c 00 00 00"));
    assert_eq!(decode(Compact, Place::Item, hex("29 2c 29 0c 00 00 00")), Ok(tree));
    // a union that holds nothing has no form
    assert!(encode(Binary, Place::Item, &Shape::Unknown(0)).is_err());
    assert!(encode(Compact, Place::Item, &Shape::Unknown(0)).is_err());
}

fn tree(levels: usize) -> Tree {
    (1..levels).fold(Tree::default(), |tree, _| Tree { val: None, kids: Some(vec![tree]) })
}

#[test]
fn nesting_ends_at_the_limit_in_both_directions() {
    // each level is a struct and a list, the arguments are a struct around all: 63 = 1 + 2 × 31, 65 = 1 + 2 × 32
    let args = GrowArgs { tree: tree(32) };
    let bytes = encode(Binary, Place::Arguments, &args).unwrap();
    assert_eq!(decode(Binary, Place::Arguments, bytes), Ok(args));
    assert!(encode(Binary, Place::Arguments, &GrowArgs { tree: tree(33) }).is_err());
    for args in [GrowArgs { tree: tree(32) }, GrowArgs { tree: tree(33) }] {
        let written = encode(Compact, Place::Arguments, &args);
        assert_eq!(written.is_ok(), args == GrowArgs { tree: tree(32) });
        written
            .into_iter()
            .for_each(|bytes| assert_eq!(decode(Compact, Place::Arguments, bytes), Ok(args.clone())));
    }
    let deep = format!("0c 00 01 {} {} 00", "0f 00 02 0c 00 00 00 01".repeat(20_000), "00".repeat(20_001));
    let error = decode::<_, GrowArgs>(Binary, Place::Arguments, hex(&deep)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::Limit);
}
