//! What several tests here need.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rmpv::Value;

/// So many inputs, the same ones in each run.
pub(crate) fn seeded(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(0x6d73_6770),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Any value of the independent model, some levels deep. No NaN, which does not equal itself.
pub(crate) fn values() -> impl Strategy<Value = Value> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..40);
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-200i64..70_000).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f32>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-zß😀]{0,40}".prop_map(Value::from),
        bytes().prop_map(Value::from),
        (any::<i8>(), bytes()).prop_map(|(kind, bytes)| Value::Ext(kind, bytes)),
    ];
    leaf.prop_recursive(5, 60, 20, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..20).prop_map(Value::Array),
            prop::collection::vec((inner.clone(), inner), 0..20).prop_map(Value::Map),
        ]
    })
}

/// A value as the independent writer writes it.
pub(crate) fn written(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, value).unwrap();
    bytes
}

/// The bytes of a file of `testdata`: two hex digits a byte, and a comment behind `#`.
pub(crate) fn golden(text: &str) -> Vec<u8> {
    let digits = text.lines().filter_map(|line| line.split('#').next()).flat_map(str::split_whitespace);
    digits.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// Runs on a stack that a recursion without limit soon overflows.
pub(crate) fn on_small_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        std::thread::Builder::new().stack_size(256 * 1024).spawn_scoped(scope, run).unwrap().join().unwrap()
    })
}
