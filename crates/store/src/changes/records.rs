//! Several records that are decided on together and committed as one.

use crate::changes::{ChangeError, UpdateError};
use crate::commit::{FileDecision, Halt, Outcome};
use crate::workspace::Workspace;
use stepmark_frontmatter::{Document, Edit, Yaml, apply, diff};
use stepmark_model::artifact::{Artifact, ProjectPath, state_region};
use stepmark_model::journal::{ArtifactKey, EventDraft, Spelling};

pub(crate) const RECORDS_A_COMMIT: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub enum RecordDecision {
    /// It stays as it is. It is locked all the same, so that the decision on the others may rest on it.
    Keep,
    Edit(Vec<Edit>),
    /// Its file holds these bytes.
    Write(Vec<u8>),
    Remove,
}

impl Workspace {
    /// Changes the records at `paths` as one: all of them or none, whenever the process dies. `decide` is
    /// given each as it stands (`None`: there is no such file), decides on each from them alone, and may be
    /// called again. What holds for a change of one artifact holds for each: its lease, its lifecycle, its
    /// open children, its events; `draft` says what the journal is told.
    pub(crate) fn change_records<E: 'static>(
        &self,
        paths: &[ProjectPath],
        draft: impl Fn(&ProjectPath) -> EventDraft,
        mut decide: impl FnMut(&[Option<Artifact>]) -> Result<Vec<RecordDecision>, E>,
    ) -> Result<Vec<Outcome>, UpdateError<E>> {
        let refused = |source| UpdateError::Refused { path: paths[0].clone(), source };
        self.change_files_asking(paths, draft, |found| {
            let read = |(path, bytes): (&ProjectPath, &Option<&[u8]>)| {
                bytes.map(|bytes| Artifact::read(path.clone(), bytes.to_vec()))
            };
            let records: Vec<Option<Artifact>> = paths.iter().zip(found).map(read).collect();
            let decisions = decide(&records).map_err(|source| Halt::Refused(refused(source)))?;
            let edit = |((path, bytes), decision): ((&ProjectPath, &Option<&[u8]>), RecordDecision)| {
                match decision {
                    RecordDecision::Keep => Ok(FileDecision::Keep),
                    RecordDecision::Write(bytes) => Ok(FileDecision::Write(bytes)),
                    RecordDecision::Remove => Ok(FileDecision::Delete),
                    RecordDecision::Edit(edits) => edited(path, bytes.unwrap_or_default(), &edits),
                }
            };
            for ((path, found), decision) in paths.iter().zip(found).zip(&decisions) {
                if let (None, RecordDecision::Write(bytes)) = (found, decision) {
                    self.refuse_taken_id(path, bytes).map_err(|error| Halt::Refused(error.into()))?;
                }
            }
            let decided = paths.iter().zip(found).zip(decisions).map(edit);
            decided.collect::<Result<_, ChangeError>>().map_err(|error| Halt::Refused(error.into()))
        })
    }
}

impl Workspace {
    /// Refuses that the new record at `path` takes the id of another artifact: they would have one history.
    fn refuse_taken_id(&self, path: &ProjectPath, bytes: &[u8]) -> Result<(), ChangeError> {
        let key_of =
            |path: &ProjectPath, bytes: Vec<u8>| ArtifactKey::of(&Artifact::read(path.clone(), bytes));
        let key = key_of(path, bytes.to_vec());
        let others = self.history().ask(|history| history.places(&key))?;
        let mut others = others.into_iter().filter(|other| other != path);
        let is_there = |other: &ProjectPath| {
            !key.is_path() && self.read_file(other).is_ok_and(|bytes| key_of(other, bytes) == key)
        };
        match others.find(is_there) {
            Some(other) => Err(ChangeError::IdTaken { path: path.clone(), key, other }),
            None => Ok(()),
        }
    }
}

fn edited(path: &ProjectPath, bytes: &[u8], edits: &[Edit]) -> Result<FileDecision, ChangeError> {
    match apply(bytes, &state_region(path), edits) {
        Ok(edited) => Ok(FileDecision::Write(edited.bytes)),
        Err(source) => Err(ChangeError::Edit { path: path.clone(), bytes: bytes.to_vec(), source }),
    }
}

/// The artifact that a change leads from, and the one that it leads to; `None` where there is no file.
#[derive(Debug)]
pub(crate) struct Versions {
    pub(crate) old: Option<Artifact>,
    pub(crate) new: Option<Artifact>,
    /// The spelling of the frontmatter that the change makes another of.
    pub(crate) spelling: Option<Spelling>,
}

impl Versions {
    pub(crate) fn read(path: &ProjectPath, [old, new]: [Option<&[u8]>; 2]) -> Self {
        let tree = old.and_then(|old| state_of(path, old));
        let read = |bytes, tree| Artifact::read_with_value(path.clone(), bytes, tree);
        let (old, new) = (old.map(|old| read(old, tree.as_ref())), new.map(|new| read(new, None)));
        Self::of(old, tree.as_ref(), new)
    }

    /// Puts together what was read; `tree` is the frontmatter of `old`.
    pub(crate) fn of(old: Option<Artifact>, tree: Option<&Yaml<'_>>, new: Option<Artifact>) -> Self {
        // Where there is no state to compare, the texts alone lead back.
        let changes = |old: &Artifact, new: &Artifact| {
            old.state_value().ok().zip(new.state_value().ok()).map(|(old, new)| diff(&old, &new))
        };
        let spelling = old.as_ref().zip(new.as_ref()).and_then(|(old, new)| {
            let changes = changes(old, new).unwrap_or_default();
            Spelling::of(&old.region(), (old.bytes(), tree), new.bytes(), &changes)
        });
        Self { old, new, spelling }
    }
}

pub(crate) fn state_of<'b>(path: &ProjectPath, bytes: &'b [u8]) -> Option<Yaml<'b>> {
    Yaml::parse(bytes, state_region(path).find(&Document::scan(bytes)).ok()?).ok()
}
