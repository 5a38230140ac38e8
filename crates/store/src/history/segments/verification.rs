//! Verification: reads all segments again, without the index.

use crate::Error;
use crate::history::{restless, unreadable};
use std::collections::{HashMap, HashSet, btree_map::Entry};

use std::io;

use crate::disk::root::Root;
use crate::history::index::{EventSum, Fault};
use crate::history::segments::{
    NamedHeads, ReadLine, SegmentEnd, SegmentEnds, SegmentFile, SegmentSource, files, lines,
};
use crate::history::{SegmentPlace, SegmentProblem};
use stepmark_model::journal::{Event, EventId, LineProblem, SegmentName, heads_in};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifiedSegments {
    pub segments: u64,
    pub events: u64,
    /// Each event once, although a merge may bring it twice.
    pub sum: EventSum,
    /// By segment name; then missing events and segments, and contradictions between segments.
    pub problems: Vec<SegmentProblem>,
    pub ends: SegmentEnds,
}

/// Attempts if a segment is moved meanwhile.
const ATTEMPTS: u32 = 5;

/// Reads all segments completely: every line must follow the previous one, every event match its id. Memory
/// for one line; no index.
pub fn verify_segments(root: &Root) -> Result<VerifiedSegments, Error> {
    for _ in 0..ATTEMPTS {
        match verify_all(root) {
            Ok(verified) => return Ok(verified),
            Err(Fault::Failed(error)) => return Err(error),
            // Sealed or compacted meanwhile.
            Err(Fault::Stale | Fault::Database(_)) => {}
        }
    }
    Err(restless())
}

type Told = (SegmentName, SegmentPlace, u64, u64);

#[derive(Default)]
struct References {
    seen: HashSet<EventId>,
    waiting: HashMap<EventId, Told>,
}

impl References {
    fn add(&mut self, event: &Event, file: &SegmentFile, (line, offset): (u64, u64)) {
        self.seen.insert(event.id);
        self.waiting.remove(&event.id);
        for parent in event.parents.iter().filter(|parent| !self.seen.contains(parent)) {
            let told = || (file.name.clone(), file.place, line, offset);
            self.waiting.entry(*parent).or_insert_with(told);
        }
    }

    fn missing(self, root: &Root) -> Vec<SegmentProblem> {
        let mut missing: Vec<(Told, EventId)> =
            self.waiting.into_iter().map(|(parent, told)| (told, parent)).collect();
        missing.sort();
        let problem = |((segment, place, line, offset), parent): (Told, EventId)| {
            let file = place.file_of(root, &segment);
            SegmentProblem {
                segment,
                place,
                file,
                line,
                offset,
                problem: LineProblem::MissingParent { parent },
            }
        };
        missing.into_iter().map(problem).collect()
    }
}

fn verify_all(root: &Root) -> Result<VerifiedSegments, Fault> {
    let files = files::list(root)?.files;
    let mut verification = Verification::of(root);
    for file in files::not_regular(root)? {
        verification.add_problem(&file, (1, 0), LineProblem::NotAFile);
    }
    // A segment's own file counts before a joined one.
    let (joined, alone): (Vec<_>, Vec<_>) =
        files.values().partition(|file| file.place == SegmentPlace::Joined);
    for file in alone.into_iter().chain(joined) {
        verification.compare_places(file)?;
        verification.read(file)?;
    }
    let Verification { mut verified, references, named, .. } = verification;
    verified.problems.extend(references.missing(root));
    verified.compare(root, named);
    Ok(verified)
}

struct Verification<'a> {
    root: &'a Root,
    verified: VerifiedSegments,
    references: References,
    named: NamedHeads,
    /// Events that do not match their ids; the index has them, too.
    forged: HashSet<EventId>,
    /// True if another file with this segment was read before.
    is_again: bool,
}

impl<'a> Verification<'a> {
    fn of(root: &'a Root) -> Self {
        let (verified, references) = (VerifiedSegments::default(), References::default());
        Self { root, verified, references, named: NamedHeads::new(), forged: HashSet::new(), is_again: false }
    }

    fn add_problem(&mut self, file: &SegmentFile, (line, offset): (u64, u64), problem: LineProblem) {
        self.verified.problems.push(SegmentProblem {
            segment: file.name.clone(),
            place: file.place,
            file: file.path(self.root),
            line,
            offset,
            problem,
        });
    }

    fn compare_places(&mut self, file: &SegmentFile) -> Result<(), Fault> {
        let other = SegmentFile { place: SegmentPlace::Sealed, ..file.clone() };
        let is_alone = file.place >= SegmentPlace::Sealed;
        // A file that is not regular is reported already.
        if !is_alone && other.open(self.root).is_ok() && !has_bytes_of(self.root, file, &other)? {
            self.add_problem(&other, (1, 0), LineProblem::Replaced);
        }
        Ok(())
    }

