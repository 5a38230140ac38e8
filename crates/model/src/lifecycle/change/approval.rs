//! The approval of a move by a person.

use crate::artifact::Artifact;
use crate::lifecycle::{Lifecycle, Roles};

impl Lifecycle {
    /// The reason why `artifact` has no approval for the state that its status means: `approval: {to, by,
    /// decided_at}` names the state, and a person who has the role of those who approve.
    pub fn unapproved(&self, artifact: &Artifact, roles: &Roles) -> Option<String> {
        let state = artifact.state_value().unwrap_or_default();
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
