//! `check --staged` of a few files among many, beside git alone.

use std::{
    fs,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use crate::{
    failure::Failure,
    process, report,
    timing::{Contender, alternate},
    tools::{Tools, git},
};

/// The number of files that are staged.
const STAGED: usize = 10;
const LIMIT: Duration = Duration::from_millis(20);

/// Stages files of the project that `project` made, measures and prints.
pub(crate) fn measure(tools: &Tools, folder: &Path, rounds: usize) -> Result<(), Failure> {
    stage(folder)?;
    let objects = objects(folder)?;
    let series = alternate(
        rounds,
        vec![
            Contender::new("stepmark check --staged", || {
                process::time(&mut tools.stepmark(folder, &["check", "--staged", "--quiet"]))
            }),
            Contender::new("git diff --cached + git cat-file --batch", || {
                let diff = process::time(&mut git(folder, &["diff", "--cached"]))?;
                Ok(diff + read_objects(folder, &objects)?)
            }),
            Contender::new("git diff --cached", || process::time(&mut git(folder, &["diff", "--cached"]))),
            Contender::new("a process that does nothing", || process::time(&mut tools.own("nothing"))),
        ],
    )?;
    report::title(&format!("{STAGED} staged files in {}", folder.display()));
    report::time(&series[0], Some(LIMIT));
    report::slower(&series[0], &series[1], report::Target::AtMost(2.0));
    series[1..].iter().for_each(|series| report::time(series, None));
    Ok(())
}

/// Adds a line to the bodies of the first artifacts, and stages them.
fn stage(folder: &Path) -> Result<(), Failure> {
    let listed = process::stdout(&mut git(folder, &["ls-files", "--", "docs/*.md"]))?;
    for path in listed.lines().step_by((listed.lines().count() / STAGED).max(1)).take(STAGED) {
        let place = folder.join(path);
        let mut text = fs::read_to_string(&place).map_err(Failure::file("read", &place))?;
        text.push_str("One more line.\n");
        fs::write(&place, text).map_err(Failure::file("write", &place))?;
        process::stdout(&mut git(folder, &["add", "--", path]))?;
    }
    Ok(())
}

/// The names of the objects on both sides, a line each.
fn objects(folder: &Path) -> Result<String, Failure> {
    let raw = process::stdout(&mut git(folder, &["diff", "--cached", "--raw", "--no-abbrev"]))?;
    let names = raw.lines().flat_map(|line| line.split(' ').skip(2).take(2));
    Ok(names.map(|name| format!("{name}\n")).collect())
}

fn read_objects(folder: &Path, names: &str) -> Result<Duration, Failure> {
    use std::io::Write;
    let mut command = git(folder, &["cat-file", "--batch"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let failed = |error: std::io::Error| Failure::Process {
        command: "git cat-file --batch".to_owned(),
        reason: error.to_string(),
    };
    let started = Instant::now();
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(names.as_bytes()).map_err(failed)?;
    }
    child.wait_with_output().map_err(failed)?;
    Ok(started.elapsed())
}
