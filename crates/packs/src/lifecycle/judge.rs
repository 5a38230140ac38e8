//! Legality of moves.

use super::{Counter, Guard, Lifecycle, LifecycleState, Move, RootKeys};
use crate::spelling::{listed, near_words};

/// Facts beside the table. All of them are in files.
#[derive(Clone, Copy)]
pub struct MoveFacts<'f> {
    /// Before the move: counters, remembered states.
    pub before: &'f RootKeys,
    /// After the move: filled keys.
    pub after: &'f RootKeys,
    /// Empty for an unknown workflow.
    pub open_steps: &'f [String],
    /// Empty if the caller checks [`MoveDecision::wants`] instead.
    pub open_children: &'f [String],
    /// Asked about guards beyond root keys (nested values, actor, other files); returns the reason of a
    /// refusal.
    pub elsewhere: &'f dyn Fn(&Guard) -> Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MoveDecision<'l> {
    pub from: Option<&'l LifecycleState>,
    pub to: &'l LifecycleState,
    pub guards: Vec<&'l Guard>,
}

impl MoveDecision<'_> {
    /// False between synonyms of one state.
    pub fn is_move(&self) -> bool {
        self.from.is_none_or(|from| from.name != self.to.name)
    }

    pub fn wants(&self, guard: &Guard) -> bool {
        self.guards.contains(&guard)
    }
}

