//! Sealing live segments: each gets a last line that names the segments before it, and is written to the folder that git carries;
//! this clone keeps a copy that no checkout replaces.
//!
//! Killed in between, a segment is live still, or a copy whose other file is staged: the next sealing gives that one its name.
#![expect(clippy::disallowed_methods, reason = "an edge module: segments are sealed here")]

use std::{
    fs::{self, File},
    io::{self, BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use jiff::Timestamp;

use super::{
    FsyncPolicy, JournalWriteError,
    folder::flush_folder,
    journal_file::{EXTENSION, JournalFile, chain_at_end, flush},
    same_bytes::have_same_bytes,
};
use crate::{
    document::FileHash,
    journal::{self, Chain, SegmentHead, SegmentName, store::SEALED_FOLDER},
    local_state::StateFolder,
    own_file::{self, Access},
    root::Root,
    uninterrupted::uninterrupted,
};

/// Seals the live segments of a session (`None`: of commands outside of any) and returns their names: the tracked
/// `.stepmark/journal/` gets them. Commits that were cut off are finished before, as far as they can be now
/// ([`finish_interrupted`](super::finish_interrupted)).
///
/// # Errors
/// When a segment cannot be written or moved.
pub fn seal_segments(
    root: &Root,
    session: Option<&str>,
    seal: Seal,
    fsync: FsyncPolicy,
) -> Result<Vec<SegmentName>, JournalWriteError> {
    let journal = JournalFile::open(root)?;
    let names = journal.live_names(session)?;
    let sealing = Sealing { live: journal.folder(), root, fsync };
    Ok(if names.is_empty() { Vec::new() } else { sealing.seal(names, seal)? })
}

/// Gives staged segments their names, of sealings that were cut off.
///
/// # Errors
/// When a folder cannot be read or changed.
pub(super) fn finish_sealing(root: &Root, fsync: FsyncPolicy) -> Result<(), JournalWriteError> {
    let journal = JournalFile::open(root)?;
    Ok(Sealing { live: journal.folder(), root, fsync }.finish()?)
}

/// What the last line of a segment is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The segments before it: see [`History::tips`](crate::journal::History::tips).
    pub heads: Vec<SegmentHead>,
    /// When it is sealed.
    pub at: Timestamp,
}

/// Under the lock of the journal.
struct Sealing<'a> {
    live: &'a Path,
    root: &'a Root,
    fsync: FsyncPolicy,
}

impl Sealing<'_> {
    fn seal(&self, names: Vec<String>, mut seal: Seal) -> io::Result<Vec<SegmentName>> {
        let tracked = self.tracked()?;
        fs::create_dir_all(&tracked)?;
        self.finish()?;
        let copies = self.root.state().make(StateFolder::SealedCopies)?;
        let mut sealed = Vec::new();
        for name in names {
            let mut live = own_file::open(self.live, name.as_ref(), Access::Append)?;
            let length = live.metadata()?.len();
            let Some(segment) = name.strip_suffix(EXTENSION).and_then(SegmentName::new) else { continue };
            // A torn segment stays for `doctor`: what is sealed is never cut.
            let Some(chain) = chain_at_end(&mut live, length)? else { continue };
            let last = self.write_last_line(&mut live, length, chain, &seal)?;
            seal.heads = vec![SegmentHead { segment: segment.clone(), last }];
            let staged = tracked.join(staged_name(&name));
            self.write(&mut live, &staged)?;
            fs::rename(self.live.join(&name), copies.join(&name))?;
            // Nothing is added to it from here on, even if the other file gets its name later.
            flush_folder(&copies, self.fsync)?;
            fs::rename(&staged, tracked.join(&name))?;
            sealed.push(segment);
        }
        flush_folder(&tracked, self.fsync)?;
        flush_folder(self.live, self.fsync)?;
        Ok(sealed)
    }

    /// Adds the line that names the segments before this one, where there are any, and returns the hash of
    /// the last line.
    fn write_last_line(
        &self,
        live: &mut File,
        length: u64,
        mut chain: Chain,
        seal: &Seal,
    ) -> io::Result<FileHash> {
        if seal.heads.is_empty() {
            return Ok(chain.last());
        }
        let line = chain.add(&journal::seal(&seal.heads, seal.at));
        if let Err(error) = live.write_all(&line).and_then(|()| flush(live, self.fsync)) {
            // Half a line would be reported as torn; where even this fails, it is.
            let _cut = live.set_len(length);
            return Err(error);
        }
        Ok(chain.last())
    }

    fn write(&self, live: &mut File, staged: &Path) -> io::Result<()> {
        // What a sealing that was cut off left, or a repository put here.
        match fs::remove_file(staged) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = File::create_new(staged)?;
        live.seek(SeekFrom::Start(0))?;
        io::copy(live, &mut file)?;
        if self.fsync == FsyncPolicy::Always { file.sync_all() } else { Ok(()) }
    }

    fn finish(&self) -> io::Result<()> {
        let tracked = self.tracked()?;
        let copies = self.root.state().folder(StateFolder::SealedCopies)?;
        let entries = match uninterrupted(|| fs::read_dir(&tracked)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            // A folder is a repository's, and in nobody's way.
            if entry.file_type()?.is_dir() {
                continue;
            }
            let file_name = entry.file_name();
            let name = file_name.to_str().and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp"));
            let Some(name) = name.filter(|name| name.ends_with(EXTENSION)) else { continue };
            let staged = tracked.join(&file_name);
            // Only what is the copy of this clone, to the byte: another file of that name is a repository's.
            if is_same(&copies, &tracked, name, &file_name)? && !tracked.join(name).exists() {
                fs::rename(&staged, tracked.join(name))?;
                flush_folder(&tracked, self.fsync)?;
            } else {
                fs::remove_file(&staged)?;
            }
        }
        Ok(())
    }

    fn tracked(&self) -> io::Result<PathBuf> {
        own_file::check_folder(self.root.path(), SEALED_FOLDER.as_ref())?;
        Ok(self.root.path().join(SEALED_FOLDER))
    }
}

