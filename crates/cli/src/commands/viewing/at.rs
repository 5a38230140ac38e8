//! `stepmark log at`

use std::path::PathBuf;

use clap::Args;
use jiff::{Timestamp, civil};
use serde_json::{Value as Json, json};
use stepmark_model::journal::Event;
use stepmark_store::history::{History, HistoryError, Point};

use crate::{
    exit::{Exit, Failure},
    output::{Output, history},
    project::Project,
};

/// Show the frontmatter an artifact had at a time, an event, or the end of a session
#[derive(Debug, Args)]
pub(crate) struct At {
    /// A time with its offset (2026-11-22T10:00:00Z), a date (its end, UTC), the beginning of an event id, or
    /// a session
    point: String,
    /// The artifact
    artifact: PathBuf,
}

impl At {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let (key, path) = project.identity(&self.artifact)?;
        let history = History::open(project.root())?;
        let point = point(&history, &self.point, output)?;
        let Some(event) = history.at(&key, &path, &point)? else {
            return Err(Failure::new(
                Exit::Findings,
                format!("nothing is recorded of `{path}` at `{}`", self.point),
            )
            .with_help(format!("`stepmark log {path}` shows what is recorded")));
        };
        let state = match event.after {
            Some(_) => Some(history.state_after(event.id)?),
            None => None,
        };
        if output.json {
            output.json(
                "stepmark.at/1",
                json!({ "path": path.as_str(), "key": key.as_str(), "event": event.id, "at": event.at, "state": state }),
            );
            return Ok(Exit::Fine);
        }
        let Some(state) = state else {
            return Err(Failure::new(
                Exit::Findings,
                format!("there was no file `{path}` after event {}", history::short(event.id)),
            ));
        };
        show(&event, &state, output)
    }
}

fn show(event: &Event, state: &Json, output: &Output) -> Result<Exit, Failure> {
    output.remark(format_args!("# {}  {}", history::short(event.id), history::origin(event)));
    let text = serde_yaml::to_string(state).map_err(|error| Failure::from_error(Exit::Io, &error))?;
    output.line(text.trim_end());
    Ok(Exit::Fine)
}

/// Returns the point that `text` names: a time, else an event, else a session.
fn point(history: &History, text: &str, output: &Output) -> Result<Point, Failure> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(Point::Time(time));
    }
    if let Some(time) = end_of_day(text) {
        output.remark(format_args!("# `{text}` is taken as the end of that day, {time}"));
        return Ok(Point::Time(time));
    }
    if text.parse::<civil::DateTime>().is_ok() {
        let help = format!("add the offset: `{text}Z` for UTC, or as in `{text}+01:00`");
        return Err(Failure::new(Exit::Usage, format!("`{text}` names no moment: its time zone is missing"))
            .with_help(help));
    }
    match history.event(text) {
        Ok(event) => Ok(Point::Event(event.id)),
        Err(HistoryError::UnknownEvent { .. } | HistoryError::NoEventId { .. }) => {
            Ok(Point::Session(text.to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

/// The last microsecond of a date, in UTC.
fn end_of_day(text: &str) -> Option<Timestamp> {
    let date = Some(text).filter(|text| text.len() == 10)?.parse::<civil::Date>().ok()?;
    let end = date.at(23, 59, 59, 999_999_000);
    end.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_its_end_in_utc() {
        let end = end_of_day("2026-11-22").map(|time| time.to_string());
        assert_eq!(end.as_deref(), Some("2026-11-22T23:59:59.999999Z"));
        for text in ["2026-11-32", "20261122", "2026-11", "2026-11-22T10:00", "today"] {
            assert_eq!(end_of_day(text), None, "{text}");
        }
    }
}
