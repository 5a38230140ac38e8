//! Configuration sources other than the project, collected by the program.

use std::path::PathBuf;

use crate::configuration::{
    Configuration, ConfiguredValue, Origin,
    keys::{DEFAULT_GIT_HISTORY_LIMIT, DEFAULT_LEASE, Keys},
};
use schemars::{
    Schema,
    generate::SchemaSettings,
    transform::{Transform, transform_subschemas},
};
use serde_json::Value as Json;
use stepmark_frontmatter::Value;
use stepmark_model::artifact::PathGlobs;

/// A project's environment, passed in by the caller, since the library reads no environment variables. Empty
/// by default.
///
/// Layers, the weakest first: defaults, the user's file, the project's file, environment, flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigurationSources {
    /// `$XDG_CONFIG_HOME/stepmark/config.yaml`, else `~/.config/stepmark/config.yaml`; may be missing.
    pub user_file: Option<PathBuf>,
    /// Variables not in [`VARIABLES`](crate::configuration::VARIABLES) are ignored.
    pub environment: Vec<(String, String)>,
    /// In command-line order: the last wins.
    pub flags: Vec<(String, String)>,
}

pub(crate) const DEFAULT_INCLUDE: &[&str] = &["**/*.md"];

/// Default patterns for files that are never artifacts: those of installers and other tools. BMAD installs
/// into `_bmad/` (older: `bmad/`, `.bmad/`) and writes artifacts into `_bmad-output/` or `docs/`.
pub(crate) const DEFAULT_EXCLUDE: &[&str] = &[
    "**/_bmad/**",
    "bmad/**",
    "**/.*",
    "**/.*/**",
    "**/node_modules/**",
    "**/site-packages/**",
    "**/target/**",
    "**/vendor/**",
];

/// Always excluded: the state of stepmark and of git.
pub(super) const ALWAYS_EXCLUDED: &[&str] =
    &["**/.stepmark/**", "**/.stepmark-*", "**/.git/**", "**/archive-v6/**"];

pub(super) fn default_values() -> Vec<ConfiguredValue> {
    let texts = |texts: &[&str]| Value::Sequence(texts.iter().copied().map(Value::from).collect());
    let values = [
        ("artifacts.include", texts(DEFAULT_INCLUDE)),
        ("artifacts.exclude", texts(DEFAULT_EXCLUDE)),
        ("lease.seconds", Value::Integer(DEFAULT_LEASE.into())),
        ("gates", Value::Bool(false)),
        ("git_history.limit_ms", Value::Integer(DEFAULT_GIT_HISTORY_LIMIT.into())),
    ];
    let value =
        |(key, value): (&str, Value)| ConfiguredValue { key: key.to_owned(), value, origin: Origin::Default };
    values.into_iter().map(value).collect()
}

#[expect(clippy::expect_used, reason = "the patterns are constants of this file, and a test compiles them")]
pub(super) fn built_in(globs: &[&str]) -> PathGlobs {
    let globs = globs.iter().map(|glob| glob.parse()).collect::<Result<_, _>>();
    PathGlobs::new(globs.expect("built-in patterns are valid"))
}

/// Lists what belongs to one clone, or can be rebuilt.
pub const STEPMARK_GITIGNORE: &str = "local/\ncache/\ngates/\n*.tmp\n";

/// A new configuration file: the defaults, explained. `init` passes a UUID.
pub fn initial_configuration(project_id: &str) -> String {
    let list = |globs: &[&str]| globs.iter().map(|glob| format!("\n    - '{glob}'")).collect::<String>();
    include_str!("initial.yaml")
        .replace("PROJECT_ID", project_id)
        .replace(" # INCLUDE", &list(DEFAULT_INCLUDE))
        .replace(" # EXCLUDE", &list(DEFAULT_EXCLUDE))
}

impl Configuration {
    /// The JSON Schema (draft 2020-12) of `.stepmark/config.yaml`, generated from the types that parse it.
    /// Allows no other keys, so that editors show typing errors. Lacks checks that only parsing does, such as
    /// moves to missing states.
    pub fn schema() -> Json {
        let settings = SchemaSettings::draft2020_12().with_transform(NoOtherKeys);
        let mut schema = settings.into_generator().into_root_schema_for::<Keys>().to_value();
        schema["title"] = "Configuration of stepmark".into();
        schema["description"] = "`.stepmark/config.yaml`. It is static: state lives in frontmatter.".into();
        schema
    }
}

#[derive(Clone, Debug)]
struct NoOtherKeys;

impl Transform for NoOtherKeys {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
            schema.insert("additionalProperties".to_owned(), Json::Bool(false));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    use super::*;
    use crate::configuration::{
        Origin, Variable, cases::uncommented, initial_configuration, layer::ConfigurationLayer,
    };

    /// The definition that a section refers to: `{"anyOf": [{"$ref": "#/$defs/NAME"}, …]}`.
    fn section_name(section: &Json) -> Option<String> {
        let options = section["anyOf"].as_array()?;
        let reference = options.iter().find_map(|option| option["$ref"].as_str())?;
        reference.strip_prefix("#/$defs/").map(str::to_owned)
    }

