//! Sealed segments replaced by the same bytes compressed.
#![expect(clippy::disallowed_methods, reason = "an edge module: segments are read and replaced here")]

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    path::Path,
};

use flate2::bufread::MultiGzDecoder;

use super::{FsyncPolicy, folder::flush_folder, journal_file::JournalFile, same_bytes::have_same_bytes};
use crate::{
    artifact::ProjectPath,
    journal::{Header, SegmentName, store::compress},
    own_file::{self, Access},
    root::Root,
    uninterrupted::uninterrupted,
};

/// Sealed segments, seen from the root.
const SEALED: &str = ".stepmark/journal";
/// How many bytes the first line of a segment may have.
const HEADER_LIMIT: u64 = 64 * 1024;
const PLAIN: &str = ".jsonl";
const COMPRESSED: &str = ".jsonl.gz";

/// A segment that was compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// Its name.
    pub name: SegmentName,
    /// How many bytes its file had.
    pub before: u64,
    /// How many bytes its file has.
    pub after: u64,
}

/// Segments could not be compressed. Those that were stay so; the others are as they were.
#[derive(Debug, thiserror::Error)]
#[error("cannot compress the segment `{file}`; it is left as it was, and so are those behind it")]
pub struct CompactError {
    /// The file, or the folder.
    pub file: String,
    /// What the system says.
    pub source: io::Error,
}

/// Replaces every sealed segment that is not compressed by a compressed one: a file of gzip with the same bytes inside, so
/// that hashes, offsets and ids stay. Live segments are left alone.
///
/// The compressed file is flushed, read back and compared before the other is removed. A process that is killed in between
/// leaves both, of which readers count one, and the next run removes the other.
///
/// # Errors
/// When a file cannot be read or written.
pub fn compact_segments(root: &Root, fsync: FsyncPolicy) -> Result<Vec<Compacted>, CompactError> {
    let failed = |file: &str| {
        let file = file.to_owned();
        move |source| CompactError { file, source }
    };
    let path = ProjectPath::new(SEALED).map_err(io::Error::other).map_err(failed(SEALED))?;
    let folder = root.resolve_for_writing(&path).map_err(io::Error::other).map_err(failed(SEALED))?;
    let names = sealed_names(&folder).map_err(failed(SEALED))?;
    if names.is_empty() {
        return Ok(Vec::new());
    }
    // Nobody seals meanwhile.
    let _lock = JournalFile::open(root).map_err(failed(SEALED))?;
    names
        .into_iter()
        .filter(|name| is_segment(&folder, name))
        .map(|name| compact(&folder, &name, fsync).map_err(failed(&format!("{SEALED}/{name}{PLAIN}"))))
        .collect()
}

