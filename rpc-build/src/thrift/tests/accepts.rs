//! What is legal, and what the model makes of it.

use super::super::model::{Answer, Item, Requiredness, StructKind, TypeKind, Value};
use super::*;

#[test]
fn torture_is_accepted() {
    let (model, warnings) = accept(TORTURE);
    assert_eq!(warnings, Vec::<String>::new());
    let module = &model.modules()[0];
    assert_eq!(module.path, ["a", "torture", "type"]);
    assert_eq!(module.docs.as_deref(), Some("What the file is for."));
    assert_eq!(module.namespaces.len(), 4);
    assert_eq!(module.namespaces[1].annotations.get("two"), Some("1"));
    assert!(module.requested && !model.modules()[1].requested);
    assert_eq!(
        module.includes.iter().map(|id| model.module(*id).stem.as_str()).collect::<Vec<_>>(),
        ["shared", "other"]
    );
    assert_eq!(model.modules()[1].path, ["shared"]);
    assert_eq!(module.items.len(), 19);
    assert!(matches!(module.items[0], Item::Type(_)) && matches!(module.items[18], Item::Service(_)));
}

#[test]
fn torture_with_a_mark_and_carriage_returns_is_the_same() {
    let (plain, _) = accept(TORTURE);
    let (marked, warnings) = accept(&format!("\u{feff}{}", TORTURE.replace('\n', "\r\n")));
    assert_eq!(warnings, Vec::<String>::new());
    let names = |model: &Model| -> Vec<_> {
        model.types().iter().map(|found| (found.head.name.clone(), found.head.docs.clone())).collect()
    };
    assert_eq!(names(&plain), names(&marked));
}

#[test]
fn files_without_definitions_are_accepted() {
    for text in ["", "\u{feff}", "// only\n# comments\n/* here */", "/** docs */", "\r\n", ";;,"] {
        let (model, warnings) = accept(text);
        assert!(model.types().is_empty() && warnings.is_empty(), "{text:?}");
    }
}

#[test]
fn echo_is_accepted() {
    let (model, warnings) = accept(ECHO);
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(model.modules()[0].path, ["echo"]);
    let request = structure(&model, "EchoRequest");
    assert_eq!(request.fields.len(), 26);
    assert_eq!(request.fields[15].requiredness, Requiredness::Required);
    assert_eq!(request.fields[17].default, Some(Value::Int(42)));
    assert_eq!(request.fields[25].id, 300);
    assert_eq!(structure(&model, "Choice").kind, StructKind::Union);
    let echo = service(&model, "Echo");
    assert_eq!(method(echo, "ping").answer, Answer::None);
    assert_eq!(method(echo, "echo").throws.len(), 1);
}

#[test]
fn docs_and_annotations_stay_with_their_nodes() {
    let (model, _) = accept(TORTURE);
    let numbers = type_def(&model, "Numbers");
    assert_eq!(numbers.head.docs.as_deref(), Some("Numbers of all kinds.\n\n  - indented"));
    assert_eq!(numbers.head.annotations.get("over.several"), Some("lines"));
    let nested = type_def(&model, "Nested");
    assert_eq!(nested.head.docs, None);
    let keys: Vec<_> =
        nested.head.annotations.iter().map(|found| (found.key.as_str(), found.value.as_deref())).collect();
    assert_eq!(keys, [("a.b.c", Some("x")), ("empty", Some("")), ("plain", None)]);
    let Definition::Typedef(odd) = &type_def(&model, "Odd").definition else { panic!() };
    assert_eq!(
        (odd.annotations.get("python.immutable"), odd.annotations.get("cpp_type")),
        (Some(""), Some("std::set"))
    );
    let all = service(&model, "All");
    assert_eq!(all.head.docs.as_deref(), Some("Serves."));
    assert_eq!(all.head.annotations.get("deprecated"), Some("1"));
    assert_eq!(method(all, "plain").head.docs.as_deref(), Some("Does it."));
    assert_eq!(method(all, "many").head.annotations.get("ann"), Some("x"));
    assert_eq!(method(all, "many").args[1].head.annotations.get("x"), Some("y"));
    let Answer::Value(result) = &method(all, "union").answer else { panic!() };
    assert_eq!(result.annotations.get("type.ann"), Some("z"));
    let two = &enumeration(&model, "Numbers").values[2].head;
    assert_eq!((two.docs.as_deref(), two.annotations.get("a")), (Some("Two."), Some("b")));
}

