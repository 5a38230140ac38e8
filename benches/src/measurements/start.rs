//! `stepmark next` as a process: what a person or an agent waits for.

use std::{path::Path, time::Duration};

use crate::{
    failure::Failure,
    process, report,
    timing::{Contender, alternate},
    tools::Tools,
};

const LIMIT: Duration = Duration::from_millis(5);

/// Measures and prints; each of `projects` is `FOLDER=ARTIFACT`.
pub(crate) fn measure(tools: &Tools, rounds: usize, projects: &[String]) -> Result<(), Failure> {
    let mut contenders =
        vec![Contender::new("a process that does nothing", || process::time(&mut tools.own("nothing")))];
    for project in projects {
        let Some((folder, artifact)) = project.split_once('=') else {
            return Err(Failure::Usage(format!("`{project}` is not FOLDER=ARTIFACT")));
        };
        let name = Path::new(folder).file_name().unwrap_or_default().to_string_lossy().into_owned();
        contenders.push(Contender::new(format!("stepmark next in {name}"), move || {
            process::time(&mut tools.stepmark(Path::new(folder), &["next", artifact]))
        }));
    }
    report::title("process start");
    let series = alternate(rounds, contenders)?;
    report::time(&series[0], None);
    series[1..].iter().for_each(|series| report::time(series, Some(LIMIT)));
    Ok(())
}
