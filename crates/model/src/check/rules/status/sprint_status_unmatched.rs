//! SM312: an entry of `sprint-status.yaml` and the files of stories cannot be joined.

use crate::{
    artifact::ProjectPath,
    bmad::sprint::{LedgerKey, SprintStatus},
    check::{Finding, Group, Rule, Severity, rule::Decision},
};
use stepmark_frontmatter::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "SM312",
    name: "sprint-status-unmatched",
    group: Group::Status,
    severity: Severity::Warning,
    summary: "An entry of `sprint-status.yaml` cannot be joined to a story.",
    why: "An entry and its story have one name, `N-M-slug`. Where the story was renamed, or two files have one number, BMAD's own \
          sync stops, and nothing can tell which entry is whose. An entry whose key has no number is compared with \
          nothing: a note beside numbered stories, where it may be meant so.",
    bad: "development_status:\n  AUTH-1-login: done\n",
    good: "development_status:\n  1-1-login: done\n",
    fix: "Give the entry and the file one name, and each story its own number. The status of the entry is not lost: \
          once the names agree, `stepmark import stories` takes it in.",
    decision: Decision::OfLaterStage,
};

/// The findings in the ledger at `path`, whose bytes are `bytes`: of `stories`, none is listed by its name
/// and each has a number that the ledger lists.
pub fn findings(path: &ProjectPath, bytes: &[u8], stories: &[&ProjectPath]) -> Vec<Finding> {
    let Ok(ledger) = SprintStatus::read(bytes) else { return Vec::new() };
    let text = String::from_utf8_lossy(bytes);
    let at = |key: &str| Span::at(text.find(&format!("{key}:")).unwrap_or_default());
    let mut found: Vec<Finding> = Vec::new();
    // Beside stories with numbers such a key may be somebody's own, as for a spike.
    let has_stories = ledger.keys().any(|key| LedgerKey::read(key).is_some_and(LedgerKey::is_story));
    let unnumbered: Vec<&str> = ledger.keys().filter(|key| LedgerKey::read(key).is_none()).collect();
    if let Some(first) = unnumbered.first() {
        let more = unnumbered.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let message = format!("no story is joined to `{first}`{more}: such a key has no number `N-M-`");
        let mut finding = Finding::new(&RULE, path, at(first), message);
        finding.severity = if has_stories { Severity::Note } else { RULE.severity };
        found.push(finding.with_help("it is left as it is; name the entry and its file `N-M-slug`"));
    }
    for story in stories {
        let Some(key) = ledger.namesake(story.file_stem()) else { continue };
        let word = ledger.status(key).unwrap_or("-");
        let message = format!("`{key}` is listed as `{word}`, the file is `{story}`");
        let help = "give both one name, or the file a number of its own; nothing is written until then";
        found.push(Finding::new(&RULE, path, at(key), message).with_help(help));
    }
    found
}
