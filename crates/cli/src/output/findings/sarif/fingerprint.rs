//! The fingerprint that a result is recognised by in the next run, after lines before it came or went.

use std::collections::HashMap;

use stepmark_model::{artifact::FileHash, check::Finding};

use super::CheckedFile;

/// The name of the fingerprint; another way to compute it gets another number.
pub(super) const KEY: &str = "stepmarkFinding/v1";

pub(super) struct Fingerprints<'f> {
    bytes: &'f [u8],
    /// The number of findings so far that looked the same.
    seen: HashMap<FileHash, usize>,
}

impl<'f> Fingerprints<'f> {
    pub(super) fn of(file: &CheckedFile<'f>) -> Self {
        Self { bytes: file.bytes, seen: HashMap::new() }
    }

    /// SHA-256 over rule, path, message and the text that the finding is about, and its number among those
    /// that are the same.
    pub(super) fn next(&mut self, finding: &Finding) -> String {
        let end = finding.span.end.min(self.bytes.len());
        let about = &self.bytes[finding.span.start.min(end)..end];
        let parts =
            [finding.rule.id.as_bytes(), finding.path.as_str().as_bytes(), finding.message.as_bytes(), about];
        let hash = FileHash::of(&parts.join(&b'\0'));
        let number = self.seen.entry(hash).or_default();
        *number += 1;
        format!("{hash}:{number}")
    }
}

#[cfg(test)]
mod tests {
    use stepmark_frontmatter::Span;
    use stepmark_model::{artifact::ProjectPath, check::rule_of};

    use super::*;

    fn fingerprints(text: &str) -> Vec<String> {
        let path = ProjectPath::new("a.md").unwrap();
        let rule = rule_of("SM106").unwrap();
        let found =
            text.match_indices('k').map(|(at, _)| Finding::new(rule, &path, Span::new(at, at + 1), "m"));
        let file = CheckedFile { path: &path, bytes: text.as_bytes(), findings: found.collect() };
        let mut fingerprints = Fingerprints::of(&file);
        file.findings.iter().map(|finding| fingerprints.next(finding)).collect()
    }

    #[test]
    fn lines_before_a_finding_do_not_matter() {
        assert_eq!(fingerprints("k: 1\n"), fingerprints("x: 1\ny: 2\nk: 3\n"));
    }

    #[test]
    fn findings_that_look_the_same_are_told_apart() {
        let twice = fingerprints("k\nk\n");
        assert_ne!(twice[0], twice[1]);
        assert_eq!(twice[0], fingerprints("k")[0]);
    }
}
