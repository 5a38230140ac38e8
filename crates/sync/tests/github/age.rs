//! Tickets are written from the newest commit, and from no older one; what was made as ours is ours.

use std::sync::Arc;

use stepmark_sync::{
    breaker::Reason,
    configuration::Duplicates,
    ledger::Ledger as _,
    plan::{Plan, PlanInputs, Remark},
    ticket::Commit,
    worker::{ActionOutcome, Deferred, Report},
};

use crate::{
    clones::{clock, clone, linked, open, round, sync},
    fake::{FakeGitHub, Issue},
    flat_project::FlatProject,
};

/// A commit that comes after those that are named.
fn commit(id: &str, after: &'static [&'static str]) -> Option<Commit> {
    Some(Commit {
        id: id.to_owned(),
        folder: String::new(),
        remotes: Vec::new(),
        holds: Arc::new(|_| true),
        contains: Arc::new(move |id| after.contains(&id)),
        aside: None,
    })
}

fn set_all(project: &FlatProject, status: &str) {
    (0..3).for_each(|number| project.set_status(number, status));
}

/// Returns whether all that was to be done was refused, since the tickets are newer.
fn is_all_newer(report: &Report) -> bool {
    let is_newer = |outcome: &ActionOutcome| match outcome {
        ActionOutcome::Failed { failure: last, .. }
        | ActionOutcome::Deferred(Deferred::Parked { last, .. }) => last.reason == Reason::Newer,
        _ => false,
    };
    !report.entries.is_empty()
        && report
            .entries
            .iter()
            .all(|entry| is_newer(&entry.outcome) || matches!(entry.outcome, ActionOutcome::Found { .. }))
}

#[tokio::test]
async fn a_fresh_clone_of_an_older_commit_takes_nothing_back() {
    for has_graphql in [true, false] {
        let (fake, folder, clock) = (FakeGitHub::start(), tempfile::tempdir().unwrap(), clock());
        fake.state().has_graphql = has_graphql;
        let mut new = clone(folder.path(), "new", &fake, 3);
        new.commit = commit("b2", &["a1"]);
        set_all(&new, "done");
        sync(&new, &clock, 1).await;
        let before = fake.state().issues.clone();
        assert!(before.values().all(|issue| !issue.is_open && issue.body.contains("commit=b2")));

        let mut old = clone(folder.path(), "old", &fake, 3);
        old.commit = commit("a1", &[]);
        let mut chance = 5;
        let mut last = None;
        for _ in 0..3 {
            last = round(&old, &clock, &mut chance).await;
        }
        assert!(last.as_ref().is_some_and(is_all_newer), "{has_graphql}: {last:?}");
        assert_eq!(fake.state().issues, before, "{has_graphql}");
        fake.state().asked.clear();
        round(&old, &clock, &mut chance).await;
        assert!(fake.state().asked.is_empty(), "{:?}", fake.state().asked);

        // It catches up, and goes on by itself.
        old.commit = commit("c3", &["a1", "b2"]);
        set_all(&old, "review");
        sync(&old, &clock, 7).await;
        assert!(fake.state().issues.values().all(|issue| issue.is_open && issue.body.contains("commit=c3")));
    }
}

#[tokio::test]
async fn a_ledger_at_an_older_commit_sends_nothing() {
    let (fake, folder, clock) = (FakeGitHub::start(), tempfile::tempdir().unwrap(), clock());
    let mut project = clone(folder.path(), "a", &fake, 3);
    project.commit = commit("b2", &["a1"]);
    set_all(&project, "done");
    sync(&project, &clock, 1).await;
    fake.state().asked.clear();
    project.commit = commit("a1", &[]);
    set_all(&project, "draft");
    let plan = project.plan(&mut project.ledger());
    assert!(plan.actions.is_empty(), "{plan:?}");
    assert!(plan.remarks.iter().all(|remark| matches!(remark, Remark::Newer { .. })));
    assert_eq!((plan.remarks.len(), round(&project, &clock, &mut 1).await.is_none()), (3, true));
    assert!(fake.state().asked.is_empty());
    // A person may want just that.
    let mut ledger = project.ledger();
    let forced = Plan::make(&PlanInputs {
        snapshot: &project.snapshot().forced(),
        settings: &project.settings,
        ledger: &*ledger.read().unwrap(),
        survey: None,
    });
    assert_eq!(forced.unwrap().actions.len(), 3);
}

#[tokio::test]
async fn what_was_not_committed_is_newer_than_its_commit() {
    let (fake, folder, clock) = (FakeGitHub::start(), tempfile::tempdir().unwrap(), clock());
    let [mut a, mut b] = ["a", "b"].map(|name| clone(folder.path(), name, &fake, 3));
    a.commit = commit("a1", &[]).map(|commit| Commit { holds: Arc::new(|_| false), ..commit });
    b.commit = commit("a1", &[]);
    set_all(&a, "done");
    sync(&a, &clock, 1).await;
    let before = fake.state().issues.clone();
    let mut chance = 3;
    for _ in 0..3 {
        round(&b, &clock, &mut chance).await;
    }
    assert_eq!(fake.state().issues, before);
    // The machine that wrote it goes on, also once the change is given up.
    a.commit = commit("a1", &[]);
    set_all(&a, "draft");
    sync(&a, &clock, 4).await;
    assert!(fake.state().issues.values().all(|issue| issue.is_open));
}

