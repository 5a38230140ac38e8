//! Readers of artifacts: split off the frontmatter, parse it into a typed value, count its completed steps.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use clap::ValueEnum;
use gray_matter::{Matter, Pod, engine::YAML};
use serde::Deserialize;
use stepmark_model::artifact::{Artifact, ProjectPath};
use stepmark_store::workspace::Workspace;

use crate::{bare, failure::Failure, parallel};

/// The reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reader {
    /// `Artifact::read`: every key typed, with spans and diagnoses.
    Stepmark,
    /// `Workspace::artifacts`: the same, found by the configuration and bound to workflows; all are kept.
    Workspace,
    /// The crate `serde_yaml` into a struct of the keys that stepmark types; all other keys are dropped.
    SerdeYaml,
    /// The crate `gray_matter` into its `Pod`.
    GrayMatter,
}

/// The source of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Place {
    /// They were read before.
    Memory,
    /// Listing, opening and reading the files is a part of the work.
    Disk,
}

/// Reads the artifacts below `folder` and prints seconds, files and completed steps, as the peers in other
/// languages do.
pub(crate) fn print(reader: Reader, place: Place, folder: &Path) -> Result<(), Failure> {
    let (seconds, files, steps) = match (reader, place) {
        (Reader::Workspace, _) => read_workspace(folder)?,
        (_, Place::Memory) => {
            let texts = load(folder)?;
            let started = Instant::now();
            let steps = parallel::sum(&texts, |(path, bytes)| steps(reader, path, bytes.clone()));
            (started.elapsed(), texts.len(), steps)
        }
        (_, Place::Disk) => {
            let started = Instant::now();
            let paths = bare::markdown_files(&folder.join("docs"))?;
            let steps = parallel::sum(&paths, |path| match fs::read(path) {
                Ok(bytes) => project_path(folder, path).map_or(0, |path| steps(reader, &path, bytes)),
                // Shows itself as a wrong sum.
                Err(_) => 0,
            });
            (started.elapsed(), paths.len(), steps)
        }
    };
    println!("{} {files} {steps}", seconds.as_secs_f64());
    Ok(())
}

fn read_workspace(folder: &Path) -> Result<(std::time::Duration, usize, usize), Failure> {
    let started = Instant::now();
    let workspace = Workspace::open(folder).map_err(Failure::library)?;
    let found = workspace.artifacts().map_err(Failure::library)?;
    let took = started.elapsed();
    let steps = found.artifacts.iter().filter_map(|artifact| artifact.artifact().steps());
    Ok((took, found.files, steps.map(|steps| steps.items.len()).sum()))
}

fn load(folder: &Path) -> Result<Vec<(ProjectPath, Vec<u8>)>, Failure> {
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).map_err(Failure::file("read", &path))?;
        let path =
            project_path(folder, &path).ok_or_else(|| Failure::Usage("not a project path".to_owned()))?;
        Ok((path, bytes))
    };
    bare::markdown_files(&folder.join("docs"))?.into_iter().map(read).collect()
}

fn project_path(folder: &Path, path: &Path) -> Option<ProjectPath> {
    ProjectPath::new(path.strip_prefix(folder).ok()?).ok()
}

/// The number of completed steps that the artifact lists; 0 where it cannot be read, which shows itself as a
/// wrong sum.
fn steps(reader: Reader, path: &ProjectPath, bytes: Vec<u8>) -> usize {
    match reader {
        Reader::Stepmark | Reader::Workspace => {
            Artifact::read(path.clone(), bytes).steps().map_or(0, |steps| steps.items.len())
        }
        Reader::SerdeYaml => serde_yaml_steps(&bytes).unwrap_or(0),
        Reader::GrayMatter => gray_matter_steps(&bytes).unwrap_or(0),
    }
}

fn serde_yaml_steps(bytes: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(bytes).ok()?;
    let rest = text.strip_prefix("---\n")?;
    // The closing fence may follow the opening one at once.
    let end = if rest.starts_with("---\n") { 0 } else { rest.find("\n---\n")? + 1 };
    let frontmatter: Frontmatter = serde_yaml::from_str(&rest[..end]).ok()?;
    std::hint::black_box(&frontmatter);
    Some(frontmatter.steps_completed.map_or(0, |steps| steps.len()))
}

fn gray_matter_steps(bytes: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(bytes).ok()?;
    let parsed = Matter::<YAML>::new().parse::<Pod>(text).ok()?;
    match &parsed.data? {
        Pod::Hash(keys) => match keys.get("stepsCompleted") {
            Some(Pod::Array(steps)) => Some(steps.len()),
            _ => Some(0),
        },
        _ => Some(0),
    }
}

/// The keys that stepmark types, as a program that uses serde would declare them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "the values are read to be timed")]
struct Frontmatter {
    steps_completed: Option<Vec<serde_yaml::Value>>,
    input_documents: Option<Vec<String>>,
    last_step: Option<serde_yaml::Value>,
    status: Option<String>,
    workflow_type: Option<String>,
    scope: Option<String>,
    title: Option<String>,
    #[serde(rename = "project_name")]
    project_name: Option<String>,
    created: Option<String>,
    date: Option<String>,
    last_saved: Option<String>,
    completed_at: Option<String>,
}
