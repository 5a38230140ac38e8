//! The spelling of frontmatter before a change, for undo.
//!
//! Replaced text is kept in *runs* of adjacent root entries: position, digest of the new text, old text. A
//! run is restored only if its entries are unchanged since. For other places the texts of single values are
//! kept, too.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::artifact::FileHash;
use stepmark_frontmatter::{
    Change, Document, KeyIndex, KeyPath, Node, NodeKind, Operation, Region, Span, Splice, Value, Yaml,
};

/// Of one run or value, in bytes.
const LONGEST: usize = 4 << 10;

/// Bytes compared to find a moved run; beyond, only values are restored.
const SEARCHED: usize = 16 << 20;

/// Of one spelling, in bytes.
const MOST: usize = 16 << 10;

/// Beyond the limits, the value is in the [`Change`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spelling {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    runs: Vec<Run>,
    /// On one line, and different from the default spelling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    values: Vec<ValueText>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    at: usize,
    /// First words of the entry before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    entries: usize,
    /// First half of the SHA-256 of the new text.
    now: String,
    start: usize,
    end: usize,
    old: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ValueText {
    path: KeyPath,
    text: String,
}

impl Spelling {
    /// `None`: nothing to keep. `tree` is the parsed frontmatter of `old`, if available.
    pub fn of(
        region: &Region,
        (old, tree): (&[u8], Option<&Yaml<'_>>),
        new: &[u8],
        changes: &[Change],
    ) -> Option<Self> {
        let ([old_text, new_text], budget) = ([text_of(region, old)?, text_of(region, new)?], &mut { MOST });
        let mut take = |text: &str| {
            let is_taken = text.len() <= LONGEST && text.len() <= *budget;
            *budget -= if is_taken { text.len() } else { 0 };
            is_taken
        };
        let runs = changed_runs(&entry_texts(old_text), &entry_texts(new_text));
        let runs = runs.into_iter().filter(|run| take(&run.old)).collect();
        let values =
            value_texts(region, (old, tree), changes).into_iter().filter(|value| take(&value.text)).collect();
        let spelling = Self { runs, values };
        (spelling != Self::default()).then_some(spelling)
    }

    /// Restores entries that are unchanged since.
    pub fn splices(&self, region: &Region, file: &[u8]) -> Vec<Splice> {
        let (Some(text), Ok(place)) = (text_of(region, file), region.find(&Document::scan(file))) else {
            return Vec::new();
        };
        let entries = entry_texts(text);
        let mut splices: Vec<Splice> = Vec::new();
        for splice in self.runs.iter().filter_map(|run| run.splice(text, &entries)) {
            let span = splice.span.shifted(place.start);
            // At most one of overlapping runs is right.
            if splices.last().is_none_or(|last| last.span.end <= span.start) {
                splices.push(Splice { span, ..splice });
            }
        }
        splices
    }

    /// For values whose spelling alone differs.
    pub fn value_splices(&self, region: &Region, file: &[u8]) -> Vec<Splice> {
        let Some(yaml) = parsed(region, file) else { return Vec::new() };
        let (Some(root), keys) = (yaml.root(), KeyIndex::default()) else { return Vec::new() };
        let mut splices: Vec<Splice> = Vec::new();
        for ValueText { path, text } in &self.values {
            let Some(node) = keys.node_at(root, &path.0).filter(|node| is_on_one_line(file, node)) else {
                continue;
            };
            if file[node.span.range()] != *text.as_bytes() && is_same_value(&yaml, node, text) {
                splices.push(Splice { span: node.span, text: text.clone() });
            }
        }
        splices.sort_by_key(|splice| splice.span.start);
        splices
    }
}

impl Run {
    fn splice(&self, text: &str, entries: &[&str]) -> Option<Splice> {
        let is_here = |at: &usize| {
            let follows = match &self.after {
                None => *at == 0,
                Some(head) => *at > 0 && entries.get(at - 1).is_some_and(|before| head_of(before) == head),
            };
            let present = at.checked_add(self.entries).and_then(|end| entries.get(*at..end));
            (follows || self.entries > 0)
                && present.is_some_and(|present| digest(&present.concat()) == self.now)
        };
        let at = match is_here(&self.at) {
            true => self.at,
            false => {
                let length = text.len() / entries.len().max(1) * self.entries;
                let most = SEARCHED.checked_div(length).unwrap_or(usize::MAX);
                let mut places = (0..=entries.len()).take(most).filter(is_here);
                places.next().filter(|_| places.next().is_none())?
            }
        };
        let start: usize = entries[..at].iter().map(|entry| entry.len()).sum();
        let end = start + entries[at..at + self.entries].iter().map(|entry| entry.len()).sum::<usize>();
        let now = &text[start..end];
        let kept_end = now.len().checked_sub(self.end).filter(|kept_end| self.start <= *kept_end)?;
        let old = [now.get(..self.start)?, &self.old, now.get(kept_end..)?].concat();
        Some(Splice { span: Span::new(start, end), text: old })
    }
}

fn text_of<'f>(region: &Region, file: &'f [u8]) -> Option<&'f str> {
    let span = region.find(&Document::scan(file)).ok()?;
    std::str::from_utf8(&file[span.range()]).ok()
}

