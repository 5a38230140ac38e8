//! Fenced blocks of a page.

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fence<'p> {
    /// What stands after the opening fence.
    pub(crate) kind: &'p str,
    /// The number of its line, from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// The blocks of a page, in order. A block ends with as many backticks as it began with.
pub(crate) fn fences(page: &str) -> Vec<Fence<'_>> {
    let mut fences: Vec<Fence<'_>> = Vec::new();
    let mut open: Option<usize> = None;
    for (at, line) in page.lines().enumerate() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match open {
            None if ticks >= 3 => {
                fences.push(Fence { kind: line[ticks..].trim(), line: at + 1, text: String::new() });
                open = Some(ticks);
            }
            Some(length) if ticks >= length && line[ticks..].trim().is_empty() => open = None,
            Some(_) => fences.last_mut().unwrap().text += &format!("{line}\n"),
            None => {}
        }
    }
    assert_eq!(open, None, "the last fence is never closed");
    fences
}

#[test]
fn blocks_are_told_apart() {
    let page = "text\n```sh\nstepmark status\n```\n````markdown\n```yaml\na: 1\n```\n````\n";
    let found: Vec<_> =
        fences(page).into_iter().map(|fence| (fence.kind.to_owned(), fence.line, fence.text)).collect();
    assert_eq!(
        found,
        [
            ("sh".to_owned(), 2, "stepmark status\n".to_owned()),
            ("markdown".to_owned(), 5, "```yaml\na: 1\n```\n".to_owned())
        ]
    );
}