    fn read(&mut self, file: &SegmentFile) -> Result<(), Fault> {
        let mut source = SegmentSource::open(self.root, file, file.stat.size)?;
        self.is_again = false;
        let read = lines::read(source.reader(), &file.name, None, |line| {
            self.take(file, line);
            Ok::<(), io::Error>(())
        });
        let (_, parts) = read.map_err(|source| unreadable(&file.path(self.root), source))?;
        self.verified.segments += u64::from(parts.is_empty());
        for part in parts {
            let (place, last, lines, start) = (file.place, part.last, part.lines, part.start);
            let end = SegmentEnd { place, file: file.path(self.root), last, lines, start };
            match self.verified.ends.entry(part.name) {
                Entry::Occupied(known) if known.get().last != last => {
                    self.add_problem(file, (lines, start), LineProblem::Replaced);
                }
                Entry::Occupied(_) => {}
                Entry::Vacant(place) => {
                    self.verified.segments += 1;
                    place.insert(end);
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, file: &SegmentFile, line: ReadLine) {
        let position = (line.number, line.start);
        if let Some(name) = &line.begins {
            self.is_again = self.verified.ends.contains_key(name);
        }
        let is_genuine = line.event.as_ref().or(line.seal.as_ref()).is_none_or(|event| event.is_genuine());
        if let Some(event) = &line.event {
            if !self.references.seen.contains(&event.id) && !self.forged.contains(&event.id) {
                self.verified.sum.add(event);
            }
            if is_genuine {
                self.verified.events += u64::from(!self.is_again);
                self.references.add(event, file, position);
            } else {
                self.forged.insert(event.id);
            }
        }
        let heads = line.seal.as_ref().filter(|_| is_genuine).and_then(|seal| heads_in(seal));
        for head in heads.into_iter().flatten() {
            self.named.entry(head).or_insert_with(|| file.name.clone());
        }
        let forged = (!is_genuine).then_some(LineProblem::NotGenuine);
        line.problem.into_iter().chain(forged).for_each(|problem| self.add_problem(file, position, problem));
    }
}

/// `None` if anything is wrong with it.
#[cfg(feature = "write")]
pub(crate) fn read_parts(file: std::fs::File, name: &SegmentName) -> io::Result<Option<Vec<super::Part>>> {
    let mut is_sound = true;
    let (_, parts) = lines::read(&mut io::BufReader::new(file), name, None, |line| {
        let event = line.event.as_ref().or(line.seal.as_ref());
        is_sound &= line.problem.is_none() && event.is_none_or(|event| event.is_genuine());
        Ok::<(), io::Error>(())
    })?;
    Ok(Some(parts).filter(|_| is_sound))
}

/// True for equal lines, also with Windows line ends from git.
fn has_bytes_of(root: &Root, copy: &SegmentFile, tracked: &SegmentFile) -> Result<bool, Fault> {
    let mut one = SegmentSource::open(root, copy, copy.stat.size)?;
    let mut other = SegmentSource::open(root, tracked, tracked.stat.size)?;
    let (mut here, mut there) = (Vec::new(), Vec::new());
    loop {
        let read = one.line(&mut here).and_then(|()| other.line(&mut there));
        // Unreadable counts as different.
        if read.is_err() || lines::without_line_end(&here) != lines::without_line_end(&there) {
            return Ok(false);
        }
        if here.is_empty() {
            return Ok(there.is_empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::history::{SegmentPlace, scratch_journal::ScratchJournal, scratch_journal::chain};

    fn replace(project: &ScratchJournal, name: &str, old: &str, new: &str) {
        let file = project.file(name, SegmentPlace::Live);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(old), "{old}");
        fs::write(file, text.replacen(old, new, 1)).unwrap();
    }

    /// Gaps left out: a line that is gone leaves one, too.
    fn words(problems: &[SegmentProblem]) -> Vec<(u64, &'static str)> {
        problems
            .iter()
            .filter(|problem| !problem.is_gap())
            .map(|problem| (problem.line, problem.word()))
            .collect()
    }

    #[test]
    fn every_damage_is_told_with_its_place() {
        let project = ScratchJournal::new();
        let events = chain(("id:A", "a.md"), 6);
        let segment = project.segment_of("main-a", &events);
        let whole = verify_segments(&project.root).unwrap();
        assert_eq!((whole.segments, whole.events, whole.sum.count, whole.problems), (1, 6, 6, Vec::new()));
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
    fn a_missing_segment_is_told_by_what_follows_it() {
        let project = ScratchJournal::new();
        let events = chain(("id:A", "a.md"), 4);
        project.segment_of("main-a", &events[..2]);
        project.segment_of("main-b", &events[2..]);
        assert_eq!(verify_segments(&project.root).unwrap().problems, []);
        fs::remove_file(project.file("main-a", SegmentPlace::Live)).unwrap();
        let found = verify_segments(&project.root).unwrap();
        let [problem] = &found.problems[..] else { panic!("{found:?}") };
        assert_eq!(problem.problem, LineProblem::MissingParent { parent: events[1].id });
        assert_eq!((problem.segment.as_str(), problem.line), ("main-b", 2));
        assert!(problem.is_gap() && !problem.is_damage());
    }

    #[test]
    fn a_replaced_segment_is_told_and_the_copy_of_this_clone_counts() {
        let project = ScratchJournal::new();
        let events = chain(("id:A", "a.md"), 3);
        project.segment_of("main-a", &events);
        let live = project.file("main-a", SegmentPlace::Live);
        let (copy, tracked) =
            (project.file("main-a", SegmentPlace::Copy), project.file("main-a", SegmentPlace::Sealed));
        for place in [&copy, &tracked] {
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::copy(&live, place).unwrap();
        }
        fs::remove_file(&live).unwrap();
        assert_eq!(verify_segments(&project.root).unwrap().problems, []);
        let text = fs::read_to_string(&tracked).unwrap();
        fs::write(&tracked, text.replace('\n', "\r\n")).unwrap();
        assert_eq!(verify_segments(&project.root).unwrap().problems, [], "git may write other line ends");
        let shorter: Vec<&str> = text.lines().take(2).collect();
        fs::write(&tracked, shorter.join("\n") + "\n").unwrap();
        let found = verify_segments(&project.root).unwrap();
        assert_eq!((words(&found.problems), found.events), (vec![(1, "replaced")], 3));
        assert_eq!(project.history().latest(9).unwrap().len(), 3);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_told_and_not_read() {
        let project = ScratchJournal::new();
        project.segment_of("main-a", &chain(("id:A", "a.md"), 1));
        let elsewhere = project.file("main-a", SegmentPlace::Live);
        let link = project.file("main-b", SegmentPlace::Sealed);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(elsewhere, &link).unwrap();
        fs::create_dir(project.file("main-c", SegmentPlace::Live)).unwrap();
        let found = verify_segments(&project.root).unwrap();
        assert_eq!(found.segments, 1);
        assert_eq!(words(&found.problems), [(1, "not-a-file"), (1, "not-a-file")]);
    }

    #[test]
    fn an_index_that_lost_or_changed_rows_is_made_anew() {
        let project = ScratchJournal::new();
        project.segment_of("main-a", &chain(("id:A", "a.md"), 5));
        project.segment_of("main-c", &chain(("id:C", "c.md"), 1));
        let verified = verify_segments(&project.root).unwrap();
        let events = project.history().all_events().unwrap();
        assert!(!project.history().renew_if_wrong(&verified).unwrap());
        for damage in [
            "DELETE FROM events WHERE n > 2",
            "UPDATE events SET id = zeroblob(16) WHERE n = 3",
            "UPDATE events SET state = 7 WHERE n = 5",
            "UPDATE events SET at = 0 WHERE n = 1",
            "UPDATE events SET parents = x'' WHERE n = 5",
            "UPDATE names SET text = 'd.md' WHERE text = 'a.md'",
            "DELETE FROM names WHERE text = 'id:A'",
            "DELETE FROM heads",
            "INSERT INTO heads SELECT key, seq FROM events WHERE n = 1 AND key IN (SELECT key FROM events WHERE n = 2)",
            "DELETE FROM places",
            "INSERT INTO foreign_parents SELECT zeroblob(16), key FROM heads",
        ] {
            let database =
                rusqlite::Connection::open(project.place(".stepmark/local/cache/journal.db")).unwrap();
            database.execute_batch(damage).unwrap();
            let is_changed = database.total_changes() > 0;
            drop(database);
            assert_eq!(project.history().renew_if_wrong(&verified).unwrap(), is_changed, "{damage}");
            assert!(!project.history().renew_if_wrong(&verified).unwrap(), "{damage}");
            assert_eq!(project.history().all_events().unwrap(), events, "{damage}");
        }

        let database = rusqlite::Connection::open(project.place(".stepmark/local/cache/journal.db")).unwrap();
        database
            .execute_batch("CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END")
            .unwrap();
        drop(database);
        project.segment_of("main-b", &chain(("id:B", "b.md"), 2));
        assert_eq!(project.history().latest(9).unwrap().len(), 8, "with definitions of others it is deleted");
    }
}
