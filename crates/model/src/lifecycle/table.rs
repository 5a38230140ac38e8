//! The table itself.

use std::collections::BTreeMap;

use super::{Counter, Guard, LifecycleState, spelling::folded};

/// A lifecycle: states, and the moves between them that are legal. It is well formed: names are unique, every move is between
/// its states, every state can be reached, and only a terminal one may be without an exit.
///
/// ```
/// use stepmark_model::lifecycle::built_in;
///
/// let spec = built_in("bmad-spec").ok_or("no such table")?;
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
    pub(super) counters: Vec<Counter>,
    /// The folded words for each state, with its place.
    pub(super) words: BTreeMap<String, usize>,
}

/// A move between two places in the list of states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlacedMove {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) guards: Vec<Guard>,
}

/// A legal move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move<'l> {
    /// The state that is left.
    pub from: &'l LifecycleState,
    /// The state that is entered.
    pub to: &'l LifecycleState,
    /// What the move wants.
    pub guards: &'l [Guard],
    /// Whether it leads back to where a state was entered from ([`LifecycleState::return_to`]).
    pub is_return: bool,
}

impl Lifecycle {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is, for people.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The states, in the order of the table.
    pub fn states(&self) -> &[LifecycleState] {
        &self.states
    }

    /// The numbers that it keeps in the frontmatter.
    pub fn counters(&self) -> &[Counter] {
        &self.counters
    }

    /// The state that a status word means; `None` for a word that is unknown here. No move leads out of an unknown status
    /// (DESIGN.md, invariant 9).
    pub fn state_of(&self, status: &str) -> Option<&LifecycleState> {
        self.words.get(&folded(status)).map(|place| &self.states[*place])
    }

    /// Whether a status word means that the work has ended.
    pub fn is_terminal(&self, status: &str) -> bool {
        self.state_of(status).is_some_and(|state| state.is_terminal)
    }

    /// All legal moves: those that the table names, and those that lead back.
    pub fn moves(&self) -> impl Iterator<Item = Move<'_>> {
        self.states.iter().flat_map(|state| self.moves_from(state, None))
    }

    /// The legal moves out of `from`, in the order of the states. `remembered` is the status word under
    /// [`LifecycleState::return_to`] of `from`, if it has such a key. Where nothing that can be used is remembered, it may be
    /// left for every state that leads to it.
    pub fn moves_from(&self, from: &LifecycleState, remembered: Option<&str>) -> Vec<Move<'_>> {
        let Some(left) = self.place(from) else { return Vec::new() };
        let from = &self.states[left];
        let named = self.moves.iter().filter(|legal| legal.from == left);
        let mut moves: Vec<(usize, Move<'_>)> = named
            .map(|PlacedMove { to, guards, .. }| {
                (*to, Move { from, to: &self.states[*to], guards, is_return: false })
            })
            .collect();
        if from.return_to.is_some() {
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

    /// The place of a state of this table.
    fn place(&self, state: &LifecycleState) -> Option<usize> {
        self.words.get(&folded(&state.name)).copied()
    }
}
