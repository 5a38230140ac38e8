//! The page as one file.

use super::{OverviewPage, layout::GENERATOR};
use crate::overview::Overview;

/// `overview` as one HTML file that asks nobody for anything. The same overview gives the same bytes.
pub fn report(overview: &Overview) -> String {
    let mut html = OverviewPage::file(overview).html;
    html.push('\n');
    html
}

/// Returns whether a file that begins with `start` is such a page, which may be replaced by a newer one. A few hundred bytes suffice.
pub fn is_report(start: &[u8]) -> bool {
    let mark = format!("name=\"generator\" content=\"{GENERATOR}\"");
    start.windows(mark.len()).any(|window| window == mark.as_bytes())
}
