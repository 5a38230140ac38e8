//! The conformance suite of ledgers. Each case runs against each store.

use jiff::Timestamp;

use super::{
    Intent, IntentAction, Lease, Ledger, LedgerReader, LedgerWriter, Link, SqliteLedger, TrackerRecord,
    check_lease,
};
use crate::{
    Error, ErrorKind, Result, TrackerName,
    breaker::{Breaker, BreakerSettings, Failure, Reason, Scope},
    pace::{Cost, Pace, PaceSettings},
    retry::{Delivery, Jitter, RetrySettings},
    ticket::{
        RemoteTicket, Ticket,
        sample::{marker, ticket},
    },
};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

fn tracker(name: &str) -> TrackerName {
    name.parse().unwrap()
}

fn link(name: &str, id: &str, number: u32) -> Link {
    Link {
        tracker: tracker(name),
        marker: marker(id),
        remote: RemoteTicket {
            id: number.to_string(),
            key: format!("#{number}"),
            url: format!("https://h/{number}"),
            other_ids: [("node_id".to_owned(), format!("N{number}"))].into(),
        },
        digest: None,
        linked_at: at(0),
    }
}

fn listed(second: i64) -> TrackerRecord {
    TrackerRecord { listed_at: Some(at(second)), ..Default::default() }
}

fn projected(name: &str, id: &str, number: u32) -> (Link, Ticket) {
    let ticket = ticket(id, |_| {});
    (Link { digest: Some(ticket.digest()), ..link(name, id, number) }, ticket)
}

fn intent(id: &str, action: IntentAction) -> Intent {
    let digest = ticket(id, |_| {}).digest();
    Intent { tracker: tracker("gh"), marker: marker(id), action, digest, lease_number: 3, begun_at: at(1) }
}

fn change(ledger: &mut dyn Ledger, change: impl FnOnce(&mut dyn LedgerWriter) -> Result<()>) {
    let mut transaction = ledger.write().unwrap();
    change(&mut *transaction).unwrap();
    transaction.commit().unwrap();
}

fn asked<T>(ledger: &mut dyn Ledger, ask: impl FnOnce(&dyn LedgerReader) -> Result<T>) -> T {
    ask(&*ledger.read().unwrap()).unwrap()
}

fn links_are_kept_by_tracker_and_marker(ledger: &mut dyn Ledger) {
    let (one, said) = projected("gh", "b", 2);
    change(ledger, |ledger| {
        ledger.put_link(&one, Some(&said))?;
        ledger.put_link(&link("gh", "a", 1), None)?;
        ledger.put_link(&link("jira", "a", 1), None)
    });
    let gh = tracker("gh");
    assert_eq!(asked(ledger, |ledger| ledger.links(&gh)), [link("gh", "a", 1), one.clone()]);
    assert_eq!(asked(ledger, |ledger| ledger.link(&gh, &marker("b"))), Some(one));
    assert_eq!(asked(ledger, |ledger| ledger.link(&gh, &marker("c"))), None);
    assert_eq!(asked(ledger, |ledger| ledger.projected(&gh, &marker("b"))), Some(said));
    assert_eq!(asked(ledger, |ledger| ledger.projected(&gh, &marker("a"))), None);
    change(ledger, |ledger| {
        ledger.put_link(&link("gh", "b", 7), None)?;
        ledger.remove_link(&tracker("gh"), &marker("a"))?;
        ledger.remove_link(&tracker("gh"), &marker("nobody"))
    });
    assert_eq!(asked(ledger, |ledger| ledger.links(&gh)), [link("gh", "b", 7)]);
    assert_eq!(asked(ledger, |ledger| ledger.projected(&gh, &marker("b"))), None);
    assert_eq!(asked(ledger, |ledger| ledger.links(&tracker("jira"))).len(), 1);
}

fn a_ticket_belongs_to_one_artifact(ledger: &mut dyn Ledger) {
    change(ledger, |ledger| ledger.put_link(&link("gh", "a", 1), None));
    let mut transaction = ledger.write().unwrap();
    let refused = transaction.put_link(&link("gh", "b", 1), None);
    assert!(
        matches!(&refused, Err(Error { kind: ErrorKind::LinkedElsewhere { owner, .. }, .. }) if *owner == marker("a").to_string()),
        "{refused:?}"
    );
    transaction.put_link(&link("other", "b", 1), None).unwrap();
}

fn an_intent_exists_once_for_each_ticket(ledger: &mut dyn Ledger) {
    let [a, b] = [intent("a", IntentAction::Create), intent("b", IntentAction::Update)];
    change(ledger, |ledger| {
        ledger.put_intent(&b)?;
        ledger.put_intent(&a)?;
        ledger.put_intent(&intent("b", IntentAction::Create))?;
        ledger.put_intent(&b)
    });
    assert_eq!(asked(ledger, |ledger| ledger.intents(&tracker("gh"))), [a, b.clone()]);
    assert!(asked(ledger, |ledger| ledger.intents(&tracker("jira"))).is_empty());
    change(ledger, |ledger| ledger.remove_intent(&tracker("gh"), &marker("a")));
    assert_eq!(asked(ledger, |ledger| ledger.intents(&tracker("gh"))), [b]);
}

