//! Words of Rust, names of the library, and names that become equal: all are callable, and what is on the wire is as
//! the schema has it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use codegen_tests::thrift::collide::a::b_c as bc;
use codegen_tests::thrift::keywords::{self, Framework, FrameworkClient, FrameworkServer};
use codegen_tests::thrift::{collide, shadow};
use rpc::thrift::Binary;
use rpc::{Context, Error, Method, Status};
use std::future::{Future, ready};
use support::{round_trip, routes};

#[test]
fn words_of_rust_keep_their_names_on_the_wire() {
    use keywords::{WordFields, WordValues, Words};
    round_trip(&Words { r#type: 1, self_: 2, self_2: 3, __: 4, _x: 5, x_: 6, ..Words::default() });
    for field in [
        WordFields::Type(1),
        WordFields::Self_("a".into()),
        WordFields::Self2("b".into()),
        WordFields::Unknown(3),
        WordFields::__(4),
    ] {
        round_trip(&field);
    }
    let json = serde_json::to_value(WordFields::Self2("b".into())).unwrap();
    assert_eq!(json, serde_json::json!({"Self": "b"}));
    let json = serde_json::to_value(Words::default()).unwrap();
    assert!(["type", "self", "Self", "crate", "__"].iter().all(|name| json.get(name).is_some()), "{json}");
    assert_eq!(WordValues::TYPE.name(), Some("type"));
    assert_eq!((WordValues::SELF.name(), WordValues::SELF_2.name()), (Some("self"), Some("Self")));
    // `Unknown` is a name of the schema here, so that of the generator gives way
    assert!(matches!(WordFields::Unknown2(7), WordFields::Unknown2(_)));
    assert_eq!((keywords::SELF, keywords::R), (7, -7));
    assert_eq!(keywords::async_methods::Match::NAME, "match");
}

struct Words;

impl keywords::Async for Words {
    async fn r#type(
        &self,
        _: &Context,
        self_: i32,
        crate_: i32,
        cx_2: i32,
        _: keywords::Type,
        last: i32,
    ) -> Result<i32, Status> {
        Ok(self_ + 10 * crate_ + 100 * cx_2 + 1000 * last)
    }

    async fn r#match(&self, _: &Context, r#type: i32) -> Result<i32, keywords::AsyncMatchError> {
        Err(keywords::Match { self_: r#type.to_string() })?
    }

    async fn r#try(&self, _: &Context, words: keywords::Words) -> Result<(), Status> {
        Err(Status::unknown(words.r#try.to_string()))
    }

    async fn r#await(&self, _: &Context) -> Result<(), Status> {
        Ok(())
    }
    async fn r#gen(&self, _: &Context) -> Result<(), Status> {
        Ok(())
    }
    async fn r#dyn(&self, _: &Context) -> Result<(), Status> {
        Ok(())
    }
    async fn r#box(&self, _: &Context) -> Result<(), Status> {
        Ok(())
    }
    async fn r#macro(&self, _: &Context) -> Result<(), Status> {
        Ok(())
    }
    async fn self_(&self, _: &Context) -> Result<(), Status> {
        Ok(())
    }
    async fn super_(&self, _: &Context) -> Result<(), Status> {
        Ok(())
    }
    async fn crate_(&self, _: &Context) -> Result<(), Status> {
        Ok(())
    }
    async fn r#static(&self, _: &Context) -> Result<(), Status> {
        Ok(())
    }
    async fn _x(&self, _: &Context) -> Result<(), Status> {
        Ok(())
    }
    async fn x_(&self, _: &Context) -> Result<(), Status> {
        Ok(())
    }
    async fn __(&self, _: &Context) -> Result<(), Status> {
        Ok(())
    }
}

#[tokio::test]
async fn methods_with_words_of_rust_are_called() -> Result<(), Error> {
    let server = keywords::AsyncServer::new(Words);
    let client = keywords::AsyncClient::with_codec(Binary, routes(Binary, server));
    assert_eq!(client.r#type(1, 2, 3, keywords::Type {}, 4).await?, 4321);
    match client.r#match(5).await {
        Err(keywords::AsyncMatchError::Match(exception)) => assert_eq!(exception.self_, "5"),
        other => panic!("{other:?}"),
    }
    let error = client.r#try(keywords::Words { r#try: 9, ..Default::default() }).await.unwrap_err();
    assert_eq!(error.status().unwrap().message(), "9");
    client.r#await().await?;
    client.r#gen().await?;
    client.r#dyn().await?;
    client.r#box().await?;
    client.r#macro().await?;
    client.self_().await?;
    client.super_().await?;
    client.crate_().await?;
    client.r#static().await?;
    client._x().await?;
    client.x_().await?;
    client.__().await
}

struct Numbers;

macro_rules! framework {
    ($($method:ident = $number:literal),+ $(,)?) => {
        impl Framework for Numbers {
            $(fn $method(&self, _: &Context, arg: i32) -> impl Future<Output = Result<i32, Status>> + Send {
                ready(Ok(arg + $number))
            })+
        }

        #[tokio::test]
        async fn methods_called_like_those_of_the_library_are_called() -> Result<(), Error> {
            let client = FrameworkClient::with_codec(Binary, routes(Binary, FrameworkServer::new(Numbers)));
            $(assert_eq!(client.$method(1000).await?, 1000 + $number, stringify!($method));)+
            // what the library has is still there
            let _ = client.with(rpc::CallOptions::new()).client().options();
            let _ = Clone::clone(&client);
            Ok(())
        }
    };
}
framework! {
    connect = 1, new_2 = 2, builder = 3, clone = 4, ready = 5, call = 6, poll_ready = 7, serve = 8, layer = 9,
    inner = 10, into_inner = 11, drop = 12, default = 13, with_2 = 14, with_codec_2 = 15, with_timeout = 16,
    client_2 = 17, from = 18, from_arc = 19, send = 20, fmt = 21, register = 22, map = 23,
}

