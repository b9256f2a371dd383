//! Names that would be equal in Rust, told apart before prost-build sees them: it has no numbers for them. Everything is
//! changed in the descriptors alone; tags, which are what Protobuf writes, are not touched, and the names that others see
//! are kept beside.
//!
//! The rule is that of [`crate::naming`]: a name that reads in Rust as it does in the schema has the first right to it,
//! then the one that is declared first; the others get a number.

use super::compile::{CompiledFile, locate};
use heck::{ToSnakeCase, ToUpperCamelCase};
use prost_build::Module;
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Numbers of the parts of a descriptor, by which its source information finds them.
mod part {
    pub(super) const FIELD: i32 = 2;
    pub(super) const VALUE: i32 = 2;
    pub(super) const NESTED: i32 = 3;
    pub(super) const NESTED_ENUM: i32 = 4;
    pub(super) const ONEOF: i32 = 8;
    pub(super) const MESSAGE: i32 = 4;
    pub(super) const ENUM: i32 = 5;
}

/// Tells names apart, and returns a warning for each that was changed.
pub(super) fn rename(files: &mut [CompiledFile]) -> Vec<String> {
    let mut renamer = Renamer { files, warnings: Vec::new(), types: HashMap::new() };
    renamer.types_of_all_scopes();
    let types = std::mem::take(&mut renamer.types);
    let warnings = renamer.warnings;
    for file in files {
        refer(&mut file.descriptor, &types);
    }
    warnings
}

/// A message or an enum: its file, and the way to it.
#[derive(Clone, Debug)]
struct Entry {
    file: usize,
    /// Indices of the messages around it.
    outer: Vec<usize>,
    index: usize,
    is_enum: bool,
    /// The full names of what is around it, as they were and as they are.
    old: String,
    new: String,
}

struct Renamer<'a> {
    files: &'a mut [CompiledFile],
    warnings: Vec<String>,
    /// Full names as they were and as they are.
    types: HashMap<String, String>,
}

