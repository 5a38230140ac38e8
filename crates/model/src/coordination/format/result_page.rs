//! The page of a finished task in format A.

use serde_json::Value as Json;

use super::file_stem;
use crate::coordination::{Record, is_done};

/// The name and the bytes of the page of a task that is done or failed; `None` of any other. It is written
/// for people, and never read.
pub fn result_file(task: &Record) -> Option<(String, Vec<u8>)> {
    Some((format!("results/{}.md", file_stem(&task.id)), result_page(task)?.into_bytes()))
}

fn result_page(task: &Record) -> Option<String> {
    let result = task.values.get("result").and_then(Json::as_object);
    let of_result = |key: &str| result.and_then(|result| result.get(key)?.as_str()).unwrap_or_default();
    let description = task.text("description").unwrap_or_default();
    let head = format!("# Task: {}\n\n## Description\n{description}\n\n", task.id);
    let who = task.claimed_by().unwrap_or("None");
    let at = task.text("completed_at").unwrap_or("None");
    if is_done(task) {
        let listed = |key: &str| {
            let files = result.and_then(|result| result.get(key)?.as_array()).into_iter().flatten();
            let lines: Vec<String> = files.filter_map(Json::as_str).map(|file| format!("- {file}")).collect();
            if lines.is_empty() { "None".to_owned() } else { lines.join("\n") }
        };
        return Some(format!(
            "{head}## Completed By\n{who}\n\n## Completed At\n{at}\n\n## Output\n{}\n\n## Files Modified\n{}\n\n\
             ## Files Created\n{}\n\n## Status\nSUCCESS\n",
            of_result("output"),
            listed("files_modified"),
            listed("files_created"),
        ));
    }
    (task.status() == "failed").then(|| {
        let reason = of_result("error");
        format!(
            "{head}## Attempted By\n{who}\n\n## Failed At\n{at}\n\n## Failure Reason\n{reason}\n\n## Status\nFAILED\n"
        )
    })
}
