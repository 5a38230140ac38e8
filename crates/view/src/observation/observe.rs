//! Reads a project.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use super::{Entry, ObservedMemory, ObservedSystems, TrackerState, TreeRow, entry};
use jiff::Timestamp;
use stepmark_frontmatter::{LineIndex, Position};
use stepmark_model::{
    artifact::{ProjectPath, natural_order},
    check::{Rule, Severity},
    journal::Event,
    summary::{EpicTitles, epic_titles},
};
use stepmark_store::{
    Error,
    bmad::sprint::SprintLedgers,
    checking::{CheckedFile, Summaries, SummaryRow},
    disk::par_map,
    history::History,
    workspace::{Artifacts, Workspace},
};

/// Enough for the timeline, and to judge "lately".
pub const EVENTS: usize = 600;

#[derive(Clone, Debug)]
pub struct Observation {
    pub project: String,
    pub at: Timestamp,
    pub artifacts: ObservedArtifacts,
    pub systems: Arc<ObservedSystems>,
    /// Includes unreadable files, not the artifacts.
    pub found: Arc<Artifacts>,
    /// They list stories without a file, too.
    pub ledgers: Arc<SprintLedgers>,
    pub findings: Vec<FindingRow>,
    /// At most [`EVENTS`], newest first.
    pub events: Vec<Event>,
    /// [`ObservedMemory`] has records.
    pub has_memory: bool,
    pub damaged_lines: usize,
    /// The error is a message for people.
    pub trackers: Result<Vec<TrackerState>, String>,
}

impl Observation {
    /// Skips unchanged artifacts without findings.
    pub fn take(workspace: &Workspace) -> Result<Self, Error> {
        Self::whole(&workspace.afresh())
    }

    pub fn whole(workspace: &Workspace) -> Result<Self, Error> {
        let mut summaries = workspace.checks().summaries_for_findings()?;
        let findings = findings(&mut summaries)?;
        Self::of(workspace, summaries, findings)
    }

    /// Faster, to show changes at once: keeps `findings` of the previous observation instead of a new check.
    pub fn begin(workspace: &Workspace, findings: Vec<FindingRow>) -> Result<Self, Error> {
        Self::of(workspace, workspace.checks().summaries()?, findings)
    }

    pub fn checked(self, workspace: &Workspace) -> Result<Self, Error> {
        let mut summaries = workspace.checks().summaries_for_findings()?;
        let findings = findings(&mut summaries)?;
        Ok(Self {
            artifacts: ObservedArtifacts::of(&summaries),
            found: unreadable(summaries),
            findings,
            ..self
        })
    }

    fn of(workspace: &Workspace, summaries: Summaries<'_>, findings: Vec<FindingRow>) -> Result<Self, Error> {
        let root = workspace.root().path();
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        let (events, damaged_lines) = workspace.history().ask(recorded)?;
        Ok(Self {
            project: name.unwrap_or_else(|| root.display().to_string()),
            at: workspace.now(),
            artifacts: ObservedArtifacts::of(&summaries),
            systems: Arc::new(ObservedSystems::of(workspace)),
            has_memory: ObservedMemory::is_there(workspace, &events),
            ledgers: Arc::new(workspace.ledgers().all(summaries.rows().map(|row| row.path()))),
            findings,
            events,
            damaged_lines,
            trackers: TrackerState::read_all(workspace, &summaries),
            found: unreadable(summaries),
        })
    }
}

/// Checks artifacts with workflow state and the files beside them.
fn findings(summaries: &mut Summaries<'_>) -> Result<Vec<FindingRow>, Error> {
    let mut findings: Vec<FindingRow> =
        summaries.report()?.files.iter().flat_map(FindingRow::of_file).collect();
    let stateless = summaries.rows().filter(|row| !row.brief().has_workflow_state);
    let stateless: HashSet<&ProjectPath> = stateless.map(|row| row.path()).collect();
    findings.retain(|finding| !stateless.contains(&finding.path));
    Ok(findings)
}

fn unreadable(summaries: Summaries<'_>) -> Arc<Artifacts> {
    Arc::new(Artifacts { artifacts: Vec::new(), ..summaries.into_found() })
}

fn recorded(history: &History) -> Result<(Vec<Event>, usize), Error> {
    let damaged = history.problems()?.iter().filter(|problem| problem.is_damage()).count();
    Ok((history.latest(EVENTS)?, damaged))
}

/// Artifacts with workflow state; files with only a `status` (blog posts) are not included.
#[derive(Clone, Debug)]
pub struct ObservedArtifacts {
    /// In natural order of paths, `1-2` before `1-10`; without problems, tickets and changes.
    pub entries: Arc<[Entry]>,
    pub epic_titles: Arc<EpicTitles>,
    pub tree: Arc<[TreeRow]>,
    texts: Arc<[TextStamp]>,
}

#[derive(Clone, Copy, Debug)]
struct TextStamp {
    digest: Option<u64>,
    stat: Option<[u8; 32]>,
}

impl ObservedArtifacts {
    pub(super) fn of(summaries: &Summaries<'_>) -> Self {
        let rows: Vec<SummaryRow<'_>> =
            summaries.rows().filter(|row| row.brief().has_workflow_state).collect();
        let members = rows.iter().filter_map(SummaryRow::member);
        let tree = entry::tree_rows(members).into();
        let mut all = par_map(&rows, |row| {
            let summary = row.summary();
            (Entry::of(&summary), TextStamp::of(row), summary.epic_titles)
        });
        all.sort_by(|(one, ..), (other, ..)| natural_order(one.path.as_str(), other.path.as_str()));
        let (mut entries, mut texts, mut titles) = (Vec::new(), Vec::new(), Vec::new());
        for (entry, text, own) in all {
            entries.push(entry);
            texts.push(text);
            titles.extend(own);
        }
        let epic_titles = Arc::new(epic_titles(titles));
        Self { entries: entries.into(), epic_titles, tree, texts: texts.into() }
    }

