//! Legality of changes, whatever they do to the status.

use serde_json::Value as Json;

use super::{Lifecycle, Roles, RootKeys, guard::value_at};
use crate::spelling::listed;

impl Lifecycle {
    /// The refusals of the change of the state `before` into `after` (`None`: there is no file); first
    /// what nobody may insist on. `writer` is who makes the change, where that matters, and who has which
    /// role. Moves of the status are judged by [`Lifecycle::judge_move`].
    pub fn judge_change(
        &self,
        [before, after]: [Option<&Json>; 2],
        writer: Option<(&str, &Roles)>,
    ) -> Vec<ChangeRefusal> {
        if !self.judges_changes() {
            return Vec::new();
        }
        if before == after {
            return Vec::new();
        }
        let mut refused = Vec::new();
        if let (Some(old), Some(new)) = (before, after) {
            let lists = self.attributes.append_only.iter();
            refused.extend(lists.filter_map(|key| self.not_appended(key, old, new)));
        }
        refused.extend(before.and_then(|before| self.frozen(before, after)));
        if let (Some(old), Some(new), Some((actor, _))) = (before, after, writer)
            && actor.starts_with("agent:")
        {
            let differs = |key: &&String| value_at(old, key) != value_at(new, key);
            let keys: Vec<String> = self.attributes.by_moves.iter().filter(differs).cloned().collect();
            let (lifecycle, actor) = (self.name.clone(), actor.to_owned());
            refused.extend((!keys.is_empty()).then_some(ChangeRefusal::OnlyByMoves {
                lifecycle,
                actor,
                keys,
            }));
        }
        refused.extend(writer.and_then(|(actor, roles)| self.judge_writer(actor, roles)));
        if let Some(new) = after {
            let closed = self.attributes.closed.iter();
            let old = before.unwrap_or(&Json::Null);
            refused.extend(closed.filter_map(|(key, known)| self.not_closed((key, known), old, new)));
        }
        refused
    }

    /// The refusal of a change by `actor`, where only a role may make it that `actor` does not have.
    pub fn judge_writer(&self, actor: &str, roles: &Roles) -> Option<ChangeRefusal> {
        refused_to(&self.name, self.attributes.writers.as_deref()?, (actor, roles))
    }

    fn not_appended(&self, key: &str, old: &Json, new: &Json) -> Option<ChangeRefusal> {
        let entries = |state| value_at(state, key).and_then(Json::as_array).map(Vec::as_slice);
        let old = entries(old).filter(|old| !old.is_empty())?;
        let new = entries(new).unwrap_or_default();
        let kept = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let (lifecycle, key, before) = (self.name.clone(), key.to_owned(), old.len());
        (kept < before).then_some(ChangeRefusal::NotAppended { lifecycle, key, kept, before })
    }

    /// Out of a frozen state only a move leads.
    fn frozen(&self, before: &Json, after: Option<&Json>) -> Option<ChangeRefusal> {
        let status =
            |state: &Json| state["status"].as_str().filter(|word| !word.is_empty()).map(str::to_owned);
        let state = self.state_of(&status(before)?).filter(|state| state.is_frozen)?;
        let keys = RootKeys::from(before);
        let remembered = self.remembered(state, &keys);
        let target = after.and_then(status);
        let moves = |to: &str| self.legal_move(Some(&state.name), to, remembered);
        if target.is_some_and(|to| moves(&to).is_ok_and(|verdict| verdict.is_move())) {
            return None;
        }
        let legal = self.moves_from(state, remembered).iter().map(|legal| legal.to.name.clone()).collect();
        let (lifecycle, state) = (self.name.clone(), state.name.clone());
        Some(ChangeRefusal::Frozen { lifecycle, state, legal })
    }

    fn not_closed(&self, (key, known): (&str, &[String]), old: &Json, new: &Json) -> Option<ChangeRefusal> {
        let unknown = |state| -> Vec<String> {
            let names = value_at(state, key).map(names_in).unwrap_or_default();
            names.into_iter().filter(|name| !known.contains(name)).collect()
        };
        let were = unknown(old);
        let names: Vec<String> = unknown(new).into_iter().filter(|name| !were.contains(name)).collect();
        let (lifecycle, key, known) = (self.name.clone(), key.to_owned(), known.to_vec());
        (!names.is_empty()).then_some(ChangeRefusal::NotClosed { lifecycle, key, names, known })
    }
}

