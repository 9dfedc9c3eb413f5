// Where types and schemas disagree on purpose, each with its reason; the test takes this list in as a value.
[
    Exception {
        schema: "source",
        accepts: false,
        fits: |s| s.r#type == "ErrorCode" && s.case == "another code",
        reason: "the schema lists the known codes; a peer may send others",
    },
    Exception {
        schema: "source",
        accepts: true,
        fits: |s| s.case.ends_with("of another state"),
        reason: "objects are open, so a payload of another state is schema-valid; the text gives it no meaning",
    },
    Exception {
        schema: "published",
        accepts: true,
        fits: |s| s.case.ends_with("of another state"),
        reason: "the published objects are open as well",
    },
    Exception {
        schema: "source",
        accepts: true,
        fits: |s| s.case.ends_with("a fraction, rounded up"),
        reason: "the draft has plain numbers of milliseconds; they are read, and written as integers",
    },
    Exception {
        schema: "published",
        accepts: true,
        fits: |s| s.case.ends_with("negative"),
        reason: "the published schemas put no lower bound on durations, sizes and counts",
    },
    Exception {
        schema: "published",
        accepts: true,
        fits: |s| s.case.ends_with("no time") || s.case.ends_with("without an offset"),
        reason: "the published schemas take any string for a time",
    },
    Exception {
        schema: "published",
        accepts: true,
        fits: |s| s.case.contains("`resultType`") || s.r#type == "ResultType",
        reason: "the text fixes the value for each result; the published schema leaves it an open string",
    },
    Exception {
        schema: "published",
        accepts: true,
        fits: |s| s.case.starts_with("none of the members"),
        reason: "that one of the two is needed stands in the text only",
    },
    Exception {
        schema: "published",
        accepts: true,
        fits: |s| s.r#type == "SubscriptionFilter" && s.case.starts_with("`taskIds`"),
        reason: "the core's filter does not know the extension's member",
    },
    Exception {
        schema: "published",
        accepts: true,
        fits: |s| s.case == "no `_meta`",
        reason: "that the notifications of a subscription carry its id stands in the text only",
    },
    Exception {
        schema: "published",
        accepts: true,
        fits: |s| s.r#type == "RequestMetaObject" && (s.case.starts_with("`trace") || s.case.starts_with("`baggage")),
        reason: "the published schema does not mention the members for trace context",
    },
    Exception {
        schema: "published",
        accepts: false,
        fits: |s| s.r#type.starts_with("JSONRPC"),
        reason: "an envelope keeps its result as text, whatever its `resultType`",
    },
    Exception {
        schema: "published",
        accepts: false,
        fits: |s| s.value.as_str().contains("\"inputResponses\""),
        reason: "answers are read only once it is known which of them somebody waits for (R-6)",
    },
    Exception {
        schema: "published",
        accepts: false,
        fits: |s| s.r#type == "InputResponses",
        reason: "the same, on its own",
    },
    Exception {
        schema: "published",
        accepts: false,
        fits: |s| s.r#type == "TasksExtensionCapability",
        reason: "the published settings allow no member; unknown ones are tolerated (C-28)",
    },
    Exception {
        schema: "published",
        accepts: false,
        fits: |s| s.value.as_str().contains("\"inputSchema\"") && s.case == "all members",
        reason: "what a tool's schema says of its properties is kept as text and not judged",
    },
]
