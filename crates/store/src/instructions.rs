//! The instruction file of the project: assembled, judged, and written anew at a cycle boundary only: a session that runs keeps the
//! instructions that it began with.

use crate::disk::{WalkError, WalkProblem};
use crate::workspace::{ArtifactError, Workspace};
use stepmark_model::{
    artifact::{ProjectPath, ProjectPathError, StateDigest},
    projection::{
        instruction_meta::{CacheState, InstructionMeta, META_SUFFIX},
        instructions::{
            ComponentNotText, InstructedArtifact, InstructionComponent, InstructionInputs, assemble,
            is_instruction_file,
        },
    },
};

/// When instructions may change: between two cycles of an agent, never within one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleBoundary {
    /// A session starts.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The process is about to be replaced by an agent.
    Exec,
    /// A person says so: `stepmark instructions build`.
    Command,
}

/// The cached instruction file and how it stands against its inputs.
#[derive(Debug)]
pub struct CachedInstructions {
    /// The instruction file.
    pub output: ProjectPath,
    /// The meta file beside it.
    pub meta_file: ProjectPath,
    /// How it stands.
    pub verdict: CacheState,
    /// Its bytes, as they were hashed; `None` where there is none.
    pub bytes: Option<Vec<u8>>,
    /// What the inputs give now.
    pub assembled: String,
    /// The meta file of that text; its `cached_at` is that of the meta file in place, as long as the text is the same.
    pub meta: InstructionMeta,
    /// Artifacts whose state cannot be read: they stand in the text without a digest.
    pub unreadable: Vec<ProjectPath>,
    /// Folders and links that could not be followed in search of artifacts.
    pub problems: Vec<WalkProblem>,
    /// The bytes of the meta file in place.
    meta_bytes: Option<Vec<u8>>,
}

/// The end of the name under which a version is kept that somebody edited: `AGENTS.md.edited`, then `AGENTS.md.edited-2`.
#[cfg(feature = "write")]
const EDITED_SUFFIX: &str = ".edited";

/// Why there are no instructions.
#[derive(Debug, thiserror::Error)]
pub enum InstructionError {
    /// A component cannot be read.
    #[error("cannot assemble the instructions: the component `{path}` cannot be read")]
    Component {
        /// The component.
        path: ProjectPath,
        /// Why.
        source: ArtifactError,
    },
    /// A component is no text.
    #[error(transparent)]
    NotText(#[from] ComponentNotText),
    /// The instruction file or its meta file is there and cannot be read.
    #[error("cannot read the cached instructions")]
    Cached(#[source] ArtifactError),
    /// The project cannot be walked.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// The meta file has no name.
    #[error(transparent)]
    Path(#[from] ProjectPathError),
    /// The instruction file would be one of its own components.
    #[error(
        "`instructions.output` and `instructions.components` both name `{path}`: the file would hold itself"
    )]
    OwnComponent {
        /// The path.
        path: ProjectPath,
    },
    /// Another file stands where the instruction file, or its meta file, should be.
    #[error(
        "cannot write the instructions to `{path}`: a file is there that stepmark did not make; nothing was changed"
    )]
    Foreign {
        /// Its path.
        path: ProjectPath,
    },
    /// Somebody edits the file again and again, and nobody takes the kept versions away.
    #[cfg(feature = "write")]
    #[error(
        "cannot write the instructions to `{path}`: a hundred edited versions are kept beside it already; nothing was changed"
    )]
    ManyEdited {
        /// The instruction file.
        path: ProjectPath,
    },
    /// It cannot be written.
    #[cfg(feature = "write")]
    #[error(transparent)]
    Commit(#[from] crate::commit::CommitError),
}

