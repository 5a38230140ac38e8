//! `stepmark import coordination`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value as Json, json};
use stepmark_frontmatter::{KeyPath, Value};
use stepmark_store::{
    coordination::{ImportRow, ImportSide, ImportSurvey},
    workspace::Workspace,
};

use crate::{
    commands::coordination::{coordination, report},
    exit::{Exit, Failure},
    output::{Output, table, wording},
    project::Project,
};

/// Bring tasks, agents and discoveries of a state file into artifacts
///
/// Reads `tasks.json` and its siblings (option A), `mcp-state.json` (option B) or the state file of an
/// orchestrator (option C), which are told apart by what they hold. New records become artifacts. Where a
/// record and the file disagree, `--take` says which counts; without it nothing is written and the exit code
/// is 1. Records that the file has no more stay, unless `--remove` is given.
#[derive(Debug, Args)]
pub(crate) struct ImportCoordination {
    /// A state file, or the folder of several, also outside of the project; without it the files that the
    /// project itself writes
    path: Option<PathBuf>,
    /// The side that counts where both say something
    #[arg(long, value_name = "SIDE")]
    take: Option<Side>,
    /// Take away records that the file has no more
    #[arg(long)]
    remove: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// A side on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Side {
    /// The state file
    File,
    /// The artifact
    Artifact,
}

impl ImportCoordination {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let is_new = project.workspace.coordination().is_none();
        let workspace = project.workspace.clone().with_coordination();
        let survey = self.survey(project, &workspace)?;
        let disputed = survey.rows.iter().filter(|row| row.is_disputed()).count();
        show(&survey, output);
        let is_undecided = disputed > 0 && self.take.is_none();
        if self.dry_run || is_undecided {
            output.json_or("stepmark.import-coordination/1", || wire(&survey, None), || {});
        }
        if is_undecided {
            return Err(Failure::new(
                Exit::Findings,
                format!(
                    "{} something else than the file, and nobody said which counts; nothing was written",
                    match disputed {
                        1 => "1 record says".to_owned(),
                        count => format!("{count} records say"),
                    }
                ),
            )
            .with_help("say which: `--take file` or `--take artifact`; `--dry-run` shows them"));
        }
        if self.dry_run {
            return Ok(Exit::Fine);
        }
        let side = |_: &ImportRow| match self.take {
            Some(Side::Artifact) => ImportSide::Artifact,
            // Without a word none is disputed.
            Some(Side::File) | None => ImportSide::File,
        };
        let workspace = match is_new {
            true => {
                let option = "coordination.option".parse::<KeyPath>();
                let option = option.map_err(|error| Failure::from_error(Exit::Usage, &error))?;
                workspace.configure(option, Value::from(survey.format.to_string()))?
            }
            false => workspace,
        };
        let coordination = coordination(&workspace)?;
        let (count, files) = coordination.import(&survey, side, self.remove)?;
        output.json_or(
            "stepmark.import-coordination/1",
            || wire(&survey, Some(count)),
            || {
                let (count, same) = (wording::count(count, "record"), wording::count(survey.same, "record"));
                output.remark(format_args!("{count} written, {same} the same"));
                report::odd(&survey, output);
                if is_new {
                    output.remark("coordination is switched on in .stepmark/config.yaml");
                }
            },
        );
        Ok(report::told(&files, output))
    }
}

impl ImportCoordination {
    fn survey(&self, project: &Project, workspace: &Workspace) -> Result<ImportSurvey, Failure> {
        let coordination = coordination(workspace)?;
        let survey = match self.path.as_deref().map(|path| (path, project.path(path))) {
            None => coordination.survey(None),
            Some((_, Ok(path))) => coordination.survey(Some(&path)),
            // Reading it changes nothing there.
            Some((given, Err(_))) => coordination.survey_outside(&project.place(given)),
        };
        Ok(survey?)
    }
}

fn show(survey: &ImportSurvey, output: &Output) {
    if output.json || survey.rows.is_empty() {
        return;
    }
    let said = |record: &Option<stepmark_model::coordination::Record>| match record {
        None => "-".to_owned(),
        Some(record) => record.text("status").or_else(|| record.text("role")).unwrap_or("there").to_owned(),
    };
    let row = |row: &ImportRow| {
        let differs = row.differing().join(", ");
        vec![row.kind.to_string(), row.id.clone(), said(&row.file), said(&row.artifact), differs]
    };
    output.line(table(&["KIND", "ID", "FILE", "ARTIFACT", "DIFFERS"], survey.rows.iter().map(row)));
}

fn wire(survey: &ImportSurvey, written: Option<usize>) -> Json {
    let row = |row: &ImportRow| {
        json!({
            "kind": row.kind.to_string(),
            "id": row.id,
            "file": row.file.as_ref().map(|record| &record.values),
            "artifact": row.artifact.as_ref().map(|record| &record.values),
        })
    };
    json!({
        "option": survey.format.to_string(),
        "records": survey.rows.iter().map(row).collect::<Vec<_>>(),
        "same": survey.same,
        "written": written,
    })
}
