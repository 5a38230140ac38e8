//! Workers that are processes of their own, so that they can be killed: the test program runs itself as its
//! own children.
#![expect(clippy::disallowed_methods, reason = "an edge: processes are started here")]

use std::{
    env,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use stepmark_store::workspace::Clock;
use stepmark_sync::{
    Error, ErrorKind,
    retry::{Chance, Jitter},
    worker::{WallClock, Worker, WorkerSettings},
};

use crate::flat_project::{FlatProject, PROJECT};

const FOLDER: &str = "GITHUB_TEST_FOLDER";

/// The file whose presence ends a worker that serves.
pub(crate) const STOP: &str = "stop";

/// Starts a worker on the project in `folder`. With the file [`STOP`] there it ends when nothing is left to
/// do, else it waits for more.
pub(crate) fn worker(folder: &Path) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "child::as_a_child", "--nocapture", "--include-ignored"]).env(FOLDER, folder);
    command.stdout(Stdio::null()).spawn().unwrap()
}

/// The part of these tests that runs in a process of its own. Without a folder it has nothing to do.
#[tokio::test]
#[ignore = "a child of the other tests"]
async fn as_a_child() {
    let Ok(folder) = env::var(FOLDER) else { return };
    let folder = Path::new(&folder);
    let project = FlatProject::open(folder);
    let mut ledger = project.ledger();
    loop {
        if project.is_settled(&mut ledger) {
            if folder.join(STOP).exists() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        }
        let plan = project.plan(&mut ledger);
        let tracker = project.tracker();
        let (clock, holder) = (WallClock(Clock::System), format!("worker {}", std::process::id()));
        let mut chance = u64::from(std::process::id());
        let mut draw = || {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            Jitter(chance)
        };
        let who = (holder.as_str(), &mut draw as &mut Chance<'_>);
        // It does not wait long: what is in doubt or held back is tried by the next round, and the others go
        // on.
        let work = WorkerSettings { patience_ms: 300, ..WorkerSettings::default() };
        let worker = Worker::new(&mut ledger, (&tracker, &project.settings), &clock, PROJECT, who);
        match worker.with(work).apply(&plan).await {
            Ok(report) if report.is_complete() => {}
            Ok(_) | Err(Error { kind: ErrorKind::Held { .. } | ErrorKind::Fenced | ErrorKind::Busy, .. }) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(error) => panic!("{error}"),
        }
    }
}
