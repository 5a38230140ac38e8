//! What a program that embeds the library relies on.
#![cfg(feature = "write")]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests make projects directly, and fail by panicking"
)]

use std::{
    error::Error,
    fmt, fs,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use stepmark_core::{
    Actor, ArtifactLock, Attribution, Clock, CommitError, CommitOptions, ErrorKind, EventDraft,
    EventSelection as Selection, FsyncPolicy, Kind, LockError, Plan, ProjectPath, ResumeTier,
    TrackedArtifact, TransitionRefusal, UpdateError, Workspace, document::KeyPath,
};

const PRD: &str = "docs/prd.md";

fn project() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("docs")).unwrap();
    let prd = "---\nid: PRD-1\nstepsCompleted: [step-01-init]\nstatus: draft\n---\n# PRD\n";
    fs::write(folder.path().join(PRD), prd).unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    (folder, workspace)
}

fn events(workspace: &Workspace) -> usize {
    workspace.history().ask(|history| history.select(Selection::default())).unwrap().len()
}

/// A lock that was held meanwhile would never be had: this test would not end.
#[test]
fn history_may_be_asked_and_changed_within_a_question() {
    let (_folder, workspace) = project();
    workspace.update(PRD, |prd| prd.complete("step-02-x")).unwrap();
    let (inner, outer) = workspace
        .history()
        .ask(|history| {
            let before = history.select(Selection::default())?.len();
            workspace.update(PRD, |prd| prd.complete("step-03-y")).unwrap();
            workspace.resume(&PRD.parse::<ProjectPath>().unwrap(), ResumeTier::Everything).unwrap();
            workspace.history().append_event(EventDraft::new(Kind::SESSION_START)).unwrap();
            let inner = workspace.history().ask(|history| Ok(history.select(Selection::default())?.len()))?;
            let after = history.select(Selection::default())?.len();
            assert!(before < after, "the outer question sees what was told meanwhile");
            Ok((inner, after))
        })
        .unwrap();
    assert_eq!((inner, outer), (events(&workspace), events(&workspace)));
}

/// An error of the embedding program.
#[derive(Debug)]
enum NotToday {
    Sunday,
    Refused(TransitionRefusal),
}

impl fmt::Display for NotToday {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("not today")
    }
}

impl Error for NotToday {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Sunday => None,
            Self::Refused(refusal) => Some(refusal),
        }
    }
}

impl From<TransitionRefusal> for NotToday {
    fn from(refusal: TransitionRefusal) -> Self {
        Self::Refused(refusal)
    }
}

#[test]
fn a_decision_fails_with_the_programs_own_error() {
    let (folder, workspace) = project();
    let before = fs::read(folder.path().join(PRD)).unwrap();
    let decide = |is_sunday: bool, step: &'static str| {
        move |prd: &TrackedArtifact| -> Result<Plan, NotToday> {
            if is_sunday { Err(NotToday::Sunday) } else { Ok(prd.complete(step)?) }
        }
    };
    let sunday = workspace.update(PRD, decide(true, "step-02-x"));
    assert!(matches!(sunday, Err(UpdateError::Refused { source: NotToday::Sunday, .. })), "{sunday:?}");
    let empty = workspace.update(PRD, decide(false, ""));
    assert!(matches!(empty, Err(UpdateError::Refused { source: NotToday::Refused(_), .. })), "{empty:?}");
    // What is no error by itself will do, too.
    let boxed = workspace.update(PRD, |_| Err::<Plan, Box<dyn Error>>("no".into()));
    assert!(matches!(boxed, Err(UpdateError::Refused { source, .. }) if source.to_string() == "no"));
    assert_eq!((fs::read(folder.path().join(PRD)).unwrap(), events(&workspace)), (before, 0));
    let missing = workspace.update("docs/none.md", decide(false, "x"));
    assert!(matches!(missing, Err(UpdateError::Change(error)) if error.kind() == ErrorKind::Missing));
    workspace.update(PRD, decide(false, "step-02-x")).unwrap();

    fn by_question_mark(workspace: &Workspace) -> Result<(), stepmark_core::Error> {
        workspace.update(PRD, |prd| prd.complete(""))?;
        Ok(())
    }
    assert!(by_question_mark(&workspace).unwrap_err().detail::<TransitionRefusal>().is_some());
}

#[test]
fn a_dotted_path_leads_into_a_mapping_however_it_is_given() {
    let (folder, workspace) = project();
    let text = "---\nstepsCompleted: [1]\nowner: {name: Ada}\n---\n";
    fs::write(folder.path().join(PRD), text).unwrap();
    workspace.update(PRD, |prd| prd.set("owner.name", "Eve")).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join(PRD)).unwrap(), text.replace("Ada", "Eve"));
    let wrong = workspace.update(PRD, |prd| prd.set("a..b", 1));
    assert!(
        matches!(wrong, Err(UpdateError::Refused { source: TransitionRefusal::NoPath(_), .. })),
        "{wrong:?}"
    );
    workspace.update(PRD, |prd| prd.set(KeyPath::key("a.b"), 1)).unwrap();
    assert!(fs::read_to_string(folder.path().join(PRD)).unwrap().contains("\na.b: 1\n"));
}

#[test]
fn events_have_the_time_of_the_programs_own_clock() {
    let (_folder, workspace) = project();
    let seconds = Arc::new(AtomicI64::new(1_700_000_000));
    let own = Arc::clone(&seconds);
    let workspace = workspace
        .with_clock(Clock::of(move || Timestamp::from_second(own.fetch_add(1, Ordering::Relaxed)).unwrap()));
    workspace.update(PRD, |prd| prd.complete("step-02-x")).unwrap();
    let told = workspace.history().ask(|history| history.select(Selection::default())).unwrap();
    let asked = 1_700_000_000..seconds.load(Ordering::Relaxed);
    assert!(told.iter().all(|event| asked.contains(&event.at.as_second())), "{told:?}");
    assert!(asked.contains(&workspace.afresh().history().ask(|_| Ok(told[0].at.as_second())).unwrap()));
}

#[test]
fn commits_wait_as_long_as_the_program_says() {
    let (_folder, workspace) = project();
    let options =
        CommitOptions { lock_timeout: Duration::ZERO, fsync: FsyncPolicy::Never, ..CommitOptions::default() };
    let workspace = workspace.with_commit_options(options);
    assert_eq!(workspace.afresh().commit_options(), &options);
    let lock = ArtifactLock::acquire(workspace.root(), &PRD.parse().unwrap(), Duration::ZERO).unwrap();
    let refused = workspace.update(PRD, |prd| prd.complete("step-02-x"));
    assert!(
        matches!(&refused, Err(UpdateError::Change(error))
            if matches!(error.detail(), Some(CommitError::Lock(LockError::Timeout { .. })))),
        "{refused:?}"
    );
    drop(lock);
    workspace.update(PRD, |prd| prd.complete("step-02-x")).unwrap();
}

#[test]
fn a_session_is_a_name_of_one() {
    for wrong in ["a/b", "", "main", "../x", "a b"] {
        assert!(wrong.parse::<stepmark_core::SessionId>().is_err(), "{wrong}");
    }
    let (_folder, workspace) = project();
    let session = Some("night-1".parse().unwrap());
    let who = Attribution { session, ..Attribution::of(Actor::human("Ada")) };
    let workspace = workspace.with_attribution(who);
    workspace.update(PRD, |prd| prd.complete("step-02-x")).unwrap();
    let told = workspace.history().ask(|history| history.of_session("night-1")).unwrap();
    assert!(!told.is_empty() && told.iter().all(|event| event.session.as_deref() == Some("night-1")));
}
