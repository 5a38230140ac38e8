//! The parts of what is derived, each rebuilt as a whole, and how the result is told.

use std::mem;

use super::Project;
use crate::{
    commands::{checking::ledgers, viewing::query::brought},
    environment::Environment,
    exit::Failure,
    output::{Output, spinner},
    project::Project as OpenProject,
};
use stepmark_model::{artifact::ProjectPath, projection::ProjectionFacts};
use stepmark_store::{
    Error,
    bmad::sprint::LedgerProjection,
    disk::WalkProblemKind,
    gates::GateRebuild,
    manifest::{IgnoreFiles, ManifestChoice, ManifestDraft, ManifestPlace},
    projection::Published,
    workspace::Artifacts,
};

/// The artifacts of the project: read once, for everything that is made of them.
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

/// Something that is rebuilt as a whole.
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
    /// In the order in which they are made: one that changes what another is made of stands before it.
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
        problems: ledgers::problems(done),
        warnings: ledgers::warnings(done),
        remarks: ledgers::remarks(done),
        excerpts: ledgers::excerpts(&done.broken),
        more: ledgers::wire(done),
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

#[derive(Debug, Default)]
pub(super) struct Done {
    /// The number of artifacts, files or entries that it is made of.
    pub(super) artifacts: usize,
    pub(super) noun: &'static str,
    pub(super) written: usize,
    pub(super) removed: usize,
    pub(super) unchanged: usize,
    /// The problems: what could not be taken into it, a line each.
    pub(super) problems: Vec<String>,
    /// The warnings: what else there is to look at, a line each.
    pub(super) warnings: Vec<String>,
    /// The remarks: what was written, a line each, where that is worth telling.
    pub(super) remarks: Vec<String>,
    /// Places of files that stand in the way, for people.
    pub(super) excerpts: Vec<String>,
    pub(super) more: serde_json::Value,
}

pub(super) fn report(output: &Output, done: &[(Projection, Done)]) {
    if output.json {
        let projections: Vec<_> = done
            .iter()
            .map(|(projection, done)| {
                let mut wire = serde_json::json!({
                    "name": projection.name(),
                    "artifacts": done.artifacts,
                    "written": done.written,
                    "removed": done.removed,
                    "unchanged": done.unchanged,
                    "problems": done.problems,
                    "warnings": done.warnings,
                });
                if let (Some(wire), Some(more)) = (wire.as_object_mut(), done.more.as_object()) {
                    wire.extend(more.clone());
                }
                wire
            })
            .collect();
        output.json("stepmark.project/1", serde_json::json!({"projections": projections}));
    }
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
