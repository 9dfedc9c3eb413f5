//! What generated codecs are made of. Public so that types generated from somebody else's schema can use it from
//! outside, hidden because no person should have to.
//!
//! A generated `Deserialize` says only which members an object has; the loop over members, constants, duplicate
//! members and unions stand here once, so that a wire type costs few lines of generated code.

mod fragment;
mod object;
mod scalar;
mod union;

pub use object::{Members, Object, Slot, Writer, object};
pub(crate) use scalar::whole;
pub use scalar::{Constant, Integer, Millis, OrNull, StringEnum, Unsigned, string_enum};
pub use serde;
pub use serde_json;
pub use union::{KindUnion, MemberUnion, Present, TagUnion, kind_union, member_union, tag_union};
pub(crate) use union::{number_name, unexpected};