impl Renamer<'_> {
    /// A scope is a module of Rust: a package, or what is nested in a message. The outer ones come first, since what is
    /// in a message is in a module of its new name.
    fn types_of_all_scopes(&mut self) {
        let mut scopes: BTreeMap<(usize, Vec<String>), Vec<Entry>> = BTreeMap::new();
        for (file, compiled) in self.files.iter().enumerate() {
            let package = compiled.descriptor.package();
            let path: Vec<String> =
                Module::from_protobuf_package_name(package).parts().map(str::to_owned).collect();
            let prefix = if package.is_empty() { String::new() } else { format!(".{package}") };
            let entry = |index, is_enum| Entry {
                file,
                outer: Vec::new(),
                index,
                is_enum,
                old: prefix.clone(),
                new: prefix.clone(),
            };
            let found = scopes.entry((path.len(), path)).or_default();
            found.extend((0..compiled.descriptor.message_type.len()).map(|index| entry(index, false)));
            found.extend((0..compiled.descriptor.enum_type.len()).map(|index| entry(index, true)));
        }
        while let Some(((_, path), entries)) = scopes.pop_first() {
            let names: Vec<String> = entries.iter().map(|entry| self.name(entry)).collect();
            let given = distinct(&names, camel);
            for (entry, (old, new)) in entries.into_iter().zip(names.iter().zip(given)) {
                if *old != new {
                    self.set_name(&entry, old, &new);
                }
                self.types.insert(format!("{}.{old}", entry.old), format!("{}.{new}", entry.new));
                if entry.is_enum {
                    self.values(&entry);
                    continue;
                }
                self.fields(&entry);
                let inner = |index, is_enum| Entry {
                    file: entry.file,
                    outer: entry.outer.iter().copied().chain([entry.index]).collect(),
                    index,
                    is_enum,
                    old: format!("{}.{old}", entry.old),
                    new: format!("{}.{new}", entry.new),
                };
                let Some(message) = self.message(&entry) else { continue };
                let (nested, enums) = (message.nested_type.len(), message.enum_type.len());
                let below: Vec<String> = path.iter().cloned().chain([snake(&new)]).collect();
                let found = scopes.entry((below.len(), below)).or_default();
                found.extend((0..nested).map(|index| inner(index, false)));
                found.extend((0..enums).map(|index| inner(index, true)));
            }
        }
    }

    /// The fields of a message that are in no oneof, and its oneofs; then the fields of each oneof.
    fn fields(&mut self, entry: &Entry) {
        let Some(message) = self.message(entry) else { return };
        if message.options.as_ref().is_some_and(|options| options.map_entry()) {
            return;
        }
        let alone = |index: &usize| {
            let field = message.field.get(*index);
            field.is_some_and(|field| field.oneof_index.is_none() || field.proto3_optional())
        };
        let fields: Vec<usize> = (0..message.field.len()).filter(alone).collect();
        let real: HashSet<i32> = message
            .field
            .iter()
            .filter(|field| !field.proto3_optional())
            .filter_map(|field| field.oneof_index)
            .collect();
        let oneofs: Vec<usize> =
            (0..message.oneof_decl.len()).filter(|index| real.contains(&number(*index))).collect();
        let names: Vec<String> = fields
            .iter()
            .filter_map(|index| message.field.get(*index).map(|field| field.name().to_owned()))
            .chain(
                oneofs
                    .iter()
                    .filter_map(|index| message.oneof_decl.get(*index).map(|oneof| oneof.name().to_owned())),
            )
            .collect();
        let of = format!("message `{}`", message.name());
        let given = distinct(&names, snake);
        let parts = fields.iter().map(|index| (part::FIELD, *index));
        let parts: Vec<(i32, usize)> =
            parts.chain(oneofs.iter().map(|index| (part::ONEOF, *index))).collect();
        self.apply(entry, &of, &parts, &names, given);
        for oneof in oneofs {
            let Some(message) = self.message(entry) else { return };
            let members: Vec<(i32, usize)> = (0..message.field.len())
                .filter(|index| {
                    let field = message.field.get(*index);
                    field.is_some_and(|field| field.oneof_index == Some(number(oneof)))
                })
                .map(|index| (part::FIELD, index))
                .collect();
            let names: Vec<String> = members
                .iter()
                .filter_map(|(_, index)| message.field.get(*index).map(|field| field.name().to_owned()))
                .collect();
            let of = format!("a oneof of message `{}`", message.name());
            let given = distinct(&names, camel);
            self.apply(entry, &of, &members, &names, given);
        }
    }

    fn apply(&mut self, entry: &Entry, of: &str, parts: &[(i32, usize)], old: &[String], new: Vec<String>) {
        for ((kind, index), (old, new)) in parts.iter().zip(old.iter().zip(new)) {
            if *old == new {
                continue;
            }
            self.warn(entry, &[*kind, number(*index)], old, of, &new);
            let Some(message) = self.message_mut(entry) else { return };
            if *kind == part::FIELD {
                message
                    .field
                    .iter_mut()
                    .skip(*index)
                    .take(1)
                    .for_each(|field| field.name = Some(new.clone()));
            } else {
                message
                    .oneof_decl
                    .iter_mut()
                    .skip(*index)
                    .take(1)
                    .for_each(|oneof| oneof.name = Some(new.clone()));
            }
        }
    }

    /// The values of an enum, from whose names prost-build takes the enum's name away.
    fn values(&mut self, entry: &Entry) {
        let Some(found) = self.enumeration(entry) else { return };
        let prefix = camel(found.name());
        let names: Vec<String> = found.value.iter().map(|value| value.name().to_owned()).collect();
        // several names of a number are one variant
        let mut seen = HashSet::new();
        let first: Vec<bool> = found.value.iter().map(|value| seen.insert(value.number())).collect();
        let of = format!("enum `{}`", found.name());
        let counted: Vec<String> =
            names.iter().zip(&first).filter(|(_, first)| **first).map(|(name, _)| name.clone()).collect();
        let mut given = distinct(&counted, |name| without_prefix(&prefix, &camel(name))).into_iter();
        for (index, (old, first)) in names.iter().zip(first).enumerate() {
            let new = if first { given.next() } else { None };
            let Some(new) = new.filter(|new| new != old) else { continue };
            self.warn(entry, &[part::VALUE, number(index)], old, &of, &new);
            let Some(found) = self.enumeration_mut(entry) else { return };
            found.value.iter_mut().skip(index).take(1).for_each(|value| value.name = Some(new.clone()));
        }
    }

    fn set_name(&mut self, entry: &Entry, old: &str, new: &str) {
        self.warn(entry, &[], old, "its package or message", new);
        if entry.is_enum {
            self.enumeration_mut(entry).into_iter().for_each(|found| found.name = Some(new.to_owned()));
        } else {
            self.message_mut(entry).into_iter().for_each(|found| found.name = Some(new.to_owned()));
        }
    }

    fn warn(&mut self, entry: &Entry, inside: &[i32], old: &str, of: &str, new: &str) {
        let mut path = Vec::new();
        for (depth, index) in entry.outer.iter().enumerate() {
            path.extend([if depth == 0 { part::MESSAGE } else { part::NESTED }, number(*index)]);
        }
        path.push(match (entry.outer.is_empty(), entry.is_enum) {
            (true, false) => part::MESSAGE,
            (true, true) => part::ENUM,
            (false, false) => part::NESTED,
            (false, true) => part::NESTED_ENUM,
        });
        path.push(number(entry.index));
        path.extend(inside);
        let place =
            self.files.get(entry.file).map(|file| locate(&file.descriptor, &path)).unwrap_or_default();
        self.warnings
            .push(format!("{place}: `{old}` of {of} is called `{new}` in Rust, where its own name is taken"));
    }

    fn name(&self, entry: &Entry) -> String {
        let name = match entry.is_enum {
            true => self.enumeration(entry).map(EnumDescriptorProto::name),
            false => self.message(entry).map(DescriptorProto::name),
        };
        name.unwrap_or_default().to_owned()
    }

    fn message(&self, entry: &Entry) -> Option<&DescriptorProto> {
        siblings(&self.files.get(entry.file)?.descriptor, &entry.outer).0?.get(entry.index)
    }

    fn enumeration(&self, entry: &Entry) -> Option<&EnumDescriptorProto> {
        siblings(&self.files.get(entry.file)?.descriptor, &entry.outer).1?.get(entry.index)
    }

    fn message_mut(&mut self, entry: &Entry) -> Option<&mut DescriptorProto> {
        let file = &mut self.files.get_mut(entry.file)?.descriptor;
        if entry.outer.is_empty() {
            return file.message_type.get_mut(entry.index);
        }
        outer_mut(file, &entry.outer)?.nested_type.get_mut(entry.index)
    }

    fn enumeration_mut(&mut self, entry: &Entry) -> Option<&mut EnumDescriptorProto> {
        let file = &mut self.files.get_mut(entry.file)?.descriptor;
        if entry.outer.is_empty() {
            return file.enum_type.get_mut(entry.index);
        }
        outer_mut(file, &entry.outer)?.enum_type.get_mut(entry.index)
    }
}

