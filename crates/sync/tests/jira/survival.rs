//! A worker on a server that does things wrong and whose index is late: whatever happens, an artifact has one
//! ticket.

use crate::{
    fake::{FakeJira, Fault, Reply, Status, When, refused},
    synced_project::{Project, counts, seen},
};

#[tokio::test]
async fn one_ticket_an_artifact_whatever_happens() {
    let html = || Reply { status: 502, headers: Vec::new(), body: "<html>Bad gateway</html>".to_owned() };
    let limited = |reason: &str| Fault::Answer(refused(429, "slow").with("RateLimit-Reason", reason));
    let fake = FakeJira::start();
    // Longer than anything that is between two requests, and shorter than the wait of the worker.
    fake.state().index_lag_ms = 60_000;
    let mut project = Project::new(&fake);
    for fault in [
        limited("jira-burst-based"),
        limited("jira-quota-tenant-based"),
        Fault::Reset,
        Fault::Answer(html()),
        Fault::Answer(refused(500, "oops")),
        // All of them are made by the first of these.
        Fault::LoseReply,
        Fault::Scramble("<html>".to_owned()),
    ] {
        let moves = [("POST", "/transitions"), ("POST", "/bulk/issues/transition")];
        for (method, path) in [("POST", "/issue/bulk"), ("PUT", "")].into_iter().chain(moves) {
            fake.fail(When::new(method, path), fault.clone());
        }
    }
    fake.fail(When::new("POST", "/search/jql"), Fault::Reset);
    fake.fail(When::new("GET", "/myself"), Fault::Answer(html()));
    project.sync(&fake).await;
    let first = counts(&fake);
    assert!(first.len() >= 5 && first.values().all(|count| *count == 1), "{first:?}");
    let left = |path: &str| fake.state().faults.iter().filter(|(when, _)| when.path == path).count();
    let [creations, searches] = ["/issue/bulk", "/search/jql"].map(left);
    assert_eq!((creations, searches), (1, 0), "all of it went wrong but what came after all were made");
    assert!(left("/transitions") < 7 || left("/bulk/issues/transition") < 7, "moves went wrong");
    assert!(
        fake.state().issues.values().any(|issue| issue.status == Status::InProgress),
        "issues were moved"
    );
    fake.state().faults.clear();
    // Nothing has changed: nothing is asked.
    fake.take_asked();
    assert!(project.sync(&fake).await.is_empty());
    assert!(fake.take_asked().is_empty());
    assert!(project.surveyed_plan(&fake).await.actions.is_empty(), "and nothing differs");
    project.lose_ledger();
    project.sync(&fake).await;
    assert_eq!(counts(&fake), first, "a lost ledger makes no second ticket");
}

/// Whatever is lost where, in the end there is one ticket an artifact, and it says what it would say had
/// nothing been lost.
#[tokio::test]
async fn every_fault_at_every_request_is_survived() {
    let html = Reply { status: 502, headers: Vec::new(), body: "<html>Bad gateway</html>".to_owned() };
    let limited = |reason: &str| Fault::Answer(refused(429, "slow").with("RateLimit-Reason", reason));
    let fake = FakeJira::start();
    let mut project = Project::new(&fake);
    let (tracker, snapshot) = (project.tracker(&fake), project.snapshot());
    project.sync_snapshot(&tracker, &snapshot).await;
    let untouched = seen(&fake);
    for (method, path) in [
        ("GET", "/myself"),
        ("POST", "/search/jql"),
        ("POST", "/issue/bulk"),
        ("POST", "/issue/bulkfetch"),
        ("GET", "/transitions"),
        ("POST", "/transitions"),
        ("GET", "/statuses"),
        ("GET", "/issuetypes"),
        ("GET", "/issuetypes/10001"),
        ("GET", "/bulk/issues/transition"),
        ("POST", "/bulk/issues/transition"),
        ("GET", "/bulk/queue/10641"),
    ] {
        for fault in [
            Fault::LoseReply,
            Fault::Reset,
            Fault::Scramble("<html>".to_owned()),
            Fault::Answer(html.clone()),
            Fault::Answer(refused(503, "maintenance").with("Retry-After", 3)),
            limited("jira-quota-tenant-based"),
            limited("jira-burst-based"),
            limited("jira-per-issue-on-write"),
        ] {
            fake.forget();
            fake.state().index_lag_ms = 60_000;
            project.tell_time(&fake);
            project.lose_ledger();
            let told = format!("{method} {path}: {fault:?}");
            fake.fail(When::new(method, path), fault.clone());
            fake.fail(When::new(method, path), fault);
            project.sync_snapshot(&tracker, &snapshot).await;
            assert!(counts(&fake).values().all(|count| *count == 1), "{told}: {:?}", counts(&fake));
            assert_eq!(seen(&fake), untouched, "{told}");
        }
    }
}

/// One request of five goes wrong, whichever; and the ledger is lost in between.
#[tokio::test]
async fn chaos_converges() {
    let fake = FakeJira::start();
    let mut project = Project::new(&fake);
    project.settings.retry.attempts = 100;
    let (tracker, snapshot) = (project.tracker(&fake), project.snapshot());
    project.sync_snapshot(&tracker, &snapshot).await;
    let untouched = seen(&fake);
    let mut mishaps = 0;
    for seed in 0..25 {
        fake.forget();
        project.tell_time(&fake);
        project.lose_ledger();
        {
            let mut state = fake.state();
            (state.index_lag_ms, state.chance) = (60_000, Some(seed));
        }
        for _ in 0..2 {
            project.sync_snapshot(&tracker, &snapshot).await;
            assert!(counts(&fake).values().all(|count| *count == 1), "{seed}: {:?}", counts(&fake));
            assert_eq!(seen(&fake), untouched, "{seed}");
            project.lose_ledger();
        }
        mishaps += fake.state().mishaps;
    }
    assert!(mishaps > 100, "{mishaps}");
}

#[tokio::test]
async fn a_creation_in_doubt_is_looked_for_until_the_index_must_show_it() {
    for lag_ms in [0, 30_000, 110_000] {
        let fake = FakeJira::start();
        fake.state().index_lag_ms = lag_ms;
        let project = Project::new(&fake);
        fake.fail(When::new("POST", "/issue/bulk"), Fault::LoseReply);
        project.sync(&fake).await;
        let counts = counts(&fake);
        assert!(counts.values().all(|count| *count == 1), "{lag_ms}: {counts:?}");
    }
}
