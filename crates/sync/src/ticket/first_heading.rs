//! The heading that names a document.

/// The text of the first heading of level 1 in Markdown, outside of code; `None` where there is none.
pub(super) fn first_heading(markdown: &str) -> Option<&str> {
    let mut fence: Option<&str> = None;
    for line in markdown.lines() {
        let bare = line.trim_start();
        let is_indented = line.len() - bare.len() > 3;
        match fence {
            Some(open) if bare.starts_with(open) => fence = None,
            Some(_) => {}
            None if is_indented => {}
            None if bare.starts_with("```") => fence = Some("```"),
            None if bare.starts_with("~~~") => fence = Some("~~~"),
            None => {
                let title =
                    bare.strip_prefix("# ").map(|title| title.trim_end_matches([' ', '\t', '#']).trim());
                if let Some(title) = title.filter(|title| !title.is_empty()) {
                    return Some(title);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_has_no_headings() {
        for (markdown, expected) in [
            ("# A b #\n", Some("A b")),
            ("\ntext\n# A\n# B\n", Some("A")),
            ("```sh\n# no\n```\n# Yes", Some("Yes")),
            ("~~~\n# no\n```\n# no\n~~~\n", None),
            ("    # code\n## two\n#\n#x\n", None),
        ] {
            assert_eq!(first_heading(markdown), expected, "{markdown}");
        }
    }
}
