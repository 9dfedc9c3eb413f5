//! typify as front end: the one module that knows it.
//!
//! It gets the model as a flat schema (every member required, unions and states standing for themselves) and gives
//! back field types, string enums and newtypes. Presence, constants and codecs are ours.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use schemars08::schema::{
    ArrayValidation, InstanceType, Metadata, NumberValidation, ObjectValidation, RootSchema, Schema,
    SchemaObject, SubschemaValidation,
};
use syn::punctuated::Punctuated;
use syn::visit_mut::VisitMut;
use typify::{TypeSpace, TypeSpaceSettings};

use crate::error::{Error, Errors};
use crate::model::{Item, ItemKind, Member, Model, Part, TypeRef, Union};

/// What typify made of a model.
#[derive(Debug, Default)]
pub(crate) struct Front {
    /// Types of members by owner and place.
    fields: BTreeMap<(String, usize), syn::Type>,
    /// Items of string enums and newtypes, with their implementations, by Rust name.
    items: BTreeMap<String, Vec<syn::Item>>,
}

impl Front {
    /// The type of the member at a place among [`shapes`] of an owner.
    pub(crate) fn field(&self, owner: &str, index: usize) -> Option<&syn::Type> {
        self.fields.get(&(owner.to_owned(), index))
    }

    pub(crate) fn items(&self, name: &str) -> &[syn::Item] {
        self.items.get(name).map_or(&[], Vec::as_slice)
    }
}

/// The plain types inside an item, in a fixed order that [`Front::field`] counts by.
pub(crate) fn shapes(item: &Item) -> Vec<&TypeRef> {
    fn of(members: &[Member]) -> impl Iterator<Item = &TypeRef> {
        members.iter().map(|member| &member.shape)
    }
    match &item.kind {
        ItemKind::Object(object) => object
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Member(member) => Some(&member.shape),
                Part::Constant(_) | Part::State(_) => None,
            })
            .collect(),
        ItemKind::State(state) => state.arms.iter().flat_map(|arm| of(&arm.members)).collect(),
        ItemKind::Union(Union::Kind(arms)) => arms.iter().map(|arm| &arm.shape).collect(),
        ItemKind::Union(Union::Tag { .. } | Union::Member(_))
        | ItemKind::StringEnum(_)
        | ItemKind::Newtype(_)
        | ItemKind::ErrorCodes(_)
        | ItemKind::Replaced(_) => Vec::new(),
    }
}

/// Runs typify over a model. `root` is the path of the types crate as generated code names it.
pub(crate) fn run(model: &Model, root: &str) -> Result<Front, Errors> {
    let fault = |message: String| vec![Error::new(&model.generation, "front end", message)];
    let names: BTreeMap<&str, &str> =
        model.items().map(|item| (item.schema_name.as_str(), item.rust_name.as_str())).collect();
    let mut settings = TypeSpaceSettings::default();
    settings.with_derive("PartialEq".to_owned()).with_map_type(format!("{root}::Map").as_str());
    let carriers = carriers(model);
    let mut definitions = schemars08::Map::new();
    for item in model.items() {
        match &item.kind {
            ItemKind::Replaced(path) => {
                settings.with_replacement(&item.rust_name, format!("{root}::{path}"), iter::empty());
            }
            ItemKind::StringEnum(_) | ItemKind::Newtype(_) => {
                definitions.insert(item.rust_name.clone(), plain_item(item, &names));
            }
            ItemKind::Object(_) | ItemKind::State(_) | ItemKind::Union(_) | ItemKind::ErrorCodes(_) => {
                settings.with_replacement(&item.rust_name, &item.rust_name, iter::empty());
                definitions.insert(format!("{carriers}{}", item.rust_name), carrier_schema(item, &names));
            }
        }
        // typify looks a replaced name up among the definitions before it replaces it.
        definitions.entry(item.rust_name.clone()).or_insert_with(|| Schema::Object(SchemaObject::default()));
    }
    let mut types = TypeSpace::new(&settings);
    types
        .add_root_schema(RootSchema { definitions, ..RootSchema::default() })
        .map_err(|error| fault(error.to_string()))?;
    let mut file: syn::File = syn::parse2(types.to_stream()).map_err(|error| fault(error.to_string()))?;
    let number =
        syn::parse_str(&format!("{root}::Number")).map_err(|error: syn::Error| fault(error.to_string()))?;
    HouseTypes { number }.visit_file_mut(&mut file);
    collect(model, &carriers, file).map_err(fault)
}

