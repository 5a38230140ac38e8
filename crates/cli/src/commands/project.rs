//! `stepmark project`

use std::sync::atomic::AtomicUsize;

use clap::Args;
use stepmark_core::{
    commit::Outcome,
    workspace::{
        WalkProblemKind,
        manifest::{self, IgnoreFiles, ManifestChoice, ManifestPlace},
    },
};

use super::{ledgers, query::ticket_rows};
use crate::{
    environment::Environment,
    exit::{Exit, Failure},
    output::{Output, with_spinner, wording},
    project::Project as OpenProject,
};

/// Rebuild what is derived: ledgers, gates, manifests, catalogues, the database
///
/// All but the ledgers, which other programs made, can be deleted at any time. Nothing is written that is right already. Without options all of it is
/// rebuilt; each option names a part. Ends with 1 when something could not be read and is missing in what was written.
#[derive(Debug, Args)]
pub(crate) struct Project {
    /// `sprint-status.yaml` and the lines `Status:` of stories, as their frontmatter says
    #[arg(long)]
    ledgers: bool,
    /// Why entries of ledgers may go back where history does not tell, for history
    #[arg(short = 'm', long, value_name = "TEXT", requires = "ledgers")]
    reason: Option<String>,
    /// The gates in `.stepmark/gates/`
    #[arg(long)]
    gates: bool,
    /// `.stepmark/manifests/files-manifest.csv`, as `stepmark manifest write` makes it
    #[arg(long)]
    files_manifest: bool,
    /// The catalogues of agents, workflows, skills, tasks and tools in `.stepmark/manifests/`
    #[arg(long)]
    catalogues: bool,
    /// The database `.stepmark/cache/index.db`, which `stepmark query` asks
    #[arg(long)]
    index: bool,
}

/// Something that is rebuilt as a whole.
#[derive(Clone, Copy, Debug)]
enum Projection {
    Ledgers,
    Gates,
    FilesManifest,
    Catalogues,
    Index,
}

/// What a projection did.
#[derive(Debug, Default)]
struct Done {
    /// How many artifacts, files or entries it is made of.
    artifacts: usize,
    /// What each of these is called.
    noun: &'static str,
    written: usize,
    removed: usize,
    unchanged: usize,
    /// What could not be taken into it, a line each.
    problems: Vec<String>,
    /// What else there is to look at, a line each.
    warnings: Vec<String>,
    /// What was written, a line each, where that is worth telling.
    remarks: Vec<String>,
    /// Places of files that stand in the way, for people.
    excerpts: Vec<String>,
    /// What else programs are told.
    more: serde_json::Value,
}

impl Projection {
    /// In the order in which they are made: one that changes what another is made of stands before it.
    const ALL: [Self; 5] = [Self::Ledgers, Self::Gates, Self::FilesManifest, Self::Catalogues, Self::Index];

    const fn name(self) -> &'static str {
        match self {
            Self::Ledgers => "ledgers",
            Self::Gates => "gates",
            Self::FilesManifest => "files-manifest",
            Self::Catalogues => "catalogues",
            Self::Index => "index",
        }
    }

    const fn is_named_in(self, options: &Project) -> bool {
        match self {
            Self::Ledgers => options.ledgers,
            Self::Gates => options.gates,
            Self::FilesManifest => options.files_manifest,
            Self::Catalogues => options.catalogues,
            Self::Index => options.index,
        }
    }

    /// Rebuilds it; `count` says how many files were looked at so far.
    fn rebuild(
        self,
        project: &OpenProject,
        options: &Project,
        count: &AtomicUsize,
        (environment, output): (&Environment, &Output),
    ) -> Result<Done, Failure> {
        match self {
            Self::Ledgers => ledgers_of(project, options.reason.as_deref()),
            Self::Gates => gates(project),
            Self::FilesManifest => files_manifest(project, count),
            Self::Catalogues => catalogues(project, count),
            Self::Index => index(project, environment, output),
        }
    }
}

