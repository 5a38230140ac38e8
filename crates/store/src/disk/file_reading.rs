//! Reading files of the work tree, up to the size limit.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: files are read here; cache files are written here"
)]

use std::{
    fmt,
    fs::{self, File, Metadata},
    io::{self, Read, Write as _},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    process,
    time::{SystemTime, UNIX_EPOCH},
};

use stepmark_model::artifact::READ_LIMIT;

/// Never blocks on a pipe.
pub(crate) fn open_file(place: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(place)
}

/// Fails for other than regular files, and for more than [`READ_LIMIT`] bytes.
pub(crate) fn read_within_limit(mut file: File, bytes: &mut Vec<u8>) -> io::Result<()> {
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    if metadata.len() > READ_LIMIT {
        return Err(too_large());
    }
    let (before, size) = (bytes.len(), usize::try_from(metadata.len()).unwrap_or(0));
    bytes.resize(before + size + 1, 0);
    let read = read_once(&mut file, &mut bytes[before..])?;
    bytes.truncate(before + read);
    // A short read at the size of the stat: the end.
    if read == size {
        return Ok(());
    }
    file.take((READ_LIMIT + 1).saturating_sub(read as u64)).read_to_end(bytes)?;
    if (bytes.len() - before) as u64 > READ_LIMIT { Err(too_large()) } else { Ok(()) }
}

/// Fails for other than regular files, and above the limit.
pub(crate) fn read_file(place: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_within_limit(open_file(place)?, &mut bytes)?;
    Ok(bytes)
}

pub(crate) fn too_large() -> io::Error {
    let reason = format!("it has more than the {READ_LIMIT} bytes that stepmark reads");
    io::Error::new(io::ErrorKind::FileTooLarge, reason)
}

fn read_once(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Atomic but not flushed: readers recognise a torn file.
pub(crate) fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let staged = file.with_extension(format!("{}.tmp", process::id()));
    // Left by a dead process, or a link from a repository.
    fs::remove_file(&staged).ok();
    let written = File::create_new(&staged)
        .and_then(|mut target| target.write_all(bytes))
        .and_then(|()| fs::rename(&staged, file));
    if written.is_err() {
        // The first error is returned; this one adds nothing.
        fs::remove_file(&staged).ok();
    }
    written
}

/// Properties that change with a file's bytes or a folder's names. Equal stats mean equal bytes, except
/// within the instant that [`FileStat::may_hide_a_change`] describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStat {
    pub(crate) size: u64,
    /// In nanoseconds since 1970.
    pub(crate) modified: i64,
    /// In nanoseconds since 1970, for bytes or properties; no program can set it. 0 for none.
    pub(crate) changed: i64,
    /// Changes if another file replaces this one. 0 if the system has none.
    pub(crate) inode: u64,
}

/// File systems use a clock that ticks every 1 to 10 ms.
const TICK: i64 = 20_000_000;
/// FAT has steps of 2 s, HFS+ and ext3 of 1 s.
const COARSE_STEP: i64 = 2_000_000_000;
const SECOND: i64 = 1_000_000_000;
pub(crate) const STAT_BYTES: usize = 32;

/// In nanoseconds since 1970, by this machine's clock.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownStat {
    /// From before the file was read.
    pub(crate) stat: FileStat,
    /// True if an equal stat proves that the file is unchanged.
    pub(crate) is_settled: bool,
}

impl KnownStat {
    /// Call it before reading; a missing file is like an empty one.
    pub fn of_content(place: &Path) -> Self {
        let found = fs::metadata(place).ok().filter(|found| found.len() > 0);
        let none = Self { stat: FileStat::NONE, is_settled: true };
        found.map_or(none, |found| FileStat::of(&found).known_since(now()))
    }

    /// True if the content is certainly unchanged.
    pub fn is_still(&self, place: &Path) -> bool {
        let now = Self::of_content(place);
        now.is_settled && self.proves(&now.stat)
    }

    pub(crate) fn proves(&self, now: &FileStat) -> bool {
        self.is_settled && self.stat == *now
    }
}

impl FileStat {
    pub(crate) const NONE: Self =
        Self { size: u64::MAX, modified: i64::MAX, changed: i64::MAX, inode: u64::MAX };

    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let changed = Self::moment(metadata.ctime(), metadata.ctime_nsec());
        #[cfg(test)]
        let changed = if coarse_clock::is_pretended() { 0 } else { changed };
        Self {
            size: metadata.len(),
            modified: Self::moment(metadata.mtime(), metadata.mtime_nsec()),
            changed,
            inode: metadata.ino(),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let nanoseconds = |time: std::io::Result<std::time::SystemTime>| {
            let since = time.ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
            since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
        };
        Self { size: metadata.len(), modified: nanoseconds(metadata.modified()), changed: 0, inode: 0 }
    }

    /// True if the file may have changed at or after `hashing_began` (nanoseconds since 1970) without a trace
    /// in its stat, so that a hash from that time proves nothing (git: "racily clean"). So it is true if the
    /// file changed so shortly before that a second change could have the same time.
    pub(crate) fn may_hide_a_change(&self, hashing_began: i64) -> bool {
        // No program can set `changed`, and every change moves it.
        let newest = if self.changed == 0 { self.modified } else { self.changed };
        let coarse = self.modified % SECOND == 0 && self.changed % SECOND == 0;
        newest.saturating_add(if coarse { COARSE_STEP } else { TICK }) >= hashing_began
    }

