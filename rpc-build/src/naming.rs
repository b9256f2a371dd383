//! What a name in a schema is called in Rust.
//!
//! Names on the wire are never touched. For Rust, a name is first put into the case of its kind, then escaped if Rust
//! has the word for itself, then told apart from its neighbours.
//!
//! # Case
//!
//! [`Kind::Type`], for types, services and the fields of unions: the parts between underscores begin with a capital. Of
//! several parts, one that is all capitals keeps only its first; a name of one part keeps its capitals.
//!
//! [`Kind::Value`], for fields, arguments, methods and modules: words in lower case with underscores between. A word
//! begins at a capital that follows a small letter or a digit, or that comes before a small letter.
//!
//! [`Kind::Const`], for constants and the values of enums: a name without small letters stays as it is; another is
//! split into words as above.
//!
//! | in the schema | type | value | const |
//! |---|---|---|---|
//! | `fooBar`, `foo_bar` | `FooBar` | `foo_bar` | `FOO_BAR` |
//! | `FOO_BAR` | `FooBar` | `foo_bar` | `FOO_BAR` |
//! | `HTTPServer` | `HTTPServer` | `http_server` | `HTTP_SERVER` |
//! | `FB` | `FB` | `fb` | `FB` |
//! | `_x` | `_X` | `_x` | `_X` |
//!
//! Underscores at the beginning and the end stay, those inside a name stay single: `x_` → `x_`, `a__b` → `a_b`.
//! Characters that Rust's names can not have (only file names have them) become underscores, and a leading digit gets
//! an underscore before it.
//!
//! # Words of Rust
//!
//! A keyword of any edition becomes a raw name: `type` → `r#type`. The words that can not be raw, `self`, `Self`,
//! `super`, `crate` and `_`, get an underscore behind them: `self_`.
//!
//! # Names that become equal
//!
//! Within one scope ([`assign`]) each name gets its own. A name that reads in Rust as it does in the schema has the
//! first right to it, then the one that is declared first. The others get the lowest number from 2 that makes them
//! differ from all names of the scope:
//!
//! - `fooBar`, `foo_bar`, `FooBar` → `foo_bar_2`, `foo_bar`, `foo_bar_3`
//! - `Foo`, `foo` → `Foo`, `Foo2`
//!
//! The result depends on the names, their order and the reserved names alone.
//!
//! # Names that are added
//!
//! | for | in its module | in the module `greeter_methods` |
//! |---|---|---|
//! | a service `Greeter` | `Greeter`, `GreeterServer`, `GreeterClient` | `NAME` |
//! | its method `say_hello` | – | `SayHello`, `SayHelloArgs` |
//! | if that declares exceptions | `GreeterSayHelloError` | `SayHelloException` |
//! | a union | its variant `Unknown` | |
//! | a struct that keeps unknown fields | its field `unknown_fields` | |
//! | the error of a method | its variant `Other` | |
//!
//! Where a name of the schema is in the way of one of these, this one takes the number: names of the schema come first.
//! There is one exception, so that what every document says holds for every client: methods called `new`, `with`,
//! `with_codec` or `client` become `new_2` and so on, in the trait as in the client.
//!
//! Parameters of methods keep off the name `cx`. Modules keep off the names of Rust's primitive types.

use std::collections::HashSet;

/// The kinds of names that Rust writes differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `UpperCamel`
    Type,
    /// `snake_case`
    Value,
    /// `SCREAMING_SNAKE_CASE`
    Const,
}

/// The Rust name of one name in a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As Rust code has it, with `r#` if it needs that.
    pub ident: String,
    /// Whether a number had to be added because another name of the scope became equal. Worth a warning.
    pub renamed: bool,
}

impl Name {
    /// The name without `r#`, to build other names from.
    pub fn bare(&self) -> &str {
        self.ident.strip_prefix("r#").unwrap_or(&self.ident)
    }
}

/// The Rust name of a name that stands alone.
pub fn ident(name: &str, kind: Kind) -> String {
    escape(&convert(name, kind))
}

