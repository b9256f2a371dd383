//! What is wrong, and where the report says so.

use super::*;

/// Each text gives exactly one report, which starts as given.
fn one_each(cases: &[(&str, &str)]) {
    for (text, start) in cases {
        let found = refuse(text);
        assert!(found.len() == 1 && found[0].starts_with(start), "{text}\nexpected {start}\ngot {found:#?}");
    }
}

#[test]
fn names() {
    one_each(&[
        (
            "struct S { 1: Innr a } struct Inner {}",
            "a.thrift:1:15: unknown type `Innr` (did you mean `Inner`?)",
        ),
        ("struct S { 1: int a }", "a.thrift:1:15: unknown type `int` (did you mean `i32`?)"),
        (
            "struct S { 1: String a }",
            "a.thrift:1:15: unknown type `String` (the names of base types are in lower case)",
        ),
        ("struct S { 1: u32 a }", "a.thrift:1:15: unknown type `u32` (Thrift has no unsigned integers)"),
        (
            "include 'shared.thrift'\nstruct S { 1: Point a }",
            "a.thrift:2:15: unknown type `Point` (did you mean `shared.Point`?)",
        ),
        (
            "include 'shared.thrift'\nstruct S { 1: shraed.Point a }",
            "a.thrift:2:15: unknown type `shraed.Point` (no included file is called `shraed`; did you mean `shared`?)",
        ),
        (
            "include 'sub/other.thrift'\nstruct S { 1: shared.Point a }",
            "a.thrift:2:15: unknown type `shared.Point` (this file has to include `shared.thrift` itself)",
        ),
        ("service A {} struct S { 1: A a }", "a.thrift:1:28: `A` is a service, not a type"),
        ("service B extends A {} struct A {}", "a.thrift:1:19: `A` is a type, not a service"),
        (
            "service B extends Bse {} service Base {}",
            "a.thrift:1:19: unknown service `Bse` (did you mean `Base`?)",
        ),
        ("struct S {} enum S {}", "a.thrift:1:18: the type `S` is declared twice"),
        ("struct S {} service S {}", "a.thrift:1:21: the type `S` is declared twice"),
        ("const i32 A = 1 const i32 A = 2", "a.thrift:1:27: the constant `A` is declared twice"),
        ("enum E { A, A }", "a.thrift:1:13: the value `A` is declared twice"),
        ("struct a.b {}", "a.thrift:1:8: `a.b` can not be declared: it contains a dot"),
        ("struct list {}", "a.thrift:1:8: `list` is a keyword and can not name a definition"),
    ]);
}

#[test]
fn ids_and_fields() {
    one_each(&[
        ("struct S { 0: i32 a }", "a.thrift:1:12: 0 can not be the id of a field"),
        ("struct S { 32768: i32 a }", "a.thrift:1:12: the id 32768 does not fit 16 bits"),
        ("struct S { 1: i32 a, 1: i32 b }", "a.thrift:1:22: the id 1 of `b` is taken"),
        ("struct S { 1: i32 a, 2: i32 a }", "a.thrift:1:29: the field `a` is declared twice"),
        ("enum E { A = 2147483648 }", "a.thrift:1:14: 2147483648 does not fit an enum"),
        ("enum E { A = 2147483647, B }", "a.thrift:1:26: 2147483648 does not fit an enum"),
        ("union U { 1: i32 a = 1, 2: i32 b = 2 }", "a.thrift:1:32: a union can have only one default"),
        ("service V { void f(0: i32 a) }", "a.thrift:1:20: 0 can not be the id of a field"),
    ]);
    let many: String = (0..=32768).map(|index| format!("i32 f{index}\n")).collect();
    let found = refuse(&format!("struct S {{\n{many}}}"));
    assert!(found[1].starts_with("a.thrift:32770:5: the id -32769 does not fit 16 bits"), "{found:?}");
}

