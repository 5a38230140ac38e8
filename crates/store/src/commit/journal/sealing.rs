//! Sealing live segments: appends a last line that names the segments before it, and writes the segment to
//! the tracked folder. This clone keeps a copy that no checkout replaces.
//!
//! A copy has a *mark* beside it until its tracked file is written; after a kill, the next sealing writes
//! that file. Without a mark a missing file is no finding: the checked-out branch does not hold the segment.
#![expect(clippy::disallowed_methods, reason = "an edge module: segments are sealed here")]

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use jiff::Timestamp;

use crate::commit::{
    FsyncPolicy, JournalWriteError, file::flush_folder, file::write_anew, journal::EXTENSION,
    journal::JournalFile, journal::chain_at_end, journal::flush, names_in,
};
use crate::disk::{local_state::StateFolder, own_file, own_file::Access, root::Root};
use crate::history::{SEALED_FOLDER, joined_segments};
use stepmark_model::{
    artifact::FileHash,
    journal::{self, HashChain, SegmentHead, SegmentName},
};

const MARK: &str = ".unpublished";

#[derive(Clone, Copy, Debug)]
pub enum LiveSegments<'a> {
    /// `None`: commands outside sessions.
    OfSession(Option<&'a str>),
    Named(&'a BTreeSet<SegmentName>),
}

/// Seals live segments into the tracked `.stepmark/journal/`, and finishes interrupted seals. Returns their
/// names. Finishes interrupted commits first, as far as possible
/// ([`finish_interrupted`](crate::commit::finish_interrupted)).
pub fn seal_segments(
    root: &Root,
    live: LiveSegments<'_>,
    seal: Seal,
    fsync: FsyncPolicy,
) -> Result<Vec<SegmentName>, JournalWriteError> {
    let journal = JournalFile::open(root)?;
    let names = match live {
        LiveSegments::OfSession(session) => journal.live_names(session)?,
        LiveSegments::Named(names) => {
            let mut live = names_in(journal.folder())?;
            live.retain(|file| names.iter().any(|name| *file == file_of(name)));
            live
        }
    };
    if names.is_empty() && unpublished_segments(root)?.is_empty() {
        return Ok(Vec::new());
    }
    let sealing = Sealing { live: journal.folder(), root, fsync };
    let mut sealed = sealing.finish()?;
    sealed.extend(sealing.seal(names, seal)?);
    Ok(sealed)
}

pub fn finish_sealing(root: &Root, fsync: FsyncPolicy) -> Result<Vec<SegmentName>, JournalWriteError> {
    let journal = JournalFile::open(root)?;
    Ok(Sealing { live: journal.folder(), root, fsync }.finish()?)
}

/// Restores the tracked files of segments sealed in another work tree; returns those that were missing.
pub fn publish_copies(
    root: &Root,
    names: &BTreeSet<SegmentName>,
    fsync: FsyncPolicy,
) -> Result<Vec<SegmentName>, JournalWriteError> {
    let journal = JournalFile::open(root)?;
    let sealing = Sealing { live: journal.folder(), root, fsync };
    Ok(sealing.publish_all(names)?)
}

pub fn read_copy(root: &Root, name: &SegmentName, limit: u64) -> io::Result<Vec<u8>> {
    let copies = root.state().folder(StateFolder::SealedCopies)?;
    own_file::read(&copies, Path::new(&file_of(name)), limit)
}

/// Segments whose sealing was interrupted, so that git lacks them. Reads only.
pub fn unpublished_segments(root: &Root) -> Result<Vec<SegmentName>, JournalWriteError> {
    let copies = root.state().folder(StateFolder::SealedCopies).map_err(io::Error::from)?;
    let tracked = root.path().join(SEALED_FOLDER);
    let mut names: Vec<SegmentName> = names_in(&copies)?.iter().filter_map(|name| marked(name)).collect();
    names.retain(|name| {
        fs::symlink_metadata(copies.join(file_of(name))).is_ok() && !is_published(root, &tracked, name)
    });
    Ok(names)
}

/// The content of a segment's last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The preceding segments: see [`History::tips`](crate::history::History::tips).
    pub heads: Vec<SegmentHead>,
    pub at: Timestamp,
}

struct Sealing<'a> {
    live: &'a Path,
    root: &'a Root,
    fsync: FsyncPolicy,
}

