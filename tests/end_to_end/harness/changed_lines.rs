//! What an edit did to a text, line by line.

/// The lines that differ, `-` before what went and `+` before what came. A carriage return shows as `␍`, a
/// missing final line end as `⏎̸`.
pub(crate) fn changed_lines(before: &[u8], after: &[u8]) -> String {
    let (before, after) = (lines(before), lines(after));
    let common = lengths_of_common_rests(&before, &after);
    let (mut old, mut new) = (0, 0);
    let mut changed = String::new();
    while old < before.len() || new < after.len() {
        if old < before.len() && new < after.len() && before[old] == after[new] {
            (old, new) = (old + 1, new + 1);
        } else if new == after.len() || old < before.len() && common[old + 1][new] >= common[old][new + 1] {
            changed += &format!("-{}\n", before[old]);
            old += 1;
        } else {
            changed += &format!("+{}\n", after[new]);
            new += 1;
        }
    }
    changed
}

/// For every pair of places how many lines, in order, the rests of both texts have in common.
fn lengths_of_common_rests(before: &[String], after: &[String]) -> Vec<Vec<usize>> {
    let mut lengths = vec![vec![0; after.len() + 1]; before.len() + 1];
    for old in (0..before.len()).rev() {
        for new in (0..after.len()).rev() {
            lengths[old][new] = if before[old] == after[new] {
                lengths[old + 1][new + 1] + 1
            } else {
                lengths[old + 1][new].max(lengths[old][new + 1])
            };
        }
    }
    lengths
}

fn lines(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let shown = |line: &str| match line.strip_suffix('\n') {
        Some(line) => line.replace('\r', "␍"),
        None => format!("{}⏎̸", line.replace('\r', "␍")),
    };
    text.split_inclusive('\n').map(shown).collect()
}

#[test]
fn shows_what_differs_alone() {
    for (before, after, expected) in [
        ("a\nb\nc\n", "a\nb\nc\n", ""),
        ("a\nb\nc\nd\n", "a\nB\nc\nd\ne\n", "-b\n+B\n+e\n"),
        ("a\r\n", "a\nb", "-a␍\n+a\n+b⏎̸\n"),
        ("a\nb\n", "", "-a\n-b\n"),
    ] {
        assert_eq!(changed_lines(before.as_bytes(), after.as_bytes()), expected, "{before:?} {after:?}");
    }
}
