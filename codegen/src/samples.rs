//! Messages that types have to accept, to reject, or to read although the schema refuses them: made from the same
//! model as the types, so that a rule that is in the schema is in both.
//!
//! A sample is one line of JSON: type, case, value and, where it says more than the case, the reason.

use std::collections::BTreeMap;

use crate::json::Json;
use crate::model::{
    Condition, ConstantValue, Item, ItemKind, Member, Object, Part, Presence, TypeRef, Union,
};
use crate::{Error, Generation, TextFile};

/// What a type has to say to a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// It is read, and written back equal.
    Accept,
    /// It is an error.
    Reject,
    /// It is read, although the schema or the text refuses it.
    Lenient,
}

impl Verdict {
    /// The name of the verdict's file.
    const fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::Lenient => "lenient",
        }
    }
}

/// The samples of a generation, one file a verdict: `<generation>/<verdict>.jsonl`.
///
/// # Errors
///
/// As [`generate`](crate::generate).
pub fn samples(generation: &Generation) -> Result<Vec<TextFile>, Vec<Error>> {
    let model = crate::model_of(generation)?;
    let maker = Maker { items: model.items().map(|item| (item.schema_name.as_str(), item)).collect() };
    let mut files: BTreeMap<Verdict, String> = BTreeMap::new();
    for verdict in [Verdict::Accept, Verdict::Reject, Verdict::Lenient] {
        files.insert(verdict, String::new());
    }
    for item in model.items() {
        for sample in maker.samples(item) {
            let line = Json::Object(vec![
                ("type".to_owned(), text(&item.schema_name)),
                ("case".to_owned(), text(&sample.case)),
                ("value".to_owned(), sample.value),
            ]);
            let file = files.entry(sample.verdict).or_default();
            line.write_line(file);
            file.push('\n');
        }
    }
    let path = |verdict: Verdict| format!("{}/{}.jsonl", model.generation, verdict.name());
    Ok(files.into_iter().map(|(verdict, text)| TextFile::new(path(verdict), text)).collect())
}

struct Sample {
    verdict: Verdict,
    case: String,
    value: Json,
}

impl Sample {
    fn new(verdict: Verdict, case: impl Into<String>, value: Json) -> Self {
        Self { verdict, case: case.into(), value }
    }
}

fn text(text: &str) -> Json {
    Json::Text(text.to_owned())
}

/// How far samples nest: types refer to each other in circles.
const DEPTH: usize = 4;

struct Maker<'a> {
    items: BTreeMap<&'a str, &'a Item>,
}

