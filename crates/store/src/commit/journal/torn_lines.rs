//! Cutting torn last lines off live segments: unfinished writes of dead processes, never acknowledged.

use std::{
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use crate::commit::{
    FsyncPolicy, JournalWriteError, file::flush_folder, journal::JournalFile, journal::segment_names,
};
use crate::disk::{own_file, own_file::Access, root::Root};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutLine {
    pub segment: String,
    pub copy: String,
    pub length: usize,
}

/// Keeps each torn line beside its segment as `.torn-…`. Sealed segments are never cut. Finishes interrupted
/// commits first, as far as possible ([`finish_interrupted`](crate::commit::finish_interrupted)).
pub fn cut_torn_lines(root: &Root, fsync: FsyncPolicy) -> Result<Vec<CutLine>, JournalWriteError> {
    // Keeps others from appending.
    let journal = JournalFile::open(root)?;
    let mut cut = Vec::new();
    for name in segment_names(journal.folder())? {
        cut.extend(cut_torn_line(root, journal.folder(), &name, fsync)?);
    }
    Ok(cut)
}

fn cut_torn_line(root: &Root, folder: &Path, name: &str, fsync: FsyncPolicy) -> io::Result<Option<CutLine>> {
    let mut file = own_file::open(folder, name.as_ref(), Access::Change)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1);
    let torn = &bytes[whole..];
    if torn.is_empty() {
        return Ok(None);
    }
    let copy = format!(".torn-{name}-{whole}");
    let mut kept = own_file::open(folder, copy.as_ref(), Access::ChangeOrMake)?;
    kept.set_len(0)?;
    kept.write_all(torn)?;
    if fsync == FsyncPolicy::Always {
        kept.sync_all()?;
        flush_folder(folder, fsync)?;
    }
    file.set_len(whole as u64)?;
    file.seek(SeekFrom::Start(whole as u64))?;
    if fsync == FsyncPolicy::Always {
        file.sync_all()?;
    }
    let shown = |name: &str| root.shown(&folder.join(name));
    Ok(Some(CutLine { segment: shown(name), copy: shown(&copy), length: torn.len() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::{append_events, scratch_project::ScratchProject};
    use stepmark_model::journal::{Actor, Event, EventDraft, Kind};

    const FOLDER: &str = ".stepmark/local/journal";

    fn append(project: &ScratchProject, reason: &str) {
        let draft = EventDraft::new(Kind::CHANGE).with_reason(Some(reason.to_owned()));
        let event = Event::new(draft, Actor::human("Ada"), "2026-11-22T10:00:00Z".parse().unwrap());
        append_events(&project.root, &[event.sealed()], FsyncPolicy::Never).unwrap();
    }

    #[test]
    fn what_is_cut_is_kept_and_the_segment_goes_on() {
        let project = ScratchProject::new();
        append(&project, "a");
        append(&project, "b");
        let name = project.names(FOLDER).remove(0);
        let segment = format!("{FOLDER}/{name}");
        let whole = project.read(&segment);
        assert_eq!(cut_torn_lines(&project.root, FsyncPolicy::Always).unwrap(), []);
        assert_eq!(project.read(&segment), whole);
        project.write(&segment, &whole[..whole.len() - 7]);
        let cut = cut_torn_lines(&project.root, FsyncPolicy::Always).unwrap();
        let [CutLine { copy, length, .. }] = &cut[..] else { panic!("{cut:?}") };
        let mut joined = project.read(&segment);
        assert!(joined.ends_with(b"\n"));
        let kept = project.read(copy);
        assert_eq!(kept.len(), *length);
        joined.extend(kept);
        assert_eq!(joined, whole[..whole.len() - 7], "nothing is lost");
        append(&project, "c");
        assert_eq!(project.names(FOLDER).iter().filter(|name| name.ends_with(".jsonl")).count(), 1);
    }
}
