//! Making checkpoints: the file and the event that tells of it, as one.

use crate::changes::{ChangeError, TellError};
use crate::checkpoints::Checkpoints;
use crate::commit::{self, CommitError, Deliberation, FileDecision, FileTransition, UpdateError};
use crate::repository::git_history::head_commit;
use crate::workspace::{ArtifactError, Workspace};
use stepmark_model::{
    artifact::{Artifact, FileHash, ProjectPath},
    journal::{ArtifactKey, Event, EventDraft, Kind, SegmentName},
    projection::checkpoint::{Checkpoint, CheckpointContext, NoCheckpoint, checkpoint_path},
};

/// The number of attempts, where the artifact is changed meanwhile.
const ATTEMPTS: usize = 8;

/// A checkpoint that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointMade {
    /// Its file.
    pub place: ProjectPath,
    /// Its content.
    pub checkpoint: Checkpoint,
    /// The segments of the journal that were sealed with it, so that history reaches git.
    pub sealed: Vec<SegmentName>,
}

/// A reason why no checkpoint was made, or why the journal was not sealed with one that was.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The artifact has no state that could be kept.
    #[error("cannot make a checkpoint of `{path}`")]
    NoState {
        /// The artifact.
        path: ProjectPath,
        /// The reason.
        source: NoCheckpoint,
    },
    /// One of the same file and the same moment is there.
    #[error("the checkpoint `{place}` is there already")]
    Existing {
        /// Its file.
        place: ProjectPath,
    },
    /// The artifact changes faster than it can be read.
    #[error("cannot make a checkpoint of `{path}`: another program keeps changing it")]
    Restless {
        /// The artifact.
        path: ProjectPath,
    },
    /// It cannot be read or written, or history cannot.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// It is made, but the journal stays in this clone.
    #[error("the checkpoint `{place}` is made, but the journal was not sealed")]
    Seal {
        /// Its file.
        place: ProjectPath,
        /// The reason.
        source: TellError,
    },
}

impl From<CommitError> for CheckpointError {
    fn from(error: CommitError) -> Self {
        Self::Change(error.into())
    }
}

/// A reason why a deliberation ended.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error(transparent)]
    Refused(#[from] CheckpointError),
    /// The artifact is not the one that the file was named for.
    #[error("the artifact has changed")]
    Moved,
}

/// The making of a checkpoint: the decision on an artifact and on the file of its checkpoint.
struct Making<'w> {
    workspace: &'w Workspace,
    path: &'w ProjectPath,
    place: &'w ProjectPath,
    /// The hash of the artifact that `place` is named for.
    hash: FileHash,
    at: jiff::Timestamp,
    git_commit: Option<String>,
    message: Option<String>,
    made: Option<(Checkpoint, Vec<Event>)>,
}

impl Making<'_> {
    fn make(&self, bytes: &[u8]) -> Result<(Checkpoint, Vec<Event>), CheckpointError> {
        let no_state = |source| CheckpointError::NoState { path: self.path.clone(), source };
        let artifact = Artifact::read(self.path.clone(), bytes.to_vec());
        Checkpoint::state_of(&artifact).map_err(no_state)?;
        let draft = EventDraft::new(Kind::CHECKPOINT)
            .with_command("checkpoint")
            .with_reason(self.message.clone())
            .with("checkpoint", self.place.as_str())
            .with("git_commit", self.git_commit.clone());
        let unchanged =
            FileTransition { path: self.path, old: Some(bytes), new: Some(bytes), last_told: None };
        let events = self.workspace.events_of(unchanged, &draft)?;
        // `events_of` ends with the event of the draft.
        let Some(event) = events.last().map(|event| event.id) else {
            return Err(CheckpointError::Restless { path: self.path.clone() });
        };
        let context = CheckpointContext {
            event,
            git_commit: self.git_commit.clone(),
            at: self.at,
            message: self.message.clone(),
        };
        let checkpoint = Checkpoint::of(&artifact, context).map_err(no_state)?;
        Ok((checkpoint, events))
    }
}

impl Deliberation for Making<'_> {
    type Refusal = Ended;

    fn decide(&mut self, found: &[Option<&[u8]>]) -> Result<Vec<FileDecision>, Ended> {
        let [Some(bytes), present] = *found else {
            let missing = ArtifactError::Missing { path: self.path.clone() };
            return Err(CheckpointError::from(ChangeError::from(missing)).into());
        };
        if FileHash::of(bytes) != self.hash {
            return Err(Ended::Moved);
        }
        if present.is_some() {
            return Err(CheckpointError::Existing { place: self.place.clone() }.into());
        }
        let (checkpoint, events) = self.make(bytes)?;
        let decisions = vec![FileDecision::Keep, FileDecision::Write(checkpoint.to_bytes())];
        self.made = Some((checkpoint, events));
        Ok(decisions)
    }

    fn record(&mut self, _changed: &[FileTransition<'_>]) -> Result<Vec<Event>, Ended> {
        Ok(self.made.iter().flat_map(|(_, events)| events.iter().cloned()).collect())
    }
}

impl Checkpoints<'_> {
    /// Makes a checkpoint of the artifact at `path` and seals the journal of the session, so that both reach git.
    ///
    /// # Errors
    /// When the artifact has no state, or something cannot be read or written. [`CheckpointError::Seal`] says that the
    /// checkpoint was made.
    pub fn make(&self, path: &ProjectPath, message: Option<&str>) -> Result<CheckpointMade, CheckpointError> {
        let git_commit = head_commit(self.workspace.root());
        for _ in 0..ATTEMPTS {
            let bytes = self.workspace.read_file(path).map_err(ChangeError::from)?;
            let artifact = Artifact::read(path.clone(), bytes);
            let no_state = |source| CheckpointError::NoState { path: path.clone(), source };
            Checkpoint::state_of(&artifact).map_err(no_state)?;
            let (at, hash) = (self.workspace.now(), artifact.file_hash());
            let place = checkpoint_path(&ArtifactKey::of(&artifact), at, hash).map_err(ChangeError::from)?;
            commit::make_folders_to(self.workspace.root(), &place, self.workspace.commit_options().fsync)
                .map_err(CommitError::from)?;
            let mut making = Making {
                workspace: self.workspace,
                path,
                place: &place,
                hash,
                at,
                git_commit: git_commit.clone(),
                message: message.map(str::to_owned),
                made: None,
            };
            let paths = [path.clone(), place.clone()];
            let done =
                commit::transact(self.workspace.root(), &paths, self.workspace.commit_options(), &mut making);
            match (done, making.made) {
                (Ok(_), Some((checkpoint, _))) => return self.sealed(place, checkpoint),
                (Err(UpdateError::Decide(Ended::Refused(error))), _) => return Err(error),
                (Err(UpdateError::Commit(error)), _) => return Err(error.into()),
                (Ok(_), None) | (Err(UpdateError::Decide(Ended::Moved)), _) => {}
            }
        }
        Err(CheckpointError::Restless { path: path.clone() })
    }

    fn sealed(&self, place: ProjectPath, checkpoint: Checkpoint) -> Result<CheckpointMade, CheckpointError> {
        match self.workspace.history().seal(self.workspace.attribution().session.as_ref()) {
            Ok(sealed) => Ok(CheckpointMade { place, checkpoint, sealed }),
            Err(source) => Err(CheckpointError::Seal { place, source }),
        }
    }
}