impl Maker<'_> {
    fn samples(&self, item: &Item) -> Vec<Sample> {
        let mut out = Vec::new();
        match &item.kind {
            ItemKind::Object(object) => self.object_samples(object, &mut out),
            ItemKind::Union(union) => self.union_samples(union, &mut out),
            ItemKind::StringEnum(variants) => {
                for variant in variants {
                    out.push(Sample::new(Verdict::Accept, variant.value.clone(), text(&variant.value)));
                }
                out.push(Sample::new(Verdict::Reject, "unknown value", text("no such value")));
                out.push(Sample::new(Verdict::Reject, "no string", Json::Integer(1)));
            }
            ItemKind::Newtype(shape) => {
                out.push(Sample::new(Verdict::Accept, "plain", self.shape(shape, false, DEPTH)));
                for (case, value) in wrong(shape) {
                    out.push(Sample::new(Verdict::Reject, case, value));
                }
            }
            ItemKind::ErrorCodes(codes) => {
                for code in codes {
                    out.push(Sample::new(Verdict::Accept, code.variant.clone(), Json::Integer(code.code)));
                }
                out.push(Sample::new(Verdict::Accept, "another code", Json::Integer(7)));
                out.push(Sample::new(Verdict::Reject, "no integer", Json::Number(1.5)));
            }
            ItemKind::State(_) | ItemKind::Replaced(_) => {}
        }
        out
    }

    fn object_samples(&self, object: &Object, out: &mut Vec<Sample>) {
        let arms = self.arm_count(object);
        let state = |arm| (arms > 0).then_some(arm);
        let least = self.object(object, false, state(0), DEPTH);
        let most = self.object(object, true, state(0), DEPTH);
        out.push(Sample::new(Verdict::Accept, "required members", least.clone()));
        if most != least {
            out.push(Sample::new(Verdict::Accept, "all members", most.clone()));
        }
        let unknown = with(&least, "x-unknown", Json::Array(vec![Json::Integer(1), Json::Null]));
        out.push(Sample::new(Verdict::Accept, "an unknown member", unknown));
        out.push(Sample::new(Verdict::Reject, "no object", Json::Array(Vec::new())));
        for arm in 1..arms {
            let value = self.object(object, false, Some(arm), DEPTH);
            out.push(Sample::new(Verdict::Accept, format!("state {}", self.arm_name(object, arm)), value));
        }
        for part in &object.parts {
            match part {
                Part::Constant(constant) => {
                    let name = &constant.name;
                    let other = match &constant.value {
                        ConstantValue::Text(_) => text("another value"),
                        ConstantValue::Integer(number) => Json::Integer(number + 1),
                    };
                    let value = with(&least, name, other);
                    out.push(Sample::new(Verdict::Reject, format!("another `{name}`"), value));
                    let verdict = if constant.absent { Verdict::Lenient } else { Verdict::Reject };
                    out.push(Sample::new(verdict, format!("no `{name}`"), without(&least, name)));
                }
                Part::Member(member) => self.member_samples(object, member, &least, &most, out),
                Part::State(name) => self.state_samples(object, name, &least, out),
            }
        }
    }

    fn member_samples(
        &self,
        object: &Object,
        member: &Member,
        least: &Json,
        most: &Json,
        out: &mut Vec<Sample>,
    ) {
        let name = &member.name;
        if member.presence != Presence::Optional {
            out.push(Sample::new(Verdict::Reject, format!("no `{name}`"), without(least, name)));
        }
        let null = with(least, name, Json::Null);
        let any = self.is_any_value(&member.shape);
        let needed = object.at_least_one.contains(name);
        match member.presence {
            Presence::Nullable => out.push(Sample::new(Verdict::Accept, format!("`{name}` null"), null)),
            _ if any => out.push(Sample::new(Verdict::Accept, format!("`{name}` null"), null)),
            Presence::Optional if !needed => {
                out.push(Sample::new(Verdict::Lenient, format!("`{name}` null"), null));
            }
            Presence::Optional => {}
            Presence::Required => out.push(Sample::new(Verdict::Reject, format!("`{name}` null"), null)),
        }
        for (case, value) in self.wrong_values(&member.shape) {
            out.push(Sample::new(Verdict::Reject, format!("`{name}` {case}"), with(most, name, value)));
        }
        if member.shape == TypeRef::Millis {
            let fraction = with(least, name, Json::Number(1.5));
            out.push(Sample::new(Verdict::Lenient, format!("`{name}` a fraction, rounded up"), fraction));
        }
        if matches!(member.shape, TypeRef::Unsigned | TypeRef::Millis) {
            let zero = with(least, name, Json::Integer(0));
            out.push(Sample::new(Verdict::Accept, format!("`{name}` zero"), zero));
        }
        if needed {
            let value = object.at_least_one.iter().fold(most.clone(), |value, name| without(&value, name));
            out.push(Sample::new(Verdict::Reject, "none of the members of which one is needed", value));
        }
    }

    fn state_samples(&self, object: &Object, state: &str, least: &Json, out: &mut Vec<Sample>) {
        let Some(Item { kind: ItemKind::State(state), .. }) = self.items.get(state) else { return };
        out.push(Sample::new(Verdict::Reject, format!("no `{}`", state.tag), without(least, &state.tag)));
        let unknown = with(least, &state.tag, text("no such state"));
        out.push(Sample::new(Verdict::Reject, format!("unknown `{}`", state.tag), unknown));
        for (index, arm) in state.arms.iter().enumerate() {
            let value = self.object(object, false, Some(index), DEPTH);
            for member in &arm.members {
                let case = format!("state {} without `{}`", arm.value, member.name);
                out.push(Sample::new(Verdict::Reject, case, without(&value, &member.name)));
            }
            for other in state.arms.iter().filter(|other| other.value != arm.value) {
                for member in &other.members {
                    let foreign = self.shape(&member.shape, false, DEPTH - 1);
                    let case = format!("state {} with `{}` of another state", arm.value, member.name);
                    out.push(Sample::new(Verdict::Lenient, case, with(&value, &member.name, foreign)));
                }
            }
        }
    }

    fn union_samples(&self, union: &Union, out: &mut Vec<Sample>) {
        match union {
            Union::Kind(arms) => {
                for arm in arms {
                    out.push(Sample::new(
                        Verdict::Accept,
                        arm.variant.clone(),
                        self.shape(&arm.shape, false, DEPTH),
                    ));
                }
                out.push(Sample::new(Verdict::Reject, "null", Json::Null));
            }
            Union::Tag { tag, arms } => {
                for arm in arms {
                    let value = self.named(&arm.target, true, DEPTH);
                    // A tag that comes last is found as well as one that comes first.
                    let moved = self.named(&arm.target, false, DEPTH);
                    let moved = with(&without(&moved, tag), tag, text(&arm.value));
                    out.push(Sample::new(Verdict::Accept, arm.variant.clone(), value));
                    out.push(Sample::new(
                        Verdict::Accept,
                        format!("{} with the tag last", arm.variant),
                        moved,
                    ));
                }
                if let Some(arm) = arms.first() {
                    let value = self.named(&arm.target, false, DEPTH);
                    out.push(Sample::new(Verdict::Reject, format!("no `{tag}`"), without(&value, tag)));
                    let value = with(&value, tag, text("no such tag"));
                    out.push(Sample::new(Verdict::Reject, format!("unknown `{tag}`"), value));
                }
                out.push(Sample::new(Verdict::Reject, "no object", Json::Integer(1)));
            }
            Union::Member(arms) => {
                for arm in arms {
                    let value = self.named(&arm.target, true, DEPTH);
                    out.push(Sample::new(Verdict::Accept, arm.variant.clone(), value));
                }
                if !arms.iter().any(|arm| matches!(arm.condition, Condition::Always)) {
                    out.push(Sample::new(
                        Verdict::Reject,
                        "no member that decides",
                        Json::Object(Vec::new()),
                    ));
                }
                out.push(Sample::new(Verdict::Reject, "no object", Json::Integer(1)));
            }
        }
    }

    fn arm_count(&self, object: &Object) -> usize {
        self.state_of(object).map_or(0, |state| state.arms.len())
    }

    fn arm_name(&self, object: &Object, arm: usize) -> String {
        self.state_of(object)
            .and_then(|state| state.arms.get(arm))
            .map_or_else(String::new, |arm| arm.value.clone())
    }

    fn state_of(&self, object: &Object) -> Option<&crate::model::State> {
        object.parts.iter().find_map(|part| match part {
            Part::State(name) => match self.items.get(name.as_str())? {
                Item { kind: ItemKind::State(state), .. } => Some(state),
                _ => None,
            },
            Part::Constant(_) | Part::Member(_) => None,
        })
    }

    /// A valid object with its required members or with all of them.
    fn object(&self, object: &Object, all: bool, arm: Option<usize>, depth: usize) -> Json {
        let mut members = Vec::new();
        for part in &object.parts {
            match part {
                Part::Constant(constant) => {
                    let value = match &constant.value {
                        ConstantValue::Text(value) => text(value),
                        ConstantValue::Integer(number) => Json::Integer(*number),
                    };
                    members.push((constant.name.clone(), value));
                }
                Part::Member(member) => {
                    let first_needed = object.at_least_one.first() == Some(&member.name);
                    let wanted = all && depth > 0 || first_needed;
                    if member.presence != Presence::Optional || wanted {
                        let value = self.shape(&member.shape, all, depth.saturating_sub(1));
                        members.push((member.name.clone(), value));
                    }
                }
                Part::State(_) => {
                    let Some(state) = self.state_of(object) else { continue };
                    let Some(arm) = state.arms.get(arm.unwrap_or(0)) else { continue };
                    members.push((state.tag.clone(), text(&arm.value)));
                    for member in &arm.members {
                        members.push((
                            member.name.clone(),
                            self.shape(&member.shape, all, depth.saturating_sub(1)),
                        ));
                    }
                }
            }
        }
        Json::Object(members)
    }

    fn named(&self, name: &str, all: bool, depth: usize) -> Json {
        let Some(item) = self.items.get(name) else { return Json::Null };
        match &item.kind {
            ItemKind::Object(object) => self.object(object, all, None, depth),
            ItemKind::StringEnum(variants) => {
                variants.first().map_or(Json::Null, |variant| text(&variant.value))
            }
            ItemKind::Newtype(shape) => self.shape(shape, all, depth),
            ItemKind::ErrorCodes(codes) => codes.first().map_or(Json::Null, |code| Json::Integer(code.code)),
            ItemKind::Union(Union::Kind(arms)) => {
                arms.first().map_or(Json::Null, |arm| self.shape(&arm.shape, all, depth))
            }
            ItemKind::Union(Union::Tag { arms, .. }) => {
                arms.first().map_or(Json::Null, |arm| self.named(&arm.target, all, depth))
            }
            // Which arm is meant can hang on an optional member, so all are there.
            ItemKind::Union(Union::Member(arms)) => {
                arms.first().map_or(Json::Null, |arm| self.named(&arm.target, true, depth.max(1)))
            }
            ItemKind::Replaced(path) => match path.as_str() {
                "RawObject" => Json::Object(vec![("any".to_owned(), Json::Integer(1))]),
                "Timestamp" => text("2026-08-21T12:30:00.120+02:00"),
                "TaskId" => text("tsk_786512e29e0d44bd8f29789f320fe840"),
                _ => Json::Array(vec![Json::Integer(1), Json::Null, text("any")]),
            },
            ItemKind::State(_) => Json::Null,
        }
    }

    fn shape(&self, shape: &TypeRef, all: bool, depth: usize) -> Json {
        match shape {
            TypeRef::Named(name) => self.named(name, all, depth),
            TypeRef::Text => text("tëxt"),
            TypeRef::Unsigned | TypeRef::Millis => Json::Integer(60_000),
            TypeRef::Integer => Json::Integer(-7),
            TypeRef::Number => Json::Number(0.25),
            TypeRef::Boolean => Json::Bool(true),
            TypeRef::List(_) if depth == 0 => Json::Array(Vec::new()),
            TypeRef::List(item) => Json::Array(vec![self.shape(item, all, depth)]),
            TypeRef::Map(_) if depth == 0 => Json::Object(Vec::new()),
            TypeRef::Map(value) => Json::Object(vec![("a key".to_owned(), self.shape(value, all, depth))]),
        }
    }

    fn is_any_value(&self, shape: &TypeRef) -> bool {
        let TypeRef::Named(name) = shape else { return false };
        matches!(self.items.get(name.as_str()), Some(Item { kind: ItemKind::Replaced(path), .. }) if path == "RawJson")
    }

    /// Values that a member of this type does not take.
    fn wrong_values(&self, shape: &TypeRef) -> Vec<(&'static str, Json)> {
        let TypeRef::Named(name) = shape else { return wrong(shape) };
        let Some(item) = self.items.get(name.as_str()) else { return Vec::new() };
        match &item.kind {
            ItemKind::Object(_) => vec![("no object", text("text"))],
            ItemKind::StringEnum(_) => vec![("unknown value", text("no such value"))],
            ItemKind::Newtype(shape) => wrong(shape),
            ItemKind::Replaced(path) => match path.as_str() {
                "RawObject" => vec![("no object", Json::Array(Vec::new()))],
                "Timestamp" => {
                    vec![("no time", text("yesterday")), ("without an offset", text("2026-08-21T10:30:00"))]
                }
                "TaskId" => vec![("no string", Json::Integer(1))],
                _ => Vec::new(),
            },
            // Their own samples say what they refuse.
            ItemKind::Union(_) | ItemKind::ErrorCodes(_) | ItemKind::State(_) => Vec::new(),
        }
    }
}

