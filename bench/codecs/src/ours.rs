//! This framework's types.

use std::collections::HashMap;
use std::hint::black_box;

use rpc::thrift::Binary;
use rpc::{Bytes, BytesMut, Decode, Encode, Place};

use self::idl::complex::{Complex, Group, Part};
use crate::sample;
use crate::turns::Contestant;

#[allow(missing_docs, unused_qualifications, reason = "generated")]
mod idl {
    rpc::include_idl!("complex.thrift");
}

pub(crate) struct Ours {
    value: Complex,
    buffer: BytesMut,
    bytes: Bytes,
}

impl Ours {
    pub(crate) fn new() -> Self {
        let part = |part: sample::Part| Part { id: Some(part.id), value: Some(part.value) };
        let group = Group {
            id: Some(7),
            value: Some(sample::text(100, 7)),
            parts: Some(sample::group_parts().into_iter().map(part).collect()),
        };
        let value = Complex {
            action: "echo".into(),
            msg: sample::msg(),
            by_name: sample::by_name()
                .into_iter()
                .map(|(key, value)| (key, part(value)))
                .collect::<HashMap<_, _>>(),
            parts: sample::parts().into_iter().map(part).collect(),
            groups: Some(std::iter::once(group.clone()).collect()),
            flag: group,
            cost: None,
        };
        let mut ours = Self { value, buffer: BytesMut::new(), bytes: Bytes::new() };
        ours.bytes = ours.written().into();
        ours
    }
}

impl Contestant for Ours {
    fn name(&self) -> &'static str {
        "ours"
    }

    fn encode(&mut self, times: u32) {
        for _ in 0..times {
            self.buffer.clear();
            Binary.encode(Place::Message, black_box(&self.value), &mut self.buffer).expect("it encodes");
            black_box(&self.buffer);
        }
    }

    fn decode(&mut self, times: u32) {
        for _ in 0..times {
            let value: Complex =
                Binary.decode(Place::Message, black_box(&self.bytes).clone()).expect("it decodes");
            black_box(value);
        }
    }

    fn written(&mut self) -> Vec<u8> {
        self.encode(1);
        self.buffer.to_vec()
    }

    fn finds_sample(&self, bytes: &[u8]) -> bool {
        let found: Result<Complex, _> = Binary.decode(Place::Message, Bytes::copy_from_slice(bytes));
        found.is_ok_and(|found| found == self.value)
    }
}
