//! Tickets by GraphQL: many in one request.

use serde_json::json;
use stepmark_sync::{
    breaker::Reason,
    ticket::{Block, CloseReason, Inline, RemoteTicket, Ticket, TicketState},
    tracker::{Change, Condition, Delivered, GitHubTracker, Outcome, RequestKind, Tracker as _},
};

use crate::{
    fake::{FakeGitHub, Fault, Reply, When},
    project::{created, done, ticket, tracker},
};

const GRAPHQL: When = When::new("POST", "/graphql");

/// A server with GraphQL and so many tickets.
async fn with_tickets(count: usize) -> (FakeGitHub, GitHubTracker, Vec<RemoteTicket>) {
    let fake = FakeGitHub::start();
    fake.state().has_graphql = true;
    let tracker = tracker(&fake);
    let mut remotes = Vec::new();
    for at in 0..count {
        remotes.push(created(&tracker, &ticket(&format!("t{at}"))).await);
    }
    fake.take_asked();
    (fake, tracker, remotes)
}

fn change(at: usize, remote: &RemoteTicket, desired: impl Fn(Ticket) -> Ticket) -> Change {
    let before = ticket(&format!("t{at}"));
    Change {
        remote: remote.clone(),
        desired: desired(before.clone()),
        before: Some(before),
        parent: None,
        condition: Condition::Marked,
    }
}

fn changes(remotes: &[RemoteTicket], desired: impl Fn(Ticket) -> Ticket + Copy) -> Vec<Change> {
    remotes.iter().enumerate().map(|(at, remote)| change(at, remote, desired)).collect()
}

fn renamed(ticket: Ticket) -> Ticket {
    Ticket { title: format!("New {}", ticket.title), ..ticket }
}

fn delivered(outcomes: Vec<Outcome<Delivered>>) {
    for outcome in outcomes {
        assert!(done(outcome).missing.is_empty());
    }
}

#[tokio::test]
async fn a_thousand_changes_need_67_requests() {
    let (fake, tracker, remotes) = with_tickets(1000).await;
    let mut cost = 0;
    for changes in changes(&remotes, renamed).chunks(tracker.batch(RequestKind::Update)) {
        cost += tracker.cost(RequestKind::Update, changes.len()).requests;
        delivered(tracker.update(changes).await.outcomes);
    }
    assert_eq!((fake.take_asked().len(), cost), (67, 67));
    assert!(fake.state().issues.values().all(|issue| issue.title.starts_with("New Artifact")));
    // Nothing differs any more, and nothing is written.
    delivered(tracker.update(&changes(&remotes[..40], renamed)).await.outcomes);
    assert_eq!(fake.take_asked(), ["POST /graphql"]);
}

