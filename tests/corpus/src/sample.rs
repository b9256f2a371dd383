//! A value of a generated type, with its type forgotten.

use std::fmt::Debug;

use bytes::{Bytes, BytesMut};
use rpc::msgpack::MsgPack;
use rpc::protobuf::Protobuf;
use rpc::thrift::{Binary, Compact, ThriftStruct, ThriftValue, binary, compact};
use rpc::{Codec, Decode, DecodeError, Encode, Place};

use crate::Tree;

/// A protocol of Thrift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Thrift binary.
    Binary,
    /// Thrift compact.
    Compact,
}

impl Protocol {
    /// What is in the bytes of a struct.
    ///
    /// # Errors
    /// When they are no struct.
    pub fn tree(self, bytes: Bytes) -> Result<Tree, DecodeError> {
        match self {
            Self::Binary => {
                let mut reader = binary::Reader::new(bytes);
                let tree = Tree::of_struct(&mut reader)?;
                reader.finish().map(|()| tree)
            }
            Self::Compact => {
                let mut reader = compact::Reader::new(bytes);
                let tree = Tree::of_struct(&mut reader)?;
                reader.finish().map(|()| tree)
            }
        }
    }
}

/// A sample of one schema.
#[derive(Debug)]
pub struct Sample {
    /// The schema, without folder and ending.
    pub schema: &'static str,
    /// The constant, or the message.
    pub name: &'static str,
    value: Box<dyn Value>,
}

impl Sample {
    pub(crate) fn thrift<T>(schema: &'static str, name: &'static str, value: &T) -> Self
    where
        T: ThriftStruct + Clone + Default + PartialEq + Debug + 'static,
        MsgPack: Encode<T> + Decode<T>,
    {
        Self { schema, name, value: Box::new(OfThrift(value.clone())) }
    }

    pub(crate) fn proto<T>(schema: &'static str, name: &'static str, bytes: &'static str) -> Self
    where
        T: Clone + Default + PartialEq + Debug + 'static,
        Protobuf: Encode<T> + Decode<T>,
        MsgPack: Encode<T> + Decode<T>,
    {
        let also = |value: &T| {
            there_and_back(MsgPack::new(), value);
            there_and_back(MsgPack::new().structs_as_maps(true), value);
        };
        Self { schema, name, value: Box::new(OfProto { bytes: hex(bytes), also }) }
    }

    pub(crate) fn protobuf<T>(schema: &'static str, name: &'static str, bytes: &'static str) -> Self
    where
        T: Clone + Default + PartialEq + Debug + 'static,
        Protobuf: Encode<T> + Decode<T>,
    {
        Self { schema, name, value: Box::new(OfProto::<T> { bytes: hex(bytes), also: |_| () }) }
    }

    /// Goes there and back in every codec of its language, and so does the default of its type.
    ///
    /// # Panics
    /// When it comes back as another value.
    pub fn round_trips(&self) {
        self.value.round_trips();
    }

    /// Its bytes in a protocol of Thrift.
    ///
    /// # Panics
    /// When it has none; when it is not of a `.thrift` file.
    pub fn bytes(&self, protocol: Protocol) -> Bytes {
        self.value.bytes(protocol)
    }

    /// Bytes are read as the same value.
    ///
    /// # Panics
    /// When they are not.
    pub fn is_read_from(&self, protocol: Protocol, bytes: Bytes) {
        self.value.is_read_from(protocol, bytes);
    }

    /// Whether it is of a `.thrift` file.
    pub fn is_thrift(&self) -> bool {
        self.value.is_thrift()
    }
}

trait Value: Debug {
    fn is_thrift(&self) -> bool;
    fn round_trips(&self);
    fn bytes(&self, protocol: Protocol) -> Bytes;
    fn is_read_from(&self, protocol: Protocol, bytes: Bytes);
}

#[derive(Debug)]
struct OfThrift<T>(T);

impl<T> Value for OfThrift<T>
where
    T: ThriftStruct + ThriftValue + Default + PartialEq + Debug,
    MsgPack: Encode<T> + Decode<T>,
{
    fn is_thrift(&self) -> bool {
        true
    }

    fn round_trips(&self) {
        for value in [&self.0, &T::default()] {
            there_and_back(Binary, value);
            there_and_back(Compact, value);
            there_and_back(MsgPack::new(), value);
            there_and_back(MsgPack::new().structs_as_maps(true), value);
        }
    }

    fn bytes(&self, protocol: Protocol) -> Bytes {
        match protocol {
            Protocol::Binary => written(&Binary, &self.0),
            Protocol::Compact => written(&Compact, &self.0),
        }
    }

    fn is_read_from(&self, protocol: Protocol, bytes: Bytes) {
        let read = match protocol {
            Protocol::Binary => Binary.decode(Place::Item, bytes),
            Protocol::Compact => Compact.decode(Place::Item, bytes),
        };
        let read: T = read.unwrap_or_else(|error| panic!("{protocol:?}: {error}"));
        assert_eq!(read, self.0, "{protocol:?}");
    }
}

#[derive(Debug)]
struct OfProto<T> {
    bytes: Bytes,
    also: fn(&T),
}

impl<T> Value for OfProto<T>
where
    T: Default + PartialEq + Debug,
    Protobuf: Encode<T> + Decode<T>,
{
    fn is_thrift(&self) -> bool {
        false
    }

    fn round_trips(&self) {
        let value: T =
            Protobuf.decode(Place::Item, self.bytes.clone()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(written(&Protobuf, &value), self.bytes, "{value:?}");
        (self.also)(&value);
        there_and_back(Protobuf, &T::default());
        (self.also)(&T::default());
    }

    fn bytes(&self, _: Protocol) -> Bytes {
        panic!("not of a .thrift file")
    }

    fn is_read_from(&self, _: Protocol, _: Bytes) {
        panic!("not of a .thrift file")
    }
}

fn written<C: Encode<T>, T: Debug>(codec: &C, value: &T) -> Bytes {
    let mut dst = BytesMut::new();
    codec
        .encode(Place::Item, value, &mut dst)
        .unwrap_or_else(|error| panic!("{}: {error}: {value:?}", C::NAME));
    dst.freeze()
}

fn there_and_back<C, T>(codec: C, value: &T)
where
    C: Codec + Encode<T> + Decode<T>,
    T: PartialEq + Debug,
{
    let read = codec.decode(Place::Item, written(&codec, value));
    let read: T = read.unwrap_or_else(|error| panic!("{}: {error}: {value:?}", C::NAME));
    assert_eq!(read, *value, "{}", C::NAME);
}

/// Bytes from hex, spaces left out.
fn hex(text: &str) -> Bytes {
    let digits: Vec<u8> =
        text.chars().filter_map(|c| c.to_digit(16)).filter_map(|digit| u8::try_from(digit).ok()).collect();
    digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect()
}
