//! Whether a value can be written as JSON as it is: JSON has no number for NaN and the infinities, and serde_json
//! writes `null` in their place, which is another value than the one that the schema of its type promises.

use std::fmt;

use serde::ser::{self, Serialize, Serializer};

/// Looks through a value.
///
/// # Errors
///
/// When there is a number in it that JSON does not have, or the value's own `Serialize` fails.
pub(crate) fn check_finite<T: Serialize + ?Sized>(value: &T) -> Result<(), NotWritten> {
    value.serialize(Finite)
}

/// Why a value cannot be written.
#[derive(Debug)]
pub(crate) struct NotWritten(String);

impl fmt::Display for NotWritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotWritten {}

impl ser::Error for NotWritten {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// A serializer that writes nothing.
#[derive(Clone, Copy)]
struct Finite;

type Checked = Result<(), NotWritten>;

macro_rules! take {
    ($($method:ident($type:ty))*) => {
        $(fn $method(self, _: $type) -> Checked {
            Ok(())
        })*
    };
}

macro_rules! take_float {
    ($($method:ident($type:ty))*) => {
        $(fn $method(self, number: $type) -> Checked {
            if number.is_finite() { Ok(()) } else { Err(NotWritten(format!("JSON has no number `{number}`"))) }
        })*
    };
}

macro_rules! walk {
    ($($trait:ident { $($method:ident($($name:ident: $type:ty)?))* })*) => {
        $(impl ser::$trait for Finite {
            type Ok = ();
            type Error = NotWritten;
            $(fn $method<T: Serialize + ?Sized>(&mut self, $($name: $type,)? value: &T) -> Checked {
                value.serialize(*self)
            })*
            fn end(self) -> Checked {
                Ok(())
            }
        })*
    };
}

walk! {
    SerializeSeq { serialize_element() }
    SerializeTuple { serialize_element() }
    SerializeTupleStruct { serialize_field() }
    SerializeTupleVariant { serialize_field() }
    SerializeMap { serialize_key() serialize_value() }
    SerializeStruct { serialize_field(_name: &'static str) }
    SerializeStructVariant { serialize_field(_name: &'static str) }
}

impl Serializer for Finite {
    type Ok = ();
    type Error = NotWritten;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    take! {
        serialize_bool(bool)
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
        serialize_char(char) serialize_str(&str) serialize_bytes(&[u8]) serialize_unit_struct(&'static str)
    }
    take_float! {
        serialize_f32(f32)
        serialize_f64(f64)
    }

    fn serialize_none(self) -> Checked {
        Ok(())
    }
    fn serialize_unit(self) -> Checked {
        Ok(())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Checked {
        value.serialize(self)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Checked {
        Ok(())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Checked {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Checked {
        value.serialize(self)
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Self, NotWritten> {
        Ok(self)
    }
    fn serialize_tuple(self, _: usize) -> Result<Self, NotWritten> {
        Ok(self)
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, NotWritten> {
        Ok(self)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, NotWritten> {
        Ok(self)
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Self, NotWritten> {
        Ok(self)
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, NotWritten> {
        Ok(self)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, NotWritten> {
        Ok(self)
    }
    fn collect_str<T: fmt::Display + ?Sized>(self, _: &T) -> Checked {
        Ok(())
    }
    fn is_human_readable(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mcp_tasks_types::RawJson;
    use serde::Serialize;

    use super::check_finite;

    #[derive(Serialize)]
    enum Shape {
        Unit,
        New(f64),
        Tuple(u8, f64),
        Struct { number: f32 },
    }

    #[derive(Serialize)]
    struct Everything {
        shapes: Vec<Shape>,
        map: BTreeMap<i32, f64>,
        option: Option<f64>,
        pair: (char, f64),
        raw: RawJson,
    }

    fn everything(number: f64) -> [Everything; 6] {
        let fine = || Everything {
            shapes: vec![Shape::Unit, Shape::New(0.5), Shape::Tuple(1, 0.5), Shape::Struct { number: 0.5 }],
            map: BTreeMap::from([(1, 0.5)]),
            option: Some(0.5),
            pair: ('a', 0.5),
            raw: RawJson::null(),
        };
        [
            Everything { shapes: vec![Shape::New(number)], ..fine() },
            Everything { shapes: vec![Shape::Tuple(1, number)], ..fine() },
            #[expect(clippy::cast_possible_truncation, reason = "what is no number stays none")]
            Everything { shapes: vec![Shape::Struct { number: number as f32 }], ..fine() },
            Everything { map: BTreeMap::from([(1, number)]), ..fine() },
            Everything { option: Some(number), ..fine() },
            Everything { pair: ('a', number), ..fine() },
        ]
    }

    #[test]
    fn number_that_json_does_not_have_is_found_wherever_it_is() {
        for value in everything(-1e9) {
            check_finite(&value).unwrap();
        }
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for value in everything(number) {
                let error = check_finite(&value).unwrap_err().to_string();
                assert_eq!(error, format!("JSON has no number `{number}`"));
            }
        }
    }
}
