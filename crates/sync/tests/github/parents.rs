//! Tickets below tickets.

use stepmark_sync::{
    ticket::{RemoteTicket, Ticket},
    tracker::{Change, Condition, Delivered, GitHubTracker, Tracker as _},
};

use crate::{
    fake::{FakeGitHub, Fault, Reply, When},
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
    let outcome = one(tracker.update(std::slice::from_ref(&change)).await);
    assert!(
        outcome.failure().is_some_and(|failure| failure.detail.contains("100 sub-issues")),
        "{outcome:?}"
    );
    fake.state().issues.remove(&1);
    assert_eq!(put(&tracker, &c, Some(("a", &a)), None).await.missing[0].field, "parent");
}
