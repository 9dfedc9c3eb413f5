//! The order of checks: a request that breaks several rules is answered for the first one.

use mcp_tasks::{
    ArgumentError, BoxFuture, Server, TaskTool, ToolCall, ToolDefinition, ToolError, check_arguments,
    server::{Incoming, RequestContext},
    task_tool, tool_type,
    types::{RawObject, v2026_07_28::CallToolResult},
};
use serde_json::{Value, json};

use crate::engine_log::Log;
use crate::server_harness::{VERSION, all_capabilities, ask, ask_with, meta, request, server};

/// Rule, headers, message, and the code and status that are expected.
type Row = (&'static str, Vec<(&'static str, &'static str)>, Value, (i64, u16));

/// Code and status of an answer.
fn verdict(back: &(u16, Value)) -> (i64, u16) {
    (back.1["error"]["code"].as_i64().unwrap_or(0), back.0)
}

fn get_task(meta: Value, task_id: Value) -> Value {
    let mut params = json!({"taskId": task_id, "_meta": meta});
    if params["taskId"].is_null() {
        params.as_object_mut().unwrap().remove("taskId");
    }
    if params["_meta"].is_null() {
        params.as_object_mut().unwrap().remove("_meta");
    }
    json!({"jsonrpc": "2.0", "id": 9, "method": "tasks/get", "params": params})
}

fn meta_of_version(version: Value) -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": version})
}

/// R-1 steps 2 to 14, C-22, S-02
#[tokio::test]
async fn over_http_the_first_broken_rule_decides() {
    let server = server().await;
    let unknown = json!("tsk_unknown");
    // Each row repairs what the row before was refused for, and breaks what comes later.
    let rows: Vec<Row> = vec![
        (
            "2: not JSON-RPC",
            vec![],
            json!({"jsonrpc": "1.0", "id": 9, "method": "tasks/get"}),
            (-32_600, 400),
        ),
        (
            "4: no version header",
            vec![("Mcp-Method", "tools/list")],
            get_task(Value::Null, unknown.clone()),
            (-32_020, 400),
        ),
        (
            "4: no method header",
            vec![("MCP-Protocol-Version", "1900-01-01")],
            get_task(Value::Null, unknown.clone()),
            (-32_020, 400),
        ),
        (
            "5: another method",
            vec![("MCP-Protocol-Version", "1900-01-01"), ("Mcp-Method", "TASKS/GET"), ("Mcp-Name", "other")],
            get_task(Value::Null, unknown.clone()),
            (-32_020, 400),
        ),
        (
            "6: no _meta",
            vec![("MCP-Protocol-Version", "1900-01-01"), ("Mcp-Method", "tasks/get"), ("Mcp-Name", "other")],
            get_task(Value::Null, unknown.clone()),
            (-32_602, 400),
        ),
        (
            "6: version is not a string",
            vec![("MCP-Protocol-Version", "1900-01-01"), ("Mcp-Method", "tasks/get"), ("Mcp-Name", "other")],
            get_task(meta_of_version(json!(20_260_728)), unknown.clone()),
            (-32_602, 400),
        ),
        (
            "7: another version in the header",
            vec![("MCP-Protocol-Version", VERSION), ("Mcp-Method", "tasks/get"), ("Mcp-Name", "other")],
            get_task(meta_of_version(json!("1900-01-01")), unknown.clone()),
            (-32_020, 400),
        ),
        (
            "8: a version that is not spoken",
            vec![("MCP-Protocol-Version", "1900-01-01"), ("Mcp-Method", "tasks/get"), ("Mcp-Name", "other")],
            get_task(meta_of_version(json!("1900-01-01")), unknown.clone()),
            (-32_022, 400),
        ),
        (
            "9: no capabilities",
            vec![("MCP-Protocol-Version", VERSION), ("Mcp-Method", "tasks/get"), ("Mcp-Name", "other")],
            get_task(meta_of_version(json!(VERSION)), unknown.clone()),
            (-32_602, 400),
        ),
        (
            "10: another name",
            vec![("MCP-Protocol-Version", VERSION), ("Mcp-Method", "tasks/get"), ("Mcp-Name", "other")],
            get_task(meta(json!({})), unknown.clone()),
            (-32_020, 400),
        ),
        (
            "12: extension not declared",
            vec![("MCP-Protocol-Version", VERSION), ("Mcp-Method", "tasks/get")],
            get_task(meta(json!({})), Value::Null),
            (-32_021, 400),
        ),
        (
            "13: no task id",
            vec![("MCP-Protocol-Version", VERSION), ("Mcp-Method", "tasks/get")],
            get_task(meta(all_capabilities()), Value::Null),
            (-32_602, 200),
        ),
        (
            "14: unknown task",
            vec![("MCP-Protocol-Version", VERSION), ("Mcp-Method", "tasks/get"), ("Mcp-Name", "tsk_unknown")],
            get_task(meta(all_capabilities()), unknown.clone()),
            (-32_602, 200),
        ),
    ];
    for (rule, headers, message, expected) in rows {
        let back = ask_with(&server, &headers, &message).await;
        assert_eq!(verdict(&back), expected, "{rule}: {}", back.1);
        assert_eq!(back.1["id"], 9, "{rule}");
    }
}

