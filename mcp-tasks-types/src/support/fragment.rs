//! Parts of a text that are read on their own, and where in an object an error is.

use std::fmt;

use serde::de::{self, MapAccess};

use crate::error::{has_place, within};
use crate::path::Path;

/// Reads from a text that is part of a larger one, whose reader adds its own place to an error.
pub(super) fn fragment<'t, T, E: de::Error>(
    text: &'t str,
    read: impl FnOnce(&mut serde_json::Deserializer<serde_json::de::StrRead<'t>>) -> Result<T, serde_json::Error>,
) -> Result<T, E> {
    read(&mut serde_json::Deserializer::from_str(text)).map_err(|error| E::custom(within(text, &error)))
}

/// The error of a part of an object that is a text of its own.
#[cold]
pub(super) fn at_member<E: de::Error>(name: &str, message: impl fmt::Display) -> E {
    E::custom(format_args!("`{}`: {message}", Path::member(name)))
}

/// The error of a member's value, with the member's name if nothing else tells its place.
///
/// A reader of text gives an error the place that it has come to only when the object around it ends. So the rest of
/// the object is passed over first: then the place is always that end, and the name leads on from there.
#[cold]
pub(crate) fn placed<'de, A: MapAccess<'de>>(access: &mut A, name: &str, error: A::Error) -> A::Error {
    if has_place(&error) {
        return error;
    }
    loop {
        match access.next_entry::<de::IgnoredAny, de::IgnoredAny>() {
            Ok(Some(_)) => {}
            Ok(None) => return at_member(name, error),
            // What comes is no JSON at all.
            Err(error) => return error,
        }
    }
}
