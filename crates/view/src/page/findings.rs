//! Findings and rule texts.

use std::borrow::Cow;

use super::{Links, marks};
use crate::{
    markdown,
    observation::FindingRow,
    overview::{Overview, Trouble},
    wording,
};
use maud::{Markup, html};
use stepmark_model::check::Rule;

const SHOWN: usize = 300;

pub(super) fn section(overview: &Overview, links: Links) -> Markup {
    let findings = &overview.findings;
    let beside = overview.wrong.iter().filter(|trouble| trouble.rule.is_none());
    let beside: Vec<&Trouble> = beside.collect();
    html! {
        section #findings aria-labelledby="findings-title" {
            h2 #findings-title { "Findings" }
            p .quiet {
                (wording::count(overview.counts.errors, "error")) ", " (wording::count(overview.counts.warnings, "warning"))
                ", " (wording::count(overview.counts.notes, "note"))
            }
            @if !beside.is_empty() {
                ul .plain {
                    @for trouble in beside {
                        li {
                            (marks::severity(trouble.severity)) " "
                            @if let Some(path) = &trouble.path { a href=(links.to(path)) { (path) } ": " }
                            (marks::prose(&trouble.what))
                        }
                    }
                }
            }
            @if !findings.is_empty() {
                div .scroll tabindex="0" role="region" aria-labelledby="findings-title" {
                    (table(findings.iter().take(SHOWN), links))
                }
            }
            @if findings.len() > SHOWN { p .more { "and " (findings.len() - SHOWN) " more: " code { "stepmark check" } } }
        }
    }
}

pub(super) fn table<'f>(findings: impl Iterator<Item = &'f FindingRow>, links: Links) -> Markup {
    html! {
        table .findings {
            thead { tr {
                th scope="col" { "Severity" } th scope="col" { "Rule" } th scope="col" { "Place" } th scope="col" { "What is wrong" }
            } }
            tbody {
                @for finding in findings {
                    tr {
                        td { (marks::severity(finding.severity)) }
                        td { a .rule href=(links.to_rule(finding.rule.id)) { (finding.rule.id) } }
                        td { a href=(links.to(&finding.path)) { (finding.path) } ":" (finding.position) }
                        td {
                            (marks::prose(&finding.message))
                            @if !finding.lines.is_empty() { (source(finding)) }
                            @if let Some(help) = &finding.help { small { (marks::prose(help)) } }
                        }
                    }
                }
            }
        }
    }
}

fn source(finding: &FindingRow) -> Markup {
    let before = finding.lines.len() - 1;
    html! {
        pre .line tabindex="0" {
            code {
                @for (at, line) in finding.lines.iter().enumerate() {
                    span .quiet { ((finding.position.line + at).saturating_sub(before)) " | " } (line) "\n"
                }
            }
        }
    }
}

pub(super) fn rules(overview: &Overview) -> Markup {
    let mut rules: Vec<&'static Rule> = overview.findings.iter().map(|finding| finding.rule).collect();
    rules.sort_by_key(|rule| rule.id);
    rules.dedup_by_key(|rule| rule.id);
    html! {
        section #rules aria-labelledby="rules-title" {
            h2 #rules-title { "Rules" }
            @if rules.is_empty() { p .quiet { "No rule is broken." } }
            @for rule in rules {
                details id={ "rule-" (rule.id) } {
                    summary { strong { (rule.id) } " " (marks::prose(rule.summary())) }
                    (markdown::render(rule.why()))
                    (markdown::render(rule.fix()))
                    p { "More, with examples: " code { "stepmark explain " (rule.id) } }
                }
            }
        }
    }
}

pub(super) const KIB: usize = 1024;

/// In bytes: more than anybody reads, and quick to draw.
const MOST: usize = 1024 * KIB;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excerpt<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) shown: usize,
    pub(super) all: usize,
}

impl<'t> Excerpt<'t> {
    /// Whole lines, if there are any.
    pub(super) fn of(bytes: &'t [u8]) -> Self {
        Self::up_to(bytes, MOST)
    }

    fn up_to(bytes: &'t [u8], most: usize) -> Self {
        let (text, all) = (|shown| String::from_utf8_lossy(&bytes[..shown]), bytes.len());
        if all <= most {
            return Self { text: text(all), shown: all, all };
        }
        let last_line = bytes[..most].iter().rposition(|byte| *byte == b'\n').map(|end| end + 1);
        let shown = last_line.unwrap_or_else(|| {
            // UTF-8: continuation bytes begin with the bits 10.
            let begins_character = |place: &usize| bytes[*place] & 0xC0 != 0x80;
            (most.saturating_sub(3)..=most).rev().find(begins_character).unwrap_or(most)
        });
        Self { text: text(shown), shown, all }
    }
}

#[cfg(test)]
mod tests {
    use super::Excerpt;

    #[test]
    fn it_ends_with_a_line_or_else_with_a_character() {
        for (text, most, shown) in [
            ("", 4, ""),
            ("abcd", 4, "abcd"),
            ("abcde", 4, "abcd"),
            ("ab\ncd", 4, "ab\n"),
            ("abc\nd", 4, "abc\n"),
            ("abcdé", 5, "abcd"),
            ("a😀b", 4, "a"),
            ("a😀b", 5, "a😀"),
        ] {
            let excerpt = Excerpt::up_to(text.as_bytes(), most);
            assert_eq!(
                (&*excerpt.text, excerpt.shown, excerpt.all),
                (shown, shown.len(), text.len()),
                "{text}"
            );
        }
        assert_eq!(Excerpt::up_to(&[0x80; 9], 4).shown, 4, "what is no text is shown, too");
    }
}
