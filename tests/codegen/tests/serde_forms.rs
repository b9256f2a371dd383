//! The forms that generated types have in MessagePack and JSON.
#![allow(clippy::unwrap_used)]

mod support;

use codegen_tests::proto;
use codegen_tests::proto::hello::hello_request::Manner;
use codegen_tests::thrift::probe::probe_methods::{PokeException, SwapArgs};
use codegen_tests::thrift::probe::{Bag, Color, Oops, Shape};
use rmpv::Value;
use rpc::msgpack::MsgPack;
use rpc::{DecodeError, Place};
use support::{decode, encode, hex};

fn written<T>(codec: MsgPack, value: &T) -> Value
where
    MsgPack: rpc::Encode<T>,
{
    let bytes = encode(codec, Place::Item, value).unwrap();
    rmpv::decode::read_value(&mut &bytes[..]).unwrap()
}

fn read<T>(value: &Value) -> Result<T, DecodeError>
where
    MsgPack: rpc::Decode<T>,
{
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, value).unwrap();
    decode(MsgPack::new(), Place::Item, bytes.into())
}

fn bag() -> Bag {
    Bag {
        id: 1,
        blob: Some("raw".into()),
        color: Some(Color(77)),
        shape: Some(Shape::Label("l".into())),
        ..Bag::default()
    }
}

fn text(text: &str) -> Value {
    Value::from(text)
}

fn map(pairs: Vec<(Value, Value)>) -> Value {
    Value::Map(pairs)
}

#[test]
fn a_struct_is_an_array_in_the_order_of_declaration() {
    let shape = map(vec![(text("label"), text("l"))]);
    let expected = Value::Array(vec![
        1.into(),
        Value::Nil,
        Value::Binary(b"raw".to_vec()),
        77.into(),
        shape,
        Value::Nil,
        Value::Nil,
        Value::Nil,
        Value::Nil,
    ]);
    assert_eq!(written(MsgPack::new(), &bag()), expected);
    assert_eq!(read(&expected), Ok(bag()));
}

#[test]
fn missing_elements_at_the_end_are_defaults_and_more_are_left_out() {
    let short = Value::Array(vec![1.into(), text("n")]);
    assert_eq!(read(&short), Ok(Bag { id: 1, name: Some("n".into()), ..Bag::default() }));
    let mut long = vec![Value::Nil; 12];
    long[0] = 1.into();
    long[11] = map(vec![(text("more"), Value::Array(vec![2.into()]))]);
    assert_eq!(read(&Value::Array(long)), Ok(Bag { id: 1, ..Bag::default() }));
    let error = read::<Bag>(&Value::Array(vec![])).unwrap_err();
    assert!(error.to_string().contains("missing required field `Bag.id`"), "{error}");
    let error = read::<Bag>(&Value::Array(vec![Value::Nil])).unwrap_err();
    assert!(error.to_string().contains("missing required field `Bag.id`"), "{error}");
}

#[test]
fn a_struct_may_be_a_map_by_name_or_by_id() {
    let names = written(MsgPack::new().structs_as_maps(true), &bag());
    assert_eq!(names.as_map().unwrap()[0], (text("id"), 1.into()));
    assert_eq!(read(&names), Ok(bag()));
    let ids = map(vec![
        (5.into(), map(vec![(2.into(), text("l"))])),
        (99.into(), text("unknown")),
        (4.into(), 77.into()),
        (1.into(), 1.into()),
        (3.into(), Value::Binary(b"raw".to_vec())),
        (6.into(), Value::Nil),
    ]);
    assert_eq!(read(&ids), Ok(bag()));
    let mixed = map(vec![(text("id"), 5.into()), (1.into(), 1.into()), (text("nope"), Value::Nil)]);
    assert_eq!(read(&mixed), Ok(Bag { id: 1, ..Bag::default() }), "of equal fields the last counts");
    let error = read::<Bag>(&map(vec![(text("name"), text("n"))])).unwrap_err();
    assert!(error.to_string().contains("missing required field `Bag.id`"), "{error}");
}

#[test]
fn an_error_names_the_field() {
    let error = read::<Bag>(&Value::Array(vec![1.into(), 2.into()])).unwrap_err();
    assert!(error.to_string().contains("name"), "{error}");
    let error = read::<Bag>(&map(vec![(text("id"), text("x"))])).unwrap_err();
    assert!(error.to_string().contains("id"), "{error}");
}

#[test]
fn a_union_is_a_map_of_one_pair() {
    assert_eq!(written(MsgPack::new(), &Shape::Radius(3)), map(vec![(text("radius"), 3.into())]));
    let known_and_unknown = map(vec![(9.into(), 7.into()), (1.into(), 3.into())]);
    assert_eq!(read(&known_and_unknown), Ok(Shape::Radius(3)));
    assert_eq!(read(&map(vec![(9.into(), 7.into())])), Ok(Shape::Unknown(9)));
    assert_eq!(read(&map(vec![(text("nope"), 7.into())])), Ok(Shape::Unknown(0)));
    assert!(read::<Shape>(&map(vec![])).is_err());
    let two = map(vec![(text("radius"), 3.into()), (text("label"), text("l"))]);
    assert!(read::<Shape>(&two).unwrap_err().to_string().contains("more than one field of union `Shape`"));
    assert!(encode(MsgPack::new(), Place::Item, &Shape::Unknown(9)).is_err());
}

#[test]
fn arguments_and_results() {
    let args = SwapArgs { bag: Bag { id: 1, ..Bag::default() } };
    let bytes = encode(MsgPack::new(), Place::Arguments, &args).unwrap();
    assert_eq!(bytes, hex("91 99 01 c0 c0 c0 c0 c0 c0 c0 c0"));
    assert_eq!(decode(MsgPack::new(), Place::Arguments, bytes), Ok(args));
    let exception = PokeException::Oops(Oops { code: 5, text: "bad".into() });
    let bytes = encode(MsgPack::new(), Place::Exception, &exception).unwrap();
    assert_eq!(bytes, hex("81 a4 6f6f7073 92 05 a3 626164"));
    assert_eq!(decode(MsgPack::new(), Place::Exception, bytes), Ok(exception));
}

#[test]
fn a_oneof_is_where_it_is_declared_and_may_be_unknown() {
    let request = proto::hello::HelloRequest {
        name: "n".into(),
        manner: Some(Manner::Loudness(3)),
        ..Default::default()
    };
    let array = written(MsgPack::new(), &request);
    assert_eq!(array.as_array().unwrap()[1], map(vec![(text("loudness"), 3.into())]));
    let by_tag = map(vec![(1.into(), text("n")), (text("manner"), map(vec![(5.into(), 3.into())]))]);
    assert_eq!(read(&by_tag), Ok(request));
    let newer = map(vec![(text("manner"), map(vec![(text("newer"), 3.into())])), (text("name"), text("n"))]);
    assert_eq!(read(&newer), Ok(proto::hello::HelloRequest { name: "n".into(), ..Default::default() }));
}

#[test]
fn json_is_the_same_by_name() {
    let json = serde_json::to_string(&bag()).unwrap();
    assert_eq!(
        json,
        r#"{"id":1,"name":null,"blob":[114,97,119],"color":77,"shape":{"label":"l"},"tail":null,"bykey":null,"uniq":null,"flags":null}"#
    );
    assert_eq!(serde_json::from_str::<Bag>(&json).unwrap(), bag());
}
