//! `complete` beside a bare durable replacement of the same file by the same bytes.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use stepmark_core::workspace::Workspace;

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

/// Measures and prints.
pub(crate) fn measure(tools: &Tools, folder: &Path, rounds: usize) -> Result<(), Failure> {
    let file = folder.join(ARTIFACT);
    let source = folder.join(".stepmark/cache/after.md");
    for path in [&file, &source] {
        let holder = path.parent().unwrap_or(folder);
        fs::create_dir_all(holder).map_err(Failure::file("make", holder))?;
    }
    fs::write(&file, BEFORE).map_err(Failure::file("write", &file))?;
    process::time(&mut complete(tools, folder))?;
    let after = fs::read(&file).map_err(Failure::file("read", &file))?;
    fs::write(&source, &after).map_err(Failure::file("write", &source))?;
    let workspace = Workspace::open(folder).map_err(Failure::library)?;

    report::title("one step completed, durably");
    let series = alternate(
        rounds,
        vec![
            Contender::new("Workspace::update", || library(&workspace, &file, &after)),
            Contender::new("bare replacement", || bare(&file, &after)),
            Contender::new("stepmark complete", || process(&file, &after, complete(tools, folder))),
            Contender::new("bare replacement as a process", || {
                let mut command = tools.own("bare-replace");
                command.arg(&file).arg(&source);
                process(&file, &after, command)
            }),
        ],
    )?;
    report::slower(&series[0], &series[1], Target::AtMost(2.0));
    report::slower(&series[2], &series[3], Target::AtMost(2.0));
    let holder = file.parent().unwrap_or(folder);
    fs::remove_dir_all(holder).map_err(Failure::file("remove", holder))
}

fn complete(tools: &Tools, folder: &Path) -> std::process::Command {
    tools.stepmark(folder, &["complete", ARTIFACT, STEP, "--quiet"])
}

fn library(workspace: &Workspace, file: &Path, after: &[u8]) -> Result<Duration, Failure> {
    reset(file)?;
    let started = Instant::now();
    let carried = workspace.update(ARTIFACT, |artifact| artifact.complete(STEP));
    let took = started.elapsed();
    carried.map_err(Failure::library)?;
    check(file, after)?;
    Ok(took)
}

fn bare(file: &Path, after: &[u8]) -> Result<Duration, Failure> {
    reset(file)?;
    let started = Instant::now();
    bare::replace(file, after)?;
    Ok(started.elapsed())
}

fn process(file: &Path, after: &[u8], mut command: std::process::Command) -> Result<Duration, Failure> {
    reset(file)?;
    let took = process::time(&mut command)?;
    check(file, after)?;
    Ok(took)
}

/// The artifact as it was, and as if it had been so for a minute: of a file that another program wrote within the last
/// 20 ms stepmark waits until that program is done with it, which is no part of its own work.
fn reset(file: &Path) -> Result<(), Failure> {
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
