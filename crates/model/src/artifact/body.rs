//! State in the body, outside the frontmatter.

use super::{Diagnosis, Field, Problem, ProjectPath, state_region};
use memchr::memmem;
use stepmark_frontmatter::{Document, Region, Span, heading_title, merge_conflict};

pub use stepmark_packs::Kind;

/// A body line `Status: review`, as in stories (docs/formats.md, "Sprint status and stories").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyStatus {
    pub text: String,
    pub span: Span,
    pub has_more: bool,
}

const PHRASES: [&str; 10] = [
    "ready for development",
    "ready for review",
    "ready for dev",
    "awaiting operator",
    "in progress",
    "in review",
    "not started",
    "on hold",
    "to do",
    "won't do",
];

const HEAD_LINES: usize = 20;

/// Ignores case, blanks, hyphens and underscores.
pub fn is_same_status(one: &str, other: &str) -> bool {
    let letters = |word: &str| -> String {
        word.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).flat_map(char::to_lowercase).collect()
    };
    letters(one) == letters(other)
}

/// The first `Status:` line above the first section, and headings that should be keys.
pub(super) fn read(document: &Document<'_>, found: &mut Vec<Diagnosis>) -> Option<BodyStatus> {
    let body = document.body();
    let bytes = &document.bytes()[body.range()];
    let mut looked_at = 0;
    for at in memmem::find_iter(bytes, b"stepsCompleted") {
        if at < looked_at {
            continue;
        }
        let line = line_around(bytes, at);
        looked_at = line.end;
        if is_steps_heading(&bytes[line.range()]) {
            found.push(Diagnosis::new(Problem::StepsInBody, line.shifted(body.start)));
        }
    }
    if conflict_below(document).is_some() {
        return None;
    }
    let at = head_lines(bytes).find_map(status_at)?;
    let line = line_around(bytes, at);
    let value = Span::new(at + b"Status:".len(), line.end);
    let text = String::from_utf8_lossy(&bytes[value.range()]);
    let is_mark = |c: char| matches!(c, ' ' | '\t' | '*' | '`' | '\'' | '"');
    let blanks = text.len() - text.trim_start_matches(is_mark).len();
    let text = &text[blanks..];
    let word =
        text[..word_end(text)].trim_end_matches(is_mark).trim_end_matches('.').trim_end_matches(is_mark);
    let start = body.start + value.start + blanks;
    let is_end = |c: char| is_mark(c) || c == '.';
    (!word.is_empty()).then(|| BodyStatus {
        span: Span::new(start, start + word.len()),
        text: word.to_owned(),
        has_more: !text[word.len()..].trim_matches(is_end).is_empty(),
    })
}

fn word_end(text: &str) -> usize {
    let phrase = PHRASES.iter().find(|phrase| {
        let begins = text.get(..phrase.len()).is_some_and(|text| text.eq_ignore_ascii_case(phrase));
        begins && !text[phrase.len()..].starts_with(char::is_alphanumeric)
    });
    let word = || text.find(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | ',' | ';' | ':' | '|'));
    phrase.map_or_else(|| word().unwrap_or(text.len()), |phrase| phrase.len())
}

/// Lines with offsets, up to the first heading below the title, without fences.
fn head_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let (mut at, mut titles, mut fence) = (0, 0, Fence::default());
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').take(HEAD_LINES).map(move |line| {
        at += line.len();
        (at - line.len(), line)
    });
    let head = lines.take_while(move |(_, line)| {
        titles += usize::from(line.starts_with(b"# "));
        titles < 2 && !line.starts_with(b"##")
    });
    head.filter(move |(_, line)| !fence.holds(line))
}

#[derive(Default)]
struct Fence(Option<(u8, usize)>);

impl Fence {
    fn holds(&mut self, line: &[u8]) -> bool {
        let line = line.trim_ascii();
        let mark = line.first().copied().filter(|byte| matches!(byte, b'`' | b'~'));
        let length = mark.map_or(0, |mark| line.iter().take_while(|byte| **byte == mark).count());
        match (self.0, mark) {
            (None, Some(mark)) if length >= 3 => self.0 = Some((mark, length)),
            (Some((open, least)), Some(mark)) if mark == open && length >= least && length == line.len() => {
                self.0 = None;
            }
            (open, _) => return open.is_some(),
        }
        true
    }
}

