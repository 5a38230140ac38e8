//! The append-only memlog of BMAD 6.11 and later (`scripts/memlog.py`). Pure.
//!
//! Writes the same bytes as the script, except: comments and line ends are kept, and a key that would break
//! the head is refused.

use crate::artifact::{Artifact, ProjectPath};
use serde_json::{Map, Value as Json, json};
use stepmark_frontmatter::{CollectionStyle, LineEnding, Node, NodeKind};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memlog<'m> {
    /// Between the fences, with line ends.
    head: Vec<&'m str>,
    body: &'m str,
    line_end: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub struct MemlogEntry<'e> {
    pub text: &'e str,
    pub kind: Option<&'e str>,
    pub by: Option<&'e str>,
}

impl MemlogEntry<'_> {
    /// `- (TYPE by WHO) TEXT`; white space in the text is collapsed.
    pub fn line(&self) -> String {
        let text = on_one_line(self.text);
        let kind = self.kind.filter(|kind| !kind.is_empty()).map(str::to_owned);
        let by = self.by.filter(|by| !by.is_empty()).map(|by| format!("by {by}"));
        match kind.into_iter().chain(by).collect::<Vec<_>>() {
            parts if parts.is_empty() => format!("- {text}"),
            parts => format!("- ({}) {text}", parts.join(" ")),
        }
    }
}

const UPDATED: &str = "updated";

/// `now` is in BMAD's format (`2026-01-31T08:00`). The last of two equal keys counts.
pub fn new_memlog(fields: &[(String, String)], now: &str) -> Result<String, String> {
    let mut head: Vec<(&str, String)> = Vec::new();
    for (key, value) in fields.iter().filter(|(key, _)| key != UPDATED) {
        check_key(key)?;
        match head.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = one_line(value),
            None => head.push((key, one_line(value))),
        }
    }
    let head: String = head.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
    Ok(format!("---\n{head}{UPDATED}: {now}\n---\n\n\n"))
}

impl<'m> Memlog<'m> {
    pub fn read(bytes: &'m [u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
        let mut lines = text.split_inclusive('\n');
        let first =
            lines.next().filter(|line| is_fence(line)).ok_or("it does not begin with a line `---`")?;
        let line_end = if first.ends_with("\r\n") { "\r\n" } else { "\n" };
        let (mut head, mut length) = (Vec::new(), first.len());
        for line in lines {
            length += line.len();
            if is_fence(line) {
                return Ok(Self { head, body: &text[length..], line_end });
            }
            head.push(line);
        }
        Err("its head is never closed by a line `---`".to_owned())
    }

    /// Without the dash.
    pub fn entries(&self) -> impl Iterator<Item = &'m str> {
        self.body.lines().filter_map(|line| line.strip_prefix("- "))
    }

    /// A memlog only grows: returns the first changed or removed entry of `before`.
    pub fn first_changed<'b>(&self, before: &Memlog<'b>) -> Option<&'b str> {
        let mut now = self.entries();
        before.entries().find(|entry| now.next() != Some(entry))
    }

    pub fn fields(&self) -> impl Iterator<Item = (&'m str, &'m str)> {
        self.head.iter().filter_map(|line| field(line))
    }

    pub fn append(&self, entry: &MemlogEntry<'_>, now: &str) -> Result<String, String> {
        if [entry.kind, entry.by].into_iter().flatten().any(|part| part.contains(['\n', '\r'])) {
            return Err("the type of an entry, and who says it, stand on one line".to_owned());
        }
        let body = self.body.trim_end_matches(['\r', '\n']);
        // An empty line precedes the first entry.
        let text = format!("{body}{end}{}{end}", entry.line(), end = self.line_end);
        Ok(self.text(&self.head, &text, now))
    }

    pub fn set(&self, key: &str, value: &str, now: &str) -> Result<String, String> {
        check_key(key)?;
        let line = format!("{key}: {}{}", one_line(value), self.line_end);
        let mut head = self.head.clone();
        match head.iter().rposition(|known| field(known).is_some_and(|(known, _)| known == key)) {
            Some(place) if head.get(place + 1).is_some_and(|next| next.starts_with([' ', '\t', '-'])) => {
                return Err(format!("the field `{key}` has lines below it, which its new value would break"));
            }
            Some(place) => head[place] = &line,
            None => head.push(&line),
        }
        Ok(self.text(&head, self.body, now))
    }

    /// Updates the time of change, the last line of the head.
    fn text(&self, head: &[&str], body: &str, now: &str) -> String {
        let is_other = |line: &&&str| field(line).is_none_or(|(key, _)| key != UPDATED);
        let head: String = head.iter().filter(is_other).copied().collect();
        let end = self.line_end;
        format!("---{end}{head}{UPDATED}: {now}{end}---{end}{body}")
    }
}

