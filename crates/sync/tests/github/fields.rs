//! `ticket.fields` on GitHub.

use serde_json::json;
use stepmark_sync::{breaker::Reason, ticket::Ticket, tracker::Outcome};

use crate::{
    fake::FakeGitHub,
    project::{create, created, done, ticket, tracker, update},
};

fn with(fields: &[(&str, &str)]) -> Ticket {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Ticket { fields: fields.collect(), ..ticket("a") }
}

#[tokio::test]
async fn fields_are_given_kept_and_taken_back() {
    let fake = FakeGitHub::start();
    let tracker = tracker(&fake);
    let all = with(&[("milestone", "1.10"), ("assignees", "@Ada, ben"), ("type", "Task")]);
    let remote = created(&tracker, &all).await;
    let fields = || fake.state().issues[&1].fields.clone();
    assert_eq!(fields()["milestone"]["number"], 7);
    assert_eq!(fields()["assignees"], json!([{ "login": "ada" }, { "login": "ben" }]));
    assert_eq!(fields()["type"]["name"], "Task");
    fake.take_asked();
    assert!(done(update(&tracker, &remote, all.clone(), Some(&all)).await).missing.is_empty());
    assert!(fake.take_asked().iter().all(|asked| asked.starts_with("GET")), "nothing differs");
    // A person assigns another one, too.
    fake.state().issues.get_mut(&1).unwrap().fields["assignees"] =
        json!([{ "login": "ben" }, { "login": "cleo" }]);
    let other = with(&[("milestone", "8"), ("assignees", "ada")]);
    assert!(done(update(&tracker, &remote, other.clone(), Some(&all)).await).missing.is_empty());
    assert_eq!(fields()["assignees"], json!([{ "login": "ada" }, { "login": "cleo" }]));
    assert_eq!((&fields()["milestone"]["number"], &fields()["type"]), (&json!(8), &json!(null)));
    assert!(done(update(&tracker, &remote, with(&[]), Some(&other)).await).missing.is_empty());
    assert_eq!(
        (&fields()["milestone"], &fields()["assignees"]),
        (&json!(null), &json!([{ "login": "cleo" }]))
    );
}

#[tokio::test]
async fn what_github_drops_or_has_not_is_told() {
    let fake = FakeGitHub::start();
    let tracker = tracker(&fake);
    let refused = create(&tracker, with(&[("milestone", "3.0")])).await;
    let Outcome::Failed(failure) = refused else { panic!("{refused:?}") };
    assert_eq!(failure.reason, Reason::Invalid);
    assert!(failure.detail.contains("no milestone `3.0`"), "{}", failure.detail);
    assert!(fake.state().issues.is_empty(), "nothing was made");
    fake.state().has_push_access = false;
    let made = done(create(&tracker, with(&[("milestone", "1.10"), ("type", "Task")])).await);
    let lost: Vec<&str> = made.missing.iter().map(|missing| missing.field.as_str()).collect();
    assert_eq!(lost, ["labels", "fields.milestone", "fields.type"]);
}
