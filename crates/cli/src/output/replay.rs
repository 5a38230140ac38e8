//! Results of replays, as lines and as JSON.

use super::{Output, history, on_one_line, spinner, wire::Open};
use crate::exit::{Exit, chain};
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};
use stepmark_frontmatter::Change;
use stepmark_model::{
    artifact::ProjectPath,
    journal::{ArtifactKey, EventId, HistoryState, SegmentName},
};
use stepmark_store::{history::SegmentProblem, replay::Replayed};

pub(crate) struct Summary {
    pub(crate) artifacts: Vec<Replayed>,
    /// Segments and events that were read completely.
    pub(crate) segments: Option<(u64, u64)>,
    pub(crate) problems: Vec<SegmentProblem>,
    pub(crate) unreadable: Vec<String>,
}

impl Summary {
    pub(crate) fn exit(&self, strict: bool) -> Exit {
        let is_damaged = self.problems.iter().any(SegmentProblem::is_damage)
            || self.artifacts.iter().any(|artifact| !artifact.damage.is_empty());
        let has_gaps = self.problems.iter().any(SegmentProblem::is_gap);
        let is_finding = |artifact: &Replayed| match artifact.state {
            HistoryState::Unexplained { .. } => true,
            HistoryState::NoHistory => strict,
            HistoryState::Current { .. } | HistoryState::Earlier { .. } | HistoryState::Merged { .. } => {
                false
            }
        };
        if is_damaged || !self.unreadable.is_empty() {
            Exit::Io
        } else if has_gaps || self.artifacts.iter().any(is_finding) {
            Exit::Findings
        } else {
            Exit::Fine
        }
    }
}

pub(crate) fn words(state: &HistoryState) -> (&'static str, Option<EventId>) {
    match state {
        HistoryState::Current { event } => ("current", Some(*event)),
        HistoryState::Earlier { event } => ("earlier", Some(*event)),
        HistoryState::Merged { head } => ("merged", Some(*head)),
        HistoryState::Unexplained { head } => ("unexplained", Some(*head)),
        HistoryState::NoHistory => ("no-history", None),
    }
}

/// With `--quiet` only differences.
pub(crate) fn show(summary: &Summary, output: &Output) {
    for artifact in &summary.artifacts {
        let (word, event) = words(&artifact.state);
        let event = event.map(|event| format!("  {}", history::short(event))).unwrap_or_default();
        let line = format!("{word:<11}  {}{event}", on_one_line(artifact.path.as_str()));
        match artifact.state {
            HistoryState::Unexplained { .. } => output.line(line),
            _ => output.remark(line),
        }
        for change in &artifact.changes {
            output.line(format_args!("    {}", on_one_line(&history::change(change))));
        }
        if let Some(obstacle) = &artifact.obstacle {
            output.line(format_args!("    {}", on_one_line(&chain(obstacle))));
        }
        for damage in &artifact.damage {
            output.warning(format_args!("{}: {}", artifact.path, chain(damage)));
        }
    }
    summary.problems.iter().for_each(|problem| output.warning(spinner::segment_problem(problem)));
    summary.unreadable.iter().for_each(|problem| output.warning(problem));
    output.remark(counts(summary));
}

fn counts(summary: &Summary) -> String {
    let words_of = |wanted: &str| {
        let count = summary.artifacts.iter().filter(|one| words(&one.state).0 == wanted).count();
        (count > 0).then(|| format!("{count} {wanted}"))
    };
    let states: Vec<String> = ["current", "earlier", "merged", "unexplained", "no-history"]
        .into_iter()
        .filter_map(words_of)
        .collect();
    let artifacts = spinner::count(summary.artifacts.len(), "artifact");
    let read = summary.segments.map(|(segments, events)| {
        format!("; {} in {}", spinner::count(events, "event"), spinner::count(segments, "segment"))
    });
    let states = if states.is_empty() { String::new() } else { format!(": {}", states.join(", ")) };
    format!("{artifacts}{states}{}", read.unwrap_or_default())
}

answers! { Answer<'a>
    /// `log replay`: which artifacts history explains, and what is wrong with it
    "stepmark.replay/2" Replay {
        artifacts: Vec<ReplayedRow<'a>>, segments: Option<u64>, events: Option<u64>,
        problems: Vec<ProblemRow<'a>>, unreadable: &'a [String],
    }
    struct ReplayedRow<'a> {
        path: &'a ProjectPath, key: &'a ArtifactKey, state: &'static str, event: Option<EventId>,
        events: usize, changes: Open<&'a [Change]>, remarks: Vec<String>, damage: Vec<String>,
    }
    struct ProblemRow<'a> {
        segment: &'a SegmentName, file: &'a str, line: u64, offset: u64, problem: &'static str,
        message: String,
    }
}

pub(crate) fn answer(summary: &Summary) -> Answer<'_> {
    Answer::Replay {
        artifacts: summary.artifacts.iter().map(ReplayedRow::of).collect(),
        segments: summary.segments.map(|(segments, _)| segments),
        events: summary.segments.map(|(_, events)| events),
        problems: summary.problems.iter().map(ProblemRow::of).collect(),
        unreadable: &summary.unreadable,
    }
}

