//! Titles of artifacts.

use std::{fmt::Write as _, str::FromStr};

use super::{Hangs, Inline, TicketSettings};
use crate::{Error, Result, scalar::deserialize_as_scalar};
use stepmark_model::{
    artifact::{Artifact, Field, FileHash, ProjectPath},
    workflow::{StepForm, StepId, Track},
};

/// Its `title` or `name`, else its first heading, else the project that it names, else its file. In unfilled
/// templates (`# PRD - {{project_name}}`) the text beside the places counts.
pub(super) fn title(artifact: &Artifact) -> String {
    let named = artifact.state().title.as_ref();
    let of = |field: Option<&Field>| field.and_then(Field::filled).and_then(without_places);
    // Many artifacts share the project's name.
    let is_of_project = |field: &&Field| field.key == "project_name";
    let body = artifact.document().body();
    let text = String::from_utf8_lossy(&artifact.bytes()[body.range()]);
    of(named.filter(|field| !is_of_project(field)))
        .or_else(|| first_heading(&text).and_then(without_places))
        .or_else(|| of(named.filter(is_of_project)))
        .unwrap_or_else(|| artifact.path().file_stem().to_owned())
}

/// Drops `{{name}}` and its separators; `None` if nothing is left.
fn without_places(text: &str) -> Option<String> {
    const BINDS: [char; 9] = [' ', '\t', '-', '–', '—', ':', '|', ',', '/'];
    let mut kept = text.trim().to_owned();
    while let Some((before, after)) =
        kept.split_once("{{").and_then(|(before, rest)| Some((before, rest.split_once("}}")?.1)))
    {
        let (before, after) = (before.trim_end_matches(BINDS), after.trim_start_matches(BINDS));
        kept = if before.is_empty() || after.is_empty() {
            format!("{before}{after}")
        } else {
            format!("{before} {after}")
        };
    }
    (!kept.is_empty()).then_some(kept)
}

/// Level 1, outside of code.
pub(super) fn first_heading(markdown: &str) -> Option<&str> {
    let mut fence: Option<&str> = None;
    for line in markdown.lines() {
        let bare = line.trim_start();
        let is_indented = line.len() - bare.len() > 3;
        match fence {
            Some(open) if bare.starts_with(open) => fence = None,
            Some(_) => {}
            None if is_indented => {}
            None if bare.starts_with("```") => fence = Some("```"),
            None if bare.starts_with("~~~") => fence = Some("~~~"),
            None => {
                let title =
                    bare.strip_prefix("# ").map(|title| title.trim_end_matches([' ', '\t', '#']).trim());
                if let Some(title) = title.filter(|title| !title.is_empty()) {
                    return Some(title);
                }
            }
        }
    }
    None
}

/// `2b · Executive summary` for `step-02b-executive-summary`; others are kept.
pub(super) fn step_name(spelling: &str) -> Inline {
    let step = StepId::parse(spelling);
    let shown = match step.form() {
        StepForm::Numbered { number, track, slug } => {
            // The usual track is not named.
            let track = track
                .filter(|track| *track != Track::Create)
                .map(|track| format!("{} ", sentence(&track.to_string())));
            let track = track.unwrap_or_default();
            match slug {
                Some(slug) => format!("{track}{number} · {}", sentence(slug)),
                None if track.is_empty() => format!("Step {number}"),
                None => format!("{track}{number}"),
            }
        }
        StepForm::Named(name) => sentence(name),
        StepForm::Words => return Inline::Code(spelling.to_owned()),
    };
    let mark = if step.is_skipped() { " (skipped)" } else { "" };
    Inline::Text(format!("{shown}{mark}"))
}

