//! Findings as a log of SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"), for code scanning.
//!
//! The log holds nothing of the machine that wrote it: URIs are relative to `%SRCROOT%`, which the reader
//! knows.

mod fingerprint;
mod log;
mod region;
mod uri;

use std::collections::BTreeMap;

use stepmark_model::check::{Finding, Fix, Rule, Severity};

use self::{
    fingerprint::Fingerprints,
    log::{
        ArtifactChange, ArtifactLocation, Configuration, Driver, FixObject, Invocation, Level, Location, Log,
        Markdown, Message, Notification, PhysicalLocation, Replacement, ReportingDescriptor, ResultObject,
        Run, Tool, UriBase,
    },
    region::RegionIndex,
};
use super::{Checked, CheckedFile};

/// The name of the folder that all URIs are relative to.
const ROOT: &str = "%SRCROOT%";

/// The log as indented JSON.
pub(super) fn render(checked: &Checked<'_>) -> Result<String, serde_json::Error> {
    let rules = rules(checked);
    let results = checked.files.iter().flat_map(|file| results(file, &rules)).collect();
    let run = Run {
        tool: Tool { driver: driver(&rules) },
        original_uri_base_ids: BTreeMap::from([(
            ROOT,
            UriBase { description: Message::new("the folder of the project") },
        )]),
        column_kind: "utf16CodeUnits",
        newline_sequences: ["\r\n", "\n", "\r"],
        invocations: [invocation(&checked.unreadable)],
        results,
    };
    Ok(serde_json::to_string_pretty(&Log::of(run))? + "\n")
}

/// The rules that were broken, in the order of their ids, each with its place.
fn rules(checked: &Checked<'_>) -> BTreeMap<&'static str, (usize, &'static Rule)> {
    let mut rules: BTreeMap<_, _> =
        checked.findings().map(|finding| (finding.rule.id, (0, finding.rule))).collect();
    rules.values_mut().enumerate().for_each(|(place, (index, _))| *index = place);
    rules
}

fn driver(rules: &BTreeMap<&'static str, (usize, &'static Rule)>) -> Driver {
    Driver {
        name: "stepmark",
        semantic_version: env!("CARGO_PKG_VERSION"),
        information_uri: env!("CARGO_PKG_REPOSITORY"),
        rules: rules.values().map(|(_, rule)| descriptor(rule)).collect(),
    }
}

fn descriptor(rule: &Rule) -> ReportingDescriptor {
    ReportingDescriptor {
        id: rule.id,
        name: rule.name,
        short_description: Message::new(rule.summary),
        full_description: Message::new(rule.why),
        help: Markdown { text: format!("{}\n\n{}", rule.why, rule.fix), markdown: rule.page() },
        default_configuration: Configuration { level: level(rule.severity) },
    }
}

const fn level(severity: Severity) -> Level {
    match severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Note => Level::Note,
    }
}

fn invocation(unreadable: &[String]) -> Invocation {
    let notification =
        |problem: &String| Notification { level: Level::Error, message: Message::new(problem) };
    Invocation {
        execution_successful: unreadable.is_empty(),
        tool_execution_notifications: unreadable.iter().map(notification).collect(),
    }
}

fn results(
    file: &CheckedFile<'_>,
    rules: &BTreeMap<&'static str, (usize, &'static Rule)>,
) -> Vec<ResultObject> {
    let regions = RegionIndex::new(file.bytes);
    let mut fingerprints = Fingerprints::of(file);
    let result = |finding: &Finding| ResultObject {
        rule_id: finding.rule.id,
        rule_index: rules.get(finding.rule.id).map_or(0, |(index, _)| *index),
        level: level(finding.severity),
        message: Message::new(&with_help(finding)),
        locations: [Location {
            physical_location: PhysicalLocation {
                artifact_location: location(file),
                region: regions.region(finding.span),
            },
        }],
        partial_fingerprints: BTreeMap::from([(fingerprint::KEY, fingerprints.next(finding))]),
        fixes: finding.fix.iter().map(|fix| fix_object(file, &regions, fix)).collect(),
    };
    file.findings.iter().map(result).collect()
}

fn with_help(finding: &Finding) -> String {
    let help = finding.help.iter().map(|help| format!("\nhelp: {help}"));
    [finding.message.clone()].into_iter().chain(help).collect()
}

fn location(file: &CheckedFile<'_>) -> ArtifactLocation {
    ArtifactLocation { uri: uri::relative(file.path.as_str()), uri_base_id: ROOT }
}

fn fix_object(file: &CheckedFile<'_>, regions: &RegionIndex<'_>, fix: &Fix) -> FixObject {
    let replacements =
        fix.splices.iter().map(|splice| Replacement::new(regions.replaced(splice.span), &splice.text));
    FixObject {
        description: Message::new(&fix.title),
        artifact_changes: [ArtifactChange {
            artifact_location: location(file),
            replacements: replacements.collect(),
        }],
        properties: BTreeMap::from([("safety", fix.safety.as_str())]),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::output::findings::sample::Sample;

    #[test]
    fn says_everything_that_code_scanning_asks_for() {
        assert_snapshot!(render(&Sample::nasty().checked()).unwrap());
    }

    #[test]
    fn every_result_names_the_place_of_its_rule() {
        let log: serde_json::Value =
            serde_json::from_str(&render(&Sample::nasty().checked()).unwrap()).unwrap();
        let run = &log["runs"][0];
        let results = run["results"].as_array().unwrap();
        assert!(results.len() > 3);
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        }
    }
}
