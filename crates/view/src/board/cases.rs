//! Tests of what keys do, and pictures.

use ratatui::{Terminal, backend::TestBackend};

use super::{row::Row, *};
use crate::sample_project::SampleProject;

fn project() -> SampleProject {
    let project = SampleProject::new();
    project.write("docs/a.md", "---\ntitle: Alpha\nstepsCompleted: [outline, draft, review]\n---\n# A\n");
    project.write("docs/b.md", "---\ntitle: Beta\nstepsCompleted: [draft, draft, nonsense]\n---\n# B\n");
    project.write(
        "docs/c.md",
        "---\ntitle: \"Ga\\e[31mmma\"\nstepsCompleted: [outline]\nstatus: blocked\n---\n# C\n",
    );
    project
}

fn picture(state: &mut BoardState, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(state, Theme::Plain, frame)).unwrap();
    terminal.backend().to_string()
}

fn press(state: &mut BoardState, keys: &str) {
    for character in keys.chars() {
        assert_eq!(state.press(Key::Character(character)), Pressed::GoesOn);
    }
}

fn name(row: Option<Row<'_>>) -> &str {
    match row {
        Some(Row::Artifact(entry)) => entry.path.as_str(),
        Some(Row::Trouble(trouble)) => &trouble.what,
        None => "",
    }
}

fn chosen(state: &BoardState) -> &str {
    name(state.chosen().map(|(_, row)| row))
}

fn list(overview: crate::overview::Overview) -> BoardState {
    let mut state = BoardState::new(overview);
    press(&mut state, "vg");
    state
}

#[test]
fn columns_stand_side_by_side_and_enter_opens() {
    let project = project();
    project.write("docs/d.md", "---\ntitle: Delta\nstepsCompleted: []\n---\n");
    let mut state = BoardState::new(project.overview());
    insta::assert_snapshot!("columns", picture(&mut state, 120, 20));
    assert_eq!(chosen(&state), "docs/d.md");
    for (key, expected) in [
        (Key::Right(1), "docs/b.md"),
        (Key::Right(1), "docs/c.md"),
        (Key::Right(9), "docs/a.md"),
        (Key::Character('h'), "docs/c.md"),
        (Key::Up(-1), "docs/a.md"),
        (Key::Right(-9), "docs/d.md"),
        (Key::Character('l'), "docs/b.md"),
    ] {
        state.press(key);
        assert_eq!(chosen(&state), expected, "{key:?}");
    }
    // A narrow window shows the column that is chosen, and says how many there are beside it.
    let narrow = picture(&mut state, 40, 16);
    assert!(narrow.contains("underway 1") && narrow.contains("← 1  2 →"), "{narrow}");
    state.press(Key::Enter);
    let open = picture(&mut state, 80, 20);
    assert!(
        open.contains("docs/b.md") && open.contains("Esc closes") && !open.contains("underway 1"),
        "{open}"
    );
    state.press(Key::Escape);
    assert!(picture(&mut state, 80, 20).contains("underway 1"));
    press(&mut state, "/docs/c");
    assert_eq!((state.shown().len(), chosen(&state)), (1, "docs/c.md"));
}

#[test]
fn pictures_tell_everything_without_colours() {
    let mut state = list(project().overview());
    press(&mut state, "j");
    insta::assert_snapshot!("wide", picture(&mut state, 120, 24));
    insta::assert_snapshot!("narrow", picture(&mut state, 80, 24));
    press(&mut state, "?");
    insta::assert_snapshot!("help", picture(&mut state, 120, 24));
}

#[test]
fn it_draws_into_any_window() {
    let mut state = list(project().overview());
    for width in [1, 5, 20, 109, 110, 300] {
        for height in [1, 2, 5, 60] {
            let _drawn = picture(&mut state, width, height);
        }
    }
    let mut empty = BoardState::new(SampleProject::new().overview());
    assert!(picture(&mut empty, 120, 10).contains("Nothing fits."));
}

#[test]
fn keys_lead_to_what_is_looked_for() {
    let project = project();
    let mut state = list(project.overview());
    assert_eq!(chosen(&state), "docs/a.md");
    press(&mut state, "jj");
    assert_eq!(chosen(&state), "docs/c.md");
    press(&mut state, "jg");
    assert_eq!(chosen(&state), "docs/a.md");
    press(&mut state, "Gk");
    assert_eq!(chosen(&state), "docs/b.md");
    // In the filter, letters are letters.
    press(&mut state, "/alpha q");
    state.press(Key::Backspace);
    assert_eq!((state.shown().len(), chosen(&state)), (1, "docs/a.md"));
    state.press(Key::Enter);
    project.write("docs/0.md", "---\ntitle: Before\nstepsCompleted: []\n---\n");
    state.show(project.overview());
    assert_eq!((state.shown().len(), chosen(&state)), (1, "docs/a.md"), "filter and choice stay");
    state.press(Key::Escape);
    assert_eq!((state.shown().len(), chosen(&state)), (4, "docs/a.md"));
    project.remove("docs/a.md");
    state.show(project.overview());
    assert_eq!(chosen(&state), "docs/0.md", "something is chosen");
    press(&mut state, "s");
    assert_eq!(name(state.shown().first().copied()), "docs/b.md", "what is wrong comes first");
    press(&mut state, "??");
    assert_eq!(state.press(Key::Character('q')), Pressed::Ends);
    assert_eq!(BoardState::new(project.overview()).press(Key::Interrupt), Pressed::Ends);
}

#[test]
fn what_belongs_to_no_artifact_has_a_row() {
    let project = project();
    project.write("stories/1-1-a.md", "---\nstatus: done\n---\n# Story 1.1: Switch\n");
    project.write("stories/1-2-b.md", "# Story 1.2: Dim\n\nStatus: done\n");
    project.write("sprint-status.yaml", "development_status: [unclosed\n");
    let mut state = list(project.overview());
    assert_eq!(state.rows(), 7);
    let drawn = picture(&mut state, 120, 30);
    for part in ["sprint-status.yaml", "SM308", "error", "7 of 7"] {
        assert!(drawn.contains(part), "{part}\n{drawn}");
    }
    press(&mut state, "j");
    assert!(chosen(&state).contains("stepmark import stories"), "{}", chosen(&state));
    press(&mut state, "/sprint");
    assert_eq!((state.shown().len(), chosen(&state).contains("YAML")), (1, true), "{}", chosen(&state));
}

#[test]
fn a_long_detail_is_scrolled_as_far_as_it_goes() {
    let mut state = list(project().overview());
    press(&mut state, "j");
    let top = picture(&mut state, 80, 12);
    assert!(top.contains("J: more") && !top.contains("review  next"), "{top}");
    press(&mut state, "JJJJJJJJJJJJJJJJJJJJJJ");
    let end = picture(&mut state, 80, 12);
    assert!(end.contains("review  next") && !end.contains("J: more"), "{end}");
    press(&mut state, "K");
    assert_ne!(picture(&mut state, 80, 12), end, "what was too much is forgotten");
    press(&mut state, "jk");
    assert_eq!(picture(&mut state, 80, 12), top, "another choice begins at its top");
}
