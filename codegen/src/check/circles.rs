//! Types that would contain themselves.

use std::collections::BTreeMap;

use super::{items, payloads};
use crate::model::{Item, ItemKind, Model, Part, TypeRef, Union};

/// The definitions that hold themselves without a list or map in between, each with its file.
///
/// One walk over all of them finds the groups whose members hold each other (Tarjan). It keeps its own stack, since a
/// schema can be deeper than a thread's.
pub(super) fn in_circles(model: &Model) -> Vec<(&str, &Item)> {
    let all: Vec<(&str, &Item)> = items(model).collect();
    let places: BTreeMap<&str, usize> =
        all.iter().enumerate().map(|(place, (_, item))| (item.schema_name.as_str(), place)).collect();
    let held: Vec<Vec<usize>> = all
        .iter()
        .map(|(_, item)| held(item).into_iter().filter_map(|name| places.get(name).copied()).collect())
        .collect();
    let (seen, is_open) = (vec![None; held.len()], vec![false; held.len()]);
    let mut walk = Walk { met: 0, seen, open: Vec::new(), is_open };
    let mut circular = vec![false; held.len()];
    for start in 0..held.len() {
        if walk.seen[start].is_none() {
            walk.from(start, &held, &mut circular);
        }
    }
    all.into_iter().zip(circular).filter_map(|(item, circular)| circular.then_some(item)).collect()
}

struct Walk {
    /// How many definitions have been met.
    met: usize,
    /// When a definition was met, and the earliest one that can be reached from it and is open.
    seen: Vec<Option<(usize, usize)>>,
    /// Definitions whose group is not known yet.
    open: Vec<usize>,
    is_open: Vec<bool>,
}

impl Walk {
    fn meet(&mut self, node: usize, path: &mut Vec<(usize, usize)>) {
        let when = self.met;
        self.met += 1;
        self.seen[node] = Some((when, when));
        self.open.push(node);
        self.is_open[node] = true;
        path.push((node, 0));
    }

    fn lower(&mut self, node: usize, reached: usize) {
        if let Some((_, low)) = &mut self.seen[node] {
            *low = reached.min(*low);
        }
    }

    fn from(&mut self, start: usize, held: &[Vec<usize>], circular: &mut [bool]) {
        let mut path = Vec::new();
        self.meet(start, &mut path);
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            if let Some(&target) = held[node].get(*next) {
                *next += 1;
                match self.seen[target] {
                    None => self.meet(target, &mut path),
                    Some((when, _)) if self.is_open[target] => {
                        self.lower(node, when);
                        circular[node] |= target == node;
                    }
                    Some(_) => {}
                }
                continue;
            }
            path.pop();
            let Some((when, low)) = self.seen[node] else { continue };
            if let Some((outer, _)) = path.last() {
                self.lower(*outer, low);
            }
            if when == low {
                let from = self.open.iter().rposition(|open| *open == node).unwrap_or(0);
                let group = self.open.split_off(from);
                for member in &group {
                    self.is_open[*member] = false;
                    circular[*member] |= group.len() > 1;
                }
            }
        }
    }
}

/// The definitions that a type holds directly.
fn held(item: &Item) -> Vec<&str> {
    fn named(shape: &TypeRef) -> Option<&str> {
        match shape {
            TypeRef::Named(name) => Some(name),
            _ => None,
        }
    }
    match &item.kind {
        ItemKind::Object(object) => object
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Member(member) => named(&member.shape),
                Part::State(name) => Some(name.as_str()),
                Part::Constant(_) => None,
            })
            .collect(),
        ItemKind::State(state) => payloads(state).filter_map(|member| named(&member.shape)).collect(),
        ItemKind::Union(Union::Kind(arms)) => arms.iter().filter_map(|arm| named(&arm.shape)).collect(),
        ItemKind::Union(Union::Tag { arms, .. }) => arms.iter().map(|arm| arm.target.as_str()).collect(),
        ItemKind::Union(Union::Member(arms)) => arms.iter().map(|arm| arm.target.as_str()).collect(),
        ItemKind::Newtype(shape) => named(shape).into_iter().collect(),
        ItemKind::StringEnum(_) | ItemKind::ErrorCodes(_) | ItemKind::Replaced(_) => Vec::new(),
    }
}
