//! `stepmark import bmad-7`

use std::collections::BTreeMap;

use clap::Args;
use stepmark_model::{
    artifact::ProjectPath,
    bmad::migration::{MigratedRow, Migration},
};

use crate::{
    exit::{Exit, Failure},
    output::{Output, spinner, table},
    project::Project,
};

/// Bring a project of BMAD 6 to BMAD 7: its epics and stories become tickets
///
/// Shows what goes where, and asks. A story file becomes a leaf file, a spec the plan of its ticket, and the
/// old files go to `archive-v6/` as they are: one change, which `--undo` takes back. `--verify` looks into
/// both trees afterwards and names what is lost.
#[derive(Debug, Args)]
pub(crate) struct ImportBmad7 {
    /// The name of the initiative
    #[arg(long, value_name = "NAME", default_value = "product")]
    initiative: String,
    /// What a word of the sprint means: `shipped=done`
    #[arg(long = "word", value_name = "WORD=STATUS", value_parser = word)]
    words: Vec<(String, String)>,
    /// Show what would be written, and write nothing
    #[arg(long, conflicts_with = "verify")]
    dry_run: bool,
    /// Do not ask
    #[arg(long, conflicts_with = "verify")]
    yes: bool,
    /// Take it back: as long as nobody has changed what it made
    #[arg(long, conflicts_with_all = ["dry_run", "yes", "verify"])]
    undo: bool,
    /// Look whether anything was lost
    #[arg(long)]
    verify: bool,
}

fn word(text: &str) -> Result<(String, String), String> {
    let (word, status) = text.split_once('=').ok_or("WORD=STATUS is wanted")?;
    Ok((word.trim().to_lowercase(), status.trim().to_owned()))
}

answers! { Answer<'a>
    /// `import bmad-7`: what becomes of epics and stories, and whether it was written
    "stepmark.import-bmad-7/1" Imported {
        /// Each epic and story, and what becomes of it
        rows: &'a [MigratedRow],
        /// Words that have no meaning yet: nothing is written before they have
        unknown: &'a [(String, String)],
        /// Entries of the ledger that are no epic and no story: they stay in the archive alone
        unplaced: &'a [String],
        /// The old files, and their places in the archive
        archived: &'a [(ProjectPath, ProjectPath)],
        written: bool,
    }
    /// `import bmad-7 --verify`: what the tickets lack of the sprint in the archive
    "stepmark.import-bmad-7-verify/1" Verified {
        /// The number of epics and stories that were looked for
        rows: usize,
        /// Those that are lost, by key, each with the reason
        lost: &'a [(String, String)],
    }
}

impl ImportBmad7 {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let words: BTreeMap<String, String> = self.words.iter().cloned().collect();
        if self.verify {
            return self.verify(project, &words, output);
        }
        if self.undo {
            return self.take_back(project, &words, output);
        }
        let six = project.workspace.six_project(false).ok_or_else(|| {
            Failure::new(Exit::Findings, "there is no `sprint-status.yaml` in the output folder of BMAD")
                .with_help("a project without a sprint begins with BMAD 7 as it is")
        })?;
        let failed = |reason: String| Failure::new(Exit::Findings, format!("nothing was written: {reason}"));
        let made = six.migrated(&self.initiative, &words).map_err(failed)?;
        if !output.json {
            show(&made, output);
        }
        if let Some((key, word)) = made.unknown.first() {
            answer(&made, false, output);
            return Err(Failure::new(Exit::Findings, format!("nothing was written: `{word}` of `{key}` is no word of BMAD"))
                .with_help(format!("say what it means: `stepmark import bmad-7 --word {word}=STATUS`, one of draft, ready-for-dev, in-progress, in-review, built, done, blocked, dropped")));
        }
        let is_meant = !self.dry_run
            && (self.yes
                || output.asks(format_args!(
                    "write {}, and move {} into the archive?",
                    spinner::count(made.files.len(), "file"),
                    spinner::count(made.archived.len(), "file")
                ))?);
        if is_meant {
            project.workspace.migrate(&made)?;
            let name = &self.initiative;
            output.remark(format_args!(
                "{} written; `stepmark import bmad-7 --verify --initiative {name}` looks whether anything is lost",
                spinner::count(made.files.len(), "file")
            ));
            output.remark(format_args!("say what you work on: `active_initiative = \"{name}\"` below `[core]` in _bmad/custom/config.user.toml"));
        } else if !self.dry_run {
            return Err(Failure::new(Exit::Findings, "nothing was written").with_help("`--yes` writes it"));
        }
        answer(&made, is_meant, output);
        Ok(Exit::Fine)
    }

    fn take_back(
        &self,
        project: &Project,
        words: &BTreeMap<String, String>,
        output: &Output,
    ) -> Result<Exit, Failure> {
        let six = project.workspace.six_project(true);
        let six = six.ok_or_else(|| Failure::new(Exit::Findings, "there is no archive of BMAD 6"))?;
        let made =
            six.migrated(&self.initiative, words).map_err(|reason| Failure::new(Exit::Findings, reason))?;
        project.workspace.migrate_back(&made, &six.output)?;
        answer(&made, true, output);
        output.remark(format_args!("{} are where they were", spinner::count(made.archived.len(), "file")));
        Ok(Exit::Fine)
    }

    fn verify(
        &self,
        project: &Project,
        words: &BTreeMap<String, String>,
        output: &Output,
    ) -> Result<Exit, Failure> {
        let looked = project.workspace.lost_in_migration(&self.initiative, words).ok_or_else(|| {
            let message = format!("there is no archive of BMAD 6, or no initiative `{}`", self.initiative);
            Failure::new(Exit::Findings, message).with_help("`stepmark import bmad-7` makes both")
        })?;
        let (count, lost) = looked.map_err(|reason| Failure::new(Exit::Findings, reason))?;
        output.answer(|| Answer::Verified { rows: count, lost: &lost });
        lost.iter().for_each(|(key, reason)| output.line(format_args!("{key}: {reason}")));
        if lost.is_empty() {
            output.remark(format_args!("nothing is lost of {count} epics and stories"));
            return Ok(Exit::Fine);
        }
        Ok(Exit::Findings)
    }
}

fn answer(made: &Migration, written: bool, output: &Output) {
    let Migration { rows, unknown, unplaced, archived, .. } = made;
    output.answer(|| Answer::Imported { rows, unknown, unplaced, archived, written });
}

fn show(made: &Migration, output: &Output) {
    let cells = |row: &MigratedRow| {
        let files: Vec<&str> = row.files.iter().map(|path| path.file_name()).collect();
        let from = row.from.clone().unwrap_or_else(|| "-".to_owned());
        vec![row.key.clone(), from, row.ticket.clone(), row.to.clone(), files.join(", ")]
    };
    output.line(table(&["WAS", "STATUS", "BECOMES", "STATUS", "FILES"], made.rows.iter().map(cells)));
    for row in made.rows.iter().filter(|row| !row.left.is_empty()) {
        output.warning(format_args!("{}: stays in the archive alone: {}", row.key, row.left.join(", ")));
    }
    for key in &made.unplaced {
        output.warning(format_args!("{key}: is no epic and no story: it stays in the archive alone"));
    }
    for (key, word) in &made.unknown {
        output.warning(format_args!("{key}: `{word}` is no word of BMAD"));
    }
}
