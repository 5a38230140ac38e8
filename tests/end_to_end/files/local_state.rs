//! Where the state of a clone stands: in git's folder, where no repository brings anything, and how it comes
//! there.

use std::fs;

use crate::harness::Repository;

const PRD: &str = "_bmad-output/planning-artifacts/prd.md";

/// A project that was worked in before it had git, or under a version that kept everything in the work tree.
fn worked_in_without_git(test: &str) -> Option<Repository> {
    let repository = Repository::of_demo(test)?;
    let git = repository.sandbox.place(".git");
    let aside = repository.sandbox.place("git-aside");
    fs::rename(&git, &aside).unwrap();
    for line in [&["complete", PRD, "4"][..], &["lease", "take", PRD, "--actor", "agent:one"]] {
        let run = repository.stepmark(line);
        assert_eq!(run.code, 0, "{run}");
    }
    fs::rename(aside, git).unwrap();
    Some(repository)
}

fn event_count(repository: &Repository) -> usize {
    let run = repository.stepmark(&["log", "--json"]);
    run.json("stepmark.log/1")["events"].as_array().unwrap().len()
}

#[test]
fn what_git_ever_knew_is_a_strangers() {
    for is_reset in [false, true] {
        let Some(repository) = worked_in_without_git("what git ever knew") else { return };
        let sandbox = &repository.sandbox;
        repository.git(&["add", "--all", "--force"]);
        repository.git(&["commit", "--quiet", "-m", "a stranger's"]);
        if is_reset {
            // The files stay, and the index no longer knows them.
            repository.git(&["reset", "--quiet", "HEAD~1"]);
        }
        let run = repository.stepmark(&["complete", PRD, "5"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run}");
        assert_eq!(event_count(&repository), 2, "nothing of it is read: first-seen, change");
        assert!(sandbox.place(".stepmark/local/leases").exists(), "and it stays as it is");
        let doctor = repository.stepmark(&["doctor"]);
        assert!(doctor.stdout.contains("files stand here that are not read"), "{doctor}");
    }
}

#[test]
fn work_trees_share_history_and_leases() {
    let Some(repository) = Repository::of_demo("work trees share history") else { return };
    let sandbox = &repository.sandbox;
    assert_eq!(repository.stepmark(&["complete", PRD, "4", "--session", "s-1"]).code, 0);
    let other = sandbox.place("../other-tree");
    repository.git(&["worktree", "add", "--quiet", other.to_str().unwrap()]);
    let in_other = |arguments: &[&str]| {
        let root = other.to_str().unwrap();
        repository.stepmark(&[&["--root", root], arguments].concat())
    };
    assert!(in_other(&["log"]).stdout.contains("s-1"), "{}", in_other(&["log"]));
    let taken = in_other(&["lease", "take", PRD, "--actor", "agent:other"]);
    assert_eq!(taken.code, 0, "{taken}");
    let refused = repository.stepmark(&["complete", PRD, "5"]);
    assert!(refused.code == 3 && refused.stderr.contains("agent:other"), "{refused}");
    let (own, common) = (sandbox.place(".git/worktrees/other-tree/stepmark"), sandbox.place(".git/stepmark"));
    assert!(own.join("locks").is_dir() && !own.join("journal").exists() && !own.join("leases").exists());
    assert!(common.join("journal").is_dir() && common.join("leases").is_dir());
}

#[test]
fn deleting_everything_in_the_work_tree_costs_no_history() {
    let Some(repository) = Repository::of_demo("deleting everything in the work tree") else { return };
    let sandbox = &repository.sandbox;
    let session = ["--session", "s-1"];
    assert_eq!(repository.stepmark(&[&["complete", PRD, "4"], &session[..]].concat()).code, 0);
    assert_eq!(repository.stepmark(&[&["checkpoint", PRD], &session[..]].concat()).code, 0);
    assert!(sandbox.place(".stepmark/journal").is_dir());
    let before = repository.stepmark(&["log", "--json"]).stdout;
    repository.git(&["clean", "--quiet", "-ffdx", ".stepmark"]);
    assert!(!sandbox.place(".stepmark/journal").exists());
    assert_eq!(repository.stepmark(&["log", "--json"]).stdout, before);
}

/// A stranger's project that keeps its state among its files, with a lease on one of them.
fn of_a_stranger(test: &str) -> Option<Repository> {
    let repository = Repository::empty(test)?;
    let git = repository.sandbox.place(".git");
    let aside = repository.sandbox.place("../git-aside");
    repository.sandbox.write("docs/prd.md", "---\nstatus: draft\n---\n");
    repository.sandbox.write(".stepmark/config.yaml", "artifacts:\n  include: ['docs/**/*.md']\n");
    fs::rename(&git, &aside).unwrap();
    let run = repository.stepmark(&["lease", "take", "docs/prd.md", "--actor", "agent:evil"]);
    assert_eq!(run.code, 0, "{run}");
    fs::rename(aside, git).unwrap();
    Some(repository)
}

#[test]
fn what_a_submodule_brings_is_a_strangers() {
    let Some(repository) = of_a_stranger("what a submodule brings") else { return };
    let own = repository.sandbox.place(".stepmark");
    let of_submodule = |arguments: &[&str]| {
        repository.git(&[&["-C", own.to_str().unwrap()], arguments].concat());
    };
    of_submodule(&["init", "--quiet"]);
    of_submodule(&["add", "--all", "--force"]);
    of_submodule(&["commit", "--quiet", "-m", "a stranger's"]);
    repository.git(&["-c", "advice.addEmbeddedRepo=false", "add", "--all"]);
    repository.git(&["commit", "--quiet", "-m", "with a submodule"]);
    let run = repository.stepmark(&["set", "docs/prd.md", "owner=Ada"]);
    assert_eq!(run.code, 0, "its lease counts for nothing: {run}");
    assert!(repository.sandbox.place(".stepmark/local/leases").exists());
}

#[test]
fn a_repository_that_the_environment_names_does_not_answer_for_another() {
    let Some(repository) = of_a_stranger("a repository of the environment") else { return };
    repository.git(&["add", "--all", "--force"]);
    repository.git(&["commit", "--quiet", "-m", "a stranger's"]);
    let other = repository.sandbox.place("../other");
    repository.git(&["init", "--quiet", other.to_str().unwrap()]);
    let mut command = repository.command(&["set", "docs/prd.md", "owner=Ada"]);
    let run = repository.sandbox.run(command.env("GIT_DIR", other.join(".git")));
    assert_eq!(run.code, 0, "its lease counts for nothing: {run}");
}

#[test]
fn a_sealing_that_was_cut_off_is_told_and_finished_also_after_a_clean() {
    let Some(repository) = Repository::of_demo("a sealing that was cut off") else { return };
    let sandbox = &repository.sandbox;
    assert_eq!(repository.stepmark(&["complete", PRD, "4"]).code, 0);
    assert_eq!(repository.stepmark(&["checkpoint", PRD]).code, 0);
    let copies = fs::read_dir(sandbox.place(".git/stepmark/sealed")).unwrap();
    let names: Vec<_> = copies.map(|copy| copy.unwrap().file_name().into_string().unwrap()).collect();
    let [name] = &names[..] else { panic!("{names:?}") };
    let tracked = format!(".stepmark/journal/{name}");
    let mark = format!(".git/stepmark/sealed/{name}.unpublished");
    let bytes = sandbox.read(&tracked);
    let clean = || fs::remove_dir_all(sandbox.place(".stepmark/journal")).unwrap();

    // A commit without the segment is checked out.
    clean();
    let doctor = repository.stepmark(&["doctor"]);
    assert!(!doctor.stdout.contains("segment-unpublished"), "{doctor}");
    // Killed between its two renames.
    sandbox.write(&mark, "");
    let doctor = repository.stepmark(&["doctor"]);
    assert!(
        doctor.code == 1 && doctor.stdout.contains(&format!("{tracked}: segment-unpublished")),
        "{doctor}"
    );
    let repair = repository.stepmark(&["doctor", "--repair"]);
    assert!(repair.stdout.contains(&format!("{tracked}: fixed")), "{repair}");
    assert_eq!(sandbox.read(&tracked), bytes);
    assert!(!sandbox.place(&mark).exists());

    clean();
    sandbox.write(&mark, "");
    assert_eq!(repository.stepmark(&["complete", PRD, "5"]).code, 0);
    let sealing = repository.stepmark(&["checkpoint", PRD]);
    assert_eq!(sealing.code, 0, "{sealing}");
    assert_eq!(sandbox.read(&tracked), bytes);
    assert_eq!(fs::read_dir(sandbox.place(".stepmark/journal")).unwrap().count(), 2);
}
