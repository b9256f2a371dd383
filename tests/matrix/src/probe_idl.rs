//! Types of a Thrift definition, written as a compiler would make them:
//!
//! ```thrift
//! struct Tree { 1: optional i32 val, 2: optional list<Tree> kids }
//! exception Oops { 1: i32 code, 2: string text }
//! struct Bag { 1: required i64 id, 2: optional string name, 3: optional binary blob, 8: optional set<i32> uniq }
//! service Probe {
//!   Bag swap(1: Bag bag) throws (1: Oops oops)
//!   i32 grow(1: Tree tree)
//!   void poke(1: i32 how) throws (1: Oops oops)
//! }
//! ```

use std::collections::BTreeSet;

use bytes::Bytes;
use codec_thrift::{
    FieldHeader, TType, ThriftException, ThriftReader, ThriftStruct, ThriftValue, ThriftWriter,
};
use rpc_core::{
    Context, DecodeError, DecodeErrorKind, EncodeError, Method, MethodTable, NamedService, Never, Outcome,
    Place, Shape,
};

macro_rules! structs {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $id:literal: $field:ident: $type:ty,)+ })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: Option<$type>,)+
        }

        impl ThriftValue for $name {
            const TTYPE: TType = TType::Struct;

            fn write<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
                writer.struct_begin()?;
                $(if let Some(value) = &self.$field {
                    value.write_field($id, writer)?;
                })+
                writer.struct_end();
                Ok(())
            }

            fn read<R: ThriftReader>(reader: &mut R) -> Result<Self, DecodeError> {
                let mut value = Self::default();
                reader.struct_begin()?;
                while let Some(field) = reader.field()? {
                    match (field.id, field.ttype) {
                        $(($id, <$type as ThriftValue>::TTYPE) => {
                            let read = <$type as ThriftValue>::read(reader);
                            value.$field = Some(read.map_err(|error| error.within(stringify!($field)))?);
                        })+
                        (_, ttype) => reader.skip(ttype)?,
                    }
                }
                value.check()?;
                Ok(value)
            }
        }

        impl ThriftStruct for $name {}
    )+};
}
structs! {
    /// A type that holds itself.
    Tree {
        /// A number.
        1: val: i32,
        /// Those below.
        2: kids: Vec<Tree>,
    }
    /// A declared exception.
    Oops {
        /// A number.
        1: code: i32,
        /// A text.
        2: text: String,
    }
    /// Some of everything.
    Bag {
        /// Required.
        1: id: i64,
        /// Text.
        2: name: String,
        /// Bytes.
        3: blob: Bytes,
        /// A set.
        8: uniq: BTreeSet<i32>,
    }
    /// The arguments of `swap`.
    SwapArgs {
        /// The one argument.
        1: bag: Bag,
    }
    /// The arguments of `grow`.
    GrowArgs {
        /// The one argument.
        1: tree: Tree,
    }
    /// The arguments of `poke`.
    PokeArgs {
        /// The one argument.
        1: how: i32,
    }
}

/// What must be there.
trait Check {
    fn check(&self) -> Result<(), DecodeError> {
        Ok(())
    }
}
impl Check for Tree {}
impl Check for Oops {}
impl Check for SwapArgs {}
impl Check for GrowArgs {}
impl Check for PokeArgs {}
impl Check for Bag {
    fn check(&self) -> Result<(), DecodeError> {
        let missing =
            || DecodeError::new(DecodeErrorKind::Missing, "a required field is missing").within("Bag.id");
        self.id.map(|_| ()).ok_or_else(missing)
    }
}

impl Tree {
    /// A tree of so many levels, each with one below it.
    pub fn nested(levels: usize) -> Self {
        (1..levels).fold(Self::default(), |tree, _| Self { val: None, kids: Some(vec![tree]) })
    }

    /// How many levels there are.
    pub fn levels(&self) -> usize {
        1 + self.kids.iter().flatten().map(Self::levels).max().unwrap_or(0)
    }
}

/// The exceptions of `swap` and of `poke`.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbeException {
    /// The first of them.
    Oops(Oops),
}

impl ThriftException for ProbeException {
    fn write_field<W: ThriftWriter>(&self, writer: &mut W) -> Result<(), EncodeError> {
        let Self::Oops(oops) = self;
        oops.write_field(1, writer)
    }

    fn read_field<R: ThriftReader>(field: FieldHeader, reader: &mut R) -> Result<Option<Self>, DecodeError> {
        match (field.id, field.ttype) {
            (1, TType::Struct) => Ok(Some(Self::Oops(Oops::read(reader)?))),
            _ => Ok(None),
        }
    }
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $wire:literal($request:ty) -> $response:ty, $exception:ty;)+) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $name {}

        impl Method for $name {
            const SERVICE: &'static str = "probe.Idl";
            const NAME: &'static str = $wire;
            const SHAPE: Shape = Shape::Unary;
            const REQUEST: Place = Place::Arguments;
            type Request = $request;
            type Response = $response;
            type Exception = $exception;
        }
    )+};
}
methods! {
    /// Returns the bag.
    Swap = "swap"(SwapArgs) -> Bag, ProbeException;
    /// Returns how many levels the tree has.
    Grow = "grow"(GrowArgs) -> i32, Never;
    /// Returns nothing, or the exception when it is told so.
    Poke = "poke"(PokeArgs) -> (), ProbeException;
}

/// The service.
#[derive(Clone, Debug)]
pub struct Idl;

impl NamedService<codec_thrift::Binary> for Idl {
    const NAME: &'static str = "probe.Idl";

    fn register(&self, table: &mut MethodTable<codec_thrift::Binary>) {
        fn add<M: Method>(
            table: &mut MethodTable<codec_thrift::Binary>,
            handler: fn(M::Request) -> Outcome<M>,
        ) where
            codec_thrift::Binary:
                rpc_core::Decode<M::Request> + rpc_core::EncodeOutcome<M::Response, M::Exception>,
        {
            table.unary::<M, _, _>(move |context: Context, request| async move {
                context.finish::<M>(Ok(handler(request)))
            });
        }
        add::<Swap>(table, |request| Ok(request.bag.unwrap_or_default()));
        add::<Grow>(table, |request| {
            Ok(i32::try_from(request.tree.unwrap_or_default().levels()).unwrap_or(i32::MAX))
        });
        add::<Poke>(table, |request| match request.how {
            Some(code) if code != 0 => {
                Err(ProbeException::Oops(Oops { code: Some(code), text: Some("bad".into()) }))
            }
            _ => Ok(()),
        });
    }
}