/// R-1 without steps 4, 5, 7 and 10; X-130
#[tokio::test]
async fn over_stdio_the_same_order_holds_without_headers() {
    let server = server().await;
    let unknown = json!("tsk_unknown");
    let rows = [
        ("6", Value::Null, unknown.clone(), -32_602),
        ("6", meta_of_version(json!(null)), unknown.clone(), -32_602),
        ("8", meta_of_version(json!("1900-01-01")), Value::Null, -32_022),
        ("9", meta_of_version(json!(VERSION)), Value::Null, -32_602),
        ("9", meta(json!([])), Value::Null, -32_602),
        ("12", meta(json!({})), Value::Null, -32_021),
        ("13", meta(all_capabilities()), Value::Null, -32_602),
        ("13", meta(all_capabilities()), json!(7), -32_602),
        ("14", meta(all_capabilities()), unknown, -32_602),
    ];
    for (rule, meta, task_id, expected) in rows {
        let (_, answer) = ask(&server, &get_task(meta, task_id)).await;
        assert_eq!(answer["error"]["code"], expected, "{rule}: {answer}");
        assert_eq!(answer["id"], 9);
    }
}

/// R-1 step 9; C-28, X-23, X-32
#[tokio::test]
async fn what_meta_says_besides_has_to_be_well_formed() {
    let server = server().await;
    let with = |key: &str, value: Value| {
        let mut meta = meta(all_capabilities());
        meta[key] = value;
        json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": {"_meta": meta}})
    };
    let refused = [
        with("io.modelcontextprotocol/clientInfo", json!({"name": "x"})),
        with("io.modelcontextprotocol/clientInfo", json!("x")),
        with("io.modelcontextprotocol/logLevel", json!("loud")),
        with("progressToken", json!({})),
        with(
            "io.modelcontextprotocol/clientCapabilities",
            json!({"extensions": {"io.modelcontextprotocol/tasks": true}}),
        ),
    ];
    for message in refused {
        let back = ask(&server, &message).await;
        assert_eq!(verdict(&back), (-32_602, 400), "{message}");
    }
    let taken = [
        with("io.modelcontextprotocol/clientInfo", json!({"name": "x", "version": "1", "odd": []})),
        with("io.modelcontextprotocol/logLevel", json!("debug")),
        with("io.modelcontextprotocol/foo", json!(7)),
        with("modelcontextprotocol.io/task", json!({"taskId": "a"})),
        with("progressToken", json!("t")),
        with("traceparent", json!("00-x")),
        with(
            "io.modelcontextprotocol/clientCapabilities",
            json!({"extensions": {"io.modelcontextprotocol/tasks": {"odd": 1}}, "odd": {}}),
        ),
    ];
    for message in taken {
        let back = ask(&server, &message).await;
        assert_eq!(verdict(&back), (0, 200), "{message}: {}", back.1);
    }
}

