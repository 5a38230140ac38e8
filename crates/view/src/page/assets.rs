//! What all pages share.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use stepmark_model::artifact::FileHash;

/// How pages look.
pub const STYLE: &str = include_str!("assets/page.css");

/// What pages can do where scripts run: search, filter, and follow changes. Everything can be read without it.
pub const SCRIPT: &str = include_str!("assets/page.js");

/// How a content security policy names an inline script or style (CSP Level 3, "hash-source").
pub(super) fn hash_source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(FileHash::of(text.as_bytes()).as_bytes()))
}
