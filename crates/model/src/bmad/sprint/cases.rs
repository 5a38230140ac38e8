//! Random ledgers: after the projection all agree, a second one writes nothing, and no byte outside of values
//! differs.

use jiff::Zoned;
use proptest::prelude::*;

use super::{LedgerEntry, Story, StoryState, entries::listed_entries, project_ledger, project_line};
use crate::{
    artifact::{Artifact, ProjectPath},
    bmad::sprint::SprintStatus,
};

const WORDS: [&str; 8] = [
    "backlog",
    "drafted",
    "ready-for-dev",
    "in-progress",
    "review",
    "done",
    "cancelled",
    "awaiting-operator",
];

/// A story in a ledger: whether it is listed, its word there, how that is written, what stands around it, and
/// its own word.
type Row = (bool, usize, u8, u8, usize);

fn quoted(word: &str, style: u8) -> String {
    match style {
        0 => word.to_owned(),
        1 => format!("'{word}'"),
        _ => format!("\"{word}\""),
    }
}

fn ledger(rows: &[Row], line_end: &str, indent: usize) -> String {
    let pad = " ".repeat(indent);
    let mut lines = vec!["# Keep: this".to_owned(), "last_updated: '2026: noon'".to_owned()];
    lines.push("development_status:".to_owned());
    lines.push(format!("{pad}epic-1: in-progress"));
    for (at, (is_listed, word, style, around, _)) in rows.iter().enumerate() {
        if !is_listed {
            continue;
        }
        if around & 1 != 0 {
            lines.push(format!("{pad}# about {at}: x"));
        }
        let comment = if around & 2 != 0 { "  # why" } else { "" };
        lines.push(format!("{pad}1-{at}-s: {}{comment}", quoted(WORDS[*word], *style)));
        if around & 4 != 0 {
            lines.push(String::new());
        }
    }
    lines.push("after: [a,  b] # end".to_owned());
    lines.join(line_end) + line_end
}

fn stories(rows: &[Row]) -> Vec<Story> {
    let read = |(at, row): (usize, &Row)| {
        let path = ProjectPath::new(format!("1-{at}-s.md")).unwrap();
        let text = format!("---\nstatus: {}\n---\n# Story 1.{at}\n", WORDS[row.4]);
        match Story::read(&Artifact::read(path, text.into_bytes()), None) {
            StoryState::Told(story) => *story,
            other => panic!("{other:?}"),
        }
    };
    rows.iter().enumerate().map(read).collect()
}

fn entries(bytes: &[u8], stories: &[Story]) -> Vec<LedgerEntry> {
    let path = ProjectPath::new("sprint-status.yaml").unwrap();
    listed_entries(&path, &SprintStatus::read(bytes).unwrap(), &stories.iter().collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn after_a_projection_all_agree(
        rows in prop::collection::vec((any::<bool>(), 0..WORDS.len(), 0..3_u8, 0..8_u8, 0..WORDS.len()), 1..20),
        is_crlf in any::<bool>(),
        indent in 1..5_usize,
    ) {
        let line_end = if is_crlf { "\r\n" } else { "\n" };
        let before = ledger(&rows, line_end, indent);
        let stories = stories(&rows);
        let path = ProjectPath::new("sprint-status.yaml").unwrap();
        let all: Vec<&Story> = stories.iter().collect();
        let done = project_ledger(&path, before.as_bytes(), &all, [true, true], &Zoned::default()).unwrap();
        prop_assert!(done.left.is_empty(), "{:?}", done.left);
        let bytes = done.bytes.unwrap_or_else(|| before.clone().into_bytes());
        let read = SprintStatus::read(&bytes).unwrap();
        for story in &stories {
            let said = read.status(story.name()).unwrap_or_default();
            prop_assert!(story.words().is_same(said, &story.status), "{}: {said}", story.name());
        }
        prop_assert_eq!(entries(&bytes, &stories), []);
        // Line by line: what is no entry of a story is the same, and an entry keeps all but its word.
        let after = String::from_utf8(bytes).unwrap();
        let came_in = |line: &&str| {
            let name = line.trim().split(':').next().unwrap_or_default().to_owned();
            !before.contains(&format!("{name}:"))
        };
        let kept: Vec<&str> = after.split(line_end).filter(|line| !came_in(line)).collect();
        let old: Vec<&str> = before.split(line_end).collect();
        prop_assert_eq!(kept.len(), old.len(), "{}", after);
        let shape = |line: &str| WORDS.iter().fold(line.to_owned(), |line, word| line.replace(word, "W"));
        for (old, new) in old.iter().zip(kept) {
            prop_assert_eq!(shape(old), shape(new));
        }
    }

    #[test]
    fn a_line_changes_in_its_word_alone(
        own in 0..WORDS.len(), said in 0..WORDS.len(), is_bold in any::<bool>(), is_crlf in any::<bool>(), body in "[ -~]{0,30}",
    ) {
        let end = if is_crlf { "\r\n" } else { "\n" };
        let label = if is_bold { "**Status:**" } else { "Status:" };
        let text = |word: &str| format!("---{end}status: {}{end}---{end}# Story 1.1{end}{end}{label} {word}{end}{end}- {body}{end}", WORDS[own]);
        let path = ProjectPath::new("1-1-s.md").unwrap();
        let projected = |text: &str| match Story::read(&Artifact::read(path.clone(), text.as_bytes().to_vec()), None) {
            StoryState::Told(story) => project_line(&story, text.as_bytes(), true).bytes,
            other => panic!("{other:?}"),
        };
        let expected = (own != said).then(|| text(WORDS[own]).into_bytes());
        prop_assert_eq!(projected(&text(WORDS[said])), expected);
        prop_assert_eq!(projected(&text(WORDS[own])), None);
    }
}
