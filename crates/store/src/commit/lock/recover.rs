//! Putting in order what a killed holder of the lock left.
#![expect(clippy::disallowed_methods, reason = "an edge module: left-over temporary files are removed here")]

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::commit::{ArtifactLock, LockError, file::exchange, file::read_file, lock::Note};
use crate::disk::own_file::remove_if_there;
use stepmark_model::artifact::FileHash;

/// Finishes or undoes what the note of the last holder announces. Whatever may be another program's is kept.
/// Returns the hash of what that holder published, if it came that far and the note says it.
pub(in crate::commit) fn recover(
    lock: &ArtifactLock,
    note: Option<&Note>,
) -> Result<Option<FileHash>, LockError> {
    let failed = |source| LockError::Recover { path: lock.path.clone(), source };
    match note {
        None => Ok(None),
        Some(Note::Told(told)) => Ok(Some(told.file)),
        Some(Note::Staging { name }) => {
            remove_if_there(&lock.folder().join(name)).map(|()| None).map_err(failed)
        }
        Some(Note::Exchanging { name, before, after }) => {
            let staged = lock.folder().join(name);
            let kept = settle_exchange(lock, &staged, *before, *after).map_err(failed)?;
            kept.map_or(Ok(Some(*after)), |kept| {
                Err(LockError::Interrupted { path: lock.path.clone(), kept })
            })
        }
    }
}

/// The names were about to be exchanged, were exchanged, or were already exchanged back; only the bytes tell.
/// Returns where bytes of another program are kept, if they could not be put in place.
fn settle_exchange(
    lock: &ArtifactLock,
    staged: &Path,
    before: FileHash,
    after: FileHash,
) -> io::Result<Option<PathBuf>> {
    let hash_at =
        |place: &Path| read_file(&lock.path, place).map(|file| file.map(|file| FileHash::of(&file.bytes)));
    match hash_at(staged) {
        Ok(None) => return Ok(None),
        // Ours, or what was read before ours was made from it: nobody misses it.
        Ok(Some(hash)) if hash == before || hash == after => return remove_if_there(staged).map(|()| None),
        Ok(Some(_)) | Err(_) => {}
    }
    // Another program's. Where ours, never acknowledged, still stands in its place, it gets that place back.
    let ours = |place: &Path| matches!(hash_at(place), Ok(Some(hash)) if hash == after);
    if ours(&lock.target) && exchange(staged, &lock.target).is_ok() && ours(staged) {
        return remove_if_there(staged).map(|()| None);
    }
    keep(staged, &lock.target).map(Some)
}

pub(in crate::commit) fn keep(staged: &Path, target: &Path) -> io::Result<PathBuf> {
    let kept = staged.with_file_name(kept_name(staged, target));
    // The name is as random as that of the temporary file: nothing has it yet.
    fs::rename(staged, &kept)?;
    Ok(kept)
}

/// `.stepmark-kept-RANDOM-prd.md` for `prd.md`; hidden, so that it counts as no artifact.
fn kept_name(staged: &Path, target: &Path) -> String {
    let text = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (staged, target) = (text(staged), text(target));
    let random = staged.rsplit('-').next().unwrap_or(&staged).trim_end_matches(".tmp");
    let named = format!(".stepmark-kept-{random}-{target}");
    // 255 bytes is what file systems take.
    if named.len() <= 255 { named } else { format!(".stepmark-kept-{random}") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::commit::{
        scratch_project::OLD, scratch_project::PRD, scratch_project::ScratchProject, scratch_project::named,
    };

    const OURS: &[u8] = b"ours";
    const THEIRS: &[u8] = b"theirs";

    fn killed(target: &[u8], staged: Option<&[u8]>, exchanging: bool) -> (ScratchProject, String) {
        let project = ScratchProject::new();
        let lock = project.lock(PRD);
        let name = format!("{}R4nd0m.tmp", lock.key.temporary_prefix());
        let note = if exchanging {
            Note::Exchanging { name: name.clone(), before: FileHash::of(OLD), after: FileHash::of(OURS) }
        } else {
            Note::Staging { name: name.clone() }
        };
        note.write(&lock.lock_file).unwrap();
        drop(lock);
        project.write(PRD, target);
        if let Some(bytes) = staged {
            project.write(&format!("docs/{name}"), bytes);
        }
        (project, name)
    }

    #[test]
    fn what_was_being_staged_is_removed() {
        for staged in [None, Some(&b"ou"[..]), Some(OURS)] {
            let (project, _) = killed(OLD, staged, false);
            project.write("docs/.stepmark-0123-x.tmp", b"another artifact's");
            let _lock = project.lock(PRD);
            assert_eq!(project.names("docs"), [".stepmark-0123-x.tmp", "prd.md"]);
            assert_eq!(project.read(PRD), OLD);
        }
    }

    #[test]
    fn an_exchange_is_finished_wherever_it_was_interrupted() {
        for (target, staged, left) in [
            (OLD, Some(OURS), OLD),
            (OURS, Some(OLD), OURS),
            (OURS, None, OURS),
            (THEIRS, Some(OURS), THEIRS),
            (THEIRS, Some(OLD), THEIRS),
        ] {
            let (project, _) = killed(target, staged, true);
            let _lock = project.lock(PRD);
            assert_eq!(project.names("docs"), ["prd.md"]);
            assert_eq!(project.read(PRD), left);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_foreign_edit_gets_its_place_back() {
        let (project, _) = killed(OURS, Some(THEIRS), true);
        let _lock = project.lock(PRD);
        assert_eq!(project.read(PRD), THEIRS);
        assert_eq!(project.names("docs"), ["prd.md"]);
    }

    #[test]
    fn of_two_foreign_edits_both_are_kept_and_reported_once() {
        let (project, _) = killed(b"later theirs", Some(THEIRS), true);
        let refused = ArtifactLock::acquire(&project.root, &named(PRD), Duration::ZERO).unwrap_err();
        let LockError::Interrupted { kept, .. } = refused else { panic!("{refused:?}") };
        assert_eq!(kept, project.place("docs/.stepmark-kept-R4nd0m-prd.md"));
        assert_eq!(fs::read(kept).unwrap(), THEIRS);
        assert_eq!(project.read(PRD), b"later theirs");
        let _second_time = project.lock(PRD);
    }

    #[test]
    fn kept_names_fit_the_file_system() {
        let staged = Path::new("/p/.stepmark-0123-Abc123.tmp");
        assert_eq!(kept_name(staged, Path::new("/p/prd.md")), ".stepmark-kept-Abc123-prd.md");
        assert_eq!(kept_name(staged, &Path::new("/p").join("x".repeat(250))), ".stepmark-kept-Abc123");
    }
}
