//! The artifacts of `fixtures/repos/demo`.

/// Underway, a block list of names, no `lastStep`.
pub(crate) const PRD: &str = "_bmad-output/planning-artifacts/prd.md";
/// Underway, a flow list of integers, with `lastStep`.
pub(crate) const ARCHITECTURE: &str = "_bmad-output/planning-artifacts/architecture.md";
/// Finished; its `date` was never filled in.
pub(crate) const BRIEF: &str = "_bmad-output/planning-artifacts/product-brief-toolshed-2026-01-14.md";
/// Underway, past the choice between alternatives.
pub(crate) const BRAINSTORMING: &str = "_bmad-output/brainstorming/brainstorming-session-2026-01-12.md";
/// The key `status` stands twice; its workflow is not installed.
pub(crate) const EPICS: &str = "_bmad-output/planning-artifacts/epics.md";
/// Its frontmatter is no YAML.
pub(crate) const RESEARCH: &str = "_bmad-output/planning-artifacts/market-research-2026-01-13.md";
/// Has an `id`; the `Status:` line of its body says something else than its frontmatter.
pub(crate) const STORY: &str = "_bmad-output/implementation-artifacts/1-1-borrow-a-tool.md";
