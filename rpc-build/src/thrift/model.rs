//! A checked set of schemas: every name resolved, every default typed, every id in range.
//!
//! A generator walks it without meeting an error: [`Model::modules`] in a fixed order, each module's
//! [`items`](Module::items) in the order of declaration, and from there by id into [`Model::types`],
//! [`Model::constants`] and [`Model::services`]. What a Rust generator has to know of the whole set is worked out
//! too: which fields need a box, which types contain floating-point numbers, which serve as keys.
//!
//! Names are those of the schema; [`crate::naming`] turns them into Rust's.
//!
//! Sizes are bounded, so plain recursion over a [`Type`] or a [`Value`] is safe: a type nests at most
//! [`MAX_TYPE_DEPTH`] levels with its typedefs expanded, in at most [`MAX_TYPE_NODES`] parts; a value nests no deeper
//! than its type plus what its structs nest, at most [`MAX_VALUE_DEPTH`].

use crate::source::{FileId, Span};

/// Deepest nesting of a type, typedefs expanded: `list<list<i32>>` has 3 levels.
pub const MAX_TYPE_DEPTH: usize = 64;
/// Most parts of a type, typedefs expanded: `map<i32, list<i32>>` has 4.
pub const MAX_TYPE_NODES: usize = 1024;
/// Deepest nesting of a constant, references to other constants expanded.
pub const MAX_VALUE_DEPTH: usize = 64;
/// Most parts of all constants and defaults together, references expanded.
pub const MAX_VALUE_NODES: usize = 1 << 20;

/// Everything that was read, checked.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub(crate) modules: Vec<Module>,
    pub(crate) types: Vec<TypeDef>,
    pub(crate) constants: Vec<Constant>,
    pub(crate) services: Vec<Service>,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            pub(crate) fn new(index: usize) -> Self {
                // each item takes bytes of a bounded file
                Self(u32::try_from(index).unwrap_or(u32::MAX))
            }

            /// Its place in the list of the model.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// One of [`Model::modules`].
    ModuleId
}
id! {
    /// One of [`Model::types`].
    TypeId
}
id! {
    /// One of [`Model::constants`].
    ConstId
}
id! {
    /// One of [`Model::services`].
    ServiceId
}

impl Model {
    /// The modules, one a file: the requested files by path, then those they include, in the order of reading. The
    /// order does not depend on the order in which files were requested.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// All types, of all modules.
    pub fn types(&self) -> &[TypeDef] {
        &self.types
    }

    /// All constants, of all modules.
    pub fn constants(&self) -> &[Constant] {
        &self.constants
    }

    /// All services, of all modules.
    pub fn services(&self) -> &[Service] {
        &self.services
    }

    /// The module of an id. Panics if the id is another model's; so do the three below.
    pub fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.index()]
    }

    /// The type of an id.
    pub fn type_def(&self, id: TypeId) -> &TypeDef {
        &self.types[id.index()]
    }

    /// The constant of an id.
    pub fn constant(&self, id: ConstId) -> &Constant {
        &self.constants[id.index()]
    }

    /// The service of an id.
    pub fn service(&self, id: ServiceId) -> &Service {
        &self.services[id.index()]
    }

    /// Follows typedefs until something else: a base type, a container, an enum or a struct.
    pub fn resolve<'a>(&'a self, mut ty: &'a Type) -> &'a Type {
        while let TypeKind::Named(id) = ty.kind
            && let Definition::Typedef(target) = &self.type_def(id).definition
        {
            ty = target;
        }
        ty
    }

    /// The struct, union or exception that a type is, through typedefs.
    pub fn as_struct(&self, ty: &Type) -> Option<(TypeId, &Struct)> {
        let TypeKind::Named(id) = self.resolve(ty).kind else { return None };
        match &self.type_def(id).definition {
            Definition::Struct(fields) => Some((id, fields)),
            _ => None,
        }
    }

    /// The enum that a type is, through typedefs.
    pub fn as_enum(&self, ty: &Type) -> Option<(TypeId, &Enum)> {
        let TypeKind::Named(id) = self.resolve(ty).kind else { return None };
        match &self.type_def(id).definition {
            Definition::Enum(values) => Some((id, values)),
            _ => None,
        }
    }

    /// A service and all it extends, the service itself first. No method name occurs twice among them.
    pub fn lineage(&self, id: ServiceId) -> impl Iterator<Item = (ServiceId, &Service)> {
        std::iter::successors(Some(id), |id| self.service(*id).parent).map(|id| (id, self.service(id)))
    }
}

