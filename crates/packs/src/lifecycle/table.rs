//! Tables of states and moves.

use std::collections::BTreeMap;

use super::{
    Attributes, CounterLimit, Guard, Lasting, LifecycleProblem, OnceDeclaration, ReadDeclaration, RootKeys,
    moves::NamedMove,
};
use crate::spelling::folded;

/// Well formed: names are unique, moves connect known states, all states are reachable, and only terminal
/// ones lack an exit.
///
/// ```
/// let bmad = stepmark_packs::built_in().next().ok_or("no pack")?;
/// let spec = bmad.kinds[0].kind.lifecycle.as_ref().ok_or("no such table")?;
/// assert_eq!(spec.state_of("Completed").map(|state| state.name.as_str()), Some("done"));
/// assert!(spec.state_of("needs_work").is_none());
/// let refused = spec.legal_move(Some("draft"), "done", None).unwrap_err();
/// assert!(refused.to_string().contains("from `draft` it goes to `ready-for-dev`"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lifecycle {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) states: Vec<LifecycleState>,
    pub(super) moves: Vec<PlacedMove>,
    pub(crate) named: Vec<NamedMove>,
    pub(super) counters: Vec<Counter>,
    pub(super) subject: Vec<String>,
    /// Gets the date of each move, if the key exists.
    pub(super) dated: Option<String>,
    pub(super) attributes: Attributes,
    pub(super) words: BTreeMap<String, usize>,
}

/// From and to are indices of states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlacedMove {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) guards: Vec<Guard>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move<'l> {
    pub from: &'l LifecycleState,
    pub to: &'l LifecycleState,
    pub guards: &'l [Guard],
    /// Leads back to the state that was left ([`LifecycleState::return_to`]).
    pub is_return: bool,
}

impl Lifecycle {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn dated(&self) -> Option<&str> {
        self.dated.as_deref()
    }

    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    pub fn states(&self) -> &[LifecycleState] {
        &self.states
    }

    pub fn counters(&self) -> &[Counter] {
        &self.counters
    }

    /// `None` for an unknown word, from which no move leads (docs/design.md, "Unknown words").
    pub fn state_of(&self, status: &str) -> Option<&LifecycleState> {
        // Most words are spelled as in the table.
        let exact = self.states.iter().find(|state| state.name == status);
        exact.or_else(|| self.words.get(&folded(status)).map(|place| &self.states[*place]))
    }

    /// Keys that identify the owner of the status; empty if that is the artifact. If one of them changes too,
    /// the status belongs to a new owner and must be initial.
    pub fn subject(&self) -> &[String] {
        &self.subject
    }

    pub const fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    pub fn judges_changes(&self) -> bool {
        !self.attributes.is_empty() || self.states.iter().any(|state| state.is_frozen)
    }

    pub fn remembered<'k>(&self, from: &LifecycleState, keys: &'k RootKeys) -> Option<&'k str> {
        let words = from.return_to.iter().filter_map(|key| keys.text(key));
        words.into_iter().find(|word| self.state_of(word).is_some())
    }

    pub fn is_of_another_subject(&self, before: &RootKeys, after: &RootKeys) -> bool {
        self.subject.iter().any(|key| before.text(key) != after.text(key))
    }

    pub fn is_terminal(&self, status: &str) -> bool {
        self.subject.is_empty() && self.state_of(status).is_some_and(|state| state.is_terminal)
    }

    pub fn moves(&self) -> impl Iterator<Item = Move<'_>> {
        self.states.iter().flat_map(|state| self.moves_from(state, None))
    }

    /// In the order of states. `remembered` is the value of [`LifecycleState::return_to`] of `from`. Without
    /// a usable value, every state that leads to `from` may be returned to.
    pub fn moves_from(&self, from: &LifecycleState, remembered: Option<&str>) -> Vec<Move<'_>> {
        let Some(left) = self.place(from) else { return Vec::new() };
        let from = &self.states[left];
        let named = self.moves.iter().filter(|legal| legal.from == left);
        let mut moves: Vec<(usize, Move<'_>)> = named
            .map(|PlacedMove { to, guards, .. }| {
                (*to, Move { from, to: &self.states[*to], guards, is_return: false })
            })
            .collect();
        if !from.return_to.is_empty() {
            let sources: Vec<usize> =
                self.moves.iter().filter(|legal| legal.to == left).map(|legal| legal.from).collect();
            let back = remembered.and_then(|word| self.words.get(&folded(word)).copied());
            let back: Vec<usize> = match back.filter(|back| sources.contains(back)) {
                Some(back) => vec![back],
                None => sources,
            };
            let is_new = |place: &usize| !moves.iter().any(|(to, _)| to == place);
            let back: Vec<usize> = back.into_iter().filter(is_new).collect();
            moves.extend(
                back.into_iter()
                    .map(|to| (to, Move { from, to: &self.states[to], guards: &[], is_return: true })),
            );
        }
        moves.sort_by_key(|(to, _)| *to);
        moves.into_iter().map(|(_, legal)| legal).collect()
    }

    fn place(&self, state: &LifecycleState) -> Option<usize> {
        self.words.get(&folded(&state.name)).copied()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct LifecycleState {
    pub name: String,
    pub synonyms: Vec<String>,
    pub meaning: Option<String>,
    /// Higher is further; `None` for states off the path, such as blocked.
    pub rank: Option<u32>,
    /// True if work begins in it.
    #[serde(rename = "initial")]
    pub is_initial: bool,
    /// True if the work has ended in it. Its exits are those that the table names; `*` means it not.
    #[serde(rename = "terminal")]
    pub is_terminal: bool,
    /// True if only a move out of it changes the frontmatter.
    #[serde(rename = "frozen")]
    pub is_frozen: bool,
    /// Keys of the state to return to: the last is written, the first with a known state is read.
    pub return_to: Vec<String>,
    /// The numbers that are written beside the status when it is entered: those that other programs read.
    #[serde(skip)]
    pub sets: BTreeMap<String, u64>,
    /// The keys that are there while it lasts.
    #[serde(skip)]
    pub while_in: BTreeMap<String, Lasting>,
    /// The keys of which entering it writes the first whose condition holds, where it is not there yet.
    #[serde(skip)]
    pub once: Vec<OnceDeclaration>,
    /// The files of skills that say how the work goes on in it.
    #[serde(skip)]
    pub read: Vec<ReadDeclaration>,
    /// The command that leads on, where the state names one.
    #[serde(skip)]
    pub next: Option<String>,
    /// True if the work waits for a person in it.
    #[serde(skip)]
    pub waits_for_person: bool,
}

impl LifecycleState {
    /// False for failed and cancelled work.
    pub const fn is_reached_end(&self) -> bool {
        self.is_terminal && self.rank.is_some()
    }
}

/// A number in the frontmatter that says how often a state was entered: attempts, retries.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Counter {
    /// A missing number is 0.
    pub key: String,
    pub entering: Vec<String>,
    /// The states from which they are entered; without any all.
    #[serde(skip)]
    pub leaving: Vec<String>,
    pub at_most: Option<CounterLimit>,
    pub reset_by: Vec<String>,
    #[serde(skip)]
    pub reset_leaving: Vec<String>,
}

