//! Words of Rust, names of std and names that become equal, in `.proto` files; packages in each other.
#![allow(clippy::unwrap_used)]

mod support;

use codegen_tests::all::r#dyn::r#mod::b_c;
use codegen_tests::proto::hostile::other;
use codegen_tests::proto::hostile::{self, NoPackage};
use codegen_tests::proto::no_package;
use rpc::msgpack::MsgPack;
use rpc::protobuf::Protobuf;
use rpc::{Context, Error, Method, Place, Status};
use support::{encode, hex, routes, there_and_back};

fn everywhere<T>(value: &T)
where
    T: PartialEq + std::fmt::Debug,
    Protobuf: rpc::Encode<T> + rpc::Decode<T>,
    MsgPack: rpc::Encode<T> + rpc::Decode<T>,
{
    there_and_back(Protobuf, value);
    there_and_back(MsgPack::new(), value);
    there_and_back(MsgPack::new().structs_as_maps(true), value);
}

#[test]
fn what_is_renamed_in_rust_is_not_on_the_wire() {
    let words =
        hostile::Words { r#type: 1, r#in: 2, super_: 3, unnamed_2: 4, x: 5, y: 6, ..Default::default() };
    everywhere(&words);
    let json = serde_json::to_value(&words).unwrap();
    for (name, value) in [("type", 1), ("in", 2), ("super", 3), ("__", 4), ("_x", 5), ("y_", 6)] {
        assert_eq!(json[name], value, "{name}");
    }
    let words = hostile::Words { foo_bar_2: Some(hostile::words::FooBar2::Self_(7)), ..Default::default() };
    everywhere(&words);
    assert_eq!(serde_json::to_value(&words).unwrap()["FOO_bar"], serde_json::json!({"SELF": 7}));
    assert_eq!(encode(Protobuf, Place::Item, &words).unwrap(), hex("b0 01 07"));
}

#[test]
fn equal_names_get_numbers() {
    let inner = hostile::fb_2::Fb { c: 1 };
    let fb = hostile::Fb2 { a: 1, fb_1: Some(inner), fb_2: None };
    everywhere(&fb);
    everywhere(&hostile::Fb { b: 1, other: Some(fb), nested: Some(inner) });
    assert_eq!(hostile::Send::Sync2.as_str_name(), "SEND_Sync");
    assert_eq!(hostile::Send::from_str_name("SEND_Sync"), Some(hostile::Send::Sync2));
    assert_eq!(hostile::debug::Send::B2.as_str_name(), "b");
    assert_eq!(hostile::greeter_methods::GetItem2::NAME, "get_item");
    assert_eq!(
        (hostile::greeter_methods::NAME, hostile::greeter_methods2::NAME),
        ("dyn.mod.bC.Greeter", "dyn.mod.bC.greeter")
    );
}

#[test]
fn types_named_like_those_of_std() {
    everywhere(&hostile::Option {
        result: Some(hostile::Result { value: 1 }),
        some: Some(hostile::Some { value: "s".into(), none: Some(hostile::None {}) }),
    });
    everywhere(&hostile::Box { r#box: Some(Box::default()) });
    everywhere(&hostile::Ok { r#box: None, vec: vec![hostile::Vec { bytes: vec![255].into() }] });
    everywhere(&hostile::Err { strings: [("k".to_owned(), hostile::String { string: "v".into() })].into() });
    let inner = hostile::Clone { kind: Some(hostile::clone::Kind::Bytes(vec![0, 128].into())) };
    everywhere(&hostile::Clone { kind: Some(hostile::clone::Kind::Clone(Box::new(inner))) });
    everywhere(&hostile::Service { text: Some("t".into()), number: Some(1) });
    // holds a type that serde does not know
    there_and_back(Protobuf, &hostile::Wraps { wrapped: Some(hostile::Wrapped::default()), more: vec![] });
}

struct Impl;

impl b_c::Greeter for Impl {
    async fn r#type(&self, _: &Context, c: b_c::C) -> Result<b_c::T, Status> {
        Ok(c.t.unwrap_or_default())
    }
    async fn new_2(&self, _: &Context, s: b_c::S) -> Result<b_c::S, Status> {
        Ok(s)
    }
    async fn get_item_2(&self, _: &Context, result: b_c::Result) -> Result<b_c::Option, Status> {
        Ok(b_c::Option { result: Some(result), some: None })
    }
    async fn get_item(
        &self,
        _: &Context,
        result: codegen_tests::all::other::Result,
    ) -> Result<codegen_tests::all::NoPackage, Status> {
        Ok(result.none.unwrap_or_default())
    }
    async fn other(
        &self,
        _: &Context,
        bar: codegen_tests::all::other::foo::Bar,
    ) -> Result<codegen_tests::all::other::foo::Bar2, Status> {
        Ok(codegen_tests::all::other::foo::Bar2 { in_message: 5, bar: Some(bar) })
    }
    async fn clone(&self, _: &Context, clone: b_c::Clone) -> Result<b_c::Clone, Status> {
        Ok(clone)
    }
}

#[tokio::test]
async fn methods_are_called() -> Result<(), Error> {
    let client = b_c::GreeterClient2::with_codec(Protobuf, routes(Protobuf, b_c::GreeterServer::new(Impl)));
    let t = b_c::T { s: Some(b_c::S { a: 1 }) };
    assert_eq!(client.r#type(b_c::C { t: Some(t) }).await?, t);
    assert_eq!(client.new_2(b_c::S { a: 2 }).await?.a, 2);
    assert_eq!(client.get_item_2(b_c::Result { value: 3 }).await?.result, Some(b_c::Result { value: 3 }));
    let none = codegen_tests::all::NoPackage::default();
    assert_eq!(client.get_item(codegen_tests::all::other::Result::default()).await?, none);
    let bar = codegen_tests::all::other::foo::Bar { in_package: 4 };
    assert_eq!(client.other(bar).await?.bar, Some(bar));
    let clone = b_c::Clone { kind: Some(b_c::clone::Kind::String("s".into())) };
    assert_eq!(client.clone(clone.clone()).await?, clone);
    Ok(())
}

#[test]
fn packages_and_files_without_one_find_each_other() {
    let bar = other::foo::Bar { in_package: 1 };
    everywhere(&other::Foo { bar: Some(other::foo::Bar2 { in_message: 2, bar: Some(bar) }) });
    let inner = hostile::no_package::no_package::Inner { outer: Some(Box::default()) };
    everywhere(&NoPackage { bar: Some(bar), inner: Some(Box::new(inner)) });
    assert_eq!(no_package::no_package_service_methods::Get::SERVICE, "NoPackageService");
}
