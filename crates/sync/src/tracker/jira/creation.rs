//! What is sent to make an issue. Pure.

use serde_json::{Map, Value as Json, json};

use super::{
    JiraSettings,
    adf::{Description, Section},
    extra_fields,
    label::all_spelled,
    marker_property::property,
    summary::summary,
};
use crate::{ticket::MergeError, tracker::Creation};

impl JiraSettings {
    /// One element of the request that makes issues (OpenAPI, schema `IssueUpdateDetails`). The marker stands in a property and the project's
    /// label among the labels, so that no crash parts them.
    pub(super) fn creation(&self, creation: &Creation) -> Result<Json, MergeError> {
        let ticket = &creation.ticket;
        let description = Section(ticket).merged_into(&Description::empty())?;
        let (issue_type, parent) = self.types.of_new(ticket, creation.parent.as_ref());
        let mut fields: Map<String, Json> = extra_fields::values(ticket, None);
        let own = [
            ("project", json!({ "key": self.project })),
            ("issuetype", json!({ "name": issue_type })),
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
