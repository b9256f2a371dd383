//! Types that Apache's compiler generated for Rust, where the peer is hostile. Real peers: `matrix`.
#![allow(clippy::unwrap_used, reason = "tests")]

use rpc::thrift::apache;
use rpc::{Bytes, Client, Code, RequestHead, Router, Server};
use tests_peers::peers::apache_rust::{Echo, OfTheirTypes, echo_requests};

/// A peer's count takes no memory, and a broken request costs itself alone.
#[tokio::test]
async fn a_hostile_request_is_answered() {
    let services = || Router::new().add(OfTheirTypes::default());
    let listening = Server::new().accept(apache::framed(), services()).listen("127.0.0.1:0").await.unwrap();
    let address = listening.local_addr().unwrap().to_string();
    let serving = tokio::spawn(listening.serve());
    let client = Client::new(rpc::mux::connect(&address, apache::framed()).await.unwrap());
    // Field 1, the request; its field 19, a list of two billion structs.
    let body = Bytes::from_static(&[12, 0, 1, 15, 0, 19, 12, 0x7f, 0xff, 0xff, 0xff, 0, 0]);
    let head = RequestHead { method: "echo".into(), ..RequestHead::default() };
    let status = client.call_raw(head, body).await.unwrap().head.status.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().contains("2147483647"), "{status:?}");
    let (_, minimal) = echo_requests().swap_remove(1);
    client.call::<Echo>(&minimal).await.unwrap().unwrap();
    serving.abort();
}
