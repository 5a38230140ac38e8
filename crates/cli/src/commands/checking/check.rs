//! `stepmark check`

use std::{collections::BTreeSet, path::PathBuf};

use super::{
    super::memory,
    doctor::{self, FixArguments, Fixing},
};
use crate::{
    exit::{Exit, Failure, foreign_head},
    output::{
        self, ListArguments, Output, Row,
        findings::{Checked, CheckedFile, Detail, FixedArtifact, Format},
        spinner, table, with_spinner,
    },
    project::Project,
};
use clap::Args;
use stepmark_model::{
    artifact::ProjectPath,
    check::{Finding, RULES, Rule, Severity, rule_of},
};
use stepmark_store::{
    checking::{BASELINE_PATH, CheckReport, CheckedBefore, Known, Selection},
    git::{Comparison, GitVersion},
    manifest::CacheOutcome,
    repository::{ChangedArtifact, ChangedArtifacts},
    workspace::Artifacts,
};

/// Find what is unreadable, what is odd, and what disagrees
///
/// Ends with 1 when there is an error or a warning. Notes never fail. `stepmark explain` lists the rules.
#[derive(Debug, Default, Args)]
pub(crate) struct Check {
    /// Files and folders; without any, all artifacts of the project
    #[arg(conflicts_with_all = ["staged", "from"])]
    paths: Vec<PathBuf>,
    /// Check what the next commit changes: the artifacts in the index of git, and what became of them since
    /// HEAD
    ///
    /// The work tree is neither read nor written, so unstaged changes do not count. With --fix it is written,
    /// where it holds what is staged; else the patch is printed.
    #[arg(long)]
    staged: bool,
    /// Check what a branch changes since it left this commit, as in a pull request
    #[arg(long, value_name = "COMMIT", conflicts_with_all = ["staged", "fix"])]
    from: Option<String>,
    /// With --from: the last commit of the branch
    #[arg(long, value_name = "COMMIT", requires = "from", default_value = "HEAD")]
    to: String,
    #[command(flatten)]
    fixes: FixArguments,
    /// How findings are written; `--json` is short for `--format json`
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write what is found to `.stepmark/baseline.json`: from then on only what is new is reported
    #[arg(long, conflicts_with_all = ["paths", "staged", "from", "fix", "diff"])]
    write_baseline: bool,
    #[command(flatten)]
    list: ListArguments,
}

impl Check {
    pub(crate) fn of_place(place: PathBuf, list: ListArguments) -> Self {
        Self { paths: vec![place], list, ..Self::default() }
    }

    /// `None` checks the work tree.
    pub(crate) fn comparison(&self) -> Option<Comparison> {
        match &self.from {
            Some(from) => Some(Comparison::Commits { from: from.clone(), to: self.to.clone() }),
            None => self.staged.then_some(Comparison::Index),
        }
    }

