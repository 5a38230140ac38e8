//! The changes of a file, as a patch that `git apply` and `patch -p1` take.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

const CONTEXT: usize = 3;

/// The patch that leads from `before` to `after`, byte for byte; nothing where they are the same. Lines end
/// at line feeds alone, as for git, so that a carriage return is a part of its line.
pub(crate) fn unified_diff(path: &str, before: &[u8], after: &[u8]) -> Vec<u8> {
    let (old, new) = (lines(before), lines(after));
    let operations = capture_diff_slices(Algorithm::Patience, &old, &new);
    let groups = group_diff_ops(operations, CONTEXT);
    let is_change =
        |group: &&Vec<DiffOp>| group.iter().any(|operation| !matches!(operation, DiffOp::Equal { .. }));
    let mut patch = Vec::new();
    for group in groups.iter().filter(is_change) {
        if patch.is_empty() {
            patch.extend_from_slice(
                format!("--- {}\n+++ {}\n", name("a/", path), name("b/", path)).as_bytes(),
            );
        }
        patch.extend_from_slice(header(group).as_bytes());
        group.iter().for_each(|operation| add_lines(&mut patch, operation, &old, &new));
    }
    patch
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// `@@ -3,4 +3,5 @@`: the places of a hunk in both files.
fn header(group: &[DiffOp]) -> String {
    let place = |start: usize, count: usize| match count {
        // An empty range is named by the line before it.
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        _ => format!("{},{count}", start + 1),
    };
    let whole = |range: fn(&DiffOp) -> std::ops::Range<usize>| {
        let start = group.first().map_or(0, |first| range(first).start);
        let end = group.last().map_or(0, |last| range(last).end);
        place(start, end - start)
    };
    format!("@@ -{} +{} @@\n", whole(DiffOp::old_range), whole(DiffOp::new_range))
}

fn add_lines(patch: &mut Vec<u8>, operation: &DiffOp, old: &[&[u8]], new: &[&[u8]]) {
    let (sign, removed) = match operation {
        DiffOp::Equal { .. } => (b' ', &old[operation.old_range()]),
        _ => (b'-', &old[operation.old_range()]),
    };
    removed.iter().for_each(|line| add_line(patch, sign, line));
    if sign == b'-' {
        new[operation.new_range()].iter().for_each(|line| add_line(patch, b'+', line));
    }
}

fn add_line(patch: &mut Vec<u8>, sign: u8, line: &[u8]) {
    patch.push(sign);
    patch.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        patch.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

/// The name of a side, in quotes where git would put it in quotes: with a control character, `"` or `\` in
/// it. A name with blanks ends at a tab.
fn name(side: &str, path: &str) -> String {
    let needs_quotes = |c: char| c.is_ascii_control() || matches!(c, '"' | '\\');
    if !path.contains(needs_quotes) {
        let end = if path.contains(' ') { "\t" } else { "" };
        return format!("{side}{path}{end}");
    }
    let quoted = path.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_ascii_control() => format!("\\{:03o}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{side}{}\"", quoted.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(path: &str, before: &str, after: &str) -> String {
        String::from_utf8(unified_diff(path, before.as_bytes(), after.as_bytes())).unwrap()
    }

    #[test]
    fn what_is_the_same_has_no_patch() {
        assert_eq!(patch("a", "x\n", "x\n"), "");
        assert_eq!(patch("a", "", ""), "");
    }

    #[test]
    fn lines_are_shown_with_what_is_around_them() {
        assert_eq!(
            patch("a.md", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- a/a.md\n+++ b/a.md\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        );
        assert_eq!(patch("a", "", "x\n"), "--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+x\n");
        assert_eq!(patch("a", "x\ny\n", "y\n"), "--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n-x\n y\n");
    }

    #[test]
    fn line_ends_are_part_of_their_lines() {
        assert_eq!(
            patch("a", "x\r\ny", "x\ny\r"),
            "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-x\r\n-y\n\\ No newline at end of file\n+x\n+y\r\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn names_are_written_as_git_writes_them() {
        for (path, written) in [
            ("docs/prd.md", "a/docs/prd.md"),
            ("a b.md", "a/a b.md\t"),
            ("ü.md", "a/ü.md"),
            ("a\"b\n\\.md", "\"a/a\\\"b\\012\\\\.md\""),
        ] {
            assert_eq!(name("a/", path), written);
        }
    }
}