fn staged_name(name: &str) -> String {
    format!(".{name}.tmp")
}

fn is_same(copies: &Path, tracked: &Path, name: &str, staged: &std::ffi::OsStr) -> io::Result<bool> {
    let copy = match own_file::open(copies, name.as_ref(), Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        copy => copy?,
    };
    let Ok(staged) = own_file::open(tracked, staged.as_ref(), Access::Read) else { return Ok(false) };
    let is_as_long = copy.metadata()?.len() == staged.metadata()?.len();
    Ok(is_as_long && have_same_bytes(BufReader::new(copy), BufReader::new(staged))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        commit::{append_events, scratch_project::ScratchProject},
        journal::{Actor, Event, EventDraft, History, Kind, store::verify_segments},
    };

    const FIRST: Seal = Seal { heads: Vec::new(), at: Timestamp::UNIX_EPOCH };

    fn append(project: &ScratchProject, reason: &str) {
        let draft = EventDraft::new(Kind::CHANGE).with_reason(Some(reason.to_owned()));
        let event = Event::new(draft, Actor::human("Ada"), "2026-11-22T10:00:00Z".parse().unwrap()).sealed();
        append_events(&project.root, &[event], FsyncPolicy::Never).unwrap();
    }

    #[test]
    fn git_gets_the_segment_and_this_clone_keeps_it() {
        let project = ScratchProject::new();
        append(&project, "a");
        let name = project.names(".stepmark/local/journal").remove(0);
        let bytes = project.read(&format!(".stepmark/local/journal/{name}"));
        assert_eq!(seal_segments(&project.root, None, FIRST, FsyncPolicy::Always).unwrap().len(), 1);
        assert_eq!(project.names(".stepmark/journal"), std::slice::from_ref(&name));
        for folder in [".stepmark/journal", ".stepmark/local/sealed"] {
            assert_eq!(project.read(&format!("{folder}/{name}")), bytes);
        }
        assert_eq!(project.names(".stepmark/local/journal"), [""; 0]);
        assert_eq!(seal_segments(&project.root, None, FIRST, FsyncPolicy::Always).unwrap(), []);
    }

    #[test]
    fn the_last_line_names_the_segments_before_also_after_a_sealing_that_was_cut_off() {
        let project = ScratchProject::new();
        let seal = || {
            let heads = History::open(&project.root).unwrap().tips(9).unwrap();
            let seal = Seal { heads, at: Timestamp::UNIX_EPOCH };
            seal_segments(&project.root, None, seal, FsyncPolicy::Never).unwrap().remove(0)
        };
        append(&project, "a");
        let one = seal();
        append(&project, "b");
        let two = seal();
        let [copy, live] =
            ["sealed", "journal"].map(|folder| format!(".stepmark/local/{folder}/{two}.jsonl"));
        let text = String::from_utf8(project.read(&copy)).unwrap();
        assert!(text.lines().last().unwrap().contains(&format!("\"heads\":{{\"{one}\":\"")), "{text}");
        // It was cut off before the segment left the live ones, which goes on.
        fs::rename(project.place(&copy), project.place(&live)).unwrap();
        fs::remove_file(project.place(&format!(".stepmark/journal/{two}.jsonl"))).unwrap();
        append(&project, "c");
        assert_eq!(seal(), two);
        let found = verify_segments(&project.root).unwrap();
        assert_eq!((found.events, found.problems), (3, Vec::new()));
    }

    #[test]
    fn a_sealing_that_was_cut_off_is_finished_and_nothing_else() {
        let project = ScratchProject::new();
        append(&project, "a");
        let name = project.names(".stepmark/local/journal").remove(0);
        seal_segments(&project.root, None, FIRST, FsyncPolicy::Never).unwrap();
        let tracked = |name: &str| project.place(&format!(".stepmark/journal/{name}"));
        fs::rename(tracked(&name), tracked(&staged_name(&name))).unwrap();
        fs::write(tracked(".main-000000000000.jsonl.tmp"), "a repository's").unwrap();
        let folder = tracked(".main-111111111111.jsonl.tmp");
        fs::create_dir(&folder).unwrap();
        finish_sealing(&project.root, FsyncPolicy::Never).unwrap();
        fs::remove_dir(folder).unwrap();
        assert_eq!(project.names(".stepmark/journal"), std::slice::from_ref(&name));

        // Another branch is checked out: the segment is not put among its files again.
        fs::remove_file(tracked(&name)).unwrap();
        append(&project, "b");
        seal_segments(&project.root, None, FIRST, FsyncPolicy::Never).unwrap();
        assert!(!tracked(&name).exists());
    }
}
