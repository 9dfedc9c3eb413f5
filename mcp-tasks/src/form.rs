//! Forms: what an elicitation may ask for, and whether an answer fits.
//!
//! A form is a flat object of primitive members. [`FormSchema::of`] brings the schema of a Rust type into that
//! form and refuses what has no place in it, naming the member; [`check_answer`] judges an answer by the schema that
//! was recorded with the question, so that a restart with other code changes nothing about a question that is out.

mod answer;
mod normalize;

use serde_json::Value;

pub(crate) use answer::check_answer;

/// The schema of a form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FormSchema(Value);

impl FormSchema {
    /// The form for a Rust type.
    pub(crate) fn of<T: schemars::JsonSchema>() -> Result<Self, Vec<FormError>> {
        let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        let schema = settings.into_generator().into_root_schema_for::<T>();
        normalize::form(schema.as_value()).map(Self)
    }

    pub(crate) fn as_value(&self) -> &Value {
        &self.0
    }
}

/// Why a type cannot be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormError {
    /// The member, unless it is about the type as a whole.
    pub(crate) member: Option<String>,
    pub(crate) message: String,
}

#[cfg(test)]
mod tests;
