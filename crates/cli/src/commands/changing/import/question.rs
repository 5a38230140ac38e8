//! Asking a person which side wins.

use std::io::{self, BufRead, IsTerminal};

use stepmark_model::bmad::sprint::{StorySide, StorySides};

use stepmark_view::wording::visible;

use super::stories::Side;
use crate::output::Output;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Side(Side),
    Each,
    Leave,
    Quit,
}

impl Answer {
    /// `None` for what is no answer, also for a side that is none of `offered`.
    fn read(text: &str, offered: &[Side]) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let is_named = |side: &&Side| side.name() == text || letter(**side).to_string() == text;
        let side = offered.iter().find(is_named).copied().map(Self::Side);
        side.or(match text.as_str() {
            "e" | "each" => Some(Self::Each),
            "k" | "keep" => Some(Self::Leave),
            "q" | "quit" => Some(Self::Quit),
            _ => None,
        })
    }
}

const fn letter(side: Side) -> char {
    match side {
        Side::Frontmatter => 'f',
        Side::StatusLine => 'l',
        Side::SprintStatus => 's',
        Side::Furthest => 'u',
    }
}

pub(super) fn is_possible(output: &Output) -> bool {
    !output.json && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Asks for the winner of each of `disputed`, for all of them at once or one by one; of an answer for all,
/// those are asked one by one of which that side says nothing. `None` in a place: that story is left as it
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
    let mut offered = speaking(disputed);
    offered.extend(disputed.iter().any(|sides| sides.furthest().is_some()).then_some(Side::Furthest));
    let names: Vec<&str> = offered.iter().map(|side| choice(*side)).collect();
    let question = format!("{stories}. Which side wins? {}, [e]ach by itself, [q]uit", names.join(", "));
    let preferred = match ask(&question, &offered, output, answers)? {
        Answer::Side(side) => Some(side),
        Answer::Each => None,
        Answer::Leave | Answer::Quit => return Ok(None),
    };
    let mut winners = Vec::new();
    for sides in disputed {
        if let Some(winner) = preferred.and_then(|side| side.winner(sides)) {
            winners.push(Some(winner));
            continue;
        }
        let offered = speaking(&[sides]);
        let said = offered.iter().filter_map(|side| {
            let word = side.winner(sides).and_then(|side| sides.word(side))?;
            Some(format!("{} `{word}`", side.name()))
        });
        let letters: String = offered.iter().map(|side| format!("[{}], ", letter(*side))).collect();
        let said = said.collect::<Vec<_>>().join(", ");
        let question = format!("{}: {said}? {letters}[k]eep as it is, [q]uit", sides.path);
        match ask(&question, &offered, output, answers)? {
            Answer::Side(side) => winners.push(side.winner(sides)),
            Answer::Leave | Answer::Each => winners.push(None),
            Answer::Quit => return Ok(None),
        }
    }
    Ok(Some(winners))
}

fn speaking(stories: &[&StorySides]) -> Vec<Side> {
    let speaks = |side: StorySide| stories.iter().any(|sides| sides.word(side).is_some());
    Side::EACH.into_iter().filter(|(_, side)| speaks(*side)).map(|(side, _)| side).collect()
}

const fn choice(side: Side) -> &'static str {
    match side {
        Side::Frontmatter => "[f]rontmatter",
        Side::StatusLine => "status [l]ine",
        Side::SprintStatus => "[s]print-status",
        Side::Furthest => "f[u]rthest along",
    }
}

/// The first answer that is one; the end of input is a wish to quit.
fn ask(question: &str, offered: &[Side], output: &Output, answers: &mut dyn BufRead) -> io::Result<Answer> {
    loop {
        output.styled_line(visible(question));
        let mut text = String::new();
        if answers.read_line(&mut text)? == 0 {
            return Ok(Answer::Quit);
        }
        if let Some(answer) = Answer::read(&text, offered) {
            return Ok(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_letters_or_words() {
        use Side::{Frontmatter, Furthest, SprintStatus, StatusLine};
        let offered = [Frontmatter, StatusLine, SprintStatus, Furthest];
        for (text, expected) in [
            ("f\n", Some(Answer::Side(Frontmatter))),
            (" L ", Some(Answer::Side(StatusLine))),
            ("sprint-status", Some(Answer::Side(SprintStatus))),
            ("u", Some(Answer::Side(Furthest))),
            ("e", Some(Answer::Each)),
            ("keep", Some(Answer::Leave)),
            ("Q", Some(Answer::Quit)),
            ("", None),
            ("yes", None),
        ] {
            assert_eq!(Answer::read(text, &offered), expected, "{text:?}");
        }
        for text in ["f", "frontmatter"] {
            assert_eq!(Answer::read(text, &[StatusLine, SprintStatus]), None, "that side says nothing");
        }
    }
}