/// One file.
#[derive(Clone, Debug)]
pub struct Module {
    /// The file it was read from.
    pub file: FileId,
    /// The file's name without its extension: what other files write before the dot.
    pub stem: String,
    /// The segments of its Rust path: those of `namespace rs`, else of `namespace *`, else the stem. Neither escaped
    /// nor unique: several files may share a namespace.
    pub path: Vec<String>,
    /// All namespaces as written: scope and value.
    pub namespaces: Vec<Namespace>,
    /// Comment at the top of the file.
    pub docs: Option<String>,
    /// Whether it was asked for, rather than included by another.
    pub requested: bool,
    /// The files it includes, in order, each once.
    pub includes: Vec<ModuleId>,
    /// Its contents, in the order of declaration.
    pub items: Vec<Item>,
}

/// A `namespace` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// The language, or `*`.
    pub scope: String,
    /// The namespace.
    pub value: String,
    /// Its annotations.
    pub annotations: Annotations,
}

/// Something a module declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A typedef, an enum, a struct, a union or an exception.
    Type(TypeId),
    /// A constant.
    Constant(ConstId),
    /// A service.
    Service(ServiceId),
}

/// What every named thing carries.
#[derive(Clone, Debug)]
pub struct Head {
    /// The name in the schema, which is also the name on the wire.
    pub name: String,
    /// The doc comment before it, cleaned of its decoration.
    pub docs: Option<String>,
    /// The annotations behind it.
    pub annotations: Annotations,
    /// Where its name stands.
    pub span: Span,
}

/// Annotations in the order of writing; a key may occur more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    pub(crate) list: Vec<Annotation>,
}

/// One annotation: `key` or `key = "value"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The key, dots included.
    pub key: String,
    /// The value, which may be empty; `None` if none is written (other generators read that as `"1"`).
    pub value: Option<String>,
    /// Where the annotation stands.
    pub span: Span,
}

impl Annotations {
    /// The value of the last annotation with a key: `Some("1")` if it has none.
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.list.iter().rev().find(|annotation| annotation.key == key)?;
        Some(found.value.as_deref().unwrap_or("1"))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Annotation> {
        self.list.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// A named type.
#[derive(Clone, Debug)]
pub struct TypeDef {
    /// Name, docs, annotations.
    pub head: Head,
    /// The module that declares it.
    pub module: ModuleId,
    /// What it is.
    pub definition: Definition,
    /// What is known of all it contains.
    pub facts: Facts,
}

/// What a type is.
#[derive(Clone, Debug)]
pub enum Definition {
    /// Another name of a type. Chains end: see [`Model::resolve`].
    Typedef(Type),
    /// An enum.
    Enum(Enum),
    /// A struct, a union or an exception.
    Struct(Struct),
}

/// What a type contains, directly or through the types it names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// A `double`: no derived `Eq`, `Hash` or `Ord`. If false, all of them can be derived, as far as the Rust types
    /// chosen for sets and maps have them.
    pub floats: bool,
    /// A set or a map: no derived `Hash` or `Ord` if these become hash tables.
    pub tables: bool,
    /// It is, or is part of, the element of a set or the key of a map somewhere in the model.
    pub key: bool,
}

/// An enum. Numbers outside of it are legal on the wire.
#[derive(Clone, Debug)]
pub struct Enum {
    /// The values in the order of declaration. Names are unique, numbers may repeat.
    pub values: Vec<EnumValue>,
}

/// A value of an enum.
#[derive(Clone, Debug)]
pub struct EnumValue {
    /// Name, docs, annotations.
    pub head: Head,
    /// Its number: as written, or one more than the value before it, from 0.
    pub number: i32,
}

/// A struct, a union or an exception.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Which of them.
    pub kind: StructKind,
    /// Fields in the order of declaration. Ids and names are unique; ids need not ascend.
    pub fields: Vec<Field>,
    /// For a union with fields: the one to take for a default. It is the field that has a default value, else the
    /// first whose default is finite. Otherwise `None`.
    pub default_variant: Option<usize>,
}

/// The three kinds of types with fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructKind {
    /// `struct`
    Struct,
    /// `union`: one field is set.
    Union,
    /// `exception`: may be declared by a method.
    Exception,
}

