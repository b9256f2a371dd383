//! pilota's types, written and read as volo does it: the size first, then without checks.

use std::hint::black_box;

use bytes::{Bytes, BytesMut};
use pilota::thrift::Message;
use pilota::thrift::binary::TBinaryProtocol;
use pilota::thrift::binary_unsafe::{TBinaryUnsafeInputProtocol, TBinaryUnsafeOutputProtocol};

use self::idl::pilota::complex::{Complex, Group, Part};
use crate::sample;
use crate::turns::Contestant;

#[allow(warnings, clippy::all, reason = "generated")]
mod idl {
    include!(concat!(env!("OUT_DIR"), "/pilota.rs"));
}

pub(crate) struct Pilota {
    value: Complex,
    buffer: BytesMut,
    bytes: Bytes,
}

impl Pilota {
    pub(crate) fn new() -> Self {
        let part = |part: sample::Part| Part { id: Some(part.id), value: Some(part.value.into()) };
        let group = Group {
            id: Some(7),
            value: Some(sample::text(100, 7).into()),
            parts: Some(sample::group_parts().into_iter().map(part).collect()),
        };
        let value = Complex {
            action: "echo".into(),
            msg: sample::msg().into(),
            by_name: sample::by_name().into_iter().map(|(key, value)| (key.into(), part(value))).collect(),
            parts: sample::parts().into_iter().map(part).collect(),
            groups: Some(std::iter::once(group.clone()).collect()),
            flag: group,
            cost: None,
        };
        let mut this = Self { value, buffer: BytesMut::new(), bytes: Bytes::new() };
        this.bytes = this.written().into();
        this
    }
}

impl Contestant for Pilota {
    fn name(&self) -> &'static str {
        "pilota"
    }

    fn encode(&mut self, times: u32) {
        for _ in 0..times {
            self.buffer.clear();
            let value = black_box(&self.value);
            let size = value.size(&mut TBinaryProtocol::new((), true));
            self.buffer.reserve(size);
            // SAFETY: the memory is as large as the writer is told, lives for as long as the writer does, and is written before it
            // counts as the buffer's.
            unsafe {
                let room = std::slice::from_raw_parts_mut(self.buffer.as_mut_ptr(), size);
                let mut writer = TBinaryUnsafeOutputProtocol::new(&mut self.buffer, room, true);
                value.encode(&mut writer).expect("it encodes");
                let written = writer.index();
                self.buffer.set_len(written);
            }
            black_box(&self.buffer);
        }
    }

    fn decode(&mut self, times: u32) {
        for _ in 0..times {
            let mut bytes = black_box(&self.bytes).clone();
            // SAFETY: the bytes are a whole message.
            let mut reader = unsafe { TBinaryUnsafeInputProtocol::new(&mut bytes) };
            black_box(Complex::decode(&mut reader).expect("it decodes"));
        }
    }

    fn written(&mut self) -> Vec<u8> {
        self.encode(1);
        self.buffer.to_vec()
    }

    fn finds_sample(&self, bytes: &[u8]) -> bool {
        let mut bytes = Bytes::copy_from_slice(bytes);
        Complex::decode(&mut TBinaryProtocol::new(&mut bytes, true)).is_ok_and(|found| found == self.value)
    }
}
