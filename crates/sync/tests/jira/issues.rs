//! Issues: made, changed, read and listed.

use serde_json::json;
use stepmark_sync::{
    breaker::Reason,
    ticket::{Block, CloseReason, Inline, RemoteTicket, Task, Ticket, TicketState},
    tracker::{Change, Condition, Creation, Cursor, Delivered, JiraTracker, Outcome, Tracker as _},
};

use crate::{
    fake::{FakeJira, Fault, Meanwhile, When},
    project::{
        TOKEN, create, created, credential, done, marker, missing, one, settings, ticket, tracker, update,
    },
};

fn creations(ids: &[&str]) -> Vec<Creation> {
    ids.iter().map(|id| Creation { ticket: ticket(id), parent: None }).collect()
}

#[tokio::test]
async fn an_issue_is_made_with_its_marker() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let made = done(create(&tracker, ticket("a")).await);
    assert_eq!((made.remote.id.as_str(), made.remote.key.as_str()), ("10000", "ABC-1"));
    assert_eq!(made.remote.url, format!("{}/browse/ABC-1", fake.url()));
    assert!(made.missing.is_empty(), "{made:?}");
    let issue = fake.state().issues[&10_000].clone();
    assert_eq!((issue.summary.as_str(), issue.issue_type.as_str()), ("Artifact a", "Task"));
    assert_eq!(issue.properties["stepmark"], json!({ "version": 1, "marker": "p/id:a", "from": "" }));
    assert_eq!(issue.labels.iter().collect::<Vec<_>>(), ["status:in_review", "stepmark:p"]);
    assert!(issue.description.to_string().contains("Two of three."), "{}", issue.description);
    let writes = fake.take_asked().into_iter().filter(|asked| !asked.starts_with("GET"));
    assert_eq!(
        writes.collect::<Vec<_>>(),
        ["POST /rest/api/3/issue/bulk", "POST /rest/api/3/issue/bulkfetch"]
    );
}

#[tokio::test]
async fn many_are_made_at_once_and_some_are_refused() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let mut wanted = creations(&["a", "b", "c", "d"]);
    wanted[1].ticket.fields.insert("priority".to_owned(), "Impossible".to_owned());
    wanted[2].ticket.fields.insert("priority".to_owned(), "High".to_owned());
    let outcomes = tracker.create(&wanted).await.outcomes;
    let asked = fake.take_asked();
    assert_eq!(asked.iter().filter(|asked| asked.starts_with("POST")).count(), 2, "{asked:?}");
    let told: Vec<String> = outcomes
        .iter()
        .map(|outcome| match outcome {
            Outcome::Done(Delivered { remote, missing, .. }) => format!("{} {}", remote.key, missing.len()),
            Outcome::Failed(failure) => format!("{:?} {}", failure.reason, failure.detail),
            Outcome::InDoubt(failure) => panic!("{failure:?}"),
        })
        .collect();
    let refused = "Invalid HTTP 400: priority: The priority selected is invalid.";
    assert_eq!(told, ["ABC-1 0", refused, "ABC-2 0", "ABC-3 0"]);
    assert_eq!(fake.state().issues[&10_001].others["priority"], json!({ "id": "1" }));
    // All of them refused.
    let outcomes = tracker.create(&wanted[1..2]).await.outcomes;
    assert!(
        matches!(&outcomes[..], [Outcome::Failed(failure)] if failure.detail == refused[8..]),
        "{outcomes:?}"
    );
}

#[tokio::test]
async fn what_cannot_be_read_back_was_made_all_the_same() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    fake.fail(When::new("POST", "/bulkfetch"), Fault::Reset);
    let outcomes = tracker.create(&creations(&["a", "b"])).await.outcomes;
    let keys: Vec<_> = outcomes.into_iter().map(done).collect();
    assert_eq!(keys.iter().map(|made| made.remote.key.as_str()).collect::<Vec<_>>(), ["ABC-1", "ABC-2"]);
    assert!(!keys[0].missing.is_empty(), "nothing is known of it");
}

