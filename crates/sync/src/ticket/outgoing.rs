//! The texts of an artifact as they leave this machine.

use std::{borrow::Cow, collections::BTreeSet};

use super::{Ticket, TicketFacts};
use crate::secret::{withheld, without_secrets};

/// The parts of an artifact that its ticket leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Withheld {
    /// The rules that found secrets, as `github_token`.
    pub secrets: BTreeSet<String>,
    /// Characters that show nothing, or turn the text around them.
    pub characters: BTreeSet<char>,
}

impl Withheld {
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty() && self.characters.is_empty()
    }

    /// Only the secrets that `ticket` would have told.
    pub(super) fn in_ticket(mut self, ticket: &Ticket) -> Self {
        if !self.secrets.is_empty() {
            let told = ticket.canonical();
            self.secrets.retain(|rule| told.contains(&withheld(rule)));
        }
        self
    }

    pub(super) fn cleaned(&mut self, text: &str) -> String {
        let text = match without_secrets(text) {
            Some((kept, rules)) => {
                self.secrets.extend(rules);
                Cow::Owned(kept)
            }
            None => Cow::Borrowed(text),
        };
        let mut before = None;
        let shown = text.chars().filter(|letter| {
            let is_shown = !is_hidden(before, *letter);
            match is_shown {
                true => before = Some(*letter),
                false => drop(self.characters.insert(*letter)),
            }
            is_shown
        });
        shown.collect()
    }
}

impl TicketFacts {
    pub(super) fn told(&self) -> (Cow<'_, Self>, Withheld) {
        let mut withheld = Withheld::default();
        let mut told = self.clone();
        let steps = told.steps.iter_mut().flat_map(|step| &mut step.names);
        let words = [&mut told.workflow, &mut told.scope, &mut told.status].into_iter().flatten();
        let texts = [&mut told.title, &mut told.text].into_iter().chain(words);
        for text in texts.chain(steps).chain(&mut told.next).chain(&mut told.links) {
            *text = withheld.cleaned(text);
        }
        withheld.cleaned(self.path.as_str());
        if told.title.trim().is_empty() {
            told.title = self.path.file_stem().to_owned();
        }
        (if withheld.is_empty() { Cow::Borrowed(self) } else { Cow::Owned(told) }, withheld)
    }
}

/// Returns whether a character shows nothing, or turns the text around it. The joiners of scripts and of
/// pictures are none of these where they stand behind such, nor are the marks of direction.
fn is_hidden(before: Option<char>, letter: char) -> bool {
    match letter {
        '\n' | '\r' | '\t' => false,
        '\u{200C}' | '\u{200D}' => before.is_none_or(|before| before.is_ascii()),
        '\u{AD}' | '\u{180E}' | '\u{200B}' | '\u{FEFF}' => true,
        '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FFF9}'..='\u{FFFB}' => true,
        '\u{E0000}'..='\u{E007F}' => true,
        letter => letter.is_control(),
    }
}
