//! A bar that shows progress in plain text.

/// How many cells it has.
const CELLS: usize = 20;

/// A bar of `done` of `total`. It is full only when all is done, and empty only when nothing is.
pub(super) fn bar(done: usize, total: usize) -> String {
    let done = done.min(total);
    let filled = match done {
        0 => 0,
        _ if done == total => CELLS,
        _ => (done * CELLS / total).clamp(1, CELLS - 1),
    };
    "█".repeat(filled) + &"░".repeat(CELLS - filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_full_and_empty_only_at_the_ends() {
        for (done, total, filled) in
            [(0, 0, 0), (0, 14, 0), (1, 100, 1), (7, 14, 10), (99, 100, 19), (14, 14, 20), (15, 14, 20)]
        {
            let bar = bar(done, total);
            let cells: Vec<char> = bar.chars().collect();
            assert_eq!(cells.len(), CELLS);
            assert_eq!(cells.iter().filter(|cell| **cell == '█').count(), filled, "{done}/{total}");
        }
    }
}