fn parsed<'f>(region: &Region, file: &'f [u8]) -> Option<Yaml<'f>> {
    Yaml::parse(file, region.find(&Document::scan(file)).ok()?).ok()
}

fn digest(text: &str) -> String {
    FileHash::of(text.as_bytes()).to_string().chars().take(32).collect()
}

/// Splits at lines that begin a root entry; blank, comment and indented lines belong to the entry before. A
/// heuristic that finds candidates; it proves nothing.
fn entry_texts(text: &str) -> Vec<&str> {
    let mut entries = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let goes_on = line.starts_with([' ', '\t', '#', '\r', '\n', ']', '}'])
            || line == "-"
            || ["- ", "-\r", "-\n"].iter().any(|dash| line.starts_with(dash));
        if !goes_on && at > start {
            entries.push(&text[start..at]);
            start = at;
        }
        at += line.len();
    }
    if at > start {
        entries.push(&text[start..at]);
    }
    entries
}

/// The key, if it has one.
fn head_of(entry: &str) -> &str {
    let line = entry.lines().next().unwrap_or_default();
    let head = line.split_once(':').map_or(line, |(key, _)| key);
    let end = head.char_indices().nth(80).map_or(head.len(), |(end, _)| end);
    &head[..end]
}

fn changed_runs(old: &[&str], new: &[&str]) -> Vec<Run> {
    let (mut runs, mut i, mut j) = (Vec::new(), 0, 0);
    let [last_in_old, last_in_new] = [old, new].map(last_by_head);
    let comes_from = |last: &HashMap<&str, usize>, from: usize, wanted: Option<&&str>| {
        wanted.and_then(|wanted| last.get(head_of(wanted))).is_some_and(|last| *last >= from)
    };
    while i < old.len() || j < new.len() {
        if old.get(i) == new.get(j) {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (from_old, from_new) = (i, j);
        while (i < old.len() || j < new.len()) && old.get(i) != new.get(j) {
            match (comes_from(&last_in_new, j, old.get(i)), comes_from(&last_in_old, i, new.get(j))) {
                // Removed or added.
                (false, _) if i < old.len() => i += 1,
                (_, false) if j < new.len() => j += 1,
                _ => (i, j) = ((i + 1).min(old.len()), (j + 1).min(new.len())),
            }
        }
        let after = from_new.checked_sub(1).map(|before| head_of(new[before]).to_owned());
        runs.push(run((from_new, after), &old[from_old..i].concat(), &new[from_new..j]));
    }
    runs
}

fn last_by_head<'t>(entries: &[&'t str]) -> HashMap<&'t str, usize> {
    entries.iter().enumerate().map(|(place, entry)| (head_of(entry), place)).collect()
}

