//! Tickets by REST: made, changed, read and listed.

use stepmark_sync::{
    ticket::{CloseReason, Ticket, TicketState},
    tracker::{Cursor, Outcome, Tracker as _},
};

use crate::{
    fake::{FakeGitHub, Issue},
    project::{create, created, done, marker, one, ticket, tracker, update},
};

#[tokio::test]
async fn an_issue_is_made_with_its_marker() {
    let fake = FakeGitHub::start();
    let tracker = tracker(&fake);
    let made = done(create(&tracker, ticket("a")).await);
    assert_eq!((made.remote.id.as_str(), made.remote.key.as_str()), ("1", "#1"));
    assert_eq!(made.remote.other_ids["database_id"], "1000001");
    assert!(made.missing.is_empty(), "{made:?}");
    let issue = fake.state().issues[&1].clone();
    assert_eq!(issue.title, "Artifact a");
    assert!(
        issue.body.starts_with(
            "<!-- stepmark:begin v1 p/id:a -->\n<!-- stepmark:labels status%3Adraft -->\nTwo of three"
        ),
        "{}",
        issue.body
    );
    assert_eq!(issue.labels, ticket("a").labels);
    assert_eq!(fake.take_asked(), ["POST /repos/o/r/issues"]);
}

#[tokio::test]
async fn what_people_wrote_is_kept() {
    let fake = FakeGitHub::start();
    let tracker = tracker(&fake);
    let remote = created(&tracker, &ticket("a")).await;
    {
        let mut state = fake.state();
        let issue = state.issues.get_mut(&1).unwrap();
        issue.body = format!("Mine.\r\n\r\n{}", issue.body.replace('\n', "\r\n"));
        issue.labels.insert("bug".to_owned());
    }
    fake.take_asked();
    assert!(done(update(&tracker, &remote, ticket("a"), None).await).missing.is_empty());
    assert_eq!(fake.take_asked(), ["POST /graphql", "GET /repos/o/r/issues/1"], "nothing of ours differs");
    let desired = Ticket {
        title: "New".to_owned(),
        labels: ["stepmark:p".to_owned(), "status:done".to_owned()].into(),
        state: TicketState::Closed(CloseReason::Completed),
        ..ticket("a")
    };
    let changed = done(update(&tracker, &remote, desired.clone(), Some(&ticket("a"))).await);
    assert!(changed.missing.is_empty(), "{changed:?}");
    let issue = fake.state().issues[&1].clone();
    assert!(issue.body.starts_with("Mine."));
    assert_eq!(issue.labels.iter().collect::<Vec<_>>(), ["bug", "status:done", "stepmark:p"]);
    assert_eq!(
        (issue.title.as_str(), issue.is_open, issue.reason.as_deref()),
        ("New", false, Some("completed"))
    );
    // A reason counts only where the state changes.
    let desired = Ticket { state: TicketState::Closed(CloseReason::NotPlanned), ..desired };
    assert!(done(update(&tracker, &remote, desired.clone(), None).await).missing.is_empty());
    assert_eq!(fake.state().issues[&1].reason.as_deref(), Some("not_planned"));
    let desired = Ticket { state: TicketState::ToDo, ..desired };
    assert!(done(update(&tracker, &remote, desired, None).await).missing.is_empty());
    assert!(fake.state().issues[&1].is_open);
}

#[tokio::test]
async fn what_is_silently_dropped_is_noticed() {
    let fake = FakeGitHub::start();
    fake.state().has_push_access = false;
    let closed = Ticket { state: TicketState::Closed(CloseReason::Completed), ..ticket("a") };
    let made = done(create(&tracker(&fake), closed).await);
    let missing: Vec<_> = made.missing.iter().map(|missing| missing.field.as_str()).collect();
    assert_eq!(missing, ["labels", "state"]);
    let changed = done(update(&tracker(&fake), &made.remote, ticket("a"), None).await);
    assert_eq!(changed.missing.len(), 1, "{changed:?}");
}

