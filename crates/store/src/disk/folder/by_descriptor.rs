//! A folder by descriptor: looks names up directly, without the path from the root (measured: a walk with
//! stat takes 0.83 of the time by path).

use std::{
    ffi::OsStr,
    fs::File,
    io,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::Path,
};

use rustix::{
    ffi::CStr,
    fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, statat},
    io::retry_on_intr,
};

use crate::disk::{folder::EntryKind, folder::FileStat};

/// Opening never blocks on a pipe.
const READING: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

#[derive(Debug)]
pub(super) struct Handle(OwnedFd);

impl Handle {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(retry_on_intr(|| openat(CWD, folder, flags, Mode::empty()))?))
    }

    pub(super) fn list(&self, mut take: impl FnMut(&OsStr, EntryKind)) -> io::Result<()> {
        each_entry(&self.0, |entry, kind| {
            let name = OsStr::from_bytes(entry.to_bytes());
            if name == "." || name == ".." {
                return Ok(());
            }
            let kind = match kind {
                // Some file systems do not say.
                FileType::Unknown => match statat(&self.0, entry, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    // Gone since it was listed.
                    Err(rustix::io::Errno::NOENT) => return Ok(()),
                    Err(error) => return Err(error.into()),
                },
                known => known,
            };
            take(name, entry_kind(kind));
            Ok(())
        })
    }

    pub(super) fn stat(&self, name: &str, follow_link: bool) -> io::Result<(EntryKind, FileStat)> {
        let flags = if follow_link { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        let stat = statat(&self.0, name, flags)?;
        Ok((entry_kind(FileType::from_raw_mode(stat.st_mode)), file_stat(&stat)))
    }

    /// Fails if it became a link since the listing.
    pub(super) fn open_with_stat(&self, name: &str) -> io::Result<(File, EntryKind, FileStat)> {
        let file =
            File::from(retry_on_intr(|| openat(&self.0, name, READING | OFlags::NOFOLLOW, Mode::empty()))?);
        let stat = fstat(&file)?;
        Ok((file, entry_kind(FileType::from_raw_mode(stat.st_mode)), file_stat(&stat)))
    }

    pub(super) fn open_file(&self, name: &str) -> io::Result<File> {
        Ok(File::from(retry_on_intr(|| openat(&self.0, name, READING, Mode::empty()))?))
    }
}

/// Reads the system's buffer: `Dir` reads smaller pieces and allocates every name.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn each_entry(folder: &OwnedFd, mut take: impl FnMut(&CStr, FileType) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = [std::mem::MaybeUninit::uninit(); 32 * 1024];
    let mut entries = rustix::fs::RawDir::new(folder, &mut buffer);
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) => take(entry.file_name(), entry.file_type())?,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn each_entry(folder: &OwnedFd, mut take: impl FnMut(&CStr, FileType) -> io::Result<()>) -> io::Result<()> {
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        take(entry.file_name(), entry.file_type())?;
    }
    Ok(())
}

fn entry_kind(kind: FileType) -> EntryKind {
    match kind {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

fn file_stat(stat: &rustix::fs::Stat) -> FileStat {
    FileStat {
        size: number(stat.st_size),
        modified: FileStat::moment(number(stat.st_mtime), number(stat.st_mtime_nsec)),
        changed: FileStat::moment(number(stat.st_ctime), number(stat.st_ctime_nsec)),
        inode: number(stat.st_ino),
    }
}

/// A stat's field, whose type differs between systems; 0 if out of range.
fn number<Wide: Default>(field: impl TryInto<Wide>) -> Wide {
    field.try_into().unwrap_or_default()
}
