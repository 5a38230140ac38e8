//! SM307: `sprint-status.yaml` says something else about a story than the story.

use crate::{
    artifact::{Field, ProjectPath},
    bmad::sprint::{LedgerKey, LedgerWords, SprintStatus, WordChange},
    check::{Finding, Group, Rule, Severity, Subject, rule::Decision},
};
use stepmark_frontmatter::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "SM307",
    name: "sprint-status-disagrees",
    group: Group::Status,
    severity: Severity::Warning,
    summary: "`sprint-status.yaml` says something else about a story than the story.",
    why: "A story keeps its status in its file and in the ledger of the sprint. Agents choose the next story by the ledger and go \
          on by the file: where they differ, finished work is begun again, or open work is passed over.",
    bad: "---\nstatus: in-progress\n---\n\n# Story 1.1: Switch\n",
    good: "---\nstatus: review\n---\n\n# Story 1.1: Switch\n",
    fix: "The frontmatter counts: `stepmark project --ledgers` brings the ledger to what it says; back to an earlier state only with \
           `--reason TEXT`. Where a workflow of BMAD has moved the story in its ledgers, `stepmark import stories --prefer furthest` takes \
           that in. Where the ledger is right otherwise, or the story has no frontmatter, `stepmark import stories` shows all sides and \
           asks which one wins. The older words for a state (`drafted`, `completed`) count as the newer ones. Beside a spec \
           (`spec-N-M-slug.md`) the ledger may say what the steps of `bmad-build` write there: `review` while the spec is `done`, \
           `in-progress` while it is `in-review`. The ledger is looked for beside the story and in the folder above.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let path = subject.artifact.path();
    let named = LedgerKey::of(path).filter(|(kind, _)| kind.is_story());
    let (Some(environment), Some((kind, _))) = (subject.environment, named) else { return };
    let Some(own) = StoryStatus::of(subject) else { return };
    let said = |ledger: ProjectPath| Some((environment.sprint_status(&ledger, path.file_stem())?, ledger));
    let Some((word, ledger)) = SprintStatus::places(path).into_iter().find_map(said) else { return };
    let words = LedgerWords::new(subject.lifecycle(), kind).in_file(path);
    let Some(meant) = words.in_ledger(own.word).filter(|_| !words.fits(own.word, &word)) else { return };
    let message = format!("the story says `{}`, `{ledger}` says `{word}`", own.word);
    let help = if own.is_line {
        "the story has no status in its frontmatter: `stepmark import stories` shows all sides and asks which one wins".to_owned()
    } else {
        let done = format!("writes `{meant}` into `{ledger}`");
        remedy(words.change_of_copy(&word, own.word), path, "sprint-status", &done)
    };
    // There is no fix: which of the two is right, a person knows.
    found.push(subject.finding(&RULE, own.span, message).with_help(help));
}

/// The remedy where the side `copy` says something else than the frontmatter of the story at `path`: `change`
/// is what bringing it to the frontmatter means, and `done` says so, half a sentence. A copy that is further
/// was written by a workflow of BMAD, as a rule.
pub(super) fn remedy(change: WordChange, path: &ProjectPath, copy: &str, done: &str) -> String {
    let import = |side: &str| format!("`stepmark import stories --prefer {side} {path}`");
    match change {
        WordChange::Same | WordChange::Forward => {
            let import = import(copy);
            format!(
                "the frontmatter counts: `stepmark project --ledgers` {done}; where the other one is right, {import}"
            )
        }
        WordChange::SentBack => format!(
            "{} takes in that a review sent it back, as BMAD's code-review does; where the frontmatter is right, \
             `stepmark project --ledgers --reason TEXT` {done}, and TEXT says why",
            import(copy),
        ),
        WordChange::Back => format!(
            "{} takes in what is further along, as after a workflow of BMAD; where the frontmatter is right, \
             `stepmark project --ledgers --reason TEXT` {done}, and TEXT says why it goes back",
            import("furthest"),
        ),
        WordChange::Unordered => format!(
            "the frontmatter counts: `stepmark project --ledgers --reason TEXT` {done}; where the other one is right, {}",
            import(copy),
        ),
    }
}

/// The status of a story in its own file.
struct StoryStatus<'a> {
    word: &'a str,
    span: Span,
    /// True if it is the line of the body.
    is_line: bool,
}

impl<'a> StoryStatus<'a> {
    fn of(subject: &Subject<'a>) -> Option<Self> {
        let state = subject.artifact.state();
        if let Some(field) = &state.status {
            let word = Field::filled(field).filter(|word| !word.contains(['{', '}']))?;
            return Some(Self { word, span: field.span, is_line: false });
        }
        let line = state.body_status.as_ref()?;
        let word = Some(line.text.as_str()).filter(|word| !word.contains(['{', '}']))?;
        Some(Self { word, span: line.span, is_line: true })
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed_in, found_in, helps_in};

    const LEDGER: &str = "development_status:\n  epic-1: in-progress\n  1-1-switch: review # Ana\n  1-2-dim: completed\n  1-4-hum: Awaiting_Operator\n";

    fn story(path: &str, text: &str) -> Vec<String> {
        found_in(&RULE, &[(path, text), ("docs/sprint-status.yaml", LEDGER)])
    }