impl Sealing<'_> {
    fn seal(&self, names: Vec<String>, mut seal: Seal) -> io::Result<Vec<SegmentName>> {
        let tracked = self.tracked()?;
        fs::create_dir_all(&tracked)?;
        let copies = self.root.state().make(StateFolder::SealedCopies)?;
        let mut sealed = Vec::new();
        for name in names {
            let mut live = own_file::open(self.live, name.as_ref(), Access::Append)?;
            let length = live.metadata()?.len();
            let Some(segment) = name.strip_suffix(EXTENSION).and_then(SegmentName::new) else { continue };
            // A torn segment is left to `doctor`: sealed bytes are never cut.
            let Some(chain) = chain_at_end(&mut live, length)? else { continue };
            let last = self.write_last_line(&mut live, length, chain, &seal)?;
            seal.heads = vec![SegmentHead { segment: segment.clone(), last }];
            let staged = self.stage(&mut live, &tracked, &name)?;
            own_file::open(&copies, mark_of(&segment).as_ref(), Access::ChangeOrMake)?;
            fs::rename(self.live.join(&name), copies.join(&name))?;
            // Nothing is appended from here on, even if the other file gets its name later.
            flush_folder(&copies, self.fsync)?;
            fs::rename(&staged, tracked.join(&name))?;
            flush_folder(&tracked, self.fsync)?;
            forget_mark(&copies, &segment);
            sealed.push(segment);
        }
        flush_folder(self.live, self.fsync)?;
        Ok(sealed)
    }

    /// The last line names the preceding segments, if any; returns its hash.
    fn write_last_line(
        &self,
        live: &mut File,
        length: u64,
        mut chain: HashChain,
        seal: &Seal,
    ) -> io::Result<FileHash> {
        if seal.heads.is_empty() {
            return Ok(chain.last());
        }
        let line = chain.add(&journal::seal(&seal.heads, seal.at));
        if let Err(error) = live.write_all(&line).and_then(|()| flush(live, self.fsync)) {
            // Half a line would be reported as torn; it is if this fails, too.
            let _cut = live.set_len(length);
            return Err(error);
        }
        Ok(chain.last())
    }

    fn stage(&self, from: &mut File, tracked: &Path, file: &str) -> io::Result<PathBuf> {
        let staged = tracked.join(format!("{STAGED_START}{file}{STAGED_END}"));
        write_anew(&staged, self.fsync, |target| {
            from.seek(SeekFrom::Start(0))?;
            io::copy(from, target).map(drop)
        })?;
        Ok(staged)
    }

    fn finish(&self) -> io::Result<Vec<SegmentName>> {
        let tracked = self.tracked()?;
        let copies = self.root.state().folder(StateFolder::SealedCopies)?;
        let mut published = Vec::new();
        for name in names_in(&copies)?.iter().filter_map(|name| marked(name)) {
            if self.publish(&copies, &tracked, &name)? {
                published.push(name.clone());
            }
            forget_mark(&copies, &name);
        }
        for name in names_in(&tracked)?.iter().filter(|name| is_staged(name)) {
            let staged = tracked.join(name);
            // A folder is the repository's, and does no harm.
            if !fs::symlink_metadata(&staged)?.is_dir() {
                fs::remove_file(staged)?;
            }
        }
        Ok(published)
    }

    fn publish_all(&self, names: &BTreeSet<SegmentName>) -> io::Result<Vec<SegmentName>> {
        let tracked = self.tracked()?;
        fs::create_dir_all(&tracked)?;
        let copies = self.root.state().folder(StateFolder::SealedCopies)?;
        let mut published = Vec::new();
        for name in names {
            if self.publish(&copies, &tracked, name)? {
                published.push(name.clone());
            }
        }
        Ok(published)
    }

    /// Returns whether it wrote the tracked file; an existing one stays.
    fn publish(&self, copies: &Path, tracked: &Path, name: &SegmentName) -> io::Result<bool> {
        let file = file_of(name);
        let mut copy = match own_file::open(copies, file.as_ref(), Access::Read) {
            // The segment is still live.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            copy => copy?,
        };
        if is_published(self.root, tracked, name) {
            return Ok(false);
        }
        fs::create_dir_all(tracked)?;
        let staged = self.stage(&mut copy, tracked, &file)?;
        fs::rename(staged, tracked.join(&file))?;
        flush_folder(tracked, self.fsync)?;
        Ok(true)
    }

    fn tracked(&self) -> io::Result<PathBuf> {
        own_file::check_folder(self.root.path(), SEALED_FOLDER.as_ref())?;
        Ok(self.root.path().join(SEALED_FOLDER))
    }
}

fn file_of(name: &SegmentName) -> String {
    format!("{name}{EXTENSION}")
}

/// By itself, or joined with others.
fn is_published(root: &Root, tracked: &Path, name: &SegmentName) -> bool {
    let is_there = |file: String| fs::symlink_metadata(tracked.join(file)).is_ok();
    is_there(file_of(name))
        || joined_segments(root).is_ok_and(|joined| joined.values().any(|names| names.contains(name)))
}

/// Git ignores such names (see `local_state`).
const STAGED_START: &str = ".";
const STAGED_END: &str = ".tmp";

fn is_staged(name: &str) -> bool {
    let file = name.strip_prefix(STAGED_START).and_then(|name| name.strip_suffix(STAGED_END));
    file.is_some_and(|file| file.ends_with(EXTENSION))
}

fn mark_of(name: &SegmentName) -> String {
    format!("{name}{EXTENSION}{MARK}")
}

