//! Projections, each rebuilt as a whole, and their report.

use std::mem;

use super::Project;
use crate::{
    commands::viewing::query::brought,
    environment::Environment,
    exit::{Failure, chain},
    output::{Excerpt, Output, spinner},
    project::Project as OpenProject,
};
use schemars::JsonSchema;
use serde::Serialize;
use stepmark_frontmatter::Position;
use stepmark_model::{
    artifact::ProjectPath, bmad::sprint::LedgerEntry, check::Finding, projection::ProjectionFacts,
};
use stepmark_store::{
    Error,
    bmad::sprint::{BrokenSprintStatus, LedgerProjection},
    disk::WalkProblemKind,
    gates::GateRebuild,
    manifest::{IgnoreFiles, ManifestChoice, ManifestDraft, ManifestPlace},
    projection::Published,
    workspace::Artifacts,
};

/// Read once for all projections.
#[derive(Default)]
pub(super) struct AllArtifacts(Option<Artifacts>);

impl AllArtifacts {
    fn read(&mut self, project: &OpenProject) -> Result<&mut Artifacts, Error> {
        Ok(match &mut self.0 {
            Some(artifacts) => artifacts,
            unread => unread.insert(project.workspace.artifacts()?),
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Projection {
    Ledgers,
    Gates,
    FilesManifest,
    Catalogues,
    AutodevSummary,
    PackFiles,
    Index,
}

impl Projection {
    /// A projection comes before those that are made of it.
    pub(super) const ALL: [Self; 7] = [
        Self::Ledgers,
        Self::Gates,
        Self::FilesManifest,
        Self::Catalogues,
        Self::AutodevSummary,
        Self::PackFiles,
        Self::Index,
    ];

    pub(super) const fn facts(self) -> ProjectionFacts {
        match self {
            Self::Ledgers => ProjectionFacts::LEDGERS,
            Self::Gates => ProjectionFacts::GATES,
            Self::FilesManifest => ProjectionFacts::FILES_MANIFEST,
            Self::Catalogues => ProjectionFacts::CATALOGUES,
            Self::AutodevSummary => ProjectionFacts::AUTODEV_SUMMARY,
            Self::PackFiles => ProjectionFacts::PACK_FILES,
            Self::Index => ProjectionFacts::INDEX,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        self.facts().name
    }

    pub(super) const fn is_named_in(self, options: &Project) -> bool {
        match self {
            Self::Ledgers => options.ledgers,
            Self::Gates => options.gates,
            Self::FilesManifest => options.files_manifest,
            Self::Catalogues => options.catalogues,
            Self::AutodevSummary => options.autodev,
            Self::PackFiles => options.pack_files,
            Self::Index => options.index,
        }
    }

    pub(super) fn is_in(self, project: &OpenProject) -> bool {
        let workspace = &project.workspace;
        match self {
            Self::Gates => workspace.gates().are_on() || workspace.gates().exist(),
            Self::AutodevSummary => workspace.autodev().is_some_and(|autodev| autodev.has_summary()),
            Self::PackFiles => workspace.has_pack_files(),
            _ => true,
        }
    }

    pub(super) fn rebuild(
        self,
        project: &OpenProject,
        artifacts: &mut AllArtifacts,
        environment: &Environment,
    ) -> Result<Done, Failure> {
        match self {
            Self::Ledgers => {
                let found = artifacts.read(project)?;
                let mut done = project.workspace.ledgers().project(&found.artifacts, false);
                done.failed.extend(mem::take(&mut found.unreadable));
                Ok(of_ledgers(&done))
            }
            Self::Gates => {
                let gates = project.workspace.gates();
                if !gates.are_on() {
                    let hint = "gates are off; `gates: true` in `.stepmark/config.yaml` switches them on";
                    return Ok(Done { remarks: vec![hint.to_owned()], ..of_gates(gates.rebuild(&[])?) });
                }
                Ok(of_gates(gates.rebuild(&artifacts.read(project)?.artifacts)?))
            }
            Self::FilesManifest => files_manifest(project),
            Self::Catalogues => catalogues(project),
            Self::AutodevSummary => autodev_summary(project),
            Self::PackFiles => {
                let published = project.workspace.publish_pack_files()?;
                Ok(of_files(&published, published.written.len() + published.unchanged, "file"))
            }
            Self::Index => index(project, environment),
        }
    }
}

pub(super) fn of_ledgers(done: &LedgerProjection) -> Done {
    Done {
        artifacts: done.stories,
        noun: "story file",
        written: done.files.len(),
        unchanged: done.unchanged,
        problems: problems(done),
        warnings: warnings(done),
        remarks: remarks(done),
        excerpts: excerpts(&done.broken),
        more: Some(LedgersDone::of(done)),
        ..Done::default()
    }
}

pub(super) fn of_gates(gates: GateRebuild) -> Done {
    Done {
        artifacts: gates.artifacts,
        noun: "artifact",
        written: gates.written,
        removed: gates.removed,
        unchanged: gates.unchanged,
        ..Done::default()
    }
}

fn index(project: &OpenProject, environment: &Environment) -> Result<Done, Failure> {
    let uses_memory = project.workspace.configuration().uses_memory();
    let brought = brought((true, uses_memory), project, environment)?;
    let index = project.workspace.index().refresh(&brought)?;
    let in_memory = |reason| format!(".stepmark/local/cache/index.db cannot be kept: {reason}");
    Ok(Done {
        artifacts: index.rows,
        noun: "row",
        written: index.added,
        removed: index.removed,
        unchanged: index.rows.saturating_sub(index.added),
        problems: index.in_memory.map(in_memory).into_iter().collect(),
        ..Done::default()
    })
}

pub(super) fn manifest_place(project: &OpenProject) -> Result<ManifestPlace, Failure> {
    let root = project.root();
    let choice = ManifestChoice { root, root_is_named: false, file: None, current_folder: root.path() };
    Ok(ManifestPlace::find(&choice)?)
}

fn files_manifest(project: &OpenProject) -> Result<Done, Failure> {
    let place = manifest_place(project)?;
    let draft = project.workspace.manifests().draft(&place, IgnoreFiles::Disregarded)?;
    of_manifest(project, &place, &draft)
}

pub(super) fn of_manifest(
    project: &OpenProject,
    place: &ManifestPlace,
    draft: &ManifestDraft,
) -> Result<Done, Failure> {
    let mut done = of_files(&project.workspace.manifests().publish(place, draft)?, draft.files, "file");
    done.problems.extend(draft.unreadable.iter().map(|file| format!("{}: {}", file.path, file.reason)));
    for problem in &draft.problems {
        let is_link =
            matches!(problem.kind, WalkProblemKind::LinkedFolder | WalkProblemKind::BrokenLink { .. });
        let lines = if is_link { &mut done.warnings } else { &mut done.problems };
        lines.push(format!("{}: {}", problem.path, problem.kind));
    }
    Ok(done)
}

fn autodev_summary(project: &OpenProject) -> Result<Done, Failure> {
    let published = match project.workspace.autodev() {
        Some(autodev) => autodev.publish_summary()?,
        None => None,
    };
    Ok(of_files(&published.unwrap_or_default(), 1, "state file"))
}

fn catalogues(project: &OpenProject) -> Result<Done, Failure> {
    let rebuild = project.workspace.rebuild_catalogues()?;
    let problems = rebuild.problems.iter().map(ToString::to_string).collect();
    Ok(Done { problems, ..of_files(&rebuild.published, rebuild.entries, "row") })
}

fn of_files(published: &Published, artifacts: usize, noun: &'static str) -> Done {
    let edited =
        |path: &ProjectPath| format!("{path} was changed since stepmark wrote it, and is written anew");
    Done {
        artifacts,
        noun,
        written: published.written.len(),
        unchanged: published.unchanged,
        remarks: published.edited.iter().map(edited).collect(),
        ..Done::default()
    }
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Done {
    /// The number of artifacts, files or entries that it is made of.
    pub(super) artifacts: usize,
    #[serde(skip)]
    pub(super) noun: &'static str,
    pub(super) written: usize,
    pub(super) removed: usize,
    pub(super) unchanged: usize,
    /// The problems: what could not be taken into it, a line each.
    pub(super) problems: Vec<String>,
    /// The warnings: what else there is to look at, a line each.
    pub(super) warnings: Vec<String>,
    /// The remarks: what was written, a line each, where that is worth telling.
    #[serde(skip)]
    pub(super) remarks: Vec<String>,
    /// Places of files that stand in the way, for people.
    #[serde(skip)]
    pub(super) excerpts: Vec<String>,
    #[serde(flatten)]
    pub(super) more: Option<LedgersDone>,
}

answers! { Answer<'d>
    /// `project`: what was rebuilt
    "stepmark.project/1" Project { projections: Vec<DoneRow<'d>> }
    struct DoneRow<'d> { name: &'static str, #[serde(flatten)] done: &'d Done }
    // The output about ledgers as JSON.
    struct LedgersDone {
        entries: Vec<EntryRow>, refused: Vec<EntryRow>, left: Vec<EntryRow>, broken: Vec<BrokenRow>,
        waiting: Vec<ProjectPath>,
    }
    struct EntryRow {
        story: ProjectPath, file: ProjectPath, key: String, says: Option<String>, frontmatter: String,
        becomes: String, #[serde(skip_serializing_if = "Option::is_none")] reason: Option<String>,
    }
    struct BrokenRow { file: ProjectPath, line: usize, column: usize, message: String }
}

pub(super) fn report<'d>(output: &Output, done: &'d [(Projection, Done)]) {
    let row = |(projection, done): &'d (Projection, Done)| DoneRow { name: projection.name(), done };
    output.answer(|| Answer::Project { projections: done.iter().map(row).collect() });
    for (projection, done) in done {
        done.remarks.iter().for_each(|line| output.remark(line));
        done.excerpts.iter().for_each(|excerpt| output.styled_line(excerpt));
        done.problems.iter().chain(&done.warnings).for_each(|line| output.warning(line));
        output.remark(format_args!(
            "{}: {}, {} written, {} removed, {} unchanged",
            projection.name(),
            spinner::count(done.artifacts, done.noun),
            done.written,
            done.removed,
            done.unchanged,
        ));
    }
}

pub(crate) fn problems(done: &LedgerProjection) -> Vec<String> {
    let refused = done.refused.iter().map(|entry| {
        let story = &entry.story;
        format!("{story}: {entry}: left, since no lifecycle has that word; `stepmark import stories --prefer SIDE {story}` says which side wins")
    });
    let left =
        done.left.iter().map(|left| format!("{}: {}: left: {}", left.entry.story, left.entry, left.reason));
    let failed = done.failed.iter().map(|error: &Error| chain(error));
    refused.chain(left).chain(done.broken.iter().map(broken)).chain(failed).collect()
}

/// The excerpt shows the fault.
fn broken(broken: &BrokenSprintStatus) -> String {
    let finding = &broken.finding;
    let position = Excerpt::new(&broken.bytes).position(finding.span.start);
    format!("{}:{position}: left alone, since it cannot be read ({})", finding.path, finding.rule.id)
}

pub(crate) fn excerpts(broken: &[BrokenSprintStatus]) -> Vec<String> {
    broken.iter().map(|broken| Excerpt::new(&broken.bytes).report(&broken.finding)).collect()
}

pub(crate) fn warnings(done: &LedgerProjection) -> Vec<String> {
    spinner::waiting_stories(done.waiting.len()).into_iter().collect()
}

pub(crate) fn remarks(done: &LedgerProjection) -> Vec<String> {
    let line = |entry: &LedgerEntry| {
        let from = entry.from.as_deref().map_or_else(|| "nothing".to_owned(), |from| format!("`{from}`"));
        format!("{}: {}: {from} → `{}`", entry.file, entry.key, entry.to)
    };
    done.written.iter().map(line).collect()
}

impl LedgersDone {
    pub(crate) fn of(done: &LedgerProjection) -> Self {
        let row = |entry: &LedgerEntry, reason: Option<&String>| EntryRow {
            story: entry.story.clone(),
            file: entry.file.clone(),
            key: entry.key.clone(),
            says: entry.from.clone(),
            frontmatter: entry.status.clone(),
            becomes: entry.to.clone(),
            reason: reason.cloned(),
        };
        let broken = |broken: &BrokenSprintStatus| {
            let Position { line, column } = Excerpt::new(&broken.bytes).position(broken.finding.span.start);
            let Finding { path, message, .. } = &broken.finding;
            BrokenRow { file: path.clone(), line, column, message: message.clone() }
        };
        Self {
            entries: done.written.iter().map(|entry| row(entry, None)).collect(),
            refused: done.refused.iter().map(|entry| row(entry, None)).collect(),
            left: done.left.iter().map(|left| row(&left.entry, Some(&left.reason))).collect(),
            broken: done.broken.iter().map(broken).collect(),
            waiting: done.waiting.clone(),
        }
    }
}
