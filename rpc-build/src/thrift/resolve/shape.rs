//! Fifth pass: what a generator has to know of all types together.

use super::super::graph::{components, cycles};
use super::super::model::{
    Answer, Definition, Field, Model, Requiredness, Struct, StructKind, Type, TypeId, TypeKind, Value,
};
use super::types::named_in;
use crate::diagnostic::Diagnostic;
use std::collections::VecDeque;

pub(super) fn shape(model: &mut Model, found: &mut Vec<Diagnostic>) {
    mark_boxes(model);
    choose_default_variants(model);
    refuse_endless_defaults(model, found);
    collect_facts(model);
}

/// Marks the fields through which a struct contains itself, with no container between.
fn mark_boxes(model: &mut Model) {
    let edges: Vec<Vec<usize>> = (0..model.types.len())
        .map(|index| {
            let fields = fields_of(model, index).iter();
            fields.filter_map(|field| Some(model.as_struct(&field.ty)?.0.index())).collect()
        })
        .collect();
    let component = components(&edges);
    for index in 0..model.types.len() {
        let boxed: Vec<bool> = fields_of(model, index)
            .iter()
            .map(|field| {
                model
                    .as_struct(&field.ty)
                    .is_some_and(|(target, _)| component[target.index()] == component[index])
            })
            .collect();
        if let Definition::Struct(definition) = &mut model.types[index].definition {
            for (field, boxed) in definition.fields.iter_mut().zip(boxed) {
                field.boxed = boxed;
            }
        }
    }
}

/// For every type the types whose defaults have to exist before its own can: one list for a struct; for a union, which
/// needs one of its fields, a list for each.
fn needs(model: &Model, index: usize) -> Vec<Vec<usize>> {
    let Definition::Struct(definition) = &model.types[index].definition else { return vec![Vec::new()] };
    let of_field = |field: &Field| {
        let mut needed = Vec::new();
        match (&field.default, field.requiredness) {
            (Some(value), _) => needed_by_value(model, value, &mut needed),
            (None, Requiredness::Optional) if definition.kind != StructKind::Union => {}
            // stands for an optional one
            (None, Requiredness::Default) if field.boxed => {}
            _ => needed.extend(model.as_struct(&field.ty).map(|(id, _)| id.index())),
        }
        needed
    };
    match definition.kind {
        StructKind::Union if definition.fields.is_empty() => vec![Vec::new()],
        StructKind::Union => match definition.fields.iter().find(|field| field.default.is_some()) {
            Some(field) => vec![of_field(field)],
            None => definition.fields.iter().map(of_field).collect(),
        },
        _ => vec![definition.fields.iter().flat_map(of_field).collect()],
    }
}

/// A struct that is written with some fields takes the others from its default.
fn needed_by_value(model: &Model, value: &Value, needed: &mut Vec<usize>) {
    match value {
        Value::List(values) | Value::Set(values) => {
            values.iter().for_each(|value| needed_by_value(model, value, needed));
        }
        Value::Map(pairs) => pairs.iter().for_each(|(key, value)| {
            needed_by_value(model, key, needed);
            needed_by_value(model, value, needed);
        }),
        Value::Struct(id, given) => {
            if let Definition::Struct(definition) = &model.type_def(*id).definition
                && definition.kind != StructKind::Union
                && given.len() < definition.fields.len()
            {
                needed.push(id.index());
            }
            given.iter().for_each(|(_, value)| needed_by_value(model, value, needed));
        }
        _ => {}
    }
}

/// Chooses for every union the field that its default sets, so that defaults end wherever they can.
fn choose_default_variants(model: &mut Model) {
    let needs: Vec<Vec<Vec<usize>>> = (0..model.types.len()).map(|index| needs(model, index)).collect();
    let first_finite = first_finite(&needs);
    let possible: Vec<Vec<usize>> = needs.iter().map(|choices| choices.concat()).collect();
    let component = components(&possible);
    for index in 0..model.types.len() {
        let Definition::Struct(definition) = &mut model.types[index].definition else { continue };
        if definition.kind != StructKind::Union || definition.fields.is_empty() {
            continue;
        }
        let given = definition.fields.iter().position(|field| field.default.is_some());
        // the first that can not lead back here, and else one that was found to end
        let leaves = |choice: &Vec<usize>| {
            choice
                .iter()
                .all(|&target| component[target] != component[index] && first_finite[target].is_some())
        };
        let outside = needs[index].iter().position(leaves);
        definition.default_variant = given.or(outside).or(first_finite[index]).or(Some(0));
    }
}

