//! Builds, writes, reads and matches the messages of an extension.
//!
//! Run `cargo run -p mcp-tasks-example-vendor`: you should see a request as it goes over the wire, what three answers
//! to it mean, and what an error says.
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use mcp_tasks_example_vendor::budget::{
    Amount, BudgetErrorCode, BudgetErrorCodeData, BudgetSettings, BudgetState, Currency, GetBudgetRequest,
    GetBudgetRequestParams, GetBudgetResult, meta_key,
};
use mcp_tasks_example_vendor::limit_of;
use mcp_tasks_types::v2026_07_28::{ClientCapabilities, ErrorObject, PROTOCOL_VERSION, RequestMetaObject};
use mcp_tasks_types::{JsonError, RawJson, from_str, tasks_extension, to_string};

fn main() -> Result<(), JsonError> {
    // Build and write. A request about a task declares that its sender knows tasks, and one of an extension declares
    // that extension. The extension's key stands among the core's own.
    let mut extensions = tasks_extension();
    let settings = BudgetSettings::new(vec![Currency::Eur]);
    extensions.extra.push(BudgetSettings::EXTENSION_ID.to_owned(), RawJson::new(&settings)?);
    let capabilities = ClientCapabilities::new().with_extensions(extensions);
    let mut meta = RequestMetaObject::new(PROTOCOL_VERSION, capabilities);
    meta.extra.push(meta_key::BUDGET.to_owned(), RawJson::new(&Amount::new(Currency::Eur, 250))?);
    let request = GetBudgetRequest::new(7, GetBudgetRequestParams::new(meta, "tsk_1"));
    println!("{}", to_string(&request)?);

    // Read.
    let read: GetBudgetRequest = from_str(&to_string(&request)?)?;
    if let Some(limit) = limit_of(&read.params.meta)? {
        println!("{} may spend {}", read.params.task_id, words(&limit));
    }

    // Match.
    for answer in [
        r#"{"resultType":"complete","countedAt":"2026-08-21T10:30:00Z","budget":"unlimited"}"#,
        r#"{"countedAt":"2026-08-21T10:30:00Z","budget":"within","left":{"currency":"EUR","cents":120}}"#,
        r#"{"countedAt":"2026-08-21T10:30:00Z","budget":"exceeded","error":{"code":-31100,"message":"too much",
            "data":{"limit":{"currency":"EUR","cents":250},"spent":{"currency":"EUR","cents":251}}}}"#,
    ] {
        let result: GetBudgetResult = from_str(answer)?;
        match &result.state {
            BudgetState::Unlimited => println!("no limit"),
            BudgetState::Within { left } => println!("{} left", words(left)),
            BudgetState::Exceeded { error } => println!("{}", explained(error)?),
        }
    }
    Ok(())
}

fn words(amount: &Amount) -> String {
    format!("{}.{:02} {}", amount.cents / 100, amount.cents % 100, amount.currency)
}

fn explained(error: &ErrorObject) -> Result<String, JsonError> {
    let code = BudgetErrorCode::from_code(error.code);
    let Some(data) = &error.data else { return Ok(error.message.clone()) };
    Ok(match BudgetErrorCodeData::decode(code, data)? {
        BudgetErrorCodeData::BudgetExceeded(data) => {
            format!("{} would be spent, {} is the limit", words(&data.spent), words(&data.limit))
        }
        _ => error.message.clone(),
    })
}
