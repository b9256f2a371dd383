use thrift::protocol::TType as Theirs;

use crate::TType;

/// The type as the `thrift` crate names it.
pub(super) fn theirs(ttype: TType) -> Theirs {
    match ttype {
        TType::Stop => Theirs::Stop,
        TType::Bool => Theirs::Bool,
        TType::I8 => Theirs::I08,
        TType::Double => Theirs::Double,
        TType::I16 => Theirs::I16,
        TType::I32 => Theirs::I32,
        TType::I64 => Theirs::I64,
        TType::String => Theirs::String,
        TType::Struct => Theirs::Struct,
        TType::Map => Theirs::Map,
        TType::Set => Theirs::Set,
        TType::List => Theirs::List,
        TType::Uuid => Theirs::Uuid,
    }
}

/// The type as this crate names it; `None` for those that are never on the wire.
pub(super) fn ours(ttype: Theirs) -> Option<TType> {
    Some(match ttype {
        Theirs::Stop => TType::Stop,
        Theirs::Bool => TType::Bool,
        Theirs::I08 => TType::I8,
        Theirs::Double => TType::Double,
        Theirs::I16 => TType::I16,
        Theirs::I32 => TType::I32,
        Theirs::I64 => TType::I64,
        Theirs::String => TType::String,
        Theirs::Struct => TType::Struct,
        Theirs::Map => TType::Map,
        Theirs::Set => TType::Set,
        Theirs::List => TType::List,
        Theirs::Uuid => TType::Uuid,
        Theirs::Void | Theirs::Utf7 => return None,
    })
}