/// For every type with a finite default the choice by which that was seen first: a type is finite once all that one of
/// its choices needs is. Choices thus never lead in circles.
fn first_finite(needs: &[Vec<Vec<usize>>]) -> Vec<Option<usize>> {
    let mut users: Vec<Vec<(usize, usize)>> = vec![Vec::new(); needs.len()];
    let mut missing: Vec<Vec<usize>> = Vec::with_capacity(needs.len());
    let mut finite = vec![None; needs.len()];
    let mut queue = VecDeque::new();
    for (index, choices) in needs.iter().enumerate() {
        for (choice, needed) in choices.iter().enumerate() {
            needed.iter().for_each(|target| users[*target].push((index, choice)));
            if needed.is_empty() && finite[index].is_none() {
                finite[index] = Some(choice);
                queue.push_back(index);
            }
        }
        missing.push(choices.iter().map(Vec::len).collect());
    }
    while let Some(target) = queue.pop_front() {
        for &(user, choice) in &users[target] {
            missing[user][choice] -= 1;
            if missing[user][choice] == 0 && finite[user].is_none() {
                finite[user] = Some(choice);
                queue.push_back(user);
            }
        }
    }
    finite
}

fn refuse_endless_defaults(model: &Model, found: &mut Vec<Diagnostic>) {
    let edges: Vec<Vec<usize>> = (0..model.types.len())
        .map(|index| {
            let mut choices = needs(model, index);
            let chosen = match &model.types[index].definition {
                // a default that is written leaves no choice
                Definition::Struct(Struct { default_variant: Some(chosen), .. }) if choices.len() > 1 => {
                    *chosen
                }
                _ => 0,
            };
            choices.swap_remove(chosen)
        })
        .collect();
    for chain in cycles(&edges) {
        let name = |index: &usize| format!("`{}`", model.types[*index].head.name);
        let names: Vec<String> = chain.iter().chain(chain.first()).map(name).collect();
        let mut diagnostic = Diagnostic::error(
            model.types[chain[0]].head.span,
            format!("a value of this type would have no end: {}", names.join(" → ")),
        )
        .label("contains itself, always")
        .help("make a field on the way optional and without default, or put it in a list");
        for index in &chain[1..] {
            diagnostic = diagnostic.also(model.types[*index].head.span, "by way of this");
        }
        found.push(diagnostic);
    }
}

fn collect_facts(model: &mut Model) {
    let references: Vec<Vec<usize>> = (0..model.types.len())
        .map(|index| {
            let used = types_in(model, index);
            used.into_iter().flat_map(named_in).map(TypeId::index).collect()
        })
        .collect();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); references.len()];
    for (index, targets) in references.iter().enumerate() {
        targets.iter().for_each(|target| users[*target].push(index));
    }
    let own = |test: fn(&TypeKind) -> bool| -> Vec<usize> {
        (0..model.types.len())
            .filter(|index| types_in(model, *index).into_iter().any(|ty| any(ty, test)))
            .collect()
    };
    let floats = reachable(own(|kind| matches!(kind, TypeKind::Double)), &users);
    let tables = reachable(own(|kind| matches!(kind, TypeKind::Set(_) | TypeKind::Map(..))), &users);
    let mut keys = Vec::new();
    for index in 0..model.types.len() {
        types_in(model, index).into_iter().for_each(|ty| collect_keys(ty, &mut keys));
    }
    for method in model.services.iter().flat_map(|service| &service.methods) {
        let fields = method.args.iter().chain(&method.throws).map(|field| &field.ty);
        let result = match &method.answer {
            Answer::Value(ty) => Some(ty),
            _ => None,
        };
        fields.chain(result).for_each(|ty| collect_keys(ty, &mut keys));
    }
    model.constants.iter().for_each(|constant| collect_keys(&constant.ty, &mut keys));
    let keys = reachable(keys, &references);
    for (index, found) in model.types.iter_mut().enumerate() {
        found.facts.floats = floats[index];
        found.facts.tables = tables[index];
        found.facts.key = keys[index];
    }
}

fn fields_of(model: &Model, index: usize) -> &[Field] {
    match &model.types[index].definition {
        Definition::Struct(definition) => &definition.fields,
        _ => &[],
    }
}

/// The types in a definition.
fn types_in(model: &Model, index: usize) -> Vec<&Type> {
    match &model.types[index].definition {
        Definition::Typedef(target) => vec![target],
        Definition::Enum(_) => Vec::new(),
        Definition::Struct(definition) => definition.fields.iter().map(|field| &field.ty).collect(),
    }
}

/// Whether a type or a part of it passes a test; named types are not looked into.
fn any(ty: &Type, test: fn(&TypeKind) -> bool) -> bool {
    test(&ty.kind) || ty.kind.parts().any(|part| any(part, test))
}

/// The named types in elements of sets and keys of maps.
fn collect_keys(ty: &Type, keys: &mut Vec<usize>) {
    if let TypeKind::Set(key) | TypeKind::Map(key, _) = &ty.kind {
        keys.extend(named_in(key).into_iter().map(TypeId::index));
    }
    ty.kind.parts().for_each(|part| collect_keys(part, keys));
}

fn reachable(start: Vec<usize>, edges: &[Vec<usize>]) -> Vec<bool> {
    let mut reached = vec![false; edges.len()];
    let mut queue = start;
    while let Some(node) = queue.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            queue.extend(&edges[node]);
        }
    }
    reached
}
