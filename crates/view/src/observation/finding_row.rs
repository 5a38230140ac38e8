//! A finding with the place that a person looks for.

use stepmark_frontmatter::{LineIndex, Position};
use stepmark_model::{
    artifact::ProjectPath,
    check::{Rule, Severity},
};
use stepmark_store::checking::CheckedFile;

#[derive(Clone, Debug)]
pub struct FindingRow {
    pub rule: &'static Rule,
    pub severity: Severity,
    pub message: String,
    pub help: Option<String>,
    pub path: ProjectPath,
    /// The place in it, from 1.
    pub position: Position,
    /// The text of that line and of the one before, where the finding is an error: a parser often stops after
    /// the cause.
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

/// The most bytes of a line that are kept: more than stands on a screen.
const LINE: usize = 240;

/// The line before the one in which the byte at `place` stands, where there is one, and that one; cut where
/// they are long.
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
