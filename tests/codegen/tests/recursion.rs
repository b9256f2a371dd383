//! Types that contain themselves.

mod support;

use bytes::BytesMut;
use codegen_tests::thrift::recursion::recursion::{B, C};
use codegen_tests::thrift::recursion::{A, Chain, Containers, Either, Failure, Loop, Plain};
use rpc::msgpack::MsgPack;
use rpc::thrift::{Binary, Compact};
use rpc::{Encode, Place};
use std::collections::{BTreeMap, BTreeSet};
use support::round_trip;

#[test]
fn every_shape_goes_there_and_back() {
    let chain = Chain { next: Some(Box::new(Chain { next: None, value: 1 })), value: 2 };
    round_trip(&chain);
    // neither optional nor required, so it has to be optional for its default to end
    round_trip(&Plain { next: Some(Box::default()), value: 3 });
    let part = Containers::default();
    round_trip(&Containers {
        list: vec![part.clone()],
        set: BTreeSet::from([part.clone()]),
        map: BTreeMap::from([(1, part.clone())]),
        keys: BTreeMap::from([(part, 2)]),
    });
    round_trip(&A { b: B { c: Some(Box::new(C { b: Some(Box::default()), value: 4 })) } });
    round_trip(&Either::Inner(Box::new(Either::List(vec![Either::End(1)]))));
    assert_eq!(Either::default(), Either::End(0));
    round_trip(&Failure { cause: Some(Box::default()), message: "m".into() });
    let inner = Loop { again: None, many: vec![Loop::default()] };
    round_trip(&Loop { again: Some(Box::new(inner)), many: vec![] });
}

#[test]
fn a_chain_as_deep_as_can_be_read_is_handled_by_everything_derived() {
    let deepest = (1..64).fold(Chain::default(), |chain, value| Chain { next: Some(Box::new(chain)), value });
    round_trip(&deepest);
    assert_eq!(deepest.clone(), deepest);
    assert!(format!("{deepest:?}").len() > 64);
    assert_eq!(deepest.cmp(&Chain::default()), std::cmp::Ordering::Greater);
}

/// Far longer than anything that can be read. Writing says so; the types themselves go down such a chain by recursion, as their
/// documentation says, so it is taken apart link by link.
#[test]
fn a_chain_of_a_hundred_thousand_is_refused_and_taken_apart() {
    let mut chain =
        (1..100_000).fold(Chain::default(), |chain, value| Chain { next: Some(Box::new(chain)), value });
    let mut dst = BytesMut::new();
    assert!(Binary.encode(Place::Item, &chain, &mut dst).is_err());
    assert!(Compact.encode(Place::Item, &chain, &mut dst).is_err());
    assert!(MsgPack::new().encode(Place::Item, &chain, &mut dst).is_err());
    let mut links = 1;
    while let Some(next) = chain.next.take() {
        chain = *next;
        links += 1;
    }
    assert_eq!(links, 100_000);
}

/// What the documentation says of dropping: thousands of links are no matter, even on the small stack of a thread.
#[test]
fn a_chain_of_five_thousand_is_dropped_on_a_stack_of_two_megabytes() {
    let chain =
        (1..5_000).fold(Chain::default(), |chain, value| Chain { next: Some(Box::new(chain)), value });
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread.spawn(move || drop(chain)).unwrap().join().unwrap();
}
