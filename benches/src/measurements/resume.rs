//! `stepmark resume` as a process, from each of its tiers.

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

/// The number of artifacts that have a history.
const WORKED_ON: usize = 200;

/// The number of committed versions of the damaged artifact that cannot be read.
const BROKEN_VERSIONS: usize = 20;

/// The time that each tier may take.
const LIMITS: [Duration; 3] =
    [Duration::from_millis(5), Duration::from_millis(50), Duration::from_millis(500)];

/// The files of stepmark in the project that a run before this one has left.
const OWN_FOLDERS: [&str; 4] = ["journal", "local", "checkpoints", "cache"];

/// Measures and prints.
pub(crate) fn measure(tools: &Tools, folder: &Path, rounds: usize) -> Result<(), Failure> {
    let [sound, with_checkpoint, damaged] = prepare(tools, folder)?;
    let answers = [("1", &sound), ("2", &with_checkpoint), ("3", &damaged)];
    for (tier, artifact) in answers {
        let answer = process::stdout(&mut tools.stepmark(folder, &["resume", artifact, "--json"]))?;
        if !answer.contains(&format!("\"tier\":{tier}")) {
            return Err(Failure::Usage(format!("tier {tier} does not answer for `{artifact}`: {answer}")));
        }
    }
    report::title("resume as a process, 10,000 artifacts");
    let mut contenders =
        vec![Contender::new("a process that does nothing", || process::time(&mut tools.own("nothing")))];
    for (tier, artifact) in answers {
        contenders.push(Contender::new(format!("stepmark resume, tier {tier} answers"), move || {
            process::time(&mut tools.stepmark(folder, &["resume", artifact]))
        }));
    }
    let sound = sound.as_str();
    contenders.push(Contender::new("stepmark resume --tier 3, of a sound artifact", move || {
        process::time(&mut tools.stepmark(folder, &["resume", sound, "--tier", "3"]))
    }));
    contenders.push(Contender::new("stepmark resume, without an artifact", move || {
        process::time(&mut tools.stepmark(folder, &["resume"]))
    }));
    let series = alternate(rounds, contenders)?;
    report::time(&series[0], None);
    for (series, limit) in series[1..].iter().zip([LIMITS[0], LIMITS[1], LIMITS[2], LIMITS[2], LIMITS[1]]) {
        report::time(series, Some(limit));
    }
    Ok(())
}

/// Takes the project back to its first commit, gives it a history, and damages two artifacts: one with a
/// checkpoint, one whose damage is committed again and again. Returns a sound one and these two.
fn prepare(tools: &Tools, folder: &Path) -> Result<[String; 3], Failure> {
    let first = process::stdout(&mut git(folder, &["rev-list", "--max-parents=0", "HEAD"]))?;
    process::time(&mut git(folder, &["reset", "--quiet", "--hard", first.trim()]))?;
    for name in OWN_FOLDERS {
        let own = folder.join(".stepmark").join(name);
        if own.exists() {
            fs::remove_dir_all(&own).map_err(Failure::file("remove", &own))?;
        }
    }
    let artifacts = artifacts(folder)?;
    let mut worked_on = artifacts.iter().take(WORKED_ON);
    let missing = || Failure::Usage(format!("`{}` holds too few artifacts", folder.display()));
    let [sound, with_checkpoint, damaged] =
        [worked_on.next(), worked_on.next(), worked_on.next()].map(|path| path.cloned().ok_or_else(missing));
    let chosen = [sound?, with_checkpoint?, damaged?];
    for artifact in &artifacts[..WORKED_ON.min(artifacts.len())] {
        process::time(&mut tools.stepmark(folder, &["set", artifact, "bench=1", "--quiet"]))?;
    }
    process::time(&mut tools.stepmark(folder, &["checkpoint", &chosen[1]]))?;
    for artifact in &chosen[1..] {
        damage(&folder.join(artifact), 0)?;
    }
    let author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    for version in 1..=BROKEN_VERSIONS {
        damage(&folder.join(&chosen[2]), version)?;
        process::time(git(folder, &author).args([
            "commit",
            "--quiet",
            "--message=broken",
            "--",
            &chosen[2],
        ]))?;
    }
    Ok(chosen)
}

/// The artifacts of the PRD workflow, in order.
fn artifacts(folder: &Path) -> Result<Vec<String>, Failure> {
    let docs = folder.join("docs");
    let mut paths = Vec::new();
    for area in entries(&docs)? {
        for file in entries(&area)? {
            let relative = file.strip_prefix(folder).unwrap_or(&file);
            let is_prd = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("prd-"));
            paths.extend(relative.to_str().filter(|_| is_prd).map(str::to_owned));
        }
    }
    paths.sort();
    Ok(paths)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let listed = fs::read_dir(folder).map_err(Failure::file("list", folder))?;
    listed.map(|entry| entry.map(|entry| entry.path()).map_err(Failure::file("list", folder))).collect()
}

/// Puts a list that is never closed into the frontmatter.
fn damage(file: &Path, version: usize) -> Result<(), Failure> {
    let text = fs::read_to_string(file).map_err(Failure::file("read", file))?;
    let rest = text.strip_prefix("---\n").unwrap_or(&text);
    let rest =
        rest.strip_prefix("broken").map_or(rest, |old| old.split_once('\n').map_or("", |(_, rest)| rest));
    fs::write(file, format!("---\nbroken{version}: [\n{rest}")).map_err(Failure::file("write", file))
}
