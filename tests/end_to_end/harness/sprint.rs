//! A project of BMAD in the middle of a sprint, as such projects are found: stories that say their status in
//! their body, and a ledger that says something else of many of them.

use super::Sandbox;

/// Where stories and their ledger stand.
pub(crate) const FOLDER: &str = "_bmad-output/implementation-artifacts";
/// The ledger.
pub(crate) const LEDGER: &str = "_bmad-output/implementation-artifacts/sprint-status.yaml";

/// The words of the ledger and of the story, in turns; the first two say the same.
const WORDS: [(&str, &str); 5] = [
    ("done", "done"),
    ("review", "review"),
    ("done", "review"),
    ("backlog", "in-progress"),
    ("drafted", "done"),
];

/// The path of the story that is called `name`.
pub(crate) fn path(name: &str) -> String {
    format!("{FOLDER}/{name}.md")
}

/// A story; `frontmatter` and `line` are its status there.
pub(crate) fn story(name: &str, frontmatter: Option<&str>, line: Option<&str>) -> String {
    let fences = frontmatter.map(|word| format!("---\nstatus: {word} # backlog | … | done\n---\n\n"));
    let line = line.map(|word| format!("Status: {word}\n\n"));
    format!(
        "{}# Story {name}\n\n{}## Story\n\nAs a neighbour,\nI want a drill.\n",
        fences.unwrap_or_default(),
        line.unwrap_or_default()
    )
}

/// A ledger with these entries, as BMAD writes it.
pub(crate) fn ledger(entries: &[(&str, &str)]) -> String {
    let lines = entries.iter().map(|(key, word)| {
        let gap = if key.starts_with("epic-") && !key.ends_with("retrospective") { "\n" } else { "" };
        format!("{gap}  {key}: {word}\n")
    });
    let head = "# generated: 2026-01-15\n# STATUS DEFINITIONS:\n#   - done: Story completed\n\nproject: Lamp\n\
                story_location: \"{project-root}/x\"\n\ndevelopment_status:";
    format!("{head}{}", lines.collect::<String>())
}

/// Words and paths for a sprint of `count` stories in epics of ten, of which all but `agreeing` disagree with
/// the ledger.
pub(crate) fn sprint(count: usize, agreeing: usize) -> Sandbox {
    let sandbox = Sandbox::empty();
    let mut entries: Vec<(String, &str)> = Vec::new();
    for number in 0..count {
        let (epic, story_number) = (number / 10 + 1, number % 10 + 1);
        if story_number == 1 {
            entries.push((format!("epic-{epic}"), "in-progress"));
        }
        let (in_ledger, in_story) = if number < agreeing { WORDS[number % 2] } else { WORDS[2 + number % 3] };
        let name = format!("{epic}-{story_number}-part-{number}");
        sandbox.write(&path(&name), story(&name, None, Some(in_story)));
        entries.push((name, in_ledger));
        if story_number == 10 || number + 1 == count {
            entries.push((format!("epic-{epic}-retrospective"), "optional"));
        }
    }
    let entries: Vec<(&str, &str)> = entries.iter().map(|(key, word)| (key.as_str(), *word)).collect();
    sandbox.write(LEDGER, ledger(&entries));
    sandbox
}