fn run((at, after): (usize, Option<String>), old: &str, entries: &[&str]) -> Run {
    let new = entries.concat();
    let same = old.chars().zip(new.chars()).take_while(|(one, other)| one == other);
    let start = same.map(|(char, _)| char.len_utf8()).sum();
    let (rest_of_old, rest_of_new) = (&old[start..], &new[start..]);
    let same =
        rest_of_old.chars().rev().zip(rest_of_new.chars().rev()).take_while(|(one, other)| one == other);
    let end = same.map(|(char, _)| char.len_utf8()).sum();
    let old = rest_of_old[..rest_of_old.len() - end].to_owned();
    Run { at, after, entries: entries.len(), now: digest(&new), start, end, old }
}

fn value_texts(
    region: &Region,
    (old, tree): (&[u8], Option<&Yaml<'_>>),
    changes: &[Change],
) -> Vec<ValueText> {
    let is_gone = |change: &&Change| !matches!(change.op, Operation::Insert { .. });
    let mut gone = changes.iter().filter(is_gone).peekable();
    if gone.peek().is_none() {
        return Vec::new();
    }
    let parsed = if tree.is_none() { parsed(region, old) } else { None };
    let Some(yaml) = tree.or(parsed.as_ref()) else { return Vec::new() };
    let (Some(root), keys) = (yaml.root(), KeyIndex::default()) else { return Vec::new() };
    let text = |change: &Change| {
        let node = keys.node_at(root, &change.path.0).filter(|node| is_on_one_line(old, node))?;
        let text = std::str::from_utf8(&old[node.span.range()]).ok()?;
        let (Operation::Set { old: value, .. } | Operation::Remove { old: value }) = &change.op else {
            return None;
        };
        let is_usual = Value::from_json(value).to_inline_yaml() == text;
        (!is_usual).then(|| ValueText { path: change.path.clone(), text: text.to_owned() })
    };
    gone.filter_map(text).collect()
}

fn is_on_one_line(file: &[u8], node: &Node<'_>) -> bool {
    let text = &file[node.span.range()];
    !text.is_empty()
        && memchr::memchr2(b'\n', b'\r', text).is_none()
        && node.properties.is_none()
        && !matches!(node.kind, NodeKind::Alias { .. })
}

fn is_same_value(yaml: &Yaml<'_>, node: &Node<'_>, text: &str) -> bool {
    let said = Yaml::parse(text.as_bytes(), Span::new(0, text.len()));
    let said = said.ok().and_then(|said| Some(Value::of(&said, said.root()?).ok()?.to_json()));
    said.is_some() && said == Value::of(yaml, node).ok().map(|value| value.to_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eighty thousand entries: none is compared with all others.
    #[test]
    fn the_spelling_of_a_large_file_takes_one_look_at_each_entry() {
        let file = |value: &str| {
            let entries: String = (0..80_000).map(|at| format!("k{at}: {value}\n")).collect();
            format!("---\n{entries}---\n")
        };
        let (old, new) = (file("010"), file("'010'"));
        let op = Operation::Set { old: 10.into(), new: "010".into() };
        let changed = |at| Change { path: KeyPath::key(format!("k{at}")), op: op.clone() };
        let changes: Vec<Change> = (0..80_000).map(changed).collect();
        let spelling =
            Spelling::of(&Region::Frontmatter, (old.as_bytes(), None), new.as_bytes(), &changes).unwrap();
        assert_eq!((spelling.runs.len(), spelling.values.len()), (0, MOST / 3));
        // All of them went, and as many came.
        let other = new.replace('k', "other");
        assert!(Spelling::of(&Region::Frontmatter, (old.as_bytes(), None), other.as_bytes(), &[]).is_none());
        // A run that stands nowhere is not looked for without end.
        let run = Run {
            at: 1,
            after: None,
            entries: 40_000,
            now: String::new(),
            start: 0,
            end: 0,
            old: String::new(),
        };
        let spelling = Spelling { runs: vec![run], values: Vec::new() };
        assert!(spelling.splices(&Region::Frontmatter, new.as_bytes()).is_empty());
    }
}
