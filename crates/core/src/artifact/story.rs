//! Story files of BMAD, which carry their status in the body (FORMATS.md §1, "sprint-status.yaml and stories").

use super::ProjectPath;

/// The key of a story in `sprint-status.yaml`: the name of its file without the ending, `N-M-slug` or `N-Ma-slug`. `None` for
/// files that are called otherwise, also for those that begin with a year.
pub fn story_key(path: &ProjectPath) -> Option<&str> {
    let name = path.file_stem();
    let mut parts = name.splitn(3, '-');
    let (epic, story, slug) = (parts.next()?, parts.next()?, parts.next()?);
    let story = story.strip_suffix(|letter: char| letter.is_ascii_lowercase()).unwrap_or(story);
    (is_short_number(epic) && is_short_number(story) && !slug.is_empty()).then_some(name)
}

fn is_short_number(text: &str) -> bool {
    (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stories_are_known_by_their_names() {
        let key = |path: &str| story_key(&ProjectPath::new(path).unwrap()).map(str::to_owned);
        for name in ["1-1-switch", "12-3-a", "1-2a-dim-slowly"] {
            assert_eq!(key(&format!("docs/stories/{name}.md")).as_deref(), Some(name));
        }
        for name in ["2026-01-15-meeting", "1-1", "0001-use-it", "1-b-c", "epic-1", "1-1-", "1-2ab-c"] {
            assert_eq!(key(&format!("{name}.md")), None, "{name}");
        }
    }
}
