//! Taking back the changes of an event, by a new event.

use super::{ArtifactKey, Event, Kind};
use crate::{
    artifact::Artifact,
    document::{edits, inverse, make_changes},
    transition::{Plan, TransitionRefusal},
};

/// The plan that takes back what `event` changed in the frontmatter of `artifact`. What was changed since, elsewhere, stays.
///
/// # Errors
/// When the event changed nothing that can be taken back, is about another artifact, or its places were changed since.
pub fn undo(artifact: &Artifact, event: &Event) -> Result<Plan, TransitionRefusal> {
    let refuse =
        |reason: &str| TransitionRefusal::NoUndo { event: event.id.to_string(), reason: reason.to_owned() };
    let about = event.artifact.as_ref().ok_or_else(|| refuse("it is about no artifact"))?;
    let key = ArtifactKey::of(artifact);
    if about.key != key && about.was.as_ref() != Some(&key) {
        return Err(refuse("it is about another artifact"));
    }
    if event.kind == Kind::FIRST_SEEN {
        return Err(refuse("it only says what was there when stepmark met the artifact"));
    }
    if event.before.is_none() {
        return Err(refuse("it made the file: remove the file instead"));
    }
    if event.after.is_none() {
        return Err(refuse("it removed the file: restore a checkpoint instead"));
    }
    if event.changes.is_empty() {
        return Err(refuse("it changed nothing in the frontmatter"));
    }
    let changes = inverse(&event.changes);
    if let Some(whole) = changes.iter().find(|change| change.path.0.is_empty()) {
        return Err(refuse(&format!("it changed the frontmatter as a whole (`{}`)", whole.path)));
    }
    let mut state = artifact
        .state_value()
        .map_err(|error| TransitionRefusal::Unreadable { reason: error.to_string() })?;
    make_changes(&mut state, &changes)
        .map_err(|mismatch| refuse(&format!("`{}` was changed since", mismatch.path)))?;
    Ok(Plan { edits: edits(&changes), remarks: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        artifact::ProjectPath,
        document::{Region, apply},
        journal::{Account, Actor, Attribution, EventDraft, Moment, Outsider, Past},
    };

    const BEFORE: &str =
        "---\nstepsCompleted: [1, 2] # done\nstatus: draft # draft | done\nowner: Ada\n---\n# Body\n";
    const AFTER: &str =
        "---\nstepsCompleted: [1, 2, 3] # done\nstatus: done # draft | done\nextra: yes\n---\n# Body\n";

    fn path() -> ProjectPath {
        ProjectPath::new("docs/prd.md").unwrap()
    }

    fn event(old: Option<&str>, new: Option<&str>) -> Event {
        let attribution = Attribution::of(Actor::human("Ada"));
        let now = "2026-11-22T10:00:00Z".parse().unwrap();
        let account = Account { attribution: &attribution, now, path: &path() };
        let [old, new] = [old, new].map(|file| Moment::of(&path(), file.map(str::as_bytes)));
        let told =
            account.events(Past::Unknown, (&old, &new), EventDraft::new(Kind::CHANGE), Outsider::unknown);
        told.last().unwrap().clone()
    }

    fn undone(file: &str, event: &Event) -> Result<String, TransitionRefusal> {
        let artifact = Artifact::read(path(), file.as_bytes().to_vec());
        let plan = undo(&artifact, event)?;
        let edited = apply(file.as_bytes(), &Region::Frontmatter, &plan.edits).unwrap();
        Ok(String::from_utf8(edited.bytes).unwrap())
    }

    #[test]
    fn what_was_changed_is_taken_back_and_no_more() {
        let event = event(Some(BEFORE), Some(AFTER));
        assert_eq!(undone(AFTER, &event).unwrap(), BEFORE);
        let later = AFTER.replace("[1, 2, 3]", "[1, 2, 3, 4]").replace("# Body", "# New body");
        let wanted = BEFORE.replace("[1, 2]", "[1, 2, 4]").replace("# Body", "# New body");
        assert_eq!(undone(&later, &event).unwrap(), wanted);
    }

    #[test]
    fn what_cannot_be_taken_back_is_refused_with_the_reason() {
        let change = event(Some(BEFORE), Some(AFTER));
        for (file, event, reason) in [
            (AFTER.replace("status: done", "status: review"), change.clone(), "`status` was changed since"),
            (
                AFTER.replace("owner", "id: x\nowner").replace("extra", "id: x\nextra"),
                change,
                "another artifact",
            ),
            (AFTER.to_owned(), event(None, Some(AFTER)), "it made the file"),
            (AFTER.to_owned(), event(Some(BEFORE), None), "it removed the file"),
        ] {
            let refused = undone(&file, &event).unwrap_err().to_string();
            assert!(refused.contains(reason), "{refused}");
        }
    }
}
