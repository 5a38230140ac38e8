//! Titles and lengths as Jira counts them: in UTF-16, as Java does, so that an emoji is two.

/// The most characters of a summary (docs/formats.md, "Trackers").
const SUMMARY_LIMIT: usize = 255;

/// The length of a text for Jira.
pub(super) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// `title` as far as a summary has room for it.
pub(super) fn summary(title: &str) -> String {
    if length(title) <= SUMMARY_LIMIT {
        return title.to_owned();
    }
    let mut used = length("…");
    let fitting = title.chars().take_while(|letter| {
        used += letter.len_utf16();
        used <= SUMMARY_LIMIT
    });
    let fitting: String = fitting.collect();
    format!("{}…", fitting.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emoji_is_two() {
        for (title, expected) in [
            ("a".repeat(255), "a".repeat(255)),
            ("\u{1f600}".repeat(127), "\u{1f600}".repeat(127)),
            ("\u{1f600}".repeat(128), format!("{}…", "\u{1f600}".repeat(127))),
            (format!("{} b", "a".repeat(254)), format!("{}…", "a".repeat(254))),
        ] {
            let made = summary(&title);
            assert_eq!(made, expected);
            assert!(length(&made) <= SUMMARY_LIMIT);
        }
    }
}