    fn reads(text: &str) -> bool {
        let layer = ConfigurationLayer::read(Path::new("config.yaml"), text.as_bytes(), Origin::Project);
        layer.is_ok_and(|layer| layer.unknown_keys.is_empty())
    }

    fn value(text: &str) -> Json {
        let value: Json = serde_yaml::from_str(text).unwrap();
        if value.is_null() { serde_json::json!({}) } else { value }
    }

    #[test]
    fn it_is_a_schema_of_draft_2020_12() {
        let schema = Configuration::schema();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert!(jsonschema::meta::is_valid(&schema), "{schema:#}");
    }

    #[test]
    fn it_has_every_static_variable_and_no_other_key() {
        let schema = Configuration::schema();
        let mut keys = BTreeSet::new();
        for (key, property) in schema["properties"].as_object().unwrap() {
            match section_name(property) {
                Some(name) => {
                    let leaves = schema["$defs"][&name]["properties"].as_object().unwrap();
                    keys.extend(leaves.keys().map(|leaf| format!("{key}.{leaf}")));
                }
                None => drop(keys.insert(key.clone())),
            }
        }
        let variables: BTreeSet<String> =
            Variable::all_static().map(|variable| variable.name.to_owned()).collect();
        assert_eq!(keys, variables);
        assert_eq!(
            schema["properties"]["workflows"]["description"],
            "declared workflows and the artifacts bound to them"
        );
        let lease = &schema["$defs"]["LeaseKeys"]["properties"]["seconds"];
        assert_eq!(lease["description"], "how long a lease lasts");
    }

    #[test]
    fn what_is_read_is_valid_and_what_is_not_read_is_not() {
        let schema = jsonschema::validator_for(&Configuration::schema()).unwrap();
        let initial = initial_configuration("4f6c");
        let examples = uncommented(&initial);
        for (text, is_good) in [
            (initial.as_str(), true),
            (&examples, true),
            ("", true),
            ("project_id:\nartifacts:\nlifecycles:\nlease:\n", true),
            (
                "project_id: 12\nlease: {seconds: '60'}\nmilestones: [3, finished]\nsettings: {a: 1.5, b: true}\n",
                true,
            ),
            ("lifecycles: [{name: x, states: [{name: a, terminal: true}]}]\n", true),
            (
                "lifecycles: [{name: task, applies_to: [{path: [a.md, 'b/**'], key: {k: '*'}, heading: H}]}]\n",
                true,
            ),
            ("check: {rules: {SM106: 'off', step-twice: note}}\n", true),
            ("check: {allow: [{rules: [SM101], paths: ['a/**'], reason: x}]}\n", true),
            ("check: {allow: [{rules: [SM101], paths: ['a/**']}]}\n", false),
            ("check: {rules: {SM999: note}}\n", false),
            ("check: {rules: {SM106: fatal}}\n", false),
            ("roles: {tech_lead: 'human:*', reviewer: ['human:Ada', 'agent:review-*']}\n", true),
            ("roles: {tech_lead: Ada}\n", false),
            ("roles: [tech_lead]\n", false),
            (
                "lifecycles: [{name: x, states: [{name: a, terminal: true, frozen: true}], append_only: [l], closed: {l: [b]}, writers: r}]\n",
                true,
            ),
            ("lifecycles: [{name: x, states: [{name: a, terminal: true}], writer: r}]\n", false),
            ("lese: 1\n", false),
            ("lease: {second: 1}\n", false),
            ("lease: {seconds: 0}\n", false),
            ("lease: {seconds: soon}\n", false),
            ("project_id: 'a b'\n", false),
            ("artifacts: {include: docs}\n", false),
            ("artifacts: {include: ['/docs']}\n", false),
            ("artifacts: {include: ['../a']}\n", false),
            ("artifacts: {include: ['']}\n", false),
            ("workflows: [{artifacts: []}]\n", false),
            ("workflows: [{name: a, step: [x]}]\n", false),
            ("variables: {'{a}': docs}\n", false),
            ("active: /a.md\n", false),
            ("milestones: prd\n", false),
            ("lifecycles: {name: x}\n", false),
            ("lifecycles: [{states: []}]\n", false),
            ("lifecycles: [{name: task, applies_to: [{paths: a}]}]\n", false),
            ("lifecycles: [{name: x, states: [{name: a, synonyms: b, terminal: true}]}]\n", false),
            ("lifecycles: [{name: x, states: [{name: a, terminal: yes}]}]\n", false),
            ("lifecycles: [{name: x, states: [{name: a, terminal: true}], moves: [{from: a}]}]\n", false),
            (
                "lifecycles: [{name: x, states: [{name: a}], moves: [{from: a, to: a, guards: [always]}]}]\n",
                false,
            ),
            ("lifecycles: [{name: x, states: [{name: a}], counters: [{key: n, entering: []}]}]\n", false),
        ] {
            let found: Vec<String> = schema
                .iter_errors(&value(text))
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert_eq!(found.is_empty(), is_good, "{text}\n{found:#?}");
            assert_eq!(reads(text), is_good, "{text}");
        }
    }
}
