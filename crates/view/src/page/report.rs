//! The page as one file.

use super::OverviewPage;
use crate::overview::Overview;

/// `overview` as one HTML file that asks nobody for anything. The same overview gives the same bytes.
pub fn report(overview: &Overview) -> String {
    let mut html = OverviewPage::file(overview).html;
    html.push('\n');
    html
}
