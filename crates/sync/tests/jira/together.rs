//! Many issues that change their status at once.

use stepmark_sync::{
    breaker::Reason,
    ticket::{CloseReason, RemoteTicket, Ticket, TicketState},
    tracker::{Change, Condition, Creation, Delivered, JiraTracker, Outcome, Tracker as _},
};

use crate::{
    fake::{FakeJira, Fault, Status, When, Workflow, refused},
    project::{done, ticket, tracker},
};

fn closed(id: &str) -> Ticket {
    let state = TicketState::Closed(CloseReason::Completed);
    Ticket { state, status: Some("done".to_owned()), ..ticket(id) }
}

async fn made(tracker: &JiraTracker, count: usize) -> Vec<(String, RemoteTicket)> {
    let ids: Vec<String> = (0..count).map(|at| format!("t{at}")).collect();
    let creations: Vec<Creation> =
        ids.iter().map(|id| Creation { ticket: ticket(id), parent: None }).collect();
    let mut made = Vec::new();
    for some in creations.chunks(50) {
        made.extend(tracker.create(some).await.outcomes.into_iter().map(|outcome| done(outcome).remote));
    }
    ids.into_iter().zip(made).collect()
}

async fn close(tracker: &JiraTracker, tickets: &[(String, RemoteTicket)]) -> Vec<Outcome<Delivered>> {
    change(tracker, tickets, ticket, closed).await
}

/// Opens them again, with another title.
async fn reopen(tracker: &JiraTracker, tickets: &[(String, RemoteTicket)]) -> Vec<Outcome<Delivered>> {
    change(tracker, tickets, closed, |id| Ticket { title: format!("Again {id}"), ..ticket(id) }).await
}

async fn change(
    tracker: &JiraTracker,
    tickets: &[(String, RemoteTicket)],
    before: impl Fn(&str) -> Ticket,
    after: impl Fn(&str) -> Ticket,
) -> Vec<Outcome<Delivered>> {
    let changes = tickets.iter().map(|(id, remote)| Change {
        remote: remote.clone(),
        desired: after(id),
        before: Some(before(id)),
        parent: None,
        condition: Condition::Marked,
    });
    tracker.update(&changes.collect::<Vec<_>>()).await.outcomes
}

fn statuses(fake: &FakeJira) -> Vec<Status> {
    fake.state().issues.values().map(|issue| issue.status).collect()
}

#[tokio::test]
async fn issues_that_stand_alike_go_together() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let tickets = made(&tracker, 25).await;
    fake.take_asked();
    let outcomes = close(&tracker, &tickets).await;
    assert!(outcomes.into_iter().all(|outcome| done(outcome).missing.is_empty()));
    assert!(statuses(&fake).iter().all(|status| *status == Status::Done));
    let asked = fake.take_asked();
    // One reads all, one asks for the ways, one moves, two see whether it is done, one reads again.
    assert_eq!(asked.len(), 6, "{asked:?}");
}

#[tokio::test]
async fn issues_are_opened_again_together_before_they_are_changed() {
    let fake = FakeJira::start();
    fake.state().locks_closed = true;
    let tracker = tracker(&fake);
    let tickets = made(&tracker, 25).await;
    close(&tracker, &tickets).await;
    fake.take_asked();
    let outcomes = reopen(&tracker, &tickets).await;
    assert!(outcomes.into_iter().all(|outcome| done(outcome).missing.is_empty()));
    let is_open = |status: &Status| *status == Status::ToDo;
    assert!(statuses(&fake).iter().all(is_open));
    assert!(fake.state().issues.values().all(|issue| issue.summary.starts_with("Again")));
    // As many as for closing, and the change of each.
    let asked = fake.take_asked();
    assert_eq!(asked.len(), 6 + 25, "{asked:?}");
}

#[tokio::test]
async fn what_was_opened_in_doubt_is_not_changed_and_done_later() {
    for when in [When::new("POST", "/bulk/issues/transition"), When::new("GET", "/bulk/queue/10641")] {
        let fake = FakeJira::start();
        fake.state().locks_closed = true;
        let tracker = tracker(&fake);
        let tickets = made(&tracker, 5).await;
        close(&tracker, &tickets).await;
        fake.fail(when, Fault::LoseReply);
        for outcome in reopen(&tracker, &tickets).await {
            assert!(matches!(outcome, Outcome::InDoubt(_)), "{outcome:?}");
        }
        assert!(!fake.state().issues.values().any(|issue| issue.summary.starts_with("Again")));
        for outcome in reopen(&tracker, &tickets).await {
            assert!(done(outcome).missing.is_empty());
        }
        assert!(fake.state().issues.values().all(|issue| issue.summary.starts_with("Again")));
    }
}

