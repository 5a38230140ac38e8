//! Tickets for tests, and a tracker for them.

use std::time::Duration;

use stepmark_model::journal::ArtifactKey;
use stepmark_store::workspace::Clock;
use stepmark_sync::{
    credential::{Credential, Secret},
    ticket::{Block, Inline, Marker, RemoteTicket, Ticket, TicketState, project_label},
    tracker::{
        Answer, Change, Condition, Creation, Delivered, HttpLimits, JiraIssueTypes, JiraSettings,
        JiraTracker, Outcome, Tracker as _,
    },
};

use crate::fake::FakeJira;

/// The account that the server knows, its token, and both as `Basic` gives them.
pub(crate) const ACCOUNT: &str = "me@example.org";
pub(crate) const TOKEN: &str = "ATATTthisIsTheSECRET";
pub(crate) const ENCODED: &str = "bWVAZXhhbXBsZS5vcmc6QVRBVFR0aGlzSXNUaGVTRUNSRVQ=";

pub(crate) fn marker(id: &str) -> Marker {
    Marker::new("p", ArtifactKey::of_id(id)).unwrap()
}

/// A ticket with a title and one label beside the project's.
pub(crate) fn ticket(id: &str) -> Ticket {
    Ticket {
        marker: marker(id),
        title: format!("Artifact {id}"),
        body: vec![Block::Paragraph(vec![Inline::Text("Two of three.".to_owned())])],
        file: Inline::Code(format!("docs/{id}.md")),
        file_at_commit: None,
        stamp: Default::default(),
        labels: [project_label("p"), "status:in review".to_owned()].into(),
        state: TicketState::ToDo,
        status: Some("draft".to_owned()),
        kind: Default::default(),
        parent: None,
        fields: Default::default(),
    }
}

pub(crate) fn settings(url: &str) -> JiraSettings {
    JiraSettings {
        name: "jira".parse().unwrap(),
        base_url: url.parse().unwrap(),
        account: ACCOUNT.to_owned(),
        project: "ABC".to_owned(),
        types: JiraIssueTypes {
            standard: "Task".to_owned(),
            epic: None,
            story: None,
            child: Some("Sub-task".to_owned()),
        },
        statuses: [("in-review".to_owned(), "In Review".to_owned())].into(),
        mapped: ["customfield_2".to_owned()].into(),
        write_interval: Duration::ZERO,
        limits: HttpLimits { answer: Duration::from_secs(1), answer_bytes: 1 << 20, ..HttpLimits::default() },
        clock: Clock::System,
    }
}

pub(crate) fn credential(token: &str) -> Credential {
    Credential { name: "env TEST".to_owned(), secret: Secret::new(token).unwrap() }
}

pub(crate) fn tracker(fake: &FakeJira) -> JiraTracker {
    JiraTracker::new(settings(&fake.url()), &credential(TOKEN)).unwrap()
}

pub(crate) async fn create(tracker: &JiraTracker, ticket: Ticket) -> Outcome<Delivered> {
    let creation = Creation { ticket, parent: None };
    one(tracker.create(std::slice::from_ref(&creation)).await)
}

/// Makes a ticket where nothing goes wrong.
pub(crate) async fn created(tracker: &JiraTracker, ticket: &Ticket) -> RemoteTicket {
    done(create(tracker, ticket.clone()).await).remote
}

pub(crate) async fn update(
    tracker: &JiraTracker,
    remote: &RemoteTicket,
    desired: Ticket,
    before: Option<&Ticket>,
) -> Outcome<Delivered> {
    let change = Change {
        remote: remote.clone(),
        desired,
        before: before.cloned(),
        parent: None,
        condition: Condition::Marked,
    };
    one(tracker.update(std::slice::from_ref(&change)).await)
}

pub(crate) fn one<T>(answer: Answer<T>) -> Outcome<T> {
    let Ok([outcome]) = <[_; 1]>::try_from(answer.outcomes) else { panic!("one outcome is wanted") };
    outcome
}

#[track_caller]
pub(crate) fn done<T: std::fmt::Debug>(outcome: Outcome<T>) -> T {
    match outcome {
        Outcome::Done(done) => done,
        other => panic!("{other:?}"),
    }
}

/// The fields that a ticket lacks.
pub(crate) fn missing(delivered: &Delivered) -> Vec<&str> {
    delivered.missing.iter().map(|missing| missing.field.as_str()).collect()
}
