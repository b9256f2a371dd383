//! The same schemas and the same samples in Apache's compiler and Python: what it writes is read as the same value and written as
//! the same bytes.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use bytes::Bytes;
use tests_corpus::{Protocol, Sample, apache, folder, samples, says_why};

/// The compiler, and a Python with the library. `None`, with a word about what to do, where one is missing and need not be there.
fn tools() -> Option<(PathBuf, PathBuf)> {
    let path = env::var_os("PATH").unwrap_or_default();
    let thrift = env::split_paths(&path).map(|folder| folder.join("thrift")).find(|file| file.is_file());
    let python = folder("../../target/peers/python");
    let python = python.join(".made").is_file().then(|| python.join("bin/python"));
    let missing = match (&thrift, &python) {
        (Some(_), Some(_)) => return thrift.zip(python),
        (None, _) => "the `thrift` compiler (install Debian's thrift-compiler)",
        (_, None) => "target/peers/python (run tests/peers/install)",
    };
    let required = env::var_os("RPC_PEERS").is_some_and(|value| value == "required");
    assert!(!required, "{missing} is missing");
    println!("SKIPPED, nothing was compared with Apache's: {missing} is missing");
    None
}

/// The `.thrift` files of a folder, without the ending.
fn schemas(name: &str) -> Vec<String> {
    let entries = fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().path());
    let thrift = entries.filter(|file| file.extension().is_some_and(|ending| ending == "thrift"));
    let mut schemas: Vec<String> =
        thrift.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    schemas.sort();
    schemas
}

/// An empty folder for what a test makes.
fn workplace(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&place);
    place
}

/// Runs Apache's compiler: what it says when it refuses a schema.
fn compile(thrift: &Path, file: &Path, out: &Path) -> Result<(), String> {
    fs::create_dir_all(out).unwrap();
    let output = Command::new(thrift)
        .args(["-nowarn", "-r", "--gen", "py", "-out"])
        .arg(out)
        .arg(file)
        .output()
        .unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stdout).into_owned()) }
}

#[test]
fn its_compiler_refuses_what_we_refuse_but_for_the_exceptions() {
    let Some((thrift, _)) = tools() else { return };
    let place = workplace("verdicts");
    let mut wrong = Vec::new();
    for (part, is_right, exceptions) in
        [("idl", true, apache::REFUSED.as_slice()), ("invalid", false, apache::ACCEPTED.as_slice())]
    {
        for schema in schemas(part) {
            let file = folder(part).join(format!("{schema}.thrift"));
            if apache::ENDLESS.contains(&schema.as_str()) {
                assert!(!is_right && says_why(&file).unwrap(), "{schema}");
                continue;
            }
            let verdict = compile(&thrift, &file, &place.join(part).join(&schema));
            let listed = exceptions.contains(&schema.as_str());
            if (verdict.is_ok() == is_right) == listed {
                wrong.push(format!("{part}/{schema}: {verdict:?}, listed: {listed}"));
            }
            let listed = listed || apache::NOT_IN_PYTHON.contains(&schema.as_str());
            if listed != says_why(&file).unwrap() {
                wrong.push(format!("{part}/{schema} has to say why, or to be an exception"));
            }
        }
        for schema in exceptions {
            assert!(folder(part).join(format!("{schema}.thrift")).is_file(), "there is no {schema}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The package that Python finds a schema's code in.
fn package(schema: &str) -> String {
    let file = folder("idl").join(format!("{schema}.thrift"));
    let checked = rpc_build::thrift::check(&[file], &[]).unwrap();
    let module = checked.model.modules().iter().find(|module| module.requested).unwrap();
    let scoped = |scope: &str| module.namespaces.iter().rev().find(|namespace| namespace.scope == scope);
    scoped("py").or_else(|| scoped("*")).map_or(schema.to_owned(), |namespace| namespace.value.clone())
}

#[test]
fn its_python_writes_the_same_bytes() {
    let Some((thrift, python)) = tools() else { return };
    let place = workplace("samples");
    let of_thrift =
        || schemas("idl").into_iter().filter(|schema| !apache::REFUSED.contains(&schema.as_str()));
    let mut requests = String::new();
    for schema in of_thrift() {
        let out = place.join(&schema);
        let file = folder("idl").join(format!("{schema}.thrift"));
        compile(&thrift, &file, &out).unwrap_or_else(|why| panic!("{schema}: {why}"));
        requests += &format!("{schema} {} {}\n", out.display(), package(&schema));
    }
    let mut child = Command::new(python)
        .args(["-B", "-u"])
        .arg(folder("scripts/samples.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(requests.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let (mut theirs, mut failed) = (BTreeMap::new(), Vec::new());
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            [schema, "failed", ..] => failed.push((schema.to_owned(), line.to_owned())),
            [schema, name, protocol, bytes] => {
                theirs.insert([schema, name, protocol].map(str::to_owned), unhex(bytes));
            }
            _ => panic!("{line}"),
        }
    }
    let mut wrong = Vec::new();
    for (schema, line) in &failed {
        if !apache::NOT_IN_PYTHON.contains(&schema.as_str()) {
            wrong.push(line.clone());
        }
    }
    let mut compared = 0;
    for sample in samples().iter().filter(|sample| sample.is_thrift()) {
        if apache::REFUSED.contains(&sample.schema)
            || failed.iter().any(|(schema, _)| schema == sample.schema)
        {
            continue;
        }
        let expected_to_differ = apache::NOT_IN_PYTHON.contains(&sample.schema);
        for (protocol, name) in [(Protocol::Binary, "binary"), (Protocol::Compact, "compact")] {
            let key = [sample.schema, sample.name, name].map(str::to_owned);
            let theirs = theirs.get(&key).unwrap_or_else(|| panic!("Python wrote no {key:?}"));
            match (differs(sample, protocol, theirs), expected_to_differ) {
                (None, _) => compared += 1,
                (Some(_), true) => {}
                (Some(why), false) => wrong.push(format!("{key:?}: {why}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{compared} samples have the same bytes");
    assert!(compared >= 100, "{compared}");
}

/// In what our bytes differ from theirs; sets and maps may come in another order. Reading them as another value is no difference
/// that is ever expected, so it panics.
fn differs(sample: &Sample, protocol: Protocol, theirs: &Bytes) -> Option<String> {
    let ours = sample.bytes(protocol);
    let [our_tree, their_tree] = [&ours, theirs].map(|bytes| protocol.tree(bytes.clone()).unwrap());
    let same = if our_tree.has_one_order() {
        ours == theirs
    } else {
        ours.len() == theirs.len() && our_tree == their_tree
    };
    if same {
        sample.is_read_from(protocol, theirs.clone());
        return None;
    }
    Some(format!("\nours   {ours:02x?}\ntheirs {theirs:02x?}\nours   {our_tree:?}\ntheirs {their_tree:?}"))
}

fn unhex(text: &str) -> Bytes {
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digit).collect()
}
