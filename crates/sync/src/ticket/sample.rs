//! Artifacts for tests.

use stepmark_model::{artifact::ProjectPath, journal::ArtifactKey};

use super::{
    ManagedSection, Marker, Observed, RemoteTicket, Snapshot, StepFact, Ticket, TicketFacts, TicketSettings,
};

pub(crate) fn marker(id: &str) -> Marker {
    Marker::new("p", ArtifactKey::of_id(id)).unwrap()
}

pub(crate) fn facts(id: &str) -> TicketFacts {
    let step = |name: &str, is_done| StepFact { names: vec![name.to_owned()], is_done };
    TicketFacts {
        key: ArtifactKey::of_id(id),
        path: ProjectPath::new(format!("docs/{id}.md")).unwrap(),
        title: format!("Artifact {id}"),
        workflow: Some("prd".to_owned()),
        steps: vec![
            step("step-01-init", true),
            step("step-02-discovery", true),
            step("step-03-success", false),
        ],
        done: 2,
        total: Some(3),
        next: vec!["step-03-success".to_owned()],
        scope: Some("large".to_owned()),
        status: Some("draft".to_owned()),
        is_finished: false,
        is_given_up: false,
        may_go_on: false,
        is_initial: None,
        chain_id: Some(id.to_owned()),
        parent_id: None,
        is_record: false,
        is_readable: true,
        inputs: vec![ProjectPath::new("docs/brief.md").unwrap()],
        links: Vec::new(),
        text: String::new(),
    }
}

pub(crate) fn ticket(id: &str, change: impl FnOnce(&mut TicketFacts)) -> Ticket {
    let mut facts = facts(id);
    change(&mut facts);
    let snapshot = Snapshot::of_facts("p", [facts]);
    Ticket::desired(&snapshot, &marker(id), &TicketSettings::default()).unwrap()
}

pub(crate) fn observed(ticket: &Ticket, number: u32) -> Observed {
    Observed {
        remote: RemoteTicket {
            id: number.to_string(),
            key: format!("#{number}"),
            url: format!("https://h/{number}"),
            other_ids: Default::default(),
        },
        marker: ticket.marker.clone(),
        created_at: jiff::Timestamp::UNIX_EPOCH,
        title: ticket.title.clone(),
        body: ManagedSection::of(ticket).alone(65_536).unwrap().body,
        labels: ticket.labels.clone(),
        state: ticket.state,
        status: None,
        parent_id: None,
        fields: None,
        stamp: Default::default(),
        is_untouched: true,
    }
}