#[tokio::test]
async fn every_field_is_changed_beside_those_of_people() {
    let (fake, tracker, remotes) = with_tickets(3).await;
    {
        let mut state = fake.state();
        state.labels.insert("bug".to_owned());
        let issue = state.issues.get_mut(&1).unwrap();
        issue.labels.insert("bug".to_owned());
        issue.body = format!("Mine.\n\n{}", issue.body);
    }
    let desired = |ticket| Ticket {
        labels: ["stepmark:p".to_owned(), "status:done".to_owned()].into(),
        state: TicketState::Closed(CloseReason::Completed),
        ..renamed(ticket)
    };
    delivered(tracker.update(&changes(&remotes, desired)).await.outcomes);
    assert_eq!(
        fake.take_asked(),
        ["POST /graphql", "POST /repos/o/r/labels", "POST /graphql"],
        "the new label is made once"
    );
    let issue = fake.state().issues[&1].clone();
    assert!(issue.body.starts_with("Mine.\n\n<!-- stepmark:begin"));
    assert_eq!(issue.labels.iter().collect::<Vec<_>>(), ["bug", "status:done", "stepmark:p"]);
    assert_eq!((issue.is_open, issue.reason.as_deref()), (false, Some("completed")));
    let desired = |ticket| Ticket { state: TicketState::Closed(CloseReason::NotPlanned), ..desired(ticket) };
    delivered(tracker.update(&changes(&remotes, desired)).await.outcomes);
    assert_eq!(fake.state().issues[&2].reason.as_deref(), Some("not_planned"));
    delivered(tracker.update(&changes(&remotes, renamed)).await.outcomes);
    assert!(fake.state().issues.values().all(|issue| issue.is_open));
    let read = tracker.read(&remotes).await.outcomes;
    for (read, change) in read.into_iter().zip(changes(&remotes, renamed)) {
        let read = done(read).unwrap();
        assert_eq!(read.remote, change.remote, "both ways of asking give the same ids");
        assert!(tracker.compare(&change.desired, None, &read).unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_batch_may_succeed_in_part() {
    let (fake, tracker, remotes) = with_tickets(3).await;
    fake.state().issues.remove(&2);
    let outcomes = tracker.update(&changes(&remotes, renamed)).await.outcomes;
    assert!(matches!(
        outcomes.as_slice(),
        [Outcome::Done(_), Outcome::Failed(failure), Outcome::Done(_)] if failure.reason == Reason::Gone
    ));
    // It goes away between reading and writing.
    let error = json!({ "type": "NOT_FOUND", "path": ["m0"], "message": "gone" });
    let node = json!({ "data": { "m0": null }, "errors": [error] }).to_string();
    fake.fail(When::new("MUTATION", "/graphql"), Fault::Scramble(node));
    let outcomes = tracker.update(&changes(&remotes[..1], |ticket| ticket)).await.outcomes;
    assert!(
        matches!(&outcomes[..], [Outcome::Failed(failure)] if failure.reason == Reason::Gone),
        "{outcomes:?}"
    );
    let read = tracker.read(&remotes).await.outcomes;
    assert!(matches!(read.as_slice(), [Outcome::Done(Some(_)), Outcome::Failed(_), Outcome::Done(Some(_))]));
}

#[tokio::test]
async fn limits_come_with_http_200() {
    let (fake, tracker, remotes) = with_tickets(2).await;
    for (error, reason) in [
        (json!({ "type": "RATE_LIMITED", "message": "API rate limit exceeded" }), Reason::PrimaryLimit),
        (json!({ "message": "You have exceeded a secondary rate limit." }), Reason::SecondaryLimit),
        (json!({ "message": "Something went wrong" }), Reason::ServerError),
    ] {
        for when in [GRAPHQL, When::new("MUTATION", "/graphql")] {
            let is_write = when.method == "MUTATION";
            fake.fail(when, Fault::Answer(Reply::json(200, &json!({ "errors": [error] }))));
            let outcomes = tracker.update(&changes(&remotes, renamed)).await.outcomes;
            for outcome in outcomes {
                let is_limit = reason != Reason::ServerError;
                let failure = outcome.failure().unwrap();
                assert_eq!((failure.reason, failure.wait_until.is_some()), (reason, is_limit), "{outcome:?}");
                let in_doubt = matches!(outcome, Outcome::InDoubt(_));
                assert_eq!(in_doubt, is_write && !is_limit, "{outcome:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_lost_answer_leaves_doubt_and_what_follows_is_not_sent() {
    let (fake, tracker, remotes) = with_tickets(25).await;
    fake.fail(When::new("MUTATION", "/graphql"), Fault::LoseReply);
    let outcomes = tracker.update(&changes(&remotes, renamed)).await.outcomes;
    let doubtful = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::InDoubt(_))).count();
    let failed = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Failed(_))).count();
    assert_eq!((doubtful, failed), (20, 5));
    assert_eq!(fake.take_asked().len(), 2);
    delivered(tracker.update(&changes(&remotes, renamed)).await.outcomes);
    assert!(fake.state().issues.values().all(|issue| issue.title.starts_with("New")));
}

#[tokio::test]
async fn where_graphql_is_absent_rest_does() {
    let old = json!({ "errors": [
        { "message": "Field 'parent' doesn't exist on type 'Issue'", "extensions": { "code": "undefinedField" } }
    ] });
    for reply in [None, Some(Reply::json(200, &old))] {
        let (fake, tracker, remotes) = with_tickets(2).await;
        match reply {
            Some(reply) => fake.fail(GRAPHQL, Fault::Answer(reply)),
            None => fake.state().has_graphql = false,
        }
        delivered(tracker.update(&changes(&remotes, renamed)).await.outcomes);
        assert!(fake.take_asked().contains(&"PATCH /repos/o/r/issues/2".to_owned()));
        assert_eq!((tracker.batch(RequestKind::Update), tracker.batch(RequestKind::Read)), (1, 1));
        delivered(tracker.update(&changes(&remotes, renamed)).await.outcomes);
        let asked = fake.take_asked();
        assert_eq!(asked, ["GET /repos/o/r/issues/1", "GET /repos/o/r/issues/2"], "it is remembered");
    }
}

#[tokio::test]
async fn labels_that_cannot_be_made_are_missing() {
    let (fake, tracker, remotes) = with_tickets(1).await;
    fake.state().has_push_access = false;
    let desired =
        |ticket| Ticket { labels: ["stepmark:p".to_owned(), "status:done".to_owned()].into(), ..ticket };
    let outcome = tracker.update(&changes(&remotes, desired)).await.outcomes.remove(0);
    assert_eq!(done(outcome).missing[0].field, "labels");
}

#[tokio::test]
async fn what_somebody_wrote_meanwhile_is_told() {
    let (fake, tracker, remotes) = with_tickets(2).await;
    let plan = |text: &str| {
        let renamed = |ticket: Ticket| Ticket {
            body: vec![Block::Paragraph(vec![Inline::Text(text.to_owned())])],
            ..ticket
        };
        [change(0, &remotes[0], renamed), change(1, &remotes[1], renamed)]
    };
    for (text, writes, expected) in [("One", true, [false, true]), ("Two", false, [false, false])] {
        fake.state().meanwhile = writes.then(|| (2, "Theirs".to_owned()));
        let outcomes = tracker.update(&plan(text)).await.outcomes;
        let told: Vec<bool> = outcomes.into_iter().map(|outcome| done(outcome).is_overwritten).collect();
        assert_eq!(told, expected, "{text}");
    }
}
