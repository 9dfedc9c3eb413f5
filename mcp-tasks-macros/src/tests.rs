//! Golden expansions: the macros run on quoted tokens, and the formatted output is compared with `tests/expanded`.
//!
//! `MCP_TASKS_BLESS=1 cargo test -p mcp-tasks-macros --lib` accepts what the macros make now.

use std::{collections::BTreeSet, fs, path::PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::visit::{self, Visit};

use crate::{expand_task_tool, expand_tool_type};

mod parameters;

/// One golden case: a name, what goes in, what comes out.
struct Case {
    name: &'static str,
    attribute: TokenStream,
    item: TokenStream,
    expanded: TokenStream,
}

impl Case {
    fn task_tool(name: &'static str, attribute: TokenStream, item: TokenStream) -> Self {
        let expanded = expand_task_tool(attribute.clone(), item.clone());
        Self { name, attribute, item, expanded }
    }

    fn tool_type(name: &'static str, attribute: TokenStream, item: TokenStream) -> Self {
        let expanded = expand_tool_type(attribute.clone(), item.clone());
        Self { name, attribute, item, expanded }
    }

    fn formatted(&self) -> String {
        let file: syn::File = syn::parse2(self.expanded.clone()).unwrap();
        format!(
            "//! What the macro makes of the case `{}` of `src/tests.rs`; that file says how to accept a change.\n\n{}",
            self.name,
            prettyplease::unparse(&file)
        )
    }

    fn path(&self) -> PathBuf {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/expanded");
        folder.join(self.name).with_extension("rs")
    }
}

fn cases() -> Vec<Case> {
    vec![
        Case::task_tool(
            "smallest_tool",
            quote!(),
            quote! {
                async fn ping() -> Result<String, ToolError> { Ok(String::from("pong")) }
            },
        ),
        Case::task_tool(
            "reference_tool",
            quote!(ttl = "15m", poll = "1s", restart = "rerun"),
            quote! {
                /// Writes a report and asks for approval of its outline.
                pub(crate) async fn generate_report(
                    ctx: TaskContext,
                    /// How long the report shall be.
                    size: Size,
                    /// Approve the generated report outline?
                    approve_outline: Input<Approval>,
                ) -> Result<Report, ToolError> {
                    ctx.status("Preparing report outline.").await?;
                    report(size, approve_outline.ask(&ctx).await?)
                }
            },
        ),
        Case::task_tool(
            "every_attribute",
            quote! {
                name = "reports.write", title = "Report", description = DESCRIPTION, version = "2", status = STATUS,
                ttl = "1d", poll = "250ms", task = "required", restart = "fail", cancel_grace = "30s",
                deadline = "10m", retain = "1h", park_after = "30s", grace = "2s", idempotency_key = "value",
                require_input_capability = false, crate = "facade::mcp_tasks",
            },
            quote! {
                async fn write_report(_: &facade::mcp_tasks::TaskContext) -> Outcome { todo() }
            },
        ),
        Case::task_tool(
            "raw_identifiers",
            quote!(),
            quote! {
                pub async fn r#move(
                    #[allow(unused_variables)]
                    /// What kind of thing to move.
                    r#type: Kind,
                    #[doc = include_str!("where.md")]
                    mut r#where: Option<Place>,
                    /// Really?
                    r#continue: mcp_tasks::Input<bool>,
                    context: &TaskContext,
                ) -> Result<(), Failure> { Ok(()) }
            },
        ),
        Case::task_tool(
            "type_parameters",
            quote!(),
            quote! {
                async fn store<T: Value, const N: usize>(value: T, others: List<T, N>) -> Result<T, ToolError>
                where
                    List<T, N>: Value,
                { Ok(value) }
            },
        ),
        Case::task_tool(
            "conditional_and_deprecated",
            quote!(description = "Old."),
            quote! {
                #[cfg(feature = "old")]
                #[deprecated]
                #[tracing::instrument]
                async fn old(count: u32) -> Result<u32, ToolError> { Ok(count) }
            },
        ),
        Case::task_tool(
            "question_before_the_task",
            quote!(task = "required"),
            quote! {
                async fn welcome(
                    ctx: TaskContext,
                    #[doc = " Who is there?"]
                    #[ask(before_task)]
                    user_name: Input<Person>,
                    #[doc = " Go on?"]
                    go_on: Input<Choice>,
                ) -> Result<String, ToolError> { greet(user_name, go_on, ctx) }
            },
        ),
        Case::task_tool(
            "questions_and_headers",
            quote!(require_input_capability = false),
            quote! {
                async fn project(
                    ctx: TaskContext,
                    #[doc = " Where it is."]
                    #[arg(header = "Region")]
                    r#in: Option<String>,
                    #[doc = " Please log in."]
                    login: UrlInput,
                    #[doc = " Greet them."]
                    #[ask(max_tokens = 50, system = GREETER)]
                    greeting: mcp_tasks::SamplingInput,
                    #[doc = " What is it about?"]
                    #[ask(before_task)]
                    topic: SamplingInput,
                    folders: RootsInput,
                ) -> Result<String, ToolError> { make(ctx, r#in, login, greeting, topic, folders) }
            },
        ),
        Case::task_tool(
            "mistakes",
            quote!(tll = "1s"),
            quote! {
                #[cfg(feature = "new")]
                pub fn wrong<T>(
                    #[serde(default)]
                    /// A name.
                    name: &str,
                ) -> Result<T, ToolError> { todo() }
            },
        ),
        Case::tool_type(
            "type_struct",
            quote!(),
            quote! {
                /// A report.
                #[derive(PartialEq, Debug)]
                pub struct Report<T> { size: T, approved: bool }
            },
        ),
        Case::tool_type(
            "type_enum",
            quote!(crate = "facade::mcp_tasks"),
            quote! {
                enum Size { Small, VeryLarge }
            },
        ),
        Case::tool_type(
            "type_enum_with_own_names",
            quote!(),
            quote! {
                #[serde(rename_all = "UPPERCASE")]
                enum Size { Small, Large }
            },
        ),
    ]
}

#[test]
fn expansions_are_those_on_record() {
    let bless = std::env::var_os("MCP_TASKS_BLESS").is_some();
    for case in cases() {
        if bless {
            fs::write(case.path(), case.formatted()).unwrap();
        }
        let recorded = fs::read_to_string(case.path()).unwrap_or_default();
        let formatted = case.formatted();
        assert!(
            recorded == formatted,
            "`{}` expands differently; see the difference with `MCP_TASKS_BLESS=1 cargo test -p mcp-tasks-macros --lib` and \
             `git diff`. Now it is:\n{formatted}",
            case.name
        );
    }
}

#[test]
fn every_recorded_expansion_has_a_case() {
    let known: BTreeSet<PathBuf> = cases().iter().map(Case::path).collect();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/expanded");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(known.contains(&path), "no case makes `{}`", path.display());
    }
}

/// P140, P147: nothing has to be in scope, and nothing of the user's can be taken for ours.
#[test]
fn expansions_name_one_root_and_the_standard_library() {
    for case in cases() {
        let file: syn::File = syn::parse2(case.expanded.clone()).unwrap();
        let mut roots = Roots { case: case.name, allowed: words_of(&case), paths_seen: 0 };
        roots.visit_file(&file);
        assert!(roots.paths_seen > 3, "`{}` names nothing", case.name);
    }
}

/// The words that a path may begin with: the author's own, and what the expansion itself declares.
fn words_of(case: &Case) -> BTreeSet<String> {
    fn collect(tokens: TokenStream, words: &mut BTreeSet<String>) {
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    words.insert(word.to_string());
                }
                TokenTree::Group(group) => collect(group.stream(), words),
                TokenTree::Punct(_) => {}
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse2::<syn::LitStr>(quote!(#literal))
                        && let Ok(tokens) = text.value().parse()
                    {
                        collect(tokens, words);
                    }
                }
            }
        }
    }
    let mut words = BTreeSet::new();
    collect(case.attribute.clone(), &mut words);
    collect(case.item.clone(), &mut words);
    let declared = [
        "__Arguments",
        "__A0",
        "__A1",
        "__A2",
        "__arguments",
        "__question_0",
        "__question_1",
        "__question_2",
        "__question_3",
        "__types",
    ];
    let locals = ["arguments", "call", "context", "object"];
    let language = ["Self", "str"];
    let attributes = ["derive", "serde", "schemars", "doc", "allow"];
    let words_of_ours = declared.into_iter().chain(locals).chain(language).chain(attributes);
    words.extend(words_of_ours.map(str::to_owned));
    words
}

