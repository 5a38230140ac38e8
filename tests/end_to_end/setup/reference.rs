//! `stepmark completions` and `stepmark man`

use std::process::Command;

use crate::{
    harness::{Run, Sandbox},
    output::arguments::COMMANDS,
};

#[test]
fn every_shell_gets_a_script_that_asks_the_program() {
    let empty = Sandbox::empty();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = empty.reads_only(&["completions", shell]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{shell}");
        assert!(run.stdout.contains("COMPLETE") && run.stdout.contains("stepmark"), "{shell}");
    }
    let offered = offers(&empty, "1", &["stepmark", ""]);
    for command in COMMANDS {
        assert!(offered.lines().any(|name| name == *command), "{command} in {offered}");
    }
}

/// What the program offers a shell for the word of this number.
fn offers(sandbox: &Sandbox, index: &str, words: &[&str]) -> String {
    let mut command = sandbox.command(&[&["--"], words].concat());
    command.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n");
    sandbox.run(command.env("_CLAP_COMPLETE_COMP_TYPE", "9").env("_CLAP_COMPLETE_SPACE", "true")).stdout
}

#[cfg(unix)]
#[test]
fn bash_takes_its_script_and_completes_with_it() {
    let empty = Sandbox::empty();
    empty.write("script", empty.stepmark(&["completions", "bash"]).stdout);
    let complete = "source ./script; COMP_WORDS=(stepmark comp); COMP_CWORD=1; COMP_TYPE=9; \
                    _clap_complete_stepmark stepmark comp stepmark; echo ${COMPREPLY[@]}";
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_stepmark")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    let run = Run::of(bash.args(["-c", complete]).current_dir(empty.root()).env("PATH", path));
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

/// The shell asks the program, which knows the project.
#[test]
fn completion_offers_artifacts_and_fields_and_pages_are_written_into_a_folder() {
    let demo = Sandbox::demo();
    assert!(offers(&demo, "2", &["stepmark", "next", "pr"]).lines().any(|name| name == "prd"));
    assert_eq!(offers(&demo, "3", &["stepmark", "list", "--columns", "path,sta"]), "path,status");
    assert!(demo.stepmark(&["completions", "fish"]).stdout.contains("COMPLETE=fish"));
    let folder = demo.place("man");
    std::fs::create_dir(&folder).unwrap();
    let run = demo.stepmark(&["man", "--all", folder.to_str().unwrap()]);
    assert!(run.code == 0 && folder.join("stepmark-complete.1").is_file(), "{run}");
}