#[test]
fn services() {
    one_each(&[
        ("service V { oneway i32 f() }", "a.thrift:1:20: the oneway method `f` has a result"),
        (
            "exception E {} service V { oneway void f() throws (1: E e) }",
            "a.thrift:1:57: the oneway method `f` throws",
        ),
        ("struct E {} service V { void f() throws (1: E e) }", "a.thrift:1:45: `E` is not an exception"),
        ("service V { void f() throws (1: i32 e) }", "a.thrift:1:33: `i32` is not an exception"),
        ("service V { void f() void f() }", "a.thrift:1:27: the method `f` is declared twice"),
        (
            "service B extends A { void f() } service A { void f() }",
            "a.thrift:1:28: the method `f` is inherited from `A`",
        ),
        ("service A extends A {}", "a.thrift:1:9: this service extends itself: `A` → `A`"),
        (
            "service A extends B {} service B extends A {}",
            "a.thrift:1:9: this service extends itself: `A` → `B` → `A`",
        ),
        (
            "service V { stream<i32> f() }",
            "a.thrift:1:13: `stream` is not a container (Thrift's language has no streams",
        ),
        ("service V { void f(1: void x) }", "a.thrift:1:23: expected a type, found the keyword `void`"),
        (
            "service V { void f(1: i32 x throws () }",
            "a.thrift:1:29: expected `)` to end the arguments of `f`",
        ),
    ]);
    let lines: String =
        (0..200).map(|index| format!("service S{} extends S{index} {{}}\n", index + 1)).collect();
    let found = refuse(&format!("service S0 {{}}\n{lines}"));
    assert!(found[0].starts_with("a.thrift:65:9: this service extends too many others"), "{}", found[0]);
}

#[test]
fn typedefs() {
    one_each(&[
        ("typedef A A", "a.thrift:1:11: this typedef leads back to itself: `A` → `A`"),
        (
            "typedef B A\ntypedef list<A> B\nstruct S { 1: A a = 5 }",
            "a.thrift:1:11: this typedef leads back to itself",
        ),
        (
            "typedef Nothing A\nconst A X = 'x'\nservice V { void f() throws (1: A a) }",
            "a.thrift:1:9: unknown type `Nothing`",
        ),
    ]);
    let doubling: String =
        (0..200).map(|index| format!("typedef map<T{index}, T{index}> T{}\n", index + 1)).collect();
    let found = refuse(&format!("typedef i32 T0\n{doubling}"));
    assert!(
        found[0].starts_with("a.thrift:11:21: this type is too large when all typedefs are expanded"),
        "{}",
        found[0]
    );
    let deep: String = (0..200).map(|index| format!("typedef list<T{index}> T{}\n", index + 1)).collect();
    let found = refuse(&format!("typedef i32 T0\n{deep}"));
    assert!(found[0].starts_with("a.thrift:65:19: this type is too large"), "{}", found[0]);
}