impl StructKind {
    /// The keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Struct => "struct",
            Self::Union => "union",
            Self::Exception => "exception",
        }
    }
}

/// A field of a struct, an argument of a method, or an exception it declares.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name, docs, annotations.
    pub head: Head,
    /// The id on the wire: never 0, negative for fields written without one.
    pub id: i16,
    /// Whether the id is written in the schema.
    pub explicit_id: bool,
    /// The type.
    pub ty: Type,
    /// Required, optional or neither. Always [`Requiredness::Optional`] in a union, never in an argument list.
    pub requiredness: Requiredness,
    /// The default value, of the field's type.
    pub default: Option<Value>,
    /// The field's struct contains itself through this field, without a container between: the field needs a box.
    /// Every field on such a cycle is marked, so that the mark does not depend on the order of declarations.
    ///
    /// A boxed field that is neither required nor optional has no finite default but absence, so it has to be
    /// represented as if it were optional. Following required, unboxed and defaulted fields (and, in a union, the
    /// [`default_variant`](Struct::default_variant)) always ends.
    pub boxed: bool,
}

/// Whether a field may be absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Requiredness {
    /// `required`: always written, and an error if missing.
    Required,
    /// `optional`: written if set.
    Optional,
    /// Neither: always written, and its default if missing.
    #[default]
    Default,
}

/// A type where it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// The type itself.
    pub kind: TypeKind,
    /// Annotations on this use; a `cpp_type` clause is one with that key.
    pub annotations: Annotations,
}

/// The shapes of types.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say all
pub enum TypeKind {
    Bool,
    I8,
    I16,
    I32,
    I64,
    Double,
    String,
    Binary,
    Uuid,
    List(Box<Type>),
    Set(Box<Type>),
    /// Key and value.
    Map(Box<Type>, Box<Type>),
    /// A typedef, an enum, a struct, a union or an exception.
    Named(TypeId),
}

impl TypeKind {
    /// The types inside of a container.
    pub fn parts(&self) -> impl Iterator<Item = &Type> {
        let (first, second) = match self {
            Self::List(element) | Self::Set(element) => (Some(&**element), None),
            Self::Map(key, value) => (Some(&**key), Some(&**value)),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// A constant.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Name, docs, annotations.
    pub head: Head,
    /// The module that declares it.
    pub module: ModuleId,
    /// The declared type.
    pub ty: Type,
    /// The value, of that type.
    pub value: Value,
}

/// A constant or default value, checked against its type. References to other constants are expanded.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of `bool`.
    Bool(bool),
    /// Of `i8` to `i64`, in the range of its type.
    Int(i64),
    /// Of `double`, finite.
    Double(f64),
    /// Of `string`.
    String(String),
    /// Of `binary`: the UTF-8 of the literal.
    Binary(Vec<u8>),
    /// Of `uuid`, in network order.
    Uuid([u8; 16]),
    /// Of an enum: which value of which.
    Enum(TypeId, usize),
    /// Of a list.
    List(Vec<Value>),
    /// Of a set. Equal elements are not weeded out.
    Set(Vec<Value>),
    /// Of a map, in the order of writing. Equal keys are not weeded out; the last counts.
    Map(Vec<(Value, Value)>),
    /// Of a struct or an exception, whose other fields take their defaults; or of a union, with one field. Fields are
    /// given by their place in [`Struct::fields`], each at most once.
    Struct(TypeId, Vec<(usize, Value)>),
}

/// A service.
#[derive(Clone, Debug)]
pub struct Service {
    /// Name, docs, annotations.
    pub head: Head,
    /// The module that declares it.
    pub module: ModuleId,
    /// The service it extends, possibly of another module; see [`Model::lineage`].
    pub parent: Option<ServiceId>,
    /// Its own methods in the order of declaration.
    pub methods: Vec<Method>,
}

/// A method.
#[derive(Clone, Debug)]
pub struct Method {
    /// Name, docs, annotations.
    pub head: Head,
    /// Whether an answer follows.
    pub answer: Answer,
    /// The arguments in the order of declaration, which need not be that of their ids.
    pub args: Vec<Field>,
    /// The declared exceptions; each field's type is one, through typedefs. Empty for oneway methods.
    pub throws: Vec<Field>,
}

/// What a method answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// `oneway`: nothing at all.
    None,
    /// `void`: an empty answer.
    Void,
    /// A value.
    Value(Type),
}
