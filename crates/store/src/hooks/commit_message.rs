//! Messages of commits that are being made.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: git's file of the message is read and written here"
)]

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use crate::git::process::printed;
use crate::history::{HistoryError, SEALED_FOLDER, packed_segments};
use crate::hooks::git_hooks::GitHooks;
use stepmark_model::{
    journal::SegmentName,
    projection::history_trailer::{MOST_TRAILERS, with_heads},
};

/// The comment characters that git chooses from where it is told to choose (git-config(1),
/// `core.commentChar`).
const COMMENT_CHARACTERS: &str = "#;@!$%^&|:";

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitMessageError {
    #[error("cannot add the trailer of history to the commit message `{}`", file.display())]
    File { file: PathBuf, source: io::Error },
    #[error(transparent)]
    History(#[from] HistoryError),
}

impl GitHooks<'_> {
    /// Makes trailers of the commit message in `file` name the sealed segments of the index that no other of
    /// them names, in place of those that it has, and returns whether it changed. Without such segments it
    /// stays.
    pub fn add_trailers(&self, file: &Path) -> Result<bool, CommitMessageError> {
        let names = self.staged_segments();
        if names.is_empty() {
            return Ok(false);
        }
        let failed = |source| CommitMessageError::File { file: file.to_owned(), source };
        let message = fs::read_to_string(file).map_err(failed)?;
        let heads = self.workspace.history().ask(|history| history.tips_among(&names, MOST_TRAILERS))?;
        let comment =
            comment_of(&message, printed(self.workspace.root(), &["config", "--get", "core.commentChar"]));
        let Some(text) = with_heads(&message, &comment, &heads).filter(|text| *text != message) else {
            return Ok(false);
        };
        fs::write(file, text).map_err(failed)?;
        Ok(true)
    }

    fn staged_segments(&self) -> BTreeSet<SegmentName> {
        let listed = printed(self.workspace.root(), &["ls-files", "--cached", "-z", "--", SEALED_FOLDER])
            .unwrap_or_default();
        let name = |path: &str| {
            let file = path.strip_prefix(SEALED_FOLDER)?.strip_prefix('/')?;
            SegmentName::new(file.strip_suffix(".jsonl").or_else(|| file.strip_suffix(".jsonl.gz"))?)
        };
        let mut names: BTreeSet<SegmentName> = listed.split('\0').filter_map(name).collect();
        for (pack, segments) in packed_segments(self.workspace.root()).unwrap_or_default() {
            if listed.split('\0').any(|path| path == pack) {
                names.extend(segments);
            }
        }
        names
    }
}

fn comment_of(message: &str, configured: Option<String>) -> String {
    let configured = configured.unwrap_or_default();
    match configured.trim() {
        "" => "#".to_owned(),
        // The last line is git's own then, if any is.
        "auto" => message
            .lines()
            .rev()
            .find_map(|line| line.chars().next())
            .filter(|first| COMMENT_CHARACTERS.contains(*first))
            .map_or_else(|| "#".to_owned(), String::from),
        text => text.to_owned(),
    }
}