#[test]
fn values() {
    one_each(&[
        ("const i8 A = 300", "a.thrift:1:14: 300 does not fit `i8` (`i8` ranges from -128 to 127)"),
        ("const i32 A = 2147483648", "a.thrift:1:15: 2147483648 does not fit `i32`"),
        ("const i32 A = 9223372036854775808", "a.thrift:1:15: this integer does not fit 64 bits"),
        ("const bool A = 2", "a.thrift:1:16: 2 is no `bool`"),
        ("const i32 A = 1.5", "a.thrift:1:15: expected a value of type `i32`, found a double"),
        (
            "const string A = 5",
            "a.thrift:1:18: expected a value of type `string`, found an integer (write it in quotes)",
        ),
        ("const list<i32> A = [1, 'x']", "a.thrift:1:25: expected a value of type `i32`, found a string"),
        ("const set<i32> A = {1: 2}", "a.thrift:1:20: expected a value of type `set<i32>`, found a map"),
        (
            "const map<i32, string> A = {1: 2}",
            "a.thrift:1:32: expected a value of type `string`, found an integer",
        ),
        ("const uuid A = 'x'", "a.thrift:1:16: this is no UUID"),
        ("enum E { A = 1 } const E X = 2", "a.thrift:1:30: 2 is no value of the enum `E`"),
        (
            "enum E { ALPHA } const E X = ALHPA",
            "a.thrift:1:30: unknown enum value or constant `ALHPA` (did you mean `ALPHA`?)",
        ),
        (
            "enum E { A } enum F { B } const E X = F.B",
            "a.thrift:1:39: expected a value of type `E`, found a value of the enum `F`",
        ),
        (
            "const i32 LIMIT = 1 const i32 B = LIMT",
            "a.thrift:1:35: unknown constant `LIMT` (did you mean `LIMIT`?)",
        ),
        ("const i32 A = B const i32 B = A", "a.thrift:1:11: this constant refers to itself"),
        ("const i64 A = 5000000000 const i32 B = A", "a.thrift:1:40: 5000000000 does not fit `i32`"),
        (
            "const string A = 'x' const i32 B = A",
            "a.thrift:1:36: expected a value of type `i32`, found a string",
        ),
        (
            "struct S { 1: i32 size } const S A = {'sise': 1}",
            "a.thrift:1:39: `S` has no field `sise` (did you mean `size`?)",
        ),
        ("struct S { 1: i32 a } const S A = {'a': 1, 'a': 2}", "a.thrift:1:44: the field `a` is given twice"),
        (
            "struct S { 1: i32 a } const S A = {a: 1}",
            "a.thrift:1:36: expected the name of a field of `S` (write it in quotes)",
        ),
        ("union U { 1: i32 a, 2: i32 b } const U A = {}", "a.thrift:1:44: a union holds one field, not 0"),
        (
            "union U { 1: i32 a, 2: i32 b } const U A = {'a': 1, 'b': 1}",
            "a.thrift:1:44: a union holds one field, not 2",
        ),
        ("struct S { 1: i16 a = 70000 }", "a.thrift:1:23: 70000 does not fit `i16`"),
        (
            "service V { void f(1: bool a = 'x') }",
            "a.thrift:1:32: expected a value of type `bool`, found a string",
        ),
        (
            "include 'shared.thrift'\nconst i8 A = shared.LIMITS",
            "a.thrift:2:14: unknown constant `shared.LIMITS` (did you mean `shared.LIMIT`?)",
        ),
    ]);
    let all = refuse("const list<i8> A = [1000, 2, 'x', 3000]");
    assert_eq!(all.len(), 3, "every wrong element is reported: {all:?}");
}

#[test]
fn constants_that_grow_without_end() {
    let doubling: String = (0..40)
        .map(|index| {
            format!(
                "const list<list<i32>> A{} = [B{index}, B{index}]\nconst list<i32> B{} = [1]\n",
                index + 1,
                index + 1
            )
        })
        .collect();
    accept(&format!("const list<i32> B0 = [1]\n{doubling}"));
    let wide = vec!["1"; 2000].join(",");
    let many = vec!["A"; 2000].join(",");
    let found = refuse(&format!("const list<i32> A = [{wide}]\nconst list<list<i32>> B = [{many}]"));
    assert!(
        found.len() == 1 && found[0].contains("constants are too large when all names are expanded"),
        "{found:?}"
    );
    let chain: String = (0..100).map(|index| format!("const i32 A{index} = A{}\n", index + 1)).collect();
    let found = refuse(&format!("{chain}const i32 A100 = 1"));
    assert!(found.len() == 1 && found[0].contains("too many constants refer to later ones"), "{found:?}");
    let chain: String = (0..10_000).map(|index| format!("const i32 A{} = A{index}\n", index + 1)).collect();
    accept(&format!("const i32 A0 = 1\n{chain}"));
}

