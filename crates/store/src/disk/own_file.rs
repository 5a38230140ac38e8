//! Opening stepmark's own files, at whose paths a repository may have put anything.
//!
//! Below the base no link is followed, only regular files are opened, and nothing blocks: pipes and devices
//! are errors.
#![expect(clippy::disallowed_methods, reason = "an edge module: files of stepmark are opened here")]

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    #[cfg(feature = "write")]
    Change,
    #[cfg(feature = "write")]
    ChangeOrMake,
    /// Reads, and writes at the end.
    #[cfg(feature = "write")]
    Append,
    /// Creates a new file to append to.
    #[cfg(feature = "write")]
    Make,
}

/// `below` is relative to `base`, and has no `..`.
pub(crate) fn open(base: &Path, below: &Path, access: Access) -> io::Result<File> {
    let file = open_below(base, below, access)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

/// Fails above `limit` bytes.
pub(crate) fn read(base: &Path, below: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(base, below, Access::Read)?;
    if file.metadata()?.len() > limit { Err(too_large(limit)) } else { read_bounded(file, limit) }
}

/// Fails above `limit` bytes.
pub(crate) fn read_bounded(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_large(limit));
    }
    Ok(bytes)
}

fn too_large(limit: u64) -> io::Error {
    let reason = format!("it has more than the {limit} bytes that such a file may have");
    io::Error::new(io::ErrorKind::FileTooLarge, reason)
}

/// Fails if a part of the path is a link; parts may be missing.
pub(crate) fn check_folder(base: &Path, below: &Path) -> io::Result<()> {
    let mut place = base.to_owned();
    for part in below {
        place.push(part);
        match std::fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => return Err(is_a_link()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    Ok(())
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

fn is_a_link() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "a link stands there, and files of stepmark are never links")
}

/// The kernel checks all at once: openat2(2).
#[cfg(target_os = "linux")]
fn open_below(base: &Path, below: &Path, access: Access) -> io::Result<File> {
    use rustix::{
        fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2},
        io::{Errno, retry_on_intr},
    };

    let folder_flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = retry_on_intr(|| openat(CWD, base, folder_flags, Mode::empty()))?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    loop {
        let flags = flags(access) | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        return match openat2(&folder, below, flags, mode(flags), resolve) {
            Ok(file) => Ok(File::from(file)),
            Err(Errno::AGAIN | Errno::INTR) => continue,
            Err(Errno::LOOP) => Err(is_a_link()),
            // A kernel before 5.6, or a sandbox without the call.
            Err(Errno::NOSYS | Errno::PERM) => open_by_walk(base, below, access),
            // A pipe without a reader, or a socket.
            Err(Errno::NXIO) => Err(not_regular()),
            Err(error) => Err(error.into()),
        };
    }
}

#[cfg(target_os = "linux")]
fn flags(access: Access) -> rustix::fs::OFlags {
    use rustix::fs::OFlags;
    match access {
        Access::Read => OFlags::RDONLY,
        #[cfg(feature = "write")]
        Access::Change => OFlags::RDWR,
        #[cfg(feature = "write")]
        Access::ChangeOrMake => OFlags::RDWR | OFlags::CREATE,
        #[cfg(feature = "write")]
        Access::Append => OFlags::RDWR | OFlags::APPEND,
        #[cfg(feature = "write")]
        Access::Make => OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL,
    }
}

/// openat2(2) refuses a mode unless it creates a file.
#[cfg(target_os = "linux")]
fn mode(flags: rustix::fs::OFlags) -> rustix::fs::Mode {
    use rustix::fs::{Mode, OFlags};
    if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o666) } else { Mode::empty() }
}

#[cfg(not(target_os = "linux"))]
fn open_below(base: &Path, below: &Path, access: Access) -> io::Result<File> {
    open_by_walk(base, below, access)
}

/// Checks every part before opening.
fn open_by_walk(base: &Path, below: &Path, access: Access) -> io::Result<File> {
    let mut place = base.to_owned();
    for part in below {
        place.push(part);
        if std::fs::symlink_metadata(&place).is_ok_and(|found| found.is_symlink()) {
            return Err(is_a_link());
        }
    }
    let mut options = File::options();
    options.read(true);
    #[cfg(feature = "write")]
    match access {
        Access::Read => &mut options,
        Access::Change => options.write(true),
        Access::ChangeOrMake => options.write(true).create(true).truncate(false),
        Access::Append => options.append(true),
        Access::Make => options.append(true).create_new(true),
    };
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    }
    let _only_reading_without_the_feature = access;
    options.open(place)
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    type Open = fn(&Path, &Path, Access) -> io::Result<File>;

    #[test]
    fn only_regular_files_without_links_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let (base, outside) = (folder.path().join("base"), folder.path().join("outside"));
        for place in [&base, &outside] {
            fs::create_dir_all(place.join("deep")).unwrap();
            fs::write(place.join("deep/file"), "text").unwrap();
        }
        symlink(&outside, base.join("folder")).unwrap();
        symlink("deep", base.join("inside")).unwrap();
        symlink(outside.join("deep/file"), base.join("file")).unwrap();
        symlink(outside.join("absent"), base.join("dangling")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, base.join("pipe"), rustix::fs::Mode::from_raw_mode(0o600))
            .unwrap();
        let opens: [Open; 2] = [open_below, open_by_walk];
        for opened in opens {
            let all = [Access::Read, Access::Change, Access::ChangeOrMake, Access::Append];
            for access in all {
                for name in ["folder/deep/file", "inside/file", "file", "dangling"] {
                    let error = opened(&base, Path::new(name), access).unwrap_err();
                    assert!(error.to_string().contains("link"), "{name} {access:?}: {error}");
                }
                assert!(opened(&base, Path::new("deep/file"), access).is_ok(), "{access:?}");
            }
            let absent = opened(&base, Path::new("absent/file"), Access::Read).unwrap_err();
            assert_eq!(absent.kind(), io::ErrorKind::NotFound);
        }
        for access in [Access::Read, Access::Change] {
            assert!(open(&base, Path::new("pipe"), access).is_err());
            assert!(open(&base, Path::new("deep"), access).is_err());
        }
        assert!(!outside.join("absent").exists());
    }

    #[test]
    fn reads_no_more_than_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "12345").unwrap();
        assert_eq!(read(folder.path(), Path::new("file"), 5).unwrap(), b"12345");
        let error = read(folder.path(), Path::new("file"), 4).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}

#[cfg(feature = "history")]
pub(crate) fn remove_if_there(place: &Path) -> io::Result<()> {
    match std::fs::remove_file(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