/// The Rust names of all names of a scope, in order. None is equal to another or to one of `reserved`, which are
/// given as Rust has them, without `r#`.
pub fn assign<'a>(names: impl IntoIterator<Item = &'a str>, kind: Kind, reserved: &[&str]) -> Vec<Name> {
    let names: Vec<(&str, String)> = names.into_iter().map(|name| (name, convert(name, kind))).collect();
    let mut taken: HashSet<String> = reserved.iter().map(|name| (*name).to_owned()).collect();
    let mut assigned: Vec<Option<Name>> = vec![None; names.len()];
    let by_right = names.iter().enumerate().filter(|(_, (name, converted))| *name == bare(converted));
    for (index, (_, converted)) in by_right.chain(names.iter().enumerate()) {
        if assigned[index].is_none() && taken.insert(bare(converted)) {
            assigned[index] = Some(Name { ident: escape(converted), renamed: false });
        }
    }
    assigned
        .into_iter()
        .zip(&names)
        .map(|(done, (_, converted))| done.unwrap_or_else(|| numbered(converted, kind, &mut taken)))
        .collect()
}

/// The segments of a Rust path.
pub fn path<'a>(segments: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    segments.into_iter().map(|segment| ident(segment, Kind::Value)).collect()
}

fn numbered(converted: &str, kind: Kind, taken: &mut HashSet<String>) -> Name {
    let between = match kind {
        Kind::Type => "",
        _ if converted.ends_with('_') => "",
        _ => "_",
    };
    let mut number = 2u64;
    loop {
        let candidate = format!("{converted}{between}{number}");
        if taken.insert(candidate.clone()) {
            return Name { ident: escape(&candidate), renamed: true };
        }
        number += 1;
    }
}