/// The error has the index of the state.
pub(super) fn check_reachable(lifecycle: &Lifecycle) -> Result<(), (usize, LifecycleProblem)> {
    let reached = reached(lifecycle);
    for (place, state) in lifecycle.states.iter().enumerate() {
        let name = || state.name.clone();
        if !reached.contains(&state) {
            return Err((place, LifecycleProblem::Unreachable { state: name() }));
        }
        if !state.is_terminal && lifecycle.moves_from(state, None).is_empty() {
            return Err((place, LifecycleProblem::DeadEnd { state: name() }));
        }
    }
    Ok(())
}

fn reached(lifecycle: &Lifecycle) -> Vec<&LifecycleState> {
    let mut reached: Vec<&LifecycleState> = Vec::new();
    let mut waiting: Vec<&LifecycleState> =
        lifecycle.states.iter().filter(|state| state.is_initial).collect();
    while let Some(state) = waiting.pop() {
        if reached.contains(&state) {
            continue;
        }
        reached.push(state);
        // Returns lead only to states that were reached before.
        let ahead = lifecycle.moves_from(state, None).into_iter().filter(|legal| !legal.is_return);
        waiting.extend(ahead.map(|legal| legal.to));
    }
    reached
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyUpdate {
    /// Stores the state that was left.
    Remember {
        key: String,
        state: String,
    },
    Forget {
        key: String,
    },
    Count {
        key: String,
        value: u64,
    },
}

impl Lifecycle {
    /// A counter that is not a number is not changed.
    pub fn key_updates(
        &self,
        from: Option<&LifecycleState>,
        to: &LifecycleState,
        keys: &RootKeys,
    ) -> Vec<KeyUpdate> {
        if from.is_some_and(|from| from.name == to.name) {
            return Vec::new();
        }
        let mut changes = Vec::new();
        let left = from.map(|from| from.return_to.as_slice()).unwrap_or_default();
        for key in left.iter().filter(|key| keys.has(key) && !to.return_to.contains(key)) {
            changes.push(KeyUpdate::Forget { key: key.clone() });
        }
        if let (Some(key), Some(from)) = (to.return_to.last(), from) {
            changes.push(KeyUpdate::Remember { key: key.clone(), state: from.name.clone() });
        }
        changes
            .extend(to.sets.iter().map(|(key, value)| KeyUpdate::Count { key: key.clone(), value: *value }));
        changes.extend(self.counters.iter().filter_map(|counter| counter.after(from, to, keys)));
        changes
    }
}

impl Counter {
    pub fn count<'k>(&self, keys: &'k RootKeys) -> Result<u64, &'k str> {
        match keys.text(&self.key) {
            None => Ok(0),
            Some(text) => text.trim().parse().map_err(|_| text),
        }
    }

    pub(super) fn counts(&self, from: Option<&LifecycleState>, to: &LifecycleState) -> bool {
        let is_left = from.is_some_and(|from| self.leaving.contains(&from.name));
        self.entering.contains(&to.name) && (self.leaving.is_empty() || is_left)
    }

    fn after(
        &self,
        from: Option<&LifecycleState>,
        to: &LifecycleState,
        keys: &RootKeys,
    ) -> Option<KeyUpdate> {
        let count = self.count(keys).ok()?;
        let is_reset_by_leaving = from.is_some_and(|from| self.reset_leaving.contains(&from.name));
        let value = if self.counts(from, to) {
            count.saturating_add(1)
        } else if (self.reset_by.contains(&to.name) || is_reset_by_leaving) && count > 0 {
            0
        } else {
            return None;
        };
        Some(KeyUpdate::Count { key: self.key.clone(), value })
    }
}
