//! Revisions, and what differs between them.

use serde_json::Value as Json;

use super::{super::*, observed};
use crate::{observation::Observation, page::Stale, sample_project::SampleProject};

fn taken(before: &Shown, update: &Json) -> Vec<(String, String)> {
    let mut pieces: Vec<(String, String)> =
        before.pieces.iter().map(|piece| (piece.id.clone(), piece.html.clone())).collect();
    for id in update["removed"].as_array().unwrap() {
        pieces.retain(|(own, _)| own != id.as_str().unwrap());
    }
    for piece in update["changed"].as_array().unwrap() {
        let (id, html) = (piece["id"].as_str().unwrap(), piece["html"].as_str().unwrap());
        let new = (id.to_owned(), html.to_owned());
        if let Some(place) = pieces.iter().position(|(own, _)| own == id) {
            pieces[place] = new;
        } else if let Some(after) = piece["after"].as_str() {
            let place =
                pieces.iter().position(|(own, _)| own == after).expect("it comes after one that is there");
            pieces.insert(place + 1, new);
        } else {
            let first = pieces.iter().position(|(own, _)| own.starts_with("a-")).unwrap_or(pieces.len());
            pieces.insert(first, new);
        }
    }
    pieces
}

#[test]
fn an_update_leads_to_what_is_shown_however_much_was_missed() {
    let project = SampleProject::new();
    for name in ["b", "d"] {
        project.write(&format!("docs/{name}.md"), "---\nstepsCompleted: [outline]\n---\n");
    }
    let mut shown = vec![Shows::first(observed(&project))];
    let steps: [&dyn Fn(); 5] = [
        &|| project.write("docs/a.md", "---\nstepsCompleted: []\n---\n"),
        &|| project.write("docs/e.md", "---\nstepsCompleted: [outline]\n---\n"),
        &|| project.write("docs/b.md", "---\nstepsCompleted: [outline, draft, review]\n---\n"),
        &|| project.remove("docs/d.md"),
        &|| project.write("docs/c.md", "---\nstatus: [\n---\n"),
    ];
    for step in steps {
        step();
        let next = Shows::next(shown.last().unwrap(), observed(&project)).expect("something changed");
        shown.push(next);
    }
    let last = shown.last().unwrap();
    let wanted: Vec<_> = last.pieces.iter().map(|piece| (piece.id.clone(), piece.html.clone())).collect();
    for before in &shown {
        let update = last.update(before.revision);
        assert_eq!(update["revision"], last.revision);
        assert_eq!(taken(before, &update), wanted, "from {}", before.revision);
    }
    assert_eq!(last.update(0)["reload"], true);
    assert_eq!(last.update(99)["reload"], true);
}

#[test]
fn where_nothing_looks_different_there_is_no_revision() {
    let project = SampleProject::new();
    project.write("docs/a.md", "---\nstepsCompleted: [outline]\n---\nOne\n");
    let shown = Shows::first(observed(&project));
    assert!(Shows::next(&shown, observed(&project)).is_none());
    project.write("docs/a.md", "---\nstepsCompleted: [outline]\n---\nTwo\n");
    assert!(Shows::next(&shown, observed(&project)).is_some(), "its own page shows the text");
}

#[test]
fn what_is_stale_says_so_until_it_is_seen_again() {
    let project = SampleProject::new();
    project.write("docs/a.md", "---\nstepsCompleted: [outline]\n---\n");
    let first = Shows::first(observed(&project));
    let failure = |minute, why: &str| Stale {
        since: format!("2026-11-22T10:{minute}:00Z").parse().unwrap(),
        why: why.to_owned(),
    };
    let stale = Shows::stale(&first, failure("01", "`docs` <is> gone.")).unwrap();
    let update = stale.update(first.revision);
    assert_eq!(update["changed"].as_array().unwrap().len(), 1, "{update}");
    assert_eq!(
        (&update["changed"][0]["id"], &update["changed"][0]["place"]),
        (&"stale".into(), &"notices".into())
    );
    let html = String::from_utf8_lossy(&stale.html);
    assert!(html.contains("id=\"notices\"><p id=\"stale\" role=\"alert\""), "{html}");
    assert!(html.contains("<code>docs</code> &lt;is&gt; gone.") && html.contains("10:01"), "{html}");
    assert!(Shows::stale(&stale, failure("02", "`docs` <is> gone.")).is_none(), "it is said once");
    let other = Shows::stale(&stale, failure("03", "Something else.")).unwrap();
    assert_eq!(other.stale, Some(failure("01", "Something else.")), "since it was first seen");
    let seen = Shows::next(&other, observed(&project)).expect("it is seen again, though nothing changed");
    assert_eq!(seen.update(other.revision)["removed"], serde_json::json!(["stale"]));
    assert!(!String::from_utf8_lossy(&seen.html).contains("role=\"alert\""));
}

#[test]
fn looking_again_with_trackers_makes_no_revision_where_nothing_changed() {
    let project = SampleProject::new();
    for number in 0..70 {
        project.write(&format!("docs/{number}.md"), "---\nstepsCompleted: [outline]\n---\n# Paper\n");
    }
    let paper = "project_id: sample\nworkflows:\n- {name: paper, artifacts: ['docs/*.md'], steps: [outline, draft]}\ntrackers: {dry: }\n";
    project.write(".stepmark/config.yaml", paper);
    std::thread::sleep(std::time::Duration::from_millis(30));
    let workspace = project.workspace();
    let first = Shows::first(Observation::whole(&workspace.afresh()).unwrap());
    assert_eq!(first.observation.trackers.as_ref().map(Vec::len), Ok(1));
    for _ in 0..3 {
        let fresh = workspace.afresh();
        let begun = Observation::begin(&fresh, first.observation.findings.clone()).unwrap();
        assert!(Shows::next(&first, begun.clone()).is_none());
        assert!(Shows::next(&first, begun.checked(&fresh).unwrap()).is_none());
        let listed = fresh.checks().summaries().unwrap();
        assert_eq!(listed.rows().filter(|row| row.read().is_some()).count(), 0, "nothing is read again");
    }
}
