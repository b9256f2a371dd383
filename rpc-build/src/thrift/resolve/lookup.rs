//! What a name refers to, and what was probably meant if nothing.
//!
//! A name is local, or a file's stem, a dot, and a name of that file. Stems may hold dots themselves.

use super::super::ast::Base;
use super::super::model::{ConstId, Definition, ModuleId, Type, TypeId, TypeKind};
use super::Resolver;
use super::declare::{Declared, Scope};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::suggest::closest;

impl Resolver<'_> {
    /// All meanings of a name; the local one alone, if there is one. More than one means that files of the same stem
    /// are included.
    fn meanings<T: PartialEq>(
        &self,
        module: ModuleId,
        name: &str,
        pick: impl Fn(&Scope<'_>, &str) -> Option<T>,
    ) -> Vec<T> {
        let scope = &self.scopes[module.index()];
        if let Some(local) = pick(scope, name) {
            return vec![local];
        }
        let mut found = Vec::new();
        for (dot, _) in name.match_indices('.') {
            let (stem, rest) = (&name[..dot], &name[dot + 1..]);
            for target in scope.includes.get(stem).into_iter().flatten() {
                found.extend(
                    pick(&self.scopes[target.index()], rest).filter(|meaning| !found.contains(meaning)),
                );
            }
        }
        found
    }

    /// A type or a service. `Err` if it is unknown or ambiguous, and then it was reported.
    pub(super) fn declared(
        &mut self,
        module: ModuleId,
        name: &str,
        at: Span,
        what: &str,
    ) -> Option<Declared> {
        let meanings = self.meanings(module, name, |scope, name| scope.types.get(name).copied());
        match meanings.as_slice() {
            [] if self.is_of_missing_file(module, name) => None,
            [] => {
                let help = self.unknown(module, name, what);
                self.found.push(
                    Diagnostic::error(at, format!("unknown {what} `{name}`"))
                        .label("neither in this file nor in one that it includes")
                        .maybe_help(help),
                );
                None
            }
            [only] => Some(*only),
            [first, second, ..] => {
                self.found.push(
                    Diagnostic::error(at, format!("`{name}` has several meanings"))
                        .also(self.span_of(*first), "one is here")
                        .also(self.span_of(*second), "another is here")
                        .help("rename one of the included files"),
                );
                None
            }
        }
    }

    /// Whether a name may be declared in an include that could not be read.
    pub(super) fn is_of_missing_file(&self, module: ModuleId, name: &str) -> bool {
        let missing = self.scopes[module.index()].missing;
        missing.iter().any(|stem| name.strip_prefix(stem.as_str()).is_some_and(|rest| rest.starts_with('.')))
    }

    pub(super) fn span_of(&self, declared: Declared) -> Span {
        match declared {
            Declared::Type(id) => self.model.type_def(id).head.span,
            Declared::Service(id) => self.model.service(id).head.span,
        }
    }

    /// The constant of a name. Among several meanings the first include's counts.
    pub(super) fn constant_named(&self, module: ModuleId, name: &str) -> Option<ConstId> {
        self.meanings(module, name, |scope, name| scope.constants.get(name).copied()).first().copied()
    }

    /// The enum and the position of a value written as `Enum.VALUE`, where the enum may be reached by a typedef.
    pub(super) fn enum_value_named(&self, module: ModuleId, name: &str) -> Option<(TypeId, usize)> {
        let (owner, value) = name.rsplit_once('.')?;
        let meanings = self.meanings(module, owner, |scope, name| scope.types.get(name).copied());
        let Some(Declared::Type(id)) = meanings.first() else { return None };
        let named = Type { kind: TypeKind::Named(*id), annotations: Default::default() };
        let (id, values) = self.model.as_enum(&named)?;
        let position = values.values.iter().position(|known| known.head.name == value)?;
        Some((id, position))
    }

    /// A hint for a name of a type or service that means nothing.
    fn unknown(&self, module: ModuleId, name: &str, what: &str) -> Option<String> {
        let is_type = what != "service";
        if is_type && let Some(meant) = foreign_name(name) {
            return Some(meant.to_owned());
        }
        if let Some(help) = self.wrong_file(module, name) {
            return Some(help);
        }
        let fits = |declared: &Declared| matches!(declared, Declared::Type(_)) == is_type;
        let names = |scope: &Scope<'_>| -> Vec<String> {
            scope.types.iter().filter(|(_, kind)| fits(kind)).map(|(name, _)| (*name).to_owned()).collect()
        };
        let scope = &self.scopes[module.index()];
        let mut candidates = names(scope);
        for (stem, targets) in &scope.includes {
            for found in targets.iter().flat_map(|target| names(&self.scopes[target.index()])) {
                if found == name {
                    return Some(format!("did you mean `{stem}.{name}`?"));
                }
                candidates.push(format!("{stem}.{found}"));
            }
        }
        // hash maps have no order, reports should
        candidates.sort();
        let base = ["bool", "byte", "i8", "i16", "i32", "i64", "double", "string", "binary", "uuid"];
        let base = base.into_iter().filter(|_| is_type);
        closest(name, base.chain(candidates.iter().map(String::as_str)))
            .map(|meant| format!("did you mean `{meant}`?"))
    }

    /// A hint if the part before the last dot is no included file and no enum.
    pub(super) fn wrong_file(&self, module: ModuleId, name: &str) -> Option<String> {
        let (stem, _) = name.rsplit_once('.')?;
        let scope = &self.scopes[module.index()];
        if scope.includes.contains_key(stem) || scope.types.contains_key(stem) {
            return None;
        }
        if self.model.modules.iter().any(|module| module.stem == stem) {
            return Some(format!("this file has to include `{stem}.thrift` itself"));
        }
        let mut known: Vec<&str> = scope.includes.keys().map(String::as_str).collect();
        known.sort_unstable();
        Some(match closest(stem, known) {
            Some(meant) => format!("no included file is called `{stem}`; did you mean `{meant}`?"),
            None => format!("no included file is called `{stem}`"),
        })
    }

    /// A hint for a constant or enum value that means nothing.
    pub(super) fn unknown_constant(&self, module: ModuleId, name: &str, wanted: &Type) -> Option<String> {
        let mut candidates = Vec::new();
        let scope = &self.scopes[module.index()];
        candidates.extend(scope.constants.keys().map(|name| (*name).to_owned()));
        if let Some((_, values)) = self.model.as_enum(wanted) {
            candidates.extend(values.values.iter().map(|value| value.head.name.clone()));
        }
        for declared in scope.types.values() {
            if let Declared::Type(id) = declared
                && let Definition::Enum(values) = &self.model.type_def(*id).definition
            {
                let owner = &self.model.type_def(*id).head.name;
                candidates.extend(values.values.iter().map(|value| format!("{owner}.{}", value.head.name)));
            }
        }
        for (stem, targets) in &scope.includes {
            for target in targets {
                candidates.extend(
                    self.scopes[target.index()].constants.keys().map(|name| format!("{stem}.{name}")),
                );
            }
        }
        candidates.sort();
        match closest(name, candidates.iter().map(String::as_str)) {
            Some(meant) => Some(format!("did you mean `{meant}`?")),
            None => self.wrong_file(module, name),
        }
    }

    /// A type as one would write it.
    pub(super) fn show(&self, ty: &Type) -> String {
        match &ty.kind {
            TypeKind::Named(id) => self.model.type_def(*id).head.name.clone(),
            TypeKind::List(element) => format!("list<{}>", self.show(element)),
            TypeKind::Set(element) => format!("set<{}>", self.show(element)),
            TypeKind::Map(key, value) => format!("map<{}, {}>", self.show(key), self.show(value)),
            TypeKind::Bool => "bool".to_owned(),
            TypeKind::I8 => "i8".to_owned(),
            TypeKind::I16 => "i16".to_owned(),
            TypeKind::I32 => "i32".to_owned(),
            TypeKind::I64 => "i64".to_owned(),
            TypeKind::Double => "double".to_owned(),
            TypeKind::String => "string".to_owned(),
            TypeKind::Binary => "binary".to_owned(),
            TypeKind::Uuid => "uuid".to_owned(),
        }
    }
}

/// Base types under the names that other languages give them.
fn foreign_name(name: &str) -> Option<&'static str> {
    if Base::from_word(&name.to_ascii_lowercase()).is_some() {
        return Some("the names of base types are in lower case");
    }
    Some(match name {
        "int" | "integer" | "int32" => "did you mean `i32`?",
        "long" | "int64" => "did you mean `i64`?",
        "short" | "int16" => "did you mean `i16`?",
        "char" | "int8" => "did you mean `i8`?",
        "float" | "f64" | "f32" | "float64" => "did you mean `double`?",
        "boolean" => "did you mean `bool`?",
        "str" | "text" => "did you mean `string`?",
        "bytes" | "blob" => "did you mean `binary`?",
        "u8" | "u16" | "u32" | "u64" | "uint32" | "uint64" | "uint" => "Thrift has no unsigned integers",
        _ => return None,
    })
}
