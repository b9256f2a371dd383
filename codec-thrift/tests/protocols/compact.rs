//! The bytes of the compact protocol against written ones, which an encoder of other make produced.

use std::time::Instant;

use crate::support::{Value, golden, in_compact, in_frame, nested, taken, written};
use bytes::{Buf, Bytes, BytesMut};
use codec_thrift::compact::{Reader, Writer};
use codec_thrift::{CompactHeader, DEPTH_LIMIT, TType, ThriftReader, framed_compact};
use rpc_core::{Code, DecodeErrorKind, RequestHead, ResponseHead, Status};
use rpc_wire::{CallId, Detect, Event, Kind, Limits, MakeProtocol, MessageHeader, More, Protocol, WriteBuf};

fn call() -> Vec<u8> {
    golden(include_str!("../../testdata/compact-call.hex"))
}

fn exception() -> Vec<u8> {
    golden(include_str!("../../testdata/compact-exception.hex"))
}

fn read(ttype: TType, bytes: &[u8]) -> Value {
    let mut reader = Reader::new(Bytes::copy_from_slice(bytes));
    let value = Value::read(ttype, &mut reader).unwrap();
    reader.finish().unwrap();
    value
}

/// What both reading and leaving out say of these bytes.
fn refused(ttype: TType, bytes: &[u8]) -> (DecodeErrorKind, String) {
    let reader = || Reader::new(Bytes::copy_from_slice(bytes));
    let error = Value::read(ttype, &mut reader()).unwrap_err();
    assert_eq!(reader().skip(ttype).unwrap_err().to_string(), error.to_string());
    (error.kind(), error.to_string())
}

/// The payload of `echo("hi")`.
const ARGUMENTS: &[u8] = &[0x18, 2, b'h', b'i', 0];

#[test]
fn a_call_in_a_frame() {
    let mut client = framed_compact().client(&Limits::default(), CallId(1));
    let head = RequestHead { method: "echo".into(), ..RequestHead::default() };
    client.open(&head, &Bytes::from_static(ARGUMENTS), More::Done).unwrap();
    assert_eq!(written(&mut client), in_frame(&call()));

    let mut server = framed_compact().server(&Limits::default());
    server.handle_input(Instant::now(), &mut BytesMut::from(&in_frame(&call())[..])).unwrap();
    let Some(Event::Request { id, head, body, .. }) = server.poll_event() else { panic!("no request") };
    assert_eq!((head.method, &body[..]), ("echo".into(), ARGUMENTS));
    let failed = ResponseHead::failed(Status::unimplemented("unknown method"));
    server.reply(id, &failed, &Bytes::new(), More::Done).unwrap();
    let mut answer = exception();
    answer.splice(2..7, [1]);
    assert_eq!(written(&mut server), in_frame(&answer));
}

/// The id is the varint of its bits, whatever its sign.
#[test]
fn a_header_with_a_negative_id() {
    let mut out = WriteBuf::new();
    let id = (-1_i32).cast_unsigned();
    CompactHeader.write(Kind::Exception, b"echo", id, &mut out);
    assert_eq!(out.remaining(), CompactHeader.header_len(4, id));
    CompactHeader.write_exception(&Status::unimplemented("unknown method"), out.tail_mut());
    assert_eq!(taken(&mut out), exception());

    let mut message = Bytes::from(exception());
    let head = CompactHeader.read(&mut message).unwrap();
    assert_eq!((head.kind, head.name, head.id), (Kind::Exception as u8, "echo".into(), id));
    let status = CompactHeader.read_exception(message).unwrap();
    let found = (status.code(), status.wire_code(), status.message());
    assert_eq!(found, (Code::Unimplemented, Some(1), "unknown method"));
}

#[test]
fn the_length_of_a_header_is_known_before_it_is_written() {
    for id in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000, 0xfff_ffff, 0x1000_0000, u32::MAX] {
        for name in [0, 1, 127, 128, 20_000] {
            let mut out = WriteBuf::new();
            CompactHeader.write(Kind::Call, &vec![b'n'; name], id, &mut out);
            assert_eq!(out.remaining(), CompactHeader.header_len(name, id), "{id:x} {name}");
            let head = CompactHeader.read(&mut Bytes::from(taken(&mut out))).unwrap();
            assert_eq!((head.id, head.name.as_bytes().len()), (id, name));
        }
    }
}

