//! SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"), for code scanning.
//!
//! Independent of the machine: URIs are relative to `%SRCROOT%`, which the reader knows.

use std::collections::{BTreeMap, HashMap};

use super::{Checked, CheckedFile};
use serde::Serialize;
use serde_json::{Value as Json, json};
use stepmark_frontmatter::{LineIndex, Span, Splice};
use stepmark_model::{
    artifact::FileHash,
    check::{Finding, Fix, Rule},
};

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
            "partialFingerprints": {KEY: fingerprints.next(finding)},
        });
        if let Some(fix) = &finding.fix {
            result["fixes"] = json!([fix_object(file, &regions, fix)]);
        }
        result
    };
    file.findings.iter().map(result).collect()
}

fn location(file: &CheckedFile<'_>) -> Json {
    json!({"uri": relative(file.path.as_str()), "uriBaseId": ROOT})
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

/// Plain text: escapes `{0}`, which is an argument to readers, and `[words](place)`, a link (§3.11.5 and
/// §3.11.6). Other braces and brackets stay, since most readers show them as they are.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum Region {
    /// The end column is exclusive.
    #[serde(rename_all = "camelCase")]
    Text { start_line: usize, start_column: usize, end_line: usize, end_column: usize },
    #[serde(rename_all = "camelCase")]
    Bytes { byte_offset: usize, byte_length: usize },
}

struct RegionIndex<'f> {
    bytes: &'f [u8],
    lines: LineIndex,
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl<'f> RegionIndex<'f> {
    fn new(bytes: &'f [u8]) -> Self {
        Self { bytes, lines: LineIndex::new(bytes) }
    }

    fn region(&self, span: Span) -> Region {
        let (start_line, start_column) = self.place(span.start);
        let (end_line, end_column) = self.place(span.end.max(span.start));
        Region::Text { start_line, start_column, end_line, end_column }
    }

    /// Bytes if the fix includes a byte order mark, which is not text.
    fn replaced(&self, span: Span) -> Region {
        if self.bytes.starts_with(BYTE_ORDER_MARK) && span.start < BYTE_ORDER_MARK.len() {
            return Region::Bytes { byte_offset: span.start, byte_length: span.len() };
        }
        self.region(span)
    }

    fn place(&self, offset: usize) -> (usize, usize) {
        let place = self.lines.position_in_utf16(self.bytes, offset);
        (place.line, place.column)
    }
}

/// Valid unescaped anywhere in a path: unreserved characters and sub-delimiters without a meaning. A colon
/// would make the first component a scheme.
const fn stands_for_itself(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/' | b'@' | b'+' | b',' | b'=')
}

fn relative(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if stands_for_itself(byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// Another algorithm needs another number.
const KEY: &str = "stepmarkFinding/v1";

struct Fingerprints<'f> {
    bytes: &'f [u8],
    seen: HashMap<FileHash, usize>,
}

impl<'f> Fingerprints<'f> {
    fn of(file: &CheckedFile<'f>) -> Self {
        Self { bytes: file.bytes, seen: HashMap::new() }
    }

    /// SHA-256 of rule, path, message, text, and a number for equal ones.
    fn next(&mut self, finding: &Finding) -> String {
        let end = finding.span.end.min(self.bytes.len());
        let about = &self.bytes[finding.span.start.min(end)..end];
        let parts =
            [finding.rule.id.as_bytes(), finding.path.as_str().as_bytes(), finding.message.as_bytes(), about];
        let hash = FileHash::of(&parts.join(&b'\0'));
        let number = self.seen.entry(hash).or_default();
        *number += 1;
        format!("{hash}:{number}")
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

#[cfg(test)]
mod region_tests {
    use super::*;
    use stepmark_frontmatter::Span;
    use stepmark_model::{artifact::ProjectPath, check::rule_of};

    fn place(text: &str, needle: &str) -> (usize, usize) {
        RegionIndex::new(text.as_bytes()).place(text.find(needle).unwrap())
    }

    #[test]
    fn columns_count_utf16_code_units() {
        for (text, expected) in [
            ("x", (1, 1)),
            ("a\nbx", (2, 2)),
            ("a\r\n🦀éx", (2, 4)),
            ("a\r\rx", (3, 1)),
            ("\u{FEFF}abx", (1, 3)),
            ("a\n\u{FEFF}x", (2, 2)),
        ] {
            assert_eq!(place(text, "x"), expected, "{text:?}");
        }
        assert_eq!(RegionIndex::new(b"a\n").place(99), (2, 1));
        assert_eq!(RegionIndex::new(b"\xFF\xFEx").place(2), (1, 3));
    }

    #[test]
    fn a_byte_order_mark_is_replaced_by_bytes() {
        let index = RegionIndex::new(b"\xEF\xBB\xBFab");
        assert_eq!(index.replaced(Span::new(0, 3)), Region::Bytes { byte_offset: 0, byte_length: 3 });
        let text = Region::Text { start_line: 1, start_column: 1, end_line: 1, end_column: 2 };
        assert_eq!(index.replaced(Span::new(3, 4)), text);
    }

    #[test]
    fn what_a_uri_cannot_hold_is_encoded() {
        for (path, uri) in [
            ("_bmad-output/prd.md", "_bmad-output/prd.md"),
            ("a b/ü%.md", "a%20b/%C3%BC%25.md"),
            ("c:d/e?f#g.md", "c%3Ad/e%3Ff%23g.md"),
            ("\\.md", "%5C.md"),
        ] {
            assert_eq!(relative(path), uri);
        }
    }

    fn fingerprints(text: &str) -> Vec<String> {
        let path = ProjectPath::new("a.md").unwrap();
        let rule = rule_of("SM106").unwrap();
        let found =
            text.match_indices('k').map(|(at, _)| Finding::new(rule, &path, Span::new(at, at + 1), "m"));
        let file = CheckedFile { path: &path, bytes: text.as_bytes(), findings: found.collect() };
        let mut fingerprints = Fingerprints::of(&file);
        file.findings.iter().map(|finding| fingerprints.next(finding)).collect()
    }

    #[test]
    fn lines_before_a_finding_do_not_matter() {
        assert_eq!(fingerprints("k: 1\n"), fingerprints("x: 1\ny: 2\nk: 3\n"));
    }

    #[test]
    fn findings_that_look_the_same_are_told_apart() {
        let twice = fingerprints("k\nk\n");
        assert_ne!(twice[0], twice[1]);
        assert_eq!(twice[0], fingerprints("k")[0]);
    }
}
