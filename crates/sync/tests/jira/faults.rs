//! What goes wrong, and what follows.

use std::time::Duration;

use stepmark_store::workspace::Clock;
use stepmark_sync::{
    breaker::{Reason, ScopeKind},
    ticket::{CloseReason, Ticket, TicketState},
    tracker::{Change, Condition, JiraTracker, Outcome, RequestKind, Tracker as _},
};

use crate::{
    fake::{FakeJira, Fault, Reply, When, refused},
    project::{ENCODED, TOKEN, create, created, credential, done, settings, ticket, tracker, update},
};

const CREATE: When = When::new("POST", "/issue/bulk");

fn limited(reason: &str) -> Reply {
    refused(429, "Rate limit exceeded").with("RateLimit-Reason", reason)
}

#[tokio::test]
async fn a_refusal_is_told_by_its_reason() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let in_minutes = (Clock::System.now() + Duration::from_secs(120)).to_string();
    for (reply, reason, scope, waits_at_least) in [
        (refused(401, "no"), Reason::Unauthorized, ScopeKind::Credential, None),
        (refused(403, "no"), Reason::Forbidden, ScopeKind::Credential, None),
        (refused(404, "no"), Reason::Gone, ScopeKind::Ticket, None),
        (refused(410, "no"), Reason::Gone, ScopeKind::Ticket, None),
        (refused(400, "no"), Reason::Invalid, ScopeKind::Ticket, None),
        (refused(413, "no"), Reason::Invalid, ScopeKind::Ticket, None),
        (limited("jira-quota-global-based"), Reason::Quota, ScopeKind::Host, None),
        (limited("jira-quota-tenant-based").with("Retry-After", 7), Reason::Quota, ScopeKind::Host, Some(6)),
        (limited("jira-burst-based"), Reason::EndpointLimit, ScopeKind::Endpoint, None),
        (
            limited("jira-burst-based")
                .with("X-RateLimit-Remaining", 0)
                .with("X-RateLimit-Reset", &in_minutes),
            Reason::EndpointLimit,
            ScopeKind::Endpoint,
            Some(110),
        ),
        (
            limited("jira-per-issue-on-write").with("Retry-After", 2),
            Reason::TicketLimit,
            ScopeKind::Ticket,
            Some(1),
        ),
        (limited("jira-per-issue-on-write"), Reason::TicketLimit, ScopeKind::Ticket, None),
        (refused(429, "slow down"), Reason::Quota, ScopeKind::Host, None),
    ] {
        let told = format!("{reply:?}");
        fake.fail(CREATE, Fault::Answer(reply));
        let Outcome::Failed(failure) = create(&tracker, ticket("a")).await else { panic!("{told}") };
        assert_eq!((failure.reason, failure.reason.consequence().scope), (reason, scope), "{told}");
        let seconds = failure.wait_until.map(|until| until.as_second() - Clock::System.now().as_second());
        match waits_at_least {
            None => assert_eq!(seconds, None, "{told}"),
            Some(least) => assert!(seconds.is_some_and(|own| (least..=least + 12).contains(&own)), "{told}"),
        }
    }
    assert!(fake.state().issues.is_empty());
}

