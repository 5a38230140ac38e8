//! The order in which people count: `1-2` before `1-10`.

use std::cmp::Ordering;

/// Compares two texts, where a run of digits counts as a number. Texts that differ in leading zeros alone are compared as they are.
pub fn natural_order(one: &str, other: &str) -> Ordering {
    let start = common_runs(one.as_bytes(), other.as_bytes());
    let (mut left, mut right) = (&one[start..], &other[start..]);
    loop {
        let (next_left, next_right) = (run(left), run(right));
        let order = match (next_left, next_right) {
            ("", _) | (_, "") => return left.len().cmp(&right.len()).then_with(|| one.cmp(other)),
            _ => compare_runs(next_left, next_right),
        };
        if order != Ordering::Equal {
            return order;
        }
        (left, right) = (&left[next_left.len()..], &right[next_right.len()..]);
    }
}

/// The length of the runs that both texts begin with: most paths of a project have much in common.
fn common_runs(one: &[u8], other: &[u8]) -> usize {
    let (pieces, others) = (one.chunks(PIECE), other.chunks(PIECE));
    let same = pieces.zip(others).take_while(|(one, other)| one == other).count() * PIECE;
    let same = same.min(one.len()).min(other.len());
    let same = same + one[same..].iter().zip(&other[same..]).take_while(|(one, other)| one == other).count();
    // The last of them may go on differently.
    let Some(is_number) = one[..same].last().map(u8::is_ascii_digit) else { return 0 };
    one[..same].iter().rposition(|byte| byte.is_ascii_digit() != is_number).map_or(0, |place| place + 1)
}

/// How many bytes are compared at once.
const PIECE: usize = 16;

/// The digits, or the text without digits, that `text` begins with.
fn run(text: &str) -> &str {
    let is_number = text.as_bytes().first().is_some_and(u8::is_ascii_digit);
    let end = text.bytes().position(|next| next.is_ascii_digit() != is_number);
    &text[..end.unwrap_or(text.len())]
}

fn compare_runs(one: &str, other: &str) -> Ordering {
    let is_number = |run: &str| run.as_bytes().first().is_some_and(u8::is_ascii_digit);
    if !(is_number(one) && is_number(other)) {
        return one.cmp(other);
    }
    // Numbers of any length: without leading zeros the longer one is the greater.
    let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_counted() {
        let order = [
            "",
            "1-1-a",
            "1-2-b",
            "1-2a-c",
            "1-10-d",
            "2-1-a",
            "10-1-a",
            "a/1.md",
            "a/2.md",
            "a/10.md",
            "b",
            "step-9",
            "step-09b",
            "step-10",
            "x99999999999999999999",
            "x100000000000000000000",
        ];
        for (at, one) in order.iter().enumerate() {
            for (place, other) in order.iter().enumerate() {
                assert_eq!(natural_order(one, other), at.cmp(&place), "{one} {other}");
            }
        }
        assert_eq!(natural_order("a01", "a1"), Ordering::Less, "a total order");
    }

    proptest! {
        /// What both begin with changes no order, wherever it ends.
        #[test]
        fn a_common_beginning_changes_nothing(common in "[a0-2./ü-]{0,40}", one in "[a0-2./ü-]{0,6}", other in "[a0-2./ü-]{0,6}") {
            let (one, other) = (common.clone() + &one, common + &other);
            prop_assert_eq!(natural_order(&one, &other), run_by_run(&one, &other), "{} {}", one, other);
        }
    }

    fn run_by_run(one: &str, other: &str) -> Ordering {
        let (mut left, mut right) = (one, other);
        while !left.is_empty() && !right.is_empty() {
            let (own, others) = (run(left), run(right));
            if compare_runs(own, others) != Ordering::Equal {
                return compare_runs(own, others);
            }
            (left, right) = (&left[own.len()..], &right[others.len()..]);
        }
        left.len().cmp(&right.len()).then_with(|| one.cmp(other))
    }
}
