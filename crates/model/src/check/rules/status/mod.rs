//! Status and dates.

pub(crate) mod status_not_text;
pub(crate) mod status_disagrees;
pub(crate) mod template_unfilled;
pub(crate) mod status_unknown;
pub(crate) mod status_ahead_of_steps;
pub(crate) mod time_impossible;
pub mod sprint_status_disagrees;
pub mod sprint_status_not_yaml;
pub mod sprint_status_unmatched;
pub(crate) mod time_without_date;
pub(crate) mod time_not_iso;
pub(crate) mod story_not_imported;
mod written_time;