#[tokio::test]
async fn a_way_of_several_steps_and_those_who_cannot_go_along() {
    use Status::{Done, InProgress, InReview, ToDo};
    let fake = FakeJira::start();
    fake.state().workflow = Workflow::of(&[(ToDo, InProgress), (InProgress, InReview), (InReview, Done)]);
    fake.state().stuck = ["10001".to_owned()].into();
    let tracker = tracker(&fake);
    let tickets = made(&tracker, 6).await;
    for outcome in close(&tracker, &tickets).await {
        assert!(done(outcome).missing.is_empty());
    }
    assert!(statuses(&fake).iter().all(|status| *status == Done));
}

#[tokio::test]
async fn where_the_account_may_not_or_a_way_asks_each_goes_alone() {
    for (allows_bulk, asks_resolution) in [(false, false), (true, true)] {
        let fake = FakeJira::start();
        fake.state().allows_bulk = allows_bulk;
        fake.state().workflow.asks_resolution = asks_resolution;
        let tracker = tracker(&fake);
        let tickets = made(&tracker, 4).await;
        for outcome in close(&tracker, &tickets).await {
            assert!(done(outcome).missing.is_empty());
        }
        assert!(statuses(&fake).iter().all(|status| *status == Status::Done));
        assert!(!fake.take_asked().contains(&"POST /rest/api/3/bulk/issues/transition".to_owned()));
    }
}

#[tokio::test]
async fn what_is_lost_on_the_way_is_in_doubt_and_done_later() {
    let bulk = "/bulk/issues/transition";
    for (when, fault) in [
        (When::new("POST", bulk), Fault::LoseReply),
        (When::new("POST", bulk), Fault::Answer(refused(502, "oops"))),
        (When::new("GET", "/bulk/queue/10641"), Fault::Answer(refused(500, "oops"))),
        (When::new("GET", "/bulk/queue/10641"), Fault::Reset),
    ] {
        let fake = FakeJira::start();
        let tracker = tracker(&fake);
        let tickets = made(&tracker, 5).await;
        let told = format!("{when:?} {fault:?}");
        fake.fail(when, fault);
        for outcome in close(&tracker, &tickets).await {
            assert!(matches!(outcome, Outcome::InDoubt(_)), "{told}: {outcome:?}");
        }
        for outcome in close(&tracker, &tickets).await {
            assert!(done(outcome).missing.is_empty());
        }
        assert!(statuses(&fake).iter().all(|status| *status == Status::Done));
    }
}

#[tokio::test]
async fn a_limit_of_all_ends_the_batch() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let tickets = made(&tracker, 5).await;
    let limited = refused(429, "slow").with("RateLimit-Reason", "jira-quota-tenant-based");
    fake.fail(When::new("GET", "/bulk/issues/transition"), Fault::Answer(limited));
    for outcome in close(&tracker, &tickets).await {
        assert!(
            matches!(&outcome, Outcome::Failed(failure) if failure.reason == Reason::Quota),
            "{outcome:?}"
        );
    }
}

/// The figure of docs/benchmarks.md: `cargo test -p stepmark-sync --test jira -- --ignored --nocapture
/// a_thousand`.
#[tokio::test]
#[ignore = "a measurement"]
async fn a_thousand_status_changes() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let tickets = made(&tracker, 1000).await;
    fake.take_asked();
    for some in tickets.chunks(tracker.batch(stepmark_sync::tracker::RequestKind::Update)) {
        let outcomes = close(&tracker, some).await;
        assert!(outcomes.into_iter().all(|outcome| done(outcome).missing.is_empty()));
    }
    eprintln!("1,000 status changes: {} requests", fake.take_asked().len());
    for some in tickets.chunks(tracker.batch(stepmark_sync::tracker::RequestKind::Update)) {
        let outcomes = reopen(&tracker, some).await;
        assert!(outcomes.into_iter().all(|outcome| done(outcome).missing.is_empty()));
    }
    eprintln!("1,000 opened again with another title: {} requests", fake.take_asked().len());
}
