//! The trailers of a commit message that name the last lines of sealed segments. Pure: a message → the
//! message with them.

use crate::journal::{SegmentHead, SegmentName};

/// The key of the trailers (git-interpret-trailers(1)). The value is the name of a segment, a blank, and the
/// hash of its last line.
pub const KEY: &str = "Stepmark-History";

pub const MOST_TRAILERS: usize = 8;

const OF_GIT: [&str; 2] = ["Signed-off-by: ", "(cherry picked from commit "];

pub fn head_of(value: &str) -> Option<SegmentHead> {
    let (segment, last) = value.trim().split_once(' ')?;
    Some(SegmentHead { segment: SegmentName::new(segment)?, last: last.parse().ok()? })
}

/// The message in which trailers name these heads, in place of those that named others; `None` where it is to
/// stay: there are no heads, or no message, which git refuses. Lines that start with `comment` are git's own.
pub fn with_heads(message: &str, comment: &str, heads: &[SegmentHead]) -> Option<String> {
    let lines: Vec<&str> = message.split_inclusive('\n').collect();
    let is_comment = |line: &str| line.starts_with(comment);
    let is_blank = |line: &str| line.trim().is_empty();
    let scissors = format!("{comment} ------------------------ >8 ------------------------");
    let cut = lines.iter().position(|line| line.trim_end() == scissors).unwrap_or(lines.len());
    let end = lines[..cut].iter().rposition(|line| !is_blank(line) && !is_comment(line))? + 1;
    if heads.is_empty() {
        return None;
    }
    let start = lines[..end].iter().rposition(|line| is_blank(line)).map_or(0, |blank| blank + 1);
    let has_title = lines[..start].iter().any(|line| !is_blank(line) && !is_comment(line));
    let last: Vec<&str> = lines[start..end].iter().copied().filter(|line| !is_comment(line)).collect();
    let mut text = lines[..start].concat();
    if has_title && are_trailers(&last) {
        text.extend(without_ours(&last));
    } else {
        text.push_str(&lines[start..end].concat());
        end_line(&mut text);
        text.push('\n');
    }
    end_line(&mut text);
    heads.iter().for_each(|head| text.push_str(&format!("{KEY}: {} {}\n", head.segment, head.last)));
    text.push_str(&lines[end..].concat());
    Some(text)
}

fn end_line(text: &mut String) {
    if !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Returns whether git takes the last paragraph for trailers: all lines are, or a quarter of them beside one
/// of its own.
fn are_trailers(lines: &[&str]) -> bool {
    let (mut trailers, mut others, mut has_own) = (0, 0, false);
    for line in lines {
        let is_own = OF_GIT.iter().any(|start| line.starts_with(start));
        has_own |= is_own;
        if is_own || key(line).is_some() {
            trailers += 1;
        } else if !line.starts_with([' ', '\t']) || trailers == 0 {
            others += 1;
        }
    }
    trailers > 0 && (others == 0 || has_own && trailers * 3 >= others)
}

fn key(line: &str) -> Option<&str> {
    let (key, _) = line.split_once(':')?;
    let key = key.trim_end_matches([' ', '\t']);
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_key.then_some(key)
}

/// The lines without our trailers and the lines that go on behind them.
fn without_ours<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut is_ours = false;
    let mut kept = lines.to_vec();
    kept.retain(|line| {
        if !line.starts_with([' ', '\t']) {
            is_ours = key(line).is_some_and(|key| key.eq_ignore_ascii_case(KEY));
        }
        !is_ours
    });
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::FileHash;

    fn head(name: &str) -> SegmentHead {
        SegmentHead { segment: SegmentName::new(name).unwrap(), last: FileHash::of(b"") }
    }

    const HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn trailers_stand_where_git_looks_for_them() {
        let ours = format!("Stepmark-History: s-1 {HASH}\n");
        for (case, message, wanted) in [
            ("a title", "One\n", "One\n\n@"),
            ("no line end", "One", "One\n\n@"),
            ("a body", "One\n\nTwo\n", "One\n\nTwo\n\n@"),
            ("a title like a trailer", "fix: one\n", "fix: one\n\n@"),
            ("a trailer", "One\n\nAcked-by: Ada\n", "One\n\nAcked-by: Ada\n@"),
            ("a long one", "One\n\nAcked-by: Ada\n  Lovelace\n", "One\n\nAcked-by: Ada\n  Lovelace\n@"),
            ("a quarter", "One\n\nx\ny\nSigned-off-by: Ada\n", "One\n\nx\ny\nSigned-off-by: Ada\n@"),
            ("prose with a colon", "One\n\nNote: this\nis prose\n", "One\n\nNote: this\nis prose\n\n@"),
            ("an old one", "One\n\nStepmark-History: a b\nAcked-by: Ada\n", "One\n\nAcked-by: Ada\n@"),
            ("old ones", "One\n\nstepmark-history: a\n b\nStepmark-History : c\n", "One\n\n@"),
            ("comments", "One\n\n# Please enter\n#\n", "One\n\n@\n# Please enter\n#\n"),
            (
                "scissors",
                "One\n# ------------------------ >8 ------------------------\ndiff\n",
                "One\n\n@# ------------------------ >8 ------------------------\ndiff\n",
            ),
        ] {
            let wanted = wanted.replace('@', &ours);
            let made = with_heads(message, "#", &[head("s-1")]).unwrap();
            assert_eq!(made, wanted, "{case}");
            assert_eq!(with_heads(&made, "#", &[head("s-1")]).unwrap(), made, "{case}: not doubled");
        }
    }

    #[test]
    fn an_empty_message_stays_empty_and_no_history_adds_nothing() {
        for message in
            ["", "\n\n", "# Please enter\n", "# ------------------------ >8 ------------------------\nx\n"]
        {
            assert_eq!(with_heads(message, "#", &[head("s-1")]), None, "{message}");
        }
        assert_eq!(with_heads("One\n", "#", &[]), None);
        assert_eq!(with_heads("; x\n", ";", &[head("s-1")]), None);
    }

    #[test]
    fn values_are_read_as_they_are_written() {
        assert_eq!(head_of(&format!("s-1 {HASH}")), Some(head("s-1")));
        for value in ["", "s-1", "s-1 0", &format!("../x {HASH}"), &format!("s-1 x {HASH}")] {
            assert_eq!(head_of(value), None, "{value}");
        }
    }
}
