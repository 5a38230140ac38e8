//! `stepmark import asdd` and `stepmark import coordination`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value as Json};
use stepmark_frontmatter::{KeyPath, Value};
use stepmark_model::records::{Record, RecordKinds};
use stepmark_store::{
    coordination::StateFile,
    records::{ImportRow, ImportSurvey},
    workspace::Workspace,
};

use crate::{
    commands::{
        asdd::switched_on,
        coordination::{coordination, report},
    },
    exit::{Exit, Failure},
    output::{Output, spinner, table},
    project::Project,
};

/// Bring the slices of a manifest into artifacts
///
/// New slices become artifacts. Where a slice and the manifest disagree, `--take` says which counts; without
/// it nothing is written and the exit code is 1. Slices that the manifest has no more stay, unless `--remove`
/// is given.
#[derive(Debug, Args)]
pub(crate) struct ImportAsdd {
    #[command(flatten)]
    how: RecordArguments,
}

/// Bring tasks, agents and discoveries of a state file into artifacts
///
/// Reads `tasks.json` and its siblings (option A), `mcp-state.json` (option B) or the state file of an
/// orchestrator (option C), which are told apart by what they hold. New records become artifacts. Where a
/// record and the file disagree, `--take` says which counts; without it nothing is written and the exit code
/// is 1. Records that the file has no more stay, unless `--remove` is given.
#[derive(Debug, Args)]
pub(crate) struct ImportCoordination {
    #[command(flatten)]
    how: RecordArguments,
}

#[derive(Debug, Args)]
struct RecordArguments {
    /// The file, or the folder that holds it, also outside of the project; without it what the project itself
    /// writes
    path: Option<PathBuf>,
    /// Take away records that the file has no more
    #[arg(long)]
    remove: bool,
    #[command(flatten)]
    side: SideArguments,
}

/// The decision on what a file and artifacts say otherwise.
#[derive(Debug, Args)]
pub(super) struct SideArguments {
    /// The side that counts where both say something
    #[arg(long, value_name = "SIDE")]
    pub(super) take: Option<Side>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Side {
    /// The file
    File,
    /// The artifact
    Artifact,
}

impl SideArguments {
    /// `Some` if `--take` is needed and missing.
    pub(super) fn undecided(&self, disputed: usize, file: &str) -> Option<Failure> {
        if disputed == 0 || self.take.is_some() {
            return None;
        }
        let said = match disputed {
            1 => "1 record says".to_owned(),
            count => format!("{count} records say"),
        };
        let message = format!(
            "{said} something else than the {file}, and nobody said which counts; nothing was written"
        );
        Some(
            Failure::new(Exit::Findings, message)
                .with_help("say which: `--take file` or `--take artifact`; `--dry-run` shows them"),
        )
    }
}

struct Words {
    file: &'static str,
    columns: &'static [&'static str],
    option: Option<String>,
    switched_on: Option<&'static str>,
}

impl ImportAsdd {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let is_new = project.workspace.asdd().is_none();
        let workspace = project.workspace.clone().with_asdd();
        let place = self.how.path.as_deref().map(|given| project.place(given));
        let nothing = || Failure::new(Exit::Findings, "the project does not use ASDD");
        let found = workspace.asdd().ok_or_else(nothing)?.survey(place.as_deref())?;
        let words = Words {
            file: "manifest",
            columns: &["KIND", "ID", "MANIFEST", "ARTIFACT"],
            option: None,
            switched_on: is_new.then_some("ASDD"),
        };
        if !words.decide(&found, &self.how.side, output)? {
            return Ok(Exit::Fine);
        }
        let workspace = if is_new { switched_on(&workspace)? } else { workspace };
        let asdd = workspace.asdd().ok_or_else(nothing)?;
        let (count, _) = asdd.import(&found, self.how.side.take == Some(Side::File), self.how.remove)?;
        words.tell(&found, count, output);
        Ok(Exit::Fine)
    }
}

