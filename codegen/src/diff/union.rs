//! The changes of a union.

use super::walk::{Walk, shape_words};
use super::{Kind, Mark};
use crate::accept::Value;
use crate::model::{Condition, KindArm, MemberArm, TagArm, Union};
use crate::words::condition_words;

const COMPATIBLE: (Mark, Mark) = (Mark::Compatible, Mark::Compatible);
const BOTH: (Mark, Mark) = (Mark::Breaking, Mark::Breaking);

/// An arm in plain form.
struct Arm<'a> {
    /// What it is known by on both sides.
    key: &'a str,
    variant: &'a str,
    value: Value<'a>,
    words: String,
    condition: Option<&'a Condition>,
}

fn arms(union: &Union) -> Vec<Arm<'_>> {
    match union {
        Union::Kind(arms) => arms
            .iter()
            .map(|KindArm { variant, shape }| Arm {
                key: variant,
                variant,
                value: Value::Shape(shape),
                words: shape_words(shape),
                condition: None,
            })
            .collect(),
        Union::Tag { arms, .. } => arms
            .iter()
            .map(|TagArm { variant, value, target }| Arm {
                key: value,
                variant,
                value: Value::Named(target),
                words: target.clone(),
                condition: None,
            })
            .collect(),
        Union::Member(arms) => arms
            .iter()
            .map(|MemberArm { variant, target, condition }| Arm {
                key: target,
                variant,
                value: Value::Named(target),
                words: target.clone(),
                condition: Some(condition),
            })
            .collect(),
    }
}

/// How the arms are told apart, in words.
fn told_by(union: &Union) -> String {
    match union {
        Union::Kind(_) => "by kind".to_owned(),
        Union::Tag { tag, .. } => format!("by `{tag}`"),
        Union::Member(_) => "by member".to_owned(),
    }
}

impl<'a> Walk<'a> {
    pub(super) fn union(&mut self, name: &'a str, path: &str, old: &'a Union, new: &'a Union) {
        let whole = Value::Named(name);
        let (was, is) = (told_by(old), told_by(new));
        if was != is {
            let marks = self.judged(whole, whole);
            return self.change(name, Kind::Arm, was, is, marks, path.to_owned());
        }
        let (olds, news) = (arms(old), arms(new));
        let old_path = path.replacen(self.new_module, self.old_module, 1);
        for arm in &olds {
            let at = format!("{name}.{}", arm.key);
            match news.iter().find(|other| other.key == arm.key) {
                Some(other) => self.same_arm(&at, path, arm, other),
                None => {
                    // The rest of the union may still take it.
                    let writers = self.still_read(false, whole, arm.value);
                    let item = format!("{old_path}::{}", arm.variant);
                    self.change(&at, Kind::Arm, &*arm.words, "", (Mark::Compatible, writers), item);
                }
            }
        }
        for arm in news.iter().filter(|arm| olds.iter().all(|other| other.key != arm.key)) {
            let readers = self.still_read(true, whole, arm.value);
            let item = format!("{path}::{}", arm.variant);
            let at = format!("{name}.{}", arm.key);
            self.change(&at, Kind::Arm, "", &*arm.words, (readers, Mark::Compatible), item);
        }
        if matches!(old, Union::Member(_)) {
            let common = |arms: &[Arm<'a>], others: &[Arm<'a>]| -> Vec<&'a str> {
                let keys = arms.iter().map(|arm| arm.key);
                keys.filter(|key| others.iter().any(|other| other.key == *key)).collect()
            };
            let (was, is) = (common(&olds, &news), common(&news, &olds));
            if was != is {
                // The first arm that fits is taken, so a message may be read as another.
                self.change(name, Kind::Arm, was.join(", "), is.join(", "), BOTH, path.to_owned());
            }
        }
    }

    fn same_arm(&mut self, at: &str, path: &str, old: &Arm<'a>, new: &Arm<'a>) {
        let item = format!("{path}::{}", new.variant);
        if old.words != new.words {
            let marks = self.judged(old.value, new.value);
            self.change(at, Kind::Arm, &*old.words, &*new.words, marks, item.clone());
        }
        if old.condition != new.condition
            && let (Some(was), Some(is)) = (old.condition, new.condition)
        {
            let marks = (Mark::of(implies(is, was)), Mark::of(implies(was, is)));
            self.change(at, Kind::Arm, condition_words(was), condition_words(is), marks, item.clone());
        }
        if old.variant != new.variant {
            self.change(at, Kind::RustName, old.variant, new.variant, COMPATIBLE, item);
        }
    }
}

/// Whether every message that meets one condition meets the other.
fn implies(from: &Condition, to: &Condition) -> bool {
    match (from, to) {
        (_, Condition::Always) => true,
        (from, Condition::All(parts)) => parts.iter().all(|part| implies(from, part)),
        (Condition::Any(parts), to) => parts.iter().all(|part| implies(part, to)),
        (Condition::All(parts), to) => parts.iter().any(|part| implies(part, to)),
        (from, Condition::Any(parts)) => parts.iter().any(|part| implies(from, part)),
        (Condition::Is { name, values }, Condition::Is { name: other, values: others }) => {
            name == other && values.iter().all(|value| others.contains(value))
        }
        (Condition::Is { name, .. }, Condition::Has(path) | Condition::Holds(path)) => name == path,
        // They differ in null alone, which is no value of a member that tells an arm.
        (Condition::Has(path) | Condition::Holds(path), Condition::Has(other) | Condition::Holds(other)) => {
            path == other
        }
        (Condition::Always | Condition::Has(_) | Condition::Holds(_), _) => false,
    }
}
