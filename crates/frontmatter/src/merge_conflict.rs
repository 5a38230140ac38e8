//! The marks that git leaves in a file where two sides changed the same lines (git-merge(1), "How conflicts
//! are presented").

use memchr::memmem;

use super::Span;

const BEGIN: &[u8] = b"<<<<<<<";
const MIDDLE: &[u8] = b"\n=======";
const END: &[u8] = b"\n>>>>>>>";

/// The offset of the first conflict in `span` of `file`: a line of `<<<<<<<` with lines of `=======` and
/// `>>>>>>>` below it, in the file.
pub fn merge_conflict(file: &[u8], span: Span) -> Option<usize> {
    let within = file.get(span.range())?;
    let is_mark = |at: &usize| {
        let starts_line = *at == 0 || within[at - 1] == b'\n';
        starts_line && matches!(within.get(at + BEGIN.len()), Some(b' ' | b'\n' | b'\r'))
    };
    let begin = span.start + memmem::find_iter(within, BEGIN).find(is_mark)?;
    let below = &file[begin..];
    let middle = memmem::find(below, MIDDLE)?;
    memmem::find(&below[middle..], END).map(|_| begin)
}

/// The two versions of a file with conflicts, each with the name that git gives to its side; `None` where a
/// conflict does not end.
pub fn merge_sides(file: &str) -> Option<[(&str, String); 2]> {
    let mut sides = [("", String::new()), ("", String::new())];
    // Outside a conflict, on our side, in the base, on their side.
    let mut at = 0;
    for line in file.split_inclusive('\n') {
        let name = |mark: &str| line.strip_prefix(mark).map(str::trim);
        match at {
            0 if name("<<<<<<<").is_some() => (at, sides[0].0) = (1, name("<<<<<<<")?),
            1 if line.starts_with("|||||||") => at = 2,
            1 | 2 if name("=======") == Some("") => at = 3,
            3 if name(">>>>>>>").is_some() => (at, sides[1].0) = (0, name(">>>>>>>")?),
            0 => sides.iter_mut().for_each(|side| side.1.push_str(line)),
            1 => sides[0].1.push_str(line),
            2 => {}
            _ => sides[1].1.push_str(line),
        }
    }
    (at == 0).then_some(sides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_are_told_apart() {
        let file = "a\n<<<<<<< HEAD\nb\n||||||| base\nx\n=======\nc\n>>>>>>> lane-b\nd\n";
        let sides = merge_sides(file).unwrap();
        assert_eq!(sides, [("HEAD", "a\nb\nd\n".to_owned()), ("lane-b", "a\nc\nd\n".to_owned())]);
        assert_eq!(merge_sides("<<<<<<< HEAD\nb\n=======\n"), None);
    }

    #[test]
    fn three_marks_make_a_conflict() {
        for (file, expected) in [
            ("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n", Some(0)),
            ("---\nid: P\n<<<<<<< HEAD\r\na: 1\r\n=======\r\n>>>>>>> o\r\n", Some(10)),
            ("---\n<<<<<<< ours\na\n||||||| base\n=======\nb\n>>>>>>> theirs\n", Some(4)),
            ("a: <<<<<<< HEAD\n=======\n>>>>>>> x\n", None),
            ("<<<<<<<< HEAD\n=======\n>>>>>>> x\n", None),
            ("<<<<<<< HEAD\n=======\n", None),
            ("# Title\n=======\n", None),
        ] {
            assert_eq!(merge_conflict(file.as_bytes(), Span::new(0, file.len())), expected, "{file}");
        }
    }
}
