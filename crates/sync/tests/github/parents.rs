//! Tickets below tickets.

use std::path::Path;

use stepmark_sync::{
    plan::{ActionKind, Remark},
    ticket::{RemoteTicket, Ticket},
    tracker::{Change, Condition, Delivered, GitHubTracker, Tracker as _},
    worker::{ActionOutcome, Entry},
};

use crate::{
    clones::{clock, clone, sync},
    fake::{FakeGitHub, Fault, Issue, Reply, When},
    figures::apply,
    flat_project::FlatProject,
    project::{created, done, marker, one, ticket, tracker},
};

async fn put(
    tracker: &GitHubTracker,
    remote: &RemoteTicket,
    parent: Option<(&str, &RemoteTicket)>,
    before: Option<&Ticket>,
) -> Delivered {
    let change = Change {
        remote: remote.clone(),
        desired: below(parent.map(|(id, _)| id)),
        before: before.cloned(),
        parent: parent.map(|(_, remote)| remote.clone()),
        condition: Condition::Marked,
    };
    done(one(tracker.update(std::slice::from_ref(&change)).await))
}

/// The ticket `c` below another one.
fn below(parent: Option<&str>) -> Ticket {
    Ticket { parent: parent.map(marker), ..ticket("c") }
}

#[tokio::test]
async fn an_issue_hangs_below_its_parent() {
    let fake = FakeGitHub::start();
    let tracker = tracker(&fake);
    let [a, b] = [created(&tracker, &ticket("a")).await, created(&tracker, &ticket("b")).await];
    let c = created(&tracker, &ticket("c")).await;
    let parent = || fake.state().issues[&3].parent;
    assert!(put(&tracker, &c, Some(("a", &a)), None).await.missing.is_empty());
    assert_eq!(parent(), Some(1));
    fake.take_asked();
    assert!(put(&tracker, &c, Some(("a", &a)), Some(&below(Some("a")))).await.missing.is_empty());
    assert_eq!(fake.take_asked(), ["GET /repos/o/r/issues/3"], "it hangs there already");
    assert!(put(&tracker, &c, Some(("b", &b)), Some(&below(Some("a")))).await.missing.is_empty());
    assert_eq!(parent(), Some(2));
    assert!(put(&tracker, &c, None, Some(&below(None))).await.missing.is_empty());
    assert_eq!(parent(), Some(2), "a parent that a person chose stays");
    assert!(put(&tracker, &c, None, Some(&below(Some("b")))).await.missing.is_empty());
    assert_eq!(parent(), None);
    // The parent has no ticket yet.
    let change = Change {
        remote: c,
        desired: below(Some("z")),
        before: None,
        parent: None,
        condition: Condition::Marked,
    };
    let delivered = done(one(tracker.update(std::slice::from_ref(&change)).await));
    assert_eq!(delivered.missing[0].field, "parent");
}

/// Its list of issues is changed, too: so it has to carry the marker of its artifact now.
#[tokio::test]
async fn nothing_is_hung_below_an_issue_of_people_nor_taken_from_it() {
    for has_graphql in [true, false] {
        let fake = FakeGitHub::start();
        fake.state().has_graphql = has_graphql;
        let tracker = tracker(&fake);
        let [a, b] = [created(&tracker, &ticket("a")).await, created(&tracker, &ticket("b")).await];
        let c = created(&tracker, &ticket("c")).await;
        let own = fake.state().issues[&1].body.clone();
        let other = fake.state().issues[&2].body.clone();
        let parent = || fake.state().issues[&3].parent;
        let asked = || fake.take_asked().iter().filter(|asked| asked.contains("sub_issue")).count();
        for body in ["Somebody's own words.", &other] {
            body.clone_into(&mut fake.state().issues.get_mut(&1).unwrap().body);
            assert_eq!(put(&tracker, &c, Some(("a", &a)), None).await.missing[0].field, "parent");
            assert_eq!((parent(), asked()), (None, 0), "{has_graphql}: {body}");
            // A person hung it there.
            fake.state().issues.get_mut(&3).unwrap().parent = Some(1);
            put(&tracker, &c, None, Some(&below(Some("a")))).await;
            assert_eq!((parent(), asked()), (Some(1), 0), "{has_graphql}: {body}");
            fake.state().issues.get_mut(&3).unwrap().parent = None;
        }
        fake.state().issues.get_mut(&1).unwrap().body = own;
        assert!(put(&tracker, &c, Some(("a", &a)), None).await.missing.is_empty());
        assert!(put(&tracker, &c, Some(("b", &b)), Some(&below(Some("a")))).await.missing.is_empty());
    }
}

#[tokio::test]
async fn a_server_without_sub_issues_is_remembered() {
    let fake = FakeGitHub::start();
    fake.state().has_sub_issues = false;
    let tracker = tracker(&fake);
    let [a, c] = [created(&tracker, &ticket("a")).await, created(&tracker, &below(Some("a"))).await];
    assert!(put(&tracker, &c, Some(("a", &a)), None).await.missing.is_empty());
    fake.take_asked();
    assert!(put(&tracker, &c, Some(("a", &a)), None).await.missing.is_empty());
    assert_eq!(fake.take_asked(), ["GET /repos/o/r/issues/2"]);
}

