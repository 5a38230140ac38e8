//! The part of the SARIF 2.1.0 object model that stepmark writes. Names are those of the standard.

use std::collections::BTreeMap;

use serde::Serialize;

use super::region::Region;

#[derive(Debug, Serialize)]
pub(super) struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    pub(super) tool: Tool,
    pub(super) original_uri_base_ids: BTreeMap<&'static str, UriBase>,
    pub(super) column_kind: &'static str,
    pub(super) newline_sequences: [&'static str; 3],
    pub(super) invocations: [Invocation; 1],
    pub(super) results: Vec<ResultObject>,
}

#[derive(Debug, Serialize)]
pub(super) struct Tool {
    pub(super) driver: Driver,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Driver {
    pub(super) name: &'static str,
    pub(super) semantic_version: &'static str,
    pub(super) information_uri: &'static str,
    pub(super) rules: Vec<ReportingDescriptor>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportingDescriptor {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) short_description: Message,
    pub(super) full_description: Message,
    pub(super) help: Markdown,
    pub(super) default_configuration: Configuration,
}

#[derive(Debug, Serialize)]
pub(super) struct Configuration {
    pub(super) level: Level,
}

/// The gravity of a result.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Error,
    Warning,
    Note,
}

#[derive(Debug, Serialize)]
pub(super) struct Message {
    text: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Markdown {
    pub(super) text: String,
    pub(super) markdown: String,
}

/// A folder whose URI the reader knows.
#[derive(Debug, Serialize)]
pub(super) struct UriBase {
    pub(super) description: Message,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub(super) execution_successful: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_execution_notifications: Vec<Notification>,
}

#[derive(Debug, Serialize)]
pub(super) struct Notification {
    pub(super) level: Level,
    pub(super) message: Message,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultObject {
    pub(super) rule_id: &'static str,
    pub(super) rule_index: usize,
    pub(super) level: Level,
    pub(super) message: Message,
    pub(super) locations: [Location; 1],
    pub(super) partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fixes: Vec<FixObject>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    pub(super) physical_location: PhysicalLocation,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub(super) artifact_location: ArtifactLocation,
    pub(super) region: Region,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactLocation {
    pub(super) uri: String,
    pub(super) uri_base_id: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FixObject {
    pub(super) description: Message,
    pub(super) artifact_changes: [ArtifactChange; 1],
    pub(super) properties: BTreeMap<&'static str, &'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactChange {
    pub(super) artifact_location: ArtifactLocation,
    pub(super) replacements: Vec<Replacement>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replacement {
    deleted_region: Region,
    #[serde(skip_serializing_if = "Option::is_none")]
    inserted_content: Option<Message>,
}

impl Log {
    pub(super) const fn of(run: Run) -> Self {
        Self {
            schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
            version: "2.1.0",
            runs: [run],
        }
    }
}

impl Message {
    /// Plain text. A reader must not take `{0}` in it for an argument, nor `[words](place)` for a link:
    /// §3.11.5 and §3.11.6 say how such text is written. Other braces and brackets stay as they are, since
    /// most readers show them so.
    pub(super) fn new(text: &str) -> Self {
        let mut written = String::with_capacity(text.len());
        let (has_arguments, has_links) = (has_placeholder(text), text.contains("]("));
        for character in text.chars() {
            match character {
                '{' | '}' if has_arguments => written.extend([character, character]),
                '[' | ']' if has_links => written.extend(['\\', character]),
                _ => written.push(character),
            }
        }
        Self { text: written }
    }
}

/// Returns whether a brace stands before a digit.
fn has_placeholder(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| pair[0] == b'{' && pair[1].is_ascii_digit())
}

impl Replacement {
    /// `text` in place of `deleted_region`.
    pub(super) fn new(deleted_region: Region, text: &str) -> Self {
        let content = || Message { text: text.to_owned() };
        Self { deleted_region, inserted_content: (!text.is_empty()).then(content) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_a_link_or_an_argument_is_escaped() {
        for (text, written) in [
            ("`[01, 02b]` is octal", "`[01, 02b]` is octal"),
            ("`date` holds { x }", "`date` holds { x }"),
            ("`{0}` in { x }", "`{{0}}` in {{ x }}"),
            ("see [here](evil), not [there]", "see \\[here\\](evil), not \\[there\\]"),
        ] {
            assert_eq!(Message::new(text).text, written);
        }
    }
}
