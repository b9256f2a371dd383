//! Names, comments and attributes.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// A name as [`crate::naming`] gives it, `r#` included.
pub(crate) fn ident(name: &str) -> Ident {
    match name.strip_prefix("r#") {
        Some(bare) => Ident::new_raw(bare, Span::call_site()),
        None => Ident::new(name, Span::call_site()),
    }
}

/// A path like `::rpc`; `None` if it is not an absolute one.
pub(crate) fn parse_path(path: &str) -> Option<TokenStream> {
    let absolute = path.starts_with("::") || path == "crate" || path.starts_with("crate::");
    let path: syn::Path = syn::parse_str(path).ok().filter(|_| absolute)?;
    Some(quote!(#path))
}

/// A doc comment, made from the texts that are there.
pub(crate) fn docs<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> TokenStream {
    let mut lines = Vec::new();
    for text in texts.into_iter().flatten() {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(harmless(text));
    }
    quote!(#(#[doc = #lines])*)
}

/// The lines of a comment, such that rustdoc runs none of them as a test: comments of a schema hold no Rust.
fn harmless(text: &str) -> Vec<String> {
    let mut fenced = false;
    text.lines()
        .map(|line| {
            let line = line.trim_end();
            let code = line.trim_start();
            if code.starts_with("```") || code.starts_with("~~~") {
                fenced = !fenced;
                let mark = if fenced { "text" } else { "" };
                return format!(" {}{mark}", &code[..3]);
            }
            if code.is_empty() {
                return String::new();
            }
            // four columns would begin a block of code
            let indent = if fenced { line.len() - code.len() } else { (line.len() - code.len()).min(2) };
            format!(" {:indent$}{code}", "")
        })
        .collect()
}

/// What generated code is excused from, whatever its user's crate denies. Nothing of it is `unsafe`.
pub(crate) fn allow() -> TokenStream {
    quote! {
        #[allow(
            deprecated,
            missing_copy_implementations,
            missing_docs,
            non_camel_case_types,
            non_snake_case,
            non_upper_case_globals,
            single_use_lifetimes,
            unnameable_types,
            unreachable_pub,
            unused,
            unused_lifetimes,
            unused_qualifications,
            unused_results,
            variant_size_differences,
            clippy::all,
            clippy::pedantic,
            clippy::nursery,
            clippy::restriction,
            clippy::cargo,
            rustdoc::all,
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_no_tests() {
        let text = "One.\n\n    let x = 1;\n  * two\n```rust\n    code\n```\nend";
        let expected = ["One.", "", "  let x = 1;", "  * two", "```text", "    code", "```", "end"];
        let lines: Vec<String> = harmless(text);
        let trimmed: Vec<&str> = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        assert_eq!(trimmed, expected);
    }

    #[test]
    fn a_crate_path_is_absolute() {
        assert_eq!(parse_path("::my_rpc").map(|path| path.to_string()), Some(":: my_rpc".to_owned()));
        assert!(parse_path("crate::rpc").is_some());
        assert!(parse_path("rpc").is_none());
        assert!(parse_path("::rpc::").is_none());
        assert!(parse_path("").is_none());
    }
}
