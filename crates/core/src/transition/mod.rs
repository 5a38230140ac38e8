//! Commands decided against an artifact: a plan of edits, or a refusal.