/// R-2, C-81, C-82, X-41, X-78, S-23: not found for anybody, with and without the extension.
#[tokio::test]
async fn removed_and_unknown_methods_are_not_found() {
    let server = server().await;
    for method in [
        "tasks/result",
        "tasks/list",
        "tasks/delete",
        "tasks/status",
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "prompts/list",
        "unknown/method",
        "TOOLS/LIST",
        "",
    ] {
        for capabilities in [all_capabilities(), json!({})] {
            let message = json!({
                "jsonrpc": "2.0", "id": "m", "method": method,
                "params": {"taskId": "tsk_1", "_meta": meta(capabilities)},
            });
            let headers = [("MCP-Protocol-Version", VERSION), ("Mcp-Method", method)];
            for back in [ask(&server, &message).await, ask_with(&server, &headers, &message).await] {
                assert_eq!(verdict(&back), (-32_601, 404), "{method}: {}", back.1);
                assert_eq!(back.1["id"], "m");
            }
        }
    }
}

///
#[tokio::test]
async fn a_handshake_of_an_older_revision_is_told_what_is_spoken() {
    let server = server().await;
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let on_stdio = ask(&server, &message).await;
    assert_eq!(verdict(&on_stdio), (-32_601, 404));
    let over_http = ask_with(&server, &[("Content-Type", "application/json")], &message).await;
    assert_eq!(verdict(&over_http), (-32_020, 400));
    for (_, answer) in [on_stdio, over_http] {
        assert_eq!(answer["error"]["data"]["supported"], json!([VERSION]));
        let told = answer["error"]["message"].as_str().unwrap();
        assert!(told.contains(VERSION), "{told}");
    }
}

/// S-03
#[tokio::test]
async fn an_unspoken_version_is_told_the_list_of_discover_and_what_it_sent() {
    let server = server().await;
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "server/discover",
        "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": " 2099-01-01"}},
    });
    let (_, answer) = ask(&server, &message).await;
    let data = &answer["error"]["data"];
    assert_eq!(*data, json!({"supported": [VERSION], "requested": " 2099-01-01"}));
}

/// C-91, R-1 steps 4 and 10: the leniency about `Mcp-Name` ends where it is sent.
#[tokio::test]
async fn a_missing_task_name_is_taken_and_a_wrong_one_is_not() {
    let server = server().await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({"taskId": "tsk_1", "inputResponses": {}, "_meta": meta(all_capabilities())});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut headers = vec![("MCP-Protocol-Version", VERSION), ("Mcp-Method", method)];
        let missing = ask_with(&server, &headers, &message).await;
        assert_eq!(verdict(&missing), (-32_602, 200), "{method}");
        headers.push(("Mcp-Name", method));
        let wrong = ask_with(&server, &headers, &message).await;
        assert_eq!(verdict(&wrong), (-32_020, 400), "{method}");
    }
}

/// P106, C-91: ids that need care, compared after decoding.
#[tokio::test]
async fn an_odd_task_name_is_decoded_before_it_is_compared() {
    let server = server().await;
    let table = [
        ("a b", "a b", (-32_602, 200)),
        ("\u{65e5}\u{672c}", "=?base64?5pel5pys?=", (-32_602, 200)),
        ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?=", (-32_602, 200)),
        ("=?base64?eA==?=", "=?base64?eA==?=", (-32_020, 400)),
        ("t-1", "=?base64??=", (-32_020, 400)),
        ("t-1", "", (-32_020, 400)),
    ];
    for (id, header, expected) in table {
        let message = get_task(meta(all_capabilities()), json!(id));
        let headers = [("MCP-Protocol-Version", VERSION), ("Mcp-Method", "tasks/get"), ("Mcp-Name", header)];
        let back = ask_with(&server, &headers, &message).await;
        assert_eq!(verdict(&back), expected, "{id} {header}");
    }
}

