use std::collections::HashSet;

use bytes::{Bytes, BytesMut};
use codec_msgpack::value::{Elements, Kind, RawValue, write};
use rpc_core::Status;

/// How the answers of several members become one. An answer that is alone is handed on as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aggregate {
    /// The first one, in the order of the members' names; of a hash, that of the nearest member.
    #[default]
    First,
    /// Whether all are true.
    And,
    /// Whether one is true.
    Or,
    /// The sum of numbers; with a fraction if one of them has one.
    Add,
    /// One list of all that the lists hold, in the order of the members.
    Concat,
    /// One map of all that the maps hold. Of a key that several have, the first member's value stays.
    Merge,
}

impl Aggregate {
    /// Puts encoded answers together, without decoding what is in them.
    ///
    /// # Errors
    /// When an answer is not of the kind that is put together, or the result has no representation.
    pub(crate) fn of(self, answers: &[Bytes]) -> Result<Bytes, Status> {
        if let [one] = answers {
            return Ok(one.clone());
        }
        if self == Self::First {
            return Ok(answers.first().cloned().unwrap_or_default());
        }
        let values = answers.iter().map(|answer| RawValue::new(answer).map_err(|error| misfit(self, error)));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let mut dst = BytesMut::new();
        match self {
            Self::First => {}
            Self::And => write::bool(self.bools(&values)?.all(|value| value), &mut dst),
            Self::Or => write::bool(self.bools(&values)?.any(|value| value), &mut dst),
            Self::Add => self.add(&values, &mut dst)?,
            Self::Concat => {
                let lists = self.each(&values, |value| match value.kind() {
                    Kind::Array(elements) => Some(elements),
                    _ => None,
                })?;
                let count = lists.iter().map(Elements::len).sum();
                write::array(count, &mut dst).map_err(|error| misfit(self, error))?;
                for list in &lists {
                    dst.extend_from_slice(list.bytes());
                }
            }
            Self::Merge => self.merge(&values, &mut dst)?,
        }
        Ok(dst.freeze())
    }

