//! The trackers, where tickets are kept. What a tracker answers never leaves this crate for an artifact.

mod contract;
mod dry;
mod file;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "github")]
mod github;
#[cfg(feature = "jira")]
mod jira;

pub use contract::{
    Answer, Change, Creation, Cursor, Delivered, Listing, Outcome, Page, Reply, RequestKind, Tracker,
};
pub use dry::{Condition, DryRequest, DryTracker};
pub use file::{FileTracker, Line, LineKind};
#[cfg(feature = "github")]
pub use github::{GitHubSettings, GitHubTracker};
#[cfg(feature = "http")]
pub use http::HttpLimits;
#[cfg(feature = "jira")]
pub use jira::{JiraIssueTypes, JiraSettings, JiraTracker};
