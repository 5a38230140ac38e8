//! Tests of what observations mean.

use stepmark_model::check::Severity;

use super::*;
use crate::sample_project::SampleProject;

fn names(overview: &Overview, places: &[usize]) -> Vec<String> {
    places.iter().map(|place| overview.entries[*place].path.to_string()).collect()
}

#[test]
fn what_is_done_what_is_next_what_is_wrong() {
    let project = SampleProject::new();
    project.write("docs/a.md", "---\nstepsCompleted: [outline, draft, review]\n---\n# A\n");
    project.write("docs/b.md", "---\nstepsCompleted: []\n---\n");
    project.write("docs/c.md", "---\ntitle: The third\nstepsCompleted: [outline]\n---\n# C\n");
    project.write("docs/d.md", "---\nstepsCompleted: []\n---\n# Written without a step\n");
    project.write("stories/1-1-switch.md", "---\nstatus: done\n---\n# Story 1.1\n");
    project.write("stories/1-2-dim.md", "---\nstatus: blocked\n---\n# Story 1.2\n");
    project.write("stories/2-1-log.md", "---\nstatus: 'unclosed\n---\n# Story 2.1\n");
    let overview = project.overview();
    assert_eq!(names(&overview, &overview.done), ["docs/a.md", "stories/1-1-switch.md"]);
    assert_eq!(names(&overview, &overview.next), ["docs/c.md", "docs/b.md"]);
    let wrong: Vec<_> = overview
        .wrong
        .iter()
        .map(|one| (one.severity, one.path.as_ref().map(ToString::to_string).unwrap_or_default()))
        .collect();
    assert_eq!(wrong[0], (Severity::Error, "stories/2-1-log.md".to_owned()), "{wrong:?}");
    for path in ["docs/d.md", "stories/1-2-dim.md"] {
        assert!(wrong.contains(&(Severity::Warning, path.to_owned())), "{wrong:?}");
    }
    let counts = overview.counts;
    assert_eq!((counts.artifacts, counts.done, counts.next), (7, 2, 2));
    assert_eq!(counts.errors + counts.warnings, overview.wrong.len());
    let paper = &overview.workflows[0];
    assert_eq!((paper.name.as_str(), paper.finished, paper.total, paper.units), ("paper", 1, 4, (4, 12)));
    let epics: Vec<_> =
        overview.epics.iter().map(|one| (one.name.as_str(), one.finished, one.total)).collect();
    assert_eq!(epics, [("Epic 1", 1, 2), ("Epic 2", 0, 1)]);
}

#[test]
fn numbers_in_names_are_counted() {
    let project = SampleProject::new();
    for number in [1, 2, 10] {
        project
            .write(&format!("stories/1-{number}-dim.md"), "---\nstatus: blocked\nstepsCompleted: x\n---\n");
    }
    let overview = project.overview();
    let stories = ["stories/1-1-dim.md", "stories/1-2-dim.md", "stories/1-10-dim.md"];
    assert_eq!(names(&overview, &[0, 1, 2]), stories);
    assert!(overview.entries.iter().all(|entry| overview.entry(&entry.path) == Some(entry)));
    let paths: Vec<String> = overview.findings.iter().map(|finding| finding.path.to_string()).collect();
    assert_eq!(paths.iter().filter(|path| path.as_str() == stories[0]).count() * 3, paths.len(), "{paths:?}");
    assert!(paths.is_sorted_by_key(|path| stories.iter().position(|story| story == path)), "{paths:?}");
    let wrong: Vec<_> =
        overview.wrong.iter().filter_map(|one| one.path.as_ref()).map(ToString::to_string).collect();
    assert_eq!(wrong.last().map(String::as_str), Some(stories[2]), "{wrong:?}");
}

#[test]
fn an_epic_is_as_long_as_its_ledger() {
    let project = SampleProject::new();
    project.write("stories/1-1-switch.md", "---\nstatus: done\n---\n# Story 1.1\n");
    project.write("stories/4-1-new.md", "---\nstatus: review\n---\n# Story 4.1\n");
    project.write(
        "sprint-status.yaml",
        "development_status:\n  epic-1: in-progress\n  1-1-switch: done\n  1-2-dim: backlog\n  1-3-log: done\n  1-3-log: done\n  \
         epic-1-retrospective: optional\n  epic-2: backlog\n  2-1-sound: backlog\n  epic-3: backlog\n",
    );
    let epics: Vec<_> = project.overview().epics;
    let epics: Vec<_> =
        epics.iter().map(|one| (one.name.as_str(), one.finished, one.total, one.unwritten)).collect();
    assert_eq!(epics, [("Epic 1", 1, 3, 2), ("Epic 2", 0, 1, 1), ("Epic 4", 0, 1, 0)]);
}

