//! Memlogs of BMAD and deferred review findings: each change is one commit with one event.

use crate::changes::{exists, left_for};
use crate::commit::{CommitError, make_folders_to};
use crate::workspace::Workspace;
use crate::{Error, changes::RecordDecision};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    bmad::memlog::{Deferred, Memlog, MemlogEntry, defer, new_memlog},
    journal::{EventDraft, Kind},
};

#[derive(Clone, Copy, Debug)]
pub enum MemlogChange<'c> {
    Init(&'c [(String, String)]),
    Append(MemlogEntry<'c>),
    Set(&'c str, &'c str),
}

impl Workspace {
    pub fn change_memlog(&self, path: &ProjectPath, change: MemlogChange<'_>) -> Result<usize, Error> {
        let now = self.local_time().strftime("%Y-%m-%dT%H:%M").to_string();
        let draft = EventDraft::new(Kind::CHANGE).decided();
        let draft = match change {
            MemlogChange::Init(_) => draft.with_command("memlog init"),
            MemlogChange::Append(entry) => {
                draft.with_command("memlog append").with_reason(Some(entry.line()))
            }
            MemlogChange::Set(..) => draft.with_command("memlog set"),
        };
        if let MemlogChange::Init(_) = change {
            make_folders_to(self.root(), path, self.commit_options().fsync).map_err(CommitError::from)?;
        }
        let mut entries = 0;
        let decide = |found: &[Option<Artifact>]| {
            let text = changed(path, found.first().and_then(Option::as_ref), change, &now)?;
            entries = Memlog::read(text.as_bytes()).map_or(0, |memlog| memlog.entries().count());
            Ok(vec![RecordDecision::Write(text.into_bytes())])
        };
        self.change_record(path, &draft, decide)?;
        Ok(entries)
    }

    pub fn defer(&self, path: &ProjectPath, item: &Deferred<'_>) -> Result<(), Error> {
        let draft = EventDraft::new(Kind::CHANGE).decided().with_command("defer");
        let decide = |found: &[Option<Artifact>]| {
            let missing = || Error::missing(path.clone());
            let found = found.first().and_then(Option::as_ref).ok_or_else(missing)?;
            let written = defer(path, found.bytes(), item);
            let written = written.map_err(|reason| left_for(path, &reason))?;
            Ok(vec![RecordDecision::Write(written)])
        };
        self.change_record(path, &draft, decide)
    }

    fn change_record(
        &self,
        path: &ProjectPath,
        draft: &EventDraft,
        decide: impl FnMut(&[Option<Artifact>]) -> Result<Vec<RecordDecision>, Error>,
    ) -> Result<(), Error> {
        match self.change_records(std::slice::from_ref(path), |_| draft.clone(), decide) {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::from(error).unwritten()),
        }
    }
}

fn changed(
    path: &ProjectPath,
    found: Option<&Artifact>,
    change: MemlogChange<'_>,
    now: &str,
) -> Result<String, Error> {
    let memlog = found.map(|found| Memlog::read(found.bytes()));
    let text = match (memlog, change) {
        (Some(_), MemlogChange::Init(_)) => return Err(exists(path)),
        (None, MemlogChange::Append(_) | MemlogChange::Set(..)) => {
            return Err(Error::missing(path.clone()));
        }
        (None, MemlogChange::Init(fields)) => new_memlog(fields, now),
        (Some(memlog), MemlogChange::Append(entry)) => memlog.and_then(|memlog| memlog.append(&entry, now)),
        (Some(memlog), MemlogChange::Set(key, value)) => {
            memlog.and_then(|memlog| memlog.set(key, value, now))
        }
    };
    text.map_err(|reason| left_for(path, &reason))
}
