//! Slices made again whose artifact is gone: from history, else from the files of their phases.

use super::{Asdd, changing::draft};
use crate::records::{ChangedRecords as _, RecordSystem as _, SystemError};
use crate::{changes::RecordDecision, commit::make_folders_to, history::History};
use stepmark_model::{
    artifact::ProjectPath,
    asdd::{FoundFile, Record, SliceKind, from_files},
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    pub from_history: Vec<String>,
    /// Those that files told of, and that a tech lead has to look at.
    pub from_files: Vec<String>,
}

impl Asdd<'_> {
    /// Makes slices again whose artifact is gone or cannot be read: from history as they were, and from the
    /// files of phases that no slice names.
    pub fn rebuild(&self) -> Result<Rebuilt, SystemError> {
        let mut rebuilt = Rebuilt::default();
        for (path, record) in self.lost()? {
            make_folders_to(self.workspace.root(), &path, self.workspace.commit_options().fsync)?;
            let bytes =
                record.to_file().map_err(|source| SystemError::Edit { path: path.clone(), source })?;
            self.attempt(&[path], draft("restore", "asdd rebuild"), |_| {
                Ok(((), vec![RecordDecision::Write(bytes.clone())]))
            })?;
            rebuilt.from_history.push(record.id);
        }
        let state = self.state()?;
        for slice in from_files(&self.files_of_phases()?, &state) {
            self.write_record(&slice, draft("asdd-rebuilt", "asdd rebuild"))?;
            rebuilt.from_files.push(slice.id);
        }
        self.follow();
        Ok(rebuilt)
    }

    /// The slices that are gone or cannot be read, as history knows them last. One that was taken away is
    /// none.
    fn lost(&self) -> Result<Vec<(ProjectPath, Record)>, SystemError> {
        let (folder, history) = (self.path_of(SliceKind::Slice, "x")?.parent(), self.workspace.history());
        let mut lost = Vec::new();
        for known in history.ask(History::artifacts)? {
            let is_slice = known.path.parent() == folder && !known.goes_on;
            if !is_slice || self.read_record(&known.path).is_ok_and(|record| record.is_some()) {
                continue;
            }
            let Some(state) = self.workspace.last_state(&known)? else { continue };
            if let Ok(mut record) = Record::of_state(state, String::new()) {
                if known.heads.len() > 1 {
                    // Which of them counts, as after a checkout of an older version, a person knows.
                    record.set("needs_human_review", vec!["status"]);
                }
                lost.push((known.path, record));
            }
        }
        Ok(lost)
    }

    /// The files of phases: `specs/NAME/KEY.md`.
    fn files_of_phases(&self) -> Result<Vec<FoundFile>, SystemError> {
        let specs = self.settings.folder.join("specs")?;
        let mut found = Vec::new();
        for name in self.names_in(&specs)? {
            for key in ["intent", "requirements", "design", "tasks"] {
                let path = format!("{specs}/{name}/{key}.md");
                if let Some(hash) = self.hash(&path) {
                    found.push(FoundFile {
                        slice: name.clone(),
                        key: key.to_owned(),
                        path,
                        hash: hash.to_string(),
                    });
                }
            }
        }
        Ok(found)
    }
}
