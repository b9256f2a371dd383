//! Types that Apache's compiler generated, through the codecs for them and through the `thrift` crate's own protocols.
#![allow(clippy::unwrap_used, reason = "tests")]

#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, rust_2018_idioms, unreachable_pub, unused_qualifications, reason = "generated")]
mod generated;

use std::collections::{BTreeMap, BTreeSet};

use bytes::{Bytes, BytesMut};
use codec_thrift::apache::{Binary, Compact, Plain, Struct};
use codec_thrift::{
    DEPTH_LIMIT, FieldHeader, TType, ThriftException, ThriftReader, ThriftValue, ThriftWriter, apache,
};
use generated::{Book, Chain, Color, Full, Label, Shelf};
use rpc_core::{
    Decode, DecodeError, DecodeErrorKind, DecodeOutcome, Encode, EncodeError, EncodeOutcome, Never, Place,
};
use rpc_wire::{Framing, MakeProtocol};
use thrift::protocol::{
    TBinaryInputProtocol, TBinaryOutputProtocol, TCompactInputProtocol, TCompactOutputProtocol,
    TInputProtocol, TListIdentifier, TOutputProtocol, TSerializable, TStructIdentifier,
};

fn full() -> Shelf {
    Shelf {
        flag: Some(true),
        tiny: Some(i8::MIN),
        small: Some(i16::MIN),
        medium: Some(i32::MAX),
        large: Some(i64::MIN),
        real: Some((-0.1).into()),
        text: Some("ünïcödé".into()),
        blob: Some(vec![0, 255]),
        words: Some(vec![String::new(), "w".repeat(300)]),
        ids: Some(BTreeSet::from([-1, 0, 1])),
        books: Some(BTreeMap::from([
            ("a".into(), Book::new(1, None)),
            ("b".into(), Book::new(-1, "title".to_owned())),
        ])),
        color: Some(Color::BLUE),
        label: Some(Label::Text("label".into())),
        flags: Some(vec![true, false]),
        nested: Some(BTreeMap::from([(-1, vec![1 << 40, -1]), (1, vec![])])),
        far: Some(false),
    }
}

fn empty() -> Shelf {
    Shelf { flag: Some(false), ids: Some(BTreeSet::new()), nested: Some(BTreeMap::new()), ..Shelf::default() }
}

fn encoded<C: Encode<T>, T>(codec: C, place: Place, value: &T) -> Result<Bytes, EncodeError> {
    let mut dst = BytesMut::new();
    codec.encode(place, value, &mut dst).map(|()| dst.freeze())
}

fn in_their_binary(value: &impl TSerializable) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.write_to_out_protocol(&mut TBinaryOutputProtocol::new(&mut bytes, true)).unwrap();
    bytes
}

fn in_their_compact(value: &impl TSerializable) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.write_to_out_protocol(&mut TCompactOutputProtocol::new(&mut bytes)).unwrap();
    bytes
}

/// The bytes are those of the `thrift` crate, in both directions.
#[test]
fn the_bytes_are_theirs() {
    for shelf in [full(), empty(), Shelf::default()] {
        let binary = encoded(Binary, Place::Arguments, &shelf).unwrap();
        assert_eq!(binary, in_their_binary(&shelf));
        assert_eq!(Binary.decode(Place::Arguments, binary.clone()), Ok(shelf.clone()));
        let mut theirs = TBinaryInputProtocol::new(&binary[..], true);
        assert_eq!(Shelf::read_from_in_protocol(&mut theirs).unwrap(), shelf);

        let compact = encoded(Compact, Place::Arguments, &shelf).unwrap();
        assert_eq!(compact, in_their_compact(&shelf));
        assert_eq!(Compact.decode(Place::Arguments, compact.clone()), Ok(shelf.clone()));
        let mut theirs = TCompactInputProtocol::new(&compact[..]);
        assert_eq!(Shelf::read_from_in_protocol(&mut theirs).unwrap(), shelf);
    }
}

