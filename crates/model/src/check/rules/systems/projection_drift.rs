//! SMP01: another program changed a record in a file that follows the records.

use crate::{
    artifact::ProjectPath,
    check::{Finding, Group, Rule, Severity, rule::Decision},
};
use stepmark_frontmatter::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "SMP01",
    name: "projection-drift",
    group: Group::Systems,
    severity: Severity::Warning,
    summary: "A file that follows the records says something else of one, and stepmark did not write that.",
    why: "Another program changed its own file, as it may, and nothing flows back from there by itself: the record goes \
          on without the change, and stays in the file as that program has it, until somebody decides.",
    bad: "{\"tasks\": [{\"id\": \"tests\", \"description\": \"Test the parser\", \"status\": \"done\"}]}\n",
    good: "{\"tasks\": [{\"id\": \"tests\", \"description\": \"Test the parser\", \"status\": \"available\"}]}\n",
    fix: "`stepmark import coordination --take file` brings the change into the record; `stepmark coordination project \
          --overwrite ID` gives it up.",
    decision: Decision::OfLaterStage,
};

/// The finding about the record `id` in the file at `path`, which holds `bytes`: it was `changed`, `added` or
/// `removed` there. `import` and `project` are the commands that take the change and give it up.
pub fn finding(
    path: &ProjectPath,
    bytes: &[u8],
    (id, change): (&str, &str),
    [import, project]: [&str; 2],
) -> Finding {
    let quoted = serde_json::Value::from(id).to_string();
    let found = memchr::memmem::find(bytes, quoted.as_bytes());
    let span = found.map_or(Span::at(0), |start| Span::new(start, start + quoted.len()));
    let message = match change {
        "added" => format!("this file has `{id}`, and there is no record of it"),
        "removed" => format!("this file lacks `{id}`, of which there is a record"),
        _ => format!("this file says something else of `{id}` than its record"),
    };
    let remove = if change == "removed" { " --remove" } else { "" };
    let help = format!("`{import} --take file{remove}` takes that, `{project} --overwrite {id}` gives it up");
    Finding::new(&RULE, path, span, message).with_help(help)
}
