//! Plans read no artifact that has not changed since the last one.

#![expect(clippy::disallowed_methods, reason = "an edge: files are written and moved here")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, path::Path, thread, time::Duration};

use jiff::Timestamp;
use stepmark_store::workspace::Workspace;
use stepmark_sync::{
    configuration::{SyncConfiguration, TrackerSettings},
    ledger::{Ledger as _, Link, SqliteLedger},
    plan::{ActionKind, Plan, PlanInputs},
    ticket::{RemoteTicket, Snapshot},
};

/// As many as are worth a cache.
const COUNT: usize = 70;

/// Longer than a file has to be left alone before its stat says that it has not changed.
const SETTLING: Duration = Duration::from_millis(60);

fn settings(more: &str) -> TrackerSettings {
    let text = format!("trackers: {{t: {{kind: dry{more}}}}}");
    let read = SyncConfiguration::read(Path::new("c.yaml"), text.as_bytes()).unwrap();
    read.unwrap().trackers.remove(0)
}

fn write(root: &Path, number: usize, title: &str, body: &str) {
    let text = format!("---\nid: A-{number}\ntitle: {title}\nstatus: draft\n---\n# {body}\n");
    fs::write(root.join(format!("docs/{number}.md")), text).unwrap();
}

/// The snapshot of now, and the number of artifacts that were read for it.
fn snapshot(root: &Path) -> (Snapshot, usize) {
    thread::sleep(SETTLING);
    let workspace = Workspace::open(root).unwrap();
    let mut summaries = workspace.checks().summaries().unwrap();
    summaries.keep();
    (Snapshot::of("p", &summaries), summaries.found().artifacts.len())
}

fn plan(snapshot: &Snapshot, settings: &TrackerSettings, ledger: &mut SqliteLedger) -> Plan {
    let ledger = ledger.read().unwrap();
    Plan::make(&PlanInputs { snapshot, settings, ledger: &*ledger, survey: None }).unwrap()
}

/// Carries out `plan` on a perfect tracker.
fn carry_out(plan: &Plan, ledger: &mut SqliteLedger) {
    let mut transaction = ledger.write().unwrap();
    for action in &plan.actions {
        let id = action.marker.to_string();
        let remote = RemoteTicket { key: id.clone(), url: String::new(), other_ids: Default::default(), id };
        let link = Link {
            tracker: plan.tracker.clone(),
            marker: action.marker.clone(),
            remote,
            digest: action.digest,
            linked_at: Timestamp::UNIX_EPOCH,
        };
        transaction.put_link(&link, action.ticket.as_ref()).unwrap();
    }
    transaction.commit().unwrap();
}

#[test]
fn what_has_not_changed_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join(".stepmark")).unwrap();
    fs::create_dir(root.join("docs")).unwrap();
    (0..COUNT).for_each(|number| write(root, number, "T", "H"));
    let (settings, mut ledger) = (settings(""), SqliteLedger::in_memory().unwrap());

    let (first, read) = snapshot(root);
    assert_eq!(read, COUNT);
    let made = plan(&first, &settings, &mut ledger);
    assert_eq!(made.counts(), [(ActionKind::Create, COUNT)]);
    carry_out(&made, &mut ledger);

    // Nobody can read them any more, and nobody has to.
    let (second, read) = snapshot(root);
    assert_eq!(read, 0);
    fs::rename(root.join("docs"), root.join("elsewhere")).unwrap();
    let made = plan(&second, &settings, &mut ledger);
    assert_eq!((made.unchanged, made.actions.len(), made.remarks.len()), (COUNT, 0, 0));
    // Another title needs them: what cannot be read is left to the next plan.
    let other = self::settings(", ticket: {title: '{title}!'}");
    let made = plan(&second, &other, &mut ledger);
    assert_eq!((made.unchanged, made.actions.len()), (0, 0));
    fs::rename(root.join("elsewhere"), root.join("docs")).unwrap();
    assert_eq!(plan(&second, &other, &mut ledger).counts(), [(ActionKind::Update, COUNT)]);

    // A text of which the ticket says nothing, and one of which it does.
    write(root, 1, "T", "Other");
    write(root, 2, "Other", "H");
    let (third, read) = snapshot(root);
    assert_eq!(read, 2);
    let made = plan(&third, &settings, &mut ledger);
    assert_eq!((made.unchanged, made.actions.len()), (COUNT - 1, 1));
    assert_eq!(made.actions[0].path.as_ref().map(ToString::to_string).as_deref(), Some("docs/2.md"));

    // What lost its frontmatter is told from what is gone.
    fs::write(root.join("docs/3.md"), "# H\n").unwrap();
    let (fourth, _) = snapshot(root);
    assert!(fourth.has_stateless("docs/3.md") && !fourth.has_stateless("docs/4.md"));
    assert!(!fourth.has_stateless("docs/gone.md"));
}