#[test]
fn what_is_cut_or_has_more_behind_it_is_refused() {
    fn check<C: Encode<Shelf> + Decode<Shelf>>(codec: C) {
        let bytes = encoded(codec.clone(), Place::Arguments, &full()).unwrap();
        for len in 0..bytes.len() {
            assert!(codec.decode(Place::Arguments, bytes.slice(..len)).is_err(), "{len} bytes");
        }
        let longer = Bytes::from([&bytes[..], &[0]].concat());
        assert_eq!(codec.decode(Place::Arguments, longer).unwrap_err().kind(), DecodeErrorKind::Leftover);
    }
    check(Binary);
    check(Compact);
}

/// A message is the method's one argument, and stands in the struct of all arguments as field 1.
#[test]
fn one_argument_is_wrapped() {
    let book = Book::new(7, None);
    let wrapped = encoded(Compact, Place::Message, &book).unwrap();
    assert_eq!(wrapped, [&[0x1c][..], &in_their_compact(&book), &[0]].concat());
    assert_eq!(Compact.decode(Place::Message, wrapped), Ok(book.clone()));
    let wrapped = encoded(Binary, Place::Message, &book).unwrap();
    assert_eq!(wrapped, [&[0x0c, 0, 1][..], &in_their_binary(&book), &[0]].concat());
    assert_eq!(Binary.decode(Place::Message, wrapped), Ok(book));
    let missing: Result<Book, DecodeError> = Binary.decode(Place::Message, Bytes::from_static(&[0]));
    assert_eq!(missing.unwrap_err().kind(), DecodeErrorKind::Missing);

    let text = Plain("text".to_owned());
    let wrapped = encoded(Compact, Place::Message, &text).unwrap();
    assert_eq!(wrapped, b"\x18\x04text\x00"[..]);
    assert_eq!(Compact.decode(Place::Message, wrapped), Ok(text));
    let missing: Result<Plain<bool>, DecodeError> = Binary.decode(Place::Message, Bytes::from_static(&[0]));
    assert_eq!(missing.unwrap_err().kind(), DecodeErrorKind::Missing);
    assert_eq!(encoded(Binary, Place::Message, &Plain(())).unwrap(), [0][..]);
    assert_eq!(Binary.decode(Place::Message, Bytes::from_static(&[0])), Ok(Plain(())));
}

#[derive(Debug, PartialEq)]
enum PutException {
    Full(Struct<Full>),
}

impl ThriftException for PutException {
    fn write_field<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        let Self::Full(full) = self;
        full.write_field(1, writer)
    }

    fn read_field<R: ThriftReader>(field: FieldHeader, reader: &mut R) -> Result<Option<Self>, DecodeError> {
        match (field.id, field.ttype) {
            (1, TType::Struct) => Struct::read(reader).map(|full| Some(Self::Full(full))),
            _ => Ok(None),
        }
    }
}

#[test]
fn outcomes() {
    fn check<C, R, E>(codec: &C, outcome: &Result<R, E>)
    where
        C: EncodeOutcome<R, E> + DecodeOutcome<R, E>,
        R: PartialEq + std::fmt::Debug,
        E: PartialEq + std::fmt::Debug,
    {
        let mut dst = BytesMut::new();
        codec.encode_outcome(Place::Result, outcome, &mut dst).unwrap();
        let bytes = dst.freeze();
        assert_eq!(codec.decode_outcome(Place::Result, bytes.clone()).as_ref(), Ok(outcome));
        for len in 0..bytes.len() {
            let cut: Result<Result<R, E>, _> = codec.decode_outcome(Place::Result, bytes.slice(..len));
            assert!(cut.is_err(), "{len} bytes");
        }
    }
    macro_rules! all {
        ($codec:expr) => {
            check::<_, Book, PutException>($codec, &Ok(Book::new(1, None)));
            check::<_, Book, _>($codec, &Err(PutException::Full(Struct(Full::new(3)))));
            check::<_, _, Never>($codec, &Ok(Plain(())));
            check::<_, _, Never>($codec, &Ok(Plain(true)));
            check::<_, _, Never>($codec, &Ok(Plain("text".to_owned())));
            let books = vec![Struct(Book::new(1, None)), Struct(Book::new(2, "t".to_owned()))];
            check::<_, _, Never>($codec, &Ok(Plain(books)));
            let nothing: Result<Result<Book, Never>, _> =
                $codec.decode_outcome(Place::Result, Bytes::from_static(&[0]));
            assert_eq!(nothing.unwrap_err().kind(), DecodeErrorKind::MissingResult);
        };
    }
    all!(&Binary);
    all!(&Compact);
}

