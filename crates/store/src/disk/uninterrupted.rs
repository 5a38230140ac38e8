//! System calls that a signal may interrupt.

use std::io;

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