/// R-1 step 4: the option.
#[tokio::test]
async fn a_strict_server_refuses_a_missing_task_name() {
    let server = Server::builder("strict", "1").require_task_name(true).build().await.unwrap();
    let message = get_task(meta(all_capabilities()), json!("tsk_1"));
    let headers = [("MCP-Protocol-Version", VERSION), ("Mcp-Method", "tasks/get")];
    let back = ask_with(&server, &headers, &message).await;
    assert_eq!(verdict(&back), (-32_020, 400));
}

///
#[tokio::test]
async fn the_name_of_a_call_is_compared_after_decoding() {
    let server = server().await;
    let call = |name: Value| {
        let params = json!({"name": name, "arguments": {"text": "x"}, "_meta": meta(json!({}))});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    };
    let table = [
        (json!("echo"), Some("echo"), (0, 200)),
        (json!("echo"), Some(" echo\t"), (0, 200)),
        (json!("echo"), Some("=?base64?ZWNobw==?="), (0, 200)),
        (json!("echo"), Some("=?base64?ZWNobw?="), (-32_020, 400)),
        (json!("echo"), Some("=?BASE64?ZWNobw==?="), (-32_020, 400)),
        (json!("echo"), Some("ECHO"), (-32_020, 400)),
        (json!("echo"), Some("add"), (-32_020, 400)),
        (json!("echo"), Some("\u{e9}cho"), (-32_020, 400)),
        (json!("echo"), None, (-32_020, 400)),
        (json!("pr\u{fc}fen"), Some("=?base64?cHLDvGZlbg==?="), (-32_602, 200)),
        // No name source: the parameters are to blame, whatever the header says.
        (json!(7), Some("7"), (-32_602, 200)),
        (json!(null), None, (-32_602, 200)),
    ];
    for (name, header, expected) in table {
        let mut headers = vec![("mcp-protocol-version", VERSION), ("MCP-METHOD", " tools/call ")];
        headers.extend(header.map(|value| ("mcp-name", value)));
        let back = ask_with(&server, &headers, &call(name.clone())).await;
        assert_eq!(verdict(&back), expected, "{name} {header:?}: {}", back.1);
    }
}

#[tool_type]
#[schemars(inline)]
struct Place {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: Option<String>,
    #[schemars(extend("x-mcp-header" = "Count"))]
    count: Option<i64>,
}

/// A tool whose arguments intermediaries route by.
struct Routed;

impl TaskTool for Routed {
    const NAME: &'static str = "routed";

    fn definition() -> ToolDefinition {
        ToolDefinition::new::<RoutedArguments, Result<String, ToolError>>(Self::NAME)
    }

    fn check(arguments: &RawObject) -> Result<(), ArgumentError> {
        check_arguments::<RoutedArguments>(arguments)
    }

    fn run(_call: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
        Box::pin(async { Ok(CallToolResult::new(Vec::new())) })
    }
}

#[tool_type]
struct RoutedArguments {
    place: Place,
}

///
#[tokio::test]
async fn mirrored_arguments_are_compared_with_their_headers() {
    let server = Server::builder("s", "1").tool::<Routed>().build().await.unwrap();
    let call = |place: Value| {
        let params = json!({"name": "routed", "arguments": {"place": place}, "_meta": meta(json!({}))});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    };
    let region = |text: &'static str| ("mcp-param-REGION", text);
    let count = |text: &'static str| ("Mcp-Param-Count", text);
    let table = [
        (json!({}), vec![], 0),
        (json!({"region": null}), vec![], 0),
        (json!({"region": "eu"}), vec![region("eu")], 0),
        (json!({"region": "\u{fc}"}), vec![region("=?base64?w7w=?=")], 0),
        (json!({"count": 7}), vec![count("7")], 0),
        (json!({"count": 7}), vec![count("7.0")], 0),
        (json!({"region": "eu"}), vec![], -32_020),
        (json!({"region": "eu"}), vec![region("EU")], -32_020),
        (json!({"region": "\u{fc}"}), vec![region("=?base64?w7w?=")], -32_020),
        (json!({"region": "eu"}), vec![region("\u{fc}")], -32_020),
        (json!({}), vec![region("eu")], -32_020),
        (json!({"count": 7}), vec![count("8")], -32_020),
        (json!({"count": 7}), vec![count("seven")], -32_020),
        // A value of another type is the tool's to judge.
        (json!({"region": []}), vec![region("eu")], 0),
    ];
    for (place, more, code) in table {
        let mut headers =
            vec![("MCP-Protocol-Version", VERSION), ("Mcp-Method", "tools/call"), ("Mcp-Name", "routed")];
        headers.extend(more.iter().copied());
        let back = ask_with(&server, &headers, &call(place.clone())).await;
        assert_eq!(verdict(&back).0, code, "{place} {more:?}: {}", back.1);
        assert_eq!(back.0, if code == 0 { 200 } else { 400 });
        // Without headers there is nothing to compare.
        assert_eq!(verdict(&ask(&server, &call(place)).await).0, 0);
    }
}