#[tokio::test]
async fn what_people_wrote_is_kept() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let remote = created(&tracker, &ticket("a")).await;
    let mine = json!({"type": "mediaSingle", "attrs": {"layout": "center"}, "content": [{"type": "media", "attrs": {"id": "1", "type": "file", "collection": ""}}]});
    {
        let mut state = fake.state();
        let issue = state.issues.get_mut(&10_000).unwrap();
        issue.description["content"].as_array_mut().unwrap().insert(0, mine.clone());
        // As Jira's editor leaves it.
        issue.description["content"][1]["attrs"]["localId"] = json!("0f");
        issue.labels.insert("bug".to_owned());
    }
    fake.take_asked();
    assert!(done(update(&tracker, &remote, ticket("a"), None).await).missing.is_empty());
    assert_eq!(fake.take_asked(), ["POST /rest/api/3/issue/bulkfetch"], "nothing of ours differs");
    let desired = Ticket {
        title: "New".to_owned(),
        labels: ["stepmark:p".to_owned(), "status:done".to_owned()].into(),
        body: vec![Block::Paragraph(vec![Inline::Text("Three of three.".to_owned())])],
        ..ticket("a")
    };
    let changed = done(update(&tracker, &remote, desired.clone(), Some(&ticket("a"))).await);
    assert!(changed.missing.is_empty(), "{changed:?}");
    let issue = fake.state().issues[&10_000].clone();
    assert_eq!(issue.description["content"][0], mine);
    assert!(issue.description["content"][1].to_string().contains("Three of three."));
    assert_eq!(issue.labels.iter().collect::<Vec<_>>(), ["bug", "status:done", "stepmark:p"]);
    assert_eq!(issue.summary, "New");
    assert_eq!(
        fake.take_asked(),
        ["POST /rest/api/3/issue/bulkfetch", "PUT /rest/api/3/issue/10000"],
        "one request changes all of it"
    );
}

#[tokio::test]
async fn a_long_body_is_cut_and_every_block_has_its_form() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let link =
        |at: usize| Inline::Link { text: format!("docs/{at}.md"), url: format!("https://h/docs/{at}.md") };
    let task = |at: usize| Task { done: at == 1, text: vec![Inline::Code(format!("step-{at}"))] };
    let head = [
        Block::Paragraph(vec![Inline::Text(String::new())]),
        Block::List(vec![vec![
            Inline::Strong("Status:".to_owned()),
            Inline::Text("\u{1f600} a\tb".to_owned()),
        ]]),
        Block::Tasks((0..3).map(task).collect()),
        Block::Heading("Files".to_owned()),
    ];
    for files in [3, 1000] {
        let body = head.iter().cloned().chain([Block::List((0..files).map(|at| vec![link(at)]).collect())]);
        // As Jira counts, 200 emoji are too long for a title.
        let title = "\u{1f600}".repeat(200);
        let ticket = Ticket { body: body.collect(), file: link(0), title, ..ticket(&format!("t{files}")) };
        let made = done(create(&tracker, ticket.clone()).await);
        assert!(made.missing.is_empty(), "{made:?}");
        let read = done(one(tracker.read(&[made.remote]).await)).unwrap();
        assert_eq!(read.body.contains("more lines: see "), files == 1000, "{}", read.body);
    }
}

#[tokio::test]
async fn what_is_silently_dropped_is_noticed() {
    let fake = FakeJira::start();
    fake.state().drops_labels = true;
    let tracker = tracker(&fake);
    let made = done(create(&tracker, ticket("a")).await);
    assert_eq!(missing(&made), ["labels"]);
    let changed = done(update(&tracker, &made.remote, ticket("a"), None).await);
    assert_eq!(missing(&changed), ["labels"]);
    // Where the site does not tell the issue, a yes is believed.
    fake.state().returns_issues = false;
    assert!(done(update(&tracker, &made.remote, ticket("a"), None).await).missing.is_empty());
}

