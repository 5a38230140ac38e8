//! Issues below issues.

use stepmark_sync::{
    ticket::{RemoteTicket, Ticket, TicketKind},
    tracker::{
        Change, Condition, Creation, Delivered, JiraIssueTypes, JiraSettings, JiraTracker, Tracker as _,
    },
};

use crate::{
    fake::FakeJira,
    project::{TOKEN, created, credential, done, marker, missing, one, settings, ticket, tracker},
};

fn below(id: &str, parent: Option<&str>) -> Ticket {
    Ticket { parent: parent.map(marker), ..ticket(id) }
}

/// Types of a project whose epics are of this type.
fn types(epic: Option<&str>) -> JiraIssueTypes {
    JiraIssueTypes { standard: "Task".to_owned(), epic: epic.map(str::to_owned), story: None, child: None }
}

async fn made(tracker: &JiraTracker, ticket: Ticket, parent: &RemoteTicket) -> Delivered {
    let creation = Creation { ticket, parent: Some(parent.clone()) };
    done(one(tracker.create(std::slice::from_ref(&creation)).await))
}

async fn put(
    tracker: &JiraTracker,
    remote: &RemoteTicket,
    desired: Ticket,
    parent: Option<&RemoteTicket>,
    before: Option<&Ticket>,
) -> Delivered {
    let change = Change {
        remote: remote.clone(),
        desired,
        before: before.cloned(),
        parent: parent.cloned(),
        condition: Condition::Marked,
    };
    done(one(tracker.update(std::slice::from_ref(&change)).await))
}

#[tokio::test]
async fn a_sub_task_is_made_below_its_parent() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let [a, b] = [created(&tracker, &ticket("a")).await, created(&tracker, &ticket("b")).await];
    let c = made(&tracker, below("c", Some("a")), &a).await;
    assert!(c.missing.is_empty(), "{c:?}");
    let parent = |id: u64| fake.state().issues[&id].parent;
    assert_eq!(
        (parent(10_002), fake.state().issues[&10_002].issue_type.as_str()),
        (Some(10_000), "Sub-task")
    );
    // Below a sub-task nothing can hang: it hangs beside it.
    let d = made(&tracker, below("d", Some("c")), &c.remote).await;
    assert!(d.missing.is_empty(), "{d:?}");
    assert_eq!(parent(10_003), Some(10_000));
    let moved = put(&tracker, &c.remote, below("c", Some("b")), Some(&b), Some(&below("c", Some("a")))).await;
    assert!(moved.missing.is_empty(), "{moved:?}");
    assert_eq!(parent(10_002), Some(10_001));
    fake.take_asked();
    put(&tracker, &c.remote, below("c", Some("b")), Some(&b), Some(&below("c", Some("b")))).await;
    assert_eq!(fake.take_asked().len(), 1, "it hangs there already");
    // A sub-task cannot be freed, and an issue by itself cannot become one.
    let freed = put(&tracker, &c.remote, below("c", None), None, Some(&below("c", Some("b")))).await;
    assert_eq!((missing(&freed), parent(10_002)), (vec!["parent"], Some(10_001)));
    let hung = put(&tracker, &a, below("a", Some("b")), Some(&b), Some(&below("a", None))).await;
    assert_eq!((missing(&hung), parent(10_000)), (vec!["parent"], None));
}

#[tokio::test]
async fn without_a_type_for_children_nothing_hangs_below_another() {
    let fake = FakeJira::start();
    let types = JiraIssueTypes { standard: "Story".to_owned(), epic: None, story: None, child: None };
    let tracker =
        JiraTracker::new(JiraSettings { types, ..settings(&fake.url()) }, &credential(TOKEN)).unwrap();
    let a = created(&tracker, &ticket("a")).await;
    let b = made(&tracker, below("b", Some("a")), &a).await;
    assert!(b.missing.is_empty(), "{b:?}");
    assert_eq!(fake.state().issues[&10_001].issue_type, "Story");
    let moved = put(&tracker, &b.remote, below("b", None), None, Some(&below("b", Some("a")))).await;
    assert!(moved.missing.is_empty(), "{moved:?}");
}

#[tokio::test]
async fn stories_hang_below_epics_and_are_freed() {
    let fake = FakeJira::start();
    let types = JiraIssueTypes { child: Some("Story".to_owned()), ..types(None) };
    let tracker =
        JiraTracker::new(JiraSettings { types, ..settings(&fake.url()) }, &credential(TOKEN)).unwrap();
    created(&tracker, &ticket("a")).await;
    let b = created(&tracker, &ticket("b")).await;
    {
        // As in a project where stories hang below epics.
        let mut state = fake.state();
        let issue = state.issues.get_mut(&10_001).unwrap();
        "Story".clone_into(&mut issue.issue_type);
        issue.parent = Some(10_000);
    }
    let kept = put(&tracker, &b, below("b", None), None, Some(&below("b", None))).await;
    assert_eq!(
        (kept.missing.len(), fake.state().issues[&10_001].parent),
        (0, Some(10_000)),
        "a person put it there"
    );
    let freed = put(&tracker, &b, below("b", None), None, Some(&below("b", Some("a")))).await;
    assert_eq!((freed.missing.len(), fake.state().issues[&10_001].parent), (0, None));
}

#[tokio::test]
async fn stories_of_artifacts_hang_below_their_epics() {
    let fake = FakeJira::start();
    let types = JiraIssueTypes { story: Some("Story".to_owned()), ..types(Some("Epic")) };
    let tracker =
        JiraTracker::new(JiraSettings { types, ..settings(&fake.url()) }, &credential(TOKEN)).unwrap();
    let of = |id: &str, kind: TicketKind| Ticket { kind, ..ticket(id) };
    let [a, b] = [
        created(&tracker, &of("a", TicketKind::Epic)).await,
        created(&tracker, &of("b", TicketKind::Epic)).await,
    ];
    let below = |id: &str, parent: Option<&str>| Ticket { kind: TicketKind::Story, ..below(id, parent) };
    let c = made(&tracker, below("c", Some("a")), &a).await;
    assert!(c.missing.is_empty(), "{c:?}");
    let state = |id: u64| {
        let issue = fake.state().issues[&id].clone();
        (issue.issue_type, issue.parent)
    };
    assert_eq!(
        (state(10_000), state(10_002)),
        (("Epic".to_owned(), None), ("Story".to_owned(), Some(10_000)))
    );
    let moved = put(&tracker, &c.remote, below("c", Some("b")), Some(&b), Some(&below("c", Some("a")))).await;
    assert_eq!((missing(&moved), state(10_002).1), (vec![], Some(10_001)));
    let freed = put(&tracker, &c.remote, below("c", None), None, Some(&below("c", Some("b")))).await;
    assert_eq!((missing(&freed), state(10_002).1), (vec![], None));
    // An epic that was made before its type was configured is told of, and Jira is not asked in vain.
    let d = created(&tracker, &ticket("d")).await;
    let told = put(&tracker, &c.remote, below("c", Some("d")), Some(&d), Some(&below("c", None))).await;
    assert_eq!((missing(&told), state(10_002).1), (vec!["parent"], None));
}