/// S-01, X-08, X-10
#[tokio::test]
async fn what_is_no_request_is_not_answered() {
    let server = server().await;
    let call = json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "job", "_meta": meta(all_capabilities())}});
    let table = [
        (call, 202),
        (json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": null}}), 202),
        (json!({"jsonrpc": "2.0", "method": "notifications/unknown"}), 202),
        (json!({"jsonrpc": "2.0", "method": 7}), 400),
        (json!({"jsonrpc": "2.0", "id": 1, "result": {}}), 400),
        (json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}), 400),
    ];
    for (message, status) in table {
        let back = ask_with(&server, &[], &message).await;
        assert_eq!(back, (status, Value::Null), "{message}");
    }
}

/// what is wrong with the header is said, whichever header it is.
#[tokio::test]
async fn a_header_that_contradicts_itself_is_told_as_such() {
    let server = server().await;
    let message = request(json!(1), "tasks/get", json!({"taskId": "a"}));
    let headers = [("MCP-Protocol-Version", VERSION), ("Mcp-Method", "tasks/get"), ("Mcp-Name", "a")];
    for twice in [("mcp-name", "b"), ("mcp-method", "tasks/update"), ("mcp-protocol-version", "1")] {
        let (status, answer) = ask_with(&server, &[headers.as_slice(), &[twice]].concat(), &message).await;
        let text = answer["error"]["message"].as_str().unwrap();
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32_020)), "{answer}");
        assert!(text.contains("more than once, with different values"), "{answer}");
        assert!(text.to_lowercase().contains(twice.0), "{answer}");
    }
}

/// the id comes back as the number that it is.
#[tokio::test]
async fn an_id_is_an_integer_however_it_is_written() {
    let server = server().await;
    let context = RequestContext::new(server.owner().clone());
    for (id, number) in [("1.0", 1), ("1e2", 100), ("-0", 0)] {
        let message = request(json!("ID"), "tools/list", json!({})).to_string().replace("\"ID\"", id);
        let reply = server.answer(&context, Incoming::read(message)).await;
        let answer: Value = serde_json::from_str(reply.text().unwrap()).unwrap();
        assert_eq!((reply.status(), &answer["id"]), (200, &json!(number)), "{answer}");
    }
}

/// Is told more on the way than it should be.
#[task_tool]
async fn careless(
    #[arg(header = "Region")] region: String,
    #[arg(header = "Key")] api_key: String,
) -> Result<String, ToolError> {
    Ok(format!("{region} {api_key}"))
}

/// what is called like a secret and goes into a header is told of when the server is built.
#[tokio::test]
async fn secrets_in_headers_are_warned_of() {
    let log = Log::default();
    let listening = log.listen();
    Server::builder("s", "1").tool::<careless>().build().await.unwrap();
    drop(listening);
    let text = log.text();
    let warnings: Vec<&str> = text.lines().filter(|line| line.contains("a header")).collect();
    assert_eq!(warnings.len(), 1, "{text}");
    assert!(warnings[0].starts_with("WARN") && warnings[0].contains("api_key"), "{text}");
}
