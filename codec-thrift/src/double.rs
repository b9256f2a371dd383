use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use rpc_core::{DecodeError, EncodeError};

use crate::{TType, ThriftReader, ThriftValue, ThriftWriter};

/// A double that can be the key of a map or an element of a set. Generated types hold one wherever a `double` stands in a
/// key; elsewhere they hold an `f64`.
///
/// Two are equal if their bits are: a NaN equals itself, and `-0.0` is not `0.0`. The order is that of
/// [`f64::total_cmp`].
///
/// ```
/// use codec_thrift::Double;
///
/// assert_eq!(Double::from(1.5).0, 1.5);
/// assert_eq!(Double(f64::NAN), Double(f64::NAN));
/// assert!(Double(-0.0) < Double(0.0));
/// ```
#[derive(Clone, Copy, Default)]
pub struct Double(pub f64);

impl PartialEq for Double {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Double {}

impl Hash for Double {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl Ord for Double {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Double {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<f64> for Double {
    fn from(value: f64) -> Self {
        Self(value)
    }
}

impl From<Double> for f64 {
    fn from(value: Double) -> Self {
        value.0
    }
}

impl fmt::Debug for Double {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Double {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl ThriftValue for Double {
    const TTYPE: TType = TType::Double;

    fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        writer.double(self.0);
        Ok(())
    }

    fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
        reader.double().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn equality_order_and_hash_agree() {
        let values = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1.5, f64::INFINITY, f64::NAN].map(Double);
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                assert_eq!(a.cmp(b), i.cmp(&j), "{a} {b}");
                assert_eq!(a == b, i == j, "{a} {b}");
            }
        }
        assert_eq!(values.into_iter().chain(values).collect::<HashSet<_>>().len(), values.len());
    }
}