impl CachedInstructions {
    /// The bytes of the file, where they may be somebody's: they are not what the inputs give, and no meta file vouches for them.
    pub fn edited_bytes(&self) -> Option<&[u8]> {
        let bytes = self.bytes.as_deref()?;
        let is_other = !bytes.is_empty() && bytes != self.assembled.as_bytes();
        let is_vouched_for = !matches!(self.verdict, CacheState::Tampered { .. } | CacheState::MetaBehind);
        (is_other && !is_vouched_for).then_some(bytes)
    }

    /// The first of the two files that is there and was not made by stepmark: it is never replaced.
    pub fn foreign_file(&self) -> Option<&ProjectPath> {
        let is_foreign = |bytes: &Option<Vec<u8>>, is_own: fn(&[u8]) -> bool| {
            bytes.as_deref().is_some_and(|bytes| !bytes.is_empty() && !is_own(bytes))
        };
        let output = is_foreign(&self.bytes, is_instruction_file).then_some(&self.output);
        let is_meta = |bytes: &[u8]| InstructionMeta::read(bytes).is_some();
        output.or_else(|| is_foreign(&self.meta_bytes, is_meta).then_some(&self.meta_file))
    }
}

impl Workspace {
    /// Assembles the instructions and judges what is cached; `None` where the configuration names no output. Nothing is
    /// written.
    ///
    /// # Errors
    /// When a component or a cached file cannot be read, or the project cannot be walked.
    pub fn instructions(&self) -> Result<Option<CachedInstructions>, InstructionError> {
        let Some(output) = self.configuration().instruction_output().cloned() else { return Ok(None) };
        let meta_file = ProjectPath::new(format!("{output}{META_SUFFIX}"))?;
        let components = self.configuration().instruction_components();
        if components.contains(&output) || components.contains(&meta_file) {
            return Err(InstructionError::OwnComponent { path: output });
        }
        let (inputs, problems) = self.instruction_inputs(&output)?;
        let assembled = assemble(&inputs);
        let bytes = self.cached_file(&output)?;
        let meta_bytes = self.cached_file(&meta_file)?;
        let mut meta = InstructionMeta::of(&assembled, components, String::new());
        let earlier = meta_bytes.as_deref().and_then(InstructionMeta::read);
        if let Some(earlier) = earlier.filter(|earlier| earlier.content_hash == meta.content_hash) {
            meta.cached_at = earlier.cached_at;
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

    fn instruction_inputs(
        &self,
        output: &ProjectPath,
    ) -> Result<(InstructionInputs, Vec<WalkProblem>), InstructionError> {
        let mut components = Vec::new();
        for path in self.configuration().instruction_components() {
            let bytes = self
                .read_file(path)
                .map_err(|source| InstructionError::Component { path: path.clone(), source })?;
            components.push(InstructionComponent::read(path.clone(), &bytes)?);
        }
        let found = self.artifacts()?;
        let readable = found.artifacts.iter().map(|tracked| InstructedArtifact {
            path: tracked.path().clone(),
            digest: tracked.artifact().state_value().ok().map(|state| StateDigest::of(&state)),
        });
        let unreadable = found
            .unreadable
            .iter()
            .map(|error| InstructedArtifact { path: error.path().clone(), digest: None });
        let mut artifacts: Vec<_> = readable.chain(unreadable).collect();
        artifacts.retain(|artifact| artifact.path != *output);
        artifacts.sort_by(|one, other| one.path.cmp(&other.path));
        let settings = self.configuration().settings().clone();
        Ok((InstructionInputs { components, settings, artifacts }, found.problems))
    }

    fn cached_file(&self, path: &ProjectPath) -> Result<Option<Vec<u8>>, InstructionError> {
        match self.read_file(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(ArtifactError::Missing { .. }) => Ok(None),
            Err(error) => Err(InstructionError::Cached(error)),
        }
    }
}

#[cfg(feature = "write")]
pub use self::refresh::Refreshed;

#[cfg(feature = "write")]
mod refresh {
    use super::{
        CacheState, CachedInstructions, CycleBoundary, EDITED_SUFFIX, InstructionError, ProjectPath,
        Workspace,
    };
    use crate::commit::{self, CommitError, Expected, PublishError, replace_whole};

    /// How often to start again when another program writes the instructions meanwhile.
    const ATTEMPTS: usize = 3;
    /// How many edited versions are kept beside the file.
    const EDITED_VERSIONS: usize = 100;

    /// What a cycle boundary did to the instructions.
    #[derive(Debug)]
    pub struct Refreshed {
        /// The boundary.
        pub boundary: CycleBoundary,
        /// The instructions as they are now; the verdict is the one *before*.
        pub before: CachedInstructions,
        /// Whether a file was written.
        pub is_written: bool,
        /// The file that keeps what somebody had edited in the instruction file, which was written anew.
        pub kept: Option<ProjectPath>,
    }

    impl Workspace {
        /// Writes the instruction file and its meta file where they are not what the inputs give; `None` where the
        /// configuration names no output. Call it at a cycle boundary only: in between instructions are immutable. What somebody has edited is kept in another file.
        ///
        /// The instruction file goes first, so that no meta file ever vouches for bytes that are not there; after a crash
        /// in between the cache is judged stale, and the next call fixes it.
        ///
        /// # Errors
        /// Those of [`Workspace::instructions`], and why a file could not be written.
        pub fn refresh_instructions(
            &self,
            boundary: CycleBoundary,
        ) -> Result<Option<Refreshed>, InstructionError> {
            let mut attempt = 1;
            loop {
                let Some(before) = self.instructions()? else { return Ok(None) };
                if before.verdict == CacheState::Current {
                    return Ok(Some(Refreshed { boundary, before, is_written: false, kept: None }));
                }
                if let Some(path) = before.foreign_file() {
                    return Err(InstructionError::Foreign { path: path.clone() });
                }
                match self.write_instructions(&before) {
                    Ok(kept) => return Ok(Some(Refreshed { boundary, before, is_written: true, kept })),
                    Err(error) if attempt < ATTEMPTS && is_conflict(&error) => attempt += 1,
                    Err(error) => return Err(error),
                }
            }
        }

        fn write_instructions(
            &self,
            before: &CachedInstructions,
        ) -> Result<Option<ProjectPath>, InstructionError> {
            let options = self.commit_options();
            let kept = match before.edited_bytes() {
                Some(bytes) => Some(self.keep_edited(&before.output, bytes)?),
                None => None,
            };
            let text = before.assembled.as_bytes();
            replace_whole(self.root(), &before.output, Expected::of(before.bytes.as_deref()), text, options)?;
            let mut meta = before.meta.clone();
            if meta.cached_at.is_empty() {
                // As Python's `datetime.isoformat` writes it, which is what claude-mpm reads.
                meta.cached_at = self.now().strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string();
            }
            let expected = Expected::of(before.meta_bytes.as_deref());
            replace_whole(self.root(), &before.meta_file, expected, &meta.to_bytes(), options)?;
            Ok(kept)
        }

        /// Writes `bytes` beside the file `output`, under the first name that is free or has them already.
        fn keep_edited(&self, output: &ProjectPath, bytes: &[u8]) -> Result<ProjectPath, InstructionError> {
            for number in 1..=EDITED_VERSIONS {
                let number = if number == 1 { String::new() } else { format!("-{number}") };
                let path = ProjectPath::new(format!("{output}{EDITED_SUFFIX}{number}"))?;
                match self.cached_file(&path)? {
                    Some(found) if found == bytes => return Ok(path),
                    Some(_) => {}
                    None => {
                        commit::create(self.root(), &path, bytes, self.commit_options())?;
                        return Ok(path);
                    }
                }
            }
            Err(InstructionError::ManyEdited { path: output.clone() })
        }
    }

    fn is_conflict(error: &InstructionError) -> bool {
        let InstructionError::Commit(CommitError::Publish(error)) = error else { return false };
        matches!(error, PublishError::Conflict(_) | PublishError::Busy { .. })
    }
}