pub(super) fn conflict_below(document: &Document<'_>) -> Option<usize> {
    let (bytes, body) = (document.bytes(), document.body());
    let begin = merge_conflict(bytes, body)?;
    let (mut at, mut fence) = (body.start, Fence::default());
    for line in bytes[body.range()].split_inclusive(|byte| *byte == b'\n') {
        let is_code = fence.holds(line);
        if at >= begin && !is_code && merge_conflict(bytes, Span::new(at, at + line.len())).is_some() {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// Task boxes outside code, with their tick. `[~]`, `[ x]` and `[]` are unticked; links do not count.
pub(super) fn boxes(text: &str) -> Vec<(Span, bool)> {
    let (mut found, mut at, mut fence) = (Vec::new(), 0, Fence::default());
    for line in text.split_inclusive('\n') {
        if !fence.holds(line.as_bytes())
            && let Some((start, end)) = box_in(line)
        {
            found.push((Span::new(at + start, at + end), matches!(&line[start + 1..end - 1], "x" | "X")));
        }
        at += line.len();
    }
    found
}

pub fn with_plain_boxes(text: &str) -> String {
    let (mut plain, mut at) = (String::with_capacity(text.len()), 0);
    for (span, is_ticked) in boxes(text) {
        plain.push_str(&text[at..span.start]);
        plain.push_str(if is_ticked { "[x]" } else { "[ ]" });
        at = span.end;
    }
    plain + &text[at..]
}

fn box_in(line: &str) -> Option<(usize, usize)> {
    let point = line.trim_start_matches([' ', '\t', '>']);
    let number = point.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = number.len() < point.len() && number.starts_with(['.', ')']);
    let behind = if is_number { &number[1..] } else { point.strip_prefix(['-', '+', '*'])? };
    let rest = behind.trim_start_matches([' ', '\t']);
    let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
    let mut marks = inside.trim().chars();
    let is_mark = marks.next().is_none_or(|c| matches!(c, 'x' | 'X') || !c.is_alphanumeric());
    let is_box = rest.len() < behind.len() && is_mark && marks.next().is_none() && inside.len() < 4;
    let start = line.len() - rest.len();
    (is_box && after.chars().next().is_none_or(char::is_whitespace))
        .then_some((start, start + inside.len() + 2))
}

/// `## stepsCompleted:`. A heading that only mentions the key does not match.
fn is_steps_heading(line: &[u8]) -> bool {
    let after_key = heading_title(line).and_then(|title| title.strip_prefix(b"stepsCompleted"));
    after_key.is_some_and(|rest| matches!(rest.trim_ascii_start(), [] | [b':', ..]))
}

/// `Status:` at the start of a line, bold or not.
fn status_at((start, line): (usize, &[u8])) -> Option<usize> {
    let marks = line.iter().take_while(|byte| **byte == b'*').count();
    line[marks..].starts_with(b"Status:").then_some(start + marks)
}

fn line_around(bytes: &[u8], at: usize) -> Span {
    let start = memchr::memrchr2(b'\n', b'\r', &bytes[..at]).map_or(0, |end| end + 1);
    let end = memchr::memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |end| at + end);
    Span::new(start, end)
}

pub const KIND_KEY: &str = "stepmark_kind";

/// For artifacts without a kind, or with one that names no agent key.
const AGENT_KEYS: [&str; 3] = ["assignee", "agent", "owner"];

pub(super) fn of_file(path: &ProjectPath) -> Option<&'static Kind> {
    (state_region(path) != Region::Frontmatter).then(|| Kind::named("autodev"))?
}

pub(super) fn fields(kind: Option<&Kind>, field: impl Fn(&str) -> Option<Field>) -> KindFields {
    let filled = |key: &str| field(key).filter(|field| field.filled().is_some());
    let own = |key: fn(&Kind) -> Option<&str>| filled(kind.and_then(key)?);
    let title = own(|kind| kind.title.as_deref()).and_then(|field| {
        let line = field.text.lines().map(str::trim).find(|line| !line.is_empty())?.to_owned();
        Some(Field { text: line, ..field })
    });
    let agent = match kind.and_then(|kind| kind.agent.as_deref()) {
        Some(key) => filled(key),
        None => AGENT_KEYS.into_iter().find_map(filled),
    };
    KindFields { title, parent: own(|kind| kind.parent.as_deref()), agent }
}

#[derive(Debug, Default)]
pub(super) struct KindFields {
    pub(super) title: Option<Field>,
    pub(super) parent: Option<Field>,
    pub(super) agent: Option<Field>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str) -> Option<String> {
        let found = read(&Document::scan(text.as_bytes()), &mut Vec::new())?;
        assert_eq!(&text.as_bytes()[found.span.range()], found.text.as_bytes());
        Some(found.text)
    }

    #[test]
    fn finds_the_status_line_of_a_story() {
        assert_eq!(status("# Story 1.1\n\nStatus: review\n"), Some("review".to_owned()));
        assert_eq!(status("---\na: 1\n---\n**Status:** in-progress\r\n"), Some("in-progress".to_owned()));
        for marked in
            ["`done`", "done.", "**done**.", "`done`.", " 'done'", "*`done`*", "\"done.\"", "** done"]
        {
            assert_eq!(status(&format!("Status: {marked}\n")), Some("done".to_owned()), "{marked}");
        }
        for (line, word) in [
            ("review (2 findings left)", "review"),
            ("Ready for Dev, says Ana", "Ready for Dev"),
            ("**APPROVED** by all", "APPROVED"),
            ("done - closed", "done"),
        ] {
            assert_eq!(status(&format!("# 1\n\nStatus: {line}\n")), Some(word.to_owned()));
        }
        for none in ["# 1\n\n## Log\n\nStatus: done\n", "# 1\n```\nStatus: done\n```\n", "> Status: done\n"] {
            assert_eq!(status(none), None, "{none}");
        }
        assert_eq!(status("Status: `.`\n"), None);
        assert_eq!(status("The Status: none\nStatus:\n"), None);
        assert_eq!(status("---\nStatus: done\n---\n"), None);
    }

    #[test]
    fn boxes_are_counted_however_they_are_written() {
        let text = "- [x] One\n- [~] Two\n1. [ ] Three\n+ [ ] Four\n- [ x] Five\n- [] Six\n  * [X] Seven\n\
                    - [A](https://example.org)\n- [x](y)\n- [1] note\n[ ] no point\n```\n- [ ] code\n```\n";
        let found = boxes(text);
        assert_eq!((found.len(), found.iter().filter(|(_, is_ticked)| *is_ticked).count()), (7, 2));
        let plain = with_plain_boxes(text);
        assert!(plain.starts_with("- [x] One\n- [ ] Two\n1. [ ] Three\n+ [ ] Four\n- [ ] Five\n- [ ] Six\n"));
        assert_eq!(boxes(&plain).len(), 7);
    }

    #[test]
    fn a_heading_that_should_be_a_key_is_reported() {
        let mut found = Vec::new();
        read(
            &Document::scan(
                b"# PRD\n## stepsCompleted: [1]\nabout stepsCompleted\n### If `stepsCompleted` is empty\n",
            ),
            &mut found,
        );
        assert_eq!(found, [Diagnosis::new(Problem::StepsInBody, Span::new(6, 28))]);
    }
}

