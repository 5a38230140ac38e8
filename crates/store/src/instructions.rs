//! The project's instruction file: assembled, compared, and rewritten only between cycles, since a running
//! session keeps its instructions.

use crate::{Error, ErrorKind};
use std::borrow::Cow;

use crate::disk::WalkProblem;
use crate::projection::{OnEdit, ProjectedFile, Projection, Witness};
#[cfg(feature = "write")]
use crate::projection::{publish, with_help_of_foreign};
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::{FileHash, ProjectPath, StateDigest},
    projection::{
        ProjectionFacts,
        instructions::{
            CacheState, InstructedArtifact, InstructionComponent, InstructionInputs, InstructionMeta,
            META_SUFFIX, assemble, is_instruction_file,
        },
    },
};

#[derive(Debug)]
pub struct CachedInstructions {
    pub output: ProjectPath,
    pub meta_file: ProjectPath,
    pub verdict: CacheState,
    /// As hashed; `None` if there is no file.
    pub bytes: Option<Vec<u8>>,
    pub assembled: String,
    /// For the new text; `cached_at` is kept while the text is the same.
    pub meta: InstructionMeta,
    /// Artifacts with unreadable state: they have no digest in the text.
    pub unreadable: Vec<ProjectPath>,
    /// Folders and links that the search for artifacts could not follow.
    pub problems: Vec<WalkProblem>,
    meta_bytes: Option<Vec<u8>>,
}

impl Projection for CachedInstructions {
    const FACTS: ProjectionFacts = ProjectionFacts::INSTRUCTIONS;

    /// The instruction file comes first, so that no meta file vouches for missing bytes; after a crash in
    /// between the cache is stale, and the next call fixes it.
    fn files(&self) -> Vec<ProjectedFile<'_>> {
        let is_foreign = |bytes: &Option<Vec<u8>>, is_own: fn(&[u8]) -> bool| {
            bytes.as_deref().is_some_and(|bytes| !bytes.is_empty() && !is_own(bytes))
        };
        let found = |bytes: &Option<Vec<u8>>| bytes.as_deref().map(FileHash::of);
        let meta = self.meta_bytes.as_deref().and_then(InstructionMeta::read);
        let vouched_for = meta.and_then(|meta| meta.content_hash.parse().ok());
        vec![
            ProjectedFile {
                path: Cow::Borrowed(&self.output),
                bytes: Cow::Borrowed(self.assembled.as_bytes()),
                found: found(&self.bytes),
                witness: Witness::FileBeside(vouched_for),
                on_edit: OnEdit::Keep,
                is_foreign: is_foreign(&self.bytes, is_instruction_file),
            },
            ProjectedFile {
                path: Cow::Borrowed(&self.meta_file),
                bytes: Cow::Owned(self.meta.to_bytes()),
                found: found(&self.meta_bytes),
                witness: Witness::FileBeside(None),
                on_edit: OnEdit::Replace,
                is_foreign: is_foreign(&self.meta_bytes, |bytes| InstructionMeta::read(bytes).is_some()),
            },
        ]
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Instructions<'w> {
    workspace: &'w Workspace,
}

impl Workspace {
    pub const fn instructions(&self) -> Instructions<'_> {
        Instructions { workspace: self }
    }
}

