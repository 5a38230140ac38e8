//! SM311: a story says its status in its body or its ledger only.

use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use stepmark_frontmatter::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM311",
    name: "story-not-imported",
    group: Group::Status,
    severity: Severity::Note,
    summary: "A story says its status in its body or its ledger only.",
    why: "stepmark follows frontmatter. Until the story is imported no lifecycle guards its status, history knows none of its moves, and \
          line and ledger are not brought along.",
    bad: "# Story 1.2: Dim\n\nStatus: ready-for-dev\n",
    good: "---\nstatus: ready-for-dev\n---\n# Story 1.2: Dim\n\nStatus: ready-for-dev\n",
    fix: "`stepmark import stories` brings the status into its frontmatter. It is told of each story that a workflow of BMAD makes, too, after \
          the others were imported.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    if !subject.waits_for_import() {
        return;
    }
    let line = subject.artifact.state().body_status.as_ref();
    let span = line.map_or(Span::at(0), |line| line.span);
    let message = "the story is not imported: its frontmatter has no status";
    let help = format!("`stepmark import stories {}` takes it in", subject.artifact.path());
    found.push(subject.finding(&RULE, span, message).with_help(help));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{found_in, helps_in};

    #[test]
    fn a_story_without_a_status_in_its_frontmatter_is_told() {
        for (path, text, expected) in [
            ("1-2-dim.md", RULE.bad, 1),
            ("1-2-dim.md", RULE.good, 0),
            ("1-2-dim.md", "# Notes\n\nStatus: ready-for-dev\n", 0),
            ("prd.md", RULE.bad, 0),
        ] {
            assert_eq!(found_in(&RULE, &[(path, text)]).len(), expected, "{path} {text}");
        }
        insta::assert_snapshot!(helps_in(&RULE, &[("1-2-dim.md", RULE.bad)]).concat(), @"`stepmark import stories 1-2-dim.md` takes it in");
    }
}