impl Project {
    pub(crate) fn run(
        &self,
        project: &OpenProject,
        environment: &Environment,
        output: &Output,
    ) -> Result<Exit, Failure> {
        let is_any_named = Projection::ALL.iter().any(|projection| projection.is_named_in(self));
        let chosen = |projection: &Projection| !is_any_named || projection.is_named_in(self);
        let mut done = Vec::new();
        for projection in Projection::ALL.into_iter().filter(chosen) {
            let rebuilt = with_spinner(projection.name(), output.quiet, |count| {
                projection.rebuild(project, self, count, (environment, output))
            })?;
            done.push((projection, rebuilt));
        }
        report(output, &done);
        let is_whole = done.iter().all(|(_, done)| done.problems.is_empty());
        Ok(if is_whole { Exit::Fine } else { Exit::Findings })
    }
}

fn ledgers_of(project: &OpenProject, reason: Option<&str>) -> Result<Done, Failure> {
    let done = project.workspace.project_ledgers(reason)?;
    Ok(Done {
        artifacts: done.stories,
        noun: "story file",
        written: done.files.len(),
        unchanged: done.unchanged,
        problems: ledgers::problems(&done),
        warnings: ledgers::warnings(&done),
        remarks: ledgers::remarks(&done),
        excerpts: ledgers::excerpts(&done.broken),
        more: ledgers::wire(&done),
        ..Done::default()
    })
}

fn gates(project: &OpenProject) -> Result<Done, Failure> {
    let gates = project.workspace.rebuild_gates()?;
    Ok(Done {
        artifacts: gates.artifacts,
        noun: "artifact",
        written: gates.written,
        removed: gates.removed,
        unchanged: gates.unchanged,
        ..Done::default()
    })
}

/// The database behind `stepmark query`, all parts of it.
fn index(project: &OpenProject, environment: &Environment, output: &Output) -> Result<Done, Failure> {
    let tickets = ticket_rows(project, environment, output)?;
    let index = project.workspace.refresh_index(&tickets)?;
    let in_memory = |reason| format!(".stepmark/cache/index.db cannot be kept: {reason}");
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

/// The manifest of the whole project, whatever folder it is worked on from.
fn files_manifest(project: &OpenProject, count: &AtomicUsize) -> Result<Done, Failure> {
    let root = project.root();
    let place = ManifestPlace::find(&ManifestChoice {
        root,
        root_is_named: false,
        file: None,
        current_folder: root.path(),
    })?;
    let stat_cache = place.stat_cache();
    let configuration = project.workspace.configuration();
    let request = place.request(configuration, IgnoreFiles::Disregarded, stat_cache.as_deref(), count);
    let draft = manifest::write(&request)?;
    let is_written = manifest::publish(&place, &draft)? != Outcome::Unchanged;
    let mut done = Done {
        artifacts: draft.files,
        noun: "file",
        written: usize::from(is_written),
        unchanged: usize::from(!is_written),
        ..Done::default()
    };
    done.problems.extend(draft.unreadable.iter().map(|file| format!("{}: {}", file.path, file.reason)));
    for problem in &draft.problems {
        let is_link =
            matches!(problem.kind, WalkProblemKind::LinkedFolder | WalkProblemKind::BrokenLink { .. });
        let lines = if is_link { &mut done.warnings } else { &mut done.problems };
        lines.push(format!("{}: {}", problem.path, problem.kind));
    }
    Ok(done)
}

fn catalogues(project: &OpenProject, count: &AtomicUsize) -> Result<Done, Failure> {
    let rebuild = project.workspace.rebuild_catalogues_counted(count)?;
    Ok(Done {
        artifacts: rebuild.entries,
        noun: "row",
        written: rebuild.written,
        unchanged: rebuild.unchanged,
        problems: rebuild.problems.iter().map(ToString::to_string).collect(),
        ..Done::default()
    })
}

fn report(output: &Output, done: &[(Projection, Done)]) {
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
            wording::count(done.artifacts, done.noun),
            done.written,
            done.removed,
            done.unchanged,
        ));
    }
}