    #[test]
    fn the_ledger_and_the_story_say_the_same() {
        let wrong = "---\nstatus: in-progress\n---\n# Story 1.1\n";
        let said = "SM307 the story says `in-progress`, `docs/sprint-status.yaml` says `review`";
        assert_eq!(story("docs/1-1-switch.md", wrong), [format!("docs/1-1-switch.md:2:9 {said}")]);
        assert_eq!(
            story("docs/stories/1-1-switch.md", wrong),
            [format!("docs/stories/1-1-switch.md:2:9 {said}")]
        );
        assert!(
            story("docs/1-1-switch.md", &wrong.replace("in-progress", "In Review")).is_empty(),
            "a synonym"
        );
        assert!(
            story("docs/1-2-dim.md", "---\nstatus: done\n---\n# Story 1.2\n").is_empty(),
            "an older word"
        );
        let odd = "---\nstatus: awaiting-operator\n---\n# Story 1.4\n";
        assert!(story("docs/1-4-hum.md", odd).is_empty(), "no lifecycle has it, and it is the same");
        assert_eq!(story("docs/1-4-hum.md", &odd.replace("operator", "parts")).len(), 1);
        let files = [("docs/1-1-switch.md", wrong), ("docs/sprint-status.yaml", LEDGER)];
        assert_eq!(fixed_in(&RULE, &files), None, "which of the two is true, a person knows");
    }

    #[test]
    fn the_line_of_the_body_counts_without_frontmatter() {
        let text = "# Story 1.1: Switch\n\nStatus: done\n";
        assert_eq!(
            story("docs/1-1-switch.md", text),
            ["docs/1-1-switch.md:3:9 SM307 the story says `done`, `docs/sprint-status.yaml` says `review`"]
        );
        let files = [("docs/1-1-switch.md", text), ("docs/sprint-status.yaml", LEDGER)];
        assert_eq!(fixed_in(&RULE, &files), None, "the story waits for an import, which asks");
        let counts = "---\nstatus: review\n---\n# Story 1.1\n\nStatus: done\n";
        assert!(story("docs/1-1-switch.md", counts).is_empty(), "that is a finding of its own");
    }

    #[test]
    fn the_help_names_a_reason_where_the_ledger_would_go_back() {
        let help = |status: &str| {
            let text = format!("---\nstatus: {status}\n---\n# Story 1.1\n");
            let files = [("docs/1-1-switch.md", text.as_str()), ("docs/sprint-status.yaml", LEDGER)];
            helps_in(&RULE, &files).concat()
        };
        insta::assert_snapshot!(help("done"), @"the frontmatter counts: `stepmark project --ledgers` writes `done` into `docs/sprint-status.yaml`; where the other one is right, `stepmark import stories --prefer sprint-status docs/1-1-switch.md`");
        insta::assert_snapshot!(help("in-progress"), @"`stepmark import stories --prefer furthest docs/1-1-switch.md` takes in what is further along, as after a workflow of BMAD; where the frontmatter is right, `stepmark project --ledgers --reason TEXT` writes `in-progress` into `docs/sprint-status.yaml`, and TEXT says why it goes back");
        let files = [
            ("docs/1-1-switch.md", "---\nstatus: review\n---\n# Story 1.1\n"),
            ("docs/sprint-status.yaml", "development_status:\n  1-1-switch: in-progress\n"),
        ];
        insta::assert_snapshot!(helps_in(&RULE, &files).concat(), @"`stepmark import stories --prefer sprint-status docs/1-1-switch.md` takes in that a review sent it back, as BMAD's code-review does; where the frontmatter is right, `stepmark project --ledgers --reason TEXT` writes `review` into `docs/sprint-status.yaml`, and TEXT says why");
        insta::assert_snapshot!(help("cancelled"), @"the frontmatter counts: `stepmark project --ledgers --reason TEXT` writes `cancelled` into `docs/sprint-status.yaml`; where the other one is right, `stepmark import stories --prefer sprint-status docs/1-1-switch.md`");
    }

    #[test]
    fn a_spec_says_what_bmad_build_says_with_it() {
        let spec = |status: &str| {
            let text = format!("---\ntype: feature\nstatus: {status}\ncontext: []\n---\n# Switch\n");
            story("docs/spec-1-1-another-name.md", &text).len()
        };
        for (status, findings) in [
            ("draft", 0),
            ("blocked", 0),
            ("ready-for-dev", 1),
            ("in-progress", 1),
            ("in-review", 0),
            ("done", 0),
        ] {
            assert_eq!(spec(status), findings, "the ledger says `review`, the spec `{status}`");
        }
    }

    #[test]
    fn what_no_ledger_knows_is_left_alone() {
        let text = "---\nstatus: done\n---\n# Story\n";
        for path in ["docs/1-3-fade.md", "docs/prd.md", "other/1-1-switch.md", "docs/a/b/1-1-switch.md"] {
            assert!(story(path, text).is_empty(), "{path}");
        }
        assert!(story("docs/1-1-switch.md", "---\nstatus: '{{status}}'\n---\n# Story\n").is_empty());
        let broken = [("1-1-switch.md", text), ("sprint-status.yaml", "a: b: c\n")];
        assert!(found_in(&RULE, &broken).is_empty());
    }
}
