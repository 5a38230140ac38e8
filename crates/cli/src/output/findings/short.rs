//! Findings as one line each, for editors and `grep`.

use super::{Checked, Detail};
use crate::output::on_one_line;

/// `PATH:LINE:COLUMN: SEVERITY ID MESSAGE`.
pub(super) fn render(checked: &Checked<'_>, detail: Detail) -> String {
    let mut text = String::new();
    for file in checked.with_findings() {
        let excerpt = file.excerpt();
        let path = on_one_line(file.path.as_str());
        for finding in file.findings.iter().filter(|finding| detail.shows(finding)) {
            let place = excerpt.position(finding.span.start);
            let message = on_one_line(&finding.message);
            text.push_str(&format!("{path}:{place}: {} {} {message}\n", finding.severity, finding.rule.id));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::output::findings::sample::Sample;

    #[test]
    fn one_line_each_whatever_the_message_holds() {
        let sample = Sample::nasty();
        let text = render(&sample.checked(), Detail::Full);
        assert_eq!(text.lines().count(), sample.checked().findings().count());
        assert_snapshot!(text);
    }
}
