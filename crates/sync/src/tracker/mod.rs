//! Where tickets are kept. What a tracker answers never leaves this crate for an artifact.

mod outcome;
mod condition;
mod request;
mod contract;
mod local_route;
mod dry;
mod file;
mod http;
mod refused;
mod parent_difference;
mod github;
mod jira;

use local_route::local_route;

pub use condition::Condition;
pub use contract::Tracker;
pub use dry::{DryRequest, DryTracker};
pub use file::{FileTracker, Line, LineKind};
pub use github::{GitHubSettings, GitHubTracker};
pub use http::{HttpLimits, HttpSetupError};
pub use jira::{JiraIssueTypes, JiraSettings, JiraTracker};
pub use outcome::{Answer, Cursor, Delivered, Outcome, Page};
pub use request::{Change, Creation, RequestKind};