#[tokio::test]
async fn all_pages_are_listed() {
    let fake = FakeGitHub::start();
    let tracker = tracker(&fake);
    for id in ["a", "b", "c", "d", "e"] {
        created(&tracker, &ticket(id)).await;
    }
    {
        let mut state = fake.state();
        state.page = 2;
        // A pull request, one that somebody labelled, and one that lost its label.
        state.issues.get_mut(&2).unwrap().is_pull_request = true;
        state.issues.get_mut(&3).unwrap().body = "Somebody's.".to_owned();
        state.issues.get_mut(&4).unwrap().labels.clear();
        let labels = ["stepmark:p".to_owned()].into();
        let closed = Issue { number: 9, is_open: false, labels, ..state.issues[&1].clone() };
        state.issues.insert(9, closed);
    }
    let (mut found, mut from): (Vec<_>, Option<Cursor>) = (Vec::new(), None);
    loop {
        let page = tracker.list("p", from.as_ref(), stepmark_sync::tracker::Listing::Labelled).await.unwrap();
        found.extend(page.tickets.into_iter().map(|ticket| (ticket.remote.id, ticket.marker)));
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    let expected = [("1", "a"), ("5", "e"), ("9", "a")].map(|(id, own)| (id.to_owned(), marker(own)));
    assert_eq!(found, expected);
    let elsewhere = Cursor("https://evil.example/repos/o/r/issues?page=2".to_owned());
    assert!(tracker.list("p", Some(&elsewhere), stepmark_sync::tracker::Listing::Labelled).await.is_err());
    assert!(
        tracker.list("q", None, stepmark_sync::tracker::Listing::Labelled).await.unwrap().tickets.is_empty()
    );
}

#[tokio::test]
async fn what_did_not_change_is_not_sent_again() {
    let fake = FakeGitHub::start();
    let tracker = tracker(&fake);
    for id in ["a", "b", "c"] {
        created(&tracker, &ticket(id)).await;
    }
    fake.state().page = 2;
    let list = async || {
        let first = tracker.list("p", None, stepmark_sync::tracker::Listing::Labelled).await.unwrap();
        let second =
            tracker.list("p", first.next.as_ref(), stepmark_sync::tracker::Listing::Labelled).await.unwrap();
        assert_eq!(second.next, None);
        [first.tickets, second.tickets].concat()
    };
    let found = list().await;
    assert_eq!(fake.state().not_modified, 0);
    assert_eq!(list().await, found);
    assert_eq!(fake.state().not_modified, 2);
    fake.state().issues.get_mut(&3).unwrap().title = "Another".to_owned();
    let again = list().await;
    assert_eq!(fake.state().not_modified, 3);
    assert_eq!((found.len(), again.len(), again[2].title.as_str()), (3, 3, "Another"));
}

#[tokio::test]
async fn a_ticket_is_read_by_its_number() {
    let fake = FakeGitHub::start();
    let tracker = tracker(&fake);
    let [a, b] = [created(&tracker, &ticket("a")).await, created(&tracker, &ticket("b")).await];
    let read = done(one(tracker.read(std::slice::from_ref(&a)).await)).unwrap();
    assert!(tracker.compare(&ticket("a"), None, &read).unwrap().is_empty());
    fake.state().issues.get_mut(&2).unwrap().body = "Mine now.".to_owned();
    assert_eq!(done(one(tracker.read(std::slice::from_ref(&b)).await)), None);
    // Its number is another artifact's: it is not overwritten.
    let outcome = update(&tracker, &a, ticket("b"), None).await;
    assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
    assert_eq!(fake.state().issues[&1].title, "Artifact a");
}

#[tokio::test]
async fn what_was_made_is_known_whatever_somebody_wrote_into_it_at_once() {
    let fake = FakeGitHub::start();
    let tracker = tracker(&fake);
    let longer_than_allowed = "x".repeat(70_000);
    fake.state().written_at_once = Some(longer_than_allowed);
    let made = done(create(&tracker, ticket("a")).await);
    assert_eq!(made.remote.key, "#1");
    assert!(!made.missing.is_empty(), "another change tells what is wrong");
}
