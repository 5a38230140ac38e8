//! Migration from BMAD 6 to BMAD 7: reads the files, and writes all as one change.

use crate::Error;
use crate::changes::{exists, left_for};
use std::{collections::BTreeMap, sync::Arc};

use crate::commit::{CommitError, FileDecision, make_folders_to};
use crate::disk::folder::{EntryKind, Folder};
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    bmad::{
        migration::{ARCHIVE, Migration, SixProject, lost_in},
        sprint::{LedgerKey, SPRINT_STATUS_NAME, SprintStatus, StorySides},
    },
    journal::{EventDraft, Kind},
};

const EPICS: &str = "epics.md";

/// The number of epics and stories to find, and the lost ones with the reason.
pub type MigrationLoss = (usize, Vec<(String, String)>);

const MEMLOG_SHIM: &str = include_str!("memlog_shim.py");

impl Workspace {
    /// The BMAD 6 sprint in the output folder or its archive; `None` without a sprint status.
    pub fn six_project(&self, is_archived: bool) -> Option<SixProject> {
        let output = ProjectPath::new(self.bmad_output()?.path()).ok()?;
        let folder = if is_archived { output.join(ARCHIVE).ok()? } else { output.clone() };
        let mut files = Vec::new();
        self.files_below(folder.as_str().to_owned(), &mut files);
        let ledger = files.iter().find(|path| path.file_name() == SPRINT_STATUS_NAME)?.clone();
        let ledger = (ledger.clone(), self.read_file(&ledger).ok()?);
        let read = |path: &ProjectPath| Some(Artifact::read(path.clone(), self.read_file(path).ok()?));
        let epics = files.iter().find(|path| path.file_name() == EPICS).and_then(read);
        let is_story = |path: &&ProjectPath| {
            path.file_name().ends_with(".md") && LedgerKey::of(path).is_some_and(|(key, _)| key.is_story())
        };
        let listed = SprintStatus::read(&ledger.1).unwrap_or_default();
        let lifecycles = self.configuration().lifecycles();
        let story = |path: &ProjectPath| {
            let file = read(path)?;
            let lifecycle = lifecycles.choose(&file).map(|choice| Arc::clone(&choice.lifecycle));
            let sides = StorySides::read(&file, lifecycle, listed.status_of(path.file_stem()));
            // The more advanced one counts, as in BMAD's own migration.
            let word = sides.and_then(|sides| {
                let side = sides.furthest().or_else(|| sides.winner(None));
                side.and_then(|side| sides.chosen(side)).map(str::to_owned)
            });
            Some((file, word))
        };
        let stories = files.iter().filter(is_story).filter_map(story).collect();
        Some(SixProject { output, ledger, epics, stories })
    }

    /// Moves the old files to the archive in the same change.
    pub fn migrate(&self, made: &Migration) -> Result<(), Error> {
        let new = |path: &ProjectPath| match self.read_file(path) {
            Ok(_) => Err(exists(path)),
            Err(_) => Ok(()),
        };
        let mut decisions: BTreeMap<ProjectPath, FileDecision> = BTreeMap::new();
        for (path, bytes) in &made.files {
            new(path)?;
            decisions.insert(path.clone(), FileDecision::Write(bytes.clone()));
        }
        for (from, to) in &made.archived {
            new(to)?;
            decisions.insert(to.clone(), FileDecision::Write(self.read_file(from)?));
            decisions.insert(from.clone(), FileDecision::Delete);
        }
        self.write_together(&decisions, "import bmad-7")
    }

    /// Reverts a migration: restores the archive, and removes created files unless they were changed.
    pub fn migrate_back(&self, made: &Migration, output: &ProjectPath) -> Result<(), Error> {
        let mut decisions: BTreeMap<ProjectPath, FileDecision> = BTreeMap::new();
        for (path, bytes) in &made.files {
            if self.read_file(path).map_err(Error::unwritten)? != *bytes {
                let reason = "it was changed since; undo that first, or keep it".to_owned();
                return Err(left_for(path, &reason));
            }
            decisions.insert(path.clone(), FileDecision::Delete);
        }
        for (archived, _) in &made.archived {
            let folder = format!("{output}/{ARCHIVE}/");
            let below = archived.as_str().strip_prefix(&folder).unwrap_or(archived.as_str());
            decisions.insert(
                output.join(below)?,
                FileDecision::Write(self.read_file(archived).map_err(Error::unwritten)?),
            );
            decisions.insert(archived.clone(), FileDecision::Delete);
        }
        self.write_together(&decisions, "import bmad-7 --undo")
    }

    /// Replaces BMAD's `memlog.py` by a script that calls stepmark and keeps the original beside it; or
    /// reverts that. Returns whether anything changed.
    pub fn set_memlog_shim(&self, is_wanted: bool) -> Result<bool, Error> {
        let [script, kept] = ["memlog.py", "memlog_bmad.py"].map(|name| format!("_bmad/scripts/{name}"));
        let (script, kept) = (ProjectPath::new(script)?, ProjectPath::new(kept)?);
        let now = self.read_file(&script).map_err(Error::unwritten)?;
        let is_shim = now == MEMLOG_SHIM.as_bytes();
        if is_shim == is_wanted {
            return Ok(false);
        }
        let decisions = match is_wanted {
            true => [(script, FileDecision::Write(MEMLOG_SHIM.into())), (kept, FileDecision::Write(now))],
            false => [
                (script, FileDecision::Write(self.read_file(&kept).map_err(Error::unwritten)?)),
                (kept, FileDecision::Delete),
            ],
        };
        self.write_together(&decisions.into(), "memlog shim")?;
        Ok(true)
    }

    fn write_together(
        &self,
        decisions: &BTreeMap<ProjectPath, FileDecision>,
        command: &str,
    ) -> Result<(), Error> {
        let paths: Vec<ProjectPath> = decisions.keys().cloned().collect();
        for (path, _) in decisions.iter().filter(|(_, own)| matches!(own, FileDecision::Write(_))) {
            make_folders_to(self.root(), path, self.commit_options().fsync).map_err(CommitError::from)?;
        }
        let draft = EventDraft::new(Kind::IMPORT).with_command(command);
        self.change_files(&paths, |_| draft.clone(), |_| Ok(decisions.values().cloned().collect()))?;
        Ok(())
    }

    /// Losses of the initiative `name` against the archive; `None` if either is missing.
    pub fn lost_in_migration(
        &self,
        name: &str,
        words: &BTreeMap<String, String>,
    ) -> Option<Result<MigrationLoss, String>> {
        let six = self.six_project(true)?;
        let tickets = self.tickets();
        let tree = tickets.trees().iter().find(|tree| tree.top().file_name() == name)?;
        Some(six.migrated(name, words).map(|done| {
            let lost = lost_in(&done, tree, |path| self.read_file(path).ok());
            (done.rows.len(), lost)
        }))
    }

    fn files_below(&self, folder: String, found: &mut Vec<ProjectPath>) {
        let Ok(folder) = Folder::open(self.root().path(), folder) else { return };
        for place in 0..folder.len() {
            let path = folder.path_of(folder.name(place));
            match folder.kind(place) {
                EntryKind::Folder if folder.name(place) != ARCHIVE => self.files_below(path, found),
                EntryKind::File => found.extend(ProjectPath::new(path).ok()),
                _ => {}
            }
        }
    }
}
