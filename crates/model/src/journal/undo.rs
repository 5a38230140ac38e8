//! Taking back the changes of an event, by a new event.

use serde_json::{Map, Value as Json};

use super::{ArtifactKey, Event, Kind};
use crate::{
    artifact::{Artifact, FileHash, StateDigest},
    journal::Spelling,
    transition::{Plan, TransitionRefusal},
};
use stepmark_frontmatter::{Change, Edit, Segment, Splice, apply, edits, inverse, make_changes, splice};

/// The plan that takes back what `event` changed in the frontmatter of `artifact`. What was changed since,
/// elsewhere, stays. What is as the event left it is written as it was written before the event, to the byte;
/// the rest is given its values back.
pub fn undo(artifact: &Artifact, event: &Event) -> Result<Plan, TransitionRefusal> {
    let refuse =
        |reason: &str| TransitionRefusal::NoUndo { event: event.id.to_string(), reason: reason.to_owned() };
    let about = event.artifact.as_ref().ok_or_else(|| refuse("it is about no artifact"))?;
    let key = ArtifactKey::of(artifact);
    if !event.is_genuine() {
        return Err(refuse("its id does not match its content: it was changed after it was written"));
    }
    // What happened at its path before it had an id is its own, too.
    let before_its_id = ArtifactKey::of_path(artifact.path());
    if ![&key, &before_its_id].contains(&&about.key) && about.was.as_ref() != Some(&key) {
        return Err(refuse("it is about another artifact"));
    }
    if event.kind == Kind::FIRST_SEEN {
        return Err(refuse("it only says what was there when stepmark met the artifact"));
    }
    if event.before.is_none() {
        return Err(refuse("it made the file: remove the file instead"));
    }
    if event.after.is_none() {
        return Err(refuse("it removed the file, whose body is not kept"));
    }
    let spelling =
        event.spelling.clone().and_then(|spelling| serde_json::from_value::<Spelling>(spelling).ok());
    if event.changes.is_empty() && spelling.is_none() {
        return Err(refuse("it changed nothing in the frontmatter"));
    }
    if let Some(edit) = spelling.as_ref().and_then(|spelling| put_back(artifact, spelling, event)) {
        return Ok(Plan { edits: vec![edit], remarks: Vec::new() });
    }
    // What its changes add may have stood in the file before, where no reader looks for it.
    let before = event.before.and_then(|before| before.state);
    let may_have_moved_text = event.kind == Kind::EXTERNAL_EDIT || event.data.contains_key("fixes");
    let had_no_keys = before == Some(StateDigest::of(&Json::Object(Map::new())));
    if before.is_none() || (had_no_keys && may_have_moved_text && spelling.is_none()) {
        return Err(refuse(
            "no state could be read from the file before it, and its text of then is not kept",
        ));
    }
    let changes = inverse(&event.changes);
    if let Some(whole) = changes.iter().find(|change| change.path.0.is_empty()) {
        return Err(refuse(&format!("it changed the frontmatter as a whole (`{}`)", whole.path)));
    }
    let now = artifact
        .state_value()
        .map_err(|error| TransitionRefusal::Unreadable { reason: error.to_string() })?;
    let mut before = now.clone();
    make_changes(&mut before, &changes)
        .map_err(|mismatch| refuse(&format!("`{}` was changed since", mismatch.path)))?;
    let states = [&now, &before];
    let edits = match spelling.and_then(|spelling| spelled(artifact, &spelling, &changes, states)) {
        Some(edits) => edits,
        None if changes.is_empty() => return Err(refuse("how it was written was changed since")),
        None => edits(&changes),
    };
    Ok(Plan { edits, remarks: Vec::new() })
}

/// The edit that gives the file back which the event replaced, where its frontmatter had or has no state to
/// compare: the hash of that file is in the event.
fn put_back(artifact: &Artifact, spelling: &Spelling, event: &Event) -> Option<Edit> {
    let (before, after) = (event.before?, event.after?);
    if before.state.is_some() && after.state.is_some() {
        return None;
    }
    let splices = spelling.splices(&artifact.region(), artifact.bytes());
    let edit = Edit::PutBack { file: artifact.bytes().to_vec(), splices };
    let edited = apply(artifact.bytes(), &artifact.region(), std::slice::from_ref(&edit)).ok()?;
    (!edited.splices.is_empty() && FileHash::of(&edited.bytes) == before.file).then_some(edit)
}

