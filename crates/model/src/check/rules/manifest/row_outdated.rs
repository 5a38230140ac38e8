//! SM802: an artifact was changed, and its row of the manifest was not.

use crate::{
    artifact::LineEndHashes,
    check::{Finding, Group, ManifestRow, Rule, Severity, Subject, rule::Decision},
};
use stepmark_frontmatter::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM802",
    name: "manifest-row-outdated",
    group: Group::Manifest,
    // Every change leaves the row behind until the manifest is written: that is no reason to fail.
    severity: Severity::Note,
    summary: "An artifact was changed, and its row of the manifest was not.",
    why: "The hash in the manifest says which bytes were looked at last. Where it is an old one, nobody can tell an edit from a \
          file that went bad, and what works from the manifest passes the change over.",
    bad: "---\nstatus: done\n---\n",
    good: "---\nstatus: draft\n---\n",
    fix: "`stepmark project manifest write` writes `.stepmark/manifests/files-manifest.csv` again; commit it with the artifact. Line ends \
           that git turned are no change.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(environment) = subject.environment else { return };
    let ManifestRow::Hash(listed) = environment.manifest_row(subject.artifact.path()) else { return };
    if subject.artifact.file_hash() == listed || LineEndHashes::of(subject.artifact.bytes()).holds(listed) {
        return;
    }
    let message = "the manifest has the hash of other bytes for this artifact";
    found.push(
        subject
            .finding(&RULE, Span::at(0), message)
            .with_help("`stepmark project manifest write` brings it up to date"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::{
        artifact::FileHash,
        check::rules::sample::{MANIFEST, found_in},
    };

    #[test]
    fn the_row_has_the_hash_of_the_artifact() {
        let text = "---\nstatus: draft\n---\n";
        let found = |listed: &str| {
            let hash = FileHash::of(listed.as_bytes());
            let manifest =
                format!("type,name,module,path,hash\n\"md\",\"a\",\"docs\",\"docs/a.md\",\"{hash}\"\n");
            found_in(&RULE, &[("docs/a.md", text), (MANIFEST, &manifest)])
        };
        assert_eq!(
            found(&text.replace("draft", "done")),
            ["docs/a.md:1:1 SM802 the manifest has the hash of other bytes for this artifact"]
        );
        assert!(found(text).is_empty());
        assert!(found(&text.replace('\n', "\r\n")).is_empty(), "git turned the line ends");
        let unhashed = "type,name,module,path,hash\n\"md\",\"a\",\"docs\",\"docs/a.md\",\"\"\n";
        assert!(found_in(&RULE, &[("docs/a.md", text), (MANIFEST, unhashed)]).is_empty());
    }
}
