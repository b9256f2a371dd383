//! The types that Apache's compiler makes of `idl/complex.thrift` (`thrift --gen rs`, 0.17.0), with the `thrift` crate.

#[allow(warnings, clippy::all, reason = "generated")]
mod generated;

use std::hint::black_box;

use thrift::protocol::{TBinaryInputProtocol, TBinaryOutputProtocol, TSerializable};

use self::generated::{Complex, Group, Part};
use crate::sample;
use crate::turns::Contestant;

pub(crate) struct Apache {
    value: Complex,
    buffer: Vec<u8>,
    bytes: Vec<u8>,
}

impl Apache {
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
            by_name: sample::by_name().into_iter().map(|(key, value)| (key, part(value))).collect(),
            parts: sample::parts().into_iter().map(part).collect(),
            groups: Some(std::iter::once(group.clone()).collect()),
            flag: group,
            cost: None,
        };
        let mut this = Self { value, buffer: Vec::new(), bytes: Vec::new() };
        this.bytes = this.written();
        this
    }
}

impl Contestant for Apache {
    fn name(&self) -> &'static str {
        "apache"
    }

    fn encode(&mut self, times: u32) {
        for _ in 0..times {
            self.buffer.clear();
            let mut writer = TBinaryOutputProtocol::new(&mut self.buffer, true);
            black_box(&self.value).write_to_out_protocol(&mut writer).expect("it encodes");
            black_box(&self.buffer);
        }
    }

    fn decode(&mut self, times: u32) {
        for _ in 0..times {
            let mut reader = TBinaryInputProtocol::new(black_box(self.bytes.as_slice()), true);
            black_box(Complex::read_from_in_protocol(&mut reader).expect("it decodes"));
        }
    }

    fn written(&mut self) -> Vec<u8> {
        self.encode(1);
        self.buffer.clone()
    }

    fn finds_sample(&self, bytes: &[u8]) -> bool {
        let mut reader = TBinaryInputProtocol::new(bytes, true);
        Complex::read_from_in_protocol(&mut reader).is_ok_and(|found| found == self.value)
    }
}
