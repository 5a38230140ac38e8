//! A story, epic or retrospective, as its file tells of it.

use std::sync::Arc;

use super::{
    EntryLocation, LedgerChange, LedgerEntry, LedgerKey, LedgerLeft, LedgerPart, LedgerWords, is_story_spec,
    ledger_words::is_issue_key, story_key,
};
use crate::{
    artifact::{Artifact, BodyStatus, Field, ProjectPath, is_same_status},
    lifecycle::Lifecycle,
    tracked_artifact::TrackedArtifact,
};
use stepmark_frontmatter::{
    Document, Edit, EditError, Frontmatter, KeyPath, LineEnding, Region, RegionError, Span, Value, apply,
    replace_frontmatter,
};

/// A story, epic or retrospective whose frontmatter says its status.
#[derive(Clone, Debug)]
pub struct Story {
    pub path: ProjectPath,
    pub key: LedgerKey,
    pub status: String,
    pub line: Option<BodyStatus>,
    pub lifecycle: Option<Arc<Lifecycle>>,
    /// True if a ledger that lacks it should list it: its heading says that it is a story. A spec is listed
    /// by the numbers in its name, which may be those of something else, so none is put in for it.
    pub belongs_in_ledger: bool,
}

/// The role of a file for the ledgers.
#[derive(Clone, Debug)]
pub enum StoryState {
    /// It says a status that ledgers follow.
    Told(Box<Story>),
    /// It is a story without a status in its frontmatter: ledgers are left alone until somebody imports it.
    Waiting,
    Other,
}

impl Story {
    /// Reads the role of `artifact`, whose status has the lifecycle `lifecycle`, for the ledgers.
    pub fn read(artifact: &Artifact, lifecycle: Option<&Arc<Lifecycle>>) -> StoryState {
        let key = LedgerKey::of_artifact(artifact, lifecycle.map(|own| &**own));
        let Some(key) = key.filter(|_| artifact.state().kind.is_none()) else { return StoryState::Other };
        let is_story = key.is_story() && artifact.has_story_heading();
        let state = artifact.state();
        let Some(status) = state.status.as_ref().and_then(Field::filled).filter(|word| is_word(word)) else {
            let is_waiting = is_story && (artifact.is_story() || state.status.is_some());
            return if is_waiting { StoryState::Waiting } else { StoryState::Other };
        };
        StoryState::Told(Box::new(Self {
            path: artifact.path().clone(),
            key,
            status: status.to_owned(),
            line: state.body_status.clone(),
            lifecycle: lifecycle.cloned(),
            belongs_in_ledger: is_story && key.part != LedgerPart::Named && !is_story_spec(artifact.path()),
        }))
    }

    /// Its name: the key that a ledger has for it, if that lists it by its name.
    pub fn name(&self) -> &str {
        LedgerKey::of(&self.path).map_or_else(|| self.path.file_stem(), |(_, name)| name)
    }

    /// Its `Status:` line, if that differs from the frontmatter.
    pub fn other_line(&self) -> Option<&BodyStatus> {
        let differs = |line: &&BodyStatus| !is_same_status(&line.text, &self.status);
        self.line.as_ref().filter(|_| self.key.is_story()).filter(differs)
    }

    pub fn words(&self) -> LedgerWords<'_> {
        LedgerWords::new(self.lifecycle.as_deref(), self.key, &self.path)
    }
}

/// Returns whether a text is a status on one line rather than an unfilled template.
pub(super) fn is_word(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(['{', '}', '\n', '\r'])
}

impl Artifact {
    /// Returns whether the file is a story of BMAD, which needs no frontmatter: its name, its heading and its
    /// `Status:` line say so.
    pub(crate) fn is_story(&self) -> bool {
        self.state().body_status.is_some()
            && self.has_story_heading()
            && (story_key(self.path()).is_some() || self.is_called_as_its_heading())
    }

    /// Any text may begin with the word `Story`: one has a key, the name of the file, or a colon there.
    pub(super) fn is_called_as_its_heading(&self) -> bool {
        let name = self.path().file_stem();
        let is_named = |heading: String| {
            let called = heading.split_whitespace().nth(1).map(|word| word.trim_end_matches(':'));
            heading.starts_with("Story:") || called == Some(name)
        };
        is_issue_key(name) || self.first_heading().is_some_and(is_named)
    }

    pub(super) fn has_story_heading(&self) -> bool {
        let first = |heading: String| matches!(heading.split_whitespace().next(), Some("Story" | "Story:"));
        self.first_heading().is_some_and(first)
    }
}

