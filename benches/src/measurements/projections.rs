//! `stepmark project` where nothing is there yet, nothing has changed, or one artifact has; and a list beside
//! it.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    failure::Failure,
    process, report,
    timing::{Contender, alternate},
    tools::{Tools, git},
};

/// The time that each run may take for 10,000 artifacts.
const FIRST: Duration = Duration::from_secs(10);
const UNCHANGED: Duration = Duration::from_secs(2);
const AFTER_ONE_CHANGE: Duration = Duration::from_millis(50);

/// The files that `project` makes and keeps.
const PROJECTED: [&str; 3] = ["gates", "manifests", "cache"];

/// Measures and prints. Nothing is flushed for gates, and nothing but a changed file for the others.
pub(crate) fn measure(tools: &Tools, folder: &Path, rounds: usize) -> Result<(), Failure> {
    let artifact = one_artifact(folder)?;
    let changed = folder.join(&artifact);
    let named = artifact.display().to_string();
    report::title("stepmark project");
    let series = alternate(
        rounds,
        vec![
            Contender::new("project, nothing there yet", || {
                set_projected_aside(folder)?;
                project(tools, folder)
            }),
            Contender::new("project, nothing changed", || project(tools, folder)),
            Contender::new("project, one artifact changed", || {
                write_again(&changed)?;
                project(tools, folder)
            }),
            Contender::new("project ARTIFACT, which changed", || {
                write_again(&changed)?;
                process::time(&mut tools.stepmark(folder, &["project", "--quiet", &named]))
            }),
            Contender::new("list, of all artifacts", || {
                let question =
                    ["list", "--quiet", "--where", "progress>50 and status!=done", "--sort", "-progress"];
                process::time(&mut tools.stepmark(folder, &question))
            }),
            Contender::new("git status", || process::time(&mut git(folder, &["status", "--porcelain"]))),
        ],
    )?;
    let aside = set_aside(folder);
    fs::remove_dir_all(&aside).map_err(Failure::file("remove", &aside))?;
    let limits = [Some(FIRST), Some(UNCHANGED), Some(AFTER_ONE_CHANGE), Some(AFTER_ONE_CHANGE), None, None];
    series.iter().zip(limits).for_each(|(series, limit)| report::time(series, limit));
    Ok(())
}

fn project(tools: &Tools, folder: &Path) -> Result<Duration, Failure> {
    process::time(&mut tools.stepmark(folder, &["project", "--quiet"]))
}

/// Moves away what `project` made. To delete it here would be measured, too: ext4 looks for minutes at every
/// number of a file that was deleted before it makes another file.
fn set_projected_aside(folder: &Path) -> Result<(), Failure> {
    let aside = set_aside(folder);
    fs::create_dir_all(&aside).map_err(Failure::file("make", &aside))?;
    for name in PROJECTED {
        let own = folder.join(".stepmark").join(name);
        if own.exists() {
            let place =
                (0..).map(|round| aside.join(format!("{name}-{round}"))).find(|place| !place.exists());
            let place = place.unwrap_or_else(|| aside.join(name));
            fs::rename(&own, &place).map_err(Failure::file("move away", &own))?;
        }
    }
    Ok(())
}

/// The place where that lies until all is measured: beside the project, on the same disk.
fn set_aside(folder: &Path) -> PathBuf {
    folder.with_extension("set-aside")
}

/// An artifact of the PRD workflow.
fn one_artifact(folder: &Path) -> Result<PathBuf, Failure> {
    let listed = process::stdout(&mut git(folder, &["ls-files", "--", "docs/*/prd-*.md"]))?;
    let missing = || Failure::Usage(format!("`{}` holds no artifact `docs/*/prd-*.md`", folder.display()));
    listed.lines().next().map(PathBuf::from).ok_or_else(missing)
}

/// Changes a letter at the end of the artifact, so that its hash and its gates are others.
pub(crate) fn write_again(place: &Path) -> Result<(), Failure> {
    let mut bytes = fs::read(place).map_err(Failure::file("read", place))?;
    let last = bytes.len().saturating_sub(2);
    if let Some(letter) = bytes.get_mut(last) {
        *letter = if *letter == b'x' { b'y' } else { b'x' };
    }
    fs::write(place, bytes).map_err(Failure::file("write", place))
}