impl Lifecycle {
    /// Without a status every state may be entered: the work may be older than its status. `remembered` is
    /// the value of [`LifecycleState::return_to`] of `from`.
    pub fn legal_move(
        &self,
        from: Option<&str>,
        to: &str,
        remembered: Option<&str>,
    ) -> Result<MoveDecision<'_>, MoveRefusal> {
        let left = from.map(|status| self.state_of(status).ok_or(status)).transpose();
        let target = self.state_of(to);
        let left = left.map_err(|status| MoveRefusal::UnknownSource {
            lifecycle: self.name.clone(),
            from: status.to_owned(),
            states: self.state_names(),
        })?;
        let moves = left.map(|state| self.moves_from(state, remembered));
        let legal = || match &moves {
            Some(moves) => names(moves),
            None => self.state_names(),
        };
        let target = target.ok_or_else(|| self.unknown_target(to, legal()))?;
        let guards = match (left, &moves) {
            (Some(left), _) if left.name == target.name => Vec::new(),
            (Some(left), Some(moves)) => {
                let found = moves.iter().find(|legal| legal.to.name == target.name);
                let found = found.ok_or_else(|| MoveRefusal::Illegal {
                    lifecycle: self.name.clone(),
                    from: left.name.clone(),
                    to: target.name.clone(),
                    legal: legal(),
                })?;
                found.guards.iter().collect()
            }
            _ => self.guards_of_entering(target),
        };
        Ok(MoveDecision { from: left, to: target, guards })
    }

    /// Follows several moves, as between two commits.
    pub fn is_reachable(&self, from: &str, to: &str) -> bool {
        let (Some(from), Some(to)) = (self.state_of(from), self.state_of(to)) else { return false };
        let (mut reached, mut at) = (vec![from], 0);
        while let Some(state) = reached.get(at).copied() {
            for legal in self.moves_from(state, None) {
                if !reached.iter().any(|known| known.name == legal.to.name) {
                    reached.push(legal.to);
                }
            }
            at += 1;
        }
        reached.iter().any(|state| state.name == to.name)
    }

    pub fn judge_move(
        &self,
        from: Option<&str>,
        to: &str,
        facts: &MoveFacts<'_>,
    ) -> Result<MoveDecision<'_>, MoveRefusal> {
        if self.is_of_another_subject(facts.before, facts.after) {
            return self.begin_anew(to);
        }
        let left = from.and_then(|status| self.state_of(status));
        let remembered = left.and_then(|left| self.remembered(left, facts.before));
        let verdict = self.legal_move(from, to, remembered)?;
        if !verdict.is_move() {
            return Ok(verdict);
        }
        let legal = || match verdict.from {
            Some(from) => names(&self.moves_from(from, remembered)),
            None => self.state_names(),
        };
        let mut missing = verdict.guards.iter().filter_map(|guard| Some((*guard, unmet(guard, facts)?)));
        if let Some((guard, mut unmet)) = missing.next() {
            for (other, reason) in missing {
                unmet.push_str(&format!("; and with `{other}`: {reason}"));
            }
            return Err(MoveRefusal::Guarded {
                lifecycle: self.name.clone(),
                to: verdict.to.name.clone(),
                guard: guard.clone(),
                unmet,
                legal: legal(),
            });
        }
        self.counters
            .iter()
            .filter(|counter| counter.counts(verdict.from, verdict.to))
            .try_for_each(|counter| self.admit(counter, verdict.to, facts.before, legal))?;
        Ok(verdict)
    }

    /// The subject changed, so its status must be an initial one.
    fn begin_anew(&self, to: &str) -> Result<MoveDecision<'_>, MoveRefusal> {
        let initial =
            || self.states.iter().filter(|state| state.is_initial).map(|state| state.name.clone()).collect();
        let target = self.state_of(to).ok_or_else(|| self.unknown_target(to, initial()))?;
        if target.is_initial {
            return Ok(MoveDecision { from: None, to: target, guards: Vec::new() });
        }
        let (lifecycle, to, subject) = (self.name.clone(), target.name.clone(), self.subject.clone());
        Err(MoveRefusal::NotBegun { lifecycle, to, subject, legal: initial() })
    }

    fn admit(
        &self,
        counter: &Counter,
        to: &LifecycleState,
        keys: &RootKeys,
        legal: impl Fn() -> Vec<String>,
    ) -> Result<(), MoveRefusal> {
        let (lifecycle, to, key) = (self.name.clone(), to.name.clone(), counter.key.clone());
        let no_number = |key: &str, text: &str| MoveRefusal::NoNumber {
            lifecycle: lifecycle.clone(),
            to: to.clone(),
            key: key.to_owned(),
            text: text.to_owned(),
            legal: legal(),
        };
        let count = counter.count(keys).map_err(|text| no_number(&key, text))?;
        let limit = counter.at_most.as_ref().map(|limit| limit.value(keys)).transpose();
        match limit.map_err(|(key, text)| no_number(key, text))?.flatten() {
            Some(at_most) if count >= at_most => {
                Err(MoveRefusal::Exhausted { lifecycle, to, key, count, at_most, legal: legal() })
            }
            _ => Ok(()),
        }
    }

    pub fn unknown_target(&self, to: &str, legal: Vec<String>) -> MoveRefusal {
        let words = self.states.iter().flat_map(|state| state.synonyms.iter().chain([&state.name]));
        MoveRefusal::UnknownTarget {
            lifecycle: self.name.clone(),
            to: to.to_owned(),
            near: near_words(to, words.map(String::as_str)),
            states: self.state_names(),
            legal,
        }
    }

    /// Guards of every move into `state`; they apply without a previous status, too.
    fn guards_of_entering(&self, state: &LifecycleState) -> Vec<&Guard> {
        let moves: Vec<Move<'_>> = self.moves().filter(|legal| legal.to.name == state.name).collect();
        let Some((first, others)) = moves.split_first() else { return Vec::new() };
        let is_shared = |guard: &&Guard| others.iter().all(|other| other.guards.contains(guard));
        first.guards.iter().filter(is_shared).collect()
    }

    pub(super) fn state_names(&self) -> Vec<String> {
        self.states.iter().map(|state| state.name.clone()).collect()
    }
}

