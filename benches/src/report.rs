//! The lines that a measurement prints.

use std::time::Duration;

use crate::timing::Series;

/// The value that a figure should have.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// At most this.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
    /// Printed to compare.
    None,
}

/// Prints a heading.
pub(crate) fn title(text: &str) {
    println!("\n{text}");
}

/// Prints how many times as long as `other` `one` took.
pub(crate) fn slower(one: &Series, other: &Series, target: Target) {
    line(&format!("{} / {}", one.name, other.name), one.ratio_to(other), target, one, other);
}

/// Prints how many times as fast as `other` `one` was.
pub(crate) fn faster(one: &Series, other: &Series, target: Target) {
    line(&format!("{} faster than {}", one.name, other.name), other.ratio_to(one), target, one, other);
}

fn line(what: &str, ratio: f64, target: Target, one: &Series, other: &Series) {
    let times = format!("{} / {}", readable(one.median()), readable(other.median()));
    println!("  {what:<72} {ratio:>7.2}  {:<16} {times}", verdict(ratio, target));
}

/// Prints the median of a series beside a limit in milliseconds.
pub(crate) fn time(series: &Series, limit: Option<Duration>) {
    let target = limit.map_or(Target::None, |limit| Target::AtMost(limit.as_secs_f64() * 1e3));
    let milliseconds = series.median().as_secs_f64() * 1e3;
    println!("  {:<72} {milliseconds:>7.2}  ms {}", series.name, verdict(milliseconds, target));
}

fn verdict(value: f64, target: Target) -> String {
    let (met, text) = match target {
        Target::AtMost(limit) => (value <= limit, format!("≤ {limit}")),
        Target::AtLeast(limit) => (value >= limit, format!("≥ {limit}")),
        Target::None => return String::new(),
    };
    format!("{text} {}", if met { "met" } else { "NOT MET" })
}

fn readable(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.2} s"),
        seconds if seconds >= 1e-3 => format!("{:.2} ms", seconds * 1e3),
        seconds => format!("{:.1} µs", seconds * 1e6),
    }
}
