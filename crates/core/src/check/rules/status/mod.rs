//! Status and dates.

pub(crate) mod status_not_text;
pub(crate) mod status_disagrees;
pub(crate) mod template_unfilled;
