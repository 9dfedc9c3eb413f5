//! What generated codecs are made of. Public so that types generated from somebody else's schema can use it from
//! outside, hidden because no person should have to.
//!
//! A generated `Deserialize` says only which members an object has; the loop over members, constants, duplicate
//! members and unions stand here once, so that a wire type costs few lines of generated code.
//!
//! Nothing here is stable: it changes from one minor version to the next, together with the generator.

mod fragment;
mod object;
mod scalar;
mod union;

pub(crate) use fragment::placed;
pub use object::{Members, Object, Slot, Writer, object};
pub use scalar::{Constant, Integer, Millis, OrNull, StringEnum, Unsigned, string_enum};
pub use serde;
pub use serde_json;
pub(crate) use union::unexpected;
pub use union::{KindUnion, MemberUnion, Present, TagUnion, kind_union, member_union, tag_union};

/// Refuses code that was generated for another minor version: only the generator of the same version knows what stands
/// in this module.
pub const fn assert_version(major: u32, minor: u32) {
    const fn number(text: &str) -> u32 {
        match u32::from_str_radix(text, 10) {
            Ok(number) => number,
            Err(_) => u32::MAX,
        }
    }
    assert!(
        major == number(env!("CARGO_PKG_VERSION_MAJOR")) && minor == number(env!("CARGO_PKG_VERSION_MINOR")),
        "this code was generated for another minor version of mcp-tasks-types: generate it anew, with the command in \
         its first line"
    );
}

#[cfg(test)]
mod tests {
    use super::assert_version;

    #[test]
    fn code_of_another_version_is_refused() {
        let number = |text: &str| text.parse::<u32>().unwrap();
        let (major, minor) =
            (number(env!("CARGO_PKG_VERSION_MAJOR")), number(env!("CARGO_PKG_VERSION_MINOR")));
        assert_version(major, minor);
        for (major, minor) in [(major, minor + 1), (major + 1, minor)] {
            std::panic::catch_unwind(|| assert_version(major, minor)).unwrap_err();
        }
    }
}
