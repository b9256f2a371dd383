//! Values of every shape in both protocols.

use crate::support::{Reads, Value, any_struct, in_binary, in_compact};
use codec_thrift::{TType, ThriftReader, binary, compact};
use proptest::prelude::*;

/// It is read and left out whole, and no shorter bytes are.
fn comes_back<R: Reads>(value: &Value, bytes: &[u8]) {
    let mut reader = R::over(bytes);
    assert_eq!(&Value::read(TType::Struct, &mut reader).unwrap(), value);
    reader.end().unwrap();
    let mut reader = R::over(bytes);
    reader.skip(TType::Struct).unwrap();
    reader.end().unwrap();
    for len in 0..bytes.len() {
        assert!(R::over(&bytes[..len]).skip(TType::Struct).is_err(), "{len} of {} bytes", bytes.len());
    }
}

/// An empty map of the compact protocol has no types.
fn without_types_of_empty_maps(value: Value) -> Value {
    let bare = without_types_of_empty_maps;
    match value {
        Value::Map(_, _, pairs) if pairs.is_empty() => Value::Map(TType::Stop, TType::Stop, pairs),
        Value::Map(key, value, pairs) => {
            Value::Map(key, value, pairs.into_iter().map(|(key, value)| (bare(key), bare(value))).collect())
        }
        Value::List(ttype, element, values) => {
            Value::List(ttype, element, values.into_iter().map(bare).collect())
        }
        Value::Struct(fields) => {
            Value::Struct(fields.into_iter().map(|(id, value)| (id, bare(value))).collect())
        }
        scalar => scalar,
    }
}

proptest! {
    #[test]
    fn every_value_comes_back_in_binary(value in any_struct()) {
        comes_back::<binary::Reader>(&value, &in_binary(&value));
    }

    #[test]
    fn every_value_comes_back_in_compact(value in any_struct()) {
        let bytes = in_compact(&value);
        comes_back::<compact::Reader>(&without_types_of_empty_maps(value), &bytes);
    }

    /// What is read of any bytes can be written, and reads the same again; what is left out is what can be read.
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0_u8..32], 0..200)) {
        let mut reader = compact::Reader::over(&bytes);
        let read = Value::read(TType::Struct, &mut reader);
        prop_assert_eq!(read.is_ok(), compact::Reader::over(&bytes).skip(TType::Struct).is_ok());
        if let Ok(value) = read {
            let mut again = compact::Reader::over(&in_compact(&value));
            prop_assert_eq!(Value::read(TType::Struct, &mut again).unwrap(), value);
        }
        let mut reader = binary::Reader::over(&bytes);
        let read = Value::read(TType::Struct, &mut reader);
        prop_assert_eq!(read.is_ok(), binary::Reader::over(&bytes).skip(TType::Struct).is_ok());
    }
}
