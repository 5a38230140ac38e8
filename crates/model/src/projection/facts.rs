//! The facts of each projection, and the state of one of its files.

use crate::artifact::FileHash;

/// The facts of a projection: a copy of state in files of its own or of others, made one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectionFacts {
    /// Its name in answers, and in the memory of what was written.
    pub name: &'static str,
    pub made_of: Source,
    /// The time by which it has to say what its source says.
    pub freshness: Freshness,
    /// The files that it owns, as a pattern seen from the project root.
    pub files: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Artifacts, each by itself: where one changes, the part of that one is made anew.
    EachArtifact,
    /// All artifacts, and what else is kept of a project.
    Project,
    /// The definitions that agents work by: workflows, agents, skills, tasks, components.
    Definitions,
}

/// The time by which a projection has to say what its source says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// In the commit that changes its source: both or neither.
    InTheCommit,
    /// The return of the command that changed its source.
    AfterTheCommit,
    /// The moment at which it is asked: whoever reads it brings it up to date.
    WhenAsked,
    /// The moment at which a person or an agent calls for it.
    WhenCalledFor,
}

impl ProjectionFacts {
    /// `sprint-status.yaml` and the line `Status:` of stories.
    pub const LEDGERS: Self =
        Self::of("ledgers", Source::EachArtifact, Freshness::InTheCommit, "**/sprint-status.yaml");
    pub const GATES: Self =
        Self::of("gates", Source::EachArtifact, Freshness::AfterTheCommit, ".stepmark/gates/**/*.gate");
    pub const FILES_MANIFEST: Self = Self::of(
        "files-manifest",
        Source::EachArtifact,
        Freshness::WhenCalledFor,
        ".stepmark/manifests/files-manifest.csv",
    );
    pub const CATALOGUES: Self = Self::of(
        "catalogues",
        Source::Definitions,
        Freshness::WhenCalledFor,
        ".stepmark/manifests/*-manifest.csv",
    );
    pub const INDEX: Self =
        Self::of("index", Source::Project, Freshness::WhenAsked, ".stepmark/local/cache/*.db");
    pub const AUTODEV_SUMMARY: Self =
        Self::of("autodev-summary", Source::EachArtifact, Freshness::WhenCalledFor, "*");
    pub const PACK_FILES: Self = Self::of("pack-files", Source::EachArtifact, Freshness::AfterTheCommit, "*");
    pub const INSTRUCTIONS: Self =
        Self::of("instructions", Source::Definitions, Freshness::WhenCalledFor, "*");

    const fn of(name: &'static str, made_of: Source, freshness: Freshness, files: &'static str) -> Self {
        Self { name, made_of, freshness, files }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// It has these bytes.
    Current,
    Missing,
    /// It is as it was written, and what it is made of has changed since.
    Stale,
    /// It is not as it was written: somebody changed it.
    Edited,
    Unknown,
}

impl FileState {
    /// Judges a file by hashes: `found` is that of the file, `wanted` that of what belongs there, `written`
    /// that of what was written last. An empty file is as good as none: nothing would be lost with it.
    pub fn judge(found: Option<FileHash>, wanted: FileHash, written: Option<FileHash>) -> Self {
        match (found, written) {
            (None, _) => Self::Missing,
            (Some(found), _) if found == wanted => Self::Current,
            (Some(found), _) if found == FileHash::of(b"") => Self::Missing,
            (Some(found), Some(written)) if found == written => Self::Stale,
            (Some(_), Some(_)) => Self::Edited,
            (Some(_), None) => Self::Unknown,
        }
    }

    /// Returns whether the file may hold what somebody wrote by hand.
    pub const fn may_be_edited(self) -> bool {
        matches!(self, Self::Edited | Self::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_judged_by_what_was_written_last() {
        let hash = |text: &str| FileHash::of(text.as_bytes());
        for (found, written, expected) in [
            (Some("now"), Some("before"), FileState::Current),
            (Some("now"), None, FileState::Current),
            (None, Some("before"), FileState::Missing),
            (Some(""), Some("before"), FileState::Missing),
            (Some("before"), Some("before"), FileState::Stale),
            (Some("other"), Some("before"), FileState::Edited),
            (Some("other"), None, FileState::Unknown),
        ] {
            let state = FileState::judge(found.map(hash), hash("now"), written.map(hash));
            assert_eq!(state, expected, "{found:?} {written:?}");
        }
    }
}
