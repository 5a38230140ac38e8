//! Ten times the files must not take much more than ten times the time.

use std::path::Path;

use crate::{
    failure::Failure,
    measurements::manifest,
    process,
    report::{self, Target},
    timing::{Contender, alternate},
    tools::Tools,
};

const TARGET: Target = Target::AtMost(11.0);

/// Measures and prints.
pub(crate) fn measure(tools: &Tools, small: &Path, large: &Path, rounds: usize) -> Result<(), Failure> {
    report::title("growth: ten times the files");
    let status = |folder| process::time(&mut tools.stepmark(folder, &["status", "--quiet"]));
    let series = alternate(
        rounds,
        vec![
            Contender::new("manifest verify, warm, large", || manifest::verify(tools, large)),
            Contender::new("small", || manifest::verify(tools, small)),
            Contender::new("manifest verify, cold, large", || manifest::verify_cold(tools, large)),
            Contender::new("small", || manifest::verify_cold(tools, small)),
            Contender::new("status, large", || status(large)),
            Contender::new("small", || status(small)),
        ],
    )?;
    series.chunks(2).for_each(|pair| report::slower(&pair[0], &pair[1], TARGET));
    Ok(())
}