impl<'a> ReplayedRow<'a> {
    fn of(artifact: &'a Replayed) -> Self {
        let (state, event) = words(&artifact.state);
        Self {
            path: &artifact.path,
            key: &artifact.key,
            state,
            event,
            events: artifact.events,
            changes: Open(&artifact.changes),
            remarks: artifact.obstacle.iter().map(|obstacle| chain(obstacle)).collect(),
            damage: artifact.damage.iter().map(|damage| chain(damage)).collect(),
        }
    }
}

impl<'a> ProblemRow<'a> {
    pub(crate) fn of(problem: &'a SegmentProblem) -> Self {
        let SegmentProblem { segment, file, line, offset, .. } = problem;
        let message = problem.problem.to_string();
        Self { segment, file, line: *line, offset: *offset, problem: problem.word(), message }
    }
}

const CONTEXT: usize = 3;

/// Byte-exact; lines end at line feeds only, as in git: a carriage return belongs to its line.
pub(crate) fn unified_diff(path: &str, before: &[u8], after: &[u8]) -> Vec<u8> {
    let (old, new) = (lines(before), lines(after));
    let operations = capture_diff_slices(Algorithm::Patience, &old, &new);
    let groups = group_diff_ops(operations, CONTEXT);
    let is_change =
        |group: &&Vec<DiffOp>| group.iter().any(|operation| !matches!(operation, DiffOp::Equal { .. }));
    let mut patch = Vec::new();
    for group in groups.iter().filter(is_change) {
        if patch.is_empty() {
            patch.extend_from_slice(
                format!("--- {}\n+++ {}\n", name("a/", path), name("b/", path)).as_bytes(),
            );
        }
        patch.extend_from_slice(header(group).as_bytes());
        group.iter().for_each(|operation| add_lines(&mut patch, operation, &old, &new));
    }
    patch
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// `@@ -3,4 +3,5 @@`.
fn header(group: &[DiffOp]) -> String {
    let place = |start: usize, count: usize| match count {
        // An empty range has the number of the line before it.
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        _ => format!("{},{count}", start + 1),
    };
    let whole = |range: fn(&DiffOp) -> std::ops::Range<usize>| {
        let start = group.first().map_or(0, |first| range(first).start);
        let end = group.last().map_or(0, |last| range(last).end);
        place(start, end - start)
    };
    format!("@@ -{} +{} @@\n", whole(DiffOp::old_range), whole(DiffOp::new_range))
}

fn add_lines(patch: &mut Vec<u8>, operation: &DiffOp, old: &[&[u8]], new: &[&[u8]]) {
    let (sign, removed) = match operation {
        DiffOp::Equal { .. } => (b' ', &old[operation.old_range()]),
        _ => (b'-', &old[operation.old_range()]),
    };
    removed.iter().for_each(|line| add_line(patch, sign, line));
    if sign == b'-' {
        new[operation.new_range()].iter().for_each(|line| add_line(patch, b'+', line));
    }
}

fn add_line(patch: &mut Vec<u8>, sign: u8, line: &[u8]) {
    patch.push(sign);
    patch.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        patch.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

/// Quoted as in git for control characters, `"` and `\`. A tab ends names with blanks.
fn name(side: &str, path: &str) -> String {
    let needs_quotes = |c: char| c.is_ascii_control() || matches!(c, '"' | '\\');
    if !path.contains(needs_quotes) {
        let end = if path.contains(' ') { "\t" } else { "" };
        return format!("{side}{path}{end}");
    }
    let quoted = path.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_ascii_control() => format!("\\{:03o}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{side}{}\"", quoted.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(path: &str, before: &str, after: &str) -> String {
        String::from_utf8(unified_diff(path, before.as_bytes(), after.as_bytes())).unwrap()
    }

    #[test]
    fn what_is_the_same_has_no_patch() {
        assert_eq!(patch("a", "x\n", "x\n"), "");
        assert_eq!(patch("a", "", ""), "");
    }

    #[test]
    fn lines_are_shown_with_what_is_around_them() {
        assert_eq!(
            patch("a.md", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- a/a.md\n+++ b/a.md\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        );
        assert_eq!(patch("a", "", "x\n"), "--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+x\n");
        assert_eq!(patch("a", "x\ny\n", "y\n"), "--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n-x\n y\n");
    }

    #[test]
    fn line_ends_are_part_of_their_lines() {
        assert_eq!(
            patch("a", "x\r\ny", "x\ny\r"),
            "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-x\r\n-y\n\\ No newline at end of file\n+x\n+y\r\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn names_are_written_as_git_writes_them() {
        for (path, written) in [
            ("docs/prd.md", "a/docs/prd.md"),
            ("a b.md", "a/a b.md\t"),
            ("ü.md", "a/ü.md"),
            ("a\"b\n\\.md", "\"a/a\\\"b\\012\\\\.md\""),
        ] {
            assert_eq!(name("a/", path), written);
        }
    }
}
