//! The same against an emulator of GitHub that others wrote (npm `emulate` 0.12.2, `emulate start --service
//! github`), at the address in `STEPMARK_GITHUB_EMULATOR`. That may be a proxy which checks requests by the
//! vendor's description; then the emulator itself is at `STEPMARK_GITHUB_UPSTREAM`, since making a repository
//! is no part of it. Without one this test is ignored; with `--ignored` it wants one.
#![expect(clippy::disallowed_methods, reason = "the environment says where the emulator is")]

use serde_json::json;
use stepmark_store::workspace::Clock;
use stepmark_sync::{
    configuration::Repository,
    ticket::{CloseReason, Ticket, TicketState},
    tracker::{Change, Condition, GitHubSettings, GitHubTracker, HttpLimits, RequestKind, Tracker as _},
};

use crate::project::{created, credential, done, one, settings, ticket, update};

/// A new repository of the emulator.
async fn repository(url: &str) -> Repository {
    let name = format!("r{}", Clock::System.now().as_millisecond());
    // A tracker first: it says which TLS there is.
    drop(GitHubTracker::new(settings(url), &credential()).unwrap());
    let client = reqwest::Client::builder().no_proxy().user_agent("test").build().unwrap();
    let request = client.post(format!("{url}/user/repos")).bearer_auth("test").json(&json!({ "name": name }));
    let made: serde_json::Value = request.send().await.unwrap().json().await.unwrap();
    made["full_name"].as_str().unwrap_or_else(|| panic!("{made}")).parse().unwrap()
}

#[tokio::test]
#[ignore = "needs an emulator at STEPMARK_GITHUB_EMULATOR"]
async fn tickets_live_on_an_emulator() {
    let url = std::env::var("STEPMARK_GITHUB_EMULATOR").unwrap();
    let upstream = std::env::var("STEPMARK_GITHUB_UPSTREAM").unwrap_or_else(|_| url.clone());
    let repository = repository(&upstream).await;
    let settings = GitHubSettings { repository, limits: HttpLimits::default(), ..settings(&url) };
    let tracker = GitHubTracker::new(settings, &credential()).unwrap();
    let [a, b] = [created(&tracker, &ticket("a")).await, created(&tracker, &ticket("b")).await];
    let desired = Ticket {
        title: "New".to_owned(),
        labels: ["stepmark:p".to_owned(), "status:done".to_owned()].into(),
        state: TicketState::Closed(CloseReason::Completed),
        ..ticket("a")
    };
    let changed = done(update(&tracker, &a, desired.clone(), Some(&ticket("a"))).await);
    assert!(changed.missing.is_empty(), "{changed:?}");
    assert_eq!(tracker.batch(RequestKind::Update), 1, "it has no GraphQL");
    let read = done(one(tracker.read(std::slice::from_ref(&a)).await)).unwrap();
    assert!(tracker.compare(&desired, None, &read).unwrap().is_empty(), "{read:?}");
    let below = Ticket { parent: Some(crate::project::marker("a")), ..ticket("b") };
    let change = Change {
        remote: b.clone(),
        desired: below,
        before: None,
        parent: Some(a),
        condition: Condition::Marked,
    };
    let below = done(one(tracker.update(std::slice::from_ref(&change)).await));
    assert!(below.missing.is_empty(), "{below:?}");
    for at in 0..120 {
        created(&tracker, &ticket(&format!("t{at}"))).await;
    }
    let (mut found, mut from, mut pages) = (0, None, 0);
    loop {
        let page = tracker.list("p", from.as_ref(), stepmark_sync::tracker::Listing::Labelled).await.unwrap();
        (found, pages, from) = (found + page.tickets.len(), pages + 1, page.next);
        if from.is_none() {
            break;
        }
    }
    assert_eq!((found, pages), (122, 2), "open and closed ones");
    assert!(
        tracker.list("q", None, stepmark_sync::tracker::Listing::Labelled).await.unwrap().tickets.is_empty()
    );
}
