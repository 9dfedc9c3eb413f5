//! Messages that types have to accept, to reject, or to read although the schema refuses them: made from the same
//! model as the types, so that a rule that is in the schema is in both.
//!
//! A sample is one line of JSON: type, case, value and, where it is read leniently, the reason.

mod readme;
mod value;

use std::collections::BTreeMap;

pub use self::readme::readme;
use self::value::Values;
use crate::json::Json;
use crate::model::{
    Condition, ConstantValue, Details, Item, ItemKind, Member, Object, Part, Presence, State, TagArm,
    TypeRef, Union,
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
    /// All of them, in the order in which they are told.
    const ALL: [Self; 3] = [Self::Accept, Self::Reject, Self::Lenient];

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
    let maker = Maker { values: Values::new(model.items()) };
    let mut files: BTreeMap<Verdict, String> = Verdict::ALL.map(|verdict| (verdict, String::new())).into();
    for item in model.items() {
        for sample in maker.samples(item) {
            let mut line = vec![
                ("type".to_owned(), text(&item.schema_name)),
                ("case".to_owned(), text(&sample.case)),
                ("value".to_owned(), sample.value),
            ];
            line.extend(sample.reason.map(|reason| ("reason".to_owned(), text(reason))));
            let file = files.entry(sample.verdict).or_default();
            Json::Object(line).write_line(file);
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
    /// Why it is read.
    reason: Option<&'static str>,
}

impl Sample {
    fn accept(case: impl Into<String>, value: Json) -> Self {
        Self { verdict: Verdict::Accept, case: case.into(), value, reason: None }
    }

    fn reject(case: impl Into<String>, value: Json) -> Self {
        Self { verdict: Verdict::Reject, case: case.into(), value, reason: None }
    }

    fn lenient(case: impl Into<String>, value: Json, reason: &'static str) -> Self {
        Self { verdict: Verdict::Lenient, case: case.into(), value, reason: Some(reason) }
    }
}

const ABSENT: &str = "the protocol says that a reader takes its absence for the constant";
const NULL: &str = "null is read as if the member were not there, and is not written back";
const FRACTION: &str = "a duration is a whole number of milliseconds where it is written; a reader rounds up";
const FOREIGN: &str =
    "objects are open: a payload of another state is kept as an unknown member, and means nothing";
const BOUND: &str = "bounds of numbers are for validators; the number is kept as it came";

fn text(text: &str) -> Json {
    Json::Text(text.to_owned())
}

struct Maker<'a> {
    values: Values<'a>,
}

impl<'a> Maker<'a> {
    fn samples(&self, item: &'a Item) -> Vec<Sample> {
        let mut out = Vec::new();
        match &item.kind {
            ItemKind::Object(object) => self.object_samples(object, &mut out),
            ItemKind::Union(union) => self.union_samples(union, &mut out),
            ItemKind::StringEnum(variants) => {
                for variant in variants {
                    out.push(Sample::accept(variant.value.clone(), text(&variant.value)));
                }
                out.push(Sample::reject("unknown value", text("no such value")));
                out.push(Sample::reject("no string", Json::Integer(1)));
            }
            ItemKind::Newtype(shape) => {
                out.push(Sample::accept("plain", self.values.shape(shape)));
                for (case, value) in wrong(shape) {
                    out.push(Sample::reject(case, value));
                }
                for (case, value) in at_bounds(shape, &item.details) {
                    out.push(Sample::accept(case, value));
                }
                for (case, value) in beyond_bounds(shape, &item.details) {
                    out.push(Sample::lenient(case, value, BOUND));
                }
            }
            ItemKind::ErrorCodes(codes) => {
                for code in codes {
                    out.push(Sample::accept(code.variant.clone(), Json::Integer(code.code)));
                }
                out.push(Sample::accept("another code", Json::Integer(7)));
                out.push(Sample::reject("no integer", Json::Number(1.5)));
            }
            ItemKind::Replaced(path) => {
                for (case, value) in by_hand(path) {
                    out.push(Sample::accept(case, value));
                }
                for (case, value) in wrong_by_hand(path) {
                    out.push(Sample::reject(case, value));
                }
            }
            // A state is no message and no member; objects are that are composed with it.
            ItemKind::State(_) => {}
        }
        out
    }

    fn object_samples(&self, object: &'a Object, out: &mut Vec<Sample>) {
        let least = self.values.object(object, false, 0);
        let most = self.values.object(object, true, 0);
        out.push(Sample::accept("required members", least.clone()));
        if most != least {
            out.push(Sample::accept("all members", most.clone()));
        }
        let unknown = with(&least, "x-unknown", Json::Array(vec![Json::Integer(1), Json::Null]));
        out.push(Sample::accept("an unknown member", unknown));
        out.push(Sample::reject("no object", Json::Array(Vec::new())));
        let arms = self.values.state_of(object).map(|state| state.arms.as_slice()).unwrap_or_default();
        for (index, arm) in arms.iter().enumerate().skip(1) {
            let value = self.values.object(object, false, index);
            out.push(Sample::accept(format!("state {}", arm.value), value));
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
                    out.push(Sample::reject(format!("another `{name}`"), value));
                    let (case, value) = (format!("no `{name}`"), without(&least, name));
                    out.push(if constant.absent {
                        Sample::lenient(case, value, ABSENT)
                    } else {
                        Sample::reject(case, value)
                    });
                }
                Part::Member(member) => self.member_samples(object, member, &least, &most, out),
                Part::State(name) => {
                    if let Some(state) = self.values.state(name) {
                        self.state_samples(object, state, &least, out);
                    }
                }
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
            out.push(Sample::reject(format!("no `{name}`"), without(least, name)));
        }
        let null = with(least, name, Json::Null);
        let any = self.is_any_value(&member.shape);
        let needed = object.at_least_one.contains(name);
        match member.presence {
            Presence::Nullable => out.push(Sample::accept(format!("`{name}` null"), null)),
            _ if any => out.push(Sample::accept(format!("`{name}` null"), null)),
            Presence::Optional if !needed => {
                out.push(Sample::lenient(format!("`{name}` null"), null, NULL));
            }
            Presence::Optional => {}
            Presence::Required => out.push(Sample::reject(format!("`{name}` null"), null)),
        }
        for (case, value) in self.wrong_values(&member.shape) {
            out.push(Sample::reject(format!("`{name}` {case}"), with(most, name, value)));
        }
        if member.shape == TypeRef::Millis {
            let fraction = with(least, name, Json::Number(1.5));
            out.push(Sample::lenient(format!("`{name}` a fraction, rounded up"), fraction, FRACTION));
        }
        if matches!(member.shape, TypeRef::Unsigned | TypeRef::Millis) {
            let zero = with(least, name, Json::Integer(0));
            out.push(Sample::accept(format!("`{name}` zero"), zero));
        }
        for (case, value) in at_bounds(&member.shape, &member.details) {
            out.push(Sample::accept(format!("`{name}` {case}"), with(least, name, value)));
        }
        for (case, value) in beyond_bounds(&member.shape, &member.details) {
            out.push(Sample::lenient(format!("`{name}` {case}"), with(least, name, value), BOUND));
        }
        if object.at_least_one.first() == Some(name) {
            let value = object.at_least_one.iter().fold(most.clone(), |value, name| without(&value, name));
            out.push(Sample::reject("none of the members of which one is needed", value));
            let nulls =
                object.at_least_one.iter().fold(most.clone(), |value, name| with(&value, name, Json::Null));
            out.push(Sample::reject("null for the members of which one is needed", nulls));
        }
    }

    fn state_samples(&self, object: &'a Object, state: &'a State, least: &Json, out: &mut Vec<Sample>) {
        out.push(Sample::reject(format!("no `{}`", state.tag), without(least, &state.tag)));
        let unknown = with(least, &state.tag, text("no such state"));
        out.push(Sample::reject(format!("unknown `{}`", state.tag), unknown));
        for (index, arm) in state.arms.iter().enumerate() {
            let value = self.values.object(object, false, index);
            for member in &arm.members {
                let case = format!("state {} without `{}`", arm.value, member.name);
                out.push(Sample::reject(case, without(&value, &member.name)));
            }
            for other in state.arms.iter().filter(|other| other.value != arm.value) {
                for member in &other.members {
                    let foreign = [("", self.values.shape(&member.shape)), (" null", Json::Null)];
                    for (null, foreign) in foreign {
                        let case =
                            format!("state {} with `{}`{null} of another state", arm.value, member.name);
                        out.push(Sample::lenient(case, with(&value, &member.name, foreign), FOREIGN));
                    }
                }
            }
        }
    }

    fn union_samples(&self, union: &'a Union, out: &mut Vec<Sample>) {
        match union {
            Union::Kind(arms) => {
                for arm in arms {
                    out.push(Sample::accept(arm.variant.clone(), self.values.shape(&arm.shape)));
                }
                out.push(Sample::reject("null", Json::Null));
            }
            Union::Tag { tag, arms } => {
                for arm in arms {
                    let value = self.values.named(&arm.target, true);
                    // A tag that comes last is found as well as one that comes first.
                    let moved = self.values.named(&arm.target, false);
                    let moved = with(&without(&moved, tag), tag, text(&arm.value));
                    out.push(Sample::accept(arm.variant.clone(), value));
                    out.push(Sample::accept(format!("{} with the tag last", arm.variant), moved));
                }
                for arm in arms {
                    self.tag_arm_samples(tag, arm, out);
                }
                out.push(Sample::reject("no object", Json::Integer(1)));
            }
            Union::Member(arms) => {
                for arm in arms {
                    let value = self.values.named(&arm.target, true);
                    out.push(Sample::accept(arm.variant.clone(), value));
                }
                if !arms.iter().any(|arm| matches!(arm.condition, Condition::Always)) {
                    out.push(Sample::reject("no member that decides", Json::Object(Vec::new())));
                }
                out.push(Sample::reject("no object", Json::Integer(1)));
            }
        }
    }

    /// What an arm of a union by tag refuses is refused through the union.
    fn tag_arm_samples(&self, tag: &str, arm: &'a TagArm, out: &mut Vec<Sample>) {
        let (variant, value) = (&arm.variant, self.values.named(&arm.target, false));
        out.push(Sample::reject(format!("{variant} without `{tag}`"), without(&value, tag)));
        let unknown = with(&value, tag, text("no such tag"));
        out.push(Sample::reject(format!("{variant} with an unknown `{tag}`"), unknown));
        let number = with(&value, tag, Json::Integer(1));
        out.push(Sample::reject(format!("{variant} with a `{tag}` that is no string"), number));
        let Some(Item { kind: ItemKind::Object(object), .. }) = self.values.item(&arm.target) else { return };
        for part in &object.parts {
            let name = match part {
                Part::Member(member) if member.presence != Presence::Optional => &member.name,
                Part::Constant(constant) if !constant.absent && constant.name != *tag => &constant.name,
                Part::State(_) | Part::Member(_) | Part::Constant(_) => continue,
            };
            out.push(Sample::reject(format!("{variant} without `{name}`"), without(&value, name)));
        }
    }

    fn is_any_value(&self, shape: &TypeRef) -> bool {
        let TypeRef::Named(name) = shape else { return false };
        matches!(self.values.item(name), Some(Item { kind: ItemKind::Replaced(path), .. }) if path == "RawJson")
    }

    /// Values that a member of this type does not take.
    fn wrong_values(&self, shape: &TypeRef) -> Vec<(&'static str, Json)> {
        let TypeRef::Named(name) = shape else { return wrong(shape) };
        let Some(item) = self.values.item(name) else { return Vec::new() };
        match &item.kind {
            ItemKind::Object(_) => vec![("no object", text("text"))],
            ItemKind::StringEnum(_) => vec![("unknown value", text("no such value"))],
            ItemKind::Newtype(shape) => wrong(shape),
            ItemKind::Replaced(path) => wrong_by_hand(path),
            // Their own samples say what they refuse.
            ItemKind::Union(_) | ItemKind::ErrorCodes(_) | ItemKind::State(_) => Vec::new(),
        }
    }
}

