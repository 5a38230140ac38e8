//! What is ours: nothing is changed that does not carry the marker, by REST and by GraphQL.

use stepmark_sync::{
    breaker::Reason,
    ticket::{CloseReason, RemoteTicket, Ticket, TicketState},
    tracker::{Change, Condition, Outcome, Tracker as _},
};

use crate::{
    fake::FakeGitHub,
    project::{created, done, one, ticket, tracker},
};

fn change(remote: &RemoteTicket, desired: Ticket, condition: Condition) -> Change {
    Change { remote: remote.clone(), desired, before: None, parent: None, condition }
}

#[tokio::test]
async fn nothing_is_changed_without_its_marker_unless_a_person_names_the_issue() {
    for has_graphql in [true, false] {
        let fake = FakeGitHub::start();
        fake.state().has_graphql = has_graphql;
        let tracker = tracker(&fake);
        let [a, b] = [created(&tracker, &ticket("a")).await, created(&tracker, &ticket("b")).await];
        fake.state().issues.get_mut(&1).unwrap().body = "Somebody's own words.".to_owned();
        let before = fake.state().issues.clone();
        let renamed = || Ticket { title: "New".to_owned(), ..ticket("a") };
        for (remote, reason) in [(&a, Reason::Unmarked), (&b, Reason::Gone)] {
            let outcome = one(tracker.update(&[change(remote, renamed(), Condition::Marked)]).await);
            assert!(
                matches!(&outcome, Outcome::Failed(failure) if failure.reason == reason),
                "{has_graphql}: {outcome:?}"
            );
        }
        assert_eq!(fake.state().issues, before, "{has_graphql}");
        done(one(tracker.update(&[change(&a, renamed(), Condition::Named)]).await));
        let issue = fake.state().issues[&1].clone();
        assert_eq!(issue.title, "New");
        assert!(issue.body.contains("stepmark:begin v1 p/id:a ") && issue.body.contains("own words"));
    }
}

#[tokio::test]
async fn a_duplicate_in_which_people_wrote_stays_open() {
    for has_graphql in [true, false] {
        let fake = FakeGitHub::start();
        fake.state().has_graphql = has_graphql;
        let tracker = tracker(&fake);
        let a = created(&tracker, &ticket("a")).await;
        let closed = Ticket { state: TicketState::Closed(CloseReason::Duplicate), ..ticket("a") };
        let close = [change(&a, closed, Condition::Untouched)];
        let own_body = fake.state().issues[&1].body.clone();
        for (comments, body) in [(1, own_body.clone()), (0, format!("{own_body}\n\nMe, too."))] {
            {
                let mut state = fake.state();
                let issue = state.issues.get_mut(&1).unwrap();
                (issue.comments, issue.body) = (comments, body);
            }
            let outcome = one(tracker.update(&close).await);
            assert!(
                matches!(&outcome, Outcome::Failed(failure) if failure.reason == Reason::Touched),
                "{has_graphql}: {outcome:?}"
            );
            assert!(fake.state().issues[&1].is_open);
        }
        fake.state().issues.get_mut(&1).unwrap().body = own_body;
        done(one(tracker.update(&close).await));
        assert!(!fake.state().issues[&1].is_open);
    }
}
