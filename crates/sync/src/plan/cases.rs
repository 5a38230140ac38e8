//! Cases of plans: the actions that they want, and what they leave alone.

use jiff::Timestamp;
use proptest::{collection::vec, prelude::*};

use super::{Action, ActionKind, Plan, PlanInputs, Remark, Survey};
use crate::{
    configuration::{Drift, Duplicates, Prune, SyncConfiguration, TrackerSettings},
    ledger::{Intent, IntentAction, Ledger, Link, SqliteLedger},
    ticket::{
        CloseReason, Observed, Snapshot, Ticket, TicketFacts, TicketState,
        sample::{facts, marker, observed, ticket},
    },
};

fn settings() -> TrackerSettings {
    let file = std::path::Path::new("config.yaml");
    let read = SyncConfiguration::read(file, b"trackers: {gh: {kind: dry, artifacts: ['docs/**']}}").unwrap();
    read.unwrap().trackers.remove(0)
}

fn snapshot(artifacts: impl IntoIterator<Item = TicketFacts>) -> Snapshot {
    Snapshot::of_facts("p", artifacts)
}

fn put(ledger: &mut SqliteLedger, ticket: &Ticket, number: u32) {
    link(ledger, ticket, number, Some(ticket));
}

fn put_found(ledger: &mut SqliteLedger, ticket: &Ticket, number: u32) {
    link(ledger, ticket, number, None);
}

fn link(ledger: &mut SqliteLedger, ticket: &Ticket, number: u32, projected: Option<&Ticket>) {
    let mut transaction = ledger.write().unwrap();
    let link = Link {
        tracker: "gh".parse().unwrap(),
        marker: ticket.marker.clone(),
        remote: observed(ticket, number).remote,
        digest: projected.map(Ticket::digest),
        linked_at: Timestamp::UNIX_EPOCH,
    };
    transaction.put_link(&link, projected).unwrap();
    transaction.commit().unwrap();
}

fn begin(ledger: &mut SqliteLedger, id: &str, action: IntentAction) {
    let mut transaction = ledger.write().unwrap();
    let intent = Intent {
        tracker: "gh".parse().unwrap(),
        marker: marker(id),
        action,
        digest: ticket(id, |_| {}).digest(),
        lease_number: 1,
        begun_at: Timestamp::UNIX_EPOCH,
    };
    transaction.put_intent(&intent).unwrap();
    transaction.commit().unwrap();
}

fn plan(
    ledger: &mut SqliteLedger,
    settings: &TrackerSettings,
    snapshot: &Snapshot,
    survey: Option<&[Observed]>,
) -> Plan {
    let compare = |desired: &Ticket, before: Option<&Ticket>, observed: &Observed| {
        observed.markdown_differences(desired, before, 65_536).unwrap()
    };
    let ledger = ledger.read().unwrap();
    let survey = survey.map(|tickets| Survey { tickets, compare: &compare });
    Plan::make(&PlanInputs { snapshot, settings, ledger: &*ledger, survey }).unwrap()
}

fn kinds(plan: &Plan) -> Vec<(String, ActionKind)> {
    let id = |action: &Action| action.marker.to_string().replace("p/id:", "");
    plan.actions.iter().map(|action| (id(action), action.kind)).collect()
}

fn fields(action: &Action) -> Vec<&str> {
    action.differences.iter().map(|difference| difference.field.as_str()).collect()
}

#[test]
fn what_has_no_ticket_is_created_parents_first() {
    let child = TicketFacts { parent_id: Some("z".to_owned()), ..facts("a") };
    let elsewhere = TicketFacts { path: "notes/x.md".parse().unwrap(), ..facts("x") };
    let made = plan(
        &mut SqliteLedger::in_memory().unwrap(),
        &settings(),
        &snapshot([child, facts("z"), elsewhere]),
        None,
    );
    assert_eq!(kinds(&made), [("z".to_owned(), ActionKind::Create), ("a".to_owned(), ActionKind::Create)]);
    assert!(made.needs_survey, "an empty ledger looks for markers before it creates");
    let [_, child] = made.actions.as_slice() else { panic!("{made:?}") };
    assert_eq!(child.ticket.as_ref().unwrap().parent, Some(marker("z")));
    assert_eq!(child.path.as_ref().unwrap().as_str(), "docs/a.md");
    assert_eq!(fields(child), ["title", "body", "labels", "state", "status", "parent"]);
}