#[tokio::test]
async fn nothing_is_changed_without_its_marker_unless_a_person_names_the_issue() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let [a, b] = [created(&tracker, &ticket("a")).await, created(&tracker, &ticket("b")).await];
    fake.state().issues.get_mut(&10_000).unwrap().properties.clear();
    let before = fake.state().issues.clone();
    assert_eq!(done(one(tracker.read(std::slice::from_ref(&a)).await)), None);
    let renamed = || Ticket { title: "New".to_owned(), ..ticket("a") };
    for (remote, reason) in [(&a, Reason::Unmarked), (&b, Reason::Gone)] {
        let outcome = update(&tracker, remote, renamed(), None).await;
        assert!(matches!(&outcome, Outcome::Failed(failure) if failure.reason == reason), "{outcome:?}");
    }
    assert_eq!(fake.state().issues, before);
    let naming = Change {
        remote: a.clone(),
        desired: renamed(),
        before: None,
        parent: None,
        condition: Condition::Named,
    };
    assert!(done(one(tracker.update(std::slice::from_ref(&naming)).await)).missing.is_empty());
    let read = done(one(tracker.read(std::slice::from_ref(&a)).await)).unwrap();
    assert_eq!((read.marker, read.title.as_str()), (marker("a"), "New"));
}

#[tokio::test]
async fn a_duplicate_in_which_people_wrote_stays_open() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let a = created(&tracker, &ticket("a")).await;
    fake.state().issues.get_mut(&10_000).unwrap().comments = 1;
    let before = fake.state().issues.clone();
    let state = TicketState::Closed(CloseReason::Duplicate);
    let close = Change {
        remote: a,
        desired: Ticket { state, ..ticket("a") },
        before: Some(ticket("a")),
        parent: None,
        condition: Condition::Untouched,
    };
    let outcome = one(tracker.update(std::slice::from_ref(&close)).await);
    assert!(matches!(&outcome, Outcome::Failed(failure) if failure.reason == Reason::Touched), "{outcome:?}");
    assert_eq!(fake.state().issues, before);
    fake.state().issues.get_mut(&10_000).unwrap().comments = 0;
    done(one(tracker.update(std::slice::from_ref(&close)).await));
}

#[tokio::test]
async fn all_pages_are_listed() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    for id in ["a", "b", "c", "d", "e"] {
        created(&tracker, &ticket(id)).await;
    }
    {
        let mut state = fake.state();
        state.page = 2;
        // A copy that a person made has the label and not the property; one lost its label.
        state.issues.get_mut(&10_002).unwrap().properties.clear();
        state.issues.get_mut(&10_003).unwrap().labels.clear();
    }
    fake.take_asked();
    let (mut found, mut from): (Vec<_>, Option<Cursor>) = (Vec::new(), None);
    loop {
        let page = tracker.list("p", from.as_ref(), stepmark_sync::tracker::Listing::Labelled).await.unwrap();
        found.extend(page.tickets.into_iter().map(|ticket| (ticket.remote.key, ticket.marker)));
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    let expected =
        [("ABC-1", "a"), ("ABC-2", "b"), ("ABC-5", "e")].map(|(key, own)| (key.to_owned(), marker(own)));
    assert_eq!(found, expected);
    assert_eq!(fake.take_asked().len(), 3, "who asks, and two pages");
    assert!(
        tracker.list("q", None, stepmark_sync::tracker::Listing::Labelled).await.unwrap().tickets.is_empty()
    );
}

