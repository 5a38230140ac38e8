//! Short names of artifacts.

use std::path::Path;

use stepmark_model::{artifact::ProjectPath, bmad::sprint::LedgerKey, spelling::is_same_name};

use crate::exit::{Exit, Failure};

const NAMED: usize = 10;

const ENDING: &str = ".md";

/// Paths that end with `name`, with or without `.md`; else the story of that number (`1-2`, `1.2`); else
/// those with a file name that begins so.
pub(crate) fn called<'p>(
    name: &str,
    paths: impl Iterator<Item = &'p ProjectPath> + Clone,
) -> Vec<ProjectPath> {
    let story = story_number(name);
    let (folder, beginning) = name.rsplit_once('/').unwrap_or(("", name));
    // A number alone is a step, and a name with extension is complete.
    let is_beginning =
        beginning.contains(|letter: char| letter.is_alphabetic()) && !beginning.ends_with(ENDING);
    let ends = |path: &ProjectPath| ends_with(stem(path.as_str(), name), name);
    let is_story = |path: &ProjectPath| {
        story.is_some_and(|story| LedgerKey::of(path).is_some_and(|(key, _)| key == story))
    };
    let begins = |path: &ProjectPath| {
        let (own_folder, own_name) = path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()));
        is_beginning
            && own_name.starts_with(beginning)
            && (folder.is_empty() || ends_with(own_folder, folder))
    };
    // `--to Winston` makes `winston-….md`.
    let begins_alike = |path: &ProjectPath| {
        is_beginning && path.file_stem().to_lowercase().starts_with(&name.to_lowercase())
    };
    let ways: [&dyn Fn(&ProjectPath) -> bool; 4] = [&ends, &is_story, &begins, &begins_alike];
    let found = ways.iter().map(|is_meant| paths.clone().filter(|path| is_meant(path)).cloned().collect());
    found.into_iter().find(|found: &Vec<ProjectPath>| !found.is_empty()).unwrap_or_default()
}

pub(crate) fn only(given: &Path, found: Vec<ProjectPath>) -> Result<Option<ProjectPath>, Failure> {
    if found.len() < 2 {
        return Ok(found.into_iter().next());
    }
    let message = format!("`{}` may be any of {} artifacts", given.display(), found.len());
    Err(Failure::new(Exit::Usage, message).with_help(format!("say more of its path: {}", listed(&found))))
}

pub(crate) fn listed(paths: &[ProjectPath]) -> String {
    let named: Vec<String> = paths.iter().take(NAMED).map(|path| format!("`{path}`")).collect();
    let more = paths.len().saturating_sub(NAMED);
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{rest}", named.join(", "))
}

fn stem<'p>(path: &'p str, name: &str) -> &'p str {
    path.strip_suffix(ENDING).filter(|_| !name.ends_with(ENDING)).unwrap_or(path)
}

fn ends_with(path: &str, name: &str) -> bool {
    let is_end = path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    is_end || is_same_name(path, name)
}

/// `1-2` or `1.2`.
fn story_number(name: &str) -> Option<LedgerKey> {
    let (epic, story) = name.split_once(['-', '.']).filter(|(_, story)| !story.contains(['-', '.']))?;
    LedgerKey::read(&format!("{epic}-{story}-any")).filter(|key| key.is_story())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(paths: &[&str]) -> Vec<ProjectPath> {
        paths.iter().map(|path| ProjectPath::new(path).unwrap()).collect()
    }

    #[test]
    fn a_whole_name_comes_before_a_number_and_a_number_before_a_beginning() {
        let all = paths(&[
            "docs/prd.md",
            "docs/prd-shop.md",
            "old/prd/architecture.md",
            "stories/1-2-lamp.md",
            "stories/1-20-lantern.md",
            "stories/2-1-oil.md",
        ]);
        for (name, meant) in [
            ("prd", &["docs/prd.md"][..]),
            ("prd.md", &["docs/prd.md"]),
            ("docs/prd", &["docs/prd.md"]),
            ("prd-", &["docs/prd-shop.md"]),
            ("docs/prd-s", &["docs/prd-shop.md"]),
            ("ocs/prd-s", &[]),
            ("pr", &["docs/prd.md", "docs/prd-shop.md"]),
            ("prd/arch", &["old/prd/architecture.md"]),
            ("1-2", &["stories/1-2-lamp.md"]),
            ("1.2", &["stories/1-2-lamp.md"]),
            ("2-1-o", &["stories/2-1-oil.md"]),
            ("rd", &[]),
            ("1", &[]),
            ("1-", &[]),
            ("prd-shop.m", &["docs/prd-shop.md"]),
            ("shop.md", &[]),
            ("", &[]),
        ] {
            assert_eq!(called(name, all.iter()), paths(meant), "{name}");
        }
    }

    #[test]
    fn several_are_named_up_to_ten() {
        let names: Vec<String> = (0..12).map(|number| format!("docs/prd-{number}.md")).collect();
        let all = paths(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let failure = only(Path::new("prd"), called("prd", all.iter())).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        let help = failure.help.unwrap();
        assert!(help.contains("`docs/prd-9.md` and 2 more") && !help.contains("prd-10"), "{help}");
        assert_eq!(only(Path::new("prd-3"), called("prd-3", all.iter())).unwrap(), all.get(3).cloned());
        assert_eq!(only(Path::new("none"), called("none", all.iter())).unwrap(), None);
    }
}