#[tokio::test]
async fn where_the_answer_is_lost_nobody_knows() {
    let html = Reply { status: 502, headers: Vec::new(), body: "<html>Bad gateway</html>".to_owned() };
    for (fault, reason, was_made) in [
        (Fault::LoseReply, Reason::Timeout, true),
        (Fault::Reset, Reason::Timeout, false),
        (Fault::Hang, Reason::Timeout, false),
        (Fault::Answer(html), Reason::ServerError, false),
        (Fault::Scramble("<html>".to_owned()), Reason::Unreadable, true),
    ] {
        let fake = FakeJira::start();
        let tracker = tracker(&fake);
        fake.fail(CREATE, fault.clone());
        let outcome = create(&tracker, ticket("a")).await;
        let Outcome::InDoubt(failure) = &outcome else { panic!("{fault:?}: {outcome:?}") };
        assert_eq!(failure.reason, reason, "{outcome:?}");
        assert_eq!(
            tracker.list("p", None, stepmark_sync::tracker::Listing::Labelled).await.unwrap().tickets.len(),
            usize::from(was_made)
        );
        // A change, too; and a question that changes nothing leaves no doubt.
        let remote = created(&tracker, &ticket("b")).await;
        let desired = Ticket { title: "New".to_owned(), ..ticket("b") };
        fake.fail(When::new("PUT", ""), fault.clone());
        let outcome = update(&tracker, &remote, desired.clone(), None).await;
        assert!(matches!(outcome, Outcome::InDoubt(_)), "{fault:?}: {outcome:?}");
        fake.fail(When::new("POST", "/bulkfetch"), fault.clone());
        let outcome = update(&tracker, &remote, desired, None).await;
        assert!(matches!(outcome, Outcome::Failed(_)), "{fault:?}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_change_that_is_half_done_is_in_doubt() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let remote = created(&tracker, &ticket("a")).await;
    let state = TicketState::Closed(CloseReason::Completed);
    let desired = Ticket { title: "New".to_owned(), state, ..ticket("a") };
    fake.fail(When::new("POST", "/transitions"), Fault::Answer(limited("jira-per-issue-on-write")));
    let outcome = update(&tracker, &remote, desired.clone(), None).await;
    assert!(
        matches!(&outcome, Outcome::InDoubt(failure) if failure.reason == Reason::TicketLimit),
        "{outcome:?}"
    );
    assert_eq!(fake.state().issues[&10_000].summary, "New");
    assert!(done(update(&tracker, &remote, desired, None).await).missing.is_empty());
}

#[tokio::test]
async fn what_concerns_all_tickets_ends_the_batch_and_what_concerns_one_does_not() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let mut changes = Vec::new();
    for id in ["a", "b", "c"] {
        let remote = created(&tracker, &ticket(id)).await;
        let desired = Ticket { title: format!("New {id}"), ..ticket(id) };
        changes.push(Change { remote, desired, before: None, parent: None, condition: Condition::Marked });
    }
    fake.take_asked();
    fake.fail(When::new("PUT", "/10001"), Fault::Answer(limited("jira-per-issue-on-write")));
    let outcomes = tracker.update(&changes).await.outcomes;
    assert!(
        matches!(&outcomes[..], [Outcome::Done(_), Outcome::Failed(_), Outcome::Done(_)]),
        "{outcomes:?}"
    );
    assert_eq!(fake.take_asked().len(), 4);
    fake.state().issues.remove(&10_000);
    fake.fail(When::new("PUT", "/10001"), Fault::Answer(limited("jira-quota-tenant-based")));
    changes[2].desired.title = "Newer".to_owned();
    let outcomes = tracker.update(&changes).await.outcomes;
    let reasons: Vec<_> = outcomes.iter().map(|outcome| outcome.failure().unwrap().reason).collect();
    assert_eq!(reasons, [Reason::Gone, Reason::Quota, Reason::Quota]);
    assert_eq!(fake.take_asked().len(), 2, "the third is not asked for");
}

#[tokio::test]
async fn with_a_wrong_token_nothing_is_believed() {
    let fake = FakeJira::start();
    let remote = created(&tracker(&fake), &ticket("a")).await;
    let tracker = JiraTracker::new(settings(&fake.url()), &credential("wrong")).unwrap();
    // The search alone would answer that there is no ticket.
    let failure = tracker.list("p", None, stepmark_sync::tracker::Listing::Labelled).await.unwrap_err();
    assert_eq!(failure.reason, Reason::Unauthorized);
    let outcome = update(&tracker, &remote, ticket("a"), None).await;
    assert!(outcome.failure().is_some_and(|failure| failure.reason == Reason::Unauthorized), "{outcome:?}");
}

#[tokio::test]
async fn without_a_connection_nothing_was_done() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let tracker =
        JiraTracker::new(settings(&format!("http://127.0.0.1:{port}")), &credential(TOKEN)).unwrap();
    let outcome = create(&tracker, ticket("a")).await;
    assert!(
        matches!(&outcome, Outcome::Failed(failure) if failure.reason == Reason::Unreachable),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn no_answer_shows_the_credential() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let mut shown = format!("{tracker:?} {:?}", tracker.route(RequestKind::List, &[]));
    for fault in [
        Fault::Answer(refused(401, &format!("bad: {TOKEN} {ENCODED}"))),
        Fault::Scramble(format!("token {TOKEN}, Basic {ENCODED}")),
        Fault::Reset,
    ] {
        fake.fail(CREATE, fault);
        shown.push_str(&format!("{:?}", create(&tracker, ticket("a")).await));
    }
    assert!(!shown.contains("SECRET") && !shown.contains(ENCODED), "{shown}");
    assert_eq!(shown.matches("[credential]").count(), 4, "{shown}");
}
