//! Parallel work on many values.

use std::{num::NonZero, panic, thread};

/// Fewer values than this are not worth a thread.
const WORTH_A_THREAD: usize = 64;

/// Keeps the order. Runs few items on this thread.
pub fn par_map<'i, T: Sync, R: Send>(items: &'i [T], work: impl Fn(&'i T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let part = items.len().div_ceil(threads).max(WORTH_A_THREAD);
    let work = |part: &'i [T]| part.iter().map(&work).collect::<Vec<R>>();
    thread::scope(|scope| {
        let mut parts = items.chunks(part);
        // The first part runs on this thread.
        let own = parts.next().unwrap_or_default();
        let others: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        let mut made = work(own);
        for other in others {
            made.extend(other.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)));
        }
        made
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_stays() {
        for count in [0, 1, WORTH_A_THREAD, WORTH_A_THREAD * 5 + 3] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(par_map(&items, |item| item + 1), (1..=count).collect::<Vec<_>>(), "{count}");
        }
    }
}