/// Values of a type that is written by hand; of those of other crates nothing is known.
fn by_hand(path: &str) -> Vec<(&'static str, Json)> {
    let any = || Json::Object(vec![("any".to_owned(), Json::Integer(1))]);
    match path {
        "RawObject" => vec![("empty", Json::Object(Vec::new())), ("object", any())],
        "RawJson" => vec![
            ("null", Json::Null),
            ("boolean", Json::Bool(false)),
            ("number", Json::Number(0.25)),
            ("string", text("tëxt")),
            ("list", Json::Array(vec![Json::Null, any()])),
            ("object", any()),
        ],
        "Timestamp" => vec![
            ("in UTC", text("2026-08-21T10:30:00Z")),
            ("with an offset and a fraction", text("2026-08-21T12:30:00.120+02:00")),
        ],
        "TaskId" => vec![("text", text("tsk_786512e29e0d44bd8f29789f320fe840"))],
        _ => Vec::new(),
    }
}

fn wrong_by_hand(path: &str) -> Vec<(&'static str, Json)> {
    match path {
        "RawObject" => vec![("no object", Json::Array(Vec::new()))],
        "Timestamp" => vec![
            ("no time", text("yesterday")),
            ("without an offset", text("2026-08-21T10:30:00")),
            ("no string", Json::Integer(1)),
        ],
        "TaskId" => vec![("no string", Json::Integer(1))],
        _ => Vec::new(),
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

/// The bounds of a number, which are values of their own, and what lies beyond them.
fn bounds(details: &Details) -> [(&'static str, Option<f64>, f64); 2] {
    [("minimum", details.minimum, -1.0), ("maximum", details.maximum, 1.0)]
}

fn at_bounds(shape: &TypeRef, details: &Details) -> Vec<(String, Json)> {
    let at =
        |(name, bound, _): (&str, Option<f64>, f64)| Some((format!("at the {name}"), held(shape, bound?)?));
    bounds(details).into_iter().filter_map(at).collect()
}

fn beyond_bounds(shape: &TypeRef, details: &Details) -> Vec<(String, Json)> {
    let beyond = |(name, bound, step): (&str, Option<f64>, f64)| {
        Some((format!("beyond the {name}"), held(shape, bound? + step)?))
    };
    bounds(details).into_iter().filter_map(beyond).collect()
}

/// A number in the place of the number that a type has; none for a type that has none, or enforces its bounds.
fn held(shape: &TypeRef, number: f64) -> Option<Json> {
    match shape {
        TypeRef::Number => Some(Json::Number(number)),
        TypeRef::List(item) => Some(Json::Array(vec![held(item, number)?])),
        TypeRef::Map(value) => Some(Json::Object(vec![("a key".to_owned(), held(value, number)?)])),
        _ => None,
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
