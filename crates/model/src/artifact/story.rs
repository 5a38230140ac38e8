//! Story files of BMAD, which carry their status in the body (FORMATS.md §1, "sprint-status.yaml and stories").

use super::{LedgerKey, ProjectPath, ledger_key::SPEC_PREFIX};

/// The key by which a file is that of a story: its name without the ending, and without `spec-` before it: `N-M-slug` or `N-Ma-slug`.
/// `None` for files that are called otherwise, also for those that begin with a year.
pub fn story_key(path: &ProjectPath) -> Option<&str> {
    LedgerKey::of(path).filter(|(key, _)| key.is_story()).map(|(_, name)| name)
}

/// Whether the file at `path` is the spec of a story, which BMAD 6.11 and later keep instead of a story file: its frontmatter has the
/// words of a spec.
pub fn is_story_spec(path: &ProjectPath) -> bool {
    path.file_stem().starts_with(SPEC_PREFIX) && story_key(path).is_some()
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
        assert_eq!(key("docs/spec-1-1-switch.md").as_deref(), Some("1-1-switch"));
        for name in ["2026-01-15-meeting", "1-1", "0001-use-it", "1-b-c", "epic-1", "1-1-", "1-2ab-c"] {
            assert_eq!(key(&format!("{name}.md")), None, "{name}");
        }
    }
}
