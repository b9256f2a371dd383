//! The suite for codecs, over the codecs that are here.

use codec_msgpack::MsgPack;
use codec_protobuf::Protobuf;
use codec_thrift::{Binary, Compact};
use rpc_core::{Never, Place};
use rpc_test::codec::{Leftover, Truncated, outcomes, refuses, refuses_outcome, suite};
use rpc_test::{Answer, Text};
use tests_matrix::probe_idl::{Bag, GrowArgs, Oops, ProbeException, SwapArgs, Tree};

fn texts() -> Vec<Text> {
    ["x", "hi", "ünïcödé", &"long ".repeat(2000)].map(Text::new).into()
}

fn answers() -> Vec<Result<Answer, Never>> {
    texts().into_iter().map(|text| Ok(text.into())).collect()
}

/// Bounds on a codec for all of these types would be longer than the test.
macro_rules! thrift {
    ($codec:expr) => {{
        let (truncated, leftover) = (Truncated::IsRefused, Leftover::IsRefused);
        suite($codec, Place::Arguments, &texts(), truncated, leftover);
        outcomes($codec, &answers(), truncated, leftover);
        outcomes($codec, &[Ok::<(), Never>(())], truncated, leftover);
        let bag = Bag {
            id: Some(i64::MIN),
            name: Some(String::new()),
            blob: Some([0, 255].as_slice().into()),
            uniq: Some([1, -1].into()),
        };
        let bare = Bag { id: Some(0), ..Bag::default() };
        let bags = [bag.clone(), bare].map(|bag| SwapArgs { bag: Some(bag) });
        suite($codec, Place::Arguments, &bags, truncated, leftover);
        let trees = [1, 2, 32].map(|levels| GrowArgs { tree: Some(Tree::nested(levels)) });
        suite($codec, Place::Arguments, &trees, truncated, leftover);
        let thrown = ProbeException::Oops(Oops { code: Some(5), text: Some("bad".into()) });
        outcomes($codec, &[Ok(bag), Err(thrown)], truncated, leftover);

        refuses($codec, Place::Arguments, &Text::unencodable());
        refuses_outcome($codec, &Ok::<_, Never>(Answer::unencodable()));
        refuses($codec, Place::Arguments, &GrowArgs { tree: Some(Tree::nested(33)) });
    }};
}

#[test]
fn thrift_binary() {
    thrift!(&Binary);
}

#[test]
fn thrift_compact() {
    thrift!(&Compact);
}

#[test]
fn msgpack() {
    for codec in [MsgPack::new(), MsgPack::new().structs_as_maps(true), MsgPack::new().raw_compat(true)] {
        for place in [Place::Arguments, Place::Message, Place::Item] {
            suite(&codec, place, &texts(), Truncated::IsRefused, Leftover::IsRefused);
            refuses(&codec, place, &Text::unencodable());
        }
        outcomes(&codec, &answers(), Truncated::IsRefused, Leftover::IsRefused);
        outcomes(&codec, &[Err::<(), _>(Text::new("bad"))], Truncated::IsRefused, Leftover::IsRefused);
        refuses_outcome(&codec, &Ok::<_, Never>(Answer::unencodable()));
        refuses_outcome(&codec, &Err::<(), _>(Text::unencodable()));
    }
}

#[test]
fn protobuf() {
    // A message without its last field is a message, and bytes behind it are more fields.
    let (truncated, leftover) = (Truncated::MayPass, Leftover::BelongsToIt);
    for place in [Place::Arguments, Place::Message, Place::Item] {
        suite(&Protobuf, place, &texts(), truncated, leftover);
    }
    outcomes(&Protobuf, &answers(), truncated, leftover);
    outcomes(&Protobuf, &[Ok::<(), Never>(())], truncated, leftover);
}