    pub(crate) fn run_on_changes(
        &self,
        project: &Project,
        version: &GitVersion,
        output: &Output,
    ) -> Result<Exit, Failure> {
        let format = self.format(output)?;
        let changed = project.workspace.repository().changed_artifacts(version)?;
        let (artifacts, others) = apart(changed);
        if self.staged && artifacts.is_empty() && others.is_whole() && matches!(format, Format::Human) {
            output.remark("no artifact is staged: `git add` stages what the next commit is to hold");
        }
        let found = project.workspace.checks().check_changes(&artifacts, version)?;
        match self.fixes.fixing() {
            Fixing::Offered => self.report((project, output), format, &others, &found, Vec::new()),
            Fixing::Shown(allowed) => {
                doctor::show_changes(project, output, version, &artifacts, &found, allowed)?;
                Ok(exit(&others, found.findings()))
            }
            Fixing::Made(allowed) => {
                let fixed = doctor::make_staged(project, version, &artifacts, &found, allowed);
                // What a version changes can be asked once.
                let version = GitVersion::open(project.root(), &Comparison::Index)?;
                let (artifacts, others) = apart(project.workspace.repository().changed_artifacts(&version)?);
                let found = project.workspace.checks().check_changes(&artifacts, &version)?;
                let exit = self.report((project, output), format, &others, &found, fixed.files)?;
                doctor::show_patches(output, format, &fixed.patches);
                doctor::first_failure(output, fixed.failures).map_or(Ok(exit), Err)
            }
        }
    }

    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let format = self.format(output)?;
        let (checked, before) = self.artifacts(project, output)?;
        if self.write_baseline {
            return write_baseline(project, output, &checked, before);
        }
        let found = self.found(project, &checked, before)?;
        match self.fixes.fixing() {
            Fixing::Offered => self.report((project, output), format, &checked, &found, Vec::new()),
            Fixing::Shown(allowed) => {
                doctor::show(project, output, &found, allowed)?;
                Ok(exit(&checked, found.findings()))
            }
            Fixing::Made(allowed) => {
                let fixed = doctor::make(project, &found, allowed);
                let (checked, before) = self.artifacts(project, output)?;
                let found = self.found(project, &checked, before)?;
                let exit = self.report((project, output), format, &checked, &found, fixed.files)?;
                doctor::first_failure(output, fixed.failures).map_or(Ok(exit), Err)
            }
        }
    }

    /// `checked` knows unreadable files.
    fn report(
        &self,
        (project, output): (&Project, &Output),
        format: Format,
        checked: &Artifacts,
        found: &CheckReport<'_>,
        fixed: Vec<FixedArtifact>,
    ) -> Result<Exit, Failure> {
        let exit = exit(checked, found.findings());
        // People and GitHub look from where the command was started.
        let is_seen = matches!(format, Format::Human | Format::Short | Format::Github);
        let seen = |path: &ProjectPath| if is_seen { project.seen(path) } else { path.clone() };
        let paths: Vec<ProjectPath> = found.files.iter().map(|file| seen(&file.path)).collect();
        let files = found.files.iter().zip(&paths);
        let files = files.map(|(file, path)| CheckedFile::at(path, &file.bytes, &file.findings));
        let report = Checked::new(files.collect(), spinner::unreadable(checked))
            .after(fixed)
            .with_left_out(found.left_out)
            .with_beside(found.beside)
            .cut(self.list.limit());
        let detail = if output.quiet { Detail::Problems } else { Detail::Full };
        let mut text = report.rendered(format, detail)?;
        if format == Format::Json {
            text = self.list.keep_fields_of(&text, "findings")?;
        }
        output.rendered(&text, format.reader());
        report.unreadable().iter().for_each(|problem| output.warning(problem));
        if let CacheOutcome::NotWritten { reason } = &found.cache {
            output.remark(format_args!("what is clean cannot be kept for the next check: {reason}"));
        }
        for file in report.fixed() {
            doctor::warn_of_declined(output, &file.path, &file.declined);
        }
        Ok(exit)
    }

    fn found<'t>(
        &self,
        project: &Project,
        checked: &'t Artifacts,
        before: CheckedBefore<'_>,
    ) -> Result<CheckReport<'t>, Failure> {
        let (workspace, artifacts) = (&project.workspace, &checked.artifacts);
        if self.paths.is_empty() {
            let mut found = workspace.checks().check_all(artifacts, before, Known::LeftOut)?;
            if let Err(failure) = workspace.checks().add_lost_in_merges(&mut found) {
                output::warning(format_args!("merges are not checked against history: {failure}"));
            }
            if let Err(failure) = workspace.checks().add_records(&mut found, artifacts, |_| true) {
                output::warning(format_args!("records are not held against history: {failure}"));
            }
            if let Err(failure) = memory::add_findings(project, &mut found) {
                output::warning(format_args!("memory is not checked: {}", failure.message));
            }
            return Ok(found);
        }
        let mut found = workspace.check(artifacts, Selection::Some, Known::LeftOut)?;
        let places: Vec<PathBuf> = self.paths.iter().map(|given| project.place(given)).collect();
        let named: BTreeSet<&ProjectPath> = artifacts.iter().map(|own| own.path()).collect();
        workspace.checks().add_records(&mut found, artifacts, |path| {
            let place = project.root().path().join(path.as_str());
            named.contains(path) || places.iter().any(|given| place.starts_with(given))
        })?;
        Ok(found)
    }

    fn format(&self, output: &Output) -> Result<Format, Failure> {
        let is_other = output.json || !matches!(self.format, None | Some(Format::Human));
        if is_other && matches!(self.fixes.fixing(), Fixing::Shown(_)) {
            return Err(Failure::new(Exit::Usage, "`--diff` prints a patch, which has no other format")
                .with_help(
                    "leave `--diff` or the format out: JSON and SARIF have the fixes beside their findings",
                ));
        }
        if self.list.limit().is_some()
            && matches!(self.format, Some(Format::Sarif | Format::Github | Format::Junit))
        {
            return Err(Failure::new(
                Exit::Usage,
                "`--limit` goes with text and JSON; other formats have all findings",
            )
            .with_help("leave `--limit` out"));
        }
        match self.format {
            None if output.json => Ok(Format::Json),
            Some(Format::Json) | None => Ok(self.format.unwrap_or_default()),
            Some(_) if output.json => {
                Err(Failure::new(Exit::Usage, "`--json` and another `--format` cannot both be meant")
                    .with_help("leave one of them out"))
            }
            Some(format) => Ok(format),
        }
    }

    /// A folder means the artifacts in it. Without paths all of the project, except those that were clean
    /// before.
    fn artifacts<'p>(
        &self,
        project: &'p Project,
        output: &Output,
    ) -> Result<(Artifacts, CheckedBefore<'p>), Failure> {
        const DOING: &str = "checking artifacts";
        let workspace = &project.workspace;
        if self.paths.is_empty() {
            return Ok(with_spinner(DOING, output.quiet, workspace.files_looked_at(), || {
                workspace.checks().artifacts_to_check()
            })?);
        }
        let all = || with_spinner(DOING, output.quiet, workspace.files_looked_at(), || workspace.artifacts());
        let mut chosen = Artifacts::default();
        let mut folders: Vec<Option<ProjectPath>> = Vec::new();
        for given in &self.paths {
            if project.is_folder(given) {
                folders.push(project.folder(given)?);
                continue;
            }
            let artifact = project.artifact(given)?;
            if let Some(form) = artifact.artifact().document().foreign_head() {
                output.note(format_args!("{}: {}", artifact.path(), foreign_head(form)));
            }
            chosen.artifacts.push(artifact);
        }
        if !folders.is_empty() {
            let found = all()?;
            let lies_in = |path: &ProjectPath| {
                folders.iter().any(|folder| folder.as_ref().is_none_or(|folder| path.starts_with(folder)))
            };
            chosen.artifacts.extend(found.artifacts.into_iter().filter(|artifact| lies_in(artifact.path())));
            chosen.problems = found.problems;
            chosen
                .problems
                .retain(|problem| ProjectPath::new(&problem.path).is_ok_and(|path| lies_in(&path)));
            chosen.unreadable = found.unreadable;
            chosen.unreadable.retain(|error| error.path().is_some_and(lies_in));
        }
        chosen.artifacts.sort_by(|one, other| one.path().cmp(other.path()));
        chosen.artifacts.dedup_by(|one, other| one.path() == other.path());
        Ok((chosen, CheckedBefore::default()))
    }
}

