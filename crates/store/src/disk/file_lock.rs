//! Advisory locks on open files (flock(2)), asked for again when a signal interrupts the call.

use std::{
    fs::{File, TryLockError},
    io,
};

use crate::disk::uninterrupted::uninterrupted;

/// Waits for the lock that nobody else has.
///
/// # Errors
/// When the file system has no locks.
pub fn exclusive(file: &File) -> io::Result<()> {
    uninterrupted(|| file.lock())
}

/// Takes the lock that nobody else has, if it is free.
///
/// # Errors
/// When it is not free, or the file system has no locks.
pub fn try_exclusive(file: &File) -> Result<(), TryLockError> {
    try_uninterrupted(|| file.try_lock())
}

/// Takes the lock that others may share, if it is free.
///
/// # Errors
/// When it is not free, or the file system has no locks.
pub fn try_shared(file: &File) -> Result<(), TryLockError> {
    try_uninterrupted(|| file.try_lock_shared())
}

fn try_uninterrupted(call: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    loop {
        match call() {
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

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
