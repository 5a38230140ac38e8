//! What a project will not take is told before anything is written.

use serde_json::json;
use stepmark_sync::{
    breaker::Reason,
    ticket::{CloseReason, Ticket, TicketKind, TicketState},
    tracker::{JiraIssueTypes, JiraSettings, JiraTracker, Outcome, Tracker as _},
};

use crate::{
    fake::{FakeJira, Status, Workflow, field},
    project::{TOKEN, create, credential, done, settings, ticket, tracker, update},
};

const COMPLETED: TicketState = TicketState::Closed(CloseReason::Completed);

fn with_fields(fields: &[(&str, &str)]) -> Ticket {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Ticket { fields: fields.collect(), ..ticket("a") }
}

fn writes(fake: &FakeJira) -> Vec<String> {
    fake.take_asked().into_iter().filter(|asked| !asked.starts_with("GET")).collect()
}

/// Returns what is told of a ticket, with nothing written.
async fn told(fake: &FakeJira, tracker: &JiraTracker, ticket: &Ticket) -> Vec<String> {
    let told = tracker.preflight(&[(ticket, true), (ticket, true)]).unwrap().await.unwrap();
    assert_eq!(writes(fake), Vec::<String>::new());
    told
}

#[tokio::test]
async fn what_keeps_an_issue_from_being_made_is_told_and_nothing_is_sent() {
    let fake = FakeJira::start();
    let (number, text) = (json!({ "type": "number" }), json!({ "type": "string" }));
    for (fields, own, cause) in [
        (vec![field("customfield_1", "Team", true, &text, &[])], ticket("a"), "need the field \"Team\""),
        (
            vec![field("customfield_2", "Scope", true, &text, &[])],
            ticket("a"),
            "docs/a.md lacks what `ticket.fields.customfield_2` makes the field \"Scope\" from",
        ),
        (vec![], with_fields(&[("customfield_9", "x")]), "have no field `customfield_9`"),
        (
            vec![field("customfield_1", "Points", false, &number, &[])],
            with_fields(&[("customfield_1", "many")]),
            "`many` is no number",
        ),
        (vec![], with_fields(&[("priority", "Huge")]), "`Huge` is none of its values: High, Low, Impossible"),
    ] {
        fake.forget();
        fake.state().fields.extend(fields);
        let tracker = tracker(&fake);
        let obstacles = told(&fake, &tracker, &own).await;
        assert!(obstacles.len() == 1 && obstacles[0].contains(cause), "{obstacles:?}");
        let outcome = create(&tracker, own).await;
        let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
        assert_eq!((failure.reason, &failure.detail), (Reason::Invalid, &obstacles[0]));
        assert_eq!(writes(&fake), Vec::<String>::new());
    }
}

#[tokio::test]
async fn types_are_known_by_name_or_id_and_sent_by_id() {
    let fake = FakeJira::start();
    fake.state().hidden_types = vec!["Story"];
    let of = |standard: &str, epic: &str| {
        let types = JiraIssueTypes {
            standard: standard.to_owned(),
            epic: Some(epic.to_owned()),
            story: None,
            child: None,
        };
        JiraTracker::new(JiraSettings { types, ..settings(&fake.url()) }, &credential(TOKEN)).unwrap()
    };
    let epic = Ticket { kind: TicketKind::Epic, ..ticket("e") };
    assert!(told(&fake, &of("10001", "10003"), &epic).await.is_empty());
    assert!(told(&fake, &of("task", "Epic"), &ticket("a")).await.is_empty());
    let obstacles = told(&fake, &of("Story", "Epic"), &ticket("a")).await;
    assert_eq!(
        obstacles,
        [
            "the project ABC has no type of issue `Story` that this account may make; it has `Task`, `Epic`, `Sub-task`"
        ]
    );
    assert!(told(&fake, &of("Task", "Task"), &epic).await[0].contains("is no type of epics"));
    done(create(&of("10001", "10003"), epic).await);
    assert_eq!(fake.state().issues[&10_000].issue_type, "Epic");
}

#[tokio::test]
async fn numbers_are_sent_as_numbers() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let of = |points: &str| with_fields(&[("customfield_10016", points)]);
    let remote = done(create(&tracker, of("3")).await).remote;
    assert_eq!(fake.state().issues[&10_000].others["customfield_10016"], json!(3));
    assert!(done(update(&tracker, &remote, of("2.5"), Some(&of("3"))).await).missing.is_empty());
    assert_eq!(fake.state().issues[&10_000].others["customfield_10016"], json!(2.5));
}

#[tokio::test]
async fn work_that_was_given_up_is_not_finished() {
    use Status::{Cancelled, Done, InProgress, ToDo};
    let fake = FakeJira::start();
    let closed = |state| Ticket { state, status: Some("done".to_owned()), ..ticket("a") };
    // Straight from the beginning an issue can only be cancelled.
    fake.state().workflow = Workflow::of(&[
        (ToDo, Cancelled),
        (ToDo, InProgress),
        (InProgress, Done),
        (Done, ToDo),
        (Cancelled, ToDo),
    ]);
    let tracker = tracker(&fake);
    let remote = done(create(&tracker, ticket("a")).await).remote;
    let status = || fake.state().issues[&10_000].status;
    done(update(&tracker, &remote, closed(COMPLETED), None).await);
    assert_eq!(status(), Done);
    done(update(&tracker, &remote, ticket("a"), None).await);
    done(update(&tracker, &remote, closed(TicketState::Closed(CloseReason::NotPlanned)), None).await);
    assert_eq!(status(), Cancelled);
    // A person cancelled it: it is taken back, since the artifact says that it is finished.
    done(update(&tracker, &remote, closed(COMPLETED), None).await);
    assert_eq!(status(), Done);
}

#[tokio::test]
async fn a_story_that_cannot_be_finished_says_so() {
    use Status::{Cancelled, InProgress, ToDo};
    let fake = FakeJira::start();
    fake.state().workflow = Workflow::of(&[(ToDo, Cancelled), (ToDo, InProgress), (InProgress, Cancelled)]);
    let tracker = tracker(&fake);
    let remote = done(create(&tracker, ticket("a")).await).remote;
    let finished = Ticket { state: COMPLETED, status: Some("done".to_owned()), ..ticket("a") };
    fake.take_asked();
    let obstacles = tracker.preflight(&[(&finished, false)]).unwrap().await.unwrap();
    assert_eq!(
        obstacles,
        [
            "issues of the type `Task` have no status that is known to be of finished work among `Cancelled`: name the one that is meant, `statuses: {done: NAME}`"
        ]
    );
    let outcome = update(&tracker, &remote, finished, None).await;
    let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
    assert_eq!(failure.reason, Reason::Invalid);
    assert!(failure.detail.starts_with("ABC-1 stays in `To Do`: issues of the type"), "{}", failure.detail);
    assert_eq!(fake.state().issues[&10_000].status, ToDo);
    let steps = writes(&fake).into_iter().filter(|asked| asked.ends_with("/transitions"));
    assert_eq!(steps.count(), 0, "it is not taken half of the way");
}