#[test]
fn headers_that_are_none() {
    for len in 0..8 {
        // From the fourth byte on the name's length is known, and then it is that which can not be.
        let expected = if len < 4 { DecodeErrorKind::Truncated } else { DecodeErrorKind::Limit };
        let error = CompactHeader.read(&mut Bytes::from(call()).slice(..len)).unwrap_err();
        assert_eq!(error.kind(), expected, "{len} bytes: {error}");
    }
    let others: [&[u8]; 4] = [&[0x80, 0x01, 0, 1], &[0x82, 0x22, 1, 0], &[0x82, 0x20, 1, 0], b"GET /"];
    for other in others {
        assert_eq!(CompactHeader.detect(other), Detect::No, "{other:x?}");
        let error = CompactHeader.read(&mut Bytes::from_static(other)).unwrap_err();
        assert!(error.to_string().contains("bad version"), "{error}");
    }
    assert_eq!(CompactHeader.detect(&[]), Detect::NeedMore);
    assert_eq!(CompactHeader.detect(&[0x82]), Detect::NeedMore);
    assert_eq!(CompactHeader.detect(&call()[..2]), Detect::Yes);
    let overlong = [0x82, 0x21, 0xff, 0xff, 0xff, 0xff, 0x1f, 0];
    let error = CompactHeader.read(&mut Bytes::copy_from_slice(&overlong)).unwrap_err();
    assert!(error.to_string().contains("varint of more than 32 bits"), "{error}");
}

#[test]
fn a_struct_with_a_bool_a_double_and_a_step_too_far() {
    let bytes = golden(include_str!("../../testdata/compact-struct.hex"));
    let fields = vec![(1, Value::Bool(true)), (2, Value::Double(1.5_f64.to_bits())), (20, Value::I64(-3))];
    assert_eq!(in_compact(&Value::Struct(fields.clone())), bytes);
    assert_eq!(read(TType::Struct, &bytes), Value::Struct(fields));
}

/// Ids go on behind a nested struct where they were before it, in either direction.
#[test]
fn ids_of_nested_structs_are_their_own() {
    let inner = Value::Struct(vec![(7, Value::I8(-1)), (-2, Value::Bool(false))]);
    let list = Value::List(TType::List, TType::Struct, vec![inner.clone(), Value::Struct(vec![])]);
    let outer = Value::Struct(vec![(3, inner), (4, list), (19, Value::I16(-3)), (18, Value::I8(1))]);
    let bytes = golden(
        "3c 73 ff 02 03 00       # field 3: a struct, its field 7, then its field -2
         19 2c 73 ff 02 03 00 00 # field 4: a list of two structs, the second of them empty
         f4 05                   # field 19: 15 steps
         03 24 01                # field 18: back
         00",
    );
    assert_eq!(in_compact(&outer), bytes);
    assert_eq!(read(TType::Struct, &bytes), outer);
}

#[test]
fn containers() {
    let bools = |values: &[bool]| {
        Value::List(TType::List, TType::Bool, values.iter().copied().map(Value::Bool).collect())
    };
    let bytes_of = |count| Value::List(TType::Set, TType::I8, vec![Value::I8(5); count]);
    let map = Value::Map(TType::String, TType::I32, vec![(Value::Bytes(b"k".to_vec()), Value::I32(-65))]);
    let uuid = Value::Uuid(*b"0123456789abcdef");
    let cases = [
        (bools(&[true, false]), golden("21 01 02")),
        (bytes_of(14), [vec![0xe3], vec![5; 14]].concat()),
        (bytes_of(15), [vec![0xf3, 15], vec![5; 15]].concat()),
        (bytes_of(300), [vec![0xf3, 0xac, 2], vec![5; 300]].concat()),
        (map, golden("01 85 01 6b 81 01")),
        (Value::Map(TType::Stop, TType::Stop, vec![]), golden("00")),
        (Value::List(TType::List, TType::Uuid, vec![uuid]), [&[0x1d][..], b"0123456789abcdef"].concat()),
    ];
    for (value, bytes) in cases {
        assert_eq!(in_compact(&value), bytes);
        assert_eq!(read(value.ttype(), &bytes), value);
    }
    // An empty map forgets its types; one of bools may name its type in either way, and false has two spellings.
    assert_eq!(in_compact(&Value::Map(TType::I8, TType::List, vec![])), [0]);
    for spelling in ["21 01 02", "22 01 02", "21 01 00", "22 01 00", "f2 02 01 00"] {
        assert_eq!(read(TType::List, &golden(spelling)), bools(&[true, false]), "{spelling}");
    }
    let pairs = vec![(Value::Bool(true), Value::Bool(false))];
    assert_eq!(read(TType::Map, &golden("01 12 01 00")), Value::Map(TType::Bool, TType::Bool, pairs));
}

