//! Records of systems on the disk: a Markdown file each.

pub(crate) mod snapshot;

use stepmark_frontmatter::{Span, merge_conflict, merge_sides};
use stepmark_model::artifact::ProjectPath;

use crate::workspace::{ArtifactError, Workspace};

impl Workspace {
    /// The bytes of the record at `path`; of one in which git left two versions those of our side, by which
    /// other records are decided on. It is changed itself when that is resolved.
    pub(crate) fn read_record(&self, path: &ProjectPath) -> Result<Vec<u8>, ArtifactError> {
        let bytes = self.read_file(path)?;
        if merge_conflict(&bytes, Span::new(0, bytes.len())).is_none() {
            return Ok(bytes);
        }
        let sides = std::str::from_utf8(&bytes).ok().and_then(merge_sides);
        Ok(sides.map(|[(_, ours), _]| ours.into_bytes()).unwrap_or(bytes))
    }
}
