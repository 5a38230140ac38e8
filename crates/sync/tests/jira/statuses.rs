//! Issues on their ways through workflows.

use stepmark_sync::{
    breaker::Reason,
    ticket::{CloseReason, Ticket, TicketState},
    tracker::{Outcome, Tracker as _},
};

use crate::{
    fake::{FakeJira, Issue, Status, When, Workflow},
    project::{created, done, ticket, tracker, update},
};

fn with(state: TicketState, status: &str) -> Ticket {
    Ticket { state, status: Some(status.to_owned()), ..ticket("a") }
}

const COMPLETED: TicketState = TicketState::Closed(CloseReason::Completed);

#[tokio::test]
async fn an_issue_goes_where_its_state_says() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let remote = created(&tracker, &ticket("a")).await;
    let status = || fake.state().issues[&10_000].status;
    for (desired, expected) in [
        (with(TicketState::InProgress, "draft"), Status::InProgress),
        (with(TicketState::InProgress, "in-review"), Status::InReview),
        (with(TicketState::InProgress, "draft"), Status::InReview),
        (with(COMPLETED, "done"), Status::Done),
        (with(TicketState::ToDo, "draft"), Status::ToDo),
        (with(TicketState::Closed(CloseReason::NotPlanned), "in-review"), Status::Cancelled),
        (with(COMPLETED, "in-review"), Status::InReview),
    ] {
        let changed = done(update(&tracker, &remote, desired.clone(), None).await);
        assert!(changed.missing.is_empty(), "{desired:?} {changed:?}");
        assert_eq!(status(), expected, "{desired:?}");
        fake.take_asked();
        done(update(&tracker, &remote, desired, None).await);
        assert_eq!(fake.take_asked().len(), 1, "it is there");
    }
}

#[tokio::test]
async fn a_workflow_may_want_several_steps() {
    use Status::{Done, InProgress, InReview, ToDo};
    let fake = FakeJira::start();
    fake.state().workflow = Workflow::of(&[
        (ToDo, InProgress),
        (InProgress, ToDo),
        (InProgress, InReview),
        (InReview, Done),
        (Done, InProgress),
    ]);
    fake.state().locks_closed = true;
    let tracker = tracker(&fake);
    let remote = created(&tracker, &ticket("a")).await;
    let closed = with(COMPLETED, "done");
    assert!(done(update(&tracker, &remote, closed.clone(), None).await).missing.is_empty());
    assert_eq!(fake.state().issues[&10_000].status, Done);
    // A closed issue is opened before it is changed, and a change of a closed one that stays so is refused.
    let open = Ticket { title: "New".to_owned(), ..ticket("a") };
    assert!(done(update(&tracker, &remote, open, Some(&closed)).await).missing.is_empty());
    let issue = fake.state().issues[&10_000].clone();
    assert_eq!((issue.summary.as_str(), issue.status), ("New", ToDo));
}

#[tokio::test]
async fn what_others_moved_meanwhile_is_not_moved_back() {
    let given_up = TicketState::Closed(CloseReason::NotPlanned);
    for (desired, moved) in [
        // From `Cancelled` no way leads there, and from `Done` one leads to what is open.
        (with(given_up, "draft"), Status::Cancelled),
        (with(COMPLETED, "done"), Status::Done),
        (with(TicketState::InProgress, "in-review"), Status::InReview),
        (with(COMPLETED, "done"), Status::InProgress),
    ] {
        for method in ["GET", "POST"] {
            let fake = FakeJira::start();
            let tracker = tracker(&fake);
            let remote = created(&tracker, &ticket("a")).await;
            let moves = Box::new(move |issue: &mut Issue| issue.status = moved);
            fake.state().meanwhile = Some((When::new(method, "/transitions"), 10_000, moves));
            let changed = done(update(&tracker, &remote, desired.clone(), None).await);
            assert!(changed.missing.is_empty(), "{method} {desired:?} {changed:?}");
            let (state, expected) =
                (fake.state(), if desired.state == COMPLETED { Status::Done } else { moved });
            assert_eq!(state.issues[&10_000].status, expected, "{method} {desired:?}");
            let moves = state
                .asked
                .iter()
                .filter(|asked| asked.starts_with("POST") && asked.ends_with("/transitions"))
                .count();
            let wanted = usize::from(method == "POST") + usize::from(moved == Status::InProgress);
            assert_eq!(moves, wanted, "{method} {desired:?}");
        }
    }
}

#[tokio::test]
async fn what_no_way_leads_to_is_told() {
    let fake = FakeJira::start();
    fake.state().workflow = Workflow::of(&[(Status::ToDo, Status::InProgress)]);
    let tracker = tracker(&fake);
    let remote = created(&tracker, &ticket("a")).await;
    done(update(&tracker, &remote, with(TicketState::InProgress, "draft"), None).await);
    for (desired, why) in [
        (with(COMPLETED, "done"), "issues of the type `Task` have no status that is known"),
        (with(TicketState::InProgress, "in-review"), "issues of the type `Task` have no status `In Review`"),
        (
            with(TicketState::Closed(CloseReason::NotPlanned), "draft"),
            "issues of the type `Task` have no status of closed issues; they have `To Do`, `In Progress`",
        ),
        (
            with(TicketState::ToDo, "draft"),
            "no transition that asks for nothing else leads to a status of work that has not",
        ),
    ] {
        let outcome = update(&tracker, &remote, desired, None).await;
        let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
        assert_eq!(failure.reason, Reason::Invalid);
        let told = format!("ABC-1 stays in `In Progress`: {why}");
        assert!(failure.detail.starts_with(&told), "{}", failure.detail);
    }
}

#[tokio::test]
async fn a_resolution_is_given_where_it_is_asked_for() {
    let fake = FakeJira::start();
    fake.state().workflow = Workflow::of(&[(Status::ToDo, Status::Done), (Status::Done, Status::ToDo)]);
    fake.state().workflow.asks_resolution = true;
    let tracker = tracker(&fake);
    let remote = created(&tracker, &ticket("a")).await;
    for (reason, resolution) in [
        (CloseReason::NotPlanned, "Won't Do"),
        (CloseReason::Completed, "Done"),
        (CloseReason::Duplicate, "Duplicate"),
    ] {
        done(update(&tracker, &remote, with(TicketState::Closed(reason), "x"), None).await);
        let issue = fake.state().issues[&10_000].clone();
        assert_eq!((issue.status, issue.resolution.as_deref()), (Status::Done, Some(resolution)));
        let read = tracker
            .list("p", None, stepmark_sync::tracker::Listing::Labelled)
            .await
            .unwrap()
            .tickets
            .remove(0);
        assert_eq!(read.state, TicketState::Closed(reason));
        done(update(&tracker, &remote, ticket("a"), None).await);
    }
}
