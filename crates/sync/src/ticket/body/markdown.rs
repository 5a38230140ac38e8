//! The body of a ticket as GitHub's Markdown.

use std::ops::Range;

use super::{
    Block, Inline, Mark, Task,
    block::{depths, shortened},
    text::refers_to_ticket,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Markdown {
    pub text: String,
    pub omitted_lines: usize,
}

/// At most `limit` bytes. Text is cut at the end, at a heading if one is near, and a line links to `file` if
/// there is room for it. Very long blocks are shortened.
pub fn markdown(blocks: &[Block], file: &Inline, limit: usize) -> Markdown {
    let lines = lines(blocks);
    let whole: usize = lines.iter().map(Line::length).sum();
    if whole <= limit.saturating_add(1) {
        return Markdown { text: joined(&lines), omitted_lines: 0 };
    }
    let (blocks, shortened_lines) = shortened(blocks, limit);
    let lines = self::lines(&blocks);
    let count = |lines: &[Line]| lines.iter().map(|line| line.text.split('\n').count()).sum::<usize>();
    let note = |omitted: usize| format!("*… {omitted} more lines: see* {}", inline(file));
    // The longest note that can be needed, and the blank line before it.
    let reserved = note(count(&lines) + shortened_lines).len() + 2;
    let mut used = 0;
    let fitting = lines.iter().take_while(|line| {
        used += line.length();
        used + reserved <= limit
    });
    let kept = &lines[..fitting.count()];
    let kept = &kept[..cut(kept.len(), |at| kept[at].length(), |at| kept[at].is_heading)];
    let is_end = |line: &Line| !line.text.is_empty() && !line.is_heading;
    let kept = &kept[..kept.iter().rposition(is_end).map_or(0, |last| last + 1)];
    let omitted_lines = count(&lines[kept.len()..]) + shortened_lines;
    let mut text = joined(kept);
    if reserved <= limit {
        text.push_str(if kept.is_empty() { "" } else { "\n\n" });
        text.push_str(&note(omitted_lines));
    }
    Markdown { text, omitted_lines }
}

/// `count` lines just fit; the cut is before the last heading, unless half of the text is behind it.
pub(crate) fn cut(count: usize, size: impl Fn(usize) -> usize, is_heading: impl Fn(usize) -> bool) -> usize {
    let whole: usize = (0..count).map(&size).sum();
    let heading = (0..count).rev().find(|at| is_heading(*at));
    let before = |at: &usize| (0..*at).map(&size).sum::<usize>();
    heading.filter(|at| before(at) * 2 >= whole).unwrap_or(count)
}

struct Line {
    text: String,
    is_heading: bool,
}

impl Line {
    fn length(&self) -> usize {
        self.text.len() + 1
    }
}

fn joined(lines: &[Line]) -> String {
    lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
}

fn lines(blocks: &[Block]) -> Vec<Line> {
    let mut lines = Vec::new();
    for block in blocks {
        let mut push =
            |text: String| lines.push(Line { text, is_heading: matches!(block, Block::Heading(_)) });
        match block {
            Block::Heading(text) => push(format!("### {}", escaped(text))),
            Block::Paragraph(inlines) => push(guarded(inlines_text(inlines))),
            Block::List(points) => {
                points.iter().for_each(|point| push(format!("- {}", guarded(inlines_text(point)))));
            }
            Block::Tasks(tasks) => tasks.iter().for_each(|Task { done, text }| {
                push(format!("- [{}] {}", if *done { 'x' } else { ' ' }, inlines_text(text)));
            }),
            Block::Outline(entries) => {
                for (entry, depth) in entries.iter().zip(depths(entries)) {
                    let text = guarded(inlines_text(&entry.text));
                    push(format!("{:1$}{2}{text}", "", depth * 4, mark(entry.mark)));
                }
            }
            Block::Code(text) => push(code_block(text)),
        }
        lines.push(Line { text: String::new(), is_heading: false });
    }
    lines.pop();
    lines
}

/// Points below it are indented by four columns: room for two digits.
fn mark(mark: Mark) -> String {
    match mark {
        Mark::Point => "- ".to_owned(),
        Mark::Number(number) => format!("{number}. "),
        Mark::Done => "- [x] ".to_owned(),
        Mark::ToDo => "- [ ] ".to_owned(),
    }
}

/// Only what would be a mark of ours is split.
fn code_block(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let clean: String =
        text.chars().filter(|letter| matches!(letter, '\n' | '\t') || !letter.is_control()).collect();
    format!("{fence}\n{}\n{fence}", clean.replace("<!--", "<!\u{200B}--"))
}

/// Merges runs of one style before escaping, which has to see a sign and the name behind it together.
fn inlines_text(inlines: &[Inline]) -> String {
    let runs = inlines.chunk_by(|one, other| {
        use Inline::{Strong, Text};
        matches!((one, other), (Text(_), Text(_)) | (Strong(_), Strong(_)))
    });
    let runs = runs.map(|run| {
        let text = || run.iter().map(Inline::shown).collect::<String>();
        match run {
            [Inline::Text(_), _, ..] => escaped(&text()),
            [Inline::Strong(_), _, ..] => strong(&text()),
            _ => run.iter().map(inline).collect(),
        }
    });
    runs.collect()
}

fn inline(inline: &Inline) -> String {
    match inline {
        Inline::Text(text) => escaped(text),
        Inline::Strong(text) => strong(text),
        Inline::Code(text) => code(text),
        Inline::Link { text, url } => format!("[{}](<{url}>)", escaped(text)),
    }
}

/// Blanks at its ends go outside of the asterisks, which would be text beside them.
fn strong(text: &str) -> String {
    let bare = text.trim();
    if bare.is_empty() {
        return escaped(text);
    }
    let (before, after) = text.split_once(bare).unwrap_or_default();
    format!("{}**{}**{}", escaped(before), escaped(bare), escaped(after))
}

fn code(text: &str) -> String {
    let text = in_one_line(text);
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let needs_blanks = text.starts_with('`') || text.ends_with('`') || text.trim().is_empty();
    let blank = if needs_blanks { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

fn in_one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// Escapes punctuation as CommonMark allows (§2.4). GitHub finds mentions, references and their addresses
/// after that, so a zero-width character splits them: a title notifies nobody and closes nothing.
fn escaped(text: &str) -> String {
    const SPECIAL: &str = "\\`*_[]<>|~&$";
    let text = in_one_line(text);
    let mut out = String::with_capacity(text.len() + 8);
    let ids = commit_ids(&text);
    for (at, letter) in text.char_indices() {
        if ids.iter().any(|id| at == id.start || at == id.end) {
            out.push('`');
        }
        if SPECIAL.contains(letter) {
            out.push('\\');
        }
        out.push(letter);
        if calls(&text[..at], letter, &text[at + letter.len_utf8()..]) {
            out.push('\u{200B}');
        }
    }
    if ids.last().is_some_and(|id| id.end == text.len()) {
        out.push('`');
    }
    out
}

/// GitHub links commits: 40 hexadecimal digits that are no part of an address.
fn commit_ids(text: &str) -> Vec<Range<usize>> {
    let is_part = |letter: char| letter.is_alphanumeric() || "/_-=".contains(letter);
    let mut start = 0;
    let words = text.split_inclusive(|letter| !is_part(letter)).map(|word| {
        start += word.len();
        (start - word.len(), word.trim_end_matches(|letter| !is_part(letter)))
    });
    let ids = words.filter(|(_, word)| word.len() == 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit()));
    ids.map(|(at, word)| at..at + word.len()).collect()
}

/// `letter` makes a mention, a reference or an issue's address.
fn calls(before: &str, letter: char, after: &str) -> bool {
    let token = || {
        after.chars().take(LONGEST_ADDRESS).take_while(|letter| !letter.is_whitespace()).collect::<String>()
    };
    match letter {
        '@' | '#' => after.starts_with(char::is_alphanumeric),
        // `GH-12`.
        '-' => {
            let ends_with = |word: &str| {
                before.len() >= 2
                    && before.is_char_boundary(before.len() - 2)
                    && before[before.len() - 2..].eq_ignore_ascii_case(word)
            };
            ends_with("GH") && after.starts_with(|digit: char| digit.is_ascii_digit())
        }
        ':' => after.starts_with("//") && refers_to_ticket(&token()),
        'w' | 'W' => {
            let is_address = after.get(..3).is_some_and(|next| next.eq_ignore_ascii_case("ww."));
            is_address && !before.ends_with(char::is_alphanumeric) && refers_to_ticket(&token())
        }
        _ => false,
    }
}

const LONGEST_ADDRESS: usize = 300;

/// Escapes a beginning that would make a heading, a list or a rule.
fn guarded(line: String) -> String {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let after = line.as_bytes().get(digits);
    match line.as_bytes().first() {
        Some(b'-' | b'+' | b'=' | b'#') => format!("\\{line}"),
        Some(_) if digits > 0 && matches!(after, Some(b'.' | b')')) => {
            format!("{}\\{}", &line[..digits], &line[digits..])
        }
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prop_assert;

    use super::*;

    fn file() -> Inline {
        Inline::Code("a.md".to_owned())
    }

    fn paragraph(text: &str) -> String {
        markdown(&[Block::Paragraph(vec![Inline::Text(text.to_owned())])], &file(), 1000).text
    }

    #[test]
    fn text_means_nothing() {
        for (text, expected) in [
            ("plain, with (brackets)!", "plain, with (brackets)!"),
            ("*a* _b_ `c` [d](e)", "\\*a\\* \\_b\\_ \\`c\\` \\[d\\](e)"),
            ("<!-- stepmark:end -->", "\\<!-- stepmark:end --\\>"),
            ("by @octocat, see #12 @ #", "by @\u{200B}octocat, see #\u{200B}12 @ #"),
            ("- a\n# b", "\\- a # b"),
            ("1. a", "1\\. a"),
            ("2026) a", "2026\\) a"),
            ("# a", "\\# a"),
            (
                "in 0123456789abcdef0123456789abcdef01234567, too",
                "in `0123456789abcdef0123456789abcdef01234567`, too",
            ),
            ("0123456789abcdef0123456789abcdef01234567", "`0123456789abcdef0123456789abcdef01234567`"),
            (
                "https://h/0123456789abcdef0123456789abcdef01234567",
                "https://h/0123456789abcdef0123456789abcdef01234567",
            ),
        ] {
            assert_eq!(paragraph(text), expected);
        }
    }

    #[test]
    fn code_keeps_its_backticks() {
        for (text, expected) in [("a", "`a`"), ("a`b", "``a`b``"), ("``", "``` `` ```"), ("a\nb", "`a b`")] {
            assert_eq!(code(text), expected);
        }
    }

    #[test]
    fn blocks_are_parted_by_blank_lines() {
        let text = |text: &str| vec![Inline::Text(text.to_owned())];
        let blocks = [
            Block::Paragraph(text("p")),
            Block::Heading("Steps".to_owned()),
            Block::Tasks(vec![Task { done: true, text: text("a") }, Task { done: false, text: text("b") }]),
            Block::List(vec![vec![Inline::Link { text: "f".to_owned(), url: "https://h/f".to_owned() }]]),
        ];
        let text = "p\n\n### Steps\n\n- [x] a\n- [ ] b\n\n- [f](<https://h/f>)";
        assert_eq!(markdown(&blocks, &file(), 1000), Markdown { text: text.to_owned(), omitted_lines: 0 });
        assert_eq!(markdown(&blocks, &file(), text.chars().count()).omitted_lines, 0, "just fits");
    }

    #[test]
    fn what_has_no_room_is_in_the_file() {
        let task = |at: usize| Task { done: false, text: vec![Inline::Code(format!("step-{at:03}"))] };
        let blocks = [Block::Heading("Steps".to_owned()), Block::Tasks((0..100).map(task).collect())];
        let cut = markdown(&blocks, &file(), 200);
        assert!(cut.text.ends_with("- [ ] `step-008`\n\n*… 91 more lines: see* `a.md`"), "{}", cut.text);
        assert_eq!(cut.omitted_lines, 91);
    }

    #[test]
    fn what_is_very_long_shows_its_beginning() {
        let lines = "line\n".repeat(1000);
        let long =
            [Block::Code(lines.clone()), Block::Paragraph(vec![Inline::Text(lines.replace('\n', " "))])];
        for (block, shown, omitted) in [(&long[0], "```\nline\n", 900), (&long[1], "line line line", 1)] {
            let made = markdown(std::slice::from_ref(block), &file(), 1000);
            assert!(made.text.starts_with(shown) && made.text.len() > 250, "{}", made.text);
            assert_eq!(made.omitted_lines, omitted);
            assert!(made.text.ends_with(&format!("*… {omitted} more lines: see* `a.md`")), "{}", made.text);
        }
    }

    proptest::proptest! {
        #[test]
        fn never_longer_than_allowed(texts in proptest::collection::vec(".{0,80}", 0..30), limit in 0_usize..600) {
            let blocks: Vec<Block> = texts.into_iter().map(|text| Block::Paragraph(vec![Inline::Text(text)])).collect();
            let made = markdown(&blocks, &file(), limit);
            prop_assert!(made.text.chars().count() <= limit);
        }

        #[test]
        fn text_is_one_line_and_calls_nobody(text in ".*") {
            let line = paragraph(&text);
            prop_assert!(!line.contains('\n'));
            let mut letters = line.chars().zip(line.chars().skip(1));
            let calls = letters.any(|(sign, next)| matches!(sign, '@' | '#') && next.is_alphanumeric());
            prop_assert!(!calls, "{}", line);
        }
    }
}
