//! The programs of the book: they compile, run in a copy of the demo project, and print what the page says.

use std::{env, fs, path::Path, process::Command};

use crate::{
    book::{folder, readme},
    fences::{Fence, fences},
    transcripts::copy_folder,
};

/// The page with the programs.
const PAGE: &str = "embedding.md";

/// How a program's own lines are told from those of the test that runs it.
const MARK: &str = "| ";

/// Names the program that a child of this test is to be.
const VARIABLE: &str = "STEPMARK_TEST_PROGRAM";

/// Takes the place of the standard one in the programs below.
macro_rules! println {
    ($($arguments:tt)*) => {
        for line in format!($($arguments)*).lines() {
            std::println!("{}{line}", crate::programs::MARK);
        }
    };
}

/// Each program is a module, and its source.
macro_rules! programs {
    ($($name:ident)*) => {
        $(mod $name {
            include!(concat!("programs/", stringify!($name), ".rs"));

            pub(super) fn run() -> Result<(), Box<dyn std::error::Error>> {
                main()
            }
        })*

        fn run(name: &str) -> Result<(), Box<dyn std::error::Error>> {
            match name {
                $(stringify!($name) => $name::run(),)*
                other => Err(format!("there is no program `{other}`").into()),
            }
        }

        /// Names and sources, in the order of the page.
        const PROGRAMS: &[(&str, &str)] =
            &[$((stringify!($name), include_str!(concat!("programs/", stringify!($name), ".rs")))),*];
    };
}

programs!(read update own_error parse check plan readme);

#[test]
#[ignore = "a program of the book, started by the test below in a project"]
fn program() {
    run(&env::var(VARIABLE).unwrap()).unwrap();
}

/// What the program `name` prints in a project of its own, with the configuration of the page.
fn printed(name: &str, configuration: &str) -> String {
    let project = tempfile::tempdir().unwrap();
    copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/repos/demo"), project.path());
    fs::create_dir(project.path().join(".stepmark")).unwrap();
    fs::write(project.path().join(".stepmark/config.yaml"), configuration).unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "programs::program", "--ignored", "--nocapture"]);
    let output = command.env(VARIABLE, name).current_dir(project.path()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix(MARK)).collect();
    assert!(!lines.is_empty(), "{name}: {printed}{}", String::from_utf8_lossy(&output.stderr));
    lines.join("\n") + "\n"
}

#[test]
fn programs_print_what_the_page_says() {
    let place = folder().join(PAGE);
    let mut page = fs::read_to_string(&place).unwrap();
    let text = page.clone();
    let blocks = fences(&text);
    let configuration = blocks.iter().find(|block| block.kind == "yaml").map_or("", |block| &block.text);
    let shown: Vec<&[Fence<'_>]> = blocks.windows(2).filter(|pair| pair[0].kind == "rust").collect();
    let programs = &PROGRAMS[..PROGRAMS.len() - 1];
    assert_eq!(shown.len(), programs.len(), "each program stands in the page, and what it prints after it");
    let overwrites = env::var_os("TRYCMD").is_some_and(|word| word == "overwrite");
    for ((name, source), pair) in programs.iter().zip(shown) {
        let [program, output] = pair else { unreachable!("windows of two") };
        let printed = printed(name, configuration);
        assert_eq!(output.kind, "text", "docs/{PAGE}:{}: what `{name}` prints", output.line);
        if overwrites {
            page = page.replacen(&program.text, source, 1).replacen(&output.text, &printed, 1);
        } else {
            assert_eq!(&program.text, source, "docs/{PAGE}:{}: `{name}`", program.line);
            assert_eq!(output.text, printed, "docs/{PAGE}:{}: `{name}`", output.line);
        }
    }
    if overwrites {
        fs::write(place, page).unwrap();
    }
}

#[test]
fn the_program_of_the_readme_runs() {
    let text = fs::read_to_string(readme()).unwrap();
    let shown = fences(&text).into_iter().find(|block| block.kind == "rust").unwrap();
    let (name, source) = PROGRAMS[PROGRAMS.len() - 1];
    assert_eq!(shown.text, source);
    assert_eq!(printed(name, ""), "8 steps are left\n");
}

#[test]
fn no_other_page_has_a_program() {
    for entry in fs::read_dir(folder()).unwrap() {
        let place = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(&place) else { continue };
        let is_other = place.file_name().is_some_and(|name| name != PAGE);
        assert!(!is_other || fences(&text).iter().all(|block| block.kind != "rust"), "{}", place.display());
    }
}
