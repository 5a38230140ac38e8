//! Issues of Jira Cloud (REST v3; docs/formats.md, "Trackers"): made many at once, each with its marker as an
//! entity property; read by id, which shows what was just written; found again by their label, which Jira's
//! index may show late.

mod status;
mod adf;
mod issue;
mod changes;
mod project_facts;
mod fetch;
mod walk;
mod update;
mod service;

pub use service::{JiraIssueTypes, JiraSettings, JiraTracker};