fn is_fence(line: &str) -> bool {
    line.trim_end_matches(['\r', '\n']) == "---"
}

fn field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = !key.trim().is_empty() && !key.starts_with([' ', '\t', '#', '-']);
    is_key.then(|| (key.trim(), value.trim()))
}

fn check_key(key: &str) -> Result<(), String> {
    match key.trim().is_empty()
        || key != key.trim()
        || key.contains([':', '\n', '\r'])
        || key.starts_with(['#', '-'])
    {
        true => {
            Err(format!("`{key}` cannot be a key of a memlog: it is empty, or has a colon or a line end"))
        }
        false => Ok(()),
    }
}

fn one_line(value: &str) -> String {
    value.replace("\r\n", " ").replace(['\n', '\r'], " ")
}

/// White space as Python defines it.
fn on_one_line(text: &str) -> String {
    let is_blank = |letter: char| letter.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&letter);
    text.split(is_blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

const KEY: &str = "deferred";

#[derive(Clone, Debug)]
pub struct Deferred<'d> {
    pub summary: &'d str,
    pub evidence: &'d str,
    pub location: Option<&'d str>,
    pub severity: Option<&'d str>,
}

impl Deferred<'_> {
    /// As read again: single-line texts have collapsed blanks.
    fn keys(&self) -> Vec<(&'static str, &'static str, String)> {
        let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines = self.evidence.trim().lines().map(|line| line.trim_end().to_owned());
        let location = self.location.map(|text| ("location", ">-", on_one_line(text)));
        let severity = self.severity.map(|text| ("severity", "", on_one_line(text)));
        let first = [
            ("summary", ">-", on_one_line(self.summary)),
            ("evidence", "|-", lines.collect::<Vec<_>>().join("\n")),
        ];
        first.into_iter().chain(location).chain(severity).filter(|(.., text)| !text.is_empty()).collect()
    }

    /// Block style as BMAD writes it, with the dash at `column`.
    fn lines(&self, column: usize, end: &str) -> String {
        let indent = " ".repeat(column);
        let mut text = String::new();
        for (place, (key, style, value)) in self.keys().into_iter().enumerate() {
            let dash = if place == 0 { "- " } else { "  " };
            match style {
                "" => text.push_str(&format!("{indent}{dash}{key}: {value}{end}")),
                _ => {
                    text.push_str(&format!("{indent}{dash}{key}: {style}{end}"));
                    let line = |line: &str| {
                        if line.is_empty() { end.to_owned() } else { format!("{indent}    {line}{end}") }
                    };
                    text.extend(value.split('\n').map(line));
                }
            }
        }
        text
    }
}

/// No other byte changes; the result is read back for verification.
pub fn defer(path: &ProjectPath, bytes: &[u8], item: &Deferred<'_>) -> Result<Vec<u8>, String> {
    let before = Artifact::read(path.clone(), bytes.to_vec());
    let mut state = before.state_value().map_err(|_| "its frontmatter cannot be read".to_owned())?;
    let end = LineEnding::first_of(bytes).unwrap_or(LineEnding::Lf).as_str();
    let (cut, at, column) = place(&before).ok_or("it has no frontmatter")??;
    let key = if at.is_new { format!("{KEY}:{end}") } else { String::new() };
    let written = [
        &bytes[..cut.0],
        &bytes[cut.1..at.offset],
        key.as_bytes(),
        item.lines(column, end).as_bytes(),
        &bytes[at.offset..],
    ]
    .concat();
    let after = Artifact::read(path.clone(), written);
    let keys: Map<String, Json> =
        item.keys().into_iter().map(|(key, _, text)| (key.to_owned(), text.into())).collect();
    let list = &mut state[KEY];
    if !list.is_array() {
        *list = json!([]);
    }
    list.as_array_mut().into_iter().for_each(|list| list.push(Json::Object(keys.clone())));
    match after.state_value() {
        Ok(now) if now == state => Ok(after.bytes().to_vec()),
        _ => {
            Err("the finding would not be read again as it is: it holds what no block of YAML can".to_owned())
        }
    }
}

