//! The compact protocol: numbers as varints, field ids as steps from the last, types in half a byte.
//!
//! - `writer`, `reader`: values.
//! - `header`: what stands before a message. `grammar`: where one ends that has no frame around it.
//! - `varint`: numbers in as few bytes as they need. `field_ids`: the ids that the steps start from.
//!
//! Doubles are little-endian, as Apache's libraries agree; volo writes them the other way round, which nobody else reads.
//!
//! Source: `wire/thrift.md` §1, §3.

mod field_ids;
mod grammar;
mod header;
mod reader;
mod varint;
mod writer;

pub use header::Header;
pub use reader::Reader;
pub use writer::Writer;

use crate::TType;

/// A type's number in the protocol. Of a bool it is the one that stands in containers; in a field's header it says the value
/// too: [`TRUE`] or [`FALSE`].
const fn number(ttype: TType) -> u8 {
    match ttype {
        TType::Stop => 0,
        TType::Bool => TRUE,
        TType::I8 => 3,
        TType::I16 => 4,
        TType::I32 => 5,
        TType::I64 => 6,
        TType::Double => 7,
        TType::String => 8,
        TType::List => 9,
        TType::Set => 10,
        TType::Map => 11,
        TType::Struct => 12,
        TType::Uuid => 13,
    }
}

const fn from_number(number: u8) -> Option<TType> {
    Some(match number {
        0 => TType::Stop,
        TRUE | FALSE => TType::Bool,
        3 => TType::I8,
        4 => TType::I16,
        5 => TType::I32,
        6 => TType::I64,
        7 => TType::Double,
        8 => TType::String,
        9 => TType::List,
        10 => TType::Set,
        11 => TType::Map,
        12 => TType::Struct,
        13 => TType::Uuid,
        _ => return None,
    })
}

const TRUE: u8 = 1;
const FALSE: u8 = 2;

/// Counts up to this stand beside the elements' type.
const MAX_SHORT_COUNT: u8 = 14;
/// Steps between field ids up to this stand beside the field's type.
const MAX_STEP: i16 = 15;
