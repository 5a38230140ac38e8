//! A repository's own configuration names programs: stepmark starts none of them. What runs leaves a trace.
#![cfg(unix)]

use std::{fs, os::unix::fs::PermissionsExt};

use crate::harness::Repository;

const PRD: &str = "docs/prd.md";

fn prd(steps: &str) -> String {
    format!("---\nid: PRD-1\nstepsCompleted: [{steps}]\nstatus: draft\n---\n\n# PRD\n")
}

/// A repository with two commits whose configuration names one program wherever git knows a place for it.
fn hostile(test: &str) -> Option<Repository> {
    let repository = Repository::empty(test)?;
    let sandbox = &repository.sandbox;
    sandbox.write(".stepmark/config.yaml", "# A project.\n");
    sandbox.write(".gitignore", ".stepmark/local/\n.stepmark/cache/\n.stepmark/gates/\n");
    sandbox.write(PRD, prd("step-01-init, step-02-discovery"));
    repository.commit("one");
    sandbox.write(PRD, prd("step-01-init, step-02-discovery, step-03-success"));
    repository.commit(&format!("two\n\nStepmark-History: main-0 {}", "0".repeat(64)));
    sign_head(&repository);
    sandbox.write(".git/info/attributes", "* filter=evil diff=evil merge=evil\n");

    let program = sandbox.place(".git/program");
    let trace = sandbox.place(".git/trace");
    fs::write(&program, format!("#!/bin/sh\necho \"$0 $*\" >>'{}'\ncat\n", trace.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    for hook in
        ["post-index-change", "reference-transaction", "pre-commit", "post-checkout", "fsmonitor-watchman"]
    {
        let place = sandbox.place(&format!(".git/evil-hooks/{hook}"));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(program, &place).unwrap();
        // Where git looks without being told.
        fs::create_dir_all(sandbox.place(".git/hooks")).unwrap();
        fs::copy(program, sandbox.place(&format!(".git/hooks/{hook}"))).unwrap();
    }
    let hooks = sandbox.place(".git/evil-hooks");
    for (key, value) in [
        ("core.fsmonitor", program),
        ("core.hooksPath", hooks.to_str().unwrap()),
        ("core.pager", program),
        ("pager.log", program),
        ("core.editor", program),
        ("core.sshCommand", program),
        ("core.askPass", program),
        ("credential.helper", program),
        ("gpg.program", program),
        ("log.showSignature", "true"),
        ("diff.external", program),
        ("diff.evil.textconv", program),
        ("diff.evil.command", program),
        ("filter.evil.clean", program),
        ("filter.evil.smudge", program),
        ("filter.evil.process", program),
        ("filter.evil.required", "true"),
        ("merge.evil.driver", program),
        ("remote.origin.url", &format!("ext::{program}")),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", program),
        ("protocol.ext.allow", "always"),
        ("extensions.partialClone", "origin"),
        ("core.repositoryFormatVersion", "1"),
        ("uploadpack.packObjectsHook", program),
    ] {
        repository.git(&["config", key, value]);
    }
    let _setup = fs::remove_file(&trace);
    Some(repository)
}

/// Gives the commit that is checked out a signature, which `git log` shows with `gpg.program` where it is
/// told to.
fn sign_head(repository: &Repository) {
    let commit = repository.git(&["cat-file", "commit", "HEAD"]);
    let (head, message) = commit.split_once("\n\n").unwrap();
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----";
    repository.sandbox.write(".git/signed", format!("{head}\n{signature}\n\n{message}\n"));
    let name = repository.git(&["hash-object", "-t", "commit", "-w", ".git/signed"]);
    repository.git(&["update-ref", "refs/heads/main", &name]);
}

fn trace(repository: &Repository) -> Option<String> {
    fs::read_to_string(repository.sandbox.place(".git/trace")).ok()
}

#[test]
fn the_test_itself_sees_programs() {
    let Some(repository) = hostile("hostile configuration") else { return };
    let _any = repository.try_git(&["log", "-1", "--", PRD]);
    assert!(trace(&repository).is_some_and(|trace| trace.contains("program")), "log");
    fs::remove_file(repository.sandbox.place(".git/trace")).unwrap();
    let _any = repository.try_git(&["status"]);
    assert!(trace(&repository).is_some(), "status");
}

#[test]
fn no_command_starts_a_program_that_the_repository_names() {
    let Some(repository) = hostile("hostile configuration") else { return };
    let edited = prd("step-01-init, step-03-success");
    let run = |arguments: &[&str]| {
        let run = repository.stepmark(arguments);
        assert_eq!(trace(&repository), None, "{arguments:?} started a program: {run}");
        run
    };
    // An edit by another program: its author is asked of git.
    assert_eq!(run(&["complete", PRD, "step-04-journeys"]).code, 0);
    repository.sandbox.write(PRD, &edited);
    for arguments in [
        &["set", PRD, "status=in-review"][..],
        &["checkpoint", PRD],
        &["resume", PRD],
        &["resume", "--deep", PRD],
        &["replay", "--verify"],
        &["status"],
        &["check"],
        &["check", "--from", "HEAD~1"],
        &["doctor"],
        &["log", PRD],
        &["hook", "status"],
        &["report", "page.html"],
        &["project"],
    ] {
        run(arguments);
    }
    // The index, as git has it without what the repository names.
    let clean = |arguments: &[&str]| {
        let harmless =
            ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "filter.evil.clean=cat"];
        let harmless =
            [&harmless[..], &["-c", "filter.evil.process=", "-c", "filter.evil.required=false"], arguments]
                .concat();
        repository.git(&harmless);
    };
    clean(&["add", PRD, ".stepmark/journal"]);
    assert_eq!(trace(&repository), None, "adding");
    for arguments in [
        &["check", "--staged"][..],
        &["check", "--staged", "--fix"],
        &["check", "--staged", "--unsafe-fixes"],
    ] {
        let run = run(arguments);
        assert!(!run.stderr.contains("git"), "{arguments:?}: {run}");
    }
    // A damaged artifact is looked for in earlier commits.
    repository.sandbox.write(PRD, "---\nstepsCompleted: [\n---\n");
    run(&["resume", PRD]);
    run(&["replay", "--verify", PRD]);
    // An object that is not there is not fetched.
    let blob = repository.git(&["rev-parse", &format!("HEAD~1:{PRD}")]);
    let (folder, name) = blob.split_at(2);
    let object = repository.sandbox.place(&format!(".git/objects/{folder}/{name}"));
    fs::remove_file(object).unwrap();
    run(&["check", "--from", "HEAD~1"]);
    run(&["resume", PRD]);
}

#[test]
fn hooks_are_found_where_the_repository_has_them() {
    let Some(repository) = hostile("hooks path") else { return };
    let run = repository.stepmark(&["hook", "install"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("evil-hooks"), "{run}");
}