struct Items;

impl collide::Foo for Items {
    async fn get_item_2(&self, _: &Context, foo_bar_2: i32, foo_bar: i32) -> Result<i32, Status> {
        Ok(foo_bar_2 - foo_bar)
    }

    async fn get_item(&self, _: &Context, arg: i32) -> Result<i32, Status> {
        Ok(arg)
    }
}

#[tokio::test]
async fn names_that_become_equal_stay_apart_on_the_wire() -> Result<(), Error> {
    let client = collide::FooClient::with_codec(Binary, routes(Binary, collide::FooServer::new(Items)));
    assert_eq!((client.get_item_2(5, 3).await?, client.get_item(9).await?), (2, 9));
    assert_eq!(collide::foo_methods::GetItem::NAME, "GetItem");

    let fb = collide::FB { foo_bar_2: 10, foo_bar: 20, foo_bar_3: 30, thing: bc::Thing { a: 1 } };
    round_trip(&fb);
    let json = serde_json::to_value(&fb).unwrap();
    assert_eq!(json, serde_json::json!({"fooBar": 10, "foo_bar": 20, "FooBar": 30, "thing": {"a": 1}}));
    let default = collide::FB::default();
    assert_eq!((default.foo_bar_2, default.foo_bar, default.foo_bar_3), (1, 2, 3));
    round_trip(&collide::Fb { a: 1 });
    round_trip(&collide::Fb2 { b: 1 });
    assert_eq!(
        [collide::Values::A_B, collide::Values::AB, collide::Values::A_B_2].map(collide::Values::name),
        [Some("A_B"), Some("AB"), Some("a_b")]
    );
    Ok(())
}

struct Shadows;

impl shadow::Service for Shadows {
    async fn get(
        &self,
        _: &Context,
        option: shadow::Option,
        _: shadow::T,
        _: shadow::C,
        s: shadow::S,
    ) -> Result<shadow::Result, shadow::ServiceGetError2> {
        match (option.result, s.w.r.d) {
            (Some(result), 4) => Ok(result),
            (Some(_), code) => Err(shadow::Other { code })?,
            (None, 0) => Err(Status::not_found("nothing"))?,
            (None, 1) => Err(shadow::ServiceGetError2::Error2(shadow::Error { message: "again".into() })),
            (None, _) => Err(shadow::Error { message: "no option".into() })?,
        }
    }

    async fn get_2(
        &self,
        _: &Context,
        context: shadow::Context,
        _: shadow::Future,
    ) -> Result<shadow::Result, shadow::ServiceGetError3> {
        Ok(shadow::Result { value: context.value })
    }

    async fn get_args(&self, _: &Context, request: shadow::Request) -> Result<shadow::Vec, Status> {
        let string = shadow::String { string: request.response.value.to_string() };
        Ok(shadow::Vec { strings: vec![string], boxes: [shadow::Box { value: 1 }].into() })
    }

    async fn name(&self, _: &Context, w: shadow::W) -> Result<shadow::S, Status> {
        Ok(shadow::S { w })
    }
}

#[tokio::test]
async fn types_named_like_those_of_std() -> Result<(), Error> {
    use shadow::ServiceGetError2 as E;
    let client =
        shadow::ServiceClient2::with_codec(Binary, routes(Binary, shadow::ServiceServer2::new(Shadows)));
    let get = |value: Option<i32>, s: shadow::S| {
        let option = shadow::Option { result: value.map(|value| shadow::Result { value }) };
        client.get(option, shadow::T::default(), shadow::C::default(), s)
    };
    let s = |d| shadow::S { w: shadow::W { r: shadow::R { d, ..Default::default() } } };
    assert_eq!(get(Some(5), shadow::S::default()).await?.value, 5);
    assert!(matches!(get(Some(5), s(3)).await, Err(E::Other(shadow::Other { code: 3 }))));
    assert!(matches!(get(None, s(0)).await, Err(E::Other2(error)) if error.code() == rpc::Code::NotFound));
    assert!(matches!(get(None, s(1)).await, Err(E::Error2(error)) if error.message == "again"));
    assert!(matches!(get(None, s(2)).await, Err(E::Error(error)) if error.message == "no option"));
    assert_eq!(client.get_2(shadow::Context { value: 7 }, shadow::Future::default()).await?.value, 7);
    let vec = client.get_args(shadow::Request { response: shadow::Response { value: 8 } }).await?;
    assert_eq!(vec.strings, [shadow::String { string: "8".into() }]);
    assert_eq!(client.name(shadow::W::default()).await?, shadow::S { w: shadow::W::default() });
    assert_eq!(shadow::VALUE.w.r.d, 5);
    assert_eq!((shadow::SEND, shadow::Sync::default().send), (shadow::Send::SYNC, shadow::Send::SIZED));
    round_trip(&shadow::HashMap { map: [(shadow::String::default(), shadow::HashMap::default())].into() });
    Ok(())
}