type Siblings<'a> = (Option<&'a Vec<DescriptorProto>>, Option<&'a Vec<EnumDescriptorProto>>);

fn siblings<'a>(file: &'a FileDescriptorProto, outer: &[usize]) -> Siblings<'a> {
    let mut found = (Some(&file.message_type), Some(&file.enum_type));
    for index in outer {
        let message = found.0.and_then(|messages| messages.get(*index));
        found = (message.map(|message| &message.nested_type), message.map(|message| &message.enum_type));
    }
    found
}

fn outer_mut<'a>(file: &'a mut FileDescriptorProto, outer: &[usize]) -> Option<&'a mut DescriptorProto> {
    let (first, rest) = outer.split_first()?;
    let mut message = file.message_type.get_mut(*first)?;
    for index in rest {
        message = message.nested_type.get_mut(*index)?;
    }
    Some(message)
}

/// Has everything that names a type name it as it is called now.
fn refer(file: &mut FileDescriptorProto, types: &HashMap<String, String>) {
    let change = |name: &mut Option<String>| {
        if let Some(new) = name.as_ref().and_then(|name| types.get(name)) {
            *name = Some(new.clone());
        }
    };
    fn each(messages: &mut [DescriptorProto], change: &impl Fn(&mut Option<String>)) {
        for message in messages {
            message.field.iter_mut().chain(&mut message.extension).for_each(|field| {
                change(&mut field.type_name);
                change(&mut field.extendee);
            });
            each(&mut message.nested_type, change);
        }
    }
    each(&mut file.message_type, &change);
    for field in &mut file.extension {
        change(&mut field.type_name);
        change(&mut field.extendee);
    }
    for method in file.service.iter_mut().flat_map(|service| &mut service.method) {
        change(&mut method.input_type);
        change(&mut method.output_type);
    }
}