fn sentence(slug: &str) -> String {
    let words = slug.split(['-', '_']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

const CELLS: usize = 20;

/// Full only if all is done, empty only if nothing is.
pub(super) fn bar(done: usize, total: usize) -> String {
    let done = done.min(total);
    let filled = match done {
        0 => 0,
        _ if done == total => CELLS,
        _ => (done * CELLS / total).clamp(1, CELLS - 1),
    };
    "█".repeat(filled) + &"░".repeat(CELLS - filled)
}

/// SHA-256 of all that a ticket is made from, so one key, one ticket.
#[derive(Debug)]
pub(crate) struct TicketKeys {
    common: FileHash,
}

impl TicketKeys {
    pub(crate) fn new(settings: &TicketSettings) -> Self {
        Self {
            common: FileHash::of(
                format!("{} told {settings:?}", super::desired::CANONICAL_SCHEMA).as_bytes(),
            ),
        }
    }

    /// `content` is a [`content_key`](stepmark_store::checking::SummaryRow::content_key).
    pub(crate) fn of(&self, content: &FileHash, hangs: Hangs<'_>) -> FileHash {
        let parent = match hangs {
            Hangs::Alone => String::new(),
            Hangs::Below(parent) => parent.to_string(),
            Hangs::Beside(parent, path) => format!("{parent} {path}"),
        };
        FileHash::of(&[self.common.as_bytes(), &content.as_bytes()[..], parent.as_bytes()].concat())
    }
}

/// `https://github.com/owner/name/blob/main/{path}`: on a branch, since with a commit in it every commit
/// would change every ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileUrl {
    before: String,
    after: String,
}

impl FileUrl {
    pub fn of(&self, path: &ProjectPath) -> String {
        format!("{}{}{}", self.before, percent_encoded(path.as_str()), self.after)
    }
}

pub(super) fn percent_encoded(text: &str) -> String {
    let mut url = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            true => url.push(char::from(byte)),
            // Writing to a text cannot fail.
            false => drop(write!(url, "%{byte:02X}")),
        }
    }
    url
}

pub(super) fn percent_decoded(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut pieces = encoded.split('%');
    bytes.extend(pieces.next()?.bytes());
    for piece in pieces {
        let (digits, rest) = (piece.get(..2)?, piece.get(2..)?);
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(rest.bytes());
    }
    String::from_utf8(bytes).ok()
}

impl FromStr for FileUrl {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong =
            |reason| Error::usage(format!("`{text}` cannot be used as the address of files: {reason}"));
        if !text.starts_with("https://") && !text.starts_with("http://") {
            return Err(wrong("it begins with neither `https://` nor `http://`"));
        }
        if text.contains(|letter: char| {
            letter.is_whitespace() || letter.is_control() || "<>\"`\\".contains(letter)
        }) {
            return Err(wrong("a blank, a quote or an angle bracket stands in it: percent-encode it"));
        }
        match text.split_once("{path}") {
            Some((before, after)) if !after.contains("{path}") => {
                Ok(Self { before: before.to_owned(), after: after.to_owned() })
            }
            _ => Err(wrong("`{path}` must stand in it once")),
        }
    }
}

deserialize_as_scalar!(FileUrl);

#[cfg(test)]
mod tests {
    use stepmark_model::artifact::ProjectPath;

    use super::*;

