//! Status and dates.

pub(crate) mod status_not_text;
pub(crate) mod status_disagrees;
pub(crate) mod template_unfilled;
pub(crate) mod status_unknown;
pub(crate) mod status_ahead_of_steps;
pub(crate) mod time_impossible;