fn marked(file: &str) -> Option<SegmentName> {
    SegmentName::new(file.strip_suffix(MARK)?.strip_suffix(EXTENSION)?)
}

fn forget_mark(copies: &Path, name: &SegmentName) {
    let _stays = fs::remove_file(copies.join(mark_of(name)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::{append_events, scratch_project::ScratchProject};
    use crate::history::{History, verify_segments};
    use stepmark_model::journal::{Actor, Event, EventDraft, Kind};

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
        assert_eq!(
            seal_segments(&project.root, LiveSegments::OfSession(None), FIRST, FsyncPolicy::Always)
                .unwrap()
                .len(),
            1
        );
        assert_eq!(project.names(".stepmark/journal"), std::slice::from_ref(&name));
        for folder in [".stepmark/journal", ".stepmark/local/sealed"] {
            assert_eq!(project.read(&format!("{folder}/{name}")), bytes);
        }
        assert_eq!(project.names(".stepmark/local/journal"), [""; 0]);
        assert_eq!(
            seal_segments(&project.root, LiveSegments::OfSession(None), FIRST, FsyncPolicy::Always).unwrap(),
            []
        );
    }

    #[test]
    fn the_last_line_names_the_segments_before_also_after_a_sealing_that_was_cut_off() {
        let project = ScratchProject::new();
        let seal = || {
            let heads = History::open(&project.root).unwrap().tips(9).unwrap();
            let seal = Seal { heads, at: Timestamp::UNIX_EPOCH };
            seal_segments(&project.root, LiveSegments::OfSession(None), seal, FsyncPolicy::Never)
                .unwrap()
                .remove(0)
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
        let file = project.names(".stepmark/local/journal").remove(0);
        seal_segments(&project.root, LiveSegments::OfSession(None), FIRST, FsyncPolicy::Never).unwrap();
        let tracked = |name: &str| project.place(&format!(".stepmark/journal/{name}"));
        let mark = format!(".stepmark/local/sealed/{file}{MARK}");
        assert!(!project.place(&mark).exists());
        let bytes = project.read(&format!(".stepmark/journal/{file}"));

        // Killed between the two renames, and what git does not track was removed, or not.
        for is_cleaned in [true, false] {
            project.write(&mark, b"");
            fs::rename(tracked(&file), tracked(&format!(".{file}.tmp"))).unwrap();
            if is_cleaned {
                fs::remove_dir_all(project.place(".stepmark/journal")).unwrap();
            } else {
                fs::write(tracked(".main-000000000000.jsonl.tmp"), "a repository's").unwrap();
                fs::create_dir(tracked(".main-111111111111.jsonl.tmp")).unwrap();
            }
            let unpublished = unpublished_segments(&project.root).unwrap();
            assert_eq!(unpublished.len(), 1);
            let finished = if is_cleaned {
                finish_sealing(&project.root, FsyncPolicy::Always)
            } else {
                seal_segments(
                    &project.root,
                    LiveSegments::OfSession(Some("another")),
                    FIRST,
                    FsyncPolicy::Never,
                )
            };
            assert_eq!(finished.unwrap(), unpublished);
            assert_eq!(unpublished_segments(&project.root).unwrap(), []);
            assert!(!project.place(&mark).exists());
            assert_eq!(project.read(&format!(".stepmark/journal/{file}")), bytes);
        }
        fs::remove_dir(tracked(".main-111111111111.jsonl.tmp")).unwrap();
        assert_eq!(project.names(".stepmark/journal"), std::slice::from_ref(&file));

        // Another branch is checked out: the segment is not put among its files again.
        fs::remove_file(tracked(&file)).unwrap();
        assert_eq!(unpublished_segments(&project.root).unwrap(), []);
        append(&project, "b");
        seal_segments(&project.root, LiveSegments::OfSession(None), FIRST, FsyncPolicy::Never).unwrap();
        assert!(!tracked(&file).exists());
    }

    /// Killed before the first rename: the segment is live, and sealed by the next sealing of its session.
    #[test]
    fn a_mark_of_a_live_segment_publishes_nothing() {
        let project = ScratchProject::new();
        append(&project, "a");
        let file = project.names(".stepmark/local/journal").remove(0);
        project.root.state().make(StateFolder::SealedCopies).unwrap();
        project.write(&format!(".stepmark/local/sealed/{file}{MARK}"), b"");
        assert_eq!(unpublished_segments(&project.root).unwrap(), []);
        assert_eq!(finish_sealing(&project.root, FsyncPolicy::Never).unwrap(), []);
        assert_eq!(project.names(".stepmark/local/journal"), [file.as_str()]);
        assert_eq!(project.names(".stepmark/local/sealed"), [""; 0]);
        append(&project, "b");
        assert_eq!(
            seal_segments(&project.root, LiveSegments::OfSession(None), FIRST, FsyncPolicy::Never)
                .unwrap()
                .len(),
            1
        );
    }
}
