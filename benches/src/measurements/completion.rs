//! `complete` beside a bare durable replacement of the same file by the same bytes.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant, SystemTime},
};

use stepmark_store::workspace::Workspace;

use crate::{
    bare,
    failure::Failure,
    process,
    report::{self, Target},
    timing::{Contender, alternate},
    tools::Tools,
};

const ARTIFACT: &str = "docs/complete/prd.md";
const STEP: &str = "step-03-success";
const BEFORE: &str = "---\nstepsCompleted: ['step-01-init', 'step-02-discovery']\ninputDocuments: []\nworkflowType: 'prd'\n---\n\n# PRD\n";

/// The file that the bare contenders replace: a file that stepmark knows nothing of, so that nobody edits
/// behind its back.
const BARE: &str = "docs/complete/bare.md";

/// The number of agents that work at once in a deployment.
const WRITERS: usize = 92;

/// The number of commits that each of them makes in a round.
const COMMITS: usize = 4;

/// Measures and prints.
pub(crate) fn measure(tools: &Tools, folder: &Path, rounds: usize) -> Result<(), Failure> {
    let [file, bare_file] = [ARTIFACT, BARE].map(|path| folder.join(path));
    let source = folder.join(".git/after.md");
    for path in [&file, &source] {
        let holder = path.parent().unwrap_or(folder);
        fs::create_dir_all(holder).map_err(Failure::file("make", holder))?;
    }
    make(&file)?;
    process::time(&mut complete(tools, folder))?;
    let after = fs::read(&file).map_err(Failure::file("read", &file))?;
    fs::write(&source, &after).map_err(Failure::file("write", &source))?;
    process::time(&mut reopen(tools, folder))?;
    let workspace = Workspace::open(folder).map_err(Failure::library)?;

    report::title("one step completed, durably, and told to the journal");
    let series = alternate(
        rounds,
        vec![
            Contender::new("Workspace::update", || library(&workspace, ARTIFACT)),
            Contender::new("bare replacement", || bare(&bare_file, &after)),
            Contender::new("stepmark complete", || process(&file, &after, tools, folder)),
            Contender::new("bare replacement as a process", || {
                let mut command = tools.own("bare-replace");
                process::time(command.arg(&bare_file).arg(&source))
            }),
        ],
    )?;
    report::slower(&series[0], &series[1], Target::AtMost(3.0));
    report::slower(&series[2], &series[3], Target::None);
    writers(folder, rounds.div_ceil(4))?;
    let holder = file.parent().unwrap_or(folder);
    fs::remove_dir_all(holder).map_err(Failure::file("remove", holder))
}

/// As many commits by one writer as by 92 at once, each with an artifact of its own and one journal for all.
fn writers(folder: &Path, rounds: usize) -> Result<(), Failure> {
    let artifacts: Vec<String> =
        (0..WRITERS).map(|writer| format!("docs/complete/agent-{writer}.md")).collect();
    artifacts.iter().try_for_each(|artifact| make(&folder.join(artifact)))?;
    let work = |artifact: &String| {
        let workspace = Workspace::open(folder).map_err(Failure::library)?;
        (0..COMMITS / 2).try_for_each(|_| library(&workspace, artifact).map(drop))
    };
    let one = || {
        let started = Instant::now();
        artifacts.iter().try_for_each(work)?;
        Ok(started.elapsed())
    };
    let all = || {
        let started = Instant::now();
        thread::scope(|scope| {
            let threads: Vec<_> = artifacts.iter().map(|artifact| scope.spawn(|| work(artifact))).collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined
                .into_iter()
                .try_for_each(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })?;
        Ok(started.elapsed())
    };
    report::title("368 commits, each to one of 92 artifacts");
    let series = alternate(
        rounds,
        vec![Contender::new("92 writers at once", all), Contender::new("one writer", one)],
    )?;
    report::slower(&series[0], &series[1], Target::None);
    Ok(())
}

fn complete(tools: &Tools, folder: &Path) -> std::process::Command {
    tools.stepmark(folder, &["complete", ARTIFACT, STEP, "--quiet"])
}

fn reopen(tools: &Tools, folder: &Path) -> std::process::Command {
    tools.stepmark(folder, &["reopen", ARTIFACT, STEP, "--quiet"])
}

/// Completes the step, timed, and opens it again.
fn library(workspace: &Workspace, artifact: &str) -> Result<Duration, Failure> {
    let started = Instant::now();
    let carried = workspace.update(artifact, |artifact| artifact.complete(STEP));
    let took = started.elapsed();
    carried.map_err(Failure::library)?;
    workspace.update(artifact, |artifact| artifact.reopen(STEP)).map_err(Failure::library)?;
    Ok(took)
}

fn bare(file: &Path, after: &[u8]) -> Result<Duration, Failure> {
    let started = Instant::now();
    bare::replace(file, after)?;
    Ok(started.elapsed())
}

fn process(file: &Path, after: &[u8], tools: &Tools, folder: &Path) -> Result<Duration, Failure> {
    let took = process::time(&mut complete(tools, folder))?;
    check(file, after)?;
    process::time(&mut reopen(tools, folder))?;
    Ok(took)
}

/// The artifact at first, and as if it had been so for a minute: of a file that another program wrote within
/// the last 20 ms stepmark waits until that program is done with it, which is no part of its own work.
fn make(file: &Path) -> Result<(), Failure> {
    bare::replace(file, BEFORE.as_bytes())?;
    let age = |file: &fs::File| file.set_modified(SystemTime::now() - Duration::from_secs(60));
    let opened = fs::File::options().write(true).open(file);
    opened.and_then(|file| age(&file)).map_err(Failure::file("set the time of", file))
}

/// The work must have been done, or its time means nothing.
fn check(file: &Path, after: &[u8]) -> Result<(), Failure> {
    let found = fs::read(file).map_err(Failure::file("read", file))?;
    if found == after {
        return Ok(());
    }
    Err(Failure::Disagreement {
        who: "the measured program".to_owned(),
        found: String::from_utf8_lossy(&found).into_owned(),
        other: "the first run".to_owned(),
        wanted: String::from_utf8_lossy(after).into_owned(),
    })
}
