//! Findings as a log of SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"), for code scanning.
//!
//! The log holds nothing of the machine that wrote it: URIs are relative to `%SRCROOT%`, which the reader
//! knows.

mod region;

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use stepmark_frontmatter::Splice;
use stepmark_model::check::{Finding, Fix, Rule};

use self::{region::Fingerprints, region::RegionIndex};
use super::{Checked, CheckedFile};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

const ROOT: &str = "%SRCROOT%";

type Rules = BTreeMap<&'static str, (usize, &'static Rule)>;

pub(super) fn render(checked: &Checked<'_>) -> Result<String, serde_json::Error> {
    let mut rules: Rules = checked.findings().map(|finding| (finding.rule.id, (0, finding.rule))).collect();
    rules.values_mut().enumerate().for_each(|(place, (index, _))| *index = place);
    let driver = json!({
        "name": "stepmark",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "informationUri": env!("CARGO_PKG_REPOSITORY"),
        "rules": rules.values().map(|(_, rule)| descriptor(rule)).collect::<Json>(),
    });
    let run = json!({
        "tool": {"driver": driver},
        "originalUriBaseIds": {ROOT: {"description": message("the folder of the project")}},
        "columnKind": "utf16CodeUnits",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "invocations": [invocation(&checked.unreadable)],
        "results": checked.files.iter().flat_map(|file| results(file, &rules)).collect::<Json>(),
    });
    let log = json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]});
    Ok(serde_json::to_string_pretty(&log)? + "\n")
}

fn descriptor(rule: &Rule) -> Json {
    json!({
        "id": rule.id,
        "name": rule.name,
        "shortDescription": message(rule.summary()),
        "fullDescription": message(rule.why()),
        "help": {"text": format!("{}\n\n{}", rule.why(), rule.fix()), "markdown": rule.page()},
        "defaultConfiguration": {"level": rule.severity.as_str()},
    })
}

fn invocation(unreadable: &[String]) -> Json {
    let notification = |problem: &String| json!({"level": "error", "message": message(problem)});
    let mut invocation = json!({"executionSuccessful": unreadable.is_empty()});
    if !unreadable.is_empty() {
        invocation["toolExecutionNotifications"] = unreadable.iter().map(notification).collect();
    }
    invocation
}

fn results(file: &CheckedFile<'_>, rules: &Rules) -> Vec<Json> {
    let regions = RegionIndex::new(file.bytes);
    let mut fingerprints = Fingerprints::of(file);
    let result = |finding: &Finding| {
        let text = finding.help.iter().fold(finding.message.clone(), |text, help| text + "\nhelp: " + help);
        let place = json!({"artifactLocation": location(file), "region": regions.region(finding.span)});
        let mut result = json!({
            "ruleId": finding.rule.id,
            "ruleIndex": rules.get(finding.rule.id).map_or(0, |(index, _)| *index),
            "level": finding.severity.as_str(),
            "message": message(&text),
            "locations": [{"physicalLocation": place}],
            "partialFingerprints": {region::KEY: fingerprints.next(finding)},
        });
        if let Some(fix) = &finding.fix {
            result["fixes"] = json!([fix_object(file, &regions, fix)]);
        }
        result
    };
    file.findings.iter().map(result).collect()
}

fn location(file: &CheckedFile<'_>) -> Json {
    json!({"uri": region::relative(file.path.as_str()), "uriBaseId": ROOT})
}

fn fix_object(file: &CheckedFile<'_>, regions: &RegionIndex<'_>, fix: &Fix) -> Json {
    let replacement = |splice: &Splice| {
        let mut replacement = json!({"deletedRegion": regions.replaced(splice.span)});
        if !splice.text.is_empty() {
            replacement["insertedContent"] = json!({"text": splice.text});
        }
        replacement
    };
    let replacements: Json = fix.splices.iter().map(replacement).collect();
    json!({
        "description": message(&fix.title),
        "artifactChanges": [{"artifactLocation": location(file), "replacements": replacements}],
        "properties": {"safety": fix.safety.as_str()},
    })
}

/// Plain text. A reader must not take `{0}` in it for an argument, nor `[words](place)` for a link: §3.11.5
/// and §3.11.6 say how such text is written. Other braces and brackets stay as they are, since most readers
/// show them so.
fn message(text: &str) -> Json {
    let is_argument = |pair: &[u8]| pair[0] == b'{' && pair[1].is_ascii_digit();
    let has_arguments = text.as_bytes().windows(2).any(is_argument);
    let has_links = text.contains("](");
    let mut written = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '{' | '}' if has_arguments => written.extend([character, character]),
            '[' | ']' if has_links => written.extend(['\\', character]),
            _ => written.push(character),
        }
    }
    json!({"text": written})
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
    fn what_would_be_a_link_or_an_argument_is_escaped() {
        for (text, written) in [
            ("`[01, 02b]` is octal", "`[01, 02b]` is octal"),
            ("`date` holds { x }", "`date` holds { x }"),
            ("`{0}` in { x }", "`{{0}}` in {{ x }}"),
            ("see [here](evil), not [there]", "see \\[here\\](evil), not \\[there\\]"),
        ] {
            assert_eq!(message(text)["text"], written);
        }
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