#[test]
fn extremes() {
    let cases = [
        (Value::I16(i16::MIN), golden("ff ff 03")),
        (Value::I16(i16::MAX), golden("fe ff 03")),
        (Value::I32(i32::MIN), golden("ff ff ff ff 0f")),
        (Value::I64(i64::MIN), golden("ff ff ff ff ff ff ff ff ff 01")),
        (Value::I64(i64::MAX), golden("fe ff ff ff ff ff ff ff ff 01")),
        (Value::Double((-0.0_f64).to_bits()), golden("00 00 00 00 00 00 00 80")),
        (Value::Double(0x7ff8_0000_0000_0001), golden("01 00 00 00 00 00 f8 7f")),
    ];
    for (value, bytes) in cases {
        assert_eq!(in_compact(&value), bytes);
        assert_eq!(read(value.ttype(), &bytes), value);
    }
}

#[test]
fn what_is_claimed_is_checked() {
    let claims = [
        (TType::String, "ff ff ff ff 0f"),
        (TType::List, "f3 ff ff ff ff 07 01 01"),
        (TType::List, "27 00 00 00 00 00 00 00 00"), // two doubles in eight bytes
        (TType::Map, "ff ff ff ff 07 33 01 01"),
        (TType::Map, "02 33 01 01 01"),
    ];
    for (ttype, bytes) in claims {
        let (kind, text) = refused(ttype, &golden(bytes));
        assert_eq!(kind, DecodeErrorKind::Limit, "{bytes}");
        assert!(text.contains("is claimed where"), "{text}");
    }
    let malformed = [
        (TType::Struct, "1e", "there is no type 14"),
        (TType::Struct, "10", "there is no type 0"),
        (TType::Struct, "05 fe ff 03 00 15 00", "a field id beyond 16 bits"), // 32,767, then one step
        (TType::Struct, "05 80 80 04", "an i16 beyond 16 bits"),
        (TType::I16, "80 80 04", "an i16 beyond 16 bits"),
        (TType::I32, "ff ff ff ff 1f", "a varint of more than 32 bits"),
        (TType::I64, "ff ff ff ff ff ff ff ff ff 02", "a varint of more than 64 bits"),
        (TType::List, "1f 00", "there is no type 15"),
    ];
    for (ttype, bytes, reason) in malformed {
        let (kind, text) = refused(ttype, &golden(bytes));
        assert_eq!(kind, DecodeErrorKind::Malformed, "{bytes}");
        assert!(text.contains(reason), "{text}");
    }
}

#[test]
fn depth_is_bounded_in_both_directions() {
    let deepest = nested(DEPTH_LIMIT);
    assert_eq!(read(TType::Struct, &in_compact(&deepest)), deepest);
    let mut dst = BytesMut::new();
    let error = nested(DEPTH_LIMIT + 1).write(&mut Writer::new(&mut dst)).unwrap_err();
    assert!(error.to_string().contains("deeper than 64 levels"), "{error}");
    for (ttype, level) in [(TType::Struct, &[0x1c][..]), (TType::List, &[0x19]), (TType::Map, &[1, 0x3b, 0])]
    {
        let (kind, text) = refused(ttype, &level.repeat(DEPTH_LIMIT + 1));
        assert_eq!(kind, DecodeErrorKind::Limit);
        assert!(text.contains("deeper than 64 levels"), "{text}");
    }
}
