//! What is sent to make an issue. Pure.

use serde_json::{Map, Value as Json, json};

use super::{
    JiraSettings,
    adf::{Description, Section},
    extra_fields,
    label::all_spelled,
    marker_property::property,
    project_facts::ProjectFacts,
    summary::summary,
};
use crate::tracker::Creation;

impl JiraSettings {
    /// One element of the request that makes issues (OpenAPI, schema `IssueUpdateDetails`). The marker stands in a property and the project's
    /// label among the labels, so that no crash parts them.
    /// What the project will not take is told and not sent.
    pub(super) fn creation(&self, creation: &Creation, facts: &ProjectFacts) -> Result<Json, String> {
        let (ticket, parent) = (&creation.ticket, creation.parent.as_ref());
        if let Some(obstacle) = self.creation_obstacle(facts, ticket, parent) {
            return Err(obstacle);
        }
        let merged = Section(ticket).merged_into(&Description::empty());
        let description = merged.map_err(|error| error.to_string())?;
        let (wanted, parent) = self.types.of_new(ticket, parent);
        let own = facts.type_called(wanted);
        let mut fields: Map<String, Json> = extra_fields::values(ticket, None, own)?;
        let own = [
            ("project", json!({ "key": self.project })),
            ("issuetype", json!({ "id": own.map(|own| &own.id) })),
            ("summary", json!(summary(&ticket.title))),
            ("description", description.json()),
            ("labels", json!(all_spelled(&ticket.labels))),
        ];
        fields.extend(own.map(|(name, value)| (name.to_owned(), value)));
        if let Some(parent) = parent {
            fields.insert("parent".to_owned(), json!({ "id": parent }));
        }
        Ok(json!({ "fields": fields, "properties": [property(&ticket.marker)] }))
    }
}
