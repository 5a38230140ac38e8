//! The findings of a check, made as `stepmark check` makes it: only what was not clean before is read.

use crate::checking::{CheckReport, Known};
use crate::index::error::Fault;
use crate::index_db::{Contents, IntoCell as _, Row};
use crate::workspace::Workspace;
use stepmark_frontmatter::LineIndex;
use stepmark_model::check::{Finding, Safety};

pub(super) fn refresh(workspace: &Workspace, contents: &mut Contents<'_>) -> Result<(), Fault> {
    let (found, before) = workspace.checks().artifacts_to_check()?;
    let report = workspace.checks().check_all(&found.artifacts, before, Known::LeftOut)?;
    contents.replace_named("findings", rows(&report))?;
    Ok(())
}

fn rows(report: &CheckReport<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for file in report.files.iter().filter(|file| !file.findings.is_empty()) {
        let lines = LineIndex::new(&file.bytes);
        for finding in &file.findings {
            let place = lines.position(&file.bytes, finding.span.start);
            let position = rows.len() + 1;
            rows.push(row(position, finding, place));
        }
    }
    rows
}

fn row(position: usize, finding: &Finding, place: stepmark_frontmatter::Position) -> Row {
    let fix = finding.fix.as_ref().map(|fix| match fix.safety {
        Safety::Safe => "safe",
        Safety::Unsafe => "unsafe",
    });
    vec![
        position.cell(),
        finding.path.as_str().cell(),
        place.line.cell(),
        place.column.cell(),
        finding.rule.id.cell(),
        finding.severity.as_str().cell(),
        finding.message.as_str().cell(),
        finding.help.as_deref().cell(),
        fix.cell(),
    ]
}
