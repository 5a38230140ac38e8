//! The manifest of the artifacts.

use crate::check::{Finding, ManifestRow, Subject};
use crate::{artifact::LineEndHashes, check::rule::Decision};
use stepmark_frontmatter::Span;

rules! { Manifest;
    pub(crate) ROW_MISSING "SM801" "manifest-row-missing" Note Decision::OfArtifact(check_row_missing);
    pub(crate) ROW_OUTDATED "SM802" "manifest-row-outdated" Note Decision::OfArtifact(check_row_outdated);
}

fn check_row_missing(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(environment) = subject.environment else { return };
    if environment.manifest_row(subject.artifact.path()) == ManifestRow::Missing {
        let finding = subject.finding(&ROW_MISSING, Span::at(0), "the manifest has no row for this artifact");
        found.push(finding.with_help("`stepmark project manifest write` adds it"));
    }
}

fn check_row_outdated(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(environment) = subject.environment else { return };
    let ManifestRow::Hash(listed) = environment.manifest_row(subject.artifact.path()) else { return };
    if subject.artifact.file_hash() == listed || LineEndHashes::of(subject.artifact.bytes()).holds(listed) {
        return;
    }
    let message = "the manifest has the hash of other bytes for this artifact";
    found.push(
        subject
            .finding(&ROW_OUTDATED, Span::at(0), message)
            .with_help("`stepmark project manifest write` brings it up to date"),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::FileHash;
    use crate::check::rules::sample::{MANIFEST, found_in};

    #[test]
    fn an_artifact_has_a_row_where_there_is_a_manifest() {
        let text = "---\nstatus: draft\n---\n";
        let row = |path: &str| format!("\"md\",\"a\",\"docs\",\"{path}\",\"\"\n");
        let manifest = |rows: &str| format!("type,name,module,path,hash\n{rows}");
        let found = |rows: &str| found_in(&ROW_MISSING, &[("docs/a.md", text), (MANIFEST, &manifest(rows))]);
        assert_eq!(
            found(&row("docs/b.md")),
            ["docs/a.md:1:1 SM801 the manifest has no row for this artifact"]
        );
        assert!(found(&row("docs/a.md")).is_empty());
        assert!(found_in(&ROW_MISSING, &[("docs/a.md", text)]).is_empty(), "no manifest, no row");
    }

    #[test]
    fn the_row_has_the_hash_of_the_artifact() {
        let text = "---\nstatus: draft\n---\n";
        let found = |listed: &str| {
            let hash = FileHash::of(listed.as_bytes());
            let manifest =
                format!("type,name,module,path,hash\n\"md\",\"a\",\"docs\",\"docs/a.md\",\"{hash}\"\n");
            found_in(&ROW_OUTDATED, &[("docs/a.md", text), (MANIFEST, &manifest)])
        };
        assert_eq!(
            found(&text.replace("draft", "done")),
            ["docs/a.md:1:1 SM802 the manifest has the hash of other bytes for this artifact"]
        );
        assert!(found(text).is_empty());
        assert!(found(&text.replace('\n', "\r\n")).is_empty(), "git turned the line ends");
        let unhashed = "type,name,module,path,hash\n\"md\",\"a\",\"docs\",\"docs/a.md\",\"\"\n";
        assert!(found_in(&ROW_OUTDATED, &[("docs/a.md", text), (MANIFEST, unhashed)]).is_empty());
    }
}
