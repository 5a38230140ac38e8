//! What goes wrong, and what follows.

use std::time::Duration;

use serde_json::json;
use stepmark_store::workspace::Clock;
use stepmark_sync::{
    breaker::Reason,
    ticket::Ticket,
    tracker::{GitHubTracker, Outcome, Tracker as _},
};

use crate::{
    fake::{FakeGitHub, Fault, Reply, When},
    project::{create, created, credential, settings, ticket, tracker, update},
};

const CREATE: When = When::new("POST", "/issues");

#[tokio::test]
async fn a_refusal_is_told_by_its_reason() {
    let fake = FakeGitHub::start();
    let tracker = tracker(&fake);
    let error = Reply::error;
    let in_minutes = Clock::System.now().as_second() + 120;
    for (reply, reason, waits_at_least) in [
        (error(401, "Bad credentials"), Reason::Unauthorized, None),
        (error(403, "Resource not accessible by integration"), Reason::Forbidden, None),
        (error(404, "Not Found"), Reason::Forbidden, None),
        (error(410, "Issues are disabled for this repo"), Reason::Forbidden, None),
        (error(422, "Validation Failed"), Reason::Invalid, None),
        (error(403, "You have exceeded a secondary rate limit."), Reason::SecondaryLimit, Some(59)),
        (
            error(403, "You have exceeded a secondary rate limit.").with("Retry-After", 7),
            Reason::SecondaryLimit,
            Some(6),
        ),
        (error(429, "Slow down").with("Retry-After", 7), Reason::SecondaryLimit, Some(6)),
        (error(429, ""), Reason::SecondaryLimit, Some(59)),
        (
            error(403, "API rate limit exceeded for user ID 1.")
                .with("X-RateLimit-Remaining", 0)
                .with("X-RateLimit-Reset", in_minutes),
            Reason::PrimaryLimit,
            Some(110),
        ),
        (error(403, "was submitted too quickly"), Reason::SecondaryLimit, Some(59)),
    ] {
        let told = format!("{reply:?}");
        fake.fail(CREATE, Fault::Answer(reply));
        let Outcome::Failed(failure) = create(&tracker, ticket("a")).await else { panic!("{told}") };
        assert_eq!(failure.reason, reason, "{told}");
        let seconds = failure.wait_until.map(|until| until.as_second() - Clock::System.now().as_second());
        match waits_at_least {
            None => assert_eq!(seconds, None, "{told}"),
            Some(least) => assert!(seconds.is_some_and(|own| (least..=least + 12).contains(&own)), "{told}"),
        }
    }
    assert!(fake.state().issues.is_empty());
}

#[tokio::test]
async fn where_the_answer_is_lost_nobody_knows() {
    let html = Reply { status: 502, headers: Vec::new(), body: "<html>Bad gateway</html>".to_owned() };
    for (fault, reason, was_made) in [
        (Fault::LoseReply, Reason::Timeout, true),
        (Fault::Reset, Reason::Timeout, false),
        (Fault::Hang, Reason::Timeout, false),
        (Fault::Answer(html), Reason::ServerError, false),
        (Fault::Scramble("<html>".to_owned()), Reason::Unreadable, true),
        (Fault::Scramble(format!("\"{}\"", "x".repeat(2 << 20))), Reason::Unreadable, true),
    ] {
        let fake = FakeGitHub::start();
        let tracker = tracker(&fake);
        fake.fail(CREATE, fault.clone());
        let outcome = create(&tracker, ticket("a")).await;
        let Outcome::InDoubt(failure) = &outcome else { panic!("{fault:?}: {outcome:?}") };
        assert_eq!(failure.reason, reason, "{outcome:?}");
        // What was made is found by its marker at once.
        let found = tracker.list("p", None, stepmark_sync::tracker::Listing::Labelled).await.unwrap().tickets;
        assert_eq!(found.len(), usize::from(was_made));
        // A question that changes nothing leaves no doubt.
        let remote = created(&tracker, &ticket("b")).await;
        fake.fail(When::new("GET", ""), fault);
        let outcome = update(&tracker, &remote, ticket("b"), None).await;
        assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
    }
}

