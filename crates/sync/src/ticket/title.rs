//! The title of an artifact.

use stepmark_model::artifact::{Artifact, Field};

/// Returns what `artifact` is called: its `title` or `name`, else its first heading, else the project that it
/// names, else its file. Templates that nobody filled in (`# PRD - {{project_name}}`) are called by what
/// stands beside their places.
pub(super) fn title(artifact: &Artifact) -> String {
    let named = artifact.state().title.as_ref();
    let of = |field: Option<&Field>| field.and_then(Field::filled).and_then(without_places);
    // The name of the project is that of many artifacts.
    let is_of_project = |field: &&Field| field.key == "project_name";
    let body = artifact.document().body();
    let text = String::from_utf8_lossy(&artifact.bytes()[body.range()]);
    of(named.filter(|field| !is_of_project(field)))
        .or_else(|| first_heading(&text).and_then(without_places))
        .or_else(|| of(named.filter(is_of_project)))
        .unwrap_or_else(|| artifact.path().file_stem().to_owned())
}

/// `text` without places to fill in (`{{name}}`) and what bound them to the rest; `None` where nothing is
/// left.
fn without_places(text: &str) -> Option<String> {
    const BINDS: [char; 9] = [' ', '\t', '-', '–', '—', ':', '|', ',', '/'];
    let mut kept = text.trim().to_owned();
    while let Some((before, after)) =
        kept.split_once("{{").and_then(|(before, rest)| Some((before, rest.split_once("}}")?.1)))
    {
        let (before, after) = (before.trim_end_matches(BINDS), after.trim_start_matches(BINDS));
        kept = if before.is_empty() || after.is_empty() {
            format!("{before}{after}")
        } else {
            format!("{before} {after}")
        };
    }
    (!kept.is_empty()).then_some(kept)
}

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
    use stepmark_model::artifact::ProjectPath;

    use super::*;

    #[test]
    fn places_are_no_names() {
        for (text, expected) in [
            ("Plain - title", Some("Plain - title")),
            ("Product Requirements Document - {{project_name}}", Some("Product Requirements Document")),
            ("{{project_name}}", None),
            ("{{project_name}}: UX of {{date}}", Some("UX of")),
            ("Epic {{N}}: {{epic_title}}", Some("Epic")),
            ("Story {{a}} for {{b}} now", Some("Story for now")),
            ("Use of {{ in text", Some("Use of {{ in text")),
            ("{single} stays", Some("{single} stays")),
            (" ", None),
        ] {
            assert_eq!(without_places(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn the_best_name_counts() {
        for (text, expected) in [
            ("---\ntitle: A\n---\n# B\n", "A"),
            ("---\ntitle: ''\n---\n# B\n", "B"),
            ("---\nname: A\nproject_name: P\n---\n# B\n", "A"),
            ("---\nproject_name: P\n---\n# Architecture\n", "Architecture"),
            ("---\nproject_name: P\n---\n# {{title}}\n", "P"),
            ("---\nproject_name: '{{project_name}}'\n---\ntext\n", "own file"),
        ] {
            let path = ProjectPath::new("docs/own file.md").unwrap();
            assert_eq!(title(&Artifact::read(path, text.as_bytes().to_vec())), expected, "{text}");
        }
    }

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