/// The refusal of a change that only `role` may make, where `actor` does not have it.
pub(crate) fn refused_to(name: &str, role: &str, (actor, roles): (&str, &Roles)) -> Option<ChangeRefusal> {
    let (lifecycle, actor) = (name.to_owned(), actor.to_owned());
    let actors = roles.of(role);
    (!roles.has(role, &actor)).then(|| ChangeRefusal::NotWriter {
        lifecycle,
        role: role.to_owned(),
        actor,
        actors,
    })
}

/// The names in a mapping, or in all mappings of a list; each once.
fn names_in(value: &Json) -> Vec<String> {
    let mut names: Vec<String> = match value {
        Json::Object(entries) => entries.keys().cloned().collect(),
        Json::Array(items) => {
            items.iter().filter_map(Json::as_object).flat_map(|item| item.keys().cloned()).collect()
        }
        _ => Vec::new(),
    };
    names.sort_unstable();
    names.dedup();
    names
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeRefusal {
    #[error("`{key}` only grows by the lifecycle `{lifecycle}`: {}", lost(*.kept, *.before))]
    NotAppended { lifecycle: String, key: String, kept: usize, before: usize },
    #[error(
        "it is `{state}`, which the lifecycle `{lifecycle}` leaves as it is: {}",
        if legal.is_empty() { "nothing leads out of it".to_owned() } else { format!("only a move to {} changes it", listed(legal)) }
    )]
    Frozen { lifecycle: String, state: String, legal: Vec<String> },
    #[error(
        "only the role `{role}` changes it by the lifecycle `{lifecycle}`, and `{actor}` does not have it{}",
        who(actors)
    )]
    NotWriter { lifecycle: String, role: String, actor: String, actors: Vec<String> },
    #[error(
        "{} change{} by moves alone by the lifecycle `{lifecycle}`, and `{actor}` is no person",
        listed(keys),
        if keys.len() == 1 { "s" } else { "" }
    )]
    OnlyByMoves { lifecycle: String, actor: String, keys: Vec<String> },
    #[error("under `{key}` the lifecycle `{lifecycle}` has no {}: it has {}", listed(names), listed(known))]
    NotClosed { lifecycle: String, key: String, names: Vec<String>, known: Vec<String> },
}

impl ChangeRefusal {
    pub const fn may_be_forced(&self) -> bool {
        !matches!(self, Self::NotAppended { .. })
    }
}

fn lost(kept: usize, before: usize) -> String {
    format!("of its {before} entries the {} was changed or taken away", ordinal(kept + 1))
}

fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

fn who(actors: &[String]) -> String {
    match actors {
        [] => "; it is declared nowhere".to_owned(),
        actors => format!("; it is that of {}", listed(actors)),
    }
}

impl Lifecycle {
    /// The reason why `artifact` has no approval for the state that its status means: `approval: {to, by,
    /// decided_at}` names the state, and a person who has the role of those who approve.
    pub fn unapproved(&self, state: &Json, roles: &Roles) -> Option<String> {
        let said = |key: &str| state["approval"][key].as_str().filter(|text| !text.trim().is_empty());
        let (Some(to), Some(by), Some(_)) = (said("to"), said("by"), said("decided_at")) else {
            return Some("`approval` does not say `to`, `by` and `decided_at`".to_owned());
        };
        let status = state["status"].as_str().and_then(|word| self.state_of(word));
        if self.state_of(to).is_none() || self.state_of(to) != status {
            return Some(format!("`approval` is for `{to}`"));
        }
        if !by.starts_with("human:") {
            return Some(format!("`approval` is by `{by}`, and only a person approves: `human:NAME`"));
        }
        let role = self.attributes.approvers.as_ref().filter(|role| !roles.has(role, by))?;
        Some(format!("`{by}`, who approved it, does not have the role `{role}`"))
    }
}
