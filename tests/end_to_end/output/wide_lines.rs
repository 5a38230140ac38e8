//! Lines on a terminal: no wider than it, and whole where a program reads them.

use crate::harness::{Sandbox, demo::PRD, terminal::Terminal};

#[test]
fn no_line_is_wider_than_the_terminal_and_elsewhere_all_is_there() {
    let Some(terminal) = Terminal::find() else { return };
    let demo = Sandbox::demo();
    let story =
        "docs/a-folder-with-a-long-name/1-2-a-story-with-a-name-that-is-longer-than-a-line-of-a-terminal.md";
    demo.write(story, "---\nid: s\nstatus: review\n---\n# Story 1.2: Wide\n\nStatus: done\n");
    demo.stepmark(&["delegate", PRD, "--to", "an-agent-with-a-name-that-takes-some-room"]);
    for command in [
        &["list"][..],
        &["tree"],
        &["show", PRD],
        &["transition", "1-2"],
        &["lifecycle", "list"],
        &["lifecycle", "show", "bmad-story"],
        &["import", "stories", "--dry-run"],
        &["explain"],
        &["config"],
        &["check"],
        &["set", PRD, "status=finished"],
        &["complete", PRD, "stepp-100"],
    ] {
        let shown = terminal.run(&demo, command, &[("NO_COLOR", "1")]);
        for line in shown.lines() {
            // A path or a command is not broken, nor is a line of a file.
            let is_whole = !line.trim().contains(' ')
                || line.trim().starts_with('`')
                || line.contains(" | ")
                || line.contains("--> ");
            assert!(line.trim_end().chars().count() <= 80 || is_whole, "{command:?}: {line}");
        }
    }
    assert!(demo.stepmark(&["list"]).stdout.contains(story));
}