impl TrackedArtifact {
    /// Returns whether only its body or ledger says its status: nothing follows it until an import.
    pub fn waits_for_import(&self) -> bool {
        let lifecycle = self.lifecycle().map(|choice| &choice.lifecycle);
        matches!(Story::read(self.artifact(), lifecycle), StoryState::Waiting)
    }
}

/// The file of `story`, which has `bytes`, with its line brought to the frontmatter where it differs.
pub fn project_line(story: &Story, bytes: &[u8], is_forced: bool) -> LedgerChange {
    let line = story.other_line();
    let entry = |line: &BodyStatus| LedgerEntry {
        story: story.path.clone(),
        file: story.path.clone(),
        key: story.name().to_owned(),
        location: EntryLocation::StatusLine,
        from: Some(line.text.clone()),
        status: story.status.clone(),
        // People compare it with the frontmatter above it, so it is the same word.
        to: story.status.clone(),
        is_foreign: !story.words().have(&line.text),
    };
    let (mut change, entries) = LedgerChange::sorted(line.map(entry), is_forced);
    for entry in entries {
        change.bytes = write_line(&story.path, bytes, &entry.to);
        match change.bytes {
            Some(_) => change.written.push(entry),
            None => {
                let reason = "the line would not say that afterwards".to_owned();
                change.left.push(LedgerLeft { entry, reason });
            }
        }
    }
    change
}

/// The file at `path` with `word` in its line `Status:`; `None` where there is no such line, or it would not
/// say that afterwards. No byte outside the old word differs.
fn write_line(path: &ProjectPath, bytes: &[u8], word: &str) -> Option<Vec<u8>> {
    let before = Artifact::read(path.clone(), bytes.to_vec());
    let Span { start, end } = before.state().body_status.as_ref()?.span;
    let bytes = [&bytes[..start], word.as_bytes(), &bytes[end..]].concat();
    let after = Artifact::read(path.clone(), bytes);
    let is_said = after.state().body_status.as_ref().is_some_and(|line| line.text == word);
    let is_same_state = match (before.state_value(), after.state_value()) {
        (Ok(before), Ok(after)) => before == after,
        _ => false,
    };
    (is_word(word) && is_said && is_same_state).then(|| after.bytes().to_vec())
}

