//! Findings that a review puts off: the list `deferred` in the frontmatter of a spec, which only grows
//! (docs/formats.md). Pure.

use serde_json::{Map, Value as Json, json};
use stepmark_frontmatter::{CollectionStyle, LineEnding, Node, NodeKind};

use crate::artifact::{Artifact, ProjectPath};

const KEY: &str = "deferred";

#[derive(Clone, Debug)]
pub struct Deferred<'d> {
    pub summary: &'d str,
    pub evidence: &'d str,
    pub location: Option<&'d str>,
    pub severity: Option<&'d str>,
}

impl Deferred<'_> {
    /// Its keys with their values, as they are read again: texts that stand on one line have no other blanks.
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

    /// The item as BMAD writes it, in block style, whose dash stands at `column`.
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

/// The file at `path` with one more finding put off. No other byte differs, and what was written is read
/// again and compared.
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

/// The bytes that go, where the item comes in, and the column of its dash.
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
