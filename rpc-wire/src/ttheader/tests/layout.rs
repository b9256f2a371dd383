use rpc_core::Name;

use super::*;
use crate::Answer;
use crate::testing::{echo, every_way};
use crate::ttheader::info::MAX_PAIRS;

#[test]
fn a_call_is_kitexs_byte_for_byte() {
    let framing = with(|config| {
        config.caller = Some("cli".into());
        config.callee = Some("svc".into());
        config.out_of_order = false;
    });
    let head = RequestHead { service: Name::from_static("idl.Echo"), ..echo() };
    assert_eq!(encode(&framing, &head).unwrap(), h1());
    match decode(&h1()).unwrap() {
        Frame::Request { id: 1, head, body, answer: Answer::Wanted, .. } => {
            assert_eq!((head.service, head.method), (Name::from_static("Echo"), Name::from_static("echo")));
            assert_eq!((body, head.metadata.len(), head.deadline), (Bytes::from_static(HI), 0, None));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn answers_stand_as_their_requests_did() {
    for (payload, len) in [(Payload::Framed, 4 + 26), (Payload::Bare, 26)] {
        let asked = encode(&with(|config| config.payload = payload), &echo()).unwrap();
        let (_, mirror) = request(&asked);
        let bytes = answer(&framing(), &mirror, &ResponseHead::ok(), RESULT).unwrap();
        // Length, magic, no flags, id; then a header with the kind alone.
        assert_eq!(bytes[4..12], [0x10, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(bytes[12..14], [0, 3]);
        assert_eq!(bytes[14..26], [0, 0, 0x10, 0, 1, 0, 22, 0, 1, b'2', 0, 0]);
        assert_eq!(bytes.len(), 26 + len);
        assert!(bytes.ends_with(&t4()));
    }
}

#[test]
fn a_frame_has_to_fill_its_place() {
    for len in [25, 27, u32::MAX] {
        let payload = [&len.to_be_bytes()[..], &t1()].concat();
        assert!(decode(&packet(0, 1, &payload, |_| ())).is_err(), "{len}");
    }
    for payload in [&b""[..], &[0; 4], &[0x80], &[0x82, 0x21, 1, 4], &[0; 30]] {
        assert!(decode(&packet(0, 1, payload, |_| ())).is_err(), "{payload:02x?}");
    }
}

#[test]
fn the_protocol_id_is_not_believed() {
    for id in [0, 2, 3, 4, 0x10, 0x11, 0xff] {
        let mut bytes = h1();
        bytes[14] = id;
        assert_eq!(request(&bytes).0.method, "echo");
    }
}

#[test]
fn checksums_are_written_and_verified() {
    let asked = encode(&with(|config| config.checksum = true), &echo()).unwrap();
    assert!(asked.windows(8).any(|window| window == b"3e4685e4"), "that of the framed call");
    let (_, mirror) = request(&asked);
    let answered = answer(&framing(), &mirror, &ResponseHead::ok(), RESULT).unwrap();
    assert!(answered.windows(6).any(|window| window == b"crc32c"), "as it was asked");
    assert!(response(&answered).metadata.is_empty());
    let large: &'static [u8] = vec![7; WriteBuf::CHAIN_FROM].leak();
    let chained = answer(&framing(), &mirror, &ResponseHead::ok(), large).unwrap();
    assert!(response(&chained).status.is_ok());
    for mut bytes in [asked, answered] {
        *bytes.last_mut().unwrap() ^= 1;
        assert!(decode(&bytes).is_err());
    }
}

#[test]
fn detection_takes_the_magic_number() {
    let h1 = h1();
    for len in 0..6 {
        assert_eq!(Framing::detect(&framing(), &h1[..len]), Detect::NeedMore, "{len} bytes");
    }
    assert_eq!(Framing::detect(&framing(), &h1[..6]), Detect::Yes);
    for other in
        [&b"PRI * HT"[..], &[0x80, 1], &[0, 0, 0, 26, 0x80], &[0, 0, 0, 26, 0x10, 1], &[2, 0, 0, 0, 0x10, 0]]
    {
        assert_eq!(Framing::detect(&framing(), other), Detect::No);
    }
}

/// Headers that lie about a length or a count, or have what is not known.
#[test]
fn bad_headers_end_the_connection() {
    let header = |info: &[u8]| {
        let mut padded = [&[0, 0][..], info].concat();
        padded.resize(padded.len().next_multiple_of(4), 0);
        written(|dst| {
            dst.put_u32(u32::try_from(10 + padded.len() + t1().len()).unwrap());
            dst.put_slice(&[0x10, 0, 0, 0, 0, 0, 0, 1]);
            dst.put_u16(u16::try_from(padded.len() / 4).unwrap());
            dst.put_slice(&padded);
            dst.put_slice(&t1());
        })
    };
    assert!(decode(&header(&[])).is_ok());
    assert!(decode(&header(&[0, 0, 1, 0, 0, 0, 0x10, 0, 0, 0])).is_ok(), "padding may stand anywhere");
    let bad: [&[u8]; 10] = [
        &[0x02],
        &[0x01, 0],
        &[0x01, 0xff, 0xff],
        &[0x01, 0, 1, 0, 9],
        &[0x01, 0, 1, 0, 1, b'k', 0xff, 0xff],
        &[0x10, 0, 2, 0, 9, 0, 0],
        &[0x10, 0, 1, 0, 9, 0, 30],
        &[0x11],
        &[0x11, 0, 9, 1],
        &[0x12, 0, 0],
    ];
    for info in bad {
        assert!(decode(&header(info)).is_err(), "{info:02x?}");
    }
    let mut transformed = h1();
    transformed[15] = 1;
    assert!(decode(&transformed).is_err());
    for (at, value) in [(12, [0, 0]), (12, [0xff, 0xff]), (4, [0x10, 1]), (4, [0x0f, 0xff])] {
        let mut bytes = h1();
        bytes[at..at + 2].copy_from_slice(&value);
        assert!(decode(&bytes).is_err(), "{value:02x?} at {at}");
    }
    for len in [0, 10, u32::try_from(LIMIT).unwrap() + 1, i32::MAX.cast_unsigned(), u32::MAX] {
        let mut bytes = h1();
        bytes[..4].copy_from_slice(&len.to_be_bytes());
        assert!(decode(&bytes).is_err(), "a length of {len}");
    }
    let pairs: Vec<u8> = std::iter::repeat_n([0, 9, 0, 0], MAX_PAIRS + 1).flatten().collect();
    let count = u16::try_from(MAX_PAIRS + 1).unwrap().to_be_bytes();
    assert!(decode(&header(&[&[0x10], &count[..], &pairs].concat())).is_err());
}

#[test]
fn every_prefix_is_incomplete() {
    for message in [h1(), h2(), h3()] {
        for len in 0..message.len() {
            assert!(
                framing().decode(&mut BytesMut::from(&message[..len]), LIMIT).unwrap().is_none(),
                "{len}"
            );
        }
    }
}

#[test]
fn every_split_gives_the_same() {
    let closing = packet(0, 1, &t4(), texts(&[("crrst", b"1"), ("k", b"v")]));
    every_way(&framing(), &[h1(), closing]);
    every_way(&framing(), &[h2(), h3()]);
    let summed = encode(&with(|config| config.checksum = true), &echo()).unwrap();
    every_way(&framing(), &[packet(0, 1, &t5(), |_| ()), summed]);
}