    /// `began`: when reading began, after the stat was taken.
    pub(crate) fn known_since(self, began: i64) -> KnownStat {
        KnownStat { stat: self, is_settled: !self.may_hide_a_change(began) }
    }

    pub(crate) fn to_bytes(self) -> [u8; STAT_BYTES] {
        let mut bytes = [0; STAT_BYTES];
        let fields = [
            self.size.to_le_bytes(),
            self.modified.to_le_bytes(),
            self.changed.to_le_bytes(),
            self.inode.to_le_bytes(),
        ];
        for (place, field) in bytes.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field);
        }
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; STAT_BYTES]) -> Self {
        let [size, modified, changed, inode] = [0, 8, 16, 24].map(|start| {
            let mut field = [0; 8];
            field.copy_from_slice(&bytes[start..start + 8]);
            field
        });
        Self {
            size: u64::from_le_bytes(size),
            modified: i64::from_le_bytes(modified),
            changed: i64::from_le_bytes(changed),
            inode: u64::from_le_bytes(inode),
        }
    }

    pub(crate) fn moment(seconds: i64, nanoseconds: i64) -> i64 {
        seconds.saturating_mul(SECOND).saturating_add(nanoseconds)
    }
}

impl fmt::Display for FileStat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, modified, changed, inode } = self;
        write!(formatter, "{size}-{modified}-{changed}-{inode}")
    }
}

/// A file system like FAT, for tests, which set its only time.
#[cfg(test)]
pub(crate) mod coarse_clock {
    use std::{
        cell::Cell,
        fs::File,
        path::Path,
        time::{Duration, UNIX_EPOCH},
    };

    use super::SECOND;

    thread_local! {
        static IS_PRETENDED: Cell<bool> = const { Cell::new(false) };
    }

    pub(super) fn is_pretended() -> bool {
        IS_PRETENDED.get()
    }

    /// Makes the stats of this thread those of such a file system, and returns the time that it gives to
    /// files now: FAT rounds up.
    pub(crate) fn pretend() -> Duration {
        IS_PRETENDED.set(true);
        Duration::from_secs(u64::try_from(super::now() / SECOND + 1).unwrap())
    }

    pub(crate) fn set(place: &Path, time: Duration) {
        File::open(place).unwrap().set_modified(UNIX_EPOCH + time).unwrap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_whole_whatever_its_stat_says() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("prd.md");
        for text in ["", "a", "---\nstatus: done\n---\n"] {
            std::fs::write(&place, text).unwrap();
            let mut bytes = b"before ".to_vec();
            read_within_limit(open_file(&place).unwrap(), &mut bytes).unwrap();
            assert_eq!(bytes, format!("before {text}").into_bytes());
        }
        let error = read_within_limit(open_file(folder.path()).unwrap(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        File::create(&place).unwrap().set_len(READ_LIMIT + 1).unwrap();
        let error = read_within_limit(open_file(&place).unwrap(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        // Its stat says that it has no bytes.
        if cfg!(target_os = "linux") {
            let mut bytes = Vec::new();
            read_within_limit(open_file(Path::new("/proc/self/status")).unwrap(), &mut bytes).unwrap();
            assert!(bytes.starts_with(b"Name:"));
        }
    }
}

#[cfg(test)]
mod file_stat_tests {
    use super::*;

    #[test]
    fn a_file_as_new_as_the_hashing_may_hide_a_change() {
        let began = 1_000 * SECOND + 500_000_000;
        for (modified, changed, hides) in [
            (began, began, true),
            (began - 1, began - 1, true),
            (began - TICK + 1, 1, false),
            (began - TICK + 1, 0, true),
            (1, began - 5, true),
            (began - TICK - 1, 7, false),
            (began + SECOND, 7, false),
            (began + SECOND + 1, 0, true),
            (999 * SECOND, 999 * SECOND, true),
            (999 * SECOND, 0, true),
            (998 * SECOND, 998 * SECOND, false),
            (i64::MAX, 0, true),
        ] {
            let stat = FileStat { size: 1, modified, changed, inode: 1 };
            assert_eq!(stat.may_hide_a_change(began), hides, "{modified} {changed}");
        }
    }

    #[test]
    fn a_file_of_the_future_may_hide_a_change() {
        let now = 1_000 * SECOND;
        let ahead = FileStat { size: 1, modified: now, changed: now + 3600 * SECOND, inode: 1 };
        assert!(!ahead.known_since(now).is_settled);
        assert!(!ahead.known_since(now + 3599 * SECOND).is_settled);
        assert!(ahead.known_since(now + 3603 * SECOND).is_settled);
        let file = tempfile::NamedTempFile::new().unwrap();
        let write = |text: &str, ahead: u64| {
            fs::write(file.path(), text).unwrap();
            coarse_clock::set(file.path(), coarse_clock::pretend() + std::time::Duration::from_secs(ahead));
            KnownStat::of_content(file.path())
        };
        let known = write("a", 3600);
        write("b", 3600);
        assert!(!known.is_still(file.path()), "a server whose clock is ahead gives both the same time");
        let known = write("a", 3600);
        write("b", 0);
        assert!(!known.is_still(file.path()));
        assert!(!write("c", 1).is_still(file.path()), "so near that a change may bear the same time");
    }
}
