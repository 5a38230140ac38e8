//! Parts other than artifacts and events: inventory, tickets, findings, systems.

use std::io;

use crate::Error;
use crate::checking::{CheckReport, Known};
use crate::disk::own_file;
use crate::index::error::Fault;
use crate::index_db::{Catalogue, Contents, IntoCell as _, Part, Row, catalogue_rows};
use crate::workspace::Workspace;
use stepmark_frontmatter::{LineIndex, Position};
use stepmark_model::{
    artifact::{FileHash, READ_LIMIT},
    check::{Finding, Safety},
    records::{Signal, Signals},
};

/// Updates changed catalogues. A missing one has no rows.
pub(super) fn inventory(workspace: &Workspace, contents: &mut Contents<'_>) -> Result<(), Fault> {
    let mut read = Vec::new();
    let mut text = String::new();
    for catalogue in Catalogue::ALL {
        let bytes = match own_file::read(workspace.root().path(), catalogue.path.as_ref(), READ_LIMIT) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => {
                return Err(Error::io(format!("cannot read `{}`", catalogue.path), source).into());
            }
        };
        text.push_str(&FileHash::of(&bytes).to_string());
        read.push((catalogue, bytes));
    }
    let stamp = FileHash::of(text.as_bytes());
    if contents.stamp(Part::Inventory)? == Some(stamp) {
        return Ok(());
    }
    for (catalogue, bytes) in read {
        contents.replace_named(catalogue.table, catalogue_rows(catalogue, &bytes))?;
    }
    contents.set_stamp(Part::Inventory, Some(stamp))?;
    Ok(())
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TicketRow {
    pub tracker: String,
    pub marker: String,
    pub artifact: Option<String>,
    pub ticket: Option<String>,
    pub url: Option<String>,
    pub action: Option<String>,
    pub differs: Vec<String>,
    /// `waiting`, `parked` or `in-doubt`.
    pub delivery: Option<String>,
    pub reason: Option<String>,
    pub linked_at: Option<String>,
}

/// `tickets` must be complete. Of two with the same tracker and marker the first counts.
pub(super) fn tickets(tickets: &[TicketRow], contents: &mut Contents<'_>) -> rusqlite::Result<()> {
    let mut sorted: Vec<&TicketRow> = tickets.iter().collect();
    sorted.sort();
    sorted.dedup_by_key(|row| (&row.tracker, &row.marker));
    contents.replace_named("tickets", sorted.into_iter().map(ticket_row).collect())
}

fn ticket_row(ticket: &TicketRow) -> Row {
    let TicketRow { tracker, marker, artifact, ticket, url, action, differs, delivery, reason, linked_at } =
        ticket;
    let differs = (!differs.is_empty()).then(|| differs.join(", "));
    let texts = [artifact, ticket, url, action, &differs, delivery, reason, linked_at];
    let mut row = vec![tracker.as_str().cell(), marker.as_str().cell()];
    row.extend(texts.map(|text| text.as_deref().cell()));
    row
}

pub(super) fn findings(workspace: &Workspace, contents: &mut Contents<'_>) -> Result<(), Fault> {
    let (found, before) = workspace.checks().artifacts_to_check()?;
    let report = workspace.checks().check_all(&found.artifacts, before, Known::LeftOut)?;
    contents.replace_named("findings", finding_rows(&report))?;
    Ok(())
}

fn finding_rows(report: &CheckReport<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for file in report.files.iter().filter(|file| !file.findings.is_empty()) {
        let lines = LineIndex::new(&file.bytes);
        for finding in &file.findings {
            let place = lines.position(&file.bytes, finding.span.start);
            let position = rows.len() + 1;
            rows.push(finding_row(position, finding, place));
        }
    }
    rows
}

fn finding_row(position: usize, finding: &Finding, place: Position) -> Row {
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

pub(super) fn systems(workspace: &Workspace, contents: &mut Contents<'_>) -> rusqlite::Result<()> {
    let coordination = workspace.coordination().map(|own| own.signals());
    let signals = [
        ("asdd", workspace.asdd().map(|own| own.signals())),
        ("coordination", coordination),
        ("flows", workspace.flows().map(|own| own.signals())),
    ];
    let heartbeats =
        signals.into_iter().flat_map(|(system, own)| heartbeats(system, own.unwrap_or_default()));
    contents.replace_named("heartbeats", heartbeats.collect())?;
    contents.replace_named("projections", projections(workspace))
}

fn heartbeats(system: &'static str, signals: Signals) -> impl Iterator<Item = Row> {
    let row = move |signal: Signal| {
        let numbers = (!signal.numbers.is_empty()).then(|| serde_json::json!(signal.numbers).to_string());
        vec![
            system.cell(),
            signal.agent.cell(),
            signal.at.cell(),
            signal.status.cell(),
            signal.current.cell(),
            numbers.cell(),
        ]
    };
    signals.into_values().map(row)
}

#[cfg(not(feature = "write"))]
fn projections(_: &Workspace) -> Vec<Row> {
    Vec::new()
}

/// Empty if the records are unreadable, which a check reports.
#[cfg(feature = "write")]
fn projections(workspace: &Workspace) -> Vec<Row> {
    let row = |system: &'static str| {
        move |file: crate::projection::FollowingFile| {
            let records = (!file.drift.is_empty()).then(|| file.drift.join(", "));
            vec![system.cell(), file.path.as_str().cell(), file.state.cell(), records.cell()]
        }
    };
    let asdd = workspace.asdd().and_then(|own| own.file_states().ok()).unwrap_or_default();
    let coordination = workspace.coordination().and_then(|own| own.file_states().ok()).unwrap_or_default();
    asdd.into_iter().map(row("asdd")).chain(coordination.into_iter().map(row("coordination"))).collect()
}