#[test]
fn grammar() {
    one_each(&[
        ("strcut S { 1: i32 a }", "a.thrift:1:1: unknown keyword `strcut` (did you mean `struct`?)"),
        ("senum E { 'a' }\nstruct S {}", "a.thrift:1:1: `senum` is not supported"),
        ("php_namespace x\nstruct S {}", "a.thrift:1:1: `php_namespace` was removed from Thrift"),
        ("struct S xsd_all { 1: i32 a }\nstruct T {}", "a.thrift:1:10: `xsd_all` is not supported"),
        ("struct S { 1: i32 a xsd_optional, 2: i32 b }", "a.thrift:1:21: `xsd_optional` is not supported"),
        ("struct S { 1: i32 a\nstruct T { 1: i32 b }", "a.thrift:2:1: expected `}` to end struct `S`"),
        ("struct S { 1: i32 a", "a.thrift:1:19: expected `}` to end struct `S`"),
        ("struct S { 1 i32 a }", "a.thrift:1:14: expected `:` behind the id of a field, found `i32`"),
        ("struct S { 1: i32 }", "a.thrift:1:19: expected the name of the field, found `}`"),
        (
            "struct S { 1: map<i32> a }",
            "a.thrift:1:22: expected `,` between the key and the value of a map, found `>`",
        ),
        (
            "struct S { 1: vector<i32> a }",
            "a.thrift:1:15: `vector` is not a container (did you mean `list`?)",
        ),
        ("struct S {} }\nstruct T {}", "a.thrift:1:13: expected a definition"),
        ("enum E { A = x }", "a.thrift:1:14: expected an integer, found `x`"),
        ("const i32 A 5", "a.thrift:1:13: expected `=` and the value of the constant, found `5`"),
        (
            "const list<i32> A = [1, ",
            "a.thrift:1:23: expected `]` to end this list, found the end of the file",
        ),
        ("struct S {}\nnamespace rs x", "a.thrift:2:1: `namespace` stands behind a definition"),
        ("const string A = 'abc\nconst i32 B = 1", "a.thrift:1:18: this string is never closed"),
        ("struct S { 1: i32 a } /* b", "a.thrift:1:23: this comment is never closed"),
        ("import 'shared.thrift'", "a.thrift:1:1: unknown keyword `import` (did you mean `include`?)"),
        ("struct S { 1: i32 a /* b }", "a.thrift:1:21: this comment is never closed"),
        ("struct S { 1: i32 é, 2: i32 b }", "a.thrift:1:19: unexpected `é`"),
        ("struct S { 1: i32 a @ }", "a.thrift:1:21: unexpected `@`"),
    ]);
}

#[test]
fn one_run_finds_errors_of_all_kinds_in_all_files() {
    let files = Memory::new(&[
        (
            "a.thrift",
            "include 'b.thrift'\n\
             struct S { 1: i32, 2: strng b, 3: i32 c = 'x' }\n\
             enum E { A, B = , C }\n\
             service V { void f(1: b.T t, 2: b.No n) throws (1: S s), i32 () , void g(2: i32 a) }\n\
             wrong\n\
             const i8 X = 1000\n",
        ),
        ("b.thrift", "struct T { 1: i32 a = }\nstruct T {}\n"),
    ]);
    let found = refuse_files(&files);
    let places: Vec<&str> = found.iter().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(
        places,
        [
            "a.thrift:2:18",
            "a.thrift:2:23",
            "a.thrift:2:43",
            "a.thrift:3:17",
            "a.thrift:4:33",
            "a.thrift:4:52",
            "a.thrift:4:65",
            "a.thrift:5:1",
            "a.thrift:6:14",
            "b.thrift:1:23",
            "b.thrift:2:8",
        ],
        "{found:#?}"
    );
}

#[test]
fn nothing_is_said_of_names_from_a_file_that_is_missing() {
    one_each(&[(
        "include 'gone.thrift'\nstruct S { 1: gone.T a, 2: i32 b = gone.C }\nservice V extends gone.W { gone.T f() }",
        "a.thrift:1:9: there is no file `gone.thrift`",
    )]);
}

#[test]
fn equal_stems_that_declare_the_same_name_are_ambiguous() {
    let files = Memory::new(&[
        ("a.thrift", "include 'x/same.thrift' include 'y/same.thrift'\nstruct S { 1: same.A a }"),
        ("x/same.thrift", "struct A {}"),
        ("y/same.thrift", "struct A {}"),
    ]);
    let found = refuse_files(&files);
    assert_eq!(found, ["a.thrift:2:15: `same.A` has several meanings (rename one of the included files)"]);
}
