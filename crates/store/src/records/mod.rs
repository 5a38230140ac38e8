//! Records of systems on the disk: a Markdown file each.

pub(crate) mod snapshot;