/// Names that are different once converted. One that converts to nothing (`__`) gets a name as well.
fn distinct(names: &[String], convert: impl Fn(&str) -> String) -> Vec<String> {
    let converted: Vec<String> = names.iter().map(|name| convert(name)).collect();
    let mut taken = HashSet::new();
    let mut given: Vec<Option<String>> = vec![None; names.len()];
    let pairs = || names.iter().zip(&converted).enumerate();
    let by_right = pairs().filter(|(_, (name, converted))| name == converted);
    for (index, (name, converted)) in by_right.chain(pairs()) {
        let place = given.get_mut(index).filter(|place| place.is_none());
        if let Some(place) = place.filter(|_| !converted.is_empty())
            && taken.insert(converted.clone())
        {
            *place = Some(name.clone());
        }
    }
    let given = given.into_iter().zip(names.iter().zip(&converted));
    given
        .map(|(given, (name, converted))| {
            given.unwrap_or_else(|| {
                let base = if converted.is_empty() { "unnamed" } else { name.trim_end_matches('_') };
                let numbers = 2u64..;
                let mut tries = numbers.map(|number| format!("{base}_{number}"));
                tries.find(|name| taken.insert(convert(name))).unwrap_or_default()
            })
        })
        .collect()
}

fn camel(name: &str) -> String {
    name.to_upper_camel_case()
}

fn snake(name: &str) -> String {
    name.to_snake_case()
}

/// What prost-build leaves of the name of an enum's value.
fn without_prefix(prefix: &str, value: &str) -> String {
    match value.strip_prefix(prefix) {
        Some(rest) if rest.starts_with(char::is_uppercase) => rest.to_owned(),
        _ => value.to_owned(),
    }
}

fn number(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str], convert: impl Fn(&str) -> String) -> Vec<String> {
        distinct(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), convert)
    }

    #[test]
    fn equal_names_get_numbers() {
        assert_eq!(of(&["fooBar", "foo_bar", "FooBar"], snake), ["fooBar_2", "foo_bar", "FooBar_3"]);
        assert_eq!(of(&["FB", "Fb"], camel), ["FB_2", "Fb"]);
        assert_eq!(of(&["_x", "x_", "__"], snake), ["_x", "x_2", "unnamed_2"]);
        assert_eq!(of(&["a_2", "A", "a"], snake), ["a_2", "A_3", "a"]);
        let value = |name: &str| without_prefix("Tone", &camel(name));
        assert_eq!(of(&["TONE_LOW", "LOW", "tone_low"], value), ["TONE_LOW", "LOW_2", "tone_low_3"]);
        assert_eq!(of(&["TONE", "TONE_2D"], value), ["TONE", "TONE_2D"]);
    }
}
