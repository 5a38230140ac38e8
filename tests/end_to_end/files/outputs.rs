//! Where files are written that configuration or an argument names: never in git's own folder, never over a
//! file of others.

use std::fs;

use crate::harness::{Sandbox, demo::PRD};

/// A project with a repository's folder, and a file of its owner.
fn project(configuration: &str) -> Sandbox {
    let project = Sandbox::demo();
    project.write(".stepmark/config.yaml", configuration);
    project.write("agents/pm.md", "# PM\n");
    project.write("Makefile", "all:\n");
    for file in ["hooks/sample", "config"] {
        project.write(&format!(".git/{file}"), "git's own\n");
    }
    #[cfg(unix)]
    for (target, link) in [(".git/hooks", "tools"), (".git/config", "settings.md"), ("Makefile", "make.md")] {
        std::os::unix::fs::symlink(target, project.place(link)).unwrap();
    }
    project
}

/// The command is refused, nothing is written but what is stepmark's own, and nothing at all in git's folder.
fn assert_refused(project: &Sandbox, arguments: &[&str]) {
    let files = || {
        let git = ["hooks/sample", "config"].map(|file| project.read(&format!(".git/{file}")));
        let names = [".git", ".git/hooks"].map(|folder| fs::read_dir(project.place(folder)).unwrap().count());
        (git, names, project.read("Makefile"), project.read("README.md"))
    };
    project.write("README.md", "# Mine\n");
    let before = files();
    let run = project.stepmark(arguments);
    assert!(matches!(run.code, 1..=4), "{arguments:?}: {run}");
    assert!(run.stderr.contains("error: cannot"), "{arguments:?}: {run}");
    assert_eq!(files(), before, "{arguments:?}: {run}");
}

#[test]
fn instructions_go_neither_into_gits_folder_nor_over_a_file_of_others() {
    let mut places =
        vec![".git/hooks/post-checkout", ".GIT/x", "git~1/x", "sub/.git/config", "Makefile", "README.md"];
    if cfg!(unix) {
        places.extend(["tools/post-checkout", "settings.md", "make.md"]);
    }
    for place in places {
        let project = project(&format!("instructions:\n  output: {place}\n  components: [agents/pm.md]\n"));
        assert_refused(&project, &["instructions", "build"]);
    }
    let meta = project("instructions:\n  output: PM.md\n  components: [agents/pm.md]\n");
    meta.write("PM.md.meta", "mine\n");
    assert_refused(&meta, &["instructions", "build"]);
    meta.write("PM.md.meta", "");
    assert_eq!(meta.stepmark(&["instructions", "build"]).code, 0);
}

#[test]
fn delegated_work_never_goes_into_gits_folder() {
    for folder in [".git/hooks", ".Git", "tools"] {
        let project = project(&format!("delegation:\n  folder: {folder}\n"));
        assert_refused(&project, &["delegate", PRD, "--to", "writer"]);
    }
    let project = project("");
    assert_refused(&project, &["delegate", PRD, "--to", "writer", "--file", ".git/hooks/a.md"]);
}

#[test]
fn files_that_a_person_names_are_not_in_gits_folder_and_replace_their_like_only() {
    let project = project("trackers:\n  log: {kind: file, path: tickets.jsonl}\n");
    for file in [".git/config", ".git/new", ".GIT/new", "README.md", "Makefile", "tools/new"] {
        assert_refused(&project, &["report", file]);
        assert_refused(&project, &["manifest", "write", "--file", file]);
        assert_refused(&project, &["sync", "plan", "--out", file]);
    }
    for arguments in [
        &["report", "new.html"][..],
        &["manifest", "write", "--file", "new.csv"],
        &["sync", "plan", "--out", "new.json"],
    ] {
        for _ in 0..2 {
            let run = project.stepmark(arguments);
            assert_eq!(run.code, 0, "{arguments:?}: {run}");
        }
    }
}

#[cfg(unix)]
#[test]
fn what_is_stepmarks_own_does_not_leave_its_folder_through_a_link() {
    for (link, target, arguments) in [
        (".stepmark/manifests", "../.git/hooks", &["manifest", "write"][..]),
        (".stepmark/manifests/files-manifest.csv", "../../Makefile", &["manifest", "write"]),
        (".stepmark/checkpoints", "../.git", &["checkpoint", PRD]),
        (".stepmark/gates", "../.git", &["project"]),
        (".stepmark/baseline.json", "../.git/config", &["check", "--write-baseline"]),
    ] {
        let project = project("gates: true\n");
        let place = project.place(link);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, &place).unwrap();
        assert_refused(&project, arguments);
    }
}
