//! The order in which people count: `1-2` before `1-10`.

use std::cmp::Ordering;

/// Compares two texts, where a run of digits counts as a number. Texts that differ in leading zeros alone are compared as they are.
pub fn natural_order(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one, other);
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

/// The digits, or the text without digits, that `text` begins with.
fn run(text: &str) -> &str {
    let is_number = text.starts_with(|first: char| first.is_ascii_digit());
    let end = text.find(|next: char| next.is_ascii_digit() != is_number);
    &text[..end.unwrap_or(text.len())]
}

fn compare_runs(one: &str, other: &str) -> Ordering {
    let is_number = |run: &str| run.starts_with(|first: char| first.is_ascii_digit());
    if !(is_number(one) && is_number(other)) {
        return one.cmp(other);
    }
    // Numbers of any length: without leading zeros the longer one is the greater.
    let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
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
}
