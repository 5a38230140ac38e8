//! The body of a ticket as GitHub's Markdown.

use super::{Block, Inline, Task};

/// A body as Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Markdown {
    /// The text, without a line end at its end.
    pub text: String,
    /// How many lines were left out for want of room.
    pub omitted_lines: usize,
}

/// `blocks` as Markdown of at most `limit` characters. What has no room is left out line by line from the end, and a line says
/// where the rest is: in `file`. Even that line is left out where `limit` has no room for it.
pub fn markdown(blocks: &[Block], file: &Inline, limit: usize) -> Markdown {
    let lines = lines(blocks);
    let length = |line: &String| line.chars().count() + 1;
    let whole: usize = lines.iter().map(length).sum();
    if whole <= limit.saturating_add(1) {
        return Markdown { text: lines.join("\n"), omitted_lines: 0 };
    }
    let note = |omitted: usize| format!("*… {omitted} more lines: see* {}", inline(file));
    // The longest note that can be needed, and the blank line before it.
    let reserved = note(lines.len()).chars().count() + 2;
    let mut used = 0;
    let fitting = lines.iter().take_while(|line| {
        used += length(line);
        used + reserved <= limit
    });
    let mut kept: Vec<String> = fitting.cloned().collect();
    while kept.last().is_some_and(|line| line.is_empty() || line.starts_with('#')) {
        kept.pop();
    }
    let omitted_lines = lines.len() - kept.len();
    if !kept.is_empty() {
        kept.push(String::new());
    }
    if reserved <= limit {
        kept.push(note(omitted_lines));
    }
    Markdown { text: kept.join("\n"), omitted_lines }
}

fn lines(blocks: &[Block]) -> Vec<String> {
    let mut lines = Vec::new();
    for block in blocks {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        match block {
            Block::Heading(text) => lines.push(format!("### {}", escaped(text))),
            Block::Paragraph(inlines) => lines.push(guarded(inlines_text(inlines))),
            Block::List(points) => {
                lines.extend(points.iter().map(|point| format!("- {}", guarded(inlines_text(point)))));
            }
            Block::Tasks(tasks) => lines.extend(tasks.iter().map(|Task { done, text }| {
                format!("- [{}] {}", if *done { 'x' } else { ' ' }, inlines_text(text))
            })),
        }
    }
    lines
}

fn inlines_text(inlines: &[Inline]) -> String {
    inlines.iter().map(inline).collect()
}

fn inline(inline: &Inline) -> String {
    match inline {
        Inline::Text(text) => escaped(text),
        Inline::Strong(text) => format!("**{}**", escaped(text)),
        Inline::Code(text) => code(text),
        Inline::Link { text, url } => format!("[{}](<{url}>)", escaped(text)),
    }
}

/// A code span: in it nothing has a meaning but its own backticks.
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

/// Text in which nothing has a meaning. Punctuation is escaped as CommonMark allows (§2.4). Mentions and references to issues are
/// found by GitHub after that, so a character without width parts the sign from the name: nobody is called by a title.
fn escaped(text: &str) -> String {
    const SPECIAL: &str = "\\`*_[]<>|~&$";
    let text = in_one_line(text);
    let mut out = String::with_capacity(text.len() + 8);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if SPECIAL.contains(letter) {
            out.push('\\');
        }
        out.push(letter);
        let follows_name = letters.peek().is_some_and(|next| next.is_alphanumeric());
        if matches!(letter, '@' | '#') && follows_name {
            out.push('\u{200B}');
        }
    }
    out
}

/// The same line, where its beginning would make it a heading, a list or a rule.
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