/// The edits that lead the file from the state `now` to the state `before`, written as it was written then;
/// `None` where that is not known any more, or not proven.
fn spelled(
    artifact: &Artifact,
    spelling: &Spelling,
    changes: &[Change],
    states: [&Json; 2],
) -> Option<Vec<Edit>> {
    let splices = spelling.splices(&artifact.region(), artifact.bytes());
    let is_known = !splices.is_empty();
    let as_it_was = is_known.then(|| with_splices(artifact, spelling, changes, (splices, states))).flatten();
    as_it_was.or_else(|| with_splices(artifact, spelling, changes, (Vec::new(), states)))
}

fn with_splices(
    artifact: &Artifact,
    spelling: &Spelling,
    changes: &[Change],
    (splices, [now, before]): (Vec<Splice>, [&Json; 2]),
) -> Option<Vec<Edit>> {
    let (file, region) = (artifact.bytes(), artifact.region());
    let (mut planned, mut state) = (Vec::new(), now.clone());
    if !splices.is_empty() {
        state = Artifact::read(artifact.path().clone(), splice(file, &splices)?).state_value().ok()?;
        // An entry that says neither is not what the changes tell of.
        let keys = [now, before, &state].into_iter().filter_map(Json::as_object).flat_map(|map| map.keys());
        for key in keys {
            if state.get(key) != before.get(key) && state.get(key) != now.get(key) {
                return None;
            }
        }
        planned.push(Edit::Rewrite { file: file.to_vec(), splices });
    }
    let is_left = |change: &&Change| match change.path.0.first() {
        Some(Segment::Key(key)) => state.get(key) != before.get(key),
        _ => true,
    };
    let left: Vec<Change> = changes.iter().filter(is_left).cloned().collect();
    planned.extend(edits(&left));
    let changed = apply(file, &region, &planned).ok()?.bytes;
    let splices = spelling.value_splices(&region, &changed);
    if !splices.is_empty() {
        let respelled = Edit::Rewrite { file: changed.clone(), splices };
        let edited = apply(&changed, &region, std::slice::from_ref(&respelled)).ok();
        let edited = edited.filter(|edited| !edited.splices.is_empty());
        planned.extend(edited.filter(|edited| says(artifact, &edited.bytes, before)).map(|_| respelled));
    }
    (!planned.is_empty()).then_some(planned)
}