#[tokio::test]
async fn a_parent_that_is_gone_or_full_is_told() {
    let fake = FakeGitHub::start();
    let tracker = tracker(&fake);
    let [a, c] = [created(&tracker, &ticket("a")).await, created(&tracker, &ticket("c")).await];
    let full = Reply::error(422, "Parent cannot have more than 100 sub-issues");
    fake.fail(When::new("POST", "/sub_issues"), Fault::Answer(full));
    let change = Change {
        remote: c.clone(),
        desired: below(Some("a")),
        before: None,
        parent: Some(a.clone()),
        condition: Condition::Marked,
    };
    assert_eq!(done(one(tracker.update(std::slice::from_ref(&change)).await)).missing[0].field, "parent");
    fake.state().issues.remove(&1);
    assert_eq!(put(&tracker, &c, Some(("a", &a)), None).await.missing[0].field, "parent");
}

/// Stories below epics of BMAD.
fn with_stories(fake: &FakeGitHub, folder: &Path, epics: usize, stories: usize) -> FlatProject {
    let project = clone(folder, "a", fake, 0);
    for epic in 1..=epics {
        project.write(
            &format!("epic-{epic}"),
            &format!("---\nid: E-{epic}\nstatus: draft\n---\n\n# Epic {epic}\n"),
        );
        write_stories(&project, epic, stories);
    }
    project
}

fn write_stories(project: &FlatProject, epic: usize, stories: usize) {
    for story in 1..=stories {
        let text = format!("---\nid: S-{epic}-{story}\nstatus: draft\n---\n\n# Story {epic}.{story}\n");
        project.write(&format!("{epic}-{story}-do-it"), &text);
    }
}

fn children(fake: &FakeGitHub) -> usize {
    fake.state().issues.values().filter(|issue| issue.parent == Some(1)).count()
}

#[tokio::test]
async fn what_an_epic_has_no_room_for_names_it_in_its_text() {
    for has_graphql in [true, false] {
        let (fake, folder, clock) = (FakeGitHub::start(), tempfile::tempdir().unwrap(), clock());
        fake.state().has_graphql = has_graphql;
        let project = with_stories(&fake, folder.path(), 1, 104);
        let plan = project.plan(&mut project.ledger());
        let crowded = |remark: &&Remark| matches!(remark, Remark::Crowded { tickets: 4, .. });
        assert_eq!(plan.remarks.iter().filter(crowded).count(), 1, "{:?}", plan.remarks);
        let reports = sync(&project, &clock, 1).await;
        let failed = |entry: &Entry| matches!(entry.outcome, ActionOutcome::Failed { .. });
        assert!(!reports.iter().flat_map(|report| &report.entries).any(failed), "{has_graphql}");
        assert_eq!(children(&fake), 100, "{has_graphql}");
        let named = "\nPart of [docs/epic-1.md](<";
        let issues = fake.state().issues.clone();
        assert_eq!(issues.values().filter(|issue| issue.body.contains(named)).count(), 4);
        fake.take_asked();
        assert!(sync(&project, &clock, 2).await.is_empty() && fake.take_asked().is_empty(), "{has_graphql}");
    }
}

#[tokio::test]
async fn what_people_hung_below_an_epic_leaves_less_room() {
    for has_graphql in [true, false] {
        let (fake, folder, clock) = (FakeGitHub::start(), tempfile::tempdir().unwrap(), clock());
        fake.state().has_graphql = has_graphql;
        let project = with_stories(&fake, folder.path(), 1, 0);
        sync(&project, &clock, 1).await;
        let epic = fake.state().issues[&1].clone();
        for number in 2..=96 {
            let own = Issue { number, body: String::new(), parent: Some(1), ..epic.clone() };
            fake.state().issues.insert(number, own);
        }
        write_stories(&project, 1, 9);
        let reports = sync(&project, &clock, 2).await;
        let lost = reports.iter().flat_map(|report| &report.entries).filter(|entry| match &entry.outcome {
            ActionOutcome::Done { missing, .. } => {
                entry.kind != ActionKind::Create && missing.iter().any(|own| own.field == "parent")
            }
            outcome => panic!("{has_graphql}: {outcome:?}"),
        });
        assert_eq!((lost.count(), children(&fake)), (4, 100), "{has_graphql}");
        fake.take_asked();
        assert!(sync(&project, &clock, 3).await.is_empty() && fake.take_asked().is_empty(), "{has_graphql}");
    }
}

#[tokio::test]
async fn a_first_sync_takes_little_more_than_a_request_a_story() {
    first_sync(10).await;
}

#[tokio::test]
#[ignore = "takes time: run by `just figures`"]
async fn figures_of_five_thousand_stories() {
    println!("first sync of 50 epics and 5000 stories: {} requests", first_sync(50).await);
}

async fn first_sync(epics: usize) -> usize {
    let (fake, folder) = (FakeGitHub::start(), tempfile::tempdir().unwrap());
    fake.state().has_graphql = true;
    let project = with_stories(&fake, folder.path(), epics, 100);
    let mut ledger = project.ledger();
    while !project.is_settled(&mut ledger) {
        apply(&project, &mut ledger).await;
    }
    let asked = fake.take_asked().len();
    let state = fake.state();
    assert_eq!(state.issues.values().filter(|issue| issue.parent.is_some()).count(), epics * 100);
    assert!(asked * 10 <= epics * 101 * 11, "{asked} requests for {epics} epics of 100 stories");
    asked
}