    fn bools(self, values: &[RawValue<'_>]) -> Result<impl Iterator<Item = bool> + use<>, Status> {
        let bools = self.each(values, |value| match value.kind() {
            Kind::Bool(value) => Some(value),
            _ => None,
        });
        bools.map(Vec::into_iter)
    }

    fn add(self, values: &[RawValue<'_>], dst: &mut BytesMut) -> Result<(), Status> {
        // So many numbers of 64 bits as there are members do not leave these.
        let whole: Option<i128> = values.iter().map(|value| whole_number(*value)).sum();
        match whole {
            Some(sum) => write::int(sum, dst).map_err(|error| misfit(self, error)),
            None => {
                let numbers = self.each(values, |value| match value.kind() {
                    Kind::Float(value) => Some(value),
                    #[allow(clippy::cast_precision_loss, reason = "that is what a sum with fractions is")]
                    _ => whole_number(value).map(|value| value as f64),
                })?;
                write::float(numbers.into_iter().sum(), dst);
                Ok(())
            }
        }
    }

    fn merge(self, values: &[RawValue<'_>], dst: &mut BytesMut) -> Result<(), Status> {
        let maps = self.each(values, |value| match value.kind() {
            Kind::Map(elements) => Some(elements),
            _ => None,
        })?;
        let mut seen = HashSet::new();
        let mut pairs = Vec::new();
        for mut map in maps {
            while let (Some(key), Some(value)) = (map.next(), map.next()) {
                if seen.insert(key) {
                    pairs.push((key, value));
                }
            }
        }
        write::map(pairs.len(), dst).map_err(|error| misfit(self, error))?;
        for (key, value) in pairs {
            dst.extend_from_slice(key.bytes());
            dst.extend_from_slice(value.bytes());
        }
        Ok(())
    }

    fn each<'a, T>(
        self,
        values: &[RawValue<'a>],
        take: impl Fn(RawValue<'a>) -> Option<T>,
    ) -> Result<Vec<T>, Status> {
        let taken = values.iter().map(|value| take(*value));
        taken.collect::<Option<_>>().ok_or_else(|| misfit(self, "a member's answer is of another kind"))
    }
}

fn whole_number(value: RawValue<'_>) -> Option<i128> {
    match value.kind() {
        Kind::Uint(value) => Some(value.into()),
        Kind::Int(value) => Some(value.into()),
        _ => None,
    }
}

fn misfit(aggregate: Aggregate, why: impl std::fmt::Display) -> Status {
    Status::internal(format!("the members' answers make no {aggregate:?}: {why}"))
}

#[cfg(test)]
mod tests {
    use rmpv::Value;

    use super::*;

    fn bytes(value: &Value) -> Bytes {
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, value).unwrap();
        bytes.into()
    }

    fn aggregate(aggregate: Aggregate, answers: &[Value]) -> Result<Value, Status> {
        let answers: Vec<_> = answers.iter().map(bytes).collect();
        aggregate.of(&answers).map(|answer| {
            let mut left = &answer[..];
            let value = rmpv::decode::read_value(&mut left).unwrap();
            assert!(left.is_empty());
            value
        })
    }

    fn list(values: &[i64]) -> Value {
        Value::Array(values.iter().map(|value| Value::from(*value)).collect())
    }

    fn map(pairs: &[(&str, i64)]) -> Value {
        Value::Map(pairs.iter().map(|(key, value)| (Value::from(*key), Value::from(*value))).collect())
    }

    #[test]
    fn truths() {
        let (yes, no) = (Value::from(true), Value::from(false));
        for (answers, and, or) in [
            (vec![yes.clone(), yes.clone()], true, true),
            (vec![yes.clone(), no.clone()], false, true),
            (vec![no.clone(), no.clone()], false, false),
        ] {
            assert_eq!(aggregate(Aggregate::And, &answers).unwrap(), Value::from(and));
            assert_eq!(aggregate(Aggregate::Or, &answers).unwrap(), Value::from(or));
        }
        assert!(aggregate(Aggregate::And, &[yes.clone(), Value::Nil]).is_err());
        assert!(aggregate(Aggregate::Or, &[Value::from(1), yes]).is_err());
    }

    #[test]
    fn sums() {
        let add = |answers: &[Value]| aggregate(Aggregate::Add, answers);
        assert_eq!(add(&[1.into(), (-3).into(), 300.into()]).unwrap(), Value::from(298));
        assert_eq!(add(&[i64::MIN.into(), u64::MAX.into()]).unwrap(), Value::from(i64::MAX));
        assert_eq!(add(&[1.into(), Value::F32(0.5)]).unwrap(), Value::from(1.5));
        assert!(add(&[u64::MAX.into(), 1.into()]).is_err(), "a sum that no integer holds");
        assert!(add(&[1.into(), "1".into()]).is_err());
    }

    #[test]
    fn lists_and_maps() {
        let concat = |answers: &[Value]| aggregate(Aggregate::Concat, answers);
        assert_eq!(concat(&[list(&[1, 2]), list(&[]), list(&[3])]).unwrap(), list(&[1, 2, 3]));
        let long: Vec<i64> = (0..20).collect();
        assert_eq!(concat(&[list(&long[..10]), list(&long[10..])]).unwrap(), list(&long));
        assert!(concat(&[list(&[]), map(&[])]).is_err());

        let merge = |answers: &[Value]| aggregate(Aggregate::Merge, answers);
        let merged = merge(&[map(&[("a", 1), ("b", 2)]), map(&[("b", 3), ("c", 4)])]).unwrap();
        assert_eq!(merged, map(&[("a", 1), ("b", 2), ("c", 4)]));
        assert!(merge(&[map(&[]), list(&[])]).is_err());
    }

    #[test]
    fn the_first_and_the_only_one_stay_as_they_are() {
        assert_eq!(aggregate(Aggregate::First, &["x".into(), 1.into()]).unwrap(), Value::from("x"));
        // In a form that no writer here would choose.
        let odd = Bytes::from_static(b"\xd9\x01x");
        for aggregate in [Aggregate::First, Aggregate::And, Aggregate::Add, Aggregate::Merge] {
            assert_eq!(aggregate.of(std::slice::from_ref(&odd)).unwrap(), odd);
        }
    }

    #[test]
    fn what_is_no_value_is_refused() {
        let broken = [Bytes::from_static(b"\x92\x01"), Bytes::from_static(b"\x90")];
        for aggregate in [Aggregate::And, Aggregate::Or, Aggregate::Add, Aggregate::Concat, Aggregate::Merge]
        {
            assert!(aggregate.of(&broken).is_err());
        }
    }
}
