/// The type tag of a field, an element, a key or a value, as the binary protocol numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // they are Thrift's types
#[repr(u8)]
pub enum TType {
    Stop = 0,
    Bool = 2,
    I8 = 3,
    Double = 4,
    I16 = 6,
    I32 = 8,
    I64 = 10,
    String = 11,
    Struct = 12,
    Map = 13,
    Set = 14,
    List = 15,
    Uuid = 16,
}

impl TType {
    /// The type of a tag; `None` for a number that is none.
    pub const fn from_number(tag: u8) -> Option<Self> {
        Some(match tag {
            0 => Self::Stop,
            2 => Self::Bool,
            3 => Self::I8,
            4 => Self::Double,
            6 => Self::I16,
            8 => Self::I32,
            10 => Self::I64,
            11 => Self::String,
            12 => Self::Struct,
            13 => Self::Map,
            14 => Self::Set,
            15 => Self::List,
            16 => Self::Uuid,
            _ => return None,
        })
    }

    /// The number.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The name in the definition language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::Double => "double",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::String => "string",
            Self::Struct => "struct",
            Self::Map => "map",
            Self::Set => "set",
            Self::List => "list",
            Self::Uuid => "uuid",
        }
    }
}
