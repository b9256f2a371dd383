//! Whole reports, as an author of a schema sees them.

use super::*;

/// The report of a text, which has one error, without the line that counts errors.
fn report(files: &Memory) -> String {
    let text = check(files).unwrap_err().to_string();
    text.strip_suffix("\n1 error in the schemas").unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[test]
fn a_misspelt_type() {
    let files =
        with_neighbours("struct Inner {\n  1: i32 id\n}\nstruct S {\n  // a comment\n  2: Iner inner\n}\n");
    assert_eq!(
        report(&files),
        "  × unknown type `Iner`
   ╭─[a.thrift:6:6]
 5 │   // a comment
 6 │   2: Iner inner
   ·      ──┬─
   ·        ╰── neither in this file nor in one that it includes
 7 │ }
   ╰────
  help: did you mean `Inner`?
"
    );
}

#[test]
fn a_missing_brace() {
    let files = with_neighbours("enum E { A }\n\nstruct S {\n  1: i32 a,\n\nservice V {}\n");
    assert_eq!(
        report(&files),
        "  × expected `}` to end struct `S`
   ╭─[a.thrift:6:1]
 2 │
 3 │ struct S {
   ·          ┬
   ·          ╰── opened here
 4 │   1: i32 a,
 5 │
 6 │ service V {}
   · ───┬───
   ·    ╰── `}` is missing before this
   ╰────
  help: add `}` behind the last member
"
    );
}

#[test]
fn a_default_of_the_wrong_type_in_an_included_file() {
    let files = Memory::new(&[
        ("a.thrift", "include 'lib/b.thrift'\n"),
        (
            "lib/b.thrift",
            "typedef i16 Port\r\nstruct Peer {\r\n  1: string host = 'localhost'\r\n  2: Port port = 65536 (unit = 'none')\r\n}\r\n",
        ),
    ]);
    assert_eq!(
        report(&files),
        "  × 65536 does not fit `i16`
   ╭─[lib/b.thrift:4:18]
 3 │   1: string host = 'localhost'
 4 │   2: Port port = 65536 (unit = 'none')
   ·                  ──┬──
   ·                    ╰── out of range
 5 │ }
   ╰────
  help: `i16` ranges from -32768 to 32767
"
    );
}

#[test]
fn files_that_include_each_other() {
    let files =
        Memory::new(&[("a.thrift", "include 'b.thrift'\n"), ("b.thrift", "// b\ninclude 'a.thrift'\n")]);
    assert_eq!(
        report(&files),
        "  × files include each other: a.thrift → b.thrift → a.thrift
   ╭─[a.thrift:1:9]
 1 │ include 'b.thrift'
   ·         ─────┬────
   ·              ╰── includes `b.thrift`
   ╰────
  help: move what both files need into a third

Advice:
  ☞ which includes `a.thrift`
   ╭─[b.thrift:2:9]
 1 │ // b
 2 │ include 'a.thrift'
   ·         ──────────
   ╰────
"
    );
}

#[test]
fn two_errors_at_once_and_how_main_prints_them() {
    let files = with_neighbours("strcut S {\n  1: i32 a, 1: i32 b\n}\n");
    let error = check(&files).unwrap_err();
    assert_eq!(format!("{error:?}"), format!("\n{error}"));
    assert_eq!(
        error.to_string(),
        "  × unknown keyword `strcut`
   ╭─[a.thrift:1:1]
 1 │ strcut S {
   · ───┬──
   ·    ╰── not a keyword
 2 │   1: i32 a, 1: i32 b
   ╰────
  help: did you mean `struct`?

  × the id 1 of `b` is taken
   ╭─[a.thrift:2:13]
 1 │ strcut S {
 2 │   1: i32 a, 1: i32 b
   ·          ┬  ─
   ·          ╰── by this field
 3 │ }
   ╰────
  help: give one of them another id

2 errors in the schemas"
    );
}

#[test]
fn a_file_that_is_not_there() {
    assert_eq!(report(&Memory::new(&[])), "  × can not read `a.thrift`: no such file\n");
}