fn apart(changed: ChangedArtifacts) -> (Vec<ChangedArtifact>, Artifacts) {
    let ChangedArtifacts { artifacts, problems, unreadable } = changed;
    (artifacts, Artifacts { problems, unreadable, ..Artifacts::default() })
}

fn write_baseline(
    project: &Project,
    output: &Output,
    checked: &Artifacts,
    before: CheckedBefore<'_>,
) -> Result<Exit, Failure> {
    let found = project.workspace.checks().check_all(&checked.artifacts, before, Known::Reported)?;
    let written = project.workspace.checks().write_baseline(&found)?;
    output.answer(|| Answer::Baseline { path: BASELINE_PATH, findings: written });
    output.remark(format_args!("{BASELINE_PATH}: {}", spinner::count(written, "finding")));
    spinner::unreadable(checked).iter().for_each(|problem| output.warning(problem));
    Ok(if checked.is_whole() { Exit::Fine } else { Exit::Io })
}

fn exit<'f>(checked: &Artifacts, mut findings: impl Iterator<Item = &'f Finding>) -> Exit {
    if !checked.is_whole() {
        Exit::Io
    } else if findings.any(|finding| finding.severity != Severity::Note) {
        Exit::Findings
    } else {
        Exit::Fine
    }
}

/// Print what a rule of `check` finds, why that matters, and how to fix it
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The id or the name of a rule: `SM106`, `key-twice`; without it all rules are listed
    rule: Option<String>,
    #[command(flatten)]
    list: ListArguments,
}

impl Explain {
    pub(crate) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let Some(name) = &self.rule else {
            list(&self.list, output)?;
            return Ok(Exit::Fine);
        };
        let rule = rule_of(name).ok_or_else(|| {
            Failure::new(Exit::Usage, format!("there is no rule `{name}`"))
                .with_help("`stepmark explain` lists them")
        })?;
        output.answer(|| Answer::Rule { rule: RuleRow::of(rule), page: rule.page() });
        output.line(rule.page().trim_end());
        Ok(Exit::Fine)
    }
}

fn list(list: &ListArguments, output: &Output) -> Result<(), Failure> {
    let mut rules: Vec<&Rule> = RULES.to_vec();
    let answer = |rules, more| Answer::Rules { rules, more };
    list.answer(
        output,
        &mut rules,
        |rule| RuleRow::of(rule),
        answer,
        |rules| {
            let rows = rules.iter().map(|rule| {
                [rule.id, rule.name, rule.severity.as_str(), rule.summary()].map(str::to_owned).to_vec()
            });
            output.line(table(&["ID", "NAME", "SEVERITY", "FINDS"], rows));
        },
    )
}

answers! { Answer
    /// `check --write-baseline`: how many findings are known from now on
    "stepmark.baseline-written/1" Baseline { path: &'static str, findings: usize }
    /// `explain`: all rules
    "stepmark.rules/1" Rules { rules: Vec<Row<RuleRow>>, more: usize }
    /// `explain RULE`: one rule
    "stepmark.explain/1" Rule { #[serde(flatten)] rule: RuleRow, page: String }
    struct RuleRow {
        id: &'static str, name: &'static str, group: &'static str, severity: &'static str,
        summary: &'static str,
    }
}

impl RuleRow {
    fn of(rule: &Rule) -> Self {
        let &Rule { id, name, severity, ref group, .. } = rule;
        Self { id, name, group: group.title(), severity: severity.as_str(), summary: rule.summary() }
    }
}
