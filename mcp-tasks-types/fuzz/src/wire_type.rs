//! What has to hold of every wire type, whatever text it is given.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::OnceLock;

use mcp_tasks_types::{JsonError, from_slice, to_string};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::schema::Schema;
use crate::tree::Tree;
use crate::{kept, refusal};

/// Reads a text as a type and gives what is written for it.
type RoundTrip = fn(&[u8]) -> Result<String, JsonError>;

macro_rules! table {
    ($([$generation:literal, $name:literal, $type:path])*) => {
        const TYPES: &[(&str, &str, RoundTrip)] = &[$(($generation, $name, round_trip::<$type>)),*];
    };
}
mcp_tasks_types::for_each_wire_type!(table);

/// What has to know the type stands here and nowhere else, since it is compiled once for each of them.
fn round_trip<T: DeserializeOwned + Serialize + PartialEq + Debug>(text: &[u8]) -> Result<String, JsonError> {
    let value: T = from_slice(text)?;
    let written = to_string(&value).unwrap_or_else(|error| panic!("not written: {error}: {value:?}"));
    let again: T = from_slice(written.as_bytes())
        .unwrap_or_else(|error| panic!("what was written is refused: {error}: {written}"));
    assert_eq!(again, value, "what was written is read as another value");
    assert_eq!(to_string(&again).ok().as_ref(), Some(&written), "what was written is written differently");
    Ok(written)
}

/// The types of a generation by their schema names.
pub(crate) struct Types {
    generation: &'static str,
    by_name: BTreeMap<&'static str, RoundTrip>,
}

impl Types {
    pub(crate) fn of(generation: &'static str) -> &'static Self {
        static TYPES_OF: OnceLock<Types> = OnceLock::new();
        // A target is about one generation.
        TYPES_OF.get_or_init(|| {
            let types = TYPES.iter().filter(|(of, ..)| *of == generation);
            Self { generation, by_name: types.map(|(_, name, round_trip)| (*name, *round_trip)).collect() }
        })
    }

    /// Reads a text as a type and gives what is written for it.
    pub(crate) fn read(&self, name: &str, text: &[u8]) -> Result<String, JsonError> {
        let round_trip = self.by_name.get(name).unwrap_or_else(|| panic!("no type {name}"));
        round_trip(text).inspect_err(|error| refusal::check(text, error))
    }

    /// Checks a text as a type.
    fn check(&self, name: &str, text: &[u8]) {
        let Ok(written) = self.read(name, text) else { return };
        let text = std::str::from_utf8(text).expect("what is accepted is UTF-8");
        assert!(!written.contains(['\n', '\r']), "{name} is written on more than one line: {written}");
        if let Some(read) = Tree::of(text.as_bytes()) {
            let tree = Tree::of(written.as_bytes()).expect("what is written is JSON");
            if let Some(lost) = kept::lost(&read, &tree, self.generation == "sep-1686") {
                panic!("{name} loses something: {lost}\n{text}\n{written}");
            }
        }
        if !Schema::of(self.generation).dictionaries.contains(name) {
            self.check_unknown_member(name, text);
        }
    }

    /// Gives an object that a type accepts one member more, first and last: the object itself, which no type knows
    /// there.
    fn check_unknown_member(&self, name: &str, text: &str) {
        let text = text.trim_ascii();
        let Some(members) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) else { return };
        // A payload is kept without its line breaks.
        let member = format!("\"x-unknown\":{}", text.replace(['\n', '\r'], ""));
        let comma = if members.trim_ascii().is_empty() { "" } else { "," };
        for with_it in [format!("{{{member}{comma}{members}}}"), format!("{{{members}{comma}{member}}}")] {
            let written = self
                .read(name, with_it.as_bytes())
                .unwrap_or_else(|error| panic!("{name} refuses an unknown member: {error}\n{with_it}"));
            assert!(written.contains(&member), "{name} loses an unknown member\n{with_it}\n{written}");
        }
    }
}

/// Checks an input of a name and a text, with a line break between them.
pub fn any_type(generation: &'static str, input: &[u8]) {
    let types = Types::of(generation);
    let (name, text) = match input.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (input, &[][..]),
    };
    let known = std::str::from_utf8(name).ok().and_then(|name| types.by_name.get_key_value(name));
    // A name that a mutation has spoilt stands for some other type, so that no input is wasted.
    let sum = name.iter().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    let other = || types.by_name.iter().nth(sum % types.by_name.len());
    let (name, _) = known.or_else(other).expect("a generation has types");
    types.check(name, text);
}
