//! Colours: through a pipe, on a terminal, and as the command line and the environment ask for.

use crate::harness::{
    Run, Sandbox,
    demo::{EPICS, PRD},
    terminal::Terminal,
};

/// Runs that show a table, a report, an error and a usage error.
const RUNS: [&[&str]; 5] =
    [&["status"], &["check"], &["show", EPICS], &["next", EPICS], &["show", "absent.md"]];

fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = escape.split_once('m').expect("styles alone, no movement of the cursor").1;
    }
    plain + rest
}

#[test]
fn a_pipe_gets_none() {
    let demo = Sandbox::demo();
    for arguments in RUNS {
        for extra in [&[][..], &["--color", "auto"], &["--color", "never"]] {
            let run = demo.reads_only(&[arguments, extra].concat());
            assert!(!run.has_escape_codes(), "{arguments:?} {extra:?}: {run:?}");
        }
    }
}

#[test]
fn always_means_always_and_changes_nothing_else() {
    let demo = Sandbox::demo();
    for arguments in RUNS {
        let plain = demo.stepmark(arguments);
        for no_color in [false, true] {
            let mut command = demo.command(&[arguments, &["--color=always"]].concat());
            if no_color {
                command.env("NO_COLOR", "1");
            }
            let coloured = demo.run(&mut command);
            assert_eq!(coloured.has_escape_codes(), arguments != ["status"], "{arguments:?}: {coloured:?}");
            let stripped = Run {
                code: coloured.code,
                stdout: without_escapes(&coloured.stdout),
                stderr: without_escapes(&coloured.stderr),
            };
            assert_eq!(stripped, plain);
        }
    }
}

#[test]
fn json_never_has_any() {
    let demo = Sandbox::demo();
    for arguments in [&["check", "--json"][..], &["next", EPICS, "--json"], &["status", "--json"]] {
        let run = demo.reads_only(&[arguments, &["--color", "always"]].concat());
        assert!(!run.has_escape_codes(), "{run:?}");
    }
}

#[test]
fn a_terminal_gets_them_unless_told_otherwise() {
    let Some(terminal) = Terminal::find() else { return };
    let demo = Sandbox::demo();
    for (arguments, environment, coloured) in [
        (&["check"][..], &[][..], true),
        (&["show", "absent.md"], &[], true),
        (&["check", "--color", "never"], &[], false),
        (&["check"], &[("NO_COLOR", "1")], false),
        (&["check"], &[("TERM", "dumb")], false),
        (&["check", "--color", "always"], &[("NO_COLOR", "1")], true),
        (&["check", "--json"], &[], false),
    ] {
        let shown = terminal.run(&demo, arguments, environment);
        assert_eq!(shown.contains("\u{1b}["), coloured, "{arguments:?} {environment:?}: {shown:?}");
    }
}

#[test]
fn the_table_is_the_same_on_a_terminal_of_any_width() {
    let Some(terminal) = Terminal::find() else { return };
    let demo = Sandbox::demo();
    let piped = demo.stepmark(&["status"]).stdout;
    for columns in ["20", "80", "200"] {
        let shown = terminal.run(&demo, &["status"], &[("COLUMNS", columns)]);
        assert_eq!(without_escapes(&shown).replace("\r\n", "\n"), piped, "{columns} columns");
    }
}

#[test]
fn a_file_cannot_steer_the_terminal() {
    let demo = Sandbox::demo();
    let escape = "\\e[31mred\\e[2J\\n\\tend\\a";
    demo.write(
        "evil.md",
        format!("---\nstepsCompleted: [\"{escape}\"]\nstatus: \"{escape}\"\ntitle: \"{escape}\"\nworkflowType: prd\n---\n\u{1b}]0;title\u{7}\n\nStatus: \u{1b}[1mbold\n"),
    );
    demo.write("\u{1b}[31m.md", "---\nstatus: draft\nstatus: done\n---\n");
    for arguments in [
        &["status"][..],
        &["check"],
        &["show", "evil.md"],
        &["next", "evil.md"],
        &["show", "\u{1b}[31m.md"],
        &["show", "\u{1b}[31m-absent.md"],
        &["set", "\u{1b}[31m.md", "status=x"],
        &["complete", "evil.md", "\u{1b}[31m"],
        &["complete", "evil.md", "\u{1b}[31m"],
    ] {
        let run = demo.stepmark(&[arguments, &["--color", "always"]].concat());
        let steering: Vec<char> = without_escapes(&run.stdout)
            .chars()
            .chain(without_escapes(&run.stderr).chars())
            .filter(|c| c.is_control() && *c != '\n')
            .collect();
        assert!(steering.is_empty(), "{arguments:?}: {run:?}");
        assert!(!run.stdout.contains("\u{1b}[31mred"), "{run:?}");
        let plain = demo.stepmark(arguments);
        assert!(!plain.has_escape_codes(), "{plain:?}");
    }
    let table = demo.stepmark(&["status"]).stdout;
    assert_eq!(table.lines().count(), 3 + 7 + 1 + 1, "one line a row: {table}");
    assert_eq!(demo.stepmark(&["show", PRD]).code, 0);
}
