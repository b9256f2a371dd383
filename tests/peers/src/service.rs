//! Our side of `echo.thrift`: the server, and the values that our client sends.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicI32, Ordering};

use rpc::{Bytes, Context, Status};

use crate::idl::echo::{Choice, Color, Echo, EchoEchoError, EchoError, EchoRequest, EchoResponse, Inner};

/// Answers with what it was sent, fails on request, counts pings.
#[derive(Debug, Default)]
pub struct Echoing {
    pings: AtomicI32,
}

impl Echo for Echoing {
    async fn echo(&self, _: &Context, request: EchoRequest) -> Result<EchoResponse, EchoEchoError> {
        if let Some(code) = request.fail_code.filter(|code| *code != 0) {
            let message = format!("asked to fail: {}", request.must);
            return Err(EchoError { code, message }.into());
        }
        Ok(EchoResponse { request, server: "rpc".into(), pings: self.pings.load(Ordering::SeqCst) })
    }

    async fn ping(&self, _: &Context, _: String) -> Result<(), Status> {
        self.pings.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// Requests that hold every type of `echo.thrift`, with names for reports.
pub fn requests() -> Vec<(&'static str, EchoRequest)> {
    let inner = Inner { id: -1, label: Some("in".into()), weight: 1 << 40 };
    let numbered = |id| Inner { id, ..Inner::default() };
    let full = EchoRequest {
        flag: true,
        tiny: i8::MIN,
        small: i16::MIN,
        medium: i32::MIN,
        large: i64::MIN,
        real: -0.1,
        text: "héllo 世界 🦀".into(),
        blob: Bytes::from_iter(0..=255),
        words: vec!["a".into(), String::new(), "c".repeat(300)],
        ids: HashSet::from([1, -2, 3]),
        counts: HashMap::from([("x".into(), 1), (String::new(), -1), ("ü".into(), i32::MAX)]),
        inners: HashMap::from([(1, inner.clone()), (-7, numbered(2))]),
        color: Color::BLUE,
        inner: Some(inner.clone()),
        choice: Some(Choice::Inner(inner)),
        must: "must".into(),
        maybe: Some(String::new()),
        with_default: 0,
        inner_list: (0..20).map(numbered).collect(),
        flags: vec![true, false, true],
        nested: HashMap::from([("k".into(), vec![1, -1, 1 << 62]), ("e".into(), vec![])]),
        reals: vec![0.0, 1.5, -1e308, 5e-324],
        empty_map: HashMap::new(),
        far: Some(false),
        ..EchoRequest::default()
    };
    let minimal = EchoRequest { must: String::new(), color: Color::RED, ..EchoRequest::default() };
    let large =
        EchoRequest { must: "big".into(), blob: Bytes::from(vec![0xab; 1_000_000]), ..minimal.clone() };
    let maxima = EchoRequest {
        must: "m".into(),
        tiny: i8::MAX,
        small: i16::MAX,
        medium: i32::MAX,
        large: i64::MAX,
        real: f64::MAX,
        far: Some(true),
        ..minimal.clone()
    };
    let union_int = EchoRequest { must: "u".into(), choice: Some(Choice::Number(0)), ..minimal.clone() };
    let union_list =
        EchoRequest { must: "u".into(), choice: Some(Choice::Numbers(vec![])), ..minimal.clone() };
    vec![
        ("full", full),
        ("minimal", minimal),
        ("large", large),
        ("maxima", maxima),
        ("union-int", union_int),
        ("union-list", union_list),
    ]
}