#[test]
fn what_says_the_same_is_left_alone() {
    let mut ledger = SqliteLedger::in_memory().unwrap();
    put(&mut ledger, &ticket("a", |_| {}), 1);
    let made = plan(&mut ledger, &settings(), &snapshot([facts("a")]), None);
    assert_eq!((made.actions.len(), made.remarks.len(), made.unchanged), (0, 0, 1));
    begin(&mut ledger, "a", IntentAction::Update);
    let made = plan(&mut ledger, &settings(), &snapshot([facts("a")]), None);
    assert_eq!(kinds(&made), [("a".to_owned(), ActionKind::Update)], "an update in doubt is made again");
}

#[test]
fn what_differs_is_updated_or_closed() {
    let mut ledger = SqliteLedger::in_memory().unwrap();
    let open = ticket("a", |_| {});
    put(&mut ledger, &open, 1);
    for (change, kind, expected) in [
        ((|facts| facts.title.push('!')) as fn(&mut TicketFacts), ActionKind::Update, &["title"][..]),
        (|facts| facts.status = Some("review".to_owned()), ActionKind::Update, &["body", "labels", "status"]),
        (|facts| facts.is_finished = true, ActionKind::Close, &["state"]),
    ] {
        let mut changed = facts("a");
        change(&mut changed);
        let made = plan(&mut ledger, &settings(), &snapshot([changed]), None);
        let [action] = made.actions.as_slice() else { panic!("{made:?}") };
        assert_eq!((action.kind, fields(action)), (kind, expected.to_vec()));
        assert_eq!(
            (action.base, &action.remote.as_ref().unwrap().key),
            (Some(open.digest()), &"#1".to_owned())
        );
    }
}

#[test]
fn a_creation_in_doubt_is_looked_up() {
    let mut ledger = SqliteLedger::in_memory().unwrap();
    begin(&mut ledger, "a", IntentAction::Create);
    let made = plan(&mut ledger, &settings(), &snapshot([facts("a")]), None);
    assert_eq!(kinds(&made), [("a".to_owned(), ActionKind::LookUp)]);
    let found = [observed(&ticket("a", |_| {}), 5)];
    let made = plan(&mut ledger, &settings(), &snapshot([facts("a")]), Some(&found));
    assert_eq!(kinds(&made), [("a".to_owned(), ActionKind::Adopt)]);
    let made = plan(&mut ledger, &settings(), &snapshot([facts("a")]), Some(&[]));
    assert_eq!(kinds(&made), [("a".to_owned(), ActionKind::LookUp)], "its absence proves nothing yet");
}

#[test]
fn the_oldest_is_adopted_and_duplicates_are_told() {
    let said = ticket("a", |_| {});
    let old = Observed { title: "Old".to_owned(), ..observed(&said, 5) };
    let closed = Observed { state: TicketState::Closed(CloseReason::Duplicate), ..observed(&said, 6) };
    let found = [observed(&said, 7), closed, old];
    let reporting = TrackerSettings { duplicates: Duplicates::Report, ..settings() };
    let made =
        plan(&mut SqliteLedger::in_memory().unwrap(), &reporting, &snapshot([facts("a")]), Some(&found));
    let [action] = made.actions.as_slice() else { panic!("{made:?}") };
    assert_eq!((action.kind, action.remote.as_ref().unwrap().key.as_str()), (ActionKind::Adopt, "#5"));
    assert_eq!(fields(action), ["title"]);
    assert!(!made.needs_survey);
    let [Remark::Duplicates { kept, others, .. }] = made.remarks.as_slice() else { panic!("{made:?}") };
    assert_eq!(
        (kept.key.as_str(), others.len(), others[0].key.as_str()),
        ("#5", 1, "#7"),
        "the closed one is settled"
    );
    let closing = TrackerSettings { duplicates: Duplicates::Close, ..settings() };
    let made = plan(&mut SqliteLedger::in_memory().unwrap(), &closing, &snapshot([facts("a")]), Some(&found));
    let [_, close] = made.actions.as_slice() else { panic!("{made:?}") };
    assert_eq!((close.kind, close.remote.as_ref().unwrap().key.as_str()), (ActionKind::CloseDuplicate, "#7"));
    let state = close.ticket.as_ref().unwrap().state;
    assert_eq!((state, fields(close)), (TicketState::Closed(CloseReason::Duplicate), vec!["state"]));
}