struct Roots {
    case: &'static str,
    allowed: BTreeSet<String>,
    paths_seen: usize,
}

impl<'ast> Visit<'ast> for Roots {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.paths_seen += 1;
        let first = path.segments[0].ident.to_string();
        let case = self.case;
        if path.leading_colon.is_some() {
            let is_ours = ["mcp_tasks", "core", "std"].contains(&first.as_str());
            assert!(is_ours, "`{case}` names the root `::{first}`");
        } else {
            let is_known = self.allowed.contains(&first);
            assert!(is_known, "`{case}` begins a path with `{first}`");
        }
        visit::visit_path(self, path);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("derive") {
            attribute
                .parse_nested_meta(|derive| {
                    self.visit_path(&derive.path);
                    Ok(())
                })
                .unwrap();
        } else if attribute.path().is_ident("serde") || attribute.path().is_ident("schemars") {
            attribute
                .parse_nested_meta(|setting| {
                    let is_crate = setting.path.is_ident("crate");
                    if let Ok(value) = setting.value() {
                        let text: syn::LitStr = value.parse()?;
                        if is_crate {
                            self.visit_path(&text.parse()?);
                        }
                    }
                    Ok(())
                })
                .unwrap();
        }
        visit::visit_attribute(self, attribute);
    }
}

