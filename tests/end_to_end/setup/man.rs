//! `stepmark man`

use crate::{harness::Sandbox, output::arguments::COMMANDS};

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