#[test]
fn a_ticket_that_is_linked_belongs_to_no_other_artifact() {
    let mut ledger = SqliteLedger::in_memory().unwrap();
    put(&mut ledger, &ticket("a", |_| {}), 1);
    // Somebody wrote the marker of another artifact into it.
    let found =
        [Observed { remote: observed(&ticket("a", |_| {}), 1).remote, ..observed(&ticket("b", |_| {}), 1) }];
    let made = plan(&mut ledger, &settings(), &snapshot([facts("a"), facts("b")]), Some(&found));
    assert_eq!(kinds(&made), [("b".to_owned(), ActionKind::Create)]);
}

#[test]
fn drift_is_overwritten_or_reported() {
    let mut ledger = SqliteLedger::in_memory().unwrap();
    let said = ticket("a", |_| {});
    put(&mut ledger, &said, 1);
    let drifted = [Observed { title: "Mine".to_owned(), ..observed(&said, 1) }];
    let made = plan(&mut ledger, &settings(), &snapshot([facts("a")]), Some(&drifted));
    assert_eq!(
        (kinds(&made), fields(&made.actions[0])),
        (vec![("a".to_owned(), ActionKind::Update)], vec!["title"])
    );
    let reporting = TrackerSettings { drift: Drift::Report, ..settings() };
    let made = plan(&mut ledger, &reporting, &snapshot([facts("a")]), Some(&drifted));
    assert!(made.actions.is_empty() && matches!(made.remarks.as_slice(), [Remark::Drift { .. }]), "{made:?}");
    let changed = TicketFacts { title: "New".to_owned(), ..facts("a") };
    let made = plan(&mut ledger, &reporting, &snapshot([changed]), Some(&drifted));
    assert_eq!(made.actions.len(), 1, "a change of the artifact overwrites");
    let made = plan(&mut ledger, &settings(), &snapshot([facts("a")]), Some(&[]));
    assert!(
        made.actions.is_empty() && matches!(made.remarks.as_slice(), [Remark::Missing { .. }]),
        "{made:?}"
    );
}

#[test]
fn pruning_is_opt_in_and_careful() {
    let mut ledger = SqliteLedger::in_memory().unwrap();
    put(&mut ledger, &ticket("gone", |_| {}), 1);
    put(&mut ledger, &ticket("done", |facts| facts.is_finished = true), 2);
    let made = plan(&mut ledger, &settings(), &snapshot([]), None);
    assert!(
        matches!(made.remarks.as_slice(), [Remark::Orphan { remote, .. }] if remote.key == "#1"),
        "{made:?}"
    );
    let pruning = TrackerSettings { prune: Prune::Close, ..settings() };
    let made = plan(&mut ledger, &pruning, &snapshot([]), None);
    let [action] = made.actions.as_slice() else { panic!("{made:?}") };
    let state = action.ticket.as_ref().unwrap().state;
    assert_eq!((action.kind, state), (ActionKind::Prune, TicketState::Closed(CloseReason::NotPlanned)));
    let unreadable = snapshot([]).partial();
    assert!(
        plan(&mut ledger, &pruning, &unreadable, None).actions.is_empty(),
        "it may be one that cannot be read"
    );
    let copy = TicketFacts { path: "docs/copy.md".parse().unwrap(), ..facts("gone") };
    let made = plan(&mut ledger, &pruning, &snapshot([facts("gone"), copy]), None);
    assert!(made.actions.is_empty() && made.remarks.len() == 2, "it is there twice, not gone: {made:?}");
    put(&mut ledger, action.ticket.as_ref().unwrap(), 1);
    assert!(plan(&mut ledger, &pruning, &snapshot([]), None).actions.is_empty(), "once is enough");
    let unknown = |known: &[&str]| snapshot([]).knowing(known.iter().map(|key| (*key).to_owned()).collect());
    let mut found = SqliteLedger::in_memory().unwrap();
    put_found(&mut found, &ticket("of-others", |_| {}), 3);
    let made = plan(&mut found, &pruning, &unknown(&[]), None);
    assert!(made.actions.is_empty() && made.remarks.len() == 1, "it was never here: {made:?}");
    let made = plan(&mut found, &pruning, &unknown(&["id:of-others"]), None);
    assert_eq!(made.actions.len(), 1, "it was here, and is gone: {made:?}");
}