/// The messages that a use of `#[task_tool]` yields.
fn messages(attribute: TokenStream, item: TokenStream) -> Vec<String> {
    let file: syn::File = syn::parse2(expand_task_tool(attribute, item)).unwrap();
    file.items
        .iter()
        .filter_map(|item| match item {
            syn::Item::Macro(item) if item.mac.path.segments.last()?.ident == "compile_error" => {
                Some(item.mac.parse_body::<syn::LitStr>().unwrap().value())
            }
            _ => None,
        })
        .collect()
}

/// P148: a function that is not `async` is one of them.
#[test]
fn signatures_that_cannot_work_are_refused_with_the_way_out() {
    for (item, part) in [
        (
            quote!(
                fn tool() -> Result<(), E> {}
            ),
            "write `async` before `fn`",
        ),
        (
            quote!(
                async fn tool() {}
            ),
            "write `-> Result<T, ToolError>`",
        ),
        (
            quote!(
                async fn tool(&self) -> Result<(), E> {}
            ),
            "move it out of the `impl` block",
        ),
        (
            quote!(
                async unsafe fn tool() -> Result<(), E> {}
            ),
            "keep the `unsafe` part inside",
        ),
        (
            quote!(
                async extern "C" fn tool() -> Result<(), E> {}
            ),
            "remove its ABI",
        ),
        (
            quote!(
                async fn tool<'a>() -> Result<(), E> {}
            ),
            "can borrow for `'a`",
        ),
        (
            quote!(
                async fn tool(name: &str) -> Result<(), E> {}
            ),
            "take `String`",
        ),
        (
            quote!(
                async fn tool(names: Option<&'static [u8]>) -> Result<(), E> {}
            ),
            "take a `Vec`",
        ),
        (
            quote!(
                async fn tool(name: Cow<'_, str>) -> Result<(), E> {}
            ),
            "can borrow for `'_`",
        ),
        (
            quote!(
                async fn tool(name: impl Into<String>) -> Result<(), E> {}
            ),
            "which `impl Trait` hides: name the type",
        ),
        (
            quote!(
                async fn tool() -> impl Sized {}
            ),
            "a result needs a type with a schema",
        ),
        (
            quote!(
                async fn tool(ctx: &TaskContext) -> Result<&str, E> {}
            ),
            "a result of a task outlives the call",
        ),
        (
            quote!(
                async fn tool((a, b): (u8, u8)) -> Result<(), E> {}
            ),
            "take it apart in the body",
        ),
        (
            quote!(
                async fn tool(_: u8) -> Result<(), E> {}
            ),
            "write a plain name",
        ),
        (
            quote!(
                async fn tool(ctx: &mut TaskContext) -> Result<(), E> {}
            ),
            "take `TaskContext` or `&TaskContext`",
        ),
        (
            quote!(
                async fn tool(ctx: TaskContext, other: &TaskContext) -> Result<(), E> {}
            ),
            "there is one `TaskContext`",
        ),
        (
            quote!(
                async fn tool(approve: Input<bool>) -> Result<(), E> {}
            ),
            "the question `approve` has no text",
        ),
        (
            quote!(
                async fn tool(#[doc = " "] approve: Input<bool>) -> Result<(), E> {}
            ),
            "the question `approve` has no text",
        ),
        (
            quote!(
                async fn tool(#[doc = "?"] approve: Input) -> Result<(), E> {}
            ),
            "write `Input<T>`",
        ),
        (
            quote!(
                async fn tool(#[doc = "?"] approve: &Input<bool>) -> Result<(), E> {}
            ),
            "a question is taken by value",
        ),
        (
            quote!(
                async fn tool(#[cfg(unix)] a: u8) -> Result<(), E> {}
            ),
            "put the condition on the whole function",
        ),
        (
            quote!(
                async fn tool(#[serde(default)] a: u8) -> Result<(), E> {}
            ),
            "unknown attribute of a parameter",
        ),
        (
            quote!(
                async fn tool(#[ask(before_task)] a: u8) -> Result<(), E> {}
            ),
            "only a question is asked",
        ),
        (
            quote!(
                async fn tool(#[ask(before_task)] ctx: TaskContext) -> Result<(), E> {}
            ),
            "only a question is asked",
        ),
        (
            quote!(
                async fn tool(
                    #[doc = "?"]
                    #[ask]
                    a: Input<bool>,
                ) -> Result<(), E> {
                }
            ),
            "expected when to ask: `#[ask(before_task)]`",
        ),
        (
            quote!(
                async fn tool(
                    #[doc = "?"]
                    #[ask()]
                    a: Input<bool>,
                ) -> Result<(), E> {
                }
            ),
            "expected when to ask: `#[ask(before_task)]`",
        ),
        (
            quote!(
                async fn tool(
                    #[doc = "?"]
                    #[ask(before_tsak)]
                    a: Input<bool>,
                ) -> Result<(), E> {
                }
            ),
            "did you mean `before_task`?",
        ),
        (
            quote!(
                async fn tool(
                    #[doc = "?"]
                    #[ask(before_task)]
                    #[ask(before_task)]
                    a: Input<bool>,
                ) -> Result<(), E> {
                }
            ),
            "`before_task` is given twice",
        ),
        (
            quote!(
                async fn größe() -> Result<(), E> {}
            ),
            "give one with `name = \"..\"`",
        ),
        (
            quote!(
                struct Tool {}
            ),
            "belongs on an `async fn`",
        ),
    ] {
        let messages = messages(TokenStream::new(), item.clone());
        assert_eq!(messages.len(), 1, "{item}: {messages:#?}");
        assert!(messages[0].contains(part), "{item}: {}", messages[0]);
    }
}

#[test]
fn signatures_that_can_work_are_taken() {
    for item in [
        quote!(
            async fn tool(name: Cow<'static, str>) -> Result<&'static str, E> {}
        ),
        quote!(
            async fn tool(_: TaskContext) -> anyhow::Result<()> {}
        ),
        quote!(
            async fn tool(f: Wrapper<fn(&str) -> u8>) -> Result<(), E> {}
        ),
        quote!(
            async fn tool<F: Fn(u8) -> u8>(f: Wrapper<F>) -> Result<(), E> {}
        ),
        quote!(pub(in a::b) async fn tool(mut a: u8,) -> Result<(), E> { let x = ; }),
    ] {
        let expanded = expand_task_tool(TokenStream::new(), item.clone()).to_string();
        assert!(!expanded.contains("compile_error"), "{item}: {expanded}");
    }
}

#[test]
fn types_that_cannot_be_in_messages_are_refused() {
    for (item, part) in [
        (quote!(union Tool { a: u8 }), "write an `enum`"),
        (
            quote!(
                struct Tool<'a>(&'a str);
            ),
            "cannot borrow for `'a`",
        ),
        (
            quote!(
                fn tool() {}
            ),
            "belongs on a `struct` or an `enum`",
        ),
    ] {
        let expanded = expand_tool_type(TokenStream::new(), item.clone()).to_string();
        assert!(expanded.contains(part), "{item}: {expanded}");
        assert!(expanded.contains(&item.to_string()), "{item}: {expanded}");
    }
    let expanded = expand_tool_type(
        quote!(krate = "x"),
        quote!(
            struct Tool;
        ),
    )
    .to_string();
    assert!(expanded.contains("did you mean `crate`?"), "{expanded}");
}

/// P143: whatever is wrong, the function stays, with its body as it is.
#[test]
fn the_function_is_emitted_whatever_happens() {
    for (attribute, item) in [
        (quote!(tll = 1), quote!(async fn tool() -> Result<(), E> { half a. body })),
        (quote!(), quote!(fn tool(self: !!) -> { half a. body })),
        (quote!(), quote!(pub fn tool<F: Fn(u8) -> u8>(f: F) where F: Send { half a. body })),
    ] {
        let expanded = expand_task_tool(attribute, item.clone()).to_string();
        assert!(expanded.contains(&item.to_string()), "{item}: {expanded}");
        assert!(expanded.contains("compile_error"), "{item}: {expanded}");
    }
}
