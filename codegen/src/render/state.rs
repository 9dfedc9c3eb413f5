//! The part of an object that a constant decides: enum, the slots that it is read into, and its writer.
//!
//! Payloads are bound by the names of their fields, so names of the code's own begin with two underscores, which no
//! field does.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{Context, docs};
use crate::model::{Item, State};

/// The struct that holds the payloads while an object is read.
pub(super) fn slots_name(item: &Item) -> syn::Ident {
    format_ident!("{}", crate::names::slots_name(&item.rust_name))
}

impl Context<'_> {
    pub(super) fn state(&self, item: &Item, state: &State) -> TokenStream {
        let root = &self.root;

        let name = format_ident!("{}", item.rust_name);
        let slots_type = slots_name(item);
        let slots_docs = format!(" The members of a [`{name}`] while an object is read.");
        let tag = &state.tag;
        let tags: Vec<&str> = state.arms.iter().map(|arm| arm.value.as_str()).collect();
        let (mut variants, mut slots, mut reads, mut builds, mut writes) =
            (vec![], vec![], vec![], vec![], vec![]);
        let (mut members, mut tag_arms, mut all) = (vec![], vec![], vec![]);
        let mut shape = 0;
        for (arm_index, arm) in state.arms.iter().enumerate() {
            let variant = format_ident!("{}", arm.name);
            let arm_index = Literal::usize_unsuffixed(arm_index);
            let state_text = format!("`{tag}` is `{}`", arm.value);
            let (mut declared, mut idents, mut built, mut written) = (vec![], vec![], vec![], vec![]);
            for member in &arm.members {
                let ident = format_ident!("{}", member.field);
                let ty = self
                    .front
                    .field(&item.rust_name, shape)
                    .cloned()
                    .unwrap_or_else(|| syn::parse_quote!(()));
                shape += 1;
                let (member_docs, member_name) = (docs(&member.docs), &member.name);
                let place = Literal::usize_unsuffixed(shape);
                declared.push(quote!(#member_docs #ident: #ty));
                slots.push(quote!(#ident: support::Slot<#ty>,));
                reads.push(
                    quote!(#place => members.payload(self.__arm == Some(#arm_index), &mut self.#ident),),
                );
                built.push(quote!(#ident: self.#ident.take().claim(#member_name, #state_text)?));
                written.push(quote!(__writer.member(#member_name, #ident);));
                all.push((ident.clone(), member_name.clone()));
                idents.push(ident);
            }
            let arm_docs = docs(&arm.docs);
            let (own, value) = (arm.members.iter().map(|member| member.name.as_str()), &arm.value);
            if arm.members.is_empty() {
                variants.push(quote!(#arm_docs #variant));
                builds.push(quote!(Some(#arm_index) => #name::#variant));
                members.push(quote!(Self::#variant => &[]));
                tag_arms.push(quote!(Self::#variant => #value));
                writes.push(quote!(Self::#variant => {}));
            } else {
                variants.push(quote!(#arm_docs #variant { #(#declared),* }));
                builds.push(quote!(Some(#arm_index) => #name::#variant { #(#built),* }));
                members.push(quote!(Self::#variant { .. } => &[#(#own),*]));
                tag_arms.push(quote!(Self::#variant { .. } => #value));
                writes.push(quote!(Self::#variant { #(#idents),* } => { #(#written)* }));
            }
        }
        // Without payloads there is nothing to take out, and nothing to put among the unknown members.
        let (taken, extra) =
            if all.is_empty() { (quote!(self), quote!(_)) } else { (quote!(mut self), quote!(extra)) };
        let strays = all.iter().map(|(ident, member)| quote!(self.#ident.stray(#member, extra);));
        let docs = super::item_docs(item);
        let getter_docs = format!(" The value of `{tag}`.");
        quote! {
            #docs
            #[derive(Clone, Debug, PartialEq)]
            pub enum #name { #(#variants),* }
            impl #name {
                #[doc = #getter_docs]
                #[must_use]
                pub const fn as_str(&self) -> &'static str {
                    match self { #(#tag_arms),* }
                }
                /// The members that belong to this state.
                pub(crate) const fn members(&self) -> &'static [&'static str] {
                    match self { #(#members),* }
                }
                pub(crate) fn write<S: serde::Serializer>(&self, __writer: &mut support::Writer<S>) {
                    __writer.member(#tag, self.as_str());
                    match self { #(#writes)* }
                }
            }
            #[doc = #slots_docs]
            #[derive(Default)]
            pub(crate) struct #slots_type {
                __arm: Option<usize>,
                #(#slots)*
            }
            impl #slots_type {
                pub(crate) fn read<'de, A: serde::de::MapAccess<'de>>(&mut self, member: usize, members: &mut support::Members<A>) -> Result<(), A::Error> {
                    match member {
                        0 => members.tag(&[#(#tags),*], &mut self.__arm),
                        #(#reads)*
                        _ => members.skip(),
                    }
                }
                pub(crate) fn finish<__E: serde::de::Error>(#taken, #extra: &mut #root::Extra) -> Result<#name, __E> {
                    let state = match self.__arm {
                        #(#builds,)*
                        _ => return Err(serde::de::Error::missing_field(#tag)),
                    };
                    #(#strays)*
                    Ok(state)
                }
            }
        }
    }
}
