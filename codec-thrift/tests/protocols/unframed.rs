//! Where messages end that have no frame around them.

use bytes::Bytes;
use codec_thrift::{
    BinaryHeader, CompactHeader, DEPTH_LIMIT, TType, binary, buffered, buffered_compact, compact,
    framed_compact,
};
use proptest::prelude::*;
use rpc_wire::{Buffered, Kind, MessageHeader, Unframed, WriteBuf};

use crate::support::{Reads, any_struct, golden, in_binary, in_compact, in_frame, nested, taken};

const LIMIT: usize = 1 << 20;

fn message<H: MessageHeader>(header: &H, name: &str, id: u32, body: &[u8]) -> Vec<u8> {
    let mut out = WriteBuf::new();
    header.write(Kind::Call, name.as_bytes(), id, &mut out);
    out.put_slice(body);
    taken(&mut out)
}

fn whole<H: Unframed>(header: &H, src: &[u8], limit: usize) -> Result<Option<usize>, String> {
    header.scan(&mut H::Scan::default(), src, limit).map_err(|error| error.to_string())
}

/// The answer when the bytes come in pieces, the first that is not "not whole yet".
fn in_pieces<H: Unframed>(header: &H, src: &[u8], cuts: &[usize]) -> Result<Option<usize>, String> {
    let mut scan = H::Scan::default();
    for cut in cuts.iter().copied().chain([src.len()]) {
        match header.scan(&mut scan, &src[..cut], LIMIT) {
            Ok(None) => {}
            other => return other.map_err(|error| error.to_string()),
        }
    }
    Ok(None)
}

/// The end is found, however the bytes come and whatever follows; and not before they are whole.
fn ends<H: Unframed>(header: &H, message: &[u8], cuts: &[prop::sample::Index]) {
    let all = [message, &[0x0c, 0, 1]].concat();
    assert_eq!(whole(header, &all, LIMIT), Ok(Some(message.len())));
    assert_eq!(whole(header, message, message.len()), Ok(Some(message.len())));
    assert!(whole(header, message, message.len() - 1).unwrap_err().contains("too large"));
    for len in 0..message.len() {
        assert_eq!(whole(header, &message[..len], LIMIT), Ok(None), "{len} of {}", message.len());
    }
    let bytewise: Vec<_> = (0..message.len()).collect();
    assert_eq!(in_pieces(header, message, &bytewise), Ok(Some(message.len())));
    let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(all.len())).collect();
    cuts.sort_unstable();
    assert_eq!(in_pieces(header, &all, &cuts), Ok(Some(message.len())));
}

/// Whatever the bytes are, the pieces in which they come change nothing; and where the struct behind the header can be left
/// out, the message ends behind it.
fn agrees<H: Unframed, R: Reads>(header: &H, src: &[u8], cuts: &[prop::sample::Index]) {
    let at_once = whole(header, src, LIMIT);
    let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(src.len().max(1))).collect();
    cuts.sort_unstable();
    assert_eq!(in_pieces(header, src, &cuts), at_once);
    let mut body = Bytes::copy_from_slice(src);
    if header.read(&mut body).is_err() {
        assert!(!matches!(at_once, Ok(Some(_))), "a message without a header ends");
        return;
    }
    // What leaves the struct out is told by how much of it is left behind.
    let ends: Vec<_> = (0..=body.len())
        .filter(|len| {
            let mut reader = R::over(&body[..*len]);
            reader.skip(TType::Struct).is_ok() && reader.end().is_ok()
        })
        .collect();
    if let [end] = ends[..] {
        assert_eq!(at_once, Ok(Some(src.len() - body.len() + end)));
    }
}

proptest! {
    #[test]
    fn the_end_of_binary_is_found(
        value in any_struct(),
        name in "[a-z]{0,9}",
        id: u32,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
    ) {
        let strict = message(&BinaryHeader::new(), &name, id, &in_binary(&value));
        ends(&BinaryHeader::new(), &strict, &cuts);
        ends(&BinaryHeader::new().accept_non_strict(), &strict, &cuts);
        let kind = [Kind::Call as u8];
        let name_len = u32::try_from(name.len()).unwrap().to_be_bytes();
        let parts: [&[u8]; 5] = [&name_len, name.as_bytes(), &kind, &id.to_be_bytes(), &in_binary(&value)];
        ends(&BinaryHeader::new().accept_non_strict(), &parts.concat(), &cuts);
    }

    #[test]
    fn the_end_of_compact_is_found(
        value in any_struct(),
        name in "[a-z]{0,200}",
        id: u32,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
    ) {
        ends(&CompactHeader, &message(&CompactHeader, &name, id, &in_compact(&value)), &cuts);
    }

    #[test]
    fn any_bytes_are_scanned_the_same(
        body in prop::collection::vec(prop_oneof![any::<u8>(), 0_u8..32], 0..100),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
    ) {
        let strict = message(&BinaryHeader::new(), "m", 1, &body);
        agrees::<_, binary::Reader>(&BinaryHeader::new(), &strict, &cuts);
        agrees::<_, compact::Reader>(&CompactHeader, &message(&CompactHeader, "m", 1, &body), &cuts);
        for bytes in [&body, &[&[0][..], &body].concat()] {
            agrees::<_, binary::Reader>(&BinaryHeader::new().accept_non_strict(), bytes, &cuts);
            agrees::<_, compact::Reader>(&CompactHeader, bytes, &cuts);
        }
    }

    /// The same events come out of a whole connection, of good messages with a few bytes changed too.
    #[test]
    fn connections_see_the_same(
        values in prop::collection::vec(any_struct(), 1..4),
        step: u8,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let old = Buffered::new(BinaryHeader::new().accept_non_strict());
        let mut streams = [vec![step], vec![step], vec![step]];
        for (value, id) in values.iter().zip(1..) {
            streams[0].extend(message(&BinaryHeader::new(), "m", id, &in_binary(value)));
            let compact = message(&CompactHeader, "m", id, &in_compact(value));
            streams[2].extend(in_frame(&compact));
            streams[1].extend(compact);
        }
        for stream in &mut streams {
            for (at, byte) in &changes {
                let at = at.index(stream.len());
                stream[at] = *byte;
            }
        }
        let [binary, compact, framed] = &streams;
        rpc_wire::fuzz::frames(&buffered(), binary);
        rpc_wire::fuzz::frames(&old, binary);
        rpc_wire::fuzz::frames(&buffered_compact(), compact);
        rpc_wire::fuzz::frames(&framed_compact(), framed);
    }
}