/// Where the `thrift` crate's own reading goes astray, or reserves memory for what is not there.
#[test]
fn hostile_bytes() {
    fn refused<T: TSerializable + std::fmt::Debug>(bytes: &[u8]) -> DecodeError {
        Decode::<T>::decode(&Binary, Place::Arguments, Bytes::copy_from_slice(bytes)).unwrap_err()
    }
    // field 9, a list of texts: more than the bytes hold; fewer than are claimed; less than none
    let error = refused::<Shelf>(&[15, 0, 9, 11, 0x7f, 0xff, 0xff, 0xff, 0]);
    assert_eq!(error.kind(), DecodeErrorKind::Limit, "{error}");
    let error = refused::<Shelf>(&[15, 0, 9, 11, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9, 0]);
    assert_eq!(error.kind(), DecodeErrorKind::Limit, "{error}");
    let error = refused::<Shelf>(&[15, 0, 9, 11, 0xff, 0xff, 0xff, 0xff, 0]);
    assert!(error.to_string().contains("a size of -1"), "{error}");
    // field 9 as an i64, whose bytes would be read as a list of 2,130,706,432 texts
    let error = refused::<Shelf>(&[10, 0, 9, 11, 0x7f, 0, 0, 0, 0, 0, 0, 0]);
    assert!(error.to_string().contains("a value of type i64 where list is declared"), "{error}");
    // field 9 as a list of i32
    let error = refused::<Shelf>(&[15, 0, 9, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
    assert!(error.to_string().contains("a value of type i32 where string is declared"), "{error}");
    // field 7, a text that is not UTF-8
    assert_eq!(refused::<Shelf>(&[11, 0, 7, 0, 0, 0, 1, 0xff, 0]).kind(), DecodeErrorKind::NotUtf8);
    // no id
    assert!(refused::<Book>(&[0]).to_string().contains("Book.id"));
    assert!(refused::<Label>(&[0]).to_string().contains("empty union"));
    let deep = [&[12, 0, 1].repeat(DEPTH_LIMIT)[..], &[0; DEPTH_LIMIT + 1]].concat();
    assert_eq!(refused::<Chain>(&deep).kind(), DecodeErrorKind::Limit);
    let unknown = [&[15, 0, 99, 12, 0, 0, 0, 1].repeat(40)[..], &[0; 41]].concat();
    assert_eq!(refused::<Shelf>(&unknown).kind(), DecodeErrorKind::Limit);
}

/// The compiler's code for a union whose only field is unknown panics.
#[test]
fn a_panic_of_generated_code_is_an_error() {
    let unknown = [8, 0, 9, 0, 0, 0, 1, 0];
    let read: Result<Label, _> = Binary.decode(Place::Arguments, Bytes::copy_from_slice(&unknown));
    assert!(read.unwrap_err().to_string().contains("panicked"));
}

#[test]
fn unknown_fields_are_left_out() {
    let book = [8, 0, 1, 0, 0, 0, 7, 13, 0, 9, 11, 12, 0, 0, 0, 1, 0, 0, 0, 1, b'k', 2, 0, 1, 1, 0, 0];
    assert_eq!(Binary.decode(Place::Arguments, Bytes::copy_from_slice(&book)), Ok(Book::new(7, None)));
}

#[test]
fn depth_is_bounded_on_write() {
    let chain = |levels| (1..levels).fold(Chain::new(None), |rest, _| Chain::new(Box::new(rest)));
    assert!(encoded(Compact, Place::Arguments, &chain(DEPTH_LIMIT)).is_ok());
    let error = encoded(Compact, Place::Arguments, &chain(DEPTH_LIMIT + 1)).unwrap_err();
    assert!(error.to_string().contains("deeper than 64 levels"), "{error}");
    assert!(encoded(Binary, Place::Message, &chain(DEPTH_LIMIT)).is_err(), "the arguments are a level too");
}

/// An enum has no type that a struct's reader could check; a value of the kind is refused and not garbled.
#[test]
fn what_is_no_struct_is_refused() {
    let error = encoded(Binary, Place::Arguments, &Color::RED).unwrap_err();
    assert!(error.to_string().contains("no struct, union or exception"), "{error}");
    let read: Result<Color, _> =
        Binary.decode(Place::Arguments, Bytes::from_static(&[8, 0, 1, 0, 0, 0, 1, 0]));
    let error = read.unwrap_err();
    assert!(error.to_string().contains("a value of type struct where i32 is declared"), "{error}");
}

/// Code that was not generated, and does not keep to the order of calls when it reads.
macro_rules! wrong_readers {
    ($($name:ident: $reason:literal, $read:expr;)+) => {
        $(
            #[derive(Debug)]
            struct $name;

            impl TSerializable for $name {
                fn read_from_in_protocol(protocol: &mut dyn TInputProtocol) -> thrift::Result<Self> {
                    let read: fn(&mut dyn TInputProtocol) -> thrift::Result<()> = $read;
                    read(protocol).map(|()| Self)
                }

                fn write_to_out_protocol(&self, _: &mut dyn TOutputProtocol) -> thrift::Result<()> {
                    unreachable!("it is read alone")
                }
            }
        )+

        #[test]
        fn wrong_readers_are_refused() {
            let bytes = Bytes::from_static(&[15, 0, 1, 3, 0, 0, 0, 2, 5, 6, 0]); // field 1, a list of two i8
            $(
                let read: Result<$name, _> = Binary.decode(Place::Arguments, bytes.clone());
                let error = read.unwrap_err().to_string();
                assert!(error.contains($reason), "{}: {error}", stringify!($name));
            )+
        }
    };
}
wrong_readers! {
    Message: "reads a message", |protocol| protocol.read_message_begin().map(drop);
    Nothing: "did not read it to its end", |_| Ok(());
    NoEnd: "did not read it to its end", |protocol| protocol.read_struct_begin().map(drop);
    NoValue: "reads a field where none is", |protocol| {
        protocol.read_struct_begin()?;
        protocol.read_field_begin()?;
        protocol.read_field_begin().map(drop)
    };
    HalfAList: "ends a container before its elements do", |protocol| {
        protocol.read_struct_begin()?;
        protocol.read_field_begin()?;
        protocol.read_list_begin()?;
        protocol.read_i8()?;
        protocol.read_list_end()
    };
    TooMuch: "reads what is not there", |protocol| {
        protocol.read_struct_begin()?;
        protocol.read_field_begin()?;
        protocol.read_list_begin()?;
        for _ in 0..3 {
            protocol.read_i8()?;
        }
        Ok(())
    };
}

/// The same for writing.
struct WrongWriter(Write);

type Write = fn(&mut dyn TOutputProtocol) -> thrift::Result<()>;

impl TSerializable for WrongWriter {
    fn read_from_in_protocol(_: &mut dyn TInputProtocol) -> thrift::Result<Self> {
        unreachable!("it is written alone")
    }

    fn write_to_out_protocol(&self, protocol: &mut dyn TOutputProtocol) -> thrift::Result<()> {
        (self.0)(protocol)
    }
}

#[test]
fn wrong_writers_are_refused() {
    let cases: [(&str, Write); 4] = [
        ("did not write one struct", |_| Ok(())),
        ("did not write one struct", |protocol| protocol.write_struct_begin(&TStructIdentifier::new("S"))),
        ("no struct, union or exception", |protocol| protocol.write_i64(1)),
        ("less than no elements", |protocol| {
            protocol.write_struct_begin(&TStructIdentifier::new("S"))?;
            protocol.write_list_begin(&TListIdentifier::new(thrift::protocol::TType::I64, -1))
        }),
    ];
    for (reason, write) in cases {
        let error = encoded(Binary, Place::Arguments, &WrongWriter(write)).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}

/// The framings differ from those of this crate's own types in the codec alone.
#[test]
fn framings() {
    assert_eq!(Framing::name(&apache::framed()), Framing::name(&codec_thrift::framed()));
    assert_eq!(Framing::name(&apache::buffered_compact()), Framing::name(&codec_thrift::buffered_compact()));
    let unframed = [0x80, 1, 0, 1];
    assert_eq!(MakeProtocol::detect(&apache::buffered(), &unframed), rpc_wire::Detect::Yes);
    assert_eq!(MakeProtocol::detect(&apache::framed_compact(), &unframed), rpc_wire::Detect::No);
}