fn names(moves: &[Move<'_>]) -> Vec<String> {
    moves.iter().map(|legal| legal.to.name.clone()).collect()
}

fn unmet(guard: &Guard, facts: &MoveFacts<'_>) -> Option<String> {
    let open = |open: &[String]| (!open.is_empty()).then(|| format!("open: {}", listed(open)));
    match guard {
        Guard::StepsFinished => open(facts.open_steps),
        Guard::ChildrenFinished => open(facts.open_children),
        // Callers that know the actor check `MoveDecision::wants`.
        Guard::Human => None,
        Guard::Filled(key) => (!facts.after.is_filled(key)).then(|| format!("`{key}` says nothing")),
        _ => (facts.elsewhere)(guard),
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveRefusal {
    #[error(
        "`{to}` is no state of the lifecycle `{lifecycle}`{}: its states are {}",
        meant(near),
        listed(states)
    )]
    UnknownTarget {
        lifecycle: String,
        to: String,
        near: Vec<String>,
        states: Vec<String>,
        legal: Vec<String>,
    },
    #[error(
        "its status `{from}` is no state of the lifecycle `{lifecycle}`, so no move leads out of it: its states are {}",
        listed(states)
    )]
    UnknownSource { lifecycle: String, from: String, states: Vec<String> },
    #[error("the lifecycle `{lifecycle}` has no move from `{from}` to `{to}`: {}", ways(from, legal))]
    Illegal { lifecycle: String, from: String, to: String, legal: Vec<String> },
    #[error("the lifecycle `{lifecycle}` moves to `{to}` only with `{guard}`: {unmet}")]
    Guarded { lifecycle: String, to: String, guard: Guard, unmet: String, legal: Vec<String> },
    #[error(
        "the lifecycle `{lifecycle}` begins anew where {} changes: with {}, not `{to}`",
        listed(subject),
        listed(legal)
    )]
    NotBegun { lifecycle: String, to: String, subject: Vec<String>, legal: Vec<String> },
    #[error("`{key}` is {count}, and the lifecycle `{lifecycle}` enters `{to}` {at_most} times at most")]
    Exhausted { lifecycle: String, to: String, key: String, count: u64, at_most: u64, legal: Vec<String> },
    #[error("the lifecycle `{lifecycle}` has no move `{name}`: it has {}", listed(moves))]
    UnknownMove { lifecycle: String, name: String, moves: Vec<String> },
    #[error(
        "it is `{status}`, and `{made}` is for what is {}: {}",
        listed(wanted),
        named_ways(status, legal)
    )]
    NotFrom { made: String, status: String, wanted: Vec<String>, legal: Vec<String> },
    #[error("`{made}` cannot be made: {}", unmet.join("; "))]
    Unmet { made: String, unmet: Vec<String>, legal: Vec<String> },
    #[error("the packs `{}` and `{}` both claim it: change `applies_to` of one of them", packs[0], packs[1])]
    Claimed { packs: [String; 2] },
    #[error("`{made}` cannot be made so: {reason}")]
    Argument { made: String, reason: String },
    #[error("`{key}` counts how often `{to}` is entered, but `{text}` is no number")]
    NoNumber { lifecycle: String, to: String, key: String, text: String, legal: Vec<String> },
}

impl Guard {
    /// The refusal of the move `made` where the system does not know the guard: nobody may pass unasked.
    pub fn unknown_in(&self, made: &str) -> MoveRefusal {
        MoveRefusal::Argument { made: made.to_owned(), reason: format!("nobody answers its guard `{self}`") }
    }
}

impl MoveRefusal {
    pub fn legal(&self) -> &[String] {
        match self {
            Self::UnknownSource { .. }
            | Self::UnknownMove { .. }
            | Self::NotFrom { .. }
            | Self::Claimed { .. }
            | Self::Argument { .. } => &[],
            Self::UnknownTarget { legal, .. }
            | Self::Illegal { legal, .. }
            | Self::Guarded { legal, .. }
            | Self::Unmet { legal, .. }
            | Self::NotBegun { legal, .. }
            | Self::Exhausted { legal, .. }
            | Self::NoNumber { legal, .. } => legal,
        }
    }
}

fn meant(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (is {} meant?)", listed(near)) }
}

fn named_ways(status: &str, legal: &[String]) -> String {
    match legal {
        [] => format!("no move leads on from `{status}`"),
        legal => format!("from `{status}` there is {}", listed(legal)),
    }
}

fn ways(from: &str, legal: &[String]) -> String {
    if legal.is_empty() {
        format!("nothing leads out of `{from}`")
    } else {
        format!("from `{from}` it goes to {}", listed(legal))
    }
}
