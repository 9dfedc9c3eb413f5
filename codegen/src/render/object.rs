//! A wire object: struct, constructor, reader and writer.
//!
//! The reader has a local for each field, so its own begin with two underscores, which no field does; `extra` and
//! `state` are fields themselves.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{Context, item_docs};
use crate::check::VERSION_KEY;
use crate::model::{Constant, ConstantValue, Item, ItemKind, Member, Object, Part, Presence, State, TypeRef};

/// The `_meta` that an extension takes from the revision in which every request has that key.
const VERSIONED_META: &str = "v2026_07_28::RequestMetaObject";

/// A member with its Rust type, without the `Option` of its presence.
struct Field<'a> {
    member: &'a Member,
    ident: syn::Ident,
    ty: syn::Type,
}

impl Field<'_> {
    /// The type of the struct's field.
    fn full_type(&self) -> TokenStream {
        let ty = &self.ty;
        match self.member.presence {
            Presence::Required => quote!(#ty),
            Presence::Nullable | Presence::Optional => quote!(Option<#ty>),
        }
    }

    /// What a constructor takes for a value of the type: anything that converts, where that helps.
    fn argument(&self) -> (TokenStream, TokenStream) {
        let (ident, ty) = (&self.ident, &self.ty);
        match &self.member.shape {
            TypeRef::Text | TypeRef::Named(_) | TypeRef::Number => {
                (quote!(#ident: impl Into<#ty>), quote!(#ident.into()))
            }
            TypeRef::Unsigned
            | TypeRef::Millis
            | TypeRef::Integer
            | TypeRef::Boolean
            | TypeRef::List(_)
            | TypeRef::Map(_) => (quote!(#ident: #ty), quote!(#ident)),
        }
    }
}

impl Context<'_> {
    fn fields<'m>(&self, item: &Item, object: &'m Object) -> Vec<Field<'m>> {
        let members = object.parts.iter().filter_map(|part| match part {
            Part::Member(member) => Some(member),
            Part::Constant(_) | Part::State(_) => None,
        });
        members
            .enumerate()
            .map(|(index, member)| Field {
                member,
                ident: format_ident!("{}", member.field),
                // The front end has been asked for every one.
                ty: self
                    .front
                    .field(&item.rust_name, index)
                    .cloned()
                    .unwrap_or_else(|| syn::parse_quote!(())),
            })
            .collect()
    }

    fn state_of(&self, object: &Object) -> Option<(&Item, &State)> {
        object.parts.iter().find_map(|part| match part {
            Part::State(name) => match self.items.get(name.as_str()) {
                Some(item) => match &item.kind {
                    ItemKind::State(state) => Some((*item, state)),
                    _ => None,
                },
                None => None,
            },
            Part::Constant(_) | Part::Member(_) => None,
        })
    }

    pub(super) fn object(&self, item: &Item, object: &Object) -> TokenStream {
        let root = &self.root;
        let name = format_ident!("{}", item.rust_name);
        let fields = self.fields(item, object);
        let state = self.state_of(object);
        let docs = item_docs(item);
        let declared = fields.iter().map(|field| {
            let (docs, ident, ty) = (super::docs(&field.member.docs), &field.ident, field.full_type());
            quote!(#docs pub #ident: #ty,)
        });
        let state_field = state.map(|(item, _)| {
            let ty = format_ident!("{}", item.rust_name);
            quote!(#[doc = " The members that depend on the status."] pub state: #ty,)
        });
        let constructor = constructor(root, &name, &fields, state.map(|(item, _)| item), object);
        let message = self.message(item, object, &fields);
        let reader = self.object_reader(item, object, &fields, state);
        let writer = object_writer(&name, object, &fields, state.is_some());
        quote! {
            #docs
            #[derive(Clone, Debug, PartialEq)]
            #[non_exhaustive]
            pub struct #name {
                #(#declared)*
                #state_field
                #[doc = " Members outside the schema, kept and written back."]
                pub extra: #root::Extra,
            }
            #constructor
            #message
            #reader
            #writer
        }
    }

    /// What a message says about itself to generic code.
    fn message(&self, item: &Item, object: &Object, fields: &[Field<'_>]) -> Option<TokenStream> {
        let method = object.method.as_ref()?;
        let (root, name) = (&self.root, format_ident!("{}", item.rust_name));
        let params = fields.iter().find(|field| field.member.name == "params");
        let params_type = params.map_or_else(|| quote!(()), Field::full_type);
        let Some(result) = &method.result else {
            return Some(quote! {
                impl #root::Notification for #name {
                    const METHOD: &'static str = Self::METHOD;
                    type Params = #params_type;
                }
            });
        };
        let result = self.type_of(result);
        let routed = method.routed_by.as_ref().zip(params).and_then(|(member, params)| {
            let member = required_member(self.object_of(&params.member.shape)?, member)?;
            let (params, member) = (&params.ident, format_ident!("{}", member.field));
            Some(quote! {
                fn routing_name(&self) -> Option<&str> {
                    Some(self.#params.#member.as_ref())
                }
            })
        });
        let version = params
            .filter(|params| params.member.presence == Presence::Required)
            .and_then(|params| self.version(params));
        Some(quote! {
            impl #root::Request for #name {
                const METHOD: &'static str = Self::METHOD;
                type Params = #params_type;
                type Result = #result;
                #routed
                #version
            }
        })
    }

    /// Where every request states its version in `_meta`, the method that reads it there.
    fn version(&self, params: &Field<'_>) -> Option<TokenStream> {
        let meta = required_member(self.object_of(&params.member.shape)?, "_meta")?;
        let field = match self.items.get(named(&meta.shape)?)?.kind {
            // An extension's requests share the revision's own `_meta`.
            ItemKind::Replaced(ref path) if path == VERSIONED_META => "protocol_version",
            _ => &required_member(self.object_of(&meta.shape)?, VERSION_KEY)?.field,
        };
        let (params, meta, field) =
            (&params.ident, format_ident!("{}", meta.field), format_ident!("{field}"));
        Some(quote! {
            fn protocol_version(&self) -> Option<&str> {
                Some(self.#params.#meta.#field.as_ref())
            }
        })
    }

    fn object_of(&self, shape: &TypeRef) -> Option<&Object> {
        match &self.items.get(named(shape)?)?.kind {
            ItemKind::Object(object) => Some(object),
            _ => None,
        }
    }

    fn object_reader(
        &self,
        item: &Item,
        object: &Object,
        fields: &[Field<'_>],
        state: Option<(&Item, &State)>,
    ) -> TokenStream {
        let root = &self.root;

        let name = format_ident!("{}", item.rust_name);
        let expected = format!("an object of type `{}`", item.schema_name);
        let mut names: Vec<&str> = Vec::new();
        let (mut slots, mut arms, mut build) = (Vec::new(), Vec::new(), Vec::new());
        let (mut required, mut come, mut taken) = (Vec::new(), Vec::new(), Vec::new());
        let mut index = 0_usize;
        let mut next = fields.iter();
        for part in &object.parts {
            let at = Literal::usize_unsuffixed(index);
            match part {
                Part::Constant(constant) => {
                    let (member, value) = (&constant.name, constant_tokens(constant));
                    names.push(member);
                    arms.push(quote!(#at => __members.constant(#member, #value),));
                    if !constant.absent {
                        come.insert(come.len() - taken.len(), quote!(__members.has(#at)));
                        required.push(at);
                    }
                    index += 1;
                }
                Part::Member(_) => {
                    let Some(field) = next.next() else { continue };
                    let ident = &field.ident;
                    names.push(field.member.name.as_str());
                    let read = self.read_value(field);
                    slots.push(quote!(let mut #ident = None;));
                    arms.push(quote!(#at => #read,));
                    build.push(quote!(#ident));
                    if field.member.presence != Presence::Optional {
                        come.push(quote!(#ident));
                        taken.push(quote!(Some(#ident)));
                        required.push(at);
                    }
                    index += 1;
                }
                Part::State(_) => {}
            }
        }
        if let Some((item, state)) = state {
            let slots_type = super::state::slots_name(item);
            let from = Literal::usize_unsuffixed(index);
            names.push(&state.tag);
            names.extend(state.arms.iter().flat_map(|arm| &arm.members).map(|member| member.name.as_str()));
            slots.push(quote!(let mut state = #slots_type::default();));
            arms.push(quote!(__member @ #from.. => state.read(__member - #from, &mut __members),));
            build.push(quote!(state: state.finish(&mut extra)?));
        }
        let missing = quote!({ return Err(__members.missing(&[#(#required),*])); });
        let demand = match (&taken[..], &come[..]) {
            ([], []) => None,
            ([], come) => Some(quote!(if !(#(#come)&&*) #missing)),
            ([taken], [come]) => Some(quote!(let #taken = #come else #missing;)),
            (taken, come) => {
                // A constant leaves no value to take.
                let constants = vec![quote!(true); come.len() - taken.len()];
                Some(quote!(let (#(#constants,)* #(#taken),*) = (#(#come),*) else #missing;))
            }
        };
        let at_least_one = (!object.at_least_one.is_empty()).then(|| {
            // By their values: a null came as well, but stands for absence.
            let absent =
                fields.iter().filter(|field| object.at_least_one.contains(&field.member.name)).map(|field| {
                    let ident = &field.ident;
                    quote!(#ident.is_none())
                });
            let message = format!("expected at least one of `{}`", object.at_least_one.join("`, `"));
            quote! {
                if #(#absent)&&* {
                    return Err(serde::de::Error::custom(#message));
                }
            }
        });
        // A state takes all indices from its tag on.
        let rest = state.is_none().then(|| quote!(_ => __members.skip(),));
        let walk = if names.is_empty() {
            // All members are unknown: the first call takes them to the end.
            quote!(__members.next(&mut extra)?;)
        } else {
            quote! {
                while let Some(__member) = __members.next(&mut extra)? {
                    match __member {
                        #(#arms)*
                        #rest
                    }?;
                }
            }
        };
        quote! {
            impl<'de> serde::Deserialize<'de> for #name {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    support::object(deserializer)
                }
            }
            impl<'de> support::Object<'de> for #name {
                const EXPECTED: &'static str = #expected;
                const MEMBERS: &'static [&'static str] = &[#(#names),*];
                fn read<A: serde::de::MapAccess<'de>>(mut __members: support::Members<A>) -> Result<Self, A::Error> {
                    #(#slots)*
                    let mut extra = #root::Extra::new();
                    #walk
                    #demand
                    #at_least_one
                    Ok(Self { #(#build,)* extra })
                }
            }
        }
    }

    /// The expression that reads a member's value into its slot.
    fn read_value(&self, field: &Field<'_>) -> TokenStream {
        let ident = &field.ident;
        let seed = match &field.member.shape {
            TypeRef::Unsigned => Some(quote!(support::Unsigned)),
            TypeRef::Millis => Some(quote!(support::Millis)),
            TypeRef::Integer => Some(quote!(support::Integer)),
            TypeRef::Named(_)
            | TypeRef::Text
            | TypeRef::Number
            | TypeRef::Boolean
            | TypeRef::List(_)
            | TypeRef::Map(_) => None,
        };
        match (seed, field.member.presence) {
            (Some(seed), Presence::Required) => quote!(__members.required_as(#seed, &mut #ident)),
            (Some(seed), Presence::Nullable) => {
                quote!(__members.required_as(support::OrNull(#seed), &mut #ident))
            }
            (Some(seed), Presence::Optional) => quote!(__members.optional_as(#seed, &mut #ident)),
            // Where any value may stand, null is one.
            (None, Presence::Optional) if !self.is_any_value(&field.member.shape) => {
                quote!(__members.optional(&mut #ident))
            }
            (None, _) => quote!(__members.required(&mut #ident)),
        }
    }

    fn is_any_value(&self, shape: &TypeRef) -> bool {
        matches!(named(shape).and_then(|name| self.items.get(name)), Some(Item { kind: ItemKind::Replaced(path), .. }) if path == "RawJson")
    }
}

fn named(shape: &TypeRef) -> Option<&str> {
    match shape {
        TypeRef::Named(name) => Some(name),
        _ => None,
    }
}

fn required_member<'o>(object: &'o Object, name: &str) -> Option<&'o Member> {
    object.members().find(|member| member.name == name && member.presence == Presence::Required)
}

pub(super) fn constant_tokens(constant: &Constant) -> TokenStream {
    match &constant.value {
        ConstantValue::Text(text) => quote!(support::Constant::Text(#text)),
        ConstantValue::Integer(number) => {
            let number = Literal::i64_unsuffixed(*number);
            quote!(support::Constant::Integer(#number))
        }
    }
}

fn constructor(
    root: &syn::Path,
    name: &syn::Ident,
    fields: &[Field<'_>],
    state: Option<&Item>,
    object: &Object,
) -> TokenStream {
    let (mut arguments, mut values, mut setters) = (Vec::new(), Vec::new(), Vec::new());
    for field in fields {
        let (ident, ty) = (&field.ident, &field.ty);
        let (argument, value) = field.argument();
        match field.member.presence {
            Presence::Required => {
                arguments.push(argument);
                let converts =
                    matches!(field.member.shape, TypeRef::Text | TypeRef::Named(_) | TypeRef::Number);
                values.push(if converts { quote!(#ident: #value) } else { value });
            }
            Presence::Nullable => {
                arguments.push(quote!(#ident: Option<#ty>));
                values.push(quote!(#ident));
            }
            Presence::Optional => {
                values.push(quote!(#ident: None));
                let setter = format_ident!("{}", crate::names::setter_name(&field.member.field));
                let summary = format!(" Sets `{}`.", field.member.name);
                setters.push(quote! {
                    #[doc = #summary]
                    #[must_use]
                    pub fn #setter(mut self, #argument) -> Self {
                        self.#ident = Some(#value);
                        self
                    }
                });
            }
        }
    }
    if let Some(item) = state {
        let ty = format_ident!("{}", item.rust_name);
        arguments.push(quote!(state: #ty));
        values.push(quote!(state));
    }
    let method = object.method.as_ref().map(|method| {
        let method = &method.name;
        quote! {
            #[doc = " The method."]
            pub const METHOD: &'static str = #method;
        }
    });
    let extension = object.extension.as_ref().map(|id| {
        quote! {
            #[doc = " The identifier of the extension."]
            pub const EXTENSION_ID: &'static str = #id;
        }
    });
    let summary = " Makes the object from its required members.";
    let allow = (arguments.len() > 7)
        .then(|| quote!(#[expect(clippy::too_many_arguments, reason = "one for each required member")]));
    let default = arguments.is_empty().then(|| {
        quote! {
            impl Default for #name {
                fn default() -> Self {
                    Self::new()
                }
            }
        }
    });
    quote! {
        impl #name {
            #method
            #extension
            #[doc = #summary]
            #[must_use]
            #allow
            pub fn new(#(#arguments),*) -> Self {
                Self { #(#values,)* extra: #root::Extra::new() }
            }
            #(#setters)*
        }
        #default
    }
}

fn object_writer(name: &syn::Ident, object: &Object, fields: &[Field<'_>], stated: bool) -> TokenStream {
    let mut fields = fields.iter();
    let mut entries = Vec::new();
    for part in &object.parts {
        entries.push(match part {
            Part::Constant(Constant { name, value, .. }) => match value {
                ConstantValue::Text(text) => quote!(writer.member(#name, #text);),
                ConstantValue::Integer(number) => {
                    let number = Literal::i64_suffixed(*number);
                    quote!(writer.member(#name, &#number);)
                }
            },
            Part::Member(_) => {
                let Some(field) = fields.next() else { continue };
                let (ident, member) = (&field.ident, &field.member.name);
                match field.member.presence {
                    Presence::Required | Presence::Nullable => {
                        quote!(writer.member(#member, &self.#ident);)
                    }
                    Presence::Optional => quote!(writer.optional(#member, &self.#ident);),
                }
            }
            Part::State(_) => quote!(self.state.write(&mut writer);),
        });
    }
    // A payload of another state is one of the members, and may stand among the unknown ones.
    let known = if stated {
        let own = Literal::usize_unsuffixed(
            object.parts.iter().filter(|part| !matches!(part, Part::State(_))).count() + 1,
        );
        quote!(&<Self as support::Object<'_>>::MEMBERS[..#own], self.state.members())
    } else {
        quote!(<Self as support::Object<'_>>::MEMBERS, &[])
    };
    let mutable = (!entries.is_empty()).then(|| quote!(mut));
    quote! {
        impl serde::Serialize for #name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let #mutable writer = support::Writer::begin(serializer)?;
                #(#entries)*
                writer.end(&self.extra, #known)
            }
        }
    }
}