    pub fn have_texts_of(&self, before: &Self) -> bool {
        // Two observations of one scan share their entries.
        let is_same = |(own, other): (&TextStamp, &TextStamp)| own.is_of_the_same(*other);
        Arc::ptr_eq(&self.texts, &before.texts)
            || self.texts.len() == before.texts.len() && self.texts.iter().zip(&*before.texts).all(is_same)
    }
}

impl TextStamp {
    fn of(row: &SummaryRow<'_>) -> Self {
        let digest = row.read().map(|artifact| {
            // Valid within one run of the program only; never stored.
            let mut hasher = DefaultHasher::new();
            artifact.artifact().bytes().hash(&mut hasher);
            hasher.finish()
        });
        Self { digest, stat: row.stat() }
    }

    fn is_of_the_same(self, other: Self) -> bool {
        match (self.digest, other.digest) {
            (Some(own), Some(other)) => own == other,
            _ => self.stat.is_some() && self.stat == other.stat,
        }
    }
}

#[derive(Clone, Debug)]
pub struct FindingRow {
    pub rule: &'static Rule,
    pub severity: Severity,
    pub message: String,
    pub help: Option<String>,
    pub path: ProjectPath,
    /// From 1.
    pub position: Position,
    /// For errors: the line and the one before, since a parser often stops after the cause.
    pub lines: Vec<String>,
}

impl FindingRow {
    pub fn of_file(file: &CheckedFile<'_>) -> Vec<Self> {
        if file.findings.is_empty() {
            return Vec::new();
        }
        let lines = LineIndex::new(&file.bytes);
        let rows = file.findings.iter().map(|finding| Self {
            rule: finding.rule,
            severity: finding.severity,
            message: finding.message.clone(),
            help: finding.help.clone(),
            path: finding.path.clone(),
            position: lines.position(&file.bytes, finding.span.start),
            lines: match finding.severity {
                Severity::Error => lines_at(&file.bytes, finding.span.start),
                _ => Vec::new(),
            },
        });
        rows.collect()
    }
}

/// In bytes: more than fits on a screen.
const LINE: usize = 240;

/// The line with the byte at `place`, after the one before it; long ones are cut.
fn lines_at(bytes: &[u8], place: usize) -> Vec<String> {
    let place = place.min(bytes.len());
    let end = bytes[place..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| place + end);
    let mut lines: Vec<String> = bytes[..end].rsplit(|byte| *byte == b'\n').take(2).map(shown).collect();
    lines.reverse();
    lines
}

fn shown(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = String::from_utf8_lossy(&line[..line.len().min(LINE)]);
    if line.len() > LINE { format!("{}…", text.trim_end_matches('\u{FFFD}')) } else { text.into_owned() }
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use crate::{observation::Observation, overview::Overview, page, sample_project::SampleProject};

    /// The time until a file is no longer so new that it may change without a trace.
    const SETTLING: Duration = Duration::from_millis(30);

    #[test]
    fn artifacts_that_have_not_changed_are_not_read_and_shown_alike() {
        let project = SampleProject::new();
        for number in 0..70 {
            let text = format!("---\nstepsCompleted: [outline]\n---\n# Paper {number}\n");
            project.write(&format!("docs/{number}.md"), &text);
            project.write(&format!("s/1-{number}-a.md"), "---\nstatus: review\n---\n# Story\n");
        }
        project.write("epics.md", "---\nstepsCompleted: []\nscope: small\n---\n## Epic 1: Lend\n");
        let look = || {
            thread::sleep(SETTLING);
            let observation = Observation::take(&project.workspace()).unwrap();
            let read = observation.artifacts.texts.iter().filter(|text| text.digest.is_some()).count();
            (read, page::report(&Overview::of(&observation), None), observation)
        };
        let (read, first, before) = look();
        assert_eq!((read, before.artifacts.entries.len()), (141, 141));
        let (read, second, after) = look();
        assert_eq!((read, &second), (0, &first));
        assert!(after.artifacts.have_texts_of(&before.artifacts) && first.contains("Epic 1: Lend"));
        project.write("docs/7.md", "---\nstepsCompleted: [outline]\n---\n# Paper 7\nmore\n");
        project.write("docs/8.md", "---\nstepsCompleted: [\n---\n# Paper 8\n");
        for _ in 0..2 {
            let (read, page, now) = look();
            assert_eq!(read, 2, "few changes are not worth a new cache, and what is wrong is read");
            assert!(page.contains("not YAML") && !now.artifacts.have_texts_of(&before.artifacts));
        }
    }
}

#[cfg(test)]
mod finding_row_tests {
    use super::*;

    #[test]
    fn the_lines_of_a_place_are_found() {
        let text = "one\ntwo é\r\n\nthree";
        for (place, lines) in [
            (0, &["one"][..]),
            (3, &["one"]),
            (4, &["one", "two é"]),
            (10, &["one", "two é"]),
            (12, &["two é", ""]),
            (14, &["", "three"]),
            (99, &["", "three"]),
        ] {
            assert_eq!(lines_at(text.as_bytes(), place), lines, "{place}");
        }
        let long = "é".repeat(200);
        assert!(lines_at(long.as_bytes(), 7)[0].ends_with("é…"));
    }
}
