//! Status and dates.

use self::written_time::WrittenTime;
use crate::artifact::{Field, Problem, ProjectPath};
use crate::autodev::keeps_state;
use std::cmp::Ordering;

use crate::bmad::sprint::{LedgerKey, LedgerWords, SprintStatus};
use crate::check::{Finding, Fix, Safety, Severity, Subject, rule::Decision};
use crate::{delegation::Completion, workflow::WorkState};
use stepmark_frontmatter::{ParseError, Span};

mod written_time;

rules! { Status;
    pub(crate) STATUS_NOT_TEXT "SM301" "status-not-text" Warning Decision::diagnosed(|problem| matches!(problem, Problem::StatusNotText), "");
    pub(crate) STATUS_DISAGREES "SM302" "status-disagrees" Warning Decision::OfArtifact(check_status_disagrees);
    pub(crate) TEMPLATE_UNFILLED "SM303" "template-unfilled" Note Decision::diagnosed(|problem| matches!(problem, Problem::TemplateUnfilled { .. }), "fill it in");
    pub(crate) STATUS_UNKNOWN "SM304" "status-unknown" Warning Decision::OfArtifact(check_status_unknown);
    pub(crate) STATUS_AHEAD_OF_STEPS "SM305" "status-ahead-of-steps" Warning Decision::OfArtifact(check_status_ahead_of_steps);
    pub(crate) TIME_IMPOSSIBLE "SM306" "time-impossible" Warning Decision::OfArtifact(check_time_impossible);
    pub SPRINT_STATUS_DISAGREES "SM307" "sprint-status-disagrees" Warning Decision::OfArtifact(check_sprint_status_disagrees);
    pub SPRINT_STATUS_NOT_YAML "SM308" "sprint-status-not-yaml" Error Decision::OfLaterStage;
    pub(crate) TIME_WITHOUT_DATE "SM309" "time-without-date" Warning Decision::OfArtifact(check_time_without_date);
    pub(crate) TIME_NOT_ISO "SM310" "time-not-iso" Note Decision::OfArtifact(check_time_not_iso);
    pub(crate) STORY_NOT_IMPORTED "SM311" "story-not-imported" Note Decision::OfArtifact(check_story_not_imported);
    pub SPRINT_STATUS_UNMATCHED "SM312" "sprint-status-unmatched" Warning Decision::OfLaterStage;
}

fn check_status_disagrees(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for diagnosis in subject.diagnoses(|problem| matches!(problem, Problem::StatusDisagrees { .. })) {
        let Problem::StatusDisagrees { frontmatter, body } = &diagnosis.problem else { continue };
        let path = subject.artifact.path();
        let key = LedgerKey::of_artifact(subject.artifact, subject.lifecycle()).filter(|key| key.is_story());
        let words = LedgerWords::new(subject.lifecycle(), LedgerKey::NAMED, path);
        let change = words.change(body, frontmatter);
        // A body line that is further along is newer; a line with more than a status is for a person.
        let is_alone = subject.artifact.state().body_status.as_ref().is_some_and(|line| !line.has_more);
        let is_safe = change != Some(Ordering::Less) && !frontmatter.contains(['\n', '\r']);
        let title = format!("make the line say `{frontmatter}`");
        let fix = (is_safe && is_alone)
            .then(|| Fix::splice(Safety::Unsafe, title, diagnosis.span, frontmatter.as_str()));
        let finding = subject.finding(&STATUS_DISAGREES, diagnosis.span, diagnosis.problem.to_string());
        let help = match key {
            Some(_) => {
                copy_remedy(words, [body, frontmatter], (path, "status-line"), "makes the line say the same")
            }
            None if change == Some(Ordering::Less) => {
                "the line is further: make both say what is true".to_owned()
            }
            None => "the frontmatter counts; make the line say the same".to_owned(),
        };
        found.push(finding.with_help(help).with_fix(fix));
    }
}

