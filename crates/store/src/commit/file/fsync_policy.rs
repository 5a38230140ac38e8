//! The policy on waiting for the disk.

/// The policy on waiting until the bytes of a commit are on the disk. Atomicity does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FsyncPolicy {
    /// Flush the new file before it gets its name, and the folder after: what is acknowledged survives a loss of power.
    #[default]
    Always,
    /// Leave flushing to the system: survives the end of the process, not that of the machine. For tests and for files
    /// that can be rebuilt.
    Never,
}
