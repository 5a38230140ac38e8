//! Times of contenders that run in turn.

use std::time::Duration;

use crate::failure::Failure;

/// One run of a contender: how long its work took. What it does before and after that is its own affair.
type Run<'a> = Box<dyn FnMut() -> Result<Duration, Failure> + 'a>;

/// Something to be timed.
pub(crate) struct Contender<'a> {
    name: String,
    run: Run<'a>,
}

impl<'a> Contender<'a> {
    /// A contender with a name for the report.
    pub(crate) fn new(name: impl Into<String>, run: impl FnMut() -> Result<Duration, Failure> + 'a) -> Self {
        Self { name: name.into(), run: Box::new(run) }
    }
}

/// The times of one contender, round by round.
pub(crate) struct Series {
    pub(crate) name: String,
    times: Vec<Duration>,
}

impl Series {
    /// The median of the times.
    pub(crate) fn median(&self) -> Duration {
        median(&self.times)
    }

    /// The ratio of its time to that of `other`: the median over the rounds, because two runs of one round
    /// share what else the machine did then.
    pub(crate) fn ratio_to(&self, other: &Series) -> f64 {
        let ratios: Vec<f64> = self
            .times
            .iter()
            .zip(&other.times)
            .map(|(one, other)| one.as_secs_f64() / other.as_secs_f64())
            .collect();
        median_of(ratios)
    }
}

fn median(times: &[Duration]) -> Duration {
    Duration::from_secs_f64(median_of(times.iter().map(Duration::as_secs_f64).collect()))
}

fn median_of(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

/// Runs all contenders once unmeasured, then `rounds` (at least 1) times in turn.
pub(crate) fn alternate(rounds: usize, contenders: Vec<Contender<'_>>) -> Result<Vec<Series>, Failure> {
    let mut runs = Vec::new();
    let mut series = Vec::new();
    for Contender { name, mut run } in contenders {
        run()?;
        runs.push(run);
        series.push(Series { name, times: Vec::new() });
    }
    for _ in 0..rounds.max(1) {
        for (run, series) in runs.iter_mut().zip(&mut series) {
            series.times.push(run()?);
        }
    }
    Ok(series)
}