    #[test]
    fn places_are_no_names() {
        for (text, expected) in [
            ("Plain - title", Some("Plain - title")),
            ("Product Requirements Document - {{project_name}}", Some("Product Requirements Document")),
            ("{{project_name}}", None),
            ("{{project_name}}: UX of {{date}}", Some("UX of")),
            ("Epic {{N}}: {{epic_title}}", Some("Epic")),
            ("Story {{a}} for {{b}} now", Some("Story for now")),
            ("Use of {{ in text", Some("Use of {{ in text")),
            ("{single} stays", Some("{single} stays")),
            (" ", None),
        ] {
            assert_eq!(without_places(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn the_best_name_counts() {
        for (text, expected) in [
            ("---\ntitle: A\n---\n# B\n", "A"),
            ("---\ntitle: ''\n---\n# B\n", "B"),
            ("---\nname: A\nproject_name: P\n---\n# B\n", "A"),
            ("---\nproject_name: P\n---\n# Architecture\n", "Architecture"),
            ("---\nproject_name: P\n---\n# {{title}}\n", "P"),
            ("---\nproject_name: '{{project_name}}'\n---\ntext\n", "own file"),
        ] {
            let path = ProjectPath::new("docs/own file.md").unwrap();
            assert_eq!(title(&Artifact::read(path, text.as_bytes().to_vec())), expected, "{text}");
        }
    }

    #[test]
    fn code_has_no_headings() {
        for (markdown, expected) in [
            ("# A b #\n", Some("A b")),
            ("\ntext\n# A\n# B\n", Some("A")),
            ("```sh\n# no\n```\n# Yes", Some("Yes")),
            ("~~~\n# no\n```\n# no\n~~~\n", None),
            ("    # code\n## two\n#\n#x\n", None),
        ] {
            assert_eq!(first_heading(markdown), expected, "{markdown}");
        }
    }
}

#[cfg(test)]
mod step_name_tests {
    use super::*;

    #[test]
    fn people_read_words() {
        for (spelling, expected) in [
            ("step-02c-executive-summary", "2c · Executive summary"),
            ("step-12-complete.md", "12 · Complete"),
            ("1.10", "Step 1.10"),
            ("3", "Step 3"),
            ("Step 1: Title", "1 · Title"),
            ("step-e-01-discovery", "Edit 1 · Discovery"),
            ("step-v-02b-parity-check", "Validate 2b · Parity check"),
            ("step-oneshot", "Oneshot"),
            ("step-03-success-skipped", "3 · Success (skipped)"),
        ] {
            assert_eq!(step_name(spelling), Inline::Text(expected.to_owned()), "{spelling}");
        }
        for words in ["edit-2026-02-24", "<!-- stepmark:end -->", ""] {
            assert_eq!(step_name(words), Inline::Code(words.to_owned()));
        }
    }

    #[test]
    fn is_full_and_empty_only_at_the_ends() {
        for (done, total, filled) in
            [(0, 0, 0), (0, 14, 0), (1, 100, 1), (7, 14, 10), (99, 100, 19), (14, 14, 20), (15, 14, 20)]
        {
            let bar = bar(done, total);
            let cells: Vec<char> = bar.chars().collect();
            assert_eq!(cells.len(), CELLS);
            assert_eq!(cells.iter().filter(|cell| **cell == '█').count(), filled, "{done}/{total}");
        }
    }
}

#[cfg(test)]
mod key_tests {
    use super::{super::sample::marker, *};

    #[test]
    fn whatever_a_ticket_is_made_from_counts() {
        let content = FileHash::of(b"content");
        let keys = TicketKeys::new(&TicketSettings::default());
        let (alone, b) = (Hangs::Alone, marker("b"));
        let own = keys.of(&content, alone);
        assert_eq!(own, keys.of(&content, alone));
        assert_ne!(own, keys.of(&FileHash::of(b"other"), alone));
        assert_ne!(own, keys.of(&content, Hangs::Below(&b)), "its parent");
        let settings = TicketSettings { not_planned: Vec::new(), ..TicketSettings::default() };
        assert_ne!(own, TicketKeys::new(&settings).of(&content, alone), "the settings");
    }
}

#[cfg(test)]
mod file_url_tests {
    use super::*;

    #[test]
    fn paths_are_percent_encoded() {
        let url: FileUrl = "https://host/o/r/blob/main/{path}?plain=1".parse().unwrap();
        let path = ProjectPath::new("docs/a (b) ü#1.md").unwrap();
        assert_eq!(url.of(&path), "https://host/o/r/blob/main/docs/a%20%28b%29%20%C3%BC%231.md?plain=1");
    }

    #[test]
    fn what_was_encoded_is_read_back() {
        for text in ["a", "status:in-progress", "ü %41 x", ""] {
            assert_eq!(percent_decoded(&percent_encoded(text)).as_deref(), Some(text));
        }
        for wrong in ["%4", "%", "%zz", "%FF"] {
            assert_eq!(percent_decoded(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in
            ["", "javascript:{path}", "https://host/", "https://host/{path}/{path}", "https://a b/{path}"]
        {
            assert!(text.parse::<FileUrl>().is_err(), "{text}");
        }
    }
}