fn check_status_unknown(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    // The state file of autodev has its own rule.
    let Some(lifecycle) = subject.lifecycle().filter(|_| !keeps_state(subject.artifact.path())) else {
        return;
    };
    let Some(status) = &subject.artifact.state().status else { return };
    let Some(word) = status.filled().filter(|word| !is_placeholder(word)) else { return };
    if lifecycle.state_of(word).is_some() {
        return;
    }
    let states: Vec<String> = lifecycle.states().iter().map(|state| format!("`{}`", state.name)).collect();
    let message = format!("the lifecycle `{}` has no state `{word}`", lifecycle.name());
    found.push(
        subject
            .finding(&STATUS_UNKNOWN, status.span, message)
            .with_help(format!("it has {}", states.join(", "))),
    );
}

fn is_placeholder(word: &str) -> bool {
    word.contains(['{', '}'])
}

fn check_status_ahead_of_steps(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    if let Some((open, total)) = subject.artifact.open_boxes()
        && let Some(status) = &subject.artifact.state().status
        && Completion::of(subject.artifact, None).by_status
        // Without a lifecycle, `complete` means that the text is written, as in BMAD's planning documents.
        && (subject.lifecycle().is_some() || !status.text.eq_ignore_ascii_case("complete"))
    {
        let message = format!("the status is `{}`, but {open} of {total} boxes are open", status.text);
        let help = "tick what is done, take out what is not to be done, or set the status back";
        let finding = subject.finding(&STATUS_AHEAD_OF_STEPS, status.span, message).with_help(help);
        // In more than half of public projects, nobody ticks boxes at all.
        let severity = if open == total { Severity::Note } else { finding.severity };
        found.push(Finding { severity, ..finding });
    }
    let Some(progress) = subject.progress().filter(|progress| progress.state != WorkState::Finished) else {
        return;
    };
    // With a subject, the status is that of a step.
    if subject.lifecycle().is_some_and(|lifecycle| !lifecycle.subject().is_empty()) {
        return;
    }
    let Some(status) = &subject.artifact.state().status else { return };
    // The file name alone is weak evidence: numbers may count other steps.
    let is_guess = subject.is_bound_by_file_name();
    if is_guess || !Completion::of(subject.artifact, None).by_status || progress.total == 0 {
        return;
    }
    let message = format!(
        "the status is `{}`, but {} of {} steps are done",
        status.text, progress.done_units, progress.total
    );
    found.push(
        subject
            .finding(&STATUS_AHEAD_OF_STEPS, status.span, message)
            .with_help("complete the steps, or set the status back"),
    );
}

fn check_time_impossible(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for time in &subject.artifact.state().times {
        if let WrittenTime::Impossible(text) = WrittenTime::of(time) {
            let message = format!("`{text}` is no time that a calendar and a clock have");
            let finding = subject.finding(&TIME_IMPOSSIBLE, time.span, message);
            found.push(finding.with_help("write `2026-02-28` or `2026-02-28T09:30:00Z`"));
        }
    }
}

fn check_sprint_status_disagrees(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let path = subject.artifact.path();
    let Some(own) = StoryStatus::of(subject) else { return };
    let named = LedgerKey::of_artifact(subject.artifact, subject.lifecycle()).filter(|key| key.is_story());
    let (Some(environment), Some(kind)) = (subject.environment, named) else { return };
    let said = |ledger: ProjectPath| Some((environment.sprint_status(&ledger, path.file_stem())?, ledger));
    let Some((word, ledger)) = SprintStatus::places(path).into_iter().find_map(said) else { return };
    let words = LedgerWords::new(subject.lifecycle(), kind, path);
    let Some(meant) = words.in_ledger(own.word).filter(|_| !words.fits(own.word, &word)) else { return };
    let message = format!("the story says `{}`, `{ledger}` says `{word}`", own.word);
    let help = if own.is_line {
        "the story has no status in its frontmatter: `stepmark import stories` shows all sides, and `--prefer SIDE` says which one wins".to_owned()
    } else {
        let done = format!("writes `{meant}` into `{ledger}`");
        copy_remedy(words, [&word, meant], (path, "sprint-status"), &done)
    };
    // No fix: a person knows which side is right.
    found.push(subject.finding(&SPRINT_STATUS_DISAGREES, own.span, message).with_help(help));
}

