//! The segments of history, held against each other and against what commits of git say of them.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read},
    process::Stdio,
};

use crate::disk::root::Root;
use crate::git::{
    process::end, process::git, process::is_object_name, process::is_repository, version::Object,
    version::ObjectReader,
};
use crate::history::{HistoryError, SEALED_FOLDER, SegmentProblem, VerifiedSegments, verify_segments};
use stepmark_model::{
    journal::{HeadSource, LineProblem, SegmentHead},
    projection::history_trailer::{KEY, head_of},
};

/// The number of bytes of git's answer that are read at most: those of more than 200,000 commits.
const MOST_OUTPUT: u64 = 32 * 1024 * 1024;

/// Reads all segments of the project at `root` from end to end (see [`verify_segments`]), and compares them
/// with the trailers of the commits that are checked out. Without git, or without trailers, there is nothing
/// to compare.
pub fn verify_history(root: &Root) -> Result<VerifiedSegments, HistoryError> {
    let mut verified = verify_segments(root)?;
    let is_of_end = |problem: &&SegmentProblem| {
        matches!(problem.problem, LineProblem::MissingSegment { .. } | LineProblem::Rewritten { .. })
    };
    let found = verified.problems.iter().filter(is_of_end);
    // Of one segment, the first witness counts.
    let mut reported: BTreeSet<_> = found.map(|problem| problem.segment.clone()).collect();
    let mut objects = None;
    read_trailers(root, |head, commit| {
        let end = verified.ends.get(&head.segment);
        if end.is_some_and(|end| end.last == head.last) || reported.contains(&head.segment) {
            return;
        }
        // A trailer that a cherry-pick took along speaks of a segment that its commit does not have.
        if end.is_none() && !has_segment(root, &mut objects, &head, commit) {
            return;
        }
        let problem = verified.problem(root, &head, HeadSource::Commit(commit.to_owned()));
        verified.problems.push(problem);
        reported.insert(head.segment);
    });
    Ok(verified)
}

/// Gives what the trailers of commits say, with the names of the commits, the newest first.
fn read_trailers(root: &Root, mut take: impl FnMut(SegmentHead, &str)) {
    if !is_repository(root) {
        return;
    }
    let wanted = format!("--grep=^{KEY}: ");
    let format = format!("--format=%H%x09%(trailers:key={KEY},valueonly,unfold,separator=%x09)");
    // What the configuration has for separators does not change what a commit says.
    let arguments = ["-c", "trailer.separators=:", "log", &wanted, &format, "HEAD"];
    let Ok(mut log) = git(root.path(), &arguments).stdout(Stdio::piped()).spawn() else { return };
    let output = log.stdout.take().map(|output| BufReader::new(output.take(MOST_OUTPUT)));
    for line in output.into_iter().flat_map(|output| output.split(b'\n')).map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        let mut fields = line.split('\t');
        let Some(commit) = fields.next().filter(|name| is_object_name(name)) else { continue };
        fields.filter_map(head_of).for_each(|head| take(head, commit));
    }
    end(&mut log);
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
