//! The work that nobody can do without, and nothing else: the lower bound that stepmark is measured against.

use std::{
    fs::{self, File},
    io::{Read, Write},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use sha2::{Digest, Sha256};

use crate::{failure::Failure, parallel};

/// Walks through `folder`, stats every file, and prints how many there are and their bytes.
pub(crate) fn print_walk(folder: &Path) -> Result<(), Failure> {
    let bytes = AtomicUsize::new(0);
    let files = walk(folder, |folder, name| {
        let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        bytes.fetch_add(usize::try_from(stat.st_size).unwrap_or(0), Ordering::Relaxed);
        Ok(())
    })?;
    println!("{files} files, {} bytes", bytes.into_inner());
    Ok(())
}

/// Walks through `folder`, hashes every file, and prints how many there are and the sum of the hashes' first
/// bytes.
pub(crate) fn print_hashing(folder: &Path) -> Result<(), Failure> {
    let sum = AtomicUsize::new(0);
    let files = walk(folder, |folder, name| {
        let mut bytes = Vec::with_capacity(4096);
        File::from(openat(folder, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
            .read_to_end(&mut bytes)?;
        sum.fetch_add(usize::from(Sha256::digest(&bytes)[0]), Ordering::Relaxed);
        Ok(())
    })?;
    println!("{files} files, {}", sum.into_inner());
    Ok(())
}

/// The paths of all Markdown files below `folder`, sorted.
pub(crate) fn markdown_files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).map_err(Failure::file("list", &folder))? {
            let entry = entry.map_err(Failure::file("list", &folder))?;
            let kind = entry.file_type().map_err(Failure::file("stat", &folder))?;
            let path = entry.path();
            if kind.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Replaces `file` by the bytes of `source`.
pub(crate) fn replace_by(file: &Path, source: &Path) -> Result<(), Failure> {
    let bytes = fs::read(source).map_err(Failure::file("read", source))?;
    replace(file, &bytes)
}

/// Replaces `file` durably: write, fsync, rename, fsync of the folder.
pub(crate) fn replace(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let temporary = file.with_extension("bare-replacement");
    let folder = file.parent().unwrap_or(Path::new("."));
    let work = || -> std::io::Result<()> {
        let mut written = File::create(&temporary)?;
        written.write_all(bytes)?;
        written.sync_all()?;
        fs::rename(&temporary, file)?;
        File::open(folder)?.sync_all()
    };
    work().map_err(Failure::file("replace", file))
}

/// Does `work` for every file below `root`, but in `.git` and `.stepmark`, on all processors; says how many
/// there are.
fn walk(
    root: &Path,
    work: impl Fn(&OwnedFd, &std::ffi::CStr) -> std::io::Result<()> + Sync,
) -> Result<usize, Failure> {
    let queue = Queue { folders: Mutex::new(vec![root.to_owned()]), pending: AtomicUsize::new(1) };
    let files = AtomicUsize::new(0);
    let part = || -> std::io::Result<()> {
        while let Some(taken) = queue.take() {
            if let Some(folder) = taken {
                files.fetch_add(queue.visit(&folder, &work)?, Ordering::Relaxed);
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..parallel::threads()).map(|_| scope.spawn(part)).collect();
        part()?;
        others.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))
        })
    })
    .map_err(Failure::file("walk through", root))?;
    Ok(files.into_inner())
}

struct Queue {
    folders: Mutex<Vec<PathBuf>>,
    /// Folders that wait or are being visited.
    pending: AtomicUsize,
}

impl Queue {
    /// A folder; `Some(None)` while others are still visited; `None` at the end.
    fn take(&self) -> Option<Option<PathBuf>> {
        let taken = self.folders.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if taken.is_none() {
            if self.pending.load(Ordering::Acquire) == 0 {
                return None;
            }
            thread::yield_now();
        }
        Some(taken)
    }

    fn visit(
        &self,
        folder: &Path,
        work: &impl Fn(&OwnedFd, &std::ffi::CStr) -> std::io::Result<()>,
    ) -> std::io::Result<usize> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(CWD, folder, flags, Mode::empty())?;
        let mut files = 0;
        for entry in Dir::read_from(&opened)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b".." | b".git" | b".stepmark") {
                continue;
            }
            if entry.file_type() == FileType::Directory {
                self.pending.fetch_add(1, Ordering::AcqRel);
                let path = folder.join(std::ffi::OsStr::from_bytes(name.to_bytes()));
                self.folders.lock().unwrap_or_else(PoisonError::into_inner).push(path);
            } else {
                work(&opened, name)?;
                files += 1;
            }
        }
        self.pending.fetch_sub(1, Ordering::AcqRel);
        Ok(files)
    }
}
