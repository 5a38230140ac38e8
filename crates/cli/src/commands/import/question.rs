//! Asking a person which side wins.

use std::io::{self, BufRead, IsTerminal};

use stepmark_core::project::story_ledger::{StorySide, StorySides};

use crate::output::Output;

/// What a person answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Side(StorySide),
    Each,
    Leave,
    Quit,
}

impl Answer {
    /// `None` for what is no answer.
    fn read(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let side = text.parse().ok().map(Self::Side);
        side.or(match text.as_str() {
            "f" => Some(Self::Side(StorySide::Frontmatter)),
            "l" => Some(Self::Side(StorySide::StatusLine)),
            "s" => Some(Self::Side(StorySide::SprintStatus)),
            "e" | "each" => Some(Self::Each),
            "k" | "keep" => Some(Self::Leave),
            "q" | "quit" => Some(Self::Quit),
            _ => None,
        })
    }
}

/// Whether anybody is there to answer.
pub(super) fn is_possible(output: &Output) -> bool {
    !output.json && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Asks for the winner of each of `disputed`, for all of them at once or one by one. `None` in a place: that story is left as it
/// is; without an answer at all: nothing is to be done.
pub(super) fn winners(
    disputed: &[&StorySides],
    output: &Output,
    answers: &mut dyn BufRead,
) -> io::Result<Option<Vec<Option<StorySide>>>> {
    let stories = if disputed.len() == 1 {
        "1 story disagrees".to_owned()
    } else {
        format!("{} stories disagree", disputed.len())
    };
    let question = format!(
        "{stories}. Which side wins? [f]rontmatter, status [l]ine, [s]print-status, [e]ach by itself, [q]uit"
    );
    match ask(&question, output, answers)? {
        Answer::Side(side) => Ok(Some(vec![Some(side); disputed.len()])),
        Answer::Leave | Answer::Quit => Ok(None),
        Answer::Each => {
            let mut winners = Vec::new();
            for sides in disputed {
                let said = StorySide::ALL
                    .into_iter()
                    .filter_map(|side| Some(format!("{side} `{}`", sides.word(side)?)));
                let said = said.collect::<Vec<_>>().join(", ");
                let question = format!("{}: {said}? [f], [l], [s], [k]eep as it is, [q]uit", sides.path);
                match ask(&question, output, answers)? {
                    Answer::Side(side) => winners.push(Some(side)),
                    Answer::Leave | Answer::Each => winners.push(None),
                    Answer::Quit => return Ok(None),
                }
            }
            Ok(Some(winners))
        }
    }
}

/// The first answer that is one; the end of input is a wish to quit.
fn ask(question: &str, output: &Output, answers: &mut dyn BufRead) -> io::Result<Answer> {
    loop {
        output.line(question);
        let mut text = String::new();
        if answers.read_line(&mut text)? == 0 {
            return Ok(Answer::Quit);
        }
        if let Some(answer) = Answer::read(&text) {
            return Ok(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_letters_or_words() {
        for (text, expected) in [
            ("f\n", Some(Answer::Side(StorySide::Frontmatter))),
            (" L ", Some(Answer::Side(StorySide::StatusLine))),
            ("sprint-status", Some(Answer::Side(StorySide::SprintStatus))),
            ("e", Some(Answer::Each)),
            ("keep", Some(Answer::Leave)),
            ("Q", Some(Answer::Quit)),
            ("", None),
            ("yes", None),
        ] {
            assert_eq!(Answer::read(text), expected, "{text:?}");
        }
    }
}
