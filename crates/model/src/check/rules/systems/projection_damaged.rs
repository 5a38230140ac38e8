//! SMP03: a file that follows the records cannot be read.

use crate::{
    artifact::ProjectPath,
    check::{Finding, Group, Rule, Severity, rule::Decision},
};
use stepmark_frontmatter::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "SMP03",
    name: "projection-damaged",
    group: Group::Systems,
    severity: Severity::Warning,
    summary: "A file that follows the records is gone, or is not of its format any more.",
    why: "A program that finds it empty or torn, or finds marks of a conflict in it, often begins anew, without any \
          task. The records are whole.",
    bad: "<<<<<<< ours\n{\"tasks\": []}\n",
    good: "{\"tasks\": []}\n",
    fix: "`stepmark coordination project` makes it again, and keeps a copy of what stands there.",
    decision: Decision::OfLaterStage,
};

/// The finding about the file at `path`; `is_gone` where there is none. `project` is the command that
/// makes it again.
pub fn finding(path: &ProjectPath, is_gone: bool, project: &str) -> Finding {
    let message = if is_gone {
        "this file, which stepmark wrote, is gone"
    } else {
        "this file cannot be read as what stepmark writes there"
    };
    Finding::new(&RULE, path, Span::at(0), message).with_help(format!("`{project}` makes it again"))
}
