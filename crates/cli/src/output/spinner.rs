//! Progress of long work on a terminal: shown after one second, gone when the work is done.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Before this, work counts as quick, and nothing is shown.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// Runs `work`, which counts the files that it has passed in `count`, and shows `what` with that count on
/// stderr if it is a terminal.
pub(crate) fn with_spinner<T>(what: &str, quiet: bool, count: &AtomicUsize, work: impl FnOnce() -> T) -> T {
    with_progress(&|count| format!("{what}: {count} files"), quiet, count, work)
}

pub(crate) fn with_progress<T>(
    message: &(dyn Fn(usize) -> String + Sync),
    quiet: bool,
    count: &AtomicUsize,
    work: impl FnOnce() -> T,
) -> T {
    let before = count.load(Ordering::Relaxed);
    let (done, finished) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if quiet || finished.recv_timeout(PATIENCE) != Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(ProgressStyle::default_spinner());
            while finished.recv_timeout(TICK) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                bar.set_message(message(count.load(Ordering::Relaxed) - before));
                bar.tick();
            }
            bar.finish_and_clear();
        });
        let result = work();
        drop(done);
        result
    })
}
