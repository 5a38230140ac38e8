//! Every damage of history, as `replay --verify` and `doctor` tell it: what one finds, the other finds.

use std::fs;

use serde_json::Value as Json;

use crate::{
    harness::{
        Run, Sandbox,
        demo::{ARCHITECTURE, PRD},
        segment::Forger,
    },
    viewing::log::work,
};

const SEALED: &str = ".stepmark/journal";
const COPIES: &str = ".stepmark/local/sealed";
const LIVE: &str = ".stepmark/local/journal";

/// A damage, which exit codes follow, and what `replay --verify` and `doctor` call it.
struct Case {
    name: &'static str,
    damage: fn(&Project),
    codes: (i32, i32),
    problems: &'static [&'static str],
    findings: &'static [&'static str],
}

/// Two sealed segments of one artifact, and a live one of another.
struct Project {
    sandbox: Sandbox,
    one: String,
    two: String,
    live: String,
}

impl Project {
    fn new() -> Self {
        let sandbox = Sandbox::demo();
        let seal = |step: &str, hour: &str| {
            let time = format!("2026-11-22T{hour}:00:00Z");
            let before = names(&sandbox, SEALED);
            work(&sandbox, "s-1", &time, &["complete", PRD, step]);
            work(&sandbox, "s-1", &time, &["checkpoint", PRD]);
            names(&sandbox, SEALED).into_iter().find(|name| !before.contains(name)).unwrap()
        };
        let (one, two) = (seal("4", "10"), seal("5", "11"));
        for (step, hour) in [("6", "12"), ("7", "13")] {
            let time = format!("2026-11-22T{hour}:00:00Z");
            work(&sandbox, "s-2", &time, &["complete", ARCHITECTURE, step]);
        }
        let live = names(&sandbox, LIVE).remove(0);
        Self {
            one: format!("{SEALED}/{one}"),
            two: format!("{SEALED}/{two}"),
            live: format!("{LIVE}/{live}"),
            sandbox,
        }
    }

    /// Makes the sealed segments those of another clone, so that nothing but them speaks.
    fn forget_copies(&self) {
        fs::remove_dir_all(self.sandbox.place(COPIES)).unwrap();
    }