impl Instructions<'_> {
    /// `None` if no output is configured. Writes nothing.
    pub fn read(&self) -> Result<Option<CachedInstructions>, Error> {
        let configuration = self.workspace.configuration();
        let Some(output) = configuration.instructions.output.clone() else { return Ok(None) };
        let meta_file = ProjectPath::new(format!("{output}{META_SUFFIX}"))?;
        let components = &configuration.instructions.components;
        if components.contains(&output) || components.contains(&meta_file) {
            return Err(Error::refused(format!(
                "`instructions.output` and `instructions.components` both name `{output}`: the file would hold itself"
            )).help("name another output in `.stepmark/config.yaml`"));
        }
        let (inputs, problems) = self.inputs(&output)?;
        let assembled = assemble(&inputs);
        let bytes = self.cached_file(&output)?;
        let meta_bytes = self.cached_file(&meta_file)?;
        let mut meta = InstructionMeta::of(&assembled, components, String::new());
        let earlier = meta_bytes.as_deref().and_then(InstructionMeta::read);
        if let Some(earlier) = earlier.filter(|earlier| earlier.content_hash == meta.content_hash) {
            meta.cached_at = earlier.cached_at;
        }
        if meta.cached_at.is_empty() {
            // In the format of Python's `datetime.isoformat`, which claude-mpm reads.
            meta.cached_at = self.workspace.now().strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string();
        }
        let verdict = CacheState::judge(bytes.as_deref(), meta_bytes.as_deref(), &assembled, &meta);
        let artifacts = inputs.artifacts.into_iter();
        let unreadable = artifacts.filter(|artifact| artifact.digest.is_none()).map(|artifact| artifact.path);
        Ok(Some(CachedInstructions {
            unreadable: unreadable.collect(),
            output,
            meta_file,
            verdict,
            bytes,
            assembled,
            meta,
            problems,
            meta_bytes,
        }))
    }

    fn inputs(&self, output: &ProjectPath) -> Result<(InstructionInputs, Vec<WalkProblem>), Error> {
        let mut components = Vec::new();
        for path in &self.workspace.configuration().instructions.components {
            let bytes = self.workspace.read_file(path).map_err(|source| {
                let message =
                    format!("cannot assemble the instructions: the component `{path}` cannot be read");
                Error::io(message, source)
                    .help("correct `instructions.components` in `.stepmark/config.yaml`, or the file")
            })?;
            let component = InstructionComponent::read(path.clone(), &bytes);
            components.push(component.map_err(|error| Error::told(ErrorKind::Io, error))?);
        }
        let found = self.workspace.artifacts()?;
        let readable = found.artifacts.iter().map(|tracked| InstructedArtifact {
            path: tracked.path().clone(),
            digest: tracked.artifact().state_value().ok().map(|state| StateDigest::of(&state)),
        });
        let unreadable = found
            .unreadable
            .iter()
            .filter_map(|error| Some(InstructedArtifact { path: error.path()?.clone(), digest: None }));
        let mut artifacts: Vec<_> = readable.chain(unreadable).collect();
        artifacts.retain(|artifact| artifact.path != *output);
        artifacts.sort_by(|one, other| one.path.cmp(&other.path));
        let settings = self.workspace.configuration().settings().clone();
        Ok((InstructionInputs { components, settings, artifacts }, found.problems))
    }

    fn cached_file(&self, path: &ProjectPath) -> Result<Option<Vec<u8>>, Error> {
        match self.workspace.read_file(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(Error::io("cannot read the cached instructions", error)),
        }
    }
}

/// Total attempts if another program writes the instructions meanwhile.
#[cfg(feature = "write")]
const ATTEMPTS: usize = 3;

#[cfg(feature = "write")]
#[derive(Debug)]
pub struct Refreshed {
    pub before: CachedInstructions,
    pub is_written: bool,
    /// The copy of an edited file that was rewritten.
    pub kept: Option<ProjectPath>,
}

#[cfg(feature = "write")]
impl Instructions<'_> {
    /// Rewrites the instruction file and its meta file if they differ from the inputs; `None` if no output is
    /// configured. Call it only between two cycles of an agent (a session starts or ends, the process is
    /// about to become an agent, a person asks): instructions are immutable within one. Edits are kept in
    /// another file.
    pub fn refresh(&self) -> Result<Option<Refreshed>, Error> {
        let mut attempt = 1;
        loop {
            let Some(before) = self.read()? else { return Ok(None) };
            if before.verdict == CacheState::Current {
                return Ok(Some(Refreshed { before, is_written: false, kept: None }));
            }
            match publish(self.workspace.root(), self.workspace.commit_options(), &before) {
                Ok(published) => {
                    let kept = published.kept.into_iter().next();
                    return Ok(Some(Refreshed { before, is_written: true, kept }));
                }
                Err(error) if attempt < ATTEMPTS && error.is_conflict() => attempt += 1,
                Err(error) => {
                    let help =
                        "move it away, or name another `instructions.output` in `.stepmark/config.yaml`";
                    return Err(with_help_of_foreign(error, help));
                }
            }
        }
    }
}