#[tokio::test]
async fn tickets_do_not_follow_another_branch() {
    let (fake, folder, clock) = (FakeGitHub::start(), tempfile::tempdir().unwrap(), clock());
    let mut project = clone(folder.path(), "a", &fake, 3);
    let aside = Some(("topic".to_owned(), "main".to_owned()));
    project.commit = commit("b2", &["a1"]).map(|commit| Commit { aside, ..commit });
    let plan = project.plan(&mut project.ledger());
    assert!(plan.actions.is_empty() && matches!(plan.remarks[..], [Remark::Aside { .. }]), "{plan:?}");
    project.commit = commit("b2", &["a1"]);
    sync(&project, &clock, 1).await;
    assert_eq!(fake.state().issues.len(), 3);
}

/// A lost ledger, and what people did to the tickets meanwhile.
#[tokio::test]
async fn a_lost_ledger_makes_no_double_of_what_people_changed() {
    let renamed = |issue: &mut Issue| issue.labels = ["elsewhere".to_owned()].into();
    let erased = |issue: &mut Issue| issue.body = "A person's words.".to_owned();
    let changes: [&dyn Fn(&mut Issue); 2] = [&renamed, &erased];
    for (at, change) in changes.into_iter().enumerate() {
        let (fake, folder, clock) = (FakeGitHub::start(), tempfile::tempdir().unwrap(), clock());
        let project = clone(folder.path(), "a", &fake, 30);
        sync(&project, &clock, 1).await;
        project.lose_ledger();
        fake.state().issues.values_mut().for_each(change);
        let mut chance = 5;
        for _ in 0..4 {
            round(&project, &clock, &mut chance).await;
        }
        assert_eq!(fake.state().issues.len(), 30, "case {at}");
        assert_eq!(linked(&project).len(), 30, "case {at}: each has its ticket");
        let issues = fake.state().issues.clone();
        match at {
            0 => {
                assert!(issues.values().all(|issue| issue.labels.contains("stepmark:flat")), "labelled again")
            }
            _ => assert!(issues.values().all(|issue| issue.body == "A person's words."), "left alone"),
        }
    }
}

/// An issue of somebody else that is older than ours, into which the text of ours was pasted.
fn paste(fake: &FakeGitHub, own: u64) {
    let mut state = fake.state();
    let body = format!("It hurts.\n\n{}", state.issues[&own].body);
    let pasted = Issue {
        number: 1,
        title: "A bug".to_owned(),
        body,
        created_at: "2020-01-01T00:00:00Z".to_owned(),
        ..state.issues[&own].clone()
    };
    state.issues.insert(1, pasted);
}

#[tokio::test]
async fn a_marker_that_was_pasted_does_not_win() {
    for (is_fresh, has_graphql) in [(true, true), (true, false), (false, true), (false, false)] {
        let (fake, folder, clock) = (FakeGitHub::start(), tempfile::tempdir().unwrap(), clock());
        fake.state().has_graphql = has_graphql;
        // Ours have numbers after it.
        let stranger = FakeGitHub::start();
        let spare = clone(folder.path(), "spare", &stranger, 1);
        sync(&spare, &clock, 1).await;
        let first = stranger.state().issues[&1].clone();
        fake.state().issues.insert(1, Issue { body: String::new(), labels: Default::default(), ..first });
        let project = clone(folder.path(), "a", &fake, 3);
        sync(&project, &clock, 1).await;
        let own = linked(&project);
        assert!(own.values().all(|number| *number > 1), "{own:?}");
        let number = *own.values().next().unwrap();
        paste(&fake, number);
        let before = fake.state().issues.clone();
        let project = if is_fresh { clone(folder.path(), "b", &fake, 3) } else { project };
        project.set_status(0, "review");
        let reports = sync(&project, &clock, 2).await;
        let after = fake.state().issues.clone();
        assert_eq!(after[&1], before[&1], "fresh {is_fresh}, {has_graphql}");
        assert_eq!((linked(&project), after.len()), (own, before.len()));
        assert!(after.values().all(|issue| issue.is_open), "none was closed");
        let is_told = |report: &Report| matches!(&report.remarks[..], [Remark::Copy { remote, .. }] if remote.id == "1");
        assert!(!is_fresh || reports.iter().any(is_told), "{reports:?}");
    }
}

/// "Duplicate issue" of GitHub: a new issue with the same text, in which nobody wrote.
#[tokio::test]
async fn a_copy_is_told_and_left_alone() {
    for duplicates in [Duplicates::Report, Duplicates::Close] {
        let (fake, folder, clock) = (FakeGitHub::start(), tempfile::tempdir().unwrap(), clock());
        let mut project = clone(folder.path(), "a", &fake, 3);
        sync(&project, &clock, 1).await;
        let copy = Issue {
            number: 4,
            comments: 0,
            created_at: "2030-01-01T00:00:00Z".to_owned(),
            ..fake.state().issues[&2].clone()
        };
        fake.state().issues.insert(4, copy);
        let before = fake.state().issues.clone();
        project.lose_ledger();
        project.settings.duplicates = duplicates;
        let reports = sync(&project, &clock, 2).await;
        assert_eq!(fake.state().issues, before, "{duplicates:?}");
        let is_told = |report: &Report| matches!(&report.remarks[..], [Remark::Copy { remote, .. }] if remote.id == "4");
        assert!(reports.iter().any(is_told), "{reports:?}");
        assert!(open(&fake).values().any(|same| same.len() == 2));
    }
}
