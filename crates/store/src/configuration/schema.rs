//! The JSON Schema of configuration files, for editors.

use schemars::{
    Schema,
    generate::SchemaSettings,
    transform::{Transform, transform_subschemas},
};
use serde_json::Value as Json;

use crate::configuration::{Configuration, keys::Keys};

impl Configuration {
    /// The JSON Schema (draft 2020-12) of `.stepmark/config.yaml`. It is made from the types that the file is
    /// read with. It allows no other keys: an editor then shows typing errors. What only reading tells, such
    /// as a move to a state that does not exist, it does not say.
    pub fn schema() -> Json {
        let settings = SchemaSettings::draft2020_12().with_transform(NoOtherKeys);
        let mut schema = settings.into_generator().into_root_schema_for::<Keys>().to_value();
        schema["title"] = "Configuration of stepmark".into();
        schema["description"] = "`.stepmark/config.yaml`. It is static: state lives in frontmatter.".into();
        schema
    }
}

/// Forbids keys that are not listed where keys are listed.
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
