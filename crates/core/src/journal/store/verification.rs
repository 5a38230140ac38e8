//! All segments read again, whatever the index says of them.

use super::{
    super::LineProblem, HistoryError, SegmentProblem, index::Fault, segment_files, segment_lines,
    segment_source::SegmentSource,
};
use crate::root::Root;

/// What reading all segments found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifiedSegments {
    /// How many segments there are.
    pub segments: u64,
    /// How many events can be used.
    pub events: u64,
    /// What is wrong, in the order of the segments' names.
    pub problems: Vec<SegmentProblem>,
}

/// How often a segment that is moved while it is looked for is looked for again.
const ATTEMPTS: u32 = 5;

/// Reads all segments of the project at `root` from end to end: every line must follow the one before, and every event must
/// be what its id was made from. Takes memory for one line; uses no index.
///
/// # Errors
/// When a segment cannot be read.
pub fn verify_segments(root: &Root) -> Result<VerifiedSegments, HistoryError> {
    for _ in 0..ATTEMPTS {
        match verify_all(root) {
            Ok(verified) => return Ok(verified),
            Err(Fault::Failed(error)) => return Err(error),
            // Sealed or compacted meanwhile.
            Err(Fault::Stale | Fault::Database(_)) => {}
        }
    }
    Err(HistoryError::Restless)
}

fn verify_all(root: &Root) -> Result<VerifiedSegments, Fault> {
    let mut verified = VerifiedSegments::default();
    for file in segment_files::list(root)?.files.values() {
        verified.segments += 1;
        let mut source = SegmentSource::open(root, file, file.stamp.size)?;
        let read = segment_lines::read(source.reader(), None, |line| {
            let is_genuine = line.event.as_ref().is_none_or(|event| event.is_genuine());
            verified.events += u64::from(line.event.is_some() && is_genuine);
            let forged = (!is_genuine).then_some(LineProblem::NotGenuine);
            let found = line.problem.into_iter().chain(forged);
            verified.problems.extend(found.map(|problem| SegmentProblem {
                segment: file.name.clone(),
                place: file.place,
                file: file.path(root),
                line: line.number,
                offset: line.start,
                problem,
            }));
            Ok::<(), std::io::Error>(())
        });
        read.map_err(|source| HistoryError::Read { path: file.path(root), source })?;
    }
    Ok(verified)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{
        super::{
            SegmentPlace,
            scratch_journal::{ScratchJournal, chain},
        },
        *,
    };

    fn replace(project: &ScratchJournal, name: &str, old: &str, new: &str) {
        let file = project.file(name, SegmentPlace::Live);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(old), "{old}");
        fs::write(file, text.replacen(old, new, 1)).unwrap();
    }

    fn words(problems: &[SegmentProblem]) -> Vec<(u64, &'static str)> {
        problems.iter().map(|problem| (problem.line, problem.word())).collect()
    }

    #[test]
    fn every_damage_is_told_with_its_place() {
        let project = ScratchJournal::new();
        let events = chain(("id:A", "a.md"), 6);
        let segment = project.segment_of("main-a", &events);
        assert_eq!(
            verify_segments(&project.root).unwrap(),
            VerifiedSegments { segments: 1, events: 6, problems: Vec::new() }
        );
        segment.append_bytes(b"{\"prev\":\"half a li");
        let torn = verify_segments(&project.root).unwrap().problems;
        assert_eq!(words(&torn), [(8, "torn")]);
        assert!(!torn[0].is_damage());
        assert_eq!(project.history().problems().unwrap(), torn);
        replace(&project, "main-a", "\"n\":3", "\"n\":7");
        let found = verify_segments(&project.root).unwrap();
        assert_eq!(words(&found.problems), [(4, "not-genuine"), (5, "broken-chain"), (8, "torn")]);
        assert_eq!(found.events, 5);
        let text = fs::read_to_string(project.file("main-a", SegmentPlace::Live)).unwrap();
        let start = usize::try_from(found.problems[0].offset).unwrap();
        let line = text[start..].lines().next().unwrap();
        assert!(line.starts_with("{\"prev\"") && line.contains("\"n\":7"), "{line}");
    }

    #[test]
    fn the_events_beside_a_damage_count() {
        let project = ScratchJournal::new();
        let events = chain(("id:A", "a.md"), 4);
        project.segment_of("main-a", &events);
        let file = project.file("main-a", SegmentPlace::Live);
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let write = |lines: &[&str]| fs::write(&file, lines.join("\n") + "\n").unwrap();
        for (case, changed, wanted, events) in [
            ("a line is gone", [&lines[..2], &lines[3..]].concat(), vec![(3, "broken-chain")], 3),
            (
                "a line is no JSON",
                [&lines[..2], &["<<<<<<< HEAD"], &lines[2..]].concat(),
                vec![(3, "not-an-event"), (4, "broken-chain")],
                4,
            ),
            (
                "the header is of a later version",
                [&["{\"stepmark\":\"journal/9\"}"], &lines[1..]].concat(),
                vec![(1, "header")],
                4,
            ),
            ("there is no header", lines[1..].to_vec(), vec![(1, "header")], 3),
        ] {
            write(&changed);
            let found = verify_segments(&project.root).unwrap();
            assert_eq!((words(&found.problems), found.events), (wanted.clone(), events), "{case}");
            let history = project.history();
            assert_eq!(words(&history.problems().unwrap()), wanted, "{case}");
            assert_eq!(history.latest(9).unwrap().len() as u64, events, "{case}");
        }
        fs::write(&file, "").unwrap();
        assert_eq!(verify_segments(&project.root).unwrap().problems, []);
        assert_eq!(project.history().latest(9).unwrap(), []);
    }

    #[test]
    fn a_damaged_compressed_segment_is_a_problem_not_an_error() {
        let project = ScratchJournal::new();
        let events = chain(("id:A", "a.md"), 3);
        project.segment_of("main-a", &events);
        project.seal("main-a");
        project.compact("main-a");
        project.segment_of("main-b", &chain(("id:B", "b.md"), 2));
        let file = project.file("main-a", SegmentPlace::Compressed);
        let bytes = fs::read(&file).unwrap();
        fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        let found = verify_segments(&project.root).unwrap();
        assert!(matches!(
            &found.problems[..],
            [SegmentProblem { problem: LineProblem::NotAnEvent { .. }, .. }]
        ));
        assert!(project.history().latest(9).unwrap().len() >= 2);
    }
}
