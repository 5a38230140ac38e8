//! The records of ASDD on the disk, one file each.

use super::Asdd;
use crate::records::not_listed;
use crate::records::{RecordSystem as _, record_system};
use crate::workspace::Workspace;
use crate::{Error, disk::names_in};
use stepmark_model::{
    artifact::ProjectPath,
    asdd::{SYSTEM, SliceKind, State},
    records::file_stem,
};

record_system!(Asdd, SliceKind);

impl Asdd<'_> {
    /// The kind project has one path, whatever the id.
    pub fn path_of(&self, kind: SliceKind, id: &str) -> Result<ProjectPath, Error> {
        let name = match kind {
            SliceKind::Project => "project.md".to_owned(),
            SliceKind::Slice => format!("slices/{}.md", file_stem(id)),
        };
        Ok(self.settings.folder.join(&name)?)
    }

    pub fn state(&self) -> Result<State, Error> {
        let project = self.path_of(SliceKind::Project, "")?;
        let (records, others) = self.read_records(self.paths_in("slices")?.into_iter().chain([project]));
        self.state_of(records, others)
    }

    pub(super) fn paths_in(&self, folder: &str) -> Result<Vec<ProjectPath>, Error> {
        let folder = self.settings.folder.join(folder)?;
        let names = self.names_in(&folder)?.into_iter();
        let names = names.filter(|name| name.ends_with(".md") && !name.starts_with('.'));
        Ok(names.map(|name| folder.join(&name)).collect::<Result<_, _>>()?)
    }

    pub(super) fn names_in(&self, folder: &ProjectPath) -> Result<Vec<String>, Error> {
        let place = self.workspace.root().resolve(folder).map_err(Error::from)?;
        names_in(&place).map_err(|source| not_listed(folder, source))
    }
}
