//! Rules about a whole model that no single definition can be judged by: what refers to what, names that Rust cannot
//! have, objects that are too large, and types that would contain themselves.
//!
//! What passes here makes code that compiles; a fault that the compiler would find has no place in a schema file.

mod circles;
mod names;

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Errors};
use crate::json::child;
use crate::model::{Item, ItemKind, Member, Model, Object, Part, Presence, State, TypeRef, Union};

/// How many members an object has at most: those that have come are kept in one word while it is read.
const MEMBERS: usize = 64;
/// The key of `_meta` that says which revision a request speaks.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// Checks a model.
pub(crate) fn check(model: &Model) -> Errors {
    let mut check = Check {
        items: model.items().map(|item| (item.schema_name.as_str(), item)).collect(),
        errors: Errors::new(),
    };
    for (file, item) in items(model) {
        check.item(&At { file, place: child("#/$defs", &item.schema_name) }, item);
    }
    for (file, item) in circles::in_circles(model) {
        let message = "the type would contain itself; a list or a map has to stand in between";
        check.fault(&At { file, place: child("#/$defs", &item.schema_name) }, message.to_owned());
    }
    check.errors.extend(names::check(model));
    check.errors
}

/// All definitions, each with the path of its file.
fn items(model: &Model) -> impl Iterator<Item = (&str, &Item)> {
    model.files.iter().flat_map(|file| file.items.iter().map(|item| (file.path.as_str(), item)))
}

struct At<'a> {
    file: &'a str,
    place: String,
}

impl At<'_> {
    fn child(&self, name: &str) -> Self {
        Self { file: self.file, place: child(&self.place, name) }
    }
}

struct Check<'a> {
    items: BTreeMap<&'a str, &'a Item>,
    errors: Errors,
}

impl<'a> Check<'a> {
    fn fault(&mut self, at: &At<'_>, message: String) {
        self.errors.push(Error::new(at.file, &at.place, message));
    }

    fn kind(&self, name: &str) -> Option<&'a ItemKind> {
        self.items.get(name).map(|item| &item.kind)
    }

    fn item(&mut self, at: &At<'_>, item: &Item) {
        let parts: BTreeSet<&str> = values(item)
            .into_iter()
            .filter(|name| matches!(self.kind(name), None | Some(ItemKind::State(_))))
            .collect();
        for name in parts {
            // A mixin makes no item at all.
            let message =
                format!("`{name}` is a part of objects, a state or a mixin, and makes no value alone");
            self.fault(at, message);
        }
        match &item.kind {
            ItemKind::Object(object) => self.object(at, object),
            ItemKind::Union(Union::Kind(arms)) => {
                for arm in arms {
                    let TypeRef::Named(name) = &arm.shape else { continue };
                    let object = matches!(
                        self.kind(name),
                        Some(ItemKind::Object(_) | ItemKind::Union(Union::Tag { .. } | Union::Member(_)))
                    );
                    if !object {
                        let message = format!("`{name}` is no object; other kinds of arm are written inline");
                        self.fault(at, message);
                    }
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, at: &At<'_>, object: &Object) {
        let names = self.names_of(object);
        if names.len() > MEMBERS {
            let message = format!(
                "an object has at most {MEMBERS} members, the tag and all payloads of its state among them; \
                 these are {}",
                names.len()
            );
            self.fault(at, message);
        }
        let mut seen = BTreeSet::new();
        let twice: BTreeSet<String> =
            names.into_iter().filter(|name| !seen.insert(*name)).map(str::to_owned).collect();
        for name in twice {
            self.fault(at, format!("the member `{name}` comes from two parts"));
        }
        for member in object.members().filter(|member| member.name == VERSION_KEY) {
            if member.shape != TypeRef::Text {
                self.fault(at, format!("`{}` is a string", member.name));
            }
        }
        if let Some(member) = object.method.as_ref().and_then(|method| method.routed_by.as_ref())
            && !self.is_routed_by(object, member)
        {
            let message =
                format!("`{member}` is to be a required string of required parameters, to be routed by");
            self.fault(&at.child("x-mcp-name"), message);
        }
    }

    /// The names of all members of an object, whatever its state.
    fn names_of<'o>(&self, object: &'o Object) -> Vec<&'o str>
    where
        'a: 'o,
    {
        let mut names = Vec::new();
        for part in &object.parts {
            match part {
                Part::Constant(constant) => names.push(constant.name.as_str()),
                Part::Member(member) => names.push(member.name.as_str()),
                Part::State(name) => {
                    let Some(ItemKind::State(state)) = self.kind(name) else { continue };
                    names.push(state.tag.as_str());
                    names.extend(payloads(state).map(|member| member.name.as_str()));
                }
            }
        }
        names
    }

    fn is_routed_by(&self, object: &Object, name: &str) -> bool {
        let Some(TypeRef::Named(params)) = required(object, "params") else { return false };
        let Some(ItemKind::Object(params)) = self.kind(params) else { return false };
        match required(params, name) {
            Some(TypeRef::Text) => true,
            Some(TypeRef::Named(name)) => {
                matches!(self.kind(name), Some(ItemKind::Replaced(path)) if path == "TaskId")
            }
            _ => false,
        }
    }
}

/// The type of a required member.
fn required<'o>(object: &'o Object, name: &str) -> Option<&'o TypeRef> {
    let member = object.members().find(|member| member.name == name)?;
    (member.presence == Presence::Required).then_some(&member.shape)
}

fn payloads(state: &State) -> impl Iterator<Item = &Member> {
    state.arms.iter().flat_map(|arm| &arm.members)
}

/// The definitions that an item refers to as types of values.
fn values(item: &Item) -> Vec<&str> {
    fn innermost(shape: &TypeRef) -> Option<&str> {
        match shape {
            TypeRef::Named(name) => Some(name),
            TypeRef::List(inner) | TypeRef::Map(inner) => innermost(inner),
            _ => None,
        }
    }
    match &item.kind {
        ItemKind::Object(object) => {
            let result = object.method.as_ref().and_then(|method| method.result.as_deref());
            object.members().filter_map(|member| innermost(&member.shape)).chain(result).collect()
        }
        ItemKind::State(state) => payloads(state).filter_map(|member| innermost(&member.shape)).collect(),
        ItemKind::Union(Union::Kind(arms)) => arms.iter().filter_map(|arm| innermost(&arm.shape)).collect(),
        ItemKind::Union(Union::Tag { arms, .. }) => arms.iter().map(|arm| arm.target.as_str()).collect(),
        ItemKind::Union(Union::Member(arms)) => arms.iter().map(|arm| arm.target.as_str()).collect(),
        ItemKind::Newtype(shape) => innermost(shape).into_iter().collect(),
        ItemKind::ErrorCodes(codes) => codes.iter().filter_map(|code| code.data.as_deref()).collect(),
        ItemKind::StringEnum(_) | ItemKind::Replaced(_) => Vec::new(),
    }
}
