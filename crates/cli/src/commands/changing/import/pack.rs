//! `stepmark import pack`

use std::collections::BTreeSet;
use std::{path::PathBuf, sync::Arc};

use clap::Args;
use stepmark_model::packs::Kind;
use stepmark_store::records::{RowChange, RowSurvey};

use super::records::{Side, SideArguments};
use crate::{
    environment::Environment,
    exit::{Exit, Failure},
    output::{Output, spinner, table},
    project::Project,
};

/// Bring rows of a table into artifacts of a kind of your own pack
///
/// Reads a list of objects (`.json`) or a table with a head (`.csv`), as other programs export them. A row
/// means the artifact at its `path`, else that of its `id`; other rows become new artifacts in the folder of
/// the kind. Columns that are no keys of the kind are left out, and named; an empty cell says nothing. Where
/// a row and an artifact disagree, `--take` says which counts; without it nothing is written and the exit
/// code is 1.
#[derive(Debug, Args)]
pub(crate) struct ImportRows {
    /// The kind, or the word of its commands
    kind: String,
    /// The file, also outside of the project
    file: PathBuf,
    #[command(flatten)]
    side: SideArguments,
}

answers! { Answer<'a>
    /// `import pack`: rows that say something else, and what was written
    "stepmark.import-pack/1" Pack {
        /// The columns that are no keys of the kind
        left_out: &'a BTreeSet<String>,
        rows: &'a [RowShown],
        /// The number of rows that say what their artifacts say
        same: usize,
        /// Rows that no command would write
        faults: &'a [String],
        /// The number of artifacts; none where nothing was to be written
        written: Option<usize>,
    }
    struct RowShown { path: String, is_new: bool, keys: Vec<String> }
}

impl ImportRows {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let kind = self.kind(project)?;
        let place = project.place(&self.file);
        let failed =
            |error| Failure::new(Exit::Io, format!("cannot read `{}`: {error}", self.file.display()));
        let bytes = Environment::read_file(&place).map_err(failed)?;
        let is_csv = place.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
        let found = project.workspace.survey_rows(&kind, (&bytes, is_csv))?;
        let disputed = found.rows.iter().filter(|row| !row.is_new()).count();
        let undecided = self.side.undecided(disputed, "file").filter(|_| found.faults.is_empty());
        if self.side.dry_run || undecided.is_some() || !found.faults.is_empty() {
            show(&found, None, output);
        }
        if let Some(failure) = undecided {
            return Err(failure);
        }
        if self.side.dry_run && found.faults.is_empty() {
            return Ok(Exit::Fine);
        }
        let command = format!("import pack {} {}", self.kind, self.file.display());
        let written = project.workspace.import_rows(&found, self.side.take == Some(Side::File), &command)?;
        show(&found, Some(written), output);
        Ok(Exit::Fine)
    }

    fn kind(&self, project: &Project) -> Result<Arc<Kind>, Failure> {
        let kinds = project.workspace.configuration().packs().iter().flat_map(|own| &own.pack.kinds);
        let meant = kinds.map(|own| &own.kind).find(|own| own.command == self.kind || own.name == self.kind);
        meant.map(Arc::clone).ok_or_else(|| {
            let message = format!("no pack of the project has a kind `{}`", self.kind);
            Failure::new(Exit::Usage, message).with_help("`stepmark pack list` names the kinds of each pack")
        })
    }
}

fn show(found: &RowSurvey, written: Option<usize>, output: &Output) {
    let row = |row: &RowChange| RowShown {
        path: row.path.to_string(),
        is_new: row.is_new(),
        keys: row.keys.clone(),
    };
    let rows: Vec<RowShown> = found.rows.iter().map(row).collect();
    let RowSurvey { left_out, same, faults, .. } = found;
    output.answer(|| Answer::Pack { left_out, rows: &rows, same: *same, faults, written });
    let cells = rows.iter().map(|row| {
        let word = if row.is_new { "new" } else { "changed" };
        vec![row.path.clone(), word.to_owned(), row.keys.join(", ")]
    });
    if !rows.is_empty() {
        output.line(table(&["ARTIFACT", "IS", "KEYS"], cells));
    }
    if !left_out.is_empty() {
        let names = left_out.iter().cloned().collect::<Vec<_>>().join(", ");
        output.remark(format_args!("left out, since the kind has no such keys: {names}"));
    }
    if let Some(written) = written {
        let same = spinner::count(*same, "row");
        output.remark(format_args!("{} written, {same} the same", spinner::count(written, "artifact")));
    }
}
