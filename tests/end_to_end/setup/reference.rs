//! `stepmark completions` and `stepmark man`

use std::process::Command;

use crate::{
    harness::{Run, Sandbox},
    output::arguments::COMMANDS,
};

#[test]
fn every_shell_gets_a_script_that_knows_every_command() {
    let empty = Sandbox::empty();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = empty.reads_only(&["completions", shell]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{shell}");
        for command in COMMANDS {
            assert!(run.stdout.contains(command), "{command} for {shell}");
        }
    }
}

#[cfg(unix)]
#[test]
fn bash_takes_its_script_and_completes_with_it() {
    let empty = Sandbox::empty();
    empty.write("script", empty.stepmark(&["completions", "bash"]).stdout);
    let complete = "source ./script; COMP_WORDS=(stepmark comp); COMP_CWORD=1; \
                    _stepmark stepmark comp stepmark; echo ${COMPREPLY[@]}";
    let run = Run::of(Command::new("bash").args(["-c", complete]).current_dir(empty.root()));
    assert_eq!((run.code, run.stdout.trim()), (0, "complete completions"), "{run}");
}

#[test]
fn there_is_a_page_for_the_program_and_for_every_command() {
    let empty = Sandbox::empty();
    let program = empty.reads_only(&["man"]);
    assert_eq!((program.code, program.stderr.as_str()), (0, ""));
    assert!(program.stdout.contains(".TH stepmark 1"), "{program}");
    for command in COMMANDS {
        assert!(program.stdout.contains(&format!("stepmark\\-{command}(1)")), "{command} in {program}");
        let page = empty.reads_only(&["man", command]);
        assert_eq!((page.code, page.stderr.as_str()), (0, ""), "{command}");
        assert!(page.stdout.contains(&format!(".TH stepmark-{command} 1")), "{page}");
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"] {
            assert!(page.stdout.contains(&format!(".SH {section}\n")), "{section} in {page}");
        }
    }
}
