//! Systems that keep state in a way of their own.

mod asdd;
mod coordination;
mod coordination_files;
mod coordination_rules;
mod in_git;
mod five_systems;
mod flow_commits;
mod flow_events;
mod flows;
#[cfg(unix)]
mod lost;
mod many_attempts;
#[cfg(unix)]
mod many_claims;
mod packs;
mod side_by_side;
mod staged;
#[cfg(unix)]
mod two_writers;
