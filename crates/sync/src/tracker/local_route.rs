//! What a request concerns that never leaves the machine.

use super::RequestKind;
use crate::{TrackerName, breaker::Route, ticket::Marker};

/// The route of a tracker on this machine: `kind_of_tracker` stands for its host, and there is no credential.
pub(super) fn local_route(
    name: &TrackerName,
    kind_of_tracker: &str,
    kind: RequestKind,
    tickets: &[Marker],
) -> Route {
    let endpoint = match kind {
        RequestKind::Create => "create",
        RequestKind::Update => "update",
        RequestKind::Read => "read",
        RequestKind::List => "list",
        RequestKind::Target => "target",
    };
    Route {
        host: format!("{kind_of_tracker}/{name}"),
        credential: "none".to_owned(),
        endpoint: endpoint.to_owned(),
        tickets: tickets.iter().map(|marker| (name.clone(), marker.clone())).collect(),
    }
}