#[test]
fn a_document_that_is_final_is_done() {
    let project = SampleProject::new();
    let prd = "out/prds/prd-larder-2026-10-05/prd.md";
    project.write(prd, "---\ntitle: Larder\nstatus: final\n---\n# PRD\n");
    project.write(
        "out/spine.md",
        "---\ntype: architecture-spine\nstatus: draft # draft · final\n---\n# Spine\n",
    );
    project.write("out/ux-designs/ux-1/DESIGN.md", "---\nstatus: final\n---\n# Design\n");
    project.write("DESIGN.md", "---\nstatus: ours\n---\n# Design\n");
    let overview = project.overview();
    let words: Vec<_> =
        overview.entries.iter().map(|entry| (entry.path.file_name(), entry.condition.word())).collect();
    assert_eq!(
        words,
        [("prd.md", "done"), ("spine.md", "underway"), ("DESIGN.md", "done")],
        "what has a status and nothing else is no artifact of a workflow"
    );
    assert_eq!(overview.entries[1].next.as_deref(), Some("status → final"));
    assert!(overview.wrong.is_empty(), "{:?}", overview.wrong);
}

#[test]
fn stories_that_wait_for_their_import_say_so() {
    let project = SampleProject::new();
    project.write("stories/1-1-switch.md", "# Story 1.1: Switch\n\nStatus: done\n");
    project.write("stories/1-2-dim.md", "# Story 1.2: Dim\n\nStatus: review\n");
    let overview = project.overview();
    let badges: Vec<_> = overview.entries.iter().map(|entry| entry.condition.word()).collect();
    assert_eq!(badges, ["not imported", "not imported"]);
    let what =
        "2 stories have no status in their frontmatter and wait for `stepmark import stories`".to_owned();
    let waiting = Trouble { severity: Severity::Warning, path: None, what, rule: None };
    assert!(overview.wrong.contains(&waiting), "{:?}", overview.wrong);
    assert_eq!((overview.epics[0].not_imported, overview.epics[0].total), (2, 2));
    project.write("stories/1-1-switch.md", "---\nstatus: done\n---\n# Story 1.1: Switch\n\nStatus: done\n");
    project.remove("stories/1-2-dim.md");
    let overview = project.overview();
    assert_eq!(overview.entries[0].condition, Condition::Finished);
    assert!(!overview.wrong.iter().any(|one| one.what.contains("import stories")), "{:?}", overview.wrong);
}

#[test]
fn a_bar_shows_every_step() {
    let project = SampleProject::new();
    project.write("docs/a.md", "---\nstepsCompleted: [draft]\n---\n# A\n");
    let overview = project.overview();
    let bar = overview.entries[0].bar.as_ref().unwrap();
    let cells: Vec<_> = bar.cells.iter().map(|cell| (cell.name.as_str(), cell.state)).collect();
    assert_eq!(cells, [("outline", CellState::Gap), ("draft", CellState::Done), ("review", CellState::Next)]);
    assert_eq!((bar.done, bar.total), (1, 3));
    assert_eq!(overview.entries[0].next.as_deref(), Some("review"));
}

#[test]
fn whoever_delegates_stands_above() {
    let project = SampleProject::new();
    project.write("work/a.md", "---\nid: A\nstatus: draft\n---\n");
    let child = "---\nid: B\nstatus: done\nagent: coder\ndelegation: {id: B, parent_id: A, root_id: A, depth: 1}\n---\n";
    project.write("work/b.md", child);
    let tree = project.overview().tree;
    let rows: Vec<_> = tree
        .iter()
        .map(|row| (row.path.as_str(), row.level, row.agent.as_deref(), row.is_finished))
        .collect();
    assert_eq!(rows, [("work/a.md", 0, None, false), ("work/b.md", 1, Some("coder"), true)]);
}

#[test]
fn names_are_as_short_as_they_tell_apart() {
    for (paths, expected) in [
        (&["prd.md", "s/1-1-lend.md"][..], &["prd", "1-1-lend"][..]),
        (&["a/SPEC.md", "b/SPEC.md", "c/x.md"], &["a/SPEC", "b/SPEC", "x"]),
        (&["a/x/n.md", "b/x/n.md", "b/n.md"], &["a/x/n", "b/x/n", "b/n"]),
        (&["x/n.md", "n.md"], &["x/n", "n.md"]),
        (&["n.md", "n.markdown"], &["n", "n.markdown"]),
    ] {
        let paths: Vec<stepmark_model::artifact::ProjectPath> =
            paths.iter().map(|path| path.parse().unwrap()).collect();
        let all: Vec<_> = paths.iter().collect();
        assert_eq!(short_names(&all, paths.iter()), expected);
        for (path, name) in paths.iter().zip(expected) {
            assert_eq!(short_names(&[path], paths.iter()), [*name], "as among all");
        }
    }
}