fn what_is_not_committed_is_undone(ledger: &mut dyn Ledger) {
    let mut transaction = ledger.write().unwrap();
    transaction.put_link(&link("gh", "a", 1), None).unwrap();
    transaction.put_intent(&intent("a", IntentAction::Create)).unwrap();
    assert!(transaction.link(&tracker("gh"), &marker("a")).unwrap().is_some(), "it sees its own changes");
    drop(transaction);
    assert!(asked(ledger, |ledger| ledger.links(&tracker("gh"))).is_empty());
    assert!(asked(ledger, |ledger| ledger.intents(&tracker("gh"))).is_empty());
}

fn deliveries_breakers_and_paces_are_what_they_were(ledger: &mut dyn Ledger) {
    let failure = |reason| Failure { wait_until: Some(at(9)), ..Failure::new(reason, "said so") };
    let digest = ticket("a", |_| {}).digest();
    let failed =
        |reason| Delivery::Due.failed(failure(reason), digest, at(0), Jitter(7), &RetrySettings::default());
    let open = Breaker::default().failed(&failure(Reason::Quota), at(0), &BreakerSettings::default());
    let (half, _) = open.clone().admit(at(5_000), &BreakerSettings::default());
    let pace = Pace::default().admit(&Cost::create(3), at(0), &PaceSettings::github()).unwrap();
    let [host, other] = ["h", "g:81"].map(|host| Scope::Host { host: host.to_owned() });
    let gh = tracker("gh");
    change(ledger, |ledger| {
        ledger.put_delivery(&tracker("gh"), &marker("b"), &failed(Reason::Invalid))?;
        ledger.put_delivery(&tracker("gh"), &marker("a"), &failed(Reason::Timeout))?;
        ledger.put_breaker(&host, &open)?;
        ledger.put_breaker(&other, &half)?;
        ledger.put_pace(&host, &pace)?;
        ledger.put_record(&tracker("gh"), &listed(4))
    });
    let expected = [(marker("a"), failed(Reason::Timeout)), (marker("b"), failed(Reason::Invalid))];
    assert_eq!(asked(ledger, |ledger| ledger.deliveries(&gh)), expected);
    assert_eq!(asked(ledger, |ledger| ledger.delivery(&gh, &marker("b"))), failed(Reason::Invalid));
    assert_eq!(asked(ledger, |ledger| ledger.delivery(&gh, &marker("c"))), Delivery::Due);
    assert_eq!(asked(ledger, |ledger| ledger.breaker(&host)), Some(open.clone()));
    assert_eq!(asked(ledger, |ledger| ledger.breakers()), [(other.clone(), half), (host.clone(), open)]);
    assert_eq!(asked(ledger, |ledger| ledger.pace(&host)), Some(pace));
    assert_eq!(asked(ledger, |ledger| ledger.pace(&other)), None);
    assert_eq!(asked(ledger, |ledger| ledger.record(&gh)), listed(4));
    assert_eq!(asked(ledger, |ledger| ledger.record(&tracker("jira"))), TrackerRecord::default());
    change(ledger, |ledger| {
        ledger.put_delivery(&tracker("gh"), &marker("a"), &Delivery::Due)?;
        ledger.put_breaker(&host, &Breaker::default())
    });
    assert_eq!(asked(ledger, |ledger| ledger.deliveries(&gh)).len(), 1, "what is due is forgotten");
    assert_eq!(asked(ledger, |ledger| ledger.breakers()).len(), 1, "what is closed is forgotten");
}

fn a_lost_lease_writes_nothing(ledger: &mut dyn Ledger) {
    let acquire = |ledger: &mut dyn Ledger, holder: &str, second: i64| {
        let mut transaction = ledger.write().unwrap();
        let current = transaction.lease("gh").unwrap();
        let lease = Lease::acquire(current, "gh", holder, at(second), 60_000).unwrap();
        transaction.put_lease(&lease).unwrap();
        transaction.commit().unwrap();
        lease
    };
    let first = acquire(ledger, "one", 0);
    check_lease(&*ledger.read().unwrap(), &first).unwrap();
    let second = acquire(ledger, "two", 60);
    assert_eq!((first.number, second.number), (1, 2));
    let fenced = check_lease(&*ledger.write().unwrap(), &first).unwrap_err();
    assert!(fenced.kind == ErrorKind::Fenced && fenced.message.contains("the current one 2"), "{fenced}");
    check_lease(&*ledger.read().unwrap(), &second).unwrap();
    assert_eq!(asked(ledger, |ledger| ledger.lease("other")), None);
}

/// Runs every case against both stores, each time on a new one.
macro_rules! conformance {
    ($($case:ident),+ $(,)?) => {
        mod memory {
            $(#[test] fn $case() {
                super::$case(&mut super::SqliteLedger::in_memory().unwrap());
            })+
        }
        mod sqlite {
            $(#[test] fn $case() {
                let folder = tempfile::tempdir().unwrap();
                super::$case(&mut super::SqliteLedger::open(&folder.path().join("new/ledger.db")).unwrap());
            })+
        }
    };
}

conformance!(
    links_are_kept_by_tracker_and_marker,
    a_ticket_belongs_to_one_artifact,
    an_intent_exists_once_for_each_ticket,
    what_is_not_committed_is_undone,
    deliveries_breakers_and_paces_are_what_they_were,
    a_lost_lease_writes_nothing,
);
