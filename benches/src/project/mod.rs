//! The project that is measured.

mod artifact;
mod frontmatter;
pub(crate) mod journal;
mod random;
mod workflow;

use std::{fs, path::Path, thread, time::Duration};

use self::{
    artifact::{SIZE, artifact},
    frontmatter::documents,
};
use crate::{
    failure::Failure,
    parallel, process,
    tools::{Tools, git},
};

/// Changes whenever the projects made by this program do.
const EDITION: &str = "2";

/// Makes the project in `folder`, unless this edition of it is there.
pub(crate) fn make(tools: &Tools, folder: &Path, count: usize) -> Result<(), Failure> {
    let mark = folder.with_extension("ready");
    let edition = format!("edition {EDITION}, {count} artifacts of {SIZE} bytes\n");
    if fs::read_to_string(&mark).is_ok_and(|found| found == edition) {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Failure::file("remove", folder))?;
    }
    write_files(folder, count)?;
    process::time(&mut tools.stepmark(folder, &["init"]))?;
    // Everything is older than the caches that stepmark and git make of it: a file as new as a cache is
    // hashed again.
    thread::sleep(Duration::from_secs(2));
    process::time(&mut tools.stepmark(folder, &["manifest", "write"]))?;
    process::time(&mut git(folder, &["init", "--quiet"]))?;
    process::time(&mut git(folder, &["add", "--all"]))?;
    let author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    process::time(git(folder, &author).args(["commit", "--quiet", "--message=corpus"]))?;
    fs::write(&mark, edition).map_err(Failure::file("write", &mark))
}

fn write_files(folder: &Path, count: usize) -> Result<(), Failure> {
    let workflows = folder.join("_bmad/bmm/workflows");
    for (path, text) in workflow::ALL.iter().flat_map(workflow::Workflow::files) {
        write(&workflows.join(path), &text)?;
    }
    for path in documents() {
        write(&folder.join(&path), &format!("# {path}\n\nWithout state.\n"))?;
    }
    let numbers: Vec<usize> = (0..count).collect();
    let written = parallel::sum(&numbers, |number| {
        let artifact = artifact(*number);
        usize::from(write(&folder.join(&artifact.path), &artifact.text).is_ok())
    });
    if written == count {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "only {written} of {count} artifacts could be written to `{}`",
        folder.display()
    )))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Failure::file("make", folder))?;
    }
    fs::write(path, text).map_err(Failure::file("write", path))
}
