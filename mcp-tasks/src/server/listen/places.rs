//! How many subscriptions there may be: each holds a connection, and hears of every change.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::owner::Owner;

/// The places for subscriptions, and who has one.
#[derive(Clone, Debug)]
pub(in crate::server) struct Places {
    taken: Arc<Mutex<Taken>>,
    of_owner: usize,
    overall: usize,
}

#[derive(Debug, Default)]
struct Taken {
    by_owner: BTreeMap<Owner, usize>,
    overall: usize,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    taken: Arc<Mutex<Taken>>,
    owner: Owner,
}

impl Places {
    pub(in crate::server) fn new(of_owner: usize, overall: usize) -> Self {
        Self { taken: Arc::default(), of_owner, overall }
    }

    /// A place for one more of this owner's, if there is one.
    pub(super) fn take(&self, owner: &Owner) -> Option<Place> {
        let mut taken = locked(&self.taken);
        if taken.overall >= self.overall {
            return None;
        }
        let of_owner = taken.by_owner.get(owner).copied().unwrap_or(0);
        if of_owner >= self.of_owner {
            return None;
        }
        taken.by_owner.insert(owner.clone(), of_owner + 1);
        taken.overall += 1;
        Some(Place { taken: Arc::clone(&self.taken), owner: owner.clone() })
    }
}

fn locked(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    // Plain numbers; nothing here panics between two of them.
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = locked(&self.taken);
        taken.overall -= 1;
        if let Some(of_owner) = taken.by_owner.get_mut(&self.owner) {
            *of_owner -= 1;
            if *of_owner == 0 {
                taken.by_owner.remove(&self.owner);
            }
        }
    }
}
