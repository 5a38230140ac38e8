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

#[cfg(test)]
mod tests {
    use super::*;

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