fn wrong(shape: &TypeRef) -> Vec<(&'static str, Json)> {
    match shape {
        TypeRef::Named(_) => Vec::new(),
        TypeRef::Text => vec![("no string", Json::Integer(1))],
        TypeRef::Unsigned => {
            vec![("negative", Json::Integer(-1)), ("a fraction", Json::Number(1.5)), ("no number", text("1"))]
        }
        TypeRef::Millis => vec![("negative", Json::Integer(-1)), ("no number", text("1"))],
        TypeRef::Integer => vec![("a fraction", Json::Number(1.5)), ("no number", text("1"))],
        TypeRef::Number => vec![("no number", text("1"))],
        TypeRef::Boolean => vec![("no boolean", text("true"))],
        TypeRef::List(_) => vec![("no list", Json::Object(Vec::new()))],
        TypeRef::Map(_) => vec![("no object", Json::Array(Vec::new()))],
    }
}

/// The object with a member set, at its old place or at the end.
fn with(object: &Json, name: &str, value: Json) -> Json {
    let Json::Object(members) = object else { return object.clone() };
    let mut members = members.clone();
    match members.iter_mut().find(|(known, _)| known == name) {
        Some((_, slot)) => *slot = value,
        None => members.push((name.to_owned(), value)),
    }
    Json::Object(members)
}

fn without(object: &Json, name: &str) -> Json {
    let Json::Object(members) = object else { return object.clone() };
    Json::Object(members.iter().filter(|(known, _)| known != name).cloned().collect())
}
