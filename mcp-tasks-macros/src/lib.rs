//! The attributes `#[task_tool]` and `#[tool_type]` of `mcp-tasks`.
//!
//! Only entry points live here; each shows the stages of its macro in order.
//! Use the attributes through the `mcp-tasks` crate, which re-exports them: what they expand to names that crate.

mod args;
mod diagnostics;
mod docs;
mod duration;
mod expand;
mod fallback;
mod parameter;
mod paths;
mod signature;
mod suggestion;
mod tool;
mod tool_type;

#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use crate::{
    args::{Args, RawArgs},
    diagnostics::Diagnostics,
    fallback::Fallback,
    paths::Paths,
    signature::{Head, Signature},
    tool::Tool,
    tool_type::ToolType,
};

#[doc = include_str!("../docs/task_tool.md")]
#[proc_macro_attribute]
pub fn task_tool(
    attribute: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand_task_tool(attribute.into(), item.into()).into()
}

#[doc = include_str!("../docs/tool_type.md")]
#[proc_macro_attribute]
pub fn tool_type(
    attribute: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand_tool_type(attribute.into(), item.into()).into()
}

fn expand_task_tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let mut raw_args = RawArgs::parse(attribute, Args::KNOWN, &mut diagnostics);
    let paths = Paths::check(&mut raw_args, &mut diagnostics);
    let args = Args::check(&mut raw_args, &mut diagnostics);
    let head = Head::parse(&item, &mut diagnostics);
    let signature = Signature::check(head.as_ref(), &mut diagnostics);
    let function = fallback::user_function(item);
    match Tool::check(args, signature, &mut diagnostics) {
        Some(tool) => expand::expand_tool(&tool, &paths, &function),
        None => Fallback::new(head.as_ref()).expand(&paths, &function, diagnostics),
    }
}

fn expand_tool_type(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let mut raw_args = RawArgs::parse(attribute, ToolType::KNOWN, &mut diagnostics);
    let paths = Paths::check(&mut raw_args, &mut diagnostics);
    let tool_type = ToolType::check(&item, &mut diagnostics);
    tool_type::expand_tool_type(tool_type.as_ref(), &paths, &item, diagnostics)
}
