//! Which actions go into one request. Pure.

use std::collections::BTreeSet;

use crate::{
    plan::{Action, ActionKind},
    ticket::Marker,
    tracker::RequestKind,
};

/// Actions that go into one request.
#[derive(Debug)]
pub(super) struct Batch<'p> {
    pub(super) kind: RequestKind,
    pub(super) actions: Vec<&'p Action>,
}

/// The kind of request that an action needs; `None` for what is done in the ledger alone.
pub(super) const fn request(kind: ActionKind) -> Option<RequestKind> {
    match kind {
        ActionKind::LookUp | ActionKind::Adopt => None,
        ActionKind::Create => Some(RequestKind::Create),
        ActionKind::Update | ActionKind::Close | ActionKind::CloseDuplicate | ActionKind::Prune => {
            Some(RequestKind::Update)
        }
    }
}

/// Cuts actions into requests, in their order: of one kind, not larger than `size` says, one of each artifact, and no child beside its
/// parent, whose ticket it has to know.
pub(super) fn batches(actions: &[Action], size: impl Fn(RequestKind) -> usize) -> Vec<Batch<'_>> {
    let mut batches: Vec<Batch<'_>> = Vec::new();
    let mut inside: BTreeSet<&Marker> = BTreeSet::new();
    for action in actions {
        let Some(kind) = request(action.kind) else { continue };
        let parent = action.ticket.as_ref().and_then(|ticket| ticket.parent.as_ref());
        let meets = inside.contains(&action.marker) || parent.is_some_and(|parent| inside.contains(parent));
        match batches.last_mut() {
            Some(last) if last.kind == kind && last.actions.len() < size(kind).max(1) && !meets => {
                last.actions.push(action);
            }
            _ => {
                inside.clear();
                batches.push(Batch { kind, actions: vec![action] });
            }
        }
        inside.insert(&action.marker);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::{
        Ticket,
        sample::{marker, ticket},
    };

    fn action(kind: ActionKind, id: &str, parent: Option<&str>) -> Action {
        let ticket = Ticket { parent: parent.map(marker), ..ticket(id, |_| {}) };
        let (digest, marker) = (Some(ticket.digest()), ticket.marker.clone());
        let (path, remote, base, differences) = (None, None, None, Vec::new());
        Action { kind, marker, path, remote, base, digest, ticket: Some(ticket), source: None, differences }
    }

    #[test]
    fn one_kind_one_size_and_parents_before_children() {
        use ActionKind::{Adopt, Close, Create, Update};
        let actions = [
            action(Adopt, "z", None),
            action(Create, "a", None),
            action(Create, "b", None),
            action(Create, "c", None),
            action(Create, "d", Some("c")),
            action(Create, "e", Some("a")),
            action(Update, "f", Some("a")),
            action(Close, "g", None),
            action(Close, "g", None),
        ];
        let cut: Vec<Vec<String>> = batches(&actions, |_| 3)
            .iter()
            .map(|batch| batch.actions.iter().map(|action| action.marker.to_string()).collect())
            .collect();
        let told: Vec<String> = cut.iter().map(|batch| batch.join(" ").replace("p/id:", "")).collect();
        assert_eq!(told, ["a b c", "d e", "f g", "g"]);
    }
}