impl ImportCoordination {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let is_new = project.workspace.coordination().is_none();
        let workspace = project.workspace.clone().with_coordination();
        let found = self.survey(project, &workspace)?;
        let words = Words {
            file: "file",
            columns: &["KIND", "ID", "FILE", "ARTIFACT", "DIFFERS"],
            option: Some(found.format.to_string()),
            switched_on: is_new.then_some("coordination"),
        };
        if !words.decide(&found.survey, &self.how.side, output)? {
            return Ok(Exit::Fine);
        }
        let workspace = match is_new {
            true => {
                let option = "coordination.option".parse::<KeyPath>();
                let option = option.map_err(|error| Failure::from_error(Exit::Usage, &error))?;
                workspace.configure(option, Value::from(found.format.to_string()))?
            }
            false => workspace,
        };
        let coordination = coordination(&workspace)?;
        // Without `--take` none is disputed.
        let (count, files) =
            coordination.import(&found, self.how.side.take != Some(Side::Artifact), self.how.remove)?;
        words.tell(&found.survey, count, output);
        Ok(report::told(&files, output))
    }

    fn survey(&self, project: &Project, workspace: &Workspace) -> Result<StateFile, Failure> {
        let coordination = coordination(workspace)?;
        let found = match self.how.path.as_deref().map(|path| (path, project.path(path))) {
            None => coordination.survey(None),
            Some((_, Ok(path))) => coordination.survey(Some(&path)),
            // Reading it changes nothing there.
            Some((given, Err(_))) => coordination.survey_outside(&project.place(given)),
        };
        Ok(found?)
    }
}

impl Words {
    /// Returns true to import.
    fn decide<K: RecordKinds>(
        &self,
        found: &ImportSurvey<K>,
        side: &SideArguments,
        output: &Output,
    ) -> Result<bool, Failure> {
        if !output.json && !found.rows.is_empty() {
            let said = |record: &Option<Record<K>>| match record {
                None => "-".to_owned(),
                Some(record) => {
                    record.text("status").or_else(|| record.text("role")).unwrap_or("there").to_owned()
                }
            };
            let row = |row: &ImportRow<K>| {
                let differs = row.differing().join(", ");
                let mut cells =
                    vec![row.kind.to_string(), row.id.clone(), said(&row.file), said(&row.artifact), differs];
                cells.truncate(self.columns.len());
                cells
            };
            output.line(table(self.columns, found.rows.iter().map(row)));
        }
        let disputed = found.rows.iter().filter(|row| row.is_disputed()).count();
        let undecided = side.undecided(disputed, self.file);
        if side.dry_run || undecided.is_some() {
            output.answer(|| self.answer(found, None));
        }
        undecided.map_or(Ok(!side.dry_run), Err)
    }

    fn tell<K: RecordKinds>(&self, found: &ImportSurvey<K>, count: usize, output: &Output) {
        output.answer(|| self.answer(found, Some(count)));
        let (count, same) = (spinner::count(count, "record"), spinner::count(found.same, "record"));
        output.remark(format_args!("{count} written, {same} the same"));
        if let Some(system) = self.switched_on {
            output.remark(format_args!("{system} is switched on in .stepmark/config.yaml"));
        }
    }

    fn answer<'a, K: RecordKinds>(
        &'a self,
        found: &'a ImportSurvey<K>,
        written: Option<usize>,
    ) -> Answer<'a> {
        let row = |row: &'a ImportRow<K>| RecordRow {
            kind: row.kind.name(),
            id: &row.id,
            file: row.file.as_ref().map(|record| &*record.values),
            artifact: row.artifact.as_ref().map(|record| &*record.values),
        };
        let (records, same) = (found.rows.iter().map(row).collect(), found.same);
        match &self.option {
            Some(option) => Answer::Coordination { option, records, same, written },
            None => Answer::Asdd { records, same, written },
        }
    }
}

answers! { Answer<'a>
    /// `import coordination`: records that a state file has otherwise, and what was written
    "stepmark.import-coordination/1" Coordination {
        option: &'a str, records: Vec<RecordRow<'a>>, same: usize, written: Option<usize>,
    }
    /// `import asdd`: records that a manifest has otherwise, and what was written
    "stepmark.import-asdd/1" Asdd { records: Vec<RecordRow<'a>>, same: usize, written: Option<usize> }
    struct RecordRow<'a> {
        kind: &'static str, id: &'a str, file: Option<&'a Map<String, Json>>,
        artifact: Option<&'a Map<String, Json>>,
    }
}
