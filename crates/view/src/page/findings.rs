//! The findings, and what the rules say.

use maud::{Markup, html};
use stepmark_model::check::Rule;

use super::{Links, marks};
use crate::{
    markdown,
    observation::FindingRow,
    overview::{Overview, Trouble},
    wording,
};

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
