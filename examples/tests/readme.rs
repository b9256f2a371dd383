//! The code in the README is the code of the examples, which are compiled and run.

use std::fs;
use std::path::Path;

/// The README's code blocks of a language.
fn blocks(language: &str) -> Vec<String> {
    let readme = read("../README.md");
    let opening = format!("```{language}\n");
    let parts = readme.split(&opening).skip(1);
    parts.filter_map(|part| part.split_once("```").map(|(code, _)| code.trim().to_owned())).collect()
}

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("a file of the repository")
}

#[test]
fn the_code_of_the_readme_is_compiled() {
    let [build, service, server, client] = <[String; 4]>::try_from(blocks("rust")).unwrap();
    assert!(read("build.rs").ends_with(&(build + "\n")));
    assert!(read("src/bin/hello_server.rs").ends_with(&(server + "\n")));
    assert!(read("src/bin/hello_client.rs").ends_with(&(client + "\n")));
    assert!(read("src/lib.rs").contains(&service));
    assert_eq!(read("idl/hello.thrift").trim(), blocks("thrift")[0]);
}
