//! The segments of history, held against each other and against what commits of git say of them.

use std::{collections::BTreeSet, process::Stdio};

use super::{
    git_process::{git, is_object_name, is_repository},
    git_version::{Object, ObjectReader},
};
use crate::{
    journal::{
        HistoryError, LineProblem, SegmentHead, SegmentProblem, Witness,
        store::{SEALED_FOLDER, VerifiedSegments, verify_segments},
    },
    project::history_trailer::{KEY, head_of},
    root::Root,
};

/// Reads all segments of the project at `root` from end to end (see [`verify_segments`]), and compares them with the trailers of the
/// commits that are checked out. Without git, or without trailers, there is nothing to compare.
///
/// # Errors
/// When a segment cannot be read.
pub fn verify_history(root: &Root) -> Result<VerifiedSegments, HistoryError> {
    let mut verified = verify_segments(root)?;
    let is_of_end = |problem: &&SegmentProblem| {
        matches!(problem.problem, LineProblem::MissingSegment { .. } | LineProblem::Rewritten { .. })
    };
    let found = verified.problems.iter().filter(is_of_end);
    // Of one segment, the first witness counts.
    let mut told: BTreeSet<_> = found.map(|problem| problem.segment.clone()).collect();
    let mut objects = None;
    for (head, commit) in trailers(root) {
        let end = verified.ends.get(&head.segment);
        if end.is_some_and(|end| end.last == head.last) || !told.insert(head.segment.clone()) {
            continue;
        }
        // A trailer that a cherry-pick took along speaks of a segment that its commit does not have.
        if end.is_none() && !has_segment(root, &mut objects, &head, &commit) {
            continue;
        }
        let problem = verified.problem(root, &head, Witness::Commit(commit));
        verified.problems.push(problem);
    }
    Ok(verified)
}

/// What the trailers of commits say, each with the newest commit that says so; the newest first.
fn trailers(root: &Root) -> Vec<(SegmentHead, String)> {
    if !is_repository(root) {
        return Vec::new();
    }
    let wanted = format!("--grep=^{KEY}: ");
    let format = format!("--format=%H%x09%(trailers:key={KEY},valueonly,unfold,separator=%x09)");
    // Commas, colons and what else the configuration has for separators do not change what a commit says.
    let arguments = ["-c", "trailer.separators=:", "log", &wanted, &format, "HEAD"];
    let listed = git(root.path(), &arguments).stdout(Stdio::piped()).output();
    let listed = listed.map(|output| output.stdout).unwrap_or_default();
    let mut seen = BTreeSet::new();
    let mut trailers = Vec::new();
    for line in String::from_utf8_lossy(&listed).lines() {
        let mut fields = line.split('\t');
        let Some(commit) = fields.next().filter(|name| is_object_name(name)) else { continue };
        for head in fields.filter_map(head_of) {
            if seen.insert(head.clone()) {
                trailers.push((head, commit.to_owned()));
            }
        }
    }
    trailers
}

/// Returns whether the commit holds the segment among its files; also where git cannot say.
fn has_segment(root: &Root, objects: &mut Option<ObjectReader>, head: &SegmentHead, commit: &str) -> bool {
    if objects.is_none() {
        *objects = ObjectReader::start(root.path()).ok();
    }
    let file = format!("{commit}:./{SEALED_FOLDER}/{}.jsonl", head.segment);
    let names = [format!("{file}.gz"), file];
    let Some(Ok(found)) = objects.as_mut().map(|objects| objects.read(&names)) else { return true };
    found.iter().any(|object| *object != Object::Missing)
}