/// Writes types as the rest of the generated code does: our map has one argument, since its names are always text,
/// what the prelude has needs no path, and a number keeps its text. Serde's derives would name that crate in the
/// manifest of whoever generates; they give way to codecs of our own.
struct HouseTypes {
    /// The type of numbers.
    number: syn::Path,
}

impl VisitMut for HouseTypes {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<syn::Attribute>) {
        attributes.retain(|attribute| !attribute.path().is_ident("serde"));
        for attribute in attributes.iter_mut().filter(|attribute| attribute.path().is_ident("derive")) {
            let Ok(derives) =
                attribute.parse_args_with(Punctuated::<syn::Path, syn::Token![,]>::parse_terminated)
            else {
                continue;
            };
            let kept = derives
                .iter()
                .filter(|path| path.segments.first().is_none_or(|first| first.ident != "serde"));
            *attribute = syn::parse_quote!(#[derive(#(#kept),*)]);
        }
    }

    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        syn::visit_mut::visit_path_mut(self, path);
        if path.is_ident("f64") {
            *path = self.number.clone();
        }
        let Some(last) = path.segments.last_mut() else { return };
        if last.ident == "Map"
            && let syn::PathArguments::AngleBracketed(arguments) = &mut last.arguments
            && arguments.args.len() == 2
            && let Some(value) = arguments.args.pop()
        {
            arguments.args = iter::once(value).collect();
        }
        if path.leading_colon.is_some() && (last.ident == "String" || last.ident == "Vec") {
            let last = last.clone();
            *path = syn::Path::from(last);
        }
    }
}

/// How the names of the structs begin that carry the types of items through typify; no item's name begins so.
fn carriers(model: &Model) -> String {
    let mut prefix = "CarrierOf".to_owned();
    while model.items().any(|item| item.rust_name.starts_with(&prefix)) {
        prefix.push_str("Of");
    }
    prefix
}

fn carrier_schema(item: &Item, names: &BTreeMap<&str, &str>) -> Schema {
    let mut object = ObjectValidation::default();
    for (index, shape) in shapes(item).into_iter().enumerate() {
        let member = format!("m{index}");
        object.required.insert(member.clone());
        object.properties.insert(member, shape_schema(shape, names));
    }
    let instance_type = Some(InstanceType::Object.into());
    Schema::Object(SchemaObject { instance_type, object: Some(Box::new(object)), ..SchemaObject::default() })
}

fn plain_item(item: &Item, names: &BTreeMap<&str, &str>) -> Schema {
    let metadata = |docs: &str| {
        let description = (!docs.is_empty()).then(|| docs.to_owned());
        Some(Box::new(Metadata { description, ..Metadata::default() }))
    };
    let mut schema = match &item.kind {
        ItemKind::StringEnum(variants) => {
            // The values stay with us: their names need not be ones that the front end would find.
            let arms = variants
                .iter()
                .enumerate()
                .map(|(index, variant)| {
                    Schema::Object(SchemaObject {
                        metadata: metadata(&variant.docs),
                        instance_type: Some(InstanceType::String.into()),
                        enum_values: Some(vec![format!("V{index}").into()]),
                        ..SchemaObject::default()
                    })
                })
                .collect();
            let subschemas = SubschemaValidation { one_of: Some(arms), ..SubschemaValidation::default() };
            SchemaObject { subschemas: Some(Box::new(subschemas)), ..SchemaObject::default() }
        }
        ItemKind::Newtype(shape) => shape_schema(shape, names).into_object(),
        _ => SchemaObject::default(),
    };
    schema.metadata = metadata(&item.docs);
    Schema::Object(schema)
}

