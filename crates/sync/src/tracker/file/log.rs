//! The file of a file tracker.
#![expect(clippy::disallowed_methods, reason = "an edge module: this tracker is a file")]

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use super::Line;

/// How many bytes the file may have: a ticket has about two thousand, and each change adds one more.
const SIZE_LIMIT: u64 = 1024 * 1024 * 1024;

/// A file to which lines are appended, one whole transaction at a time, under a lock that other processes heed.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
}

/// The file, locked.
pub(super) struct LockedLog {
    file: File,
    /// What it holds, in its order.
    pub(super) lines: Vec<Line>,
}

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum LogError {
    #[error("`{}` cannot be {intent}: {source}", .path.display())]
    Io { intent: &'static str, path: PathBuf, source: io::Error },
    #[error("line {line} of `{}` is no line of tickets: {reason}; mend it, or move the file away", .path.display())]
    Line { path: PathBuf, line: usize, reason: String },
    #[error("`{}` has more than {SIZE_LIMIT} bytes: move it away, and tickets are written anew", .path.display())]
    TooLarge { path: PathBuf },
}

impl Log {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Locks the file, which is made where it does not exist, and reads it.
    pub(super) fn lock(&self) -> Result<LockedLog, LogError> {
        let failed = |intent| move |source| LogError::Io { intent, path: self.path.clone(), source };
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(failed("made"))?;
        }
        let mut options = OpenOptions::new();
        let opened = options.read(true).append(true).create(true).open(&self.path);
        let mut file = opened.map_err(failed("opened"))?;
        file.lock().map_err(failed("locked"))?;
        if file.metadata().map_err(failed("read"))?.len() > SIZE_LIMIT {
            return Err(LogError::TooLarge { path: self.path.clone() });
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed("read"))?;
        let (whole, rest) = text.split_at(text.rfind('\n').map_or(0, |end| end + 1));
        let lines = whole.lines().enumerate().map(|(at, line)| {
            Line::read(line).map_err(|reason| LogError::Line {
                path: self.path.clone(),
                line: at + 1,
                reason,
            })
        });
        let lines = lines.collect::<Result<Vec<_>, _>>()?;
        if !rest.is_empty() {
            self.refuse_foreign(rest, lines.len())?;
            // A line that was cut off by a crash was never acknowledged.
            file.set_len(whole.len() as u64).map_err(failed("mended"))?;
            file.seek(SeekFrom::End(0)).map_err(failed("mended"))?;
        }
        Ok(LockedLog { lines, file })
    }

    /// Refuses an end of the file that is no beginning of a line of ours: it belongs to somebody.
    fn refuse_foreign(&self, rest: &str, before: usize) -> Result<(), LogError> {
        if rest.starts_with(Line::BEGINNING) || Line::BEGINNING.starts_with(rest) {
            return Ok(());
        }
        let reason = "it was not written by stepmark".to_owned();
        Err(LogError::Line { path: self.path.clone(), line: before + 1, reason })
    }
}

impl LockedLog {
    /// Appends lines and makes them durable, at once.
    pub(super) fn append(mut self, path: &Path, lines: &[Line]) -> Result<(), LogError> {
        let failed = |source| LogError::Io { intent: "written", path: path.to_owned(), source };
        let mut text = String::new();
        for line in lines {
            let json = serde_json::to_string(line).map_err(|error| failed(error.into()))?;
            text.push_str(&json);
            text.push('\n');
        }
        self.file.write_all(text.as_bytes()).map_err(failed)?;
        self.file.sync_all().map_err(failed)
    }
}
