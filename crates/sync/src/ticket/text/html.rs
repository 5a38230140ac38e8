//! What HTML within Markdown says.

/// `html` without comments, and without lines that are one tag; blanks and line ends become one blank.
pub(super) fn text_of(html: &str) -> String {
    let lines = without_comments(html);
    let said = lines.lines().map(str::trim).filter(|line| !is_tag(line));
    said.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

fn is_tag(line: &str) -> bool {
    line.strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
        .is_some_and(|inner| !inner.contains(['<', '>']))
}

/// A comment that never ends is left out to its end, as browsers do.
fn without_comments(html: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(html.len()), html);
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_comments_say_nothing() {
        for (html, expected) in [
            ("<frozen reason=\"x\">\ntext one\n two\n</frozen>", "text one two"),
            ("<!-- a\n--> b <!-- c", "b"),
            ("<b>bold</b>", "<b>bold</b>"),
            ("<br>", ""),
        ] {
            assert_eq!(text_of(html), expected, "{html}");
        }
    }
}