fn sealed_names(folder: &Path) -> io::Result<Vec<SegmentName>> {
    let entries = match uninterrupted(|| fs::read_dir(folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        // `doctor` tells of what else stands here.
        if !entry.file_type()?.is_file() {
            continue;
        }
        let file_name = entry.file_name();
        names.extend(file_name.to_str().and_then(|name| name.strip_suffix(PLAIN)).and_then(SegmentName::new));
    }
    names.sort();
    Ok(names)
}

/// Returns whether the file begins as a segment does. `doctor` tells of what does not.
fn is_segment(folder: &Path, name: &SegmentName) -> bool {
    let file = own_file::open(folder, format!("{name}{PLAIN}").as_ref(), Access::Read);
    let mut first = Vec::new();
    let read = file.and_then(|file| BufReader::new(file.take(HEADER_LIMIT)).read_until(b'\n', &mut first));
    read.is_ok() && first.strip_suffix(b"\n").is_some_and(|line| Header::read(line).is_ok())
}

fn compact(folder: &Path, name: &SegmentName, fsync: FsyncPolicy) -> io::Result<Compacted> {
    let plain = folder.join(format!("{name}{PLAIN}"));
    let target = folder.join(format!("{name}{COMPRESSED}"));
    let open = |name: &str| own_file::open(folder, name.as_ref(), Access::Read);
    let open_plain = || open(&format!("{name}{PLAIN}"));
    let before = open_plain()?.metadata()?.len();
    let is_same = |compressed: &str| {
        let inside = MultiGzDecoder::new(BufReader::new(open(compressed)?));
        have_same_bytes(BufReader::new(open_plain()?), BufReader::new(inside))
    };
    // What cannot be decompressed was not written to its end.
    let is_done = is_same(&format!("{name}{COMPRESSED}")).unwrap_or(false);
    if !is_done {
        let staged_name = format!(".{name}{COMPRESSED}.tmp");
        let staged = folder.join(&staged_name);
        write(&staged, open_plain()?, fsync)?;
        if !is_same(&staged_name)? {
            return Err(io::Error::other("what was written does not lead back to the segment"));
        }
        fs::rename(&staged, &target)?;
        flush_folder(folder, fsync)?;
    }
    fs::remove_file(&plain)?;
    flush_folder(folder, fsync)?;
    Ok(Compacted { name: name.clone(), before, after: fs::metadata(&target)?.len() })
}

fn write(place: &Path, segment: File, fsync: FsyncPolicy) -> io::Result<()> {
    // What a run that was killed left, or a repository put here.
    match fs::remove_file(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = BufWriter::new(File::create_new(place)?);
    compress(segment, &mut file)?;
    file.flush()?;
    let file = file.get_ref();
    if fsync == FsyncPolicy::Always { file.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Actor, Event, EventDraft, Header, History, Kind, store::SegmentPlace};

    fn decompressed(place: &Path) -> Vec<u8> {
        let mut bytes = Vec::new();
        flate2::read::MultiGzDecoder::new(File::open(place).unwrap()).read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn project_with(name: &str, count: usize) -> (tempfile::TempDir, Root, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let sealed = root.path().join(SEALED);
        fs::create_dir_all(&sealed).unwrap();
        let (mut bytes, mut chain) = Header::new(&SegmentName::new(name).unwrap(), None).line();
        for number in 0..count {
            let draft = EventDraft::new(Kind::CHECKPOINT).with("number", number);
            let at = "2026-11-22T10:00:00Z".parse().unwrap();
            bytes.extend(chain.add(&Event::new(draft, Actor::human("Ada"), at).sealed()));
        }
        fs::write(sealed.join(format!("{name}{PLAIN}")), &bytes).unwrap();
        (folder, root, bytes)
    }

    #[test]
    fn the_bytes_stay_the_same_inside() {
        let (_folder, root, bytes) = project_with("s-1", 900);
        let events = History::open(&root).unwrap().latest(1000).unwrap();
        let compacted = compact_segments(&root, FsyncPolicy::Never).unwrap();
        assert!(compacted.len() == 1 && compacted[0].after < compacted[0].before / 2, "{compacted:?}");
        let target = root.path().join(SEALED).join("s-1.jsonl.gz");
        assert!(decompressed(&target) == bytes);
        assert_eq!(fs::read_dir(root.path().join(SEALED)).unwrap().count(), 1);
        let history = History::open(&root).unwrap();
        assert_eq!(history.latest(1000).unwrap(), events);
        assert_eq!(history.segments().unwrap()[0].place, SegmentPlace::Compressed);
        assert_eq!(compact_segments(&root, FsyncPolicy::Never).unwrap(), []);
    }

    #[test]
    fn a_run_that_was_killed_is_finished_by_the_next() {
        let (_folder, root, bytes) = project_with("s-1", 3);
        let sealed = root.path().join(SEALED);
        let target = sealed.join("s-1.jsonl.gz");
        for left in [&bytes[..], b"another"] {
            fs::write(sealed.join("s-1.jsonl"), &bytes).unwrap();
            fs::write(sealed.join(".s-1.jsonl.gz.tmp"), "half").unwrap();
            compress(left, File::create(&target).unwrap()).unwrap();
            assert_eq!(compact_segments(&root, FsyncPolicy::Never).unwrap().len(), 1);
            assert!(decompressed(&target) == bytes);
            assert!(!sealed.join("s-1.jsonl").exists());
        }
    }

    #[test]
    fn without_sealed_segments_nothing_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        assert_eq!(compact_segments(&root, FsyncPolicy::Never).unwrap(), []);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }
}
