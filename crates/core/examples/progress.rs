//! How far the artifacts of a project are, and what is wrong with them: reading, without a set-up and without
//! writing a byte.
//!
//! `cargo run -p stepmark-core --example progress -- fixtures/repos/demo`

use std::{env, error::Error, process::ExitCode};

use stepmark_core::{Severity, Workspace};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let root = env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let (lines, is_clean) = progress(&root)?;
    for line in lines {
        report(&line);
    }
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A line for each artifact, and whether no artifact has an error.
fn progress(root: &str) -> Result<(Vec<String>, bool), Box<dyn Error>> {
    let workspace = Workspace::open(root)?;
    let found = workspace.artifacts()?;
    let (mut lines, mut is_clean) = (Vec::new(), found.is_whole());
    for artifact in &found.artifacts {
        let done = artifact.progress().map_or_else(
            || "no workflow".to_owned(),
            |progress| format!("{} of {} steps", progress.done_units, progress.total),
        );
        let findings = workspace.checks().own_findings(artifact);
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        is_clean &= errors == 0;
        lines.push(format!("{}: {done}, {errors} errors", artifact.path()));
    }
    Ok((lines, is_clean))
}

#[expect(clippy::print_stdout, reason = "an example shows what it found")]
fn report(line: &str) {
    println!("{line}");
}

#[test]
fn says_how_far_the_demo_is() {
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/repos/demo");
    let (lines, is_clean) = progress(demo).unwrap();
    assert!(
        lines.contains(&"_bmad-output/planning-artifacts/prd.md: 5 of 14 steps, 0 errors".to_owned()),
        "{lines:#?}"
    );
    assert!(!is_clean);
}