/// The file at `path` with `status` in its frontmatter, which is made where there is none, and in its line
/// `Status:`. Nothing else differs; a body keeps every byte but that word.
pub fn with_status(path: &ProjectPath, bytes: &[u8], status: &str) -> Result<Vec<u8>, EditError> {
    let document = Document::scan(bytes);
    if document.misplaced_frontmatter().is_some() {
        return Err(RegionError::NoFrontmatter.into());
    }
    let edited = match document.frontmatter() {
        Frontmatter::Absent => {
            let line_end = LineEnding::first_of(bytes).unwrap_or(LineEnding::Lf);
            replace_frontmatter(bytes, &format!("status:{}", line_end.as_str())).bytes
        }
        Frontmatter::Present { .. } | Frontmatter::Unclosed { .. } => bytes.to_vec(),
    };
    let edit = Edit::Set { path: KeyPath::key("status"), value: Value::from(status) };
    let edited = apply(&edited, &Region::Frontmatter, &[edit])?.bytes;
    let artifact = Artifact::read(path.clone(), edited);
    let line = artifact.state().body_status.as_ref();
    let line_differs = line.is_some_and(|line| !is_same_status(&line.text, status));
    let said = artifact.state().status.as_ref().and_then(Field::filled).unwrap_or(status);
    let with_line = line_differs.then(|| write_line(path, artifact.bytes(), said)).flatten();
    Ok(with_line.unwrap_or_else(|| artifact.bytes().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stories_are_told_apart_from_other_files() {
        for (path, text, expected) in [
            ("1-1-a.md", "---\nstatus: review\n---\n# Story 1.1\n", "told review, belongs"),
            ("1-1-a.md", "---\nstatus: review\n---\n# Notes\n", "told review"),
            ("spec-1-1-a.md", "---\nstatus: in-review\n---\n# Story 1.1\n", "told in-review"),
            ("spec-fix.md", "---\nstatus: in-review\n---\n# Story 1.1\n", "other"),
            ("prd.md", "---\nstatus: review\n---\n# Story\n", "other"),
            ("login_page.md", "---\nstatus: review\n---\n# Story: Login\n", "told review"),
            ("login_page.md", "---\nstatus: review\n---\n# Login\n", "other"),
            ("login_page.md", "# Story login_page: Login\n\nStatus: review\n", "waiting"),
            ("epic-1.md", "---\nstatus: done\n---\n# Epic 1\n", "told done"),
            ("1-1-a.md", "# Story 1.1\n\nStatus: review\n", "waiting"),
            ("1-1-a.md", "---\nstatus: '{{status}}'\n---\n# Story 1.1\n", "waiting"),
            ("1-1-a.md", "# Notes\n\nStatus: review\n", "other"),
            ("epic-1.md", "# Epic 1\n", "other"),
        ] {
            let artifact = Artifact::read(ProjectPath::new(path).unwrap(), text.as_bytes().to_vec());
            let said = match Story::read(&artifact, None) {
                StoryState::Told(story) => {
                    format!("told {}{}", story.status, if story.belongs_in_ledger { ", belongs" } else { "" })
                }
                StoryState::Waiting => "waiting".to_owned(),
                StoryState::Other => "other".to_owned(),
            };
            assert_eq!(said, expected, "{path} {text:?}");
        }
    }
}

#[cfg(test)]
mod status_line_tests {
    use super::*;
    use crate::bmad::sprint::StoryState;

    /// The line afterwards; `None` where it stays, `left` where only a person may replace it.
    fn projected(text: &str) -> Option<String> {
        let artifact = Artifact::read(ProjectPath::new("1-1-a.md").unwrap(), text.as_bytes().to_vec());
        let StoryState::Told(story) = Story::read(&artifact, None) else { panic!("{text:?}") };
        let change = project_line(&story, text.as_bytes(), false);
        let written = change.written.into_iter().map(|entry| entry.to);
        written.chain(change.refused.into_iter().map(|_| "left".to_owned())).next()
    }

    #[test]
    fn the_line_says_the_word_of_the_frontmatter() {
        let text = |line: &str| format!("---\nstatus: in-review\n---\n# Story 1.1\n\n{line}\n");
        for (line, expected) in [
            ("Status: in-review", None),
            ("Status: In-Review", None),
            ("Status: review", Some("in-review")),
            ("**Status:** ready-for-dev", Some("in-review")),
            ("Status: done", Some("in-review")),
            ("Status: done (two notes)", Some("in-review")),
            ("Status: shipped", Some("left")),
            ("Status: In Review.", None),
            ("No status", None),
        ] {
            assert_eq!(projected(&text(line)).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn only_the_word_is_replaced() {
        let path = ProjectPath::new("1-1-a.md").unwrap();
        let write = |text: &str, word: &str| {
            write_line(&path, text.as_bytes(), word).map(|bytes| String::from_utf8(bytes).unwrap())
        };
        for text in [
            "---\nstatus: done\n---\n# Story\n\nStatus: WORD\n\nStatus: later\n",
            "---\r\nstatus: done\r\n---\r\n# Story\r\n**Status:** WORD  \r\nx",
            "\u{feff}---\nstatus: done\n---\n**Status: WORD**\n",
        ] {
            let expected = text.replace("WORD", "done");
            assert_eq!(write(&text.replace("WORD", "in-progress"), "done"), Some(expected));
        }
        assert_eq!(write("---\nstatus: done\n---\n# Story\n", "done"), None);
        assert_eq!(write("---\nstatus: done\n---\nStatus: x\n", "a\nb"), None);
        assert_eq!(write("---\nstatus: done\n---\nStatus: x\n", "*"), None);
    }

    #[test]
    fn frontmatter_is_made_and_the_body_stays() {
        let path = ProjectPath::new("1-1-a.md").unwrap();
        let write = |text: &str| {
            with_status(&path, text.as_bytes(), "review").map(|bytes| String::from_utf8(bytes).unwrap())
        };
        for (before, after) in [
            (
                "# Story 1.1\n\nStatus: done\n\n---\na: 1\n",
                "---\nstatus: review\n---\n# Story 1.1\n\nStatus: review\n\n---\na: 1\n",
            ),
            (
                "# Story 1.1\r\nStatus: Review\r\n",
                "---\r\nstatus: review\r\n---\r\n# Story 1.1\r\nStatus: Review\r\n",
            ),
            ("\u{feff}# Story\n", "\u{feff}---\nstatus: review\n---\n# Story\n"),
            ("---\nid: 7 # x\n---\n# Story\n", "---\nid: 7 # x\nstatus: review\n---\n# Story\n"),
            ("---\n---\n# Story\n", "---\nstatus: review\n---\n# Story\n"),
            (
                "---\nstatus: 'done' # y\n---\n# Story\n\nStatus: x",
                "---\nstatus: 'review' # y\n---\n# Story\n\nStatus: review",
            ),
        ] {
            assert_eq!(write(before).as_deref(), Ok(after));
            assert_eq!(write(after).as_deref(), Ok(after), "a second time nothing is written");
        }
        assert!(write("---\nstatus: a\nstatus: b\n---\n").is_err());
        assert!(write("---\nstatus: a\n# Story\n").is_err());
        assert!(write("# Story\n---\nstatus: a\n---\n").is_err(), "misplaced");
    }
}