fn convert(name: &str, kind: Kind) -> String {
    let name: String =
        name.chars().map(|c| if c == '_' || c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let core = name.trim_matches('_');
    if core.is_empty() {
        return if name.is_empty() { "_".to_owned() } else { name };
    }
    let start = name.len() - name.trim_start_matches('_').len();
    let end = name.trim_end_matches('_').len();
    let converted = match kind {
        Kind::Type => upper_camel(core),
        Kind::Value => words(core).join("_").to_ascii_lowercase(),
        Kind::Const if !core.bytes().any(|byte| byte.is_ascii_lowercase()) => {
            parts(core).collect::<Vec<_>>().join("_")
        }
        Kind::Const => words(core).join("_").to_ascii_uppercase(),
    };
    let digit = if start == 0 && converted.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    format!("{digit}{}{converted}{}", &name[..start], &name[end..])
}

fn parts(core: &str) -> impl Iterator<Item = &str> {
    core.split('_').filter(|part| !part.is_empty())
}

fn upper_camel(core: &str) -> String {
    let several = parts(core).count() > 1;
    let mut result = String::with_capacity(core.len());
    for part in parts(core) {
        // digits on both sides of an underscore must not run together: `v1_2` and `v12` are two names
        if result.ends_with(|c: char| c.is_ascii_digit()) && part.starts_with(|c: char| c.is_ascii_digit()) {
            result.push('_');
        }
        let (first, rest) = part.split_at(1);
        result.push_str(&first.to_ascii_uppercase());
        let shouts = several && !part.bytes().any(|byte| byte.is_ascii_lowercase());
        result.push_str(&if shouts { rest.to_ascii_lowercase() } else { rest.to_owned() });
    }
    result
}

/// The words of a name.
fn words(core: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for part in parts(core) {
        let bytes = part.as_bytes();
        let mut start = 0;
        for at in 1..bytes.len() {
            let (before, here, after) = (bytes[at - 1], bytes[at], bytes.get(at + 1));
            let opens = here.is_ascii_uppercase()
                && (!before.is_ascii_uppercase() || after.is_some_and(u8::is_ascii_lowercase));
            if opens {
                words.push(&part[start..at]);
                start = at;
            }
        }
        words.push(&part[start..]);
    }
    words
}

/// What a name takes from its scope: `self` takes `self_`.
fn bare(converted: &str) -> String {
    if is_never_raw(converted) { format!("{converted}_") } else { converted.to_owned() }
}

fn escape(name: &str) -> String {
    if is_never_raw(name) {
        format!("{name}_")
    } else if KEYWORDS.contains(&name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

fn is_never_raw(name: &str) -> bool {
    ["self", "Self", "super", "crate", "_"].contains(&name)
}

/// Keywords of all editions up to 2024, strict and reserved.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn idents(names: &[&str], kind: Kind) -> Vec<String> {
        assign(names.iter().copied(), kind, &[]).into_iter().map(|name| name.ident).collect()
    }

    #[test]
    fn cases() {
        for (name, ty, value, constant) in [
            ("HTTPServer", "HTTPServer", "http_server", "HTTP_SERVER"),
            ("fooBar", "FooBar", "foo_bar", "FOO_BAR"),
            ("foo_bar", "FooBar", "foo_bar", "FOO_BAR"),
            ("FOO_BAR", "FooBar", "foo_bar", "FOO_BAR"),
            ("FB", "FB", "fb", "FB"),
            ("i32Value", "I32Value", "i32_value", "I32_VALUE"),
            ("ME3_N2", "Me3N2", "me3_n2", "ME3_N2"),
            ("_x", "_X", "_x", "_X"),
            ("x_", "X_", "x_", "X_"),
            ("a__b", "AB", "a_b", "A_B"),
            ("A__B", "AB", "a_b", "A_B"),
            ("__", "__", "__", "__"),
            ("v1_2", "V1_2", "v1_2", "V1_2"),
            ("my-file.v2", "MyFileV2", "my_file_v2", "MY_FILE_V2"),
            ("2fast", "_2fast", "_2fast", "_2FAST"),
        ] {
            assert_eq!(
                (&*ident(name, Kind::Type), &*ident(name, Kind::Value), &*ident(name, Kind::Const)),
                (ty, value, constant),
                "{name}"
            );
        }
    }

    #[test]
    fn words_of_rust() {
        assert_eq!(
            idents(
                &["type", "match", "async", "try", "gen", "dyn", "self", "Self", "super", "crate", "_"],
                Kind::Value
            ),
            [
                "r#type", "r#match", "r#async", "r#try", "r#gen", "r#dyn", "self_", "self_2", "super_",
                "crate_", "__"
            ]
        );
        assert_eq!(ident("self", Kind::Type), "Self_");
        assert_eq!(path(["google", "type", "bC"]), ["google", "r#type", "b_c"]);
    }

    #[test]
    fn equal_names_are_numbered_in_order() {
        assert_eq!(
            idents(&["fooBar", "foo_bar", "FooBar"], Kind::Value),
            ["foo_bar_2", "foo_bar", "foo_bar_3"]
        );
        assert_eq!(idents(&["Foo", "foo"], Kind::Type), ["Foo", "Foo2"]);
        assert_eq!(idents(&["A_B", "AB", "a_b"], Kind::Const), ["A_B", "AB", "A_B_2"]);
        assert_eq!(idents(&["FB", "Fb"], Kind::Type), ["FB", "Fb"]);
        assert_eq!(idents(&["GetItem", "get_item"], Kind::Value), ["get_item_2", "get_item"]);
        let names = assign(["GetItem", "get_item"], Kind::Value, &[]);
        assert_eq!(names.iter().map(|name| name.renamed).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn a_number_never_takes_a_name_that_is_written() {
        assert_eq!(
            idents(&["foo_bar", "fooBar", "foo_bar_2"], Kind::Value),
            ["foo_bar", "foo_bar_3", "foo_bar_2"]
        );
        assert_eq!(idents(&["self", "self_"], Kind::Value), ["self_2", "self_"]);
        assert_eq!(idents(&["_", "__"], Kind::Value), ["_2", "__"]);
    }

    #[test]
    fn reserved_names_are_avoided() {
        let names = assign(["new", "clone", "type", "Type"], Kind::Value, &["new", "type"]);
        let idents: Vec<&str> = names.iter().map(|name| name.ident.as_str()).collect();
        assert_eq!(idents, ["new_2", "clone", "type_2", "type_3"]);
        assert_eq!(names[2].bare(), "type_2");
    }
}
