//! `stepmark check` of a project in which nothing, or little, has changed, beside `git status`.

use std::{fs, path::Path, time::Duration};

use crate::{
    failure::Failure,
    process,
    report::{self, Target},
    timing::{Contender, alternate},
    tools::{Tools, git},
};

/// The file in which a check keeps what it found in clean files.
const CACHE: &str = ".stepmark/local/cache/checked.stat";

/// Measures and prints.
pub(crate) fn measure(tools: &Tools, folder: &Path, rounds: usize) -> Result<(), Failure> {
    report::title("check of all artifacts, where nothing has changed");
    let series = alternate(
        rounds,
        vec![
            Contender::new("check", || check(tools, folder)),
            Contender::new("git status", || process::time(&mut git(folder, &["status", "--porcelain"]))),
            Contender::new("bare walk and stat", || process::time(tools.own("bare-walk").arg(folder))),
        ],
    )?;
    report::slower(&series[0], &series[1], Target::AtMost(1.5));
    report::slower(&series[0], &series[2], Target::None);

    report::title("check after some of the artifacts, and the manifest, were written again");
    let listed = process::stdout(&mut git(folder, &["ls-files", "--", "docs/area-*.md"]))?;
    let paths: Vec<&str> = listed.lines().collect();
    let after = |part: usize| {
        for path in paths.iter().step_by(part) {
            write_again(&folder.join(path))?;
        }
        process::time(&mut tools.stepmark(folder, &["manifest", "write", "--quiet"]))?;
        check(tools, folder)
    };
    let series = alternate(
        rounds,
        vec![
            Contender::new("check, nothing changed", || check(tools, folder)),
            Contender::new("check, one in 1000 changed", || after(1000)),
            Contender::new("check, one in 100 changed", || after(100)),
            Contender::new("check without what it kept", || {
                let file = folder.join(CACHE);
                if file.exists() {
                    fs::remove_file(&file).map_err(Failure::file("remove", &file))?;
                }
                check(tools, folder)
            }),
        ],
    )?;
    series.iter().for_each(|series| report::time(series, None));
    Ok(())
}

fn check(tools: &Tools, folder: &Path) -> Result<Duration, Failure> {
    process::time(&mut tools.stepmark(folder, &["check", "--quiet"]))
}

/// Changes a letter in the last line of an artifact.
fn write_again(place: &Path) -> Result<(), Failure> {
    let mut bytes = fs::read(place).map_err(Failure::file("read", place))?;
    let last = bytes.len().saturating_sub(2);
    if let Some(letter) = bytes.get_mut(last) {
        *letter = if *letter == b'x' { b'y' } else { b'x' };
    }
    fs::write(place, bytes).map_err(Failure::file("write", place))
}
