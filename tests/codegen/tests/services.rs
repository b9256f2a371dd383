//! Services that extend others, and services of every shape.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use codegen_tests::thrift::extends::extends::a::{A, AClient, APingError, Lost};
use codegen_tests::thrift::extends::extends::b::B;
use codegen_tests::thrift::extends::shapes_methods::{UnorderedArgs, WithoutIdsArgs};
use codegen_tests::thrift::extends::{
    C, CClient, COwnError, CServer, Child, ChildServer, Empty, Other, Shapes, ShapesClient, ShapesServer,
    WithoutIds,
};
use codegen_tests::thrift::extends_a;
use rpc::msgpack::MsgPack;
use rpc::thrift::Binary;
use rpc::{Code, Context, DecodeErrorKind, Error, Method, NamedService, Place, Status};
use std::sync::Mutex;
use support::{decode, encode, hex, routes};

#[derive(Default)]
struct Family {
    notes: Mutex<Vec<String>>,
}

impl A for Family {
    async fn ping(&self, _: &Context, text: String) -> Result<String, APingError> {
        if text.is_empty() { Err(Lost { r#where: "A".into() })? } else { Ok(text) }
    }

    async fn note(&self, _: &Context, text: String) -> Result<(), Status> {
        self.notes.lock().unwrap().push(text);
        Ok(())
    }

    async fn get_item(&self, _: &Context, id: i32) -> Result<i32, Status> {
        Ok(id)
    }
}

impl B for Family {
    async fn find(&self, _: &Context, id: i32) -> Result<Lost, Status> {
        Ok(Lost { r#where: id.to_string() })
    }
}

impl C for Family {
    async fn own(&self, _: &Context, id: i32) -> Result<i32, COwnError> {
        match id {
            0 => Err(Lost { r#where: "C".into() })?,
            1 => Err(Other { code: 1 })?,
            id => Ok(id),
        }
    }

    async fn get_item_2(&self, _: &Context, id: i32) -> Result<i32, Status> {
        Ok(-id)
    }
}

#[tokio::test]
async fn a_service_has_the_methods_of_all_it_extends() -> Result<(), Error> {
    let client = CClient::with_codec(Binary, routes(Binary, CServer::new(Family::default())));
    assert_eq!(client.ping("hi".into()).await?, "hi");
    match client.ping(String::new()).await {
        Err(APingError::Lost(lost)) => assert_eq!(lost.r#where, "A"),
        other => panic!("{other:?}"),
    }
    assert_eq!(client.find(3).await?.r#where, "3");
    client.note("n".into()).await?;
    assert!(matches!(client.own(0).await, Err(COwnError::Lost(_))));
    assert!(matches!(client.own(1).await, Err(COwnError::Other(Other { code: 1 }))));
    assert_eq!((client.own(2).await?, client.get_item(4).await?, client.get_item_2(4).await?), (2, 4, -4));
    Ok(())
}

#[tokio::test]
async fn it_is_called_by_clients_of_those() -> Result<(), Error> {
    // Thrift's header names the method alone, so the service's name is left out here as well
    let routes = routes(Binary, CServer::new(Family::default()));
    let unnamed = tower::service_fn(move |mut request: rpc::Request<rpc::Body>| {
        use tower::ServiceExt as _;
        request.head.service = rpc::Name::default();
        routes.clone().oneshot(request)
    });
    let client = AClient::with_codec(Binary, unnamed.clone());
    assert_eq!(client.ping("hi".into()).await?, "hi");
    let client = extends_a::AClient::with_codec(Binary, unnamed);
    assert!(matches!(client.ping(String::new()).await, Err(extends_a::APingError::Lost(_))));
    Ok(())
}

#[test]
fn an_inherited_method_is_of_the_service_that_is_called() {
    use codegen_tests::thrift::extends::c_methods::{GetItem, GetItem2, Ping};
    assert_eq!((Ping::SERVICE, Ping::NAME), ("C", "ping"));
    let mut names = [GetItem::NAME, GetItem2::NAME];
    names.sort_unstable();
    assert_eq!(names, ["GetItem", "get_item"]);
}

struct Every;

impl Empty for Every {}
impl Child for Every {}

impl Shapes for Every {
    async fn nothing(&self, _: &Context) -> Result<(), Status> {
        Ok(())
    }

    async fn shout(&self, _: &Context) -> Result<(), Status> {
        Ok(())
    }

    async fn thirty(
        &self,
        _: &Context,
        a1: i32,
        a2: i32,
        a3: i32,
        a4: i32,
        a5: i32,
        a6: i32,
        a7: i32,
        a8: i32,
        a9: i32,
        a10: i32,
        a11: i32,
        a12: i32,
        a13: i32,
        a14: i32,
        a15: i32,
        a16: i32,
        a17: i32,
        a18: i32,
        a19: i32,
        a20: i32,
        a21: i32,
        a22: i32,
        a23: i32,
        a24: i32,
        a25: i32,
        a26: i32,
        a27: i32,
        a28: i32,
        a29: i32,
        a30: i32,
    ) -> Result<i32, Status> {
        let all = [
            a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21,
            a22, a23, a24, a25, a26, a27, a28, a29, a30,
        ];
        Ok(all.into_iter().zip(1..).map(|(value, place)| value * place).sum())
    }

    async fn unordered(
        &self,
        _: &Context,
        third: String,
        first: String,
        second: String,
    ) -> Result<String, Status> {
        Ok(format!("{first} {second} {third}"))
    }

    async fn without_ids(&self, _: &Context, a: String, b: String) -> Result<String, Status> {
        Ok(a + &b)
    }
}

#[tokio::test]
async fn methods_of_every_shape() -> Result<(), Error> {
    let server = ShapesServer::new(Every);
    let binary = ShapesClient::with_codec(Binary, routes(Binary, server.clone()));
    binary.nothing().await?;
    binary.shout().await?;
    let sum = binary
        .thirty(
            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
            27, 28, 29, 30,
        )
        .await?;
    assert_eq!(sum, (1..=30).map(|n| n * n).sum::<i32>());
    assert_eq!(binary.unordered("c".into(), "a".into(), "b".into()).await?, "a b c");
    assert_eq!(binary.without_ids("a".into(), "b".into()).await?, "ab");
    let msgpack = ShapesClient::with_codec(MsgPack::new(), routes(MsgPack::new(), server));
    assert_eq!(msgpack.unordered("c".into(), "a".into(), "b".into()).await?, "a b c");
    msgpack.nothing().await?;
    msgpack.shout().await
}

#[test]
fn a_service_without_methods() {
    assert_eq!(<ChildServer<Every> as NamedService<Binary>>::NAME, "Child");
    let _ = routes(Binary, ChildServer::new(Every));
}

#[test]
fn fields_are_written_by_id_and_parameters_by_place() {
    let args = UnorderedArgs { third: "c".into(), first: "a".into(), second: "b".into() };
    let bytes = hex("0b 00 01 00 00 00 01 61 0b 00 02 00 00 00 01 62 0b 00 03 00 00 00 01 63 00");
    assert_eq!(encode(Binary, Place::Arguments, &args).unwrap(), bytes);
    assert_eq!(encode(MsgPack::new(), Place::Arguments, &args).unwrap(), hex("93 a1 63 a1 61 a1 62"));
    let error = decode::<_, UnorderedArgs>(Binary, Place::Arguments, hex("00")).unwrap_err();
    assert_eq!(error.to_string(), "cannot decode: missing required field `unordered_args.second`");
    assert_eq!(error.kind(), DecodeErrorKind::Missing);
}

#[test]
fn ids_that_are_not_written_descend_from_minus_one() {
    let args = WithoutIdsArgs { a: "a".into(), b: "b".into() };
    let bytes = hex("0b ff fe 00 00 00 01 62 0b ff ff 00 00 00 01 61 00");
    assert_eq!(encode(Binary, Place::Arguments, &args).unwrap(), bytes);
    assert_eq!(decode(Binary, Place::Arguments, bytes), Ok(args));
    let fields = WithoutIds { a: 1, b: 2, c: 3, d: 4 };
    let bytes = hex("08 ff fd 00000004 08 ff fe 00000002 08 ff ff 00000001 08 00 05 00000003 00");
    assert_eq!(encode(Binary, Place::Item, &fields).unwrap(), bytes);
    assert_eq!(decode(Binary, Place::Item, bytes), Ok(fields));
}

#[tokio::test]
async fn an_answer_that_has_no_representation_is_an_internal_error() {
    use codegen_tests::thrift::probe::{
        Bag, Probe, ProbeClient, ProbePokeError, ProbeServer, ProbeSwapError, Shape, Tree,
    };
    struct Bad;
    impl Probe for Bad {
        async fn echo(&self, _: &Context, text: String) -> Result<String, Status> {
            Ok(text)
        }
        async fn swap(&self, _: &Context, _: Bag) -> Result<Bag, ProbeSwapError> {
            Ok(Bag { shape: Some(Shape::Unknown(9)), ..Bag::default() })
        }
        async fn grow(&self, _: &Context, _: Tree) -> Result<i32, Status> {
            Ok(0)
        }
        async fn poke(&self, _: &Context, _: i32) -> Result<(), ProbePokeError> {
            Ok(())
        }
        async fn nap(&self, _: &Context, millis: i32) -> Result<i64, Status> {
            Ok(millis.into())
        }
        async fn fire(&self, _: &Context, _: String) -> Result<(), Status> {
            Ok(())
        }
    }
    let client = ProbeClient::with_codec(Binary, routes(Binary, ProbeServer::new(Bad)));
    match client.swap(Bag::default()).await {
        Err(ProbeSwapError::Other(error)) => assert_eq!(error.code(), Code::Internal),
        other => panic!("{other:?}"),
    }
}
