//! Legality of changes, whatever they do to the status.

use serde_json::Value as Json;

use super::ChangeRefusal;
use crate::artifact::{Artifact, Field};
use crate::lifecycle::{Lifecycle, Roles, RootKeys, guard::value_at};

impl Lifecycle {
    /// The refusals of the change of the artifact `before` into `after` (`None`: there is no file); first
    /// what nobody may insist on. `writer` is who makes the change, where that matters, and who has which
    /// role. Moves of the status are judged by [`Lifecycle::judge_move`].
    pub fn judge_change(
        &self,
        [before, after]: [Option<&Artifact>; 2],
        writer: Option<(&str, &Roles)>,
    ) -> Vec<ChangeRefusal> {
        if !self.judges_changes() {
            return Vec::new();
        }
        let state = |artifact: &Artifact| artifact.state_value().unwrap_or_default();
        let states = [before.map(state), after.map(state)];
        if states[0] == states[1] {
            return Vec::new();
        }
        let mut refused = Vec::new();
        if let [Some(old), Some(new)] = &states {
            let lists = self.attributes.append_only.iter();
            refused.extend(lists.filter_map(|key| self.not_appended(key, old, new)));
        }
        refused.extend(before.and_then(|before| self.frozen(before, after)));
        refused.extend(writer.and_then(|(actor, roles)| self.judge_writer(actor, roles)));
        if let Some(new) = &states[1] {
            let closed = self.attributes.closed.iter();
            let old = states[0].as_ref().unwrap_or(&Json::Null);
            refused.extend(closed.filter_map(|(key, known)| self.not_closed((key, known), old, new)));
        }
        refused
    }

    /// The refusal of a change by `actor`, where only a role may make it that `actor` does not have.
    pub fn judge_writer(&self, actor: &str, roles: &Roles) -> Option<ChangeRefusal> {
        let role = self.attributes.writers.as_ref().filter(|role| !roles.has(role, actor))?;
        let (lifecycle, role, actors) = (self.name.clone(), role.clone(), roles.of(role));
        Some(ChangeRefusal::NotWriter { lifecycle, role, actor: actor.to_owned(), actors })
    }

    /// The old list begins the new one.
    fn not_appended(&self, key: &str, old: &Json, new: &Json) -> Option<ChangeRefusal> {
        let entries = |state| value_at(state, key).and_then(Json::as_array).map(Vec::as_slice);
        let old = entries(old).filter(|old| !old.is_empty())?;
        let new = entries(new).unwrap_or_default();
        let kept = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let (lifecycle, key, before) = (self.name.clone(), key.to_owned(), old.len());
        (kept < before).then_some(ChangeRefusal::NotAppended { lifecycle, key, kept, before })
    }

    /// Out of a frozen state only a move leads.
    fn frozen(&self, before: &Artifact, after: Option<&Artifact>) -> Option<ChangeRefusal> {
        let status = |artifact: &'_ Artifact| -> Option<String> {
            artifact.state().status.as_ref().and_then(Field::filled).map(str::to_owned)
        };
        let state = self.state_of(&status(before)?).filter(|state| state.is_frozen)?;
        let keys = RootKeys::of(before);
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

    /// Under a closed key no name is new that is not known.
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
