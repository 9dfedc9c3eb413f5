//! The generated types of an extension keep to what the types of the core keep to, from outside their crate.

use std::process::Command;

use mcp_tasks_example_vendor::budget::{
    Amount, BudgetErrorCode, BudgetSettings, Currency, GetBudgetRequest, GetBudgetResult, method,
};
use mcp_tasks_types::{from_str, to_string};

#[test]
fn the_program_says_what_the_messages_mean() {
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-tasks-example-vendor")).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let request = r#"{"jsonrpc":"2.0","id":7,"method":"budget/get","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{},"com.example/budget":{"currencies":["EUR"]}}},"com.example/budget":{"currency":"EUR","cents":250}},"taskId":"tsk_1"}}"#;
    assert_eq!(
        lines,
        [
            request,
            "tsk_1 may spend 2.50 EUR",
            "no limit",
            "1.20 EUR left",
            "2.51 EUR would be spent, 2.50 EUR is the limit",
        ]
    );
}

#[test]
fn what_is_read_is_written_back() {
    let text = r#"{"resultType":"complete","countedAt":"2026-08-21T10:30:00.00Z","budget":"within","left":{"currency":"EUR","cents":1,"x":1e400},"more":[null]}"#;
    assert_eq!(to_string(&from_str::<GetBudgetResult>(text).unwrap()).unwrap(), text);
}

#[test]
fn what_the_schema_refuses_is_refused_with_its_place() {
    for (text, message) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":"budget/set","params":{}}"#, "budget/get"),
        (r#"{"jsonrpc":"2.0","id":7,"method":"budget/get","params":{"taskId":"t"}}"#, "params"),
    ] {
        let error = from_str::<GetBudgetRequest>(text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    for text in [
        r#"{"countedAt":"2026-08-21T10:30:00Z","budget":"within"}"#,
        r#"{"countedAt":"today","budget":"unlimited"}"#,
        r#"{"resultType":"task","countedAt":"2026-08-21T10:30:00Z","budget":"unlimited"}"#,
    ] {
        assert!(from_str::<GetBudgetResult>(text).is_err(), "{text}");
    }
    assert!(from_str::<Amount>(r#"{"currency":"DM","cents":1}"#).is_err());
}

#[test]
fn the_words_of_the_extension_are_constants() {
    assert_eq!(method::BUDGET_GET, GetBudgetRequest::METHOD);
    assert_eq!(BudgetSettings::EXTENSION_ID, "com.example/budget");
    assert_eq!(BudgetErrorCode::BudgetExceeded.http_status(), Some(402));
    assert_eq!(Currency::ALL.len(), 2);
}
