//! `stepmark query`, with nothing new and after one change, beside a bare walk with stats and a bare SELECT.

use std::{path::Path, time::Duration};

use crate::{
    failure::Failure,
    measurements::projections::write_again,
    process,
    report::{self, Target},
    timing::{Contender, alternate},
    tools::{Tools, git},
};

const QUESTION: &str = "SELECT status, COUNT(*) FROM artifacts GROUP BY status";
const DATABASE: &str = ".stepmark/local/cache/index.db";
/// The time that a query of 10,000 artifacts may take as a process.
const LIMIT: Duration = Duration::from_millis(50);

/// Measures and prints.
pub(crate) fn measure(tools: &Tools, folder: &Path, rounds: usize) -> Result<(), Failure> {
    let ask = |question: &[&str]| process::time(&mut tools.stepmark(folder, question));
    let listed = process::stdout(&mut git(folder, &["ls-files", "--", "docs/area-*.md"]))?;
    let artifact = listed.lines().next().unwrap_or_default().to_owned();
    let first = ask(&["query", QUESTION])?;
    report::title("query");
    println!("  the first question, which makes the database: {:.2} s", first.as_secs_f64());
    let series = alternate(
        rounds,
        vec![
            Contender::new("query, nothing changed", || ask(&["query", QUESTION])),
            Contender::new("query, one artifact changed", || {
                write_again(&folder.join(&artifact))?;
                ask(&["query", QUESTION])
            }),
            Contender::new("query --no-refresh", || ask(&["query", QUESTION, "--no-refresh"])),
            Contender::new("query of events", || ask(&["query", "SELECT COUNT(*) FROM events"])),
            Contender::new("query of findings", || ask(&["query", "SELECT COUNT(*) FROM findings"])),
            Contender::new("query of files", || ask(&["query", "SELECT COUNT(*) FROM files"])),
            Contender::new("bare walk and stat", || process::time(tools.own("bare-walk").arg(folder))),
            Contender::new("bare SELECT", || process::time(tools.own("bare-select").arg(folder))),
        ],
    )?;
    series[..2].iter().for_each(|series| report::time(series, Some(LIMIT)));
    series[2..].iter().for_each(|series| report::time(series, None));
    report::slower(&series[0], &series[6], Target::None);
    Ok(())
}

/// Asks the database without anything around it.
pub(crate) fn print_select(folder: &Path) -> Result<(), Failure> {
    let failed =
        |error: rusqlite::Error| Failure::Process { command: "SELECT".to_owned(), reason: error.to_string() };
    let connection = rusqlite::Connection::open(folder.join(DATABASE)).map_err(failed)?;
    let mut statement = connection.prepare(QUESTION).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    let mut count = 0;
    while rows.next().map_err(failed)?.is_some() {
        count += 1;
    }
    println!("{count} rows");
    Ok(())
}
