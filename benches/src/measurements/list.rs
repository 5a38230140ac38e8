//! `stepmark status` and `list` of a project in which nothing has changed, beside `git status`.

use std::path::Path;

use crate::{
    failure::Failure,
    process,
    report::{self, Target},
    timing::{Contender, alternate},
    tools::{Tools, git},
};

/// The time that each may take in terms of `git status`.
const TARGET: Target = Target::AtMost(1.3);

/// Measures and prints.
pub(crate) fn measure(tools: &Tools, folder: &Path, rounds: usize) -> Result<(), Failure> {
    report::title("lists of all artifacts, where nothing has changed");
    let run = |arguments: &[&str]| process::time(&mut tools.stepmark(folder, arguments));
    let question = ["list", "--quiet", "--where", "progress>50 and status!=done", "--sort", "-progress"];
    // What the first makes is kept for those that are measured.
    run(&["status", "--quiet"])?;
    let series = alternate(
        rounds,
        vec![
            Contender::new("git status", || process::time(&mut git(folder, &["status", "--porcelain"]))),
            Contender::new("status", || run(&["status", "--quiet"])),
            Contender::new("status --json --limit 50", || run(&["status", "--json", "--limit", "50"])),
            Contender::new("list --where, sorted", || run(&question)),
            Contender::new("list --where status=blocked", || {
                run(&["list", "--quiet", "--where", "status=blocked"])
            }),
            Contender::new("check", || process::time(&mut tools.stepmark(folder, &["check", "--quiet"]))),
        ],
    )?;
    series[1..].iter().for_each(|series_of_list| report::slower(series_of_list, &series[0], TARGET));
    Ok(())
}
