//! Every type as the key of a map and as the element of a set.
#![allow(clippy::unwrap_used)]

mod support;

use codegen_tests::thrift::keys::{Choice, DOUBLES, Kind, Maps, PLACES, Point, SCORES, Sets, Simple};
use rpc::Bytes;
use rpc::thrift::{Double, Uuid};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use support::round_trip;

fn point(x: f64) -> Point {
    Point {
        x: x.into(),
        y: None,
        more: BTreeSet::from([Double(-0.0), Double(0.0), Double(f64::INFINITY)]),
        names: BTreeMap::from([("a".to_owned(), Double(x))]),
    }
}

fn binary() -> [Bytes; 2] {
    [Bytes::new(), Bytes::from_static(b"\xff\x00")]
}

fn texts() -> [String; 2] {
    [String::new(), "é".to_owned()]
}

fn choices() -> [Choice; 3] {
    let lists = vec![BTreeSet::from([1, 2]), BTreeSet::new()];
    [Choice::Number(0.5.into()), Choice::Point(point(2.0)), Choice::Lists(lists)]
}

fn simples() -> [Simple; 2] {
    [Simple { a: 1, b: "b".into() }, Simple::default()]
}

fn tables() -> [BTreeMap<BTreeSet<i32>, i32>; 2] {
    [BTreeMap::new(), BTreeMap::from([(BTreeSet::from([1]), 2)])]
}

fn map<K: Eq + Hash, const N: usize, M: FromIterator<(K, i32)>>(keys: [K; N]) -> M {
    keys.into_iter().zip(0..).collect()
}

fn maps() -> Maps {
    Maps {
        bools: map([true, false]),
        bytes: map([i8::MIN, i8::MAX]),
        longs: map([i64::MIN, i64::MAX]),
        doubles: map([0.0, -0.0, 1.5, f64::INFINITY].map(Double)),
        strings: map(texts()),
        binaries: map(binary()),
        uuids: map([Uuid::default(), Uuid([7; 16])]),
        kinds: map([Kind::NONE, Kind::SOME, Kind(99)]),
        points: map([point(1.0), point(-1.0)]),
        lists: map([vec![], vec![1, 2]]),
        sets: map([BTreeSet::new(), BTreeSet::from([1, 2])]),
        maps: map([BTreeMap::new(), BTreeMap::from([(1, Double(2.5))])]),
        choices: map(choices()),
        scores: map([Double(1.0)]),
        many_scores: map([vec![Double(1.0), Double(2.0)], vec![]]),
        tables: map(tables()),
        names: map(texts()),
        places: map([point(3.0)]),
        simples: map(simples()),
        nested: [(BTreeMap::from([(BTreeSet::from([1]), 2)]), vec![1.5, 2.5])].into(),
    }
}

#[test]
fn maps_with_every_key() {
    round_trip(&maps());
    round_trip(&Maps::default());
}

#[test]
fn sets_of_everything() {
    round_trip(&Sets {
        bools: [true, false].into(),
        bytes: [1, -1].into(),
        longs: [i64::MIN].into(),
        doubles: [1.5, -1.5].map(Double).into(),
        strings: texts().into(),
        binaries: binary().into(),
        uuids: [Uuid([1; 16])].into(),
        kinds: [Kind::SOME, Kind(-5)].into(),
        points: [point(1.0)].into(),
        lists: [vec![1], vec![]].into(),
        sets: [BTreeSet::from([1]), BTreeSet::new()].into(),
        maps: [BTreeMap::from([(1, Double(1.0))])].into(),
        choices: choices().into(),
        scores: [Double(0.25)].into(),
        many_scores: [vec![Double(0.25)]].into(),
        tables: tables().into(),
        names: texts().into(),
        places: [point(9.0)].into(),
        simples: simples().into(),
    });
}

#[test]
fn a_nan_is_found_again() {
    let maps = Maps { doubles: [(Double(f64::NAN), 1)].into(), ..Maps::default() };
    assert_eq!(maps.doubles.get(&Double(f64::NAN)), Some(&1));
    round_trip(&maps);
}

#[test]
fn constants_with_such_keys() {
    assert_eq!(DOUBLES.get(&Double(1.5)), Some(&vec![2.5]));
    assert_eq!(DOUBLES.get(&Double(-1.0)), Some(&vec![]));
    let (place, name) = PLACES.iter().next().unwrap();
    assert_eq!((place.x, name.as_str()), (Double(1.0), "here"));
    assert_eq!(SCORES.len(), 2, "equal elements count once");
}
