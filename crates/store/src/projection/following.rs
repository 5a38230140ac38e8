//! The files of systems that follow a change of one of their records.

use crate::workspace::Workspace;
use stepmark_model::{artifact::ProjectPath, transition::Remark};

impl Workspace {
    /// Makes the files of other programs follow a change of the artifact at `path`, where it is a record.
    pub(crate) fn follow_records(&self, path: &ProjectPath) -> Option<Remark> {
        self.follow_tasks(path).or_else(|| self.follow_slices(path))
    }
}
