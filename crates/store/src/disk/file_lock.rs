//! Advisory locks on open files (flock(2)), asked for again when a signal interrupts the call.
#![expect(clippy::disallowed_methods, reason = "an edge module: the clock bounds the wait for a lock")]

use std::{
    fs::{self, File, TryLockError},
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// The first pause between two attempts to lock; each is twice as long as the one before, up to
/// [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_micros(200);

/// Short against a commit (two flushes, about 10 ms), so that the lock is taken soon after it is free.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_millis(4);

/// Waits for the lock that nobody else has.
pub fn exclusive(file: &File) -> io::Result<()> {
    uninterrupted(|| file.lock())
}

/// Takes the lock that nobody else has, if it is free.
pub fn try_exclusive(file: &File) -> Result<(), TryLockError> {
    try_uninterrupted(|| file.try_lock())
}

/// Waits for the lock that nobody else has, no longer than `timeout`: the standard library can wait, but not
/// for a limited time, so this asks again and again.
pub fn exclusive_within(file: &File, timeout: Duration) -> Result<(), TryLockError> {
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match try_exclusive(file) {
            Err(TryLockError::WouldBlock) => {}
            answer => return answer,
        }
        let left = timeout.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Err(TryLockError::WouldBlock);
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Returns whether nobody has the lock. It is given back at once: closing the file alone would leave it to a
/// program that another thread is starting, which has the file open as well for a moment.
pub fn is_free(file: &File) -> bool {
    try_uninterrupted(|| file.try_lock_shared()).is_ok() && file.unlock().is_ok()
}

fn try_uninterrupted(call: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    loop {
        match call() {
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

/// Makes a system call again for as long as a signal interrupts it (`EINTR`). The standard library does so by
/// itself for opening, reading, writing, flushing and cutting a file, but not for locks and folders.
pub(crate) fn uninterrupted<T>(call: impl Fn() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

/// The names in `folder` in their order; none where it is missing. Names that are not UTF-8 are not
/// stepmark's.
pub(crate) fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match uninterrupted(|| fs::read_dir(folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

/// The same; a file in the place of the folder, or of one above it, holds none.
pub(crate) fn names_in_place(folder: &Path) -> io::Result<Vec<String>> {
    match names_in(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(Vec::new()),
        names => names,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn who_only_asks_keeps_nobody_out() {
        let asked = tempfile::NamedTempFile::new().unwrap();
        let other = || File::open(asked.path()).unwrap();
        let file = other();
        let of_a_started_program = file.try_clone().unwrap();
        assert!(is_free(&file));
        drop(file);
        let holder = other();
        try_exclusive(&holder).unwrap();
        assert!(!is_free(&of_a_started_program));
    }

    #[test]
    fn an_interruption_is_no_answer() {
        let calls = Cell::new(0);
        let interrupted = |answer: fn() -> io::Result<()>| {
            calls.set(calls.get() + 1);
            if calls.get() % 3 == 0 { answer() } else { Err(io::ErrorKind::Interrupted.into()) }
        };
        let refused = || Err(io::ErrorKind::Unsupported.into());
        assert!(uninterrupted(|| interrupted(|| Ok(()))).is_ok());
        assert_eq!(uninterrupted(|| interrupted(refused)).unwrap_err().kind(), io::ErrorKind::Unsupported);
        let tried = |answer| try_uninterrupted(|| interrupted(answer).map_err(TryLockError::Error));
        assert!(tried(|| Ok(())).is_ok());
        assert!(
            matches!(tried(refused), Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported)
        );
        assert_eq!(calls.get(), 12);
        assert!(matches!(try_uninterrupted(|| Err(TryLockError::WouldBlock)), Err(TryLockError::WouldBlock)));
    }
}