#[test]
fn enum_values_are_numbered_as_written_or_on_from_the_last() {
    let (model, _) = accept(TORTURE);
    let numbers: Vec<(&str, i32)> = enumeration(&model, "Numbers")
        .values
        .iter()
        .map(|value| (value.head.name.as_str(), value.number))
        .collect();
    assert_eq!(
        numbers,
        [
            ("ZERO", 0),
            ("ONE", 1),
            ("TWO", 2),
            ("SEVEN", 7),
            ("EIGHT", 8),
            ("NEG", -5),
            ("NEXT", -4),
            ("HEX", 255),
            ("MIN", i32::MIN),
            ("MAX", i32::MAX)
        ]
    );
}

#[test]
fn a_number_twice_in_an_enum_is_a_warning() {
    let (model, warnings) = accept("enum E { A = 1, B = 0, C }");
    assert_eq!(enumeration(&model, "E").values[2].number, 1);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].starts_with("a.thrift:1:24: `C` is 1, as `A` is"), "{warnings:?}");
}

#[test]
fn defaults_have_the_type_of_their_field() {
    let (model, _) = accept(TORTURE);
    let fields = &structure(&model, "Defaults").fields;
    let value =
        |name: &str| fields.iter().find(|field| field.head.name == name).unwrap().default.clone().unwrap();
    assert_eq!(value("yes"), Value::Bool(true));
    assert_eq!(value("no"), Value::Bool(false));
    assert_eq!(value("tiny"), Value::Int(-128));
    assert_eq!(value("low"), Value::Int(i64::MIN));
    assert_eq!(value("whole"), Value::Double(3.0));
    assert_eq!(value("exp"), Value::Double(-0.0015));
    assert_eq!(value("point"), Value::Double(0.5));
    assert_eq!(value("single"), Value::String("say \"hi\"".to_owned()));
    assert_eq!(value("double_"), Value::String("it's\t\"\\\" é".to_owned()));
    assert_eq!(value("raw"), Value::Binary(b"bytes".to_vec()));
    let number = |value: Value| match value {
        Value::Enum(id, position) => match &model.type_def(id).definition {
            Definition::Enum(found) => (model.type_def(id).head.name.as_str(), found.values[position].number),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(number(value("by_name")), ("Numbers", 2));
    assert_eq!(number(value("by_path")), ("Numbers", -5));
    assert_eq!(number(value("by_number")), ("Numbers", 7));
    assert_eq!(number(value("far")), ("Color", 2));
    assert_eq!(number(value("alias")), ("Color", 1));
    assert_eq!(
        value("listed"),
        Value::List(vec![Value::Int(1), Value::Int(2), Value::Int(3), Value::Int(4)])
    );
    assert_eq!(value("words"), Value::Set(vec![Value::String("a".to_owned())]));
    assert_eq!(
        value("mapped"),
        Value::Map(vec![
            (Value::String("a".to_owned()), Value::List(vec![Value::Double(1.0), Value::Double(2.5)])),
            (Value::String("b".to_owned()), Value::List(vec![])),
        ])
    );
    let Value::Struct(_, point) = value("point_") else { panic!() };
    assert_eq!(point, [(0, Value::Int(1)), (1, Value::Int(100))]);
    assert_eq!(value("constant"), Value::Int(100));
    assert_eq!(value("number"), Value::Int(7));
    assert_eq!(value("maybe"), Value::Int(16));
    let Value::Uuid(id) = value("id") else { panic!() };
    assert_eq!(id[..4], [0x00, 0x11, 0x22, 0x33]);
    assert_eq!(id[15], 0xff);
}

#[test]
fn constants_refer_to_constants_of_any_file_and_order() {
    let (model, _) = accept(TORTURE);
    let value = |name: &str| &model.constants().iter().find(|found| found.head.name == name).unwrap().value;
    assert_eq!(*value("LATER"), Value::Int(16));
    assert_eq!(*value("D"), Value::Double(16.0));
    let (Value::Map(points), Value::List(pair)) = (value("POINTS"), value("PAIR")) else { panic!() };
    assert_eq!(points[1].1, pair[0]);
    assert!(matches!(points[0], (Value::Enum(_, 1), Value::Struct(..))));
}

#[test]
fn ids_that_are_not_written_count_down_with_one_warning_a_list() {
    let (model, warnings) =
        accept("struct S { i32 a, i32 b, 5: i32 c, -7: i32 d, i32 e }\nservice V { void f(i32 x) }");
    let ids: Vec<(i16, bool)> =
        structure(&model, "S").fields.iter().map(|field| (field.id, field.explicit_id)).collect();
    assert_eq!(ids, [(-1, false), (-2, false), (5, true), (-7, true), (-8, false)]);
    assert_eq!(method(service(&model, "V"), "f").args[0].id, -1);
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert!(warnings[0].starts_with("a.thrift:1:16: the field `a` and 2 more have no id"), "{warnings:?}");
    assert!(
        warnings[1].starts_with("a.thrift:1:36: the negative id -7 is not -3, to which ids count down here")
    );
    assert!(warnings[2].starts_with("a.thrift:2:24: the argument `x` has no id"), "{warnings:?}");
}

#[test]
fn old_spellings_are_warnings() {
    let (model, warnings) = accept(
        "include 'shared.thrift'\nstruct S { 1: slist a }\n\
         service V { async void f(1: optional i32 x) }\nunion U { 1: required i32 a }\n\
         const i32 ONE = true\nconst shared.Point P = {'y': 1}",
    );
    assert_eq!(structure(&model, "S").fields[0].ty.kind, TypeKind::String);
    assert_eq!(method(service(&model, "V"), "f").answer, Answer::None);
    assert_eq!(structure(&model, "U").fields[0].requiredness, Requiredness::Optional);
    let starts = [
        "a.thrift:2:15: `slist` is an old name",
        "a.thrift:3:13: `async` is an old name",
        "a.thrift:3:29: an argument can not be optional",
        "a.thrift:4:14: the fields of a union are optional",
        "a.thrift:5:17: `true` stands for 1 here",
        "a.thrift:6:24: the required field `x` of `Point` is missing",
    ];
    assert_eq!(warnings.len(), starts.len(), "{warnings:#?}");
    for (warning, start) in warnings.iter().zip(starts) {
        assert!(warning.starts_with(start), "{warning}");
    }
}

#[test]
fn empty_brackets_fit_every_container() {
    let (model, warnings) = accept("const list<i32> A = {} const set<i32> B = {} const map<i32, i32> C = []");
    let values: Vec<&Value> = model.constants().iter().map(|found| &found.value).collect();
    assert_eq!(values, [&Value::List(vec![]), &Value::Set(vec![]), &Value::Map(vec![])]);
    assert_eq!(warnings, Vec::<String>::new());
}

#[test]
fn only_the_last_part_of_an_enum_value_counts_but_other_parts_are_warned_of() {
    let (model, warnings) = accept(
        "include 'shared.thrift'\nenum E { A, RED }\nconst E X = Other.A\nconst shared.Color Y = Color.RED\n\
         const shared.Color Z = shared.GREEN\nconst shared.Color W = E.RED",
    );
    let values: Vec<&Value> = model.constants().iter().take(4).map(|found| &found.value).collect();
    assert!(matches!(
        values[..],
        [Value::Enum(_, 0), Value::Enum(_, 0), Value::Enum(_, 1), Value::Enum(_, 0)]
    ));
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    assert_eq!(warnings[0], "a.thrift:3:13: `Other.A` is taken for the value `A` of `E` (write `A`)");
}

#[test]
fn inherited_methods_come_with_the_lineage() {
    let (model, _) = accept(TORTURE);
    let all = model.services().iter().position(|found| found.head.name == "All").unwrap();
    let all = model.modules()[0].items.iter().find_map(|item| match item {
        Item::Service(id) if id.index() == all => Some(*id),
        _ => None,
    });
    let names: Vec<&str> =
        model.lineage(all.unwrap()).map(|(_, service)| service.head.name.as_str()).collect();
    assert_eq!(names, ["All", "Base"]);
}

#[test]
fn the_order_of_requests_changes_nothing() {
    let files = with_neighbours(TORTURE);
    let names = |requested: &[&str]| -> Vec<String> {
        let requested: Vec<_> = requested.iter().map(Into::into).collect();
        let checked = check_in(&files, &requested, &[]).unwrap();
        checked.sources.files().iter().map(|file| file.path().display().to_string()).collect()
    };
    assert_eq!(names(&["shared.thrift", "a.thrift"]), names(&["a.thrift", "shared.thrift"]));
}

#[test]
fn stems_with_dots_and_equal_stems_in_two_folders() {
    let mut files = Memory::new(&[
        ("v1.types.thrift", "struct T {}"),
        ("x/same.thrift", "struct A {}"),
        ("y/same.thrift", "struct B {}"),
    ]);
    let text = "include 'v1.types.thrift' include 'x/same.thrift' include 'y/same.thrift'\n\
                struct S { 1: v1.types.T t, 2: same.A a, 3: same.B b }";
    files.0.push(("a.thrift", text.as_bytes().to_vec()));
    let checked = check(&files).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(structure(&checked.model, "S").fields.len(), 3);
}
