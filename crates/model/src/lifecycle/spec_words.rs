//! What a ledger says of a story whose file is a spec.
//!
//! The steps of `bmad-build` (BMAD 6.11 and later) keep two words for one story. They write `in-progress` into the ledger when they begin,
//! and `review` when the spec is `done`: what is `done` in the ledger, `bmad-code-review` says afterwards. While they plan
//! (`ready-for-dev`) and look over their own work (`in-review`) the ledger stays as it was, and a plan (`draft`) or a halt (`blocked`)
//! has no word there.

use super::built_in;

/// A status of a spec and what the ledger may say with it.
#[derive(Debug)]
pub(super) struct SpecWord {
    /// The state of `bmad-spec`.
    status: &'static str,
    /// What is written into a ledger that says something else.
    pub(super) listed: &'static str,
    /// What fits as well.
    pub(super) also: Option<&'static str>,
}

/// All that the ledger has a word for, the earliest first.
const SPEC_WORDS: [SpecWord; 4] = [
    SpecWord { status: "ready-for-dev", listed: "ready-for-dev", also: Some("backlog") },
    SpecWord { status: "in-progress", listed: "in-progress", also: None },
    SpecWord { status: "in-review", listed: "in-progress", also: Some("review") },
    SpecWord { status: "done", listed: "review", also: Some("done") },
];

impl SpecWord {
    /// That of a spec with this status; `None` where the ledger has no word for it.
    pub(super) fn of(status: &str) -> Option<&'static Self> {
        let state = &built_in("bmad-spec")?.state_of(status)?.name;
        SPEC_WORDS.iter().find(|word| word.status == state)
    }

    /// The earliest status of a spec that fits what the ledger says: `fits` compares with a word of the ledger.
    pub(super) fn first_that(fits: impl Fn(&str) -> bool) -> Option<&'static str> {
        let word = SPEC_WORDS.iter().find(|word| fits(word.listed) || word.also.is_some_and(&fits));
        word.map(|word| word.status)
    }
}
