//! The parts that all pages share.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use stepmark_model::artifact::FileHash;

pub const STYLE: &str = include_str!("assets/page.css");

/// The script of pages, where scripts run: search, filter, and follow changes. Everything can be read without
/// it.
pub const SCRIPT: &str = include_str!("assets/page.js");

/// The name of an inline script or style in a content security policy (CSP Level 3, "hash-source").
pub(super) fn hash_source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(FileHash::of(text.as_bytes()).as_bytes()))
}