#[tokio::test]
async fn other_fields_are_sent_where_they_differ() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let with = |priority: &str, state| {
        let fields = [("priority".to_owned(), priority.to_owned())].into();
        Ticket { fields, state, ..ticket("a") }
    };
    let (low, high) = (with("Low", TicketState::ToDo), with("High", TicketState::ToDo));
    let remote = created(&tracker, &low).await;
    let priority = || fake.state().issues[&10_000].others["priority"]["id"].clone();
    assert!(done(update(&tracker, &remote, high.clone(), Some(&low)).await).missing.is_empty());
    assert_eq!(priority(), "1");
    // One that was only found is told again, unless it is closed and may not be changed any more.
    let closed = with("High", TicketState::Closed(CloseReason::Completed));
    fake.state().locks_closed = true;
    assert!(done(update(&tracker, &remote, closed.clone(), Some(&high)).await).missing.is_empty());
    fake.take_asked();
    assert!(done(update(&tracker, &remote, closed.clone(), None).await).missing.is_empty());
    assert_eq!(fake.take_asked().len(), 1);
    let outcome = update(&tracker, &remote, Ticket { title: "New".to_owned(), ..closed }, None).await;
    assert!(matches!(&outcome, Outcome::Failed(failure) if failure.reason == Reason::Invalid), "{outcome:?}");
    let none = Ticket { fields: Default::default(), ..high.clone() };
    assert!(done(update(&tracker, &remote, none, Some(&high)).await).missing.is_empty());
    assert!(priority().is_null());
}

#[tokio::test]
async fn behind_a_gateway_links_lead_to_the_site() {
    let fake = FakeJira::start();
    let url = format!("{}/ex/jira/1", fake.url());
    let tracker = JiraTracker::new(settings(&url), &credential(TOKEN)).unwrap();
    fake.fail(When::new("GET", "/serverInfo"), Fault::Reset);
    let [a, b] = [created(&tracker, &ticket("a")).await, created(&tracker, &ticket("b")).await];
    assert_eq!(
        (a.url, b.url),
        (format!("{url}/browse/ABC-1"), "https://x.atlassian.net/browse/ABC-2".to_owned())
    );
    fake.take_asked();
    created(&tracker, &ticket("c")).await;
    assert_eq!(fake.take_asked().len(), 2, "it is asked once");
}

#[tokio::test]
async fn what_somebody_wrote_meanwhile_is_told() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let remote = created(&tracker, &ticket("a")).await;
    for (title, field, is_told) in [
        ("No one else", None, false),
        ("Our title", Some("summary"), true),
        // What we do not write stays, and is nothing to tell.
        ("Another title", Some("description"), false),
    ] {
        let theirs = serde_json::json!("Theirs");
        fake.state().meanwhile = field.map(|field| {
            let write: Meanwhile = Box::new(move |issue| issue.write(field, &theirs));
            (When::new("PUT", "/10000"), 10_000, write)
        });
        let desired = Ticket { title: title.to_owned(), ..ticket("a") };
        let delivered = done(update(&tracker, &remote, desired, None).await);
        assert_eq!(delivered.is_overwritten, is_told, "{title}");
        assert_eq!(fake.state().issues[&10_000].summary, title);
    }
}

/// BMAD names an issue by its key; the answer has the id by which it is known from then on.
#[tokio::test]
async fn an_issue_is_found_by_its_key_too() {
    let fake = FakeJira::start();
    let tracker = tracker(&fake);
    let made = created(&tracker, &ticket("a")).await;
    fake.state().issues.get_mut(&10_000).unwrap().properties.clear();
    let named = RemoteTicket { id: made.key.clone(), ..made.clone() };
    let desired = Ticket { title: "Lend".to_owned(), ..ticket("a") };
    let change =
        Change { remote: named, desired, before: None, parent: None, condition: Condition::NamedInFile };
    let told = done(one(tracker.update(std::slice::from_ref(&change)).await));
    assert_eq!((told.remote.id.as_str(), told.remote.key.as_str()), ("10000", "ABC-1"));
    let issue = fake.state().issues[&10_000].clone();
    assert!(issue.summary == "Lend" && issue.properties.contains_key("stepmark"), "{issue:?}");
}