#[test]
fn a_plan_that_was_written_down_is_read_and_compared() {
    let mut ledger = SqliteLedger::in_memory().unwrap();
    put(&mut ledger, &ticket("b", |_| {}), 1);
    let changed = || TicketFacts { title: "New".to_owned(), ..facts("b") };
    let made = plan(&mut ledger, &settings(), &snapshot([facts("a"), changed()]), None);
    let json = serde_json::to_string(&made).unwrap();
    let read = Plan::read(&json).unwrap();
    assert_eq!(read, made);
    assert_eq!(read.counts(), [(ActionKind::Create, 1), (ActionKind::Update, 1)]);
    assert!(read.stale(&made).is_empty());
    let now = plan(&mut ledger, &settings(), &snapshot([facts("a"), facts("b"), facts("c")]), None);
    let stale: Vec<_> = read.stale(&now).into_iter().map(|stale| (stale.planned, stale.now)).collect();
    assert_eq!(stale, [(Some(ActionKind::Update), None), (None, Some(ActionKind::Create))]);
    assert!(Plan::read("[]").unwrap_err().message.starts_with("this is no plan"));
    let other = json.replacen("sync-plan/2", "sync-plan/1", 1);
    assert!(Plan::read(&other).unwrap_err().message.contains("sync-plan/1`"));
}

fn execute(ledger: &mut SqliteLedger, made: &Plan, next: &mut u32) {
    for action in &made.actions {
        let known = action.remote.as_ref().map(|remote| remote.id.parse().unwrap());
        let number = known.unwrap_or_else(|| {
            *next += 1;
            *next
        });
        put(ledger, action.ticket.as_ref().unwrap(), number);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the artifacts become, one plan that is carried out leaves nothing to do, and no second
    /// ticket.
    #[test]
    fn a_plan_carried_out_leaves_nothing(states in vec(vec((0_usize..6, 0_usize..4, any::<bool>()), 0..8), 1..6)) {
        let pruning = TrackerSettings { prune: Prune::Close, prunes_many: true, ..settings() };
        let (mut ledger, mut next) = (SqliteLedger::in_memory().unwrap(), 0);
        for state in states {
            let artifacts = state.iter().map(|(id, done, is_finished)| TicketFacts {
                done: *done, is_finished: *is_finished, ..facts(&id.to_string())
            });
            let snapshot = snapshot(artifacts);
            let made = plan(&mut ledger, &pruning, &snapshot, None);
            let before = ledger.read().unwrap().links(&"gh".parse().unwrap()).unwrap();
            let is_linked = |action: &Action| before.iter().any(|link| link.marker == action.marker);
            let creates = |action: &Action| action.kind == ActionKind::Create;
            let is_first = made.actions.iter().all(|action| creates(action) != is_linked(action));
            prop_assert!(is_first, "{:?}", made);
            execute(&mut ledger, &made, &mut next);
            prop_assert!(plan(&mut ledger, &pruning, &snapshot, None).actions.is_empty());
        }
    }
}