fn says(artifact: &Artifact, file: &[u8], state: &Json) -> bool {
    Artifact::read(artifact.path().clone(), file.to_vec()).state_value().is_ok_and(|said| said == *state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        artifact::ProjectPath,
        journal::{Actor, ArtifactState, Attribution, EventBuilder, EventDraft, ExternalAuthor, PriorState},
    };
    use stepmark_frontmatter::{Region, apply};

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
        let builder = EventBuilder { attribution: &attribution, now, path: &path() };
        let [old, new] = [old, new].map(|file| ArtifactState::of(&path(), file.map(str::as_bytes)));
        let draft = EventDraft::new(Kind::CHANGE);
        let recorded = builder.events(PriorState::Unknown, (&old, &new), draft, ExternalAuthor::unknown());
        recorded.last().unwrap().clone()
    }

    fn spelled_event(old: &str, new: &str) -> Event {
        let mut event = event(Some(old), Some(new));
        let spelling =
            Spelling::of(&Region::Frontmatter, (old.as_bytes(), None), new.as_bytes(), &event.changes);
        let draft = EventDraft::new(Kind::CHANGE).keeping(spelling.as_ref());
        event.spelling = draft.spelling;
        // It stands in the journal as text.
        serde_json::from_str(&serde_json::to_string(&event.sealed()).unwrap()).unwrap()
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
    fn what_was_replaced_comes_back_as_it_was_written() {
        let before = "---\n# head\nn: 1.10   # n\nlist:\n- 'a'\n# why\n- 90717e4\nday: 2026-01-01\nempty:\nend: !own x\n---\n";
        for after in [
            "---\n# head\nn: 2   # n\nlist: [b]\nday: never\nempty: full\nend: !own x\n---\n",
            "---\n# head\nn: 1.10   # n\nlist: [b]\nfresh: 1\nend: !own x\n---\n",
            "---\nend: !own x\n---\n",
            "---\n---\n",
            "---\n# head\nn: 1.10   # n\nlist:\n- 'a'\n# why\n- 90717e4\nday: '2026-01-01'\nempty: null\nend: !own x\n---\n",
        ] {
            let event = spelled_event(before, after);
            assert_eq!(undone(after, &event).unwrap(), before, "{after}");
        }
    }

    #[test]
    fn what_no_reader_can_compare_comes_back_to_the_byte_or_not_at_all() {
        for (before, after) in [
            ("---\n{a: 1, a: 2}\n---\n", "---\n{a: 1, a: 2, k: x}\n---\n"),
            ("---\na: 1\na: 2\nk: 'v' # c\n---\nBody\n", "---\na: 1\na: 2\nk: w # c\n---\nBody\n"),
            ("---\na: 1\na: 2\nk: v\n---\n", "---\na: 1\nk: v\n---\n"),
            ("---\na: 1\nk: v\n---\n", "---\na: 1\nk: v\na: 2\n---\n"),
            ("---\nm: *x\nk: 1.10\n---\n", "---\nm: *x\nk: 2\n---\n"),
        ] {
            let event = spelled_event(before, after);
            assert_eq!(undone(after, &event).unwrap(), before);
            let mut forged = event.clone();
            forged.spelling.as_mut().unwrap()["runs"][0]["old"] = "evil: 1".into();
            let refused = undone(after, &forged.sealed());
            assert!(refused.is_err() || !refused.unwrap().contains("evil"), "{before}");
        }
        let [before, after] = ["k: v", "k: w"].map(|key| format!("---\na: 1\na: 2\n{key}\n---\nBody\n"));
        let event = spelled_event(&before, &after);
        assert!(undone(&after.replace("Body", "More"), &event).is_err(), "nothing proves the rest");
    }

    #[test]
    fn where_its_surroundings_changed_values_keep_their_spelling() {
        let before = "---\nm: {n: 1.10, big: 99999999999999999999, day: 2026-01-01, to: .inf, e: 90717e4}\nkept: 'x'\n---\n";
        let after = "---\nm: {n: 2, big: 3, day: never, to: 4, e: 5}\nkept: y\n---\n";
        let event = spelled_event(before, after);
        let later = after.replace("e: 5}", "e: 5, more: 1}").replace("kept: y", "kept: y # why");
        let wanted = before.replace("90717e4}", "90717e4, more: 1}").replace("kept: 'x'", "kept: 'x' # why");
        assert_eq!(undone(&later, &event).unwrap(), wanted);
    }

    #[test]
    fn an_event_that_was_changed_or_says_another_text_than_its_values_changes_nothing_else() {
        let (before, after) = ("---\na: 1\nb: 2\n---\n", "---\na: 3\nb: 2\n---\n");
        let event = spelled_event(before, after);
        let mut forged = event.clone();
        forged.spelling.as_mut().unwrap()["runs"][0]["old"] = "9".into();
        let refused = undone(after, &forged).unwrap_err().to_string();
        assert!(refused.contains("its id does not match"), "{refused}");
        for old in ["9", "1\nb: 7\nc: 2", "1\nevil: 1", "1\n# evil: [", "1\n---\n"] {
            let mut forged = event.clone();
            forged.spelling.as_mut().unwrap()["runs"][0]["old"] = old.into();
            let file = undone(after, &forged.sealed()).unwrap();
            let state = Artifact::read(path(), file.as_bytes().to_vec()).state_value().unwrap();
            assert_eq!(state, serde_json::json!({"a": 1, "b": 2}), "{old}: {file}");
        }
        for spelling in
            [serde_json::json!({}), serde_json::json!("new"), serde_json::json!({"runs": [{"at": 7}]})]
        {
            let strange = Event { spelling: Some(spelling), ..event.clone() }.sealed();
            assert_eq!(undone(after, &strange).unwrap(), before);
        }
    }

    #[test]
    fn what_cannot_be_taken_back_is_refused_with_the_reason() {
        let change = event(Some(BEFORE), Some(AFTER));
        let [before, after] =
            [BEFORE, AFTER].map(|file| file.replace("owner: Ada", "id: x").replace("extra", "id: x\nextra"));
        let other = event(Some(&before), Some(&after.replace("id: x\nid: x", "id: x")));
        for (file, event, reason) in [
            (AFTER.replace("status: done", "status: review"), change, "`status` was changed since"),
            (AFTER.to_owned(), other, "another artifact"),
            (AFTER.to_owned(), event(None, Some(AFTER)), "it made the file"),
            (
                AFTER.to_owned(),
                spelled_event("---\nstatus: done\nm:\n\ta: 1\n---\n", AFTER),
                "no state could be read",
            ),
            (AFTER.to_owned(), event(Some(BEFORE), None), "it removed the file"),
        ] {
            let refused = undone(&file, &event).unwrap_err().to_string();
            assert!(refused.contains(reason), "{refused}");
        }
    }
}