fn shape_schema(shape: &TypeRef, names: &BTreeMap<&str, &str>) -> Schema {
    let plain =
        |kind: InstanceType| SchemaObject { instance_type: Some(kind.into()), ..SchemaObject::default() };
    Schema::Object(match shape {
        TypeRef::Named(name) => {
            let rust_name = names.get(name.as_str()).copied().unwrap_or(name);
            SchemaObject { reference: Some(format!("#/definitions/{rust_name}")), ..SchemaObject::default() }
        }
        TypeRef::Text => plain(InstanceType::String),
        TypeRef::Boolean => plain(InstanceType::Boolean),
        TypeRef::Number => plain(InstanceType::Number),
        TypeRef::Integer => SchemaObject { format: Some("int64".to_owned()), ..plain(InstanceType::Integer) },
        // A duration in milliseconds is held as a whole number, whatever its text.
        TypeRef::Unsigned | TypeRef::Millis => SchemaObject {
            format: Some("uint64".to_owned()),
            number: Some(Box::new(NumberValidation { minimum: Some(0.0), ..NumberValidation::default() })),
            ..plain(InstanceType::Integer)
        },
        TypeRef::List(item) => {
            let items = Some(shape_schema(item, names).into());
            let array = Some(Box::new(ArrayValidation { items, ..ArrayValidation::default() }));
            SchemaObject { array, ..plain(InstanceType::Array) }
        }
        TypeRef::Map(value) => {
            let additional_properties = Some(Box::new(shape_schema(value, names)));
            let object =
                Some(Box::new(ObjectValidation { additional_properties, ..ObjectValidation::default() }));
            SchemaObject { object, ..plain(InstanceType::Object) }
        }
    })
}

/// Sorts typify's output: carriers give their field types, string enums and newtypes stay.
fn collect(model: &Model, carriers: &str, file: syn::File) -> Result<Front, String> {
    let mut front = Front::default();
    let mut seen = BTreeSet::new();
    for item in file.items {
        let name = match &item {
            syn::Item::Struct(item) => item.ident.to_string(),
            syn::Item::Enum(item) => item.ident.to_string(),
            syn::Item::Impl(item) => match (&item.trait_, &*item.self_ty) {
                // A conversion from our type into a plain one belongs to our type too.
                (Some((trait_path, _)), self_ty) => owner(trait_path, self_ty).unwrap_or_default(),
                (None, self_ty) => last_ident(self_ty).unwrap_or_default(),
            },
            _ => continue,
        };
        if matches!(item, syn::Item::Struct(_) | syn::Item::Enum(_)) && !seen.insert(name.clone()) {
            return Err(format!("two definitions make the Rust type `{name}`"));
        }
        if let Some(rust_name) = name.strip_prefix(carriers) {
            if let syn::Item::Struct(carrier) = &item {
                for field in &carrier.fields {
                    let index = field
                        .ident
                        .as_ref()
                        .and_then(|ident| ident.to_string().strip_prefix('m')?.parse().ok());
                    if let Some(index) = index {
                        front.fields.insert((rust_name.to_owned(), index), field.ty.clone());
                    }
                }
            }
        } else {
            front.items.entry(name).or_default().push(item);
        }
    }
    for item in model.items() {
        for index in 0..shapes(item).len() {
            if front.field(&item.rust_name, index).is_none() {
                return Err(format!("the front end gave no type for member {index} of `{}`", item.rust_name));
            }
        }
        if matches!(item.kind, ItemKind::StringEnum(_) | ItemKind::Newtype(_))
            && front.items(&item.rust_name).is_empty()
        {
            return Err(format!("the front end made no type `{}`", item.rust_name));
        }
    }
    Ok(front)
}

/// The type that an implementation belongs to: its own, or the source of a `From` into a plain type.
fn owner(trait_path: &syn::Path, self_ty: &syn::Type) -> Option<String> {
    let segment = trait_path.segments.last()?;
    if segment.ident == "From"
        && let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments
        && let Some(syn::GenericArgument::Type(source)) = arguments.args.first()
        && let syn::Type::Path(path) = source
        && path.path.segments.len() == 1
    {
        return path.path.segments.last().map(|segment| segment.ident.to_string());
    }
    last_ident(self_ty)
}

fn last_ident(ty: &syn::Type) -> Option<String> {
    match ty {
        syn::Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}