/// Copy `copy` has status `from`; the frontmatter of `path` wants `to`. `done` is the effect of the sync. A
/// copy that is further along was usually written by a BMAD workflow; unknown words are left to a person.
fn copy_remedy(
    words: LedgerWords<'_>,
    [from, to]: [&str; 2],
    (path, copy): (&ProjectPath, &str),
    done: &str,
) -> String {
    let import = |side: &str| format!("`stepmark import stories --prefer {side} {path}`");
    let project =
        if words.have(from) { "`stepmark project --ledgers`".to_owned() } else { import("frontmatter") };
    match words.change(from, to) {
        Some(Ordering::Less) => format!(
            "{} takes in what is further along, as after a workflow of BMAD; where the frontmatter is right, {project} {done}",
            import("furthest")
        ),
        _ => format!(
            "the frontmatter counts: {project} {done}; where the other one is right, {}",
            import(copy)
        ),
    }
}

struct StoryStatus<'a> {
    word: &'a str,
    span: Span,
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

pub fn sprint_status_not_yaml_finding(path: &ProjectPath, error: &ParseError) -> Finding {
    let finding = Finding::new(&SPRINT_STATUS_NOT_YAML, path, Span::at(error.offset()), error.to_string());
    match sprint_status_not_yaml_remedy(error) {
        Some(remedy) => finding.with_help(remedy),
        None => finding,
    }
}

fn sprint_status_not_yaml_remedy(error: &ParseError) -> Option<&'static str> {
    let ParseError::Syntax { message, .. } = error else { return None };
    let usual = USUAL_MISTAKES.iter().find(|(said, _)| said.iter().any(|said| message.contains(said)));
    usual.map(|(_, remedy)| *remedy)
}

/// Parser messages with remedies; the first match wins.
const USUAL_MISTAKES: [(&[&str], &str); 6] = [
    (&["tab"], "indent with blanks: YAML takes no tabs"),
    (
        &[
            "mapping values are not allowed",
            "unexpected character: `@'",
            "unexpected character: ``'",
            "unexpected character: `%'",
            "comments must be separated",
        ],
        "put a value with `: ` or ` #` in it, or one that begins with a sign, in quotes",
    ),
    (
        &["flow", "illegal placement of ':'"],
        "close the `[` or `{` that is open, which may stand further up; a text that begins with one needs quotes",
    ),
    (&["quoted scalar"], "close the quote that is open: it may stand further up"),
    (&["expected key"], "indent the line like its neighbours"),
    (&["simple key expected"], "make each line `key: value`, and take out marks of a merge that conflicted"),
];

fn check_time_without_date(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for time in &subject.artifact.state().times {
        if let WrittenTime::Words(text) = WrittenTime::of(time) {
            let message = format!("`{}` is to say when, and `{text}` names no day", time.key);
            let finding = subject.finding(&TIME_WITHOUT_DATE, time.span, message);
            found.push(
                finding.with_help("write `2026-02-28` or `2026-02-28T09:30:00Z`, or leave the value out"),
            );
        }
    }
}

fn check_time_not_iso(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for time in &subject.artifact.state().times {
        if let WrittenTime::OtherForm(text) = WrittenTime::of(time) {
            let message = format!("`{text}` is no time as ISO 8601 writes it");
            let finding = subject.finding(&TIME_NOT_ISO, time.span, message);
            found.push(finding.with_help("write `2026-02-28` or `2026-02-28T09:30:00Z`"));
        }
    }
}

fn check_story_not_imported(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    if !subject.waits_for_import() {
        return;
    }
    let line = subject.artifact.state().body_status.as_ref();
    let span = line.map_or(Span::at(0), |line| line.span);
    let message = "the story is not imported: its frontmatter has no status";
    let help = format!("`stepmark import stories {}` takes it in", subject.artifact.path());
    found.push(subject.finding(&STORY_NOT_IMPORTED, span, message).with_help(help));
}

/// In one sentence.
const MOST_NAMED: usize = 20;

