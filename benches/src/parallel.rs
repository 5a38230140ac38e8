//! Work on all processors.

use std::{
    num::NonZero,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// The number of items that a thread takes at once.
const PIECE: usize = 64;

/// The number of threads.
pub(crate) fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The sum of `work` over all `items`, on all processors.
pub(crate) fn sum<Item: Sync>(items: &[Item], work: impl Fn(&Item) -> usize + Sync) -> usize {
    let next = AtomicUsize::new(0);
    let part = || {
        let mut sum = 0;
        loop {
            let start = next.fetch_add(PIECE, Ordering::Relaxed);
            let Some(rest) = items.get(start..) else { return sum };
            sum += rest.iter().take(PIECE).map(&work).sum::<usize>();
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads()).map(|_| scope.spawn(part)).collect();
        let own = part();
        let join = |thread: thread::ScopedJoinHandle<'_, usize>| {
            thread.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))
        };
        own + others.into_iter().map(join).sum::<usize>()
    })
}
