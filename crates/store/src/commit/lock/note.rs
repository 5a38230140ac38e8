//! The note of a holder's next step, so that the next holder can finish or undo it.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use crate::commit::{lock::JournalStamp, lock::LastEvent, lock::LockKey};
use stepmark_model::{artifact::FileHash, journal::Ancestor};

/// In bytes, far above the longest note.
const NOTE_LIMIT: u64 = 512;

/// A line in the lock file, written before the step that it announces and not taken back: temporary names are
/// random, so an old note matches none. Not flushed, since it guards only against a killed process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commit) enum Note {
    /// `name` is being written. It is ours, and may be incomplete.
    Staging { name: String },
    /// `name` is complete and exchanges names with the target. It may hold foreign bytes.
    Exchanging {
        name: String,
        before: FileHash,
        /// The hash of `name` before the exchange.
        after: FileHash,
    },
    /// The last commit is done and its event appended.
    Told(LastEvent),
}

impl Note {
    /// Overwrites in place. The rest of a longer note, after the line feed, is ignored.
    pub(in crate::commit) fn write(&self, mut lock_file: &File) -> io::Result<()> {
        let line = match self {
            Self::Staging { name } => format!("staging {name}\n"),
            Self::Exchanging { name, before, after } => format!("exchanging {name} {before} {after}\n"),
            Self::Told(LastEvent { file, event: Ancestor { id, n }, journal: JournalStamp(journal) }) => {
                format!("told {file} {id} {n} {journal}\n")
            }
        };
        lock_file.seek(SeekFrom::Start(0))?;
        lock_file.write_all(line.as_bytes())
    }

    /// `None` if torn or another artifact's: that could name any file.
    pub(in crate::commit) fn read(mut lock_file: &File, key: &LockKey) -> io::Result<Option<Self>> {
        let mut bytes = Vec::with_capacity(512);
        lock_file.seek(SeekFrom::Start(0))?;
        lock_file.take(NOTE_LIMIT).read_to_end(&mut bytes)?;
        Ok(Self::parse(&bytes, key))
    }

    fn parse(bytes: &[u8], key: &LockKey) -> Option<Self> {
        let end = memchr::memchr(b'\n', bytes)?;
        let line = std::str::from_utf8(&bytes[..end]).ok()?;
        let words: Vec<&str> = line.split(' ').collect();
        let named = |name: &str| key.names_temporary_file(name).then(|| name.to_owned());
        match words[..] {
            ["staging", name] => Some(Self::Staging { name: named(name)? }),
            ["exchanging", name, before, after] => Some(Self::Exchanging {
                name: named(name)?,
                before: before.parse().ok()?,
                after: after.parse().ok()?,
            }),
            ["told", file, id, n, journal] => Some(Self::Told(LastEvent {
                file: file.parse().ok()?,
                event: Ancestor { id: id.parse().ok()?, n: n.parse().ok()? },
                journal: JournalStamp(journal.to_owned()),
            })),
            _ => None,
        }
    }
}

/// Always ASCII, made by stepmark.
pub(in crate::commit) fn file_name(temporary: &Path) -> String {
    temporary.file_name().unwrap_or(OsStr::new("")).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> LockKey {
        LockKey::of(Path::new("docs/prd.md"))
    }

    fn notes() -> [Note; 3] {
        let name = format!("{}Ab3xyz.tmp", key().temporary_prefix());
        let (before, after) = (FileHash::of(b"a"), FileHash::of(b"b"));
        let told = LastEvent {
            file: after,
            event: Ancestor { id: "00112233445566778899aabbccddeeff".parse().unwrap(), n: 7 },
            journal: JournalStamp("1-2/none".to_owned()),
        };
        [Note::Exchanging { name: name.clone(), before, after }, Note::Staging { name }, Note::Told(told)]
    }

    #[test]
    fn a_note_replaces_the_one_before() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(Note::read(&file, &key()).unwrap(), None);
        for note in notes() {
            note.write(&file).unwrap();
            assert_eq!(Note::read(&file, &key()).unwrap(), Some(note));
        }
    }

    #[test]
    fn only_whole_notes_about_own_temporary_files_count() {
        let [exchanging, ..] = notes();
        let file = tempfile::tempfile().unwrap();
        exchanging.write(&file).unwrap();
        let mut text = String::new();
        (&file).rewind().unwrap();
        (&file).read_to_string(&mut text).unwrap();
        assert_eq!(Note::parse(text.as_bytes(), &key()), Some(exchanging));
        for length in 0..text.len() {
            assert_eq!(Note::parse(&text.as_bytes()[..length], &key()), None, "{length} bytes");
        }
        let foreign = LockKey::of(Path::new("docs/ux.md"));
        assert_eq!(Note::parse(text.as_bytes(), &foreign), None);
        for line in ["staging prd.md\n", "staging \n", "staging ../x\n", "\0\0\0\n", "done\n", "\n"] {
            assert_eq!(Note::parse(line.as_bytes(), &key()), None, "{line:?}");
        }
        let climbing = format!("staging {}/../../x.tmp\n", key().temporary_prefix());
        assert_eq!(Note::parse(climbing.as_bytes(), &key()), None);
    }
}
