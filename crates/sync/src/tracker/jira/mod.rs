//! Issues of Jira Cloud (REST v3; docs/formats.md, "Trackers"): made many at once, each with its marker as an
//! entity property; read by id, which shows what was just written; found again by their label, which Jira's
//! index may show late.

mod address;
mod refusal;
mod status;
mod transition;
mod adf;
mod marker_property;
mod issue;
mod comparison;
mod field;
mod extra_fields;
mod project_facts;
mod obstacles;
mod edit;
mod fetch;
mod create;
mod update;
mod progress;
mod walk_together;
mod service;

pub use service::{JiraIssueTypes, JiraSettings, JiraTracker};
