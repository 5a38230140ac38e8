//! `stepmark import asdd`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value as Json, json};
use stepmark_store::asdd::{SliceImport, SliceRow};

use crate::{
    commands::asdd::switched_on,
    exit::{Exit, Failure},
    output::{Output, table, wording},
    project::Project,
};

/// Bring the slices of a manifest into artifacts
///
/// New slices become artifacts. Where a slice and the manifest disagree, `--take` says which counts; without
/// it nothing is written and the exit code is 1. Slices that the manifest has no more stay, unless `--remove`
/// is given.
#[derive(Debug, Args)]
pub(crate) struct ImportAsdd {
    /// A manifest, or the folder of ASDD with one, also outside of the project; without it the project's own
    path: Option<PathBuf>,
    /// The side that counts where both say something
    #[arg(long, value_name = "SIDE")]
    take: Option<Side>,
    /// Take away slices that the manifest has no more
    #[arg(long)]
    remove: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// A side on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Side {
    /// The manifest
    File,
    /// The artifact
    Artifact,
}

impl ImportAsdd {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let is_new = project.workspace.asdd().is_none();
        let workspace = project.workspace.clone().with_asdd();
        let place = self.path.as_deref().map(|given| project.place(given));
        let nothing = || Failure::new(Exit::Findings, "the project does not use ASDD");
        let found = workspace.asdd().ok_or_else(nothing)?.survey(place.as_deref())?;
        show(&found, output);
        let disputed = found.rows.iter().filter(|row| row.file.is_some() && row.artifact.is_some()).count();
        let is_undecided = disputed > 0 && self.take.is_none();
        if self.dry_run || is_undecided {
            output.json_or("stepmark.import-asdd/1", || wire(&found, None), || {});
        }
        if is_undecided {
            let said = match disputed {
                1 => "1 record says".to_owned(),
                count => format!("{count} records say"),
            };
            let message = format!(
                "{said} something else than the manifest, and nobody said which counts; nothing was written"
            );
            return Err(Failure::new(Exit::Findings, message)
                .with_help("say which: `--take file` or `--take artifact`; `--dry-run` shows them"));
        }
        if self.dry_run {
            return Ok(Exit::Fine);
        }
        let workspace = if is_new { switched_on(&workspace)? } else { workspace };
        let asdd = workspace.asdd().ok_or_else(nothing)?;
        let count = asdd.import(&found, self.take == Some(Side::File), self.remove)?;
        output.json_or(
            "stepmark.import-asdd/1",
            || wire(&found, Some(count)),
            || {
                let (count, same) = (wording::count(count, "record"), wording::count(found.same, "record"));
                output.remark(format_args!("{count} written, {same} the same"));
                if is_new {
                    output.remark("ASDD is switched on in .stepmark/config.yaml");
                }
            },
        );
        Ok(Exit::Fine)
    }
}

fn show(found: &SliceImport, output: &Output) {
    if output.json || found.rows.is_empty() {
        return;
    }
    let said = |record: &Option<stepmark_model::asdd::Record>| match record {
        None => "-".to_owned(),
        Some(record) => record.text("status").unwrap_or("there").to_owned(),
    };
    let row =
        |row: &SliceRow| vec![row.kind.to_string(), row.id.clone(), said(&row.file), said(&row.artifact)];
    output.line(table(&["KIND", "ID", "MANIFEST", "ARTIFACT"], found.rows.iter().map(row)));
}

fn wire(found: &SliceImport, written: Option<usize>) -> Json {
    let row = |row: &SliceRow| {
        json!({
            "kind": row.kind.to_string(),
            "id": row.id,
            "file": row.file.as_ref().map(|record| &record.values),
            "artifact": row.artifact.as_ref().map(|record| &record.values),
        })
    };
    json!({"records": found.rows.iter().map(row).collect::<Vec<_>>(), "same": found.same, "written": written})
}