/// Entries without a story, or with one of another name. `is_story` tells if a story file of that name
/// exists.
pub fn sprint_status_unmatched_findings(
    path: &ProjectPath,
    bytes: &[u8],
    stories: &[&ProjectPath],
    is_story: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    let Ok(ledger) = SprintStatus::read(bytes) else { return Vec::new() };
    let text = String::from_utf8_lossy(bytes);
    // A comment or a key of the file itself may be called like an entry.
    let entry = |key: &str| Some(text.find(&format!("\n  {key}:"))? + 3);
    let at = |key: &str| Span::at(entry(key).or_else(|| text.find(&format!("{key}:"))).unwrap_or_default());
    let mut found: Vec<Finding> = Vec::new();
    // Besides numbered stories, such a key may be custom, as for a spike.
    let has_stories = ledger.keys().any(|key| LedgerKey::read(key).is_some_and(LedgerKey::is_story));
    let unnumbered = ledger.keys().filter(|key| LedgerKey::read(key).is_none());
    let (joined, mut unnumbered): (Vec<&str>, Vec<&str>) = unnumbered.partition(|key| is_story(key));
    let epics = ledger.epics_of(joined.iter().copied());
    unnumbered.retain(|key| !epics.contains(key.trim_end_matches("-retrospective")));
    if let Some(first) = unnumbered.first() {
        let more = unnumbered.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let message = format!("no story is joined to `{first}`{more}: such a key has no number `N-M-`");
        let mut finding = Finding::new(&SPRINT_STATUS_UNMATCHED, path, at(first), message);
        let is_note = has_stories || !joined.is_empty();
        finding.severity = if is_note { Severity::Note } else { SPRINT_STATUS_UNMATCHED.severity };
        let others = unnumbered[1..].iter().take(MOST_NAMED).map(|key| format!("`{key}`"));
        let others = others.collect::<Vec<_>>().join(", ");
        let others = if more.is_empty() { String::new() } else { format!("; the others: {others}") };
        found.push(finding.with_help(format!(
            "it is left as it is; give the entry and its file one name, and the file a heading `# Story …`, or say what keys of stories look like: `stories: {{key_pattern: 'story_*'}}`{others}"
        )));
    }
    for story in stories {
        let Some(key) = ledger.namesake(story.file_stem()) else { continue };
        let word = ledger.status(key).unwrap_or("-");
        let message = format!("`{key}` is listed as `{word}`, the file is `{story}`");
        let help = "give both one name, or the file a number of its own; nothing is written until then";
        found.push(Finding::new(&SPRINT_STATUS_UNMATCHED, path, at(key), message).with_help(help));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bmad::sprint::SprintStatus;
    use crate::check::rules::sample::{fixed, fixed_in, found, found_in, helps_in, severities};

    #[test]
    fn a_status_is_a_word() {
        for value in ["[draft]", "3", "true", "{a: b}"] {
            let file = format!("---\nstatus: {value}\n---\n");
            assert_eq!(found(&STATUS_NOT_TEXT, &file), ["2:9 SM301 `status` is no word"], "{value}");
        }
        for value in ["draft", "'3'", "", "null", "{{status}}"] {
            assert!(found(&STATUS_NOT_TEXT, &format!("---\nstatus: {value}\n---\n")).is_empty(), "{value}");
        }
    }

    #[test]
    fn a_line_that_is_further_is_not_taken_back_by_a_fix() {
        let text = |line: &str| format!("---\nstatus: in-progress\n---\n# Story 1.1\n\nStatus: {line}\n");
        let help = |line: &str| helps_in(&STATUS_DISAGREES, &[("1-1-a.md", text(line).as_str())]).concat();
        insta::assert_snapshot!(help("review"), @"`stepmark import stories --prefer furthest 1-1-a.md` takes in what is further along, as after a workflow of BMAD; where the frontmatter is right, `stepmark project --ledgers` makes the line say the same");
        insta::assert_snapshot!(help("backlog"), @"the frontmatter counts: `stepmark project --ledgers` makes the line say the same; where the other one is right, `stepmark import stories --prefer status-line 1-1-a.md`");
        assert_eq!(fixed(&STATUS_DISAGREES, &text("review")), None);
        assert_eq!(found(&STATUS_DISAGREES, &text("review")).len(), 1);
        assert_eq!(fixed(&STATUS_DISAGREES, &text("backlog")), Some(text("in-progress")));
    }

    #[test]
    fn a_sentence_is_never_replaced() {
        let file = |line: &str| format!("---\nstatus: in-progress\n---\n# 1.1\n\nStatus: {line}\n");
        assert_eq!(fixed(&STATUS_DISAGREES, &file("backlog, once Ana has seen it")), None);
        assert_eq!(found(&STATUS_DISAGREES, &file("backlog, once Ana has seen it")).len(), 1);
        assert_eq!(fixed(&STATUS_DISAGREES, &file("`backlog`.")), Some(file("`in-progress`.")));
        assert!(found(&STATUS_DISAGREES, &file("**in-progress**.")).is_empty());
    }

    #[test]
    fn the_line_says_what_the_frontmatter_says() {
        let file = "---\nstatus: in-progress\n---\n# 1.1\n\n**Status:** backlog\n";
        assert_eq!(
            found(&STATUS_DISAGREES, file),
            ["6:13 SM302 the body says `Status: backlog`, the frontmatter says `status: in-progress`"]
        );
        assert_eq!(fixed(&STATUS_DISAGREES, file), Some(file.replace("backlog", "in-progress")));
        assert!(found(&STATUS_DISAGREES, "---\nstatus: review\n---\nStatus: Review\n").is_empty());
        assert!(found(&STATUS_DISAGREES, "---\ntitle: x\n---\nStatus: review\n").is_empty());
    }

    #[test]
    fn placeholders_in_every_form() {
        for value in ["{ system-date }", "{{date}}", "'{{date}}'", "'{title}'"] {
            let file = format!("---\ndate: {value}\n---\n");
            let message = "2:7 SM303 `date` still holds the placeholder of its template";
            assert_eq!(found(&TEMPLATE_UNFILLED, &file), [message], "{value}");
        }
        for value in ["{a: b}", "{}", "'{a: b}'", "2026-01-14", "'a {b}'"] {
            assert!(found(&TEMPLATE_UNFILLED, &format!("---\ndate: {value}\n---\n")).is_empty(), "{value}");
        }
    }

    fn spec(status: &str) -> String {
        format!("---\ntype: feature\nstatus: {status}\ncreated: 2026-01-02\ncontext: []\n---\n")
    }

    #[test]
    fn a_state_is_one_of_the_lifecycle() {
        assert_eq!(
            found(&STATUS_UNKNOWN, &spec("reviewing")),
            ["3:9 SM304 the lifecycle `bmad-spec` has no state `reviewing`"]
        );
        for status in ["draft", "done", "In-Review", "'{status}'", "''"] {
            assert!(found(&STATUS_UNKNOWN, &spec(status)).is_empty(), "{status}");
        }
        assert!(
            found(&STATUS_UNKNOWN, "---\nworkflowType: prd\nstatus: whatever\n---\n").is_empty(),
            "no lifecycle, no guess"
        );
    }

    #[test]
    fn finished_work_has_all_its_steps() {
        let prd = |steps: &str, status: &str| {
            format!("---\nworkflowType: prd\nstepsCompleted: {steps}\nstatus: {status}\n---\n")
        };
        assert_eq!(
            found(&STATUS_AHEAD_OF_STEPS, &prd("[1, 2]", "Done")),
            ["4:9 SM305 the status is `Done`, but 2 of 14 steps are done"]
        );
        assert!(found(&STATUS_AHEAD_OF_STEPS, &prd("[1, 2]", "in-progress")).is_empty());
        assert!(
            found(&STATUS_AHEAD_OF_STEPS, &prd("[1, 2, 02b, 02c, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]", "done"))
                .is_empty()
        );
        assert!(
            found(&STATUS_AHEAD_OF_STEPS, "---\nstepsCompleted: [1]\nstatus: done\n---\n").is_empty(),
            "no workflow"
        );
        let boxes = |status: &str| format!("---\nstatus: {status}\n---\n- [x] a\n- [~] b\n1. [] c\n");
        assert_eq!(
            found(&STATUS_AHEAD_OF_STEPS, &boxes("done")),
            ["2:9 SM305 the status is `done`, but 2 of 3 boxes are open"]
        );
        assert!(found(&STATUS_AHEAD_OF_STEPS, &boxes("review")).is_empty());
        let none = "---\nstatus: done\n---\n- [ ] a\n- [ ] b\n";
        assert_eq!(severities(&STATUS_AHEAD_OF_STEPS, none), [Severity::Note]);
        assert_eq!(severities(&STATUS_AHEAD_OF_STEPS, &boxes("done")), [Severity::Warning]);
    }

    #[test]
    fn days_and_hours_exist() {
        let at =
            |time: &str| found(&TIME_IMPOSSIBLE, &format!("---\nstatus: draft\nlastSaved: '{time}'\n---\n"));
        for time in ["2026-02-30", "2026-13-01", "2026-01-02 30:00", "2026-01-02T10:61:00Z", "2026-00-10"] {
            assert_eq!(
                at(time),
                [format!("3:12 SM306 `{time}` is no time that a calendar and a clock have")],
                "{time}"
            );
        }
        for time in [
            "2026-01-02",
            "2026-01-02 09:30",
            "2026-01-02T09:30:00Z",
            "2026-01-02T09:30:00.123+01:00",
            "2026-01-02 09:30:00 +01:00",
            "2026-01-02 09:30 UTC",
            "yesterday",
            "{{date}}",
            "January 2, 2026",
            "",
        ] {
            assert!(at(time).is_empty(), "{time}: {:?}", at(time));
        }
    }

    const LEDGER: &str = "development_status:\n  epic-1: in-progress\n  1-1-switch: review # Ana\n  1-2-dim: completed\n  1-4-hum: Awaiting_Operator\n";

    fn story(path: &str, text: &str) -> Vec<String> {
        found_in(&SPRINT_STATUS_DISAGREES, &[(path, text), ("docs/sprint-status.yaml", LEDGER)])
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
        assert_eq!(
            fixed_in(&SPRINT_STATUS_DISAGREES, &files),
            None,
            "which of the two is true, a person knows"
        );
    }

    #[test]
    fn the_line_of_the_body_counts_without_frontmatter() {
        let text = "# Story 1.1: Switch\n\nStatus: done\n";
        assert_eq!(
            story("docs/1-1-switch.md", text),
            ["docs/1-1-switch.md:3:9 SM307 the story says `done`, `docs/sprint-status.yaml` says `review`"]
        );
        let files = [("docs/1-1-switch.md", text), ("docs/sprint-status.yaml", LEDGER)];
        assert_eq!(
            fixed_in(&SPRINT_STATUS_DISAGREES, &files),
            None,
            "the story waits for an import, which asks"
        );
        let counts = "---\nstatus: review\n---\n# Story 1.1\n\nStatus: done\n";
        assert!(story("docs/1-1-switch.md", counts).is_empty(), "that is a finding of its own");
    }

    #[test]
    fn the_help_names_what_brings_both_together() {
        let help = |status: &str| {
            let text = format!("---\nstatus: {status}\n---\n# Story 1.1\n");
            let files = [("docs/1-1-switch.md", text.as_str()), ("docs/sprint-status.yaml", LEDGER)];
            helps_in(&SPRINT_STATUS_DISAGREES, &files).concat()
        };
        insta::assert_snapshot!(help("done"), @"the frontmatter counts: `stepmark project --ledgers` writes `done` into `docs/sprint-status.yaml`; where the other one is right, `stepmark import stories --prefer sprint-status docs/1-1-switch.md`");
        insta::assert_snapshot!(help("in-progress"), @"`stepmark import stories --prefer furthest docs/1-1-switch.md` takes in what is further along, as after a workflow of BMAD; where the frontmatter is right, `stepmark project --ledgers` writes `in-progress` into `docs/sprint-status.yaml`");
        let files = [
            ("docs/1-1-switch.md", "---\nstatus: review\n---\n# Story 1.1\n"),
            ("docs/sprint-status.yaml", "development_status:\n  1-1-switch: shipped\n"),
        ];
        insta::assert_snapshot!(helps_in(&SPRINT_STATUS_DISAGREES, &files).concat(), @"the frontmatter counts: `stepmark import stories --prefer frontmatter docs/1-1-switch.md` writes `review` into `docs/sprint-status.yaml`; where the other one is right, `stepmark import stories --prefer sprint-status docs/1-1-switch.md`");
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
        assert!(found_in(&SPRINT_STATUS_DISAGREES, &broken).is_empty());
    }

    #[test]
    fn the_help_fits_the_mistake() {
        let path = ProjectPath::new("sprint-status.yaml").unwrap();
        for (text, expected) in [
            ("last_updated: 2026-05-02: after review\n", Some("in quotes")),
            ("a: `x`\n", Some("in quotes")),
            ("a: [b\nc: d\n", Some("close the `[`")),
            ("a: {b: c\nd: e\n", Some("close the `[`")),
            ("a:\n\tb: c\n", Some("tabs")),
            ("a: 'b\nc: d\n", Some("close the quote")),
            ("a:\n  b: c\n d: e\n", Some("indent the line")),
            ("a:\n  b: c\n<<<<<<< HEAD\n  d: e\n", Some("merge")),
            ("a: \u{0}\n", None),
        ] {
            let error = SprintStatus::read(text.as_bytes()).expect_err(text);
            let help = sprint_status_not_yaml_finding(&path, &error).help;
            match expected {
                Some(expected) => assert!(
                    help.as_deref().is_some_and(|help| help.contains(expected)),
                    "{text:?}: {error} {help:?}"
                ),
                None => assert_eq!(help, None, "{text:?}: {error}"),
            }
        }
        let not_utf8 = SprintStatus::read(b"a: \xff\n").expect_err("no UTF-8");
        assert_eq!(sprint_status_not_yaml_finding(&path, &not_utf8).help, None);
    }

    #[test]
    fn a_time_names_a_day() {
        let at =
            |time: &str| found(&TIME_WITHOUT_DATE, &format!("---\nstatus: draft\ncreated: '{time}'\n---\n"));
        for time in ["soon", "yesterday", "TBD", "after the review"] {
            assert_eq!(
                at(time),
                [format!("3:10 SM309 `created` is to say when, and `{time}` names no day")],
                "{time}"
            );
        }
        for time in [
            "2026-01-02",
            "2026-02-30",
            "January 2, 2026",
            "{{date}}",
            "<date>",
            "",
            " ",
            "never",
            "N/A",
            "1700000000",
        ] {
            assert!(at(time).is_empty(), "{time}: {:?}", at(time));
        }
        assert!(found(&TIME_WITHOUT_DATE, "---\nstatus: draft\ngenerated: true\n---\n").is_empty(), "a flag");
        assert!(
            found(&TIME_WITHOUT_DATE, "---\nstatus: draft\ndate:\ncreated: { system-date }\n---\n")
                .is_empty()
        );
    }

    #[test]
    fn programs_read_iso_8601() {
        let at =
            |time: &str| found(&TIME_NOT_ISO, &format!("---\nstatus: draft\nlastSaved: '{time}'\n---\n"));
        for time in [
            "January 2, 2026",
            "03/04/2026",
            "2026/01/02",
            "1700000000",
            "2026-01-02 (draft)",
            "Q3 2026",
            "2026-13",
        ] {
            assert_eq!(at(time), [format!("3:12 SM310 `{time}` is no time as ISO 8601 writes it")], "{time}");
        }
        for time in [
            "2026-01-02",
            "20260102",
            "2026-01",
            "2026",
            "2026-01-02T09:30:00.123+01:00",
            "2026-01-02 09:30 UTC",
            "2026-02-30",
            "soon",
            "{{date}}",
            "2026-{{month}}",
            "",
        ] {
            assert!(at(time).is_empty(), "{time}: {:?}", at(time));
        }
    }

    #[test]
    fn a_story_without_a_status_in_its_frontmatter_is_told() {
        for (path, text, expected) in [
            ("1-2-dim.md", STORY_NOT_IMPORTED.bad(), 1),
            ("1-2-dim.md", STORY_NOT_IMPORTED.good(), 0),
            ("1-2-dim.md", "# Notes\n\nStatus: ready-for-dev\n", 0),
            ("prd.md", STORY_NOT_IMPORTED.bad(), 0),
        ] {
            assert_eq!(found_in(&STORY_NOT_IMPORTED, &[(path, text)]).len(), expected, "{path} {text}");
        }
        insta::assert_snapshot!(helps_in(&STORY_NOT_IMPORTED, &[("1-2-dim.md", STORY_NOT_IMPORTED.bad())]).concat(), @"`stepmark import stories 1-2-dim.md` takes it in");
    }
}
