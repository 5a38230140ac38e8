//! Words for how far an artifact has come.

use std::fmt::Display;

use stepmark_model::summary::NextSteps;

pub fn next(next: &NextSteps<'_>) -> String {
    match next {
        NextSteps::Step(..) | NextSteps::Choice(_) => {
            next.steps().iter().map(|step| step.name).collect::<Vec<_>>().join(" | ")
        }
        NextSteps::Finished => "finished".to_owned(),
        NextSteps::Unknown(unknown) => format!("? {unknown}"),
    }
}

/// That `count` stories wait to be imported; nothing where none does.
pub fn waiting_stories(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some(
            "1 story has no status in its frontmatter and waits for `stepmark import stories`".to_owned(),
        ),
        _ => Some(format!(
            "{count} stories have no status in their frontmatter and wait for `stepmark import stories`"
        )),
    }
}

pub fn count<N: Display + PartialEq + From<u8>>(count: N, word: &str) -> String {
    if count == N::from(1) { format!("1 {word}") } else { format!("{count} {word}s") }
}
