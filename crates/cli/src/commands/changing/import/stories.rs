//! `stepmark import stories`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stepmark_model::{
    artifact::{ProjectPath, natural_order},
    bmad::sprint::{StorySide, StorySides},
};
use stepmark_store::bmad::sprint::{ImportDecision, StoryImport, StorySurvey};

use crate::{
    commands::checking::project::projection::{LedgersDone, excerpts, problems},
    exit::{Exit, Failure, chain},
    output::{Output, spinner, table},
    project::Project,
};

/// Bring the status of BMAD's stories into their frontmatter
///
/// A story may say its status in its frontmatter, in the line `Status:` of its body, and in
/// `sprint-status.yaml`. All disagreements are shown. Where there are some `--prefer` must say which side
/// wins, or nothing is written and the exit code is 1. Then line and ledger are brought to the frontmatter,
/// so that all agree. A story whose ledger cannot be read is left out: what all sides say of it is not known.
#[derive(Debug, Args)]
pub(crate) struct Stories {
    /// Stories, or folders with stories; without any all of the project
    paths: Vec<PathBuf>,
    /// The side that wins where sides disagree; of a story of which it says nothing, the others must agree
    #[arg(long, value_name = "SIDE")]
    prefer: Option<Side>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// A side on the command line, or how to find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Side {
    /// `status` in the frontmatter
    Frontmatter,
    /// The line `Status:` of the body
    StatusLine,
    /// `sprint-status.yaml`
    SprintStatus,
    /// The one that is furthest along, as after a workflow of BMAD that moved the story in line and ledger
    /// only
    Furthest,
}

impl Side {
    pub(super) const EACH: [(Self, StorySide); 3] = [
        (Self::Frontmatter, StorySide::Frontmatter),
        (Self::StatusLine, StorySide::StatusLine),
        (Self::SprintStatus, StorySide::SprintStatus),
    ];

    pub(super) fn winner(self, sides: &StorySides) -> Option<StorySide> {
        match Self::EACH.iter().find(|(side, _)| *side == self) {
            Some((_, side)) => sides.winner(Some(*side)),
            None => sides.furthest(),
        }
    }

    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// No winner without `--prefer`.
struct Row<'s> {
    sides: &'s StorySides,
    winner: Option<StorySide>,
}

impl Stories {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let survey = project.workspace.ledgers().survey(&self.asked(project)?)?;
        let winner =
            |sides: &StorySides| self.prefer.map_or_else(|| sides.winner(None), |side| side.winner(sides));
        let row = |sides| Row { sides, winner: winner(sides) };
        let mut rows: Vec<Row<'_>> = survey.stories.iter().map(row).collect();
        rows.sort_by(|one, other| natural_order(one.sides.path.as_str(), other.sides.path.as_str()));
        rows.retain(|row| row.decision().is_none_or(|decision| decision.is_needed()));
        show(output, &survey, &rows);
        let undecided = rows.iter().filter(|row| row.winner.is_none()).count();
        if self.dry_run {
            output.answer(|| answer(&survey, &rows, None));
            let is_fine = undecided == 0 && is_readable(&survey);
            return Ok(if is_fine { Exit::Fine } else { Exit::Findings });
        }
        if undecided > 0 {
            output.answer(|| answer(&survey, &rows, None));
            return Err(undecided_failure(undecided, self.prefer));
        }
        let decisions: Vec<ImportDecision> = rows.iter().filter_map(Row::decision).collect();
        let done = project.workspace.ledgers().import(&decisions, &self.command());
        output.answer(|| answer(&survey, &rows, Some(&done)));
        report(output, &done, rows.is_empty());
        let is_whole = done.failed.is_empty() && done.changed_meanwhile.is_empty() && done.ledgers.is_whole();
        Ok(if is_whole && is_readable(&survey) { Exit::Fine } else { Exit::Findings })
    }

    fn asked(&self, project: &Project) -> Result<Vec<ProjectPath>, Failure> {
        let mut asked = Vec::new();
        for given in &self.paths {
            match project.folder_or_artifact(given)? {
                Some(path) => asked.push(path),
                None => return Ok(Vec::new()),
            }
        }
        Ok(asked)
    }

    fn command(&self) -> String {
        match self.prefer {
            Some(side) => format!("import stories --prefer {}", side.name()),
            None => "import stories".to_owned(),
        }
    }
}

impl Row<'_> {
    fn decision(&self) -> Option<ImportDecision> {
        Some(ImportDecision { sides: self.sides.clone(), winner: self.winner? })
    }

    fn cells(&self) -> Vec<String> {
        let said = |side: StorySide| self.sides.word(side).unwrap_or("-").to_owned();
        let mut cells = vec![self.sides.path.to_string()];
        cells.extend(StorySide::ALL.map(said));
        let chosen = self.winner.and_then(|winner| self.sides.chosen(winner));
        cells.push(chosen.unwrap_or("?").to_owned());
        cells
    }
}

