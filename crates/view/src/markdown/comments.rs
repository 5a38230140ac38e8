//! Comments of HTML, which nobody wants to read.

/// `html` without its comments. One that does not end is shown: whoever forgot its end should not lose the
/// rest.
pub(super) fn without_comments(html: &str) -> String {
    let mut rest = html;
    let mut kept = String::new();
    while let Some(start) = rest.find("<!--") {
        // `<!-->` and `<!--->` are comments, too (CommonMark 0.31, 6.6): the end may share the hyphens of the
        // beginning.
        let from_hyphens = &rest[start + "<!".len()..];
        let Some((_, after)) = from_hyphens.split_once("-->") else { break };
        kept.push_str(&rest[..start]);
        rest = after;
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn only_comments_go() {
        for (html, kept) in [
            ("<!-- c --> <b>after</b>", " <b>after</b>"),
            ("<b>before</b><!-- c -->", "<b>before</b>"),
            ("<!-- one\ntwo\nthree --> after", " after"),
            ("<!-- a -->b<!-- c -->d", "bd"),
            ("<!-->a<!--->b", "ab"),
            ("<!---->a", "a"),
            ("a <!- b --> c", "a <!- b --> c"),
            ("<!-- never ends", "<!-- never ends"),
            ("a<!-- b --><!-- c", "a<!-- c"),
            ("é<!-- ü -->ß", "éß"),
            ("", ""),
        ] {
            assert_eq!(without_comments(html), kept, "{html}");
        }
    }
}
