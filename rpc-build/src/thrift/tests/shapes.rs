//! Boxes, finite defaults, and what types contain.

use super::*;

fn boxed(model: &Model, name: &str) -> Vec<bool> {
    structure(model, name).fields.iter().map(|field| field.boxed).collect()
}

#[test]
fn only_direct_cycles_are_boxed() {
    let (model, _) = accept(
        "struct Tree { 1: optional Tree left, 2: list<Tree> kids, 3: set<Tree> s, 4: map<i32, Tree> m, 5: Leaf leaf }\n\
         struct Leaf { 1: i32 a }\n\
         typedef B Bee\n\
         struct A { 1: optional Bee b, 2: Leaf leaf } struct B { 1: optional C c } struct C { 1: optional A a, 2: A d }\n\
         union U { 1: U u, 2: list<U> us, 3: i32 n }\n\
         exception X { 1: optional X cause }",
    );
    assert_eq!(boxed(&model, "Tree"), [true, false, false, false, false]);
    assert_eq!(boxed(&model, "A"), [true, false]);
    assert_eq!(boxed(&model, "B"), [true]);
    assert_eq!(boxed(&model, "C"), [true, true]);
    assert_eq!(boxed(&model, "U"), [true, false, false]);
    assert_eq!(boxed(&model, "X"), [true]);
}

#[test]
fn cycles_across_files_are_found_through_the_one_that_includes() {
    let files = Memory::new(&[
        ("a.thrift", "include 'b.thrift'\nstruct A { 1: optional b.B b } struct C { 1: optional A a }"),
        ("b.thrift", "struct B { 1: optional B b }"),
    ]);
    let model = check(&files).unwrap().model;
    assert_eq!(
        (boxed(&model, "A"), boxed(&model, "B"), boxed(&model, "C")),
        (vec![false], vec![true], vec![false])
    );
}

#[test]
fn the_default_of_a_union_is_one_that_ends() {
    let (model, _) = accept(
        "union First { 1: i32 a, 2: string b }\n\
         union Given { 1: i32 a, 2: string b = 'x' }\n\
         union Itself { 1: Itself a, 2: string b }\n\
         union Through { 1: Wrap a, 2: i32 b } struct Wrap { 1: required Through t }\n\
         union Lists { 1: list<Lists> a }\n\
         union Deep { 1: Inner a } union Inner { 1: Deep d, 2: i32 n }\n\
         union Empty {}",
    );
    let chosen = |name: &str| structure(&model, name).default_variant;
    assert_eq!(chosen("First"), Some(0));
    assert_eq!(chosen("Given"), Some(1));
    assert_eq!(chosen("Itself"), Some(1));
    assert_eq!(chosen("Through"), Some(1));
    assert_eq!(chosen("Lists"), Some(0));
    assert_eq!((chosen("Deep"), chosen("Inner")), (Some(0), Some(1)));
    assert_eq!(chosen("Empty"), None);
}

#[test]
fn types_without_a_finite_default_are_refused() {
    let message = |text: &str| refuse(text).join("\n");
    assert!(
        message("struct A { 1: required A a }")
            .contains("1:8: a value of this type would have no end: `A` → `A`")
    );
    let found = message("struct A { 1: required B b } struct B { 1: required A a }");
    assert!(found.contains("`A` → `B` → `A`"), "{found}");
    assert!(message("union U { 1: U u }").contains("`U` → `U`"));
    assert!(message("struct A { 1: optional A a = {}, 2: i32 b }").contains("`A` → `A`"));
    assert!(message("struct A { 1: list<A> a = [{}] }").contains("`A` → `A`"));
    assert!(
        message("union U { 1: U u = {'n': 1}, 2: S s } struct S { 1: required U u }")
            .contains("no field `n`")
    );
}

#[test]
fn recursion_that_ends_is_accepted() {
    accept("struct A { 1: A a, 2: optional A b, 3: list<A> c = [], 4: i32 n }");
    accept("struct A { 1: list<A> a = [{'a': [], 'n': 1}], 2: i32 n }");
    accept("struct Node { 1: required Next next } union Next { 1: Node node, 2: bool end }");
}

#[test]
fn what_types_contain() {
    let (model, _) = accept(
        "typedef double Real\n\
         struct Float { 1: Real r } struct Holds { 1: list<Float> f } struct Plain { 1: i32 a }\n\
         struct Table { 1: set<i32> s } struct HasTable { 1: Table t }\n\
         struct Key { 1: Part p } struct Part {}\n\
         struct Uses { 1: map<list<Key>, Plain> m }\n\
         struct Arg {} service V { set<Arg> f() }\n\
         union Loop { 1: Loop l, 2: double d }",
    );
    let facts = |name: &str| type_def(&model, name).facts;
    for (name, floats) in [("Real", true), ("Float", true), ("Holds", true), ("Plain", false), ("Loop", true)]
    {
        assert_eq!(facts(name).floats, floats, "{name}");
    }
    for (name, tables) in [("Table", true), ("HasTable", true), ("Plain", false), ("Uses", true)] {
        assert_eq!(facts(name).tables, tables, "{name}");
    }
    for (name, key) in [("Key", true), ("Part", true), ("Plain", false), ("Uses", false), ("Arg", true)] {
        assert_eq!(facts(name).key, key, "{name}");
    }
}