#[cfg(test)]
mod kind_tests {
    use crate::artifact::{Artifact, Delegation};

    use super::*;

    fn read(path: &str, text: &str) -> Artifact {
        Artifact::read(ProjectPath::new(path).unwrap(), text.as_bytes().to_vec())
    }

    #[test]
    fn each_kind_has_a_name_of_its_own() {
        for kind in Kind::all().iter().copied() {
            assert_eq!(Kind::named(&kind.name), Some(kind));
            assert!(!kind.plural.is_empty() && (!kind.is_work || !kind.commands.is_empty()), "{kind:?}");
        }
    }

    #[test]
    fn a_record_is_seen_through_its_kind() {
        for (text, title, parent, agent) in [
            ("description: Parse\nclaimed_by: w1\nparent_id: t0\nowner: ana", "Parse", "t0", "w1"),
            ("description: |\n\n  Parse it\n  all\ntitle: other\nowner: ana", "Parse it", "-", "-"),
            ("title: Named\nclaimed_by: null\nparent_id: ''", "Named", "-", "-"),
        ] {
            let file = format!("---\nid: t1\nstatus: available\n{text}\nstepmark_kind: task\n---\n");
            let state = read("t1.md", &file).state().clone();
            let said =
                |field: &Option<Field>| field.as_ref().and_then(Field::filled).unwrap_or("-").to_owned();
            let above = state.delegation.as_ref().and_then(Delegation::parent_id).unwrap_or("-");
            let found = (said(&state.title), above, said(&state.agent));
            assert_eq!(found, (title.to_owned(), parent, agent.to_owned()), "{file}");
        }
    }

    #[test]
    fn an_artifact_of_no_kind_is_read_as_ever() {
        for kind in ["", "stepmark_kind: other\n", "stepmark_kind: [task]\n"] {
            let file =
                format!("---\n{kind}status: draft\ndescription: D\nparent_id: p\nagent: a\nowner: b\n---\n");
            let state = read("a.md", &file).state().clone();
            assert!(state.kind.is_none() && state.title.is_none() && state.delegation.is_none(), "{file}");
            assert_eq!(state.agent.map(|agent| agent.text).as_deref(), Some("a"), "{file}");
        }
    }

    #[test]
    fn every_record_is_an_artifact() {
        for (path, text, name) in [
            ("a.md", "---\nstepmark_kind: agent\nagent: w1\n---\n", "agent"),
            ("d.md", "---\nid: d1\nstepmark_kind: discovery\n---\nFound\n", "discovery"),
            ("_docs/_autodev_state.md", "## Current Step\nstep: 3\n", "autodev"),
        ] {
            let artifact = read(path, text);
            assert!(artifact.is_tracked(), "{path}");
            assert_eq!(artifact.state().kind.map(|kind| kind.name.as_str()), Some(name));
        }
    }

    #[test]
    fn the_state_says_the_command() {
        let task = Kind::named("task").unwrap();
        assert_eq!(task.command("available", "t1").as_deref(), Some("task claim t1"));
        assert_eq!(task.command("claimed", "a b").as_deref(), Some("task start 'a b'"));
        assert_eq!(task.command("done", "t1"), None);
        assert_eq!(task.mover().as_deref(), Some("stepmark task"));
    }
}