fn is_readable(survey: &StorySurvey) -> bool {
    survey.broken.is_empty() && survey.unreadable.is_empty()
}

fn show(output: &Output, survey: &StorySurvey, rows: &[Row<'_>]) {
    survey.unreadable.iter().for_each(|error| output.warning(chain(error)));
    excerpts(&survey.broken).iter().for_each(|excerpt| output.styled_line(excerpt));
    for (story, ledger) in &survey.waiting {
        output.warning(format_args!("{story}: left out, since `{ledger}` cannot be read"));
    }
    if rows.is_empty() && survey.stories.is_empty() && !survey.waiting.is_empty() {
        return;
    }
    if rows.is_empty() {
        output.remark(format_args!(
            "{}: all that is said is in the frontmatter",
            stories(survey.stories.len())
        ));
    } else {
        let header = ["STORY", "FRONTMATTER", "STATUS LINE", "SPRINT STATUS", "CHOSEN"];
        output.line(table(&header, rows.iter().map(Row::cells)));
    }
}

fn stories(count: usize) -> String {
    if count == 1 { "1 story".to_owned() } else { format!("{count} stories") }
}

fn undecided_failure(count: usize, prefer: Option<Side>) -> Failure {
    let (disagree, them) = if count == 1 {
        ("1 story disagrees with its".to_owned(), "it")
    } else {
        (format!("{count} stories disagree with their"), "them")
    };
    match prefer {
        None => Failure::new(Exit::Findings, format!("{disagree} ledgers, and nobody said which side wins; nothing was written"))
            .with_help("say which: `--prefer frontmatter`, `--prefer status-line`, `--prefer sprint-status`, or `--prefer furthest` for the one that is furthest along; `--dry-run` shows what it comes to"),
        Some(Side::Furthest) => Failure::new(Exit::Findings, format!("{disagree} ledgers in words that have no order; nothing was written"))
            .with_help(format!("import {them} first, by the side that is right: `stepmark import stories --prefer SIDE PATH…`")),
        Some(side) => Failure::new(Exit::Findings, format!("{disagree} ledgers, and `{}` says nothing of {them}; nothing was written", side.name()))
            .with_help(format!("import {them} first, by a side that says something: `stepmark import stories --prefer SIDE PATH…`")),
    }
}

fn report(output: &Output, done: &StoryImport, is_idle: bool) {
    done.failed.iter().for_each(|error| output.warning(chain(error)));
    for path in &done.changed_meanwhile {
        output.warning(format_args!(
            "{path}: left, since it changed after it was shown; run the command again"
        ));
    }
    problems(&done.ledgers).iter().for_each(|line| output.warning(line));
    if is_idle {
        return;
    }
    output.remark(format_args!(
        "{} written, {} unchanged; {} of ledgers written",
        stories(done.written.len()),
        done.unchanged,
        spinner::count(done.ledgers.written.len(), "value"),
    ));
}

answers! { Answer<'a>
    /// `import stories`: disagreements, and what was brought in
    "stepmark.import-stories/1" Stories {
        stories: Vec<StoryRow<'a>>, waiting_for_ledger: Vec<WaitingStory<'a>>,
        #[serde(flatten)] done: Option<StoriesDone<'a>>,
    }
    struct StoriesDone<'a> { ledgers: LedgersDone, failed: Vec<String>, changed_meanwhile: &'a [ProjectPath] }
    struct WaitingStory<'a> { path: &'a ProjectPath, ledger: &'a ProjectPath }
    struct StoryRow<'a> {
        path: &'a ProjectPath, frontmatter: Option<&'a str>, status_line: Option<&'a str>,
        sprint_status: Option<&'a str>, disputed: bool, winner: Option<&'static str>,
        chosen: Option<&'a str>, written: bool,
    }
}

fn answer<'a>(survey: &'a StorySurvey, rows: &[Row<'a>], done: Option<&'a StoryImport>) -> Answer<'a> {
    let row = |row: &Row<'a>| StoryRow {
        path: &row.sides.path,
        frontmatter: row.sides.word(StorySide::Frontmatter),
        status_line: row.sides.word(StorySide::StatusLine),
        sprint_status: row.sides.word(StorySide::SprintStatus),
        disputed: row.sides.is_disputed(),
        winner: row.winner.map(StorySide::as_str),
        chosen: row.winner.and_then(|winner| row.sides.chosen(winner)),
        written: done.is_some_and(|done| done.written.contains(&row.sides.path)),
    };
    Answer::Stories {
        stories: rows.iter().map(row).collect(),
        waiting_for_ledger: survey
            .waiting
            .iter()
            .map(|(path, ledger)| WaitingStory { path, ledger })
            .collect(),
        done: done.map(|done| StoriesDone {
            ledgers: LedgersDone::of(&done.ledgers),
            failed: done.failed.iter().map(|error| chain(error)).collect(),
            changed_meanwhile: &done.changed_meanwhile,
        }),
    }
}