#[tokio::test]
async fn without_a_connection_nothing_was_done() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let tracker = GitHubTracker::new(settings(&format!("http://127.0.0.1:{port}")), &credential()).unwrap();
    let outcome = create(&tracker, ticket("a")).await;
    assert!(
        matches!(&outcome, Outcome::Failed(failure) if failure.reason == Reason::Unreachable),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn an_issue_that_is_gone_is_told() {
    let fake = FakeGitHub::start();
    let tracker = tracker(&fake);
    let remote = created(&tracker, &ticket("a")).await;
    fake.state().issues.clear();
    let outcome = update(&tracker, &remote, ticket("a"), None).await;
    assert!(matches!(&outcome, Outcome::Failed(failure) if failure.reason == Reason::Gone), "{outcome:?}");
}

/// Nothing is lost by it: the ticket is there again when somebody turns issues on.
#[tokio::test]
async fn issues_that_are_turned_off_are_not_gone() {
    const DISABLED: &str = "Issues are disabled for this repo";
    let off = Reply::error(410, DISABLED);
    let error = json!({ "type": "NOT_FOUND", "path": ["nodes", 0], "message": DISABLED });
    let told = Reply::json(200, &json!({ "data": { "nodes": [null] }, "errors": [error] }));
    for (has_graphql, method, path, answer) in [
        (false, "GET", "/issues/1", off.clone()),
        (false, "PATCH", "/issues/1", off.clone()),
        (true, "POST", "/graphql", off.clone()),
        (true, "POST", "/graphql", told),
    ] {
        let fake = FakeGitHub::start();
        fake.state().has_graphql = has_graphql;
        let tracker = tracker(&fake);
        let remote = created(&tracker, &ticket("a")).await;
        fake.fail(When::new(method, path), Fault::Answer(answer));
        let renamed = || Ticket { title: "New".to_owned(), ..ticket("a") };
        let outcome = update(&tracker, &remote, renamed(), None).await;
        assert!(
            matches!(&outcome, Outcome::Failed(failure) if failure.reason == Reason::Forbidden),
            "{method} {path}: {outcome:?}"
        );
        let outcome = update(&tracker, &remote, renamed(), None).await;
        assert!(matches!(&outcome, Outcome::Done(_)), "{method} {path}: {outcome:?}");
    }
    let fake = FakeGitHub::start();
    fake.fail(CREATE, Fault::Answer(off));
    let outcome = create(&tracker(&fake), ticket("a")).await;
    assert!(
        matches!(&outcome, Outcome::Failed(failure) if failure.reason == Reason::Forbidden),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn redirects_stay_on_the_host() {
    let fake = FakeGitHub::start();
    let tracker = tracker(&fake);
    let moved = |to: String| Fault::Answer(Reply::error(307, "Moved").with("Location", to));
    fake.fail(CREATE, moved(format!("{}/repos/o/r/issues", fake.url())));
    created(&tracker, &ticket("a")).await;
    let other = FakeGitHub::start();
    fake.fail(CREATE, moved(format!("{}/repos/o/r/issues", other.url())));
    let outcome = create(&tracker, ticket("b")).await;
    assert!(
        matches!(&outcome, Outcome::Failed(failure) if failure.reason == Reason::Unreadable),
        "{outcome:?}"
    );
    assert!(other.take_asked().is_empty(), "the credential stays where it belongs");
    // An issue that was transferred is not ours to change there.
    let remote = created(&tracker, &ticket("c")).await;
    created(&tracker, &ticket("d")).await;
    let to = format!("{}/repos/o/r/issues/3", fake.url());
    fake.fail(When::new("GET", "/issues/2"), Fault::Answer(Reply::error(301, "Moved").with("Location", to)));
    let outcome = update(&tracker, &remote, ticket("c"), None).await;
    assert!(matches!(&outcome, Outcome::Failed(failure) if failure.reason == Reason::Gone), "{outcome:?}");
}

#[tokio::test]
async fn no_answer_shows_the_credential() {
    let fake = FakeGitHub::start();
    let tracker = tracker(&fake);
    let mut shown =
        format!("{tracker:?} {:?}", tracker.route(stepmark_sync::tracker::RequestKind::List, &[]));
    for fault in [
        Fault::Answer(Reply::error(401, &format!("Bad credentials: {}", crate::fake::TOKEN))),
        Fault::Scramble(format!("token {}", crate::fake::TOKEN)),
        Fault::Reset,
    ] {
        fake.fail(CREATE, fault);
        shown.push_str(&format!("{:?}", create(&tracker, ticket("a")).await));
    }
    assert!(!shown.contains("SECRET") && shown.contains("[credential]"), "{shown}");
}

#[tokio::test]
async fn what_is_left_of_the_limit_is_told() {
    let fake = FakeGitHub::start();
    let reset = Clock::System.now().as_second() + 600;
    fake.state().headers = vec![
        ("X-RateLimit-Remaining".to_owned(), "4711".to_owned()),
        ("X-RateLimit-Reset".to_owned(), reset.to_string()),
        ("X-RateLimit-Resource".to_owned(), "core".to_owned()),
    ];
    let budget = tracker(&fake)
        .list("p", None, stepmark_sync::tracker::Listing::Labelled)
        .await
        .unwrap()
        .budget
        .unwrap();
    assert_eq!(budget.remaining, 4711);
    let left = budget.reset_at.duration_since(Clock::System.now());
    assert!(left.unsigned_abs().abs_diff(Duration::from_secs(600)) < Duration::from_secs(5));
}
