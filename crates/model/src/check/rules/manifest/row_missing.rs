//! SM801: the manifest of the artifacts has no row for an artifact.

use crate::check::{Finding, Group, ManifestRow, Rule, Severity, Subject, rule::Decision};
use stepmark_frontmatter::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM801",
    name: "manifest-row-missing",
    group: Group::Manifest,
    severity: Severity::Note,
    summary: "The manifest of the artifacts has no row for an artifact.",
    why: "What works from the manifest, the sync of tickets first, does not know that the artifact exists.",
    bad: "---\nstatus: draft\n---\n",
    good: "---\nstatus: draft\n---\n",
    fix: "`stepmark project manifest write` writes `.stepmark/manifests/files-manifest.csv` again. A project without that file has no \
           manifest to keep, and no such finding.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(environment) = subject.environment else { return };
    if environment.manifest_row(subject.artifact.path()) == ManifestRow::Missing {
        let finding = subject.finding(&RULE, Span::at(0), "the manifest has no row for this artifact");
        found.push(finding.with_help("`stepmark project manifest write` adds it"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{MANIFEST, found_in};

    #[test]
    fn an_artifact_has_a_row_where_there_is_a_manifest() {
        let text = "---\nstatus: draft\n---\n";
        let row = |path: &str| format!("\"md\",\"a\",\"docs\",\"{path}\",\"\"\n");
        let manifest = |rows: &str| format!("type,name,module,path,hash\n{rows}");
        let found = |rows: &str| found_in(&RULE, &[("docs/a.md", text), (MANIFEST, &manifest(rows))]);
        assert_eq!(
            found(&row("docs/b.md")),
            ["docs/a.md:1:1 SM801 the manifest has no row for this artifact"]
        );
        assert!(found(&row("docs/a.md")).is_empty());
        assert!(found_in(&RULE, &[("docs/a.md", text)]).is_empty(), "no manifest, no row");
    }
}