    fn lines(&self, file: &str) -> Vec<String> {
        let text = String::from_utf8(self.sandbox.read(file)).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn write(&self, file: &str, lines: &[String]) {
        self.sandbox.write(file, lines.join("\n") + "\n");
    }

    fn remove(&self, file: &str) {
        fs::remove_file(self.sandbox.place(file)).unwrap();
    }

    fn edit(&self, file: &str, old: &str, new: &str) {
        let text = String::from_utf8(self.sandbox.read(file)).unwrap();
        assert!(text.contains(old), "{old}");
        self.sandbox.write(file, text.replacen(old, new, 1));
    }

    fn rename(&self, old: &str, new: &str) {
        fs::rename(self.sandbox.place(old), self.sandbox.place(new)).unwrap();
    }

    fn compact(&self) -> String {
        assert_eq!(self.sandbox.stepmark(&["journal", "compact"]).code, 0);
        let mut joined = names(&self.sandbox, ".stepmark/journal");
        joined.retain(|name| name.ends_with(".joined.jsonl"));
        format!(".stepmark/journal/{}", joined[0])
    }
}

fn names(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(sandbox.place(folder)) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The words of `answer`, sorted, each once.
fn words(answer: &Json, list: &str, field: &str) -> Vec<String> {
    let found = answer[list].as_array().unwrap().iter();
    let mut words: Vec<String> = found.map(|one| one[field].as_str().unwrap().to_owned()).collect();
    words.sort();
    words.dedup();
    words
}

fn check(case: &Case, project: &Project) {
    (case.damage)(project);
    let run = |arguments: &[&str]| -> Run { project.sandbox.stepmark(arguments) };
    // Twice, as the first may make the index anew.
    for _ in 0..2 {
        let replay = run(&["replay", "--verify", "--json"]);
        let doctor = run(&["doctor", "--json"]);
        let name = case.name;
        let answer = replay.json("stepmark.replay/2");
        assert_eq!((replay.code, doctor.code), case.codes, "{name}: {replay}{doctor}");
        assert_eq!(words(&answer, "problems", "problem"), case.problems, "{name}: {replay}");
        let diagnosis = doctor.json("stepmark.doctor/2");
        assert_eq!(words(&diagnosis, "findings", "kind"), case.findings, "{name}: {doctor}");
        // Whatever speaks of a segment in one answer does so in the other.
        let files = words(&answer, "problems", "file");
        let told = words(&diagnosis, "findings", "path");
        assert!(files.iter().all(|file| told.contains(file)), "{name}: {replay}{doctor}");
    }
}

const DAMAGED: &[&str] = &["journal-damaged"];
const INCOMPLETE: &[&str] = &["journal-incomplete"];
const BOTH: &[&str] = &["journal-damaged", "journal-incomplete"];

#[test]
fn damage_of_sealed_segments_is_told_alike() {
    let cases = [
        Case { name: "none", damage: |_| (), codes: (0, 0), problems: &[], findings: &[] },
        Case {
            name: "the first segment is removed",
            damage: |project| project.remove(&project.one),
            codes: (1, 1),
            problems: &["missing-parent", "missing-segment"],
            findings: INCOMPLETE,
        },
        Case {
            name: "the first segment is replaced by the second",
            damage: |project| project.sandbox.write(&project.one, project.sandbox.read(&project.two)),
            codes: (4, 1),
            problems: &["misnamed", "missing-parent", "rewritten"],
            findings: BOTH,
        },
        Case {
            name: "a segment stands there twice",
            damage: |project| {
                let copy = project.one.replace("s-1-", "s-1-0000");
                project.sandbox.write(&copy, project.sandbox.read(&project.one));
            },
            codes: (4, 1),
            problems: &["misnamed"],
            findings: DAMAGED,
        },
        Case {
            name: "two segments are swapped",
            damage: |project| {
                project.rename(&project.one, "x");
                project.rename(&project.two, &project.one);
                project.rename("x", &project.two);
            },
            codes: (4, 1),
            problems: &["misnamed", "rewritten"],
            findings: DAMAGED,
        },
        Case {
            name: "the last line is cut off where it begins",
            damage: |project| {
                let mut lines = project.lines(&project.one);
                lines.pop();
                project.write(&project.one, &lines);
            },
            codes: (4, 1),
            problems: &["missing-parent", "rewritten"],
            findings: BOTH,
        },
        Case {
            name: "the last line is cut off in its middle",
            damage: |project| {
                let bytes = project.sandbox.read(&project.one);
                project.sandbox.write(&project.one, &bytes[..bytes.len() - 9]);
            },
            codes: (4, 1),
            problems: &["missing-parent", "rewritten", "torn"],
            findings: BOTH,
        },
        Case {
            name: "a line in the middle is gone",
            damage: |project| {
                let mut lines = project.lines(&project.one);
                lines.remove(2);
                project.write(&project.one, &lines);
            },
            codes: (4, 1),
            problems: &["broken-chain", "missing-parent"],
            findings: BOTH,
        },
        Case {
            name: "all but the first line is gone",
            damage: |project| project.write(&project.one, &project.lines(&project.one)[..1]),
            codes: (4, 1),
            problems: &["missing-parent", "rewritten"],
            findings: BOTH,
        },
        Case {
            name: "the file is empty",
            damage: |project| project.sandbox.write(&project.one, ""),
            codes: (1, 1),
            problems: &["missing-parent", "missing-segment"],
            findings: INCOMPLETE,
        },
        Case {
            name: "a line is another",
            damage: |project| project.edit(&project.one, "complete 4", "complete 7"),
            codes: (4, 1),
            problems: &["broken-chain", "missing-parent", "not-genuine"],
            findings: BOTH,
        },
        Case {
            name: "the first line is of a later version",
            damage: |project| project.edit(&project.one, "journal/1", "journal/9"),
            codes: (4, 1),
            problems: &["header"],
            findings: DAMAGED,
        },
        Case {
            name: "a folder stands in its place",
            damage: |project| {
                project.remove(&project.one);
                fs::create_dir(project.sandbox.place(&project.one)).unwrap();
            },
            codes: (4, 1),
            problems: &["missing-parent", "missing-segment", "not-a-file"],
            findings: BOTH,
        },
        Case {
            name: "the joined file is cut off",
            damage: |project| {
                let file = project.compact();
                let bytes = project.sandbox.read(&file);
                project.sandbox.write(&file, &bytes[..bytes.len() / 2]);
            },
            codes: (4, 1),
            problems: &["torn"],
            findings: &["journal-damaged", "unexplained"],
        },
        Case {
            name: "a joined file without its last line stands beside both",
            damage: |project| {
                let [one, two] = [&project.one, &project.two].map(|file| project.sandbox.read(file));
                let file = project.compact();
                project.sandbox.write(&project.one, one);
                project.sandbox.write(&project.two, two);
                let lines = project.lines(&file);
                project.write(&file, &lines[..lines.len() - 1]);
            },
            codes: (4, 1),
            problems: &["replaced"],
            findings: DAMAGED,
        },
        Case {
            name: "a line has no end",
            damage: |project| {
                let first = project.lines(&project.one).remove(0);
                project.sandbox.write(&project.one, format!("{first}\n{}", "0".repeat(17 << 20)));
            },
            codes: (4, 1),
            problems: &["missing-parent", "not-an-event", "rewritten"],
            findings: BOTH,
        },
        Case {
            name: "an event says something else, and all hashes are right",
            damage: |project| {
                let forged = Forger::default().forge(&project.sandbox.read(&project.one), |event| {
                    event.reason = Some("forged".to_owned());
                });
                project.sandbox.write(&project.one, forged);
            },
            codes: (4, 1),
            problems: &["missing-parent", "rewritten"],
            findings: BOTH,
        },
        Case {
            name: "an event leads elsewhere, and all hashes of all segments are right",
            damage: |project| {
                let mut forger = Forger::default();
                for file in [&project.one, &project.two] {
                    let forged = forger.forge(&project.sandbox.read(file), |event| event.changes.clear());
                    project.sandbox.write(file, forged);
                }
            },
            codes: (4, 1),
            problems: &[],
            findings: &["history-damaged"],
        },
        Case {
            name: "the events of a session that the journal lacks",
            damage: |project| {
                project.remove(&project.two);
            },
            codes: (1, 1),
            problems: &[],
            findings: &["unexplained"],
        },
    ];
    for case in &cases {
        let project = Project::new();
        project.forget_copies();
        check(case, &project);
    }
}

#[cfg(unix)]
#[test]
fn a_link_or_a_socket_in_place_of_a_segment_is_told_alike() {
    for (name, damage) in [
        (
            "a link",
            (|project: &Project| {
                project.rename(&project.one, "elsewhere");
                std::os::unix::fs::symlink(
                    project.sandbox.place("elsewhere"),
                    project.sandbox.place(&project.one),
                )
                .unwrap();
            }) as fn(&Project),
        ),
        ("a pipe", |project: &Project| {
            project.remove(&project.one);
            let made = std::process::Command::new("/usr/bin/mkfifo")
                .arg(project.sandbox.place(&project.one))
                .status();
            assert!(made.unwrap().success());
        }),
    ] {
        let project = Project::new();
        project.forget_copies();
        let problems = &["missing-parent", "missing-segment", "not-a-file"];
        check(&Case { name, damage, codes: (4, 1), problems, findings: BOTH }, &project);
    }
}

#[cfg(unix)]
#[test]
fn a_journal_that_is_no_folder_is_an_error_of_both() {
    for is_link in [false, true] {
        let project = Project::new();
        project.forget_copies();
        project.rename(SEALED, "elsewhere");
        if is_link {
            std::os::unix::fs::symlink(project.sandbox.place("elsewhere"), project.sandbox.place(SEALED))
                .unwrap();
        } else {
            project.sandbox.write(SEALED, "a file");
        }
        for command in [&["replay", "--verify"][..], &["doctor"]] {
            let run = project.sandbox.stepmark(command);
            assert!(run.code == 4 && run.stderr.contains(SEALED), "{run}");
        }
    }
}

#[test]
fn damage_where_this_clone_has_its_copy_is_told_alike() {
    let cases = [
        Case {
            name: "the file is removed",
            damage: |project| project.remove(&project.one),
            codes: (0, 0),
            problems: &[],
            findings: &[],
        },
        Case {
            name: "the file is forged",
            damage: |project| {
                let forged = Forger::default().forge(&project.sandbox.read(&project.one), |event| {
                    event.reason = Some("forged".to_owned());
                });
                project.sandbox.write(&project.one, forged);
            },
            codes: (4, 1),
            problems: &["replaced"],
            findings: DAMAGED,
        },
        Case {
            name: "the copy is damaged",
            damage: |project| {
                let copy = project.one.replace(SEALED, COPIES);
                project.edit(&copy, "complete 4", "complete 7");
            },
            codes: (4, 1),
            problems: &["broken-chain", "missing-parent", "not-genuine", "replaced"],
            findings: BOTH,
        },
        Case {
            name: "the last line of the live segment is torn: it was never acknowledged",
            damage: |project| {
                let torn = [project.sandbox.read(&project.live), b"{\"prev\":\"12".to_vec()].concat();
                project.sandbox.write(&project.live, torn);
            },
            codes: (0, 1),
            problems: &["torn"],
            findings: &["journal-torn"],
        },
        Case {
            name: "the last line of the live segment is cut off",
            damage: |project| {
                let mut lines = project.lines(&project.live);
                lines.pop();
                project.write(&project.live, &lines);
            },
            codes: (1, 1),
            problems: &[],
            findings: &["unexplained"],
        },
        Case {
            name: "an artifact is gone",
            damage: |project| project.remove(PRD),
            codes: (1, 1),
            problems: &[],
            findings: &["gone"],
        },
        Case {
            name: "a folder stands in place of an artifact",
            damage: |project| {
                project.remove(PRD);
                fs::create_dir(project.sandbox.place(PRD)).unwrap();
            },
            codes: (4, 1),
            problems: &[],
            findings: &["unreadable"],
        },
        Case {
            name: "an artifact has no frontmatter any more",
            damage: |project| project.sandbox.write(PRD, "# Text\n"),
            codes: (1, 1),
            problems: &[],
            findings: &["unexplained"],
        },
        Case {
            name: "its frontmatter cannot be read",
            damage: |project| project.edit(PRD, "owner: Mira", "owner: [Mira"),
            codes: (1, 1),
            problems: &[],
            findings: &["damaged"],
        },
        Case {
            name: "an older state is written back",
            damage: |project| project.edit(PRD, "\n  - 'step-05-domain'", ""),
            codes: (1, 1),
            problems: &[],
            findings: &["written-back"],
        },
        Case {
            name: "a checkpoint is spoilt",
            damage: |project| {
                let folder = names(&project.sandbox, ".stepmark/checkpoints").remove(0);
                let file = names(&project.sandbox, &format!(".stepmark/checkpoints/{folder}")).remove(0);
                project.edit(&format!(".stepmark/checkpoints/{folder}/{file}"), "owner: Mira", "owner: Zoe");
            },
            codes: (4, 1),
            problems: &[],
            findings: &["checkpoint"],
        },
    ];
    for case in &cases {
        check(case, &Project::new());
    }
}