/// Each is refused as soon as it is told, long before the bytes that it claims have come.
#[test]
fn hostile_claims() {
    let header = "80 01 00 01 00 00 00 01 6d 00 00 00 01";
    let cases = [
        ("80 01 00 01 7f ff ff ff", "2147483659 bytes claimed"),
        ("80 01 00 01 ff ff ff ff", "4294967307 bytes claimed"),
        ("0b 00 01 7f ff ff ff", "bytes claimed"),
        ("0b 00 01 ff ff ff ff", "a size of -1"),
        ("0f 00 01 0a 00 02 00 00", "bytes claimed"), // 131,072 of eight bytes each
        ("0f 00 01 0c 7f ff ff ff", "bytes claimed"),
        ("0d 00 01 0b 0b 7f ff ff ff", "bytes claimed"),
        ("0e 00 01 0a 80 00 00 00", "a size of -2147483648"),
        ("0f 00 01 00 00 00 00 01", "there is no type 0"),
        ("01 00 01", "there is no type 1"),
    ];
    for (bytes, reason) in cases {
        let bytes =
            if bytes.starts_with("80 01") { golden(bytes) } else { [golden(header), golden(bytes)].concat() };
        let error = whole(&BinaryHeader::new(), &bytes, LIMIT).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
    let cases = [
        ("82 21 01 ff ff ff ff 0f", "bytes claimed"),
        ("82 21 ff ff ff ff ff", "varint of more than 32 bits"),
        ("82 22 01", "bad version"),
        ("82 21 01 01 6d 18 ff ff ff 7f", "bytes claimed"),
        ("82 21 01 01 6d 18 ff ff ff ff 7f", "varint of more than 32 bits"),
        ("82 21 01 01 6d 19 fc ff ff ff ff 0f", "bytes claimed"),
        ("82 21 01 01 6d 19 f7 80 80 08", "bytes claimed"), // 131,072 of eight bytes each
        ("82 21 01 01 6d 1b ff ff ff ff 0f 33", "a map of 4294967295 pairs"),
        ("82 21 01 01 6d 1b ff ff ff ff 07 33", "bytes claimed"),
        ("82 21 01 01 6d 19 10", "there is no type 0"),
        ("82 21 01 01 6d 10", "there is no type 0"),
        ("82 21 01 01 6d 1f", "there is no type 15"),
    ];
    for (bytes, reason) in cases {
        let error = whole(&CompactHeader, &golden(bytes), LIMIT).unwrap_err();
        assert!(error.contains(reason), "{bytes}: {error}");
    }
}

#[test]
fn depth_is_bounded_without_a_stack() {
    let deepest = nested(DEPTH_LIMIT);
    let good = message(&BinaryHeader::new(), "m", 1, &in_binary(&deepest));
    assert_eq!(whole(&BinaryHeader::new(), &good, LIMIT), Ok(Some(good.len())));
    let good = message(&CompactHeader, "m", 1, &in_compact(&deepest));
    assert_eq!(whole(&CompactHeader, &good, LIMIT), Ok(Some(good.len())));
    for level in ["0c 00 01", "0f 00 01 0c 00 00 00 01", "0d 00 01 03 0c 00 00 00 01 00"] {
        let bytes = message(&BinaryHeader::new(), "m", 1, &golden(level).repeat(DEPTH_LIMIT));
        let error = whole(&BinaryHeader::new(), &bytes, LIMIT).unwrap_err();
        assert!(error.contains("deeper than 64 levels"), "{error}");
    }
    for level in ["1c", "19 1c", "1b 01 3c 00"] {
        let bytes = message(&CompactHeader, "m", 1, &golden(level).repeat(DEPTH_LIMIT));
        let error = whole(&CompactHeader, &bytes, LIMIT).unwrap_err();
        assert!(error.contains("deeper than 64 levels"), "{error}");
    }
}

/// What it holds does not grow with the message.
#[test]
fn a_scan_is_small() {
    assert!(size_of::<codec_thrift::Scan>() <= 640, "{} bytes", size_of::<codec_thrift::Scan>());
}