struct Insertion {
    offset: usize,
    is_new: bool,
}

/// Replaced bytes, position of the item, column of its dash.
type Found = Result<((usize, usize), Insertion, usize), String>;

fn place(file: &Artifact) -> Option<Found> {
    let yaml = file.state_yaml()?;
    let span = file.state_span()?;
    let bytes = file.bytes();
    let line_end = |from: usize| {
        bytes[from..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| from + at + 1)
    };
    let insert = |offset| Insertion { offset, is_new: false };
    let Some(node) = yaml.root().and_then(|root| root.get(KEY)) else {
        return Some(Ok(((0, 0), Insertion { offset: span.end, is_new: true }, 2)));
    };
    let is_empty =
        node.is_null() || node.text().is_none() && node.items().is_empty() && node.entries().is_empty();
    Some(match &node.kind {
        _ if is_empty => {
            let (start, stop) = (node.span.start, node.span.end);
            Ok(((start, stop), insert(line_end(stop)), 2))
        }
        NodeKind::Sequence { style: CollectionStyle::Block, items } => {
            let dash = |item: &Node<'_>| {
                let line =
                    bytes[..item.span.start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                bytes[line..].iter().position(|byte| *byte != b' ').unwrap_or(0)
            };
            let last = items.last().map_or(node.span.end, |last| last.span.end);
            let is_at_start = bytes[..last].last() == Some(&b'\n');
            Ok((
                (0, 0),
                insert(if is_at_start { last } else { line_end(last) }),
                items.first().map_or(2, dash),
            ))
        }
        _ => Err(format!("`{KEY}` is a list in brackets, or none: bring it into lines, each with a dash")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_added_in_blocks_and_nothing_else_changes() {
        let path = ProjectPath::new("spec-a.md").unwrap();
        let item = Deferred {
            summary: "a: b # c",
            evidence: "`x` fails:\n  line 2 # not a comment\n\nlast",
            location: Some("src/a.rs:7"),
            severity: Some("high (unverified)"),
        };
        let block = "  - summary: >-\n      a: b # c\n    evidence: |-\n      `x` fails:\n        line 2 # not a comment\n\n      last\n    \
                     location: >-\n      src/a.rs:7\n    severity: high (unverified)\n";
        for (before, after) in [
            ("---\na: 1\n---\nbody\n", format!("---\na: 1\ndeferred:\n{block}---\nbody\n")),
            ("---\ndeferred: [] # none\nb: 2\n---\n", format!("---\ndeferred:  # none\n{block}b: 2\n---\n")),
            ("---\ndeferred:\n---\n", format!("---\ndeferred:\n{block}---\n")),
        ] {
            let done = defer(&path, before.as_bytes(), &item).unwrap();
            assert_eq!(String::from_utf8(done.clone()).unwrap(), after);
            let twice = defer(&path, &done, &item).unwrap();
            assert_eq!(String::from_utf8(twice).unwrap(), after.replace(block, &format!("{block}{block}")));
        }
        let crlf = defer(&path, b"---\r\ndeferred: []\r\n---\r\n", &item).unwrap();
        assert!(!String::from_utf8(crlf).unwrap().replace("\r\n", "").contains('\n'));
        for wrong in ["---\ndeferred: [a]\n---\n", "# none\n", "---\ndeferred: x\n---\n", "---\na: [\n---\n"]
        {
            assert!(defer(&path, wrong.as_bytes(), &item).is_err(), "{wrong}");
        }
        let odd = Deferred { evidence: "\u{0}", ..item };
        assert!(defer(&path, b"---\na: 1\n---\n", &odd).is_err());
    }
}
