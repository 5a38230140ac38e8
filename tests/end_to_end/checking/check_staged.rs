//! `stepmark check --staged` and `--from … --to …`, in real repositories.

use std::{fs, process::Command};

use crate::harness::{Repository, Run};

const GOOD: &str = "---\nstepsCompleted: [1, 2]\nstatus: draft\n---\n# PRD\n";
/// A finding of its own: the key stands twice.
const BAD: &str = "---\nstepsCompleted: [1, 2]\nstatus: draft\nstatus: done\n---\n# PRD\n";

/// A repository with one commit in which `docs/prd.md` is good.
fn repository(test: &str) -> Option<Repository> {
    let repository = Repository::empty(test)?;
    repository.sandbox.write("docs/prd.md", GOOD);
    repository.commit("one");
    Some(repository)
}

/// Checks what is staged, which must change nothing on the disk.
fn staged(repository: &Repository) -> Run {
    repository.sandbox.changes_nothing(&mut repository.command(&["check", "--staged", "--json"]))
}

/// The paths that have findings, and how many artifacts were looked at.
fn findings(run: &Run) -> (Vec<String>, u64) {
    let answer = run.json("stepmark.check/1");
    // The stories here say their status in a line: that they wait for an import is told of each.
    let paths = answer["findings"].as_array().unwrap().iter().filter(|finding| finding["id"] != "SM311");
    let mut paths: Vec<_> = paths.map(|finding| finding["path"].as_str().unwrap().to_owned()).collect();
    paths.dedup();
    (paths, answer["artifacts"].as_u64().unwrap())
}

fn assert_finds(run: &Run, paths: &[&str], artifacts: u64) {
    let (found, count) = findings(run);
    assert_eq!((found, count), (paths.iter().map(|path| (*path).to_owned()).collect(), artifacts), "{run}");
    assert_eq!(run.code, i32::from(!paths.is_empty()), "{run}");
}

#[test]
fn the_index_counts_and_not_the_work_tree() {
    let Some(repository) = repository("check --staged") else { return };
    assert_finds(&staged(&repository), &[], 0);
    repository.sandbox.write("docs/prd.md", BAD);
    assert_finds(&staged(&repository), &[], 0);
    repository.git(&["add", "docs/prd.md"]);
    repository.sandbox.write("docs/prd.md", GOOD);
    assert_finds(&staged(&repository), &["docs/prd.md"], 1);
    repository.git(&["add", "docs/prd.md"]);
    repository.sandbox.write("docs/prd.md", BAD);
    assert_finds(&staged(&repository), &[], 0);
    fs::remove_file(repository.sandbox.place("docs/prd.md")).unwrap();
    repository.sandbox.write("docs/new.md", BAD);
    repository.git(&["add", "docs/new.md"]);
    fs::remove_file(repository.sandbox.place("docs/new.md")).unwrap();
    assert_finds(&staged(&repository), &["docs/new.md"], 1);
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let Some(repository) = Repository::empty("first commit") else { return };
    assert_finds(&staged(&repository), &[], 0);
    repository.sandbox.write("docs/prd.md", BAD);
    repository.sandbox.write("README.md", "# No artifact\n");
    repository.git(&["add", "--all"]);
    assert_finds(&staged(&repository), &["docs/prd.md"], 1);
}

#[test]
fn renames_deletions_and_odd_names() {
    let Some(repository) = repository("renames") else { return };
    let odd = "docs/Über uns/a \"b\"\tc.md";
    repository.sandbox.write(odd, BAD);
    repository.git(&["mv", "docs/prd.md", "docs/needs.md"]);
    repository.git(&["add", "--all"]);
    assert_finds(&staged(&repository), &[odd], 2);
    repository.commit("two");
    repository.git(&["rm", "--quiet", odd]);
    repository.git(&["mv", "docs/needs.md", "docs/needs.txt"]);
    assert_finds(&staged(&repository), &["docs/needs.md", odd], 2);
}

#[test]
fn what_is_no_artifact_is_passed_over() {
    let Some(repository) = repository("no artifacts") else { return };
    repository.sandbox.write("notes.txt", BAD);
    repository.sandbox.write("node_modules/x/prd.md", BAD);
    repository.sandbox.write("readme.md", "# Only text\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("docs/prd.md", repository.sandbox.place("link.md")).unwrap();
    repository.git(&["add", "--all", "--force"]);
    let head = repository.git(&["rev-parse", "HEAD"]);
    repository.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},sub.md")]);
    assert_finds(&staged(&repository), &[], 0);
}

#[test]
fn the_configuration_is_the_staged_one() {
    let Some(repository) = repository("staged configuration") else { return };
    repository.sandbox.write("docs/prd.md", BAD);
    repository.sandbox.write(".stepmark/config.yaml", "artifacts: {exclude: ['docs/']}\n");
    repository.git(&["add", "--all"]);
    repository.sandbox.write(".stepmark/config.yaml", "artifacts: [this is no map\n");
    assert_finds(&staged(&repository), &[], 0);
    repository.git(&["rm", "--quiet", "--cached", "--force", ".stepmark/config.yaml"]);
    assert_finds(&staged(&repository), &["docs/prd.md"], 1);
    repository.git(&["add", ".stepmark/config.yaml"]);
    let run = staged(&repository);
    assert_eq!(run.code, 4, "{run}");
    assert!(run.stderr.contains("config.yaml"), "{run}");
}

#[test]
fn a_hook_sees_the_index_of_its_own_commit() {
    let Some(repository) = repository("GIT_INDEX_FILE") else { return };
    repository.add_hook("pre-commit", "stepmark check --staged");
    repository.sandbox.write("docs/prd.md", BAD);
    repository.sandbox.write("docs/ux.md", GOOD);
    repository.git(&["add", "docs/ux.md"]);
    let commit =
        |arguments: &[&str]| repository.try_git(&[&["commit", "--message", "x"], arguments].concat());
    let run = commit(&["--all"]);
    assert_ne!(run.code, 0, "commit --all stages by itself: {run}");
    assert!(run.to_string().contains("SM106"), "{run}");
    let run = commit(&["--only", "docs/prd.md"]);
    assert_ne!(run.code, 0, "a commit of one path has an index of its own: {run}");
    let run = commit(&["--only", "docs/ux.md"]);
    assert_eq!(run.code, 0, "the other file is not part of it: {run}");
}

#[test]
fn a_project_in_a_folder_of_a_linked_worktree() {
    let Some(repository) = Repository::empty("worktree") else { return };
    repository.sandbox.write("apps/shop/.stepmark/config.yaml", "");
    repository.sandbox.write("apps/shop/docs/prd.md", GOOD);
    repository.sandbox.write("docs/prd.md", GOOD);
    repository.commit("one");
    repository.add_hook("pre-commit", "cd apps/shop && stepmark check --staged");
    let worktree = repository.sandbox.outside().join("tree");
    repository.git(&["worktree", "add", "--quiet", worktree.to_str().unwrap(), "-b", "other"]);
    for (path, code) in [("docs/prd.md", 0), ("apps/shop/docs/prd.md", 1)] {
        fs::write(worktree.join(path), BAD).unwrap();
        let run =
            repository.try_git(&["-C", worktree.to_str().unwrap(), "commit", "-q", "-m", "x", "--", path]);
        assert_eq!(run.code, code, "{path}: {run}");
        assert!(code == 0 || format!("{run}").contains(" docs/prd.md:"), "as the project sees it: {run}");
    }
}

#[test]
fn a_merge_is_checked_for_what_it_makes_itself() {
    let Some(repository) = repository("merge") else { return };
    repository.git(&["switch", "--quiet", "-c", "other"]);
    repository.sandbox.write("docs/theirs.md", BAD);
    repository.sandbox.write("docs/prd.md", GOOD.replace("[1, 2]", "[1, 2, 3]"));
    repository.commit("theirs");
    repository.git(&["switch", "--quiet", "main"]);
    repository.sandbox.write("docs/prd.md", GOOD.replace("[1, 2]", "[1, 2, 4]"));
    repository.commit("ours");
    let merged = repository.try_git(&["merge", "other"]);
    assert_eq!(merged.code, 1, "{merged}");
    let run = staged(&repository);
    assert_eq!(run.code, 4, "{run}");
    assert!(run.stdout.contains("a merge left `docs/prd.md` in conflict"), "{run}");
    repository.sandbox.write("docs/prd.md", BAD);
    repository.git(&["add", "--all"]);
    assert_finds(&staged(&repository), &["docs/prd.md"], 1);
}

#[test]
fn a_rebase_that_stops_is_checked_against_what_it_stands_on() {
    let Some(repository) = repository("rebase") else { return };
    repository.git(&["switch", "--quiet", "-c", "other"]);
    repository.sandbox.write("docs/prd.md", GOOD.replace("[1, 2]", "[1, 2, 3]"));
    repository.commit("theirs");
    repository.git(&["switch", "--quiet", "main"]);
    repository.sandbox.write("docs/prd.md", GOOD.replace("[1, 2]", "[1, 2, 4]"));
    repository.commit("ours");
    assert_ne!(repository.try_git(&["rebase", "other"]).code, 0);
    repository.sandbox.write("docs/prd.md", BAD);
    repository.git(&["add", "--all"]);
    assert_finds(&staged(&repository), &["docs/prd.md"], 1);
}

#[test]
fn a_branch_is_checked_from_where_it_left() {
    let Some(repository) = repository("range") else { return };
    repository.git(&["switch", "--quiet", "-c", "feature"]);
    repository.sandbox.write("docs/feature.md", BAD);
    repository.commit("feature");
    repository.git(&["switch", "--quiet", "main"]);
    repository.sandbox.write("docs/later.md", BAD);
    repository.commit("later");
    repository.sandbox.write("docs/prd.md", BAD);
    let between = |from: &str, to: &str| {
        let (from, to) = (format!("--from={from}"), format!("--to={to}"));
        let arguments = ["check", "--json", &from, &to];
        repository.sandbox.changes_nothing(&mut repository.command(&arguments))
    };
    assert_finds(&between("main", "feature"), &["docs/feature.md"], 1);
    assert_finds(&between("feature", "HEAD"), &["docs/later.md"], 1);
    assert_finds(&between("feature", "feature"), &[], 0);
    let zeros = "0".repeat(40);
    assert_finds(&between("main", &zeros), &[], 0);
    assert_finds(&between(&zeros, "feature"), &["docs/feature.md"], 2);
    for (from, to) in [("nowhere", "HEAD"), ("--help", "HEAD"), ("HEAD", "nowhere")] {
        let run = between(from, to);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run}");
        assert!(run.stderr.contains("names no commit of this clone"), "{run}");
    }
    repository.git(&["switch", "--quiet", "--discard-changes", "--orphan", "elsewhere"]);
    repository.commit("no ancestor");
    assert!(between("main", "elsewhere").stderr.contains("no common ancestor"));
}

#[test]
fn a_new_branch_is_checked_from_what_a_remote_has() {
    let Some(repository) = repository("new branch") else { return };
    let remote = repository.sandbox.outside().join("remote.git");
    repository.git(&["clone", "--quiet", "--bare", ".", remote.to_str().unwrap()]);
    repository.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    repository.git(&["fetch", "--quiet", "origin"]);
    repository.sandbox.write("docs/feature.md", BAD);
    repository.commit("feature");
    let zeros = "0".repeat(40);
    let run = repository.stepmark(&["check", "--json", "--from", &zeros]);
    assert_finds(&run, &["docs/feature.md"], 1);
    let run = repository.stepmark(&["check", "--json", "--from", &zeros, "--to", "origin/main"]);
    assert_finds(&run, &[], 0);
}

#[test]
fn without_git_or_a_repository_it_says_so() {
    let Some(repository) = repository("without git") else { return };
    let run = repository.sandbox.reads_only(&["check", "--staged"]);
    assert_eq!((run.code, run.stdout.as_str()), (4, ""), "{run}");
    assert!(run.stderr.contains("cannot run `git`"), "{run}");
    fs::rename(repository.sandbox.place(".git"), repository.sandbox.place("kept")).unwrap();
    let run = repository.stepmark(&["check", "--staged"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run}");
    assert!(run.stderr.contains("is in no git repository"), "{run}");
    for arguments in [
        &["check", "--staged", "docs"][..],
        &["check", "--staged", "--from", "HEAD"],
        &["check", "--to", "HEAD"],
    ] {
        assert_eq!(repository.stepmark(arguments).code, 2, "{arguments:?}");
    }
}

#[test]
fn a_repository_that_is_damaged_is_an_error() {
    let Some(repository) = repository("damaged") else { return };
    repository.sandbox.write("docs/prd.md", BAD);
    repository.git(&["add", "--all"]);
    let object = repository.git(&["rev-parse", ":docs/prd.md"]);
    fs::remove_file(repository.sandbox.place(&format!(".git/objects/{}/{}", &object[..2], &object[2..])))
        .unwrap();
    let run = repository.stepmark(&["check", "--staged"]);
    assert_eq!(run.code, 4, "{run}");
    assert!(run.stderr.contains("is not in this clone"), "{run}");
    repository.sandbox.write(".git/index", "no index");
    let run = repository.stepmark(&["check", "--staged"]);
    assert_eq!(run.code, 4, "{run}");
    assert!(run.stderr.contains("failed: "), "{run}");
}

#[test]
fn other_hashes_and_many_files() {
    let Some(repository) = Repository::empty("sha256") else { return };
    fs::remove_dir_all(repository.sandbox.place(".git")).unwrap();
    let mut init = Command::new("git");
    init.args(["init", "--quiet", "--object-format=sha256"]).current_dir(repository.sandbox.root());
    if !init.status().is_ok_and(|status| status.success()) {
        return crate::harness::skip("sha256", "git that knows SHA-256");
    }
    for number in 0..200 {
        repository.sandbox.write(&format!("docs/{number:03}.md"), if number == 7 { BAD } else { GOOD });
    }
    repository.git(&["add", "--all"]);
    assert_finds(&staged(&repository), &["docs/007.md"], 200);
}

#[test]
fn a_staged_ledger_is_held_against_specs_of_stories() {
    let Some(repository) = repository("staged ledger of specs") else { return };
    let write = |path: &str, text: &str| repository.sandbox.write(path, text);
    write("docs/spec-2-1-plan.md", "---\nstatus: in-progress\n---\n# Plan\n");
    write("docs/sprint-status.yaml", "development_status:\n  2-1-plan: in-progress\n");
    repository.commit("spec");
    write("docs/sprint-status.yaml", "development_status:\n  2-1-plan: done\n");
    repository.git(&["add", "-A"]);
    assert_finds(&staged(&repository), &["docs/spec-2-1-plan.md"], 0);
}

#[test]
fn a_staged_ledger_is_held_against_the_stories_of_the_index() {
    let Some(repository) = repository("staged ledger") else { return };
    let write = |path: &str, text: &str| repository.sandbox.write(path, text);
    let ledger = |status: &str| format!("development_status:\n  1-1-switch: {status}\n  1-2-dim: done\n");
    write("docs/stories/1-1-switch.md", "# Story 1.1: Switch\n\nStatus: review\n");
    // This one disagrees from the start: it is no business of a change that leaves its line alone.
    write("docs/stories/1-2-dim.md", "# Story 1.2: Dim\n\nStatus: review\n");
    write("docs/sprint-status.yaml", &ledger("review"));
    repository.commit("stories");
    write("docs/sprint-status.yaml", &ledger("done"));
    assert_finds(&staged(&repository), &[], 0);
    repository.git(&["add", "-A"]);
    write("docs/stories/1-1-switch.md", "# Story 1.1: Switch\n\nStatus: done\n");
    assert_finds(&staged(&repository), &["docs/stories/1-1-switch.md"], 0);
    repository.git(&["add", "-A"]);
    assert_finds(&staged(&repository), &[], 1);
    write("docs/sprint-status.yaml", "development_status:\n  a: b: c\n");
    repository.git(&["add", "-A"]);
    assert_finds(&staged(&repository), &["docs/sprint-status.yaml"], 1);
}

#[test]
fn the_chains_of_what_is_staged_are_those_of_the_index() {
    let Some(repository) = repository("staged chains") else { return };
    let write = |path: &str, text: &str| repository.sandbox.write(path, text);
    let parent = |status: &str| format!("---\nid: a\nstatus: {status}\n---\n# A\n");
    let child = |status: &str, parent: &str| {
        format!(
            "---\nstatus: {status}\ndelegation: {{id: b, parent_id: {parent}, root_id: a, depth: 1, chain_path: [a, b]}}\n---\n# B\n"
        )
    };
    write("docs/a.md", &parent("in-progress"));
    write("docs/a.delegations/b.md", &child("todo", "a"));
    repository.commit("chain");
    // The parent is finished before its child.
    write("docs/a.md", &parent("done"));
    repository.git(&["add", "-A"]);
    write("docs/a.delegations/b.md", &child("done", "a"));
    assert_finds(&staged(&repository), &["docs/a.md"], 1);
    repository.git(&["add", "-A"]);
    assert_finds(&staged(&repository), &[], 2);
    repository.commit("finished");
    // The child is opened again: its parent, which is not staged, is the one that is wrong.
    write("docs/a.delegations/b.md", &child("todo", "a"));
    repository.git(&["add", "-A"]);
    let (found, count) = findings(&staged(&repository));
    assert_eq!((found.contains(&"docs/a.md".to_owned()), count), (true, 1), "{found:?}");
    repository.git(&["reset", "--hard", "--quiet"]);
    // A parent that goes leaves its child alone.
    repository.git(&["rm", "--quiet", "docs/a.md"]);
    let (found, _) = findings(&staged(&repository));
    assert!(found.contains(&"docs/a.delegations/b.md".to_owned()), "{found:?}");
}

#[test]
fn a_staged_artifact_and_its_row_of_the_manifest_in_the_index() {
    let Some(repository) = repository("staged manifest") else { return };
    let manifest = |place: &Repository| assert_eq!(place.sandbox.stepmark(&["manifest", "write"]).code, 0);
    manifest(&repository);
    repository.commit("manifest");
    repository.sandbox.write("docs/prd.md", GOOD.replace("# PRD", "# The PRD"));
    repository.git(&["add", "docs/prd.md"]);
    manifest(&repository);
    let run = staged(&repository);
    assert_eq!(findings(&run), (vec!["docs/prd.md".to_owned()], 1), "{run}");
    assert_eq!(run.code, 0, "a note: {run}");
    repository.git(&["add", "-A"]);
    assert_finds(&staged(&repository), &[], 1);
}

/// Git would unpack a long manifest slowly: the work tree's is taken for it, where it is the same.
#[test]
fn a_long_manifest_of_the_work_tree_counts_where_it_is_that_of_the_index() {
    const MANIFEST: &str = ".stepmark/manifests/files-manifest.csv";
    let Some(repository) = repository("staged long manifest") else { return };
    assert_eq!(repository.sandbox.stepmark(&["manifest", "write"]).code, 0);
    let rows = |prefix: &str| -> String {
        let row = |number| format!("\"md\",\"{number}\",\"docs\",\"docs/{prefix}{number}.md\",\"\"\n");
        (0..6_000).map(row).collect()
    };
    let manifest = fs::read_to_string(repository.sandbox.place(MANIFEST)).unwrap();
    let without_row: String = manifest.lines().take(1).map(|line| format!("{line}\n")).collect();
    let (stale, without_row) = (manifest + &rows("a"), without_row + &rows("b"));
    repository.sandbox.write(MANIFEST, &stale);
    repository.commit("manifest");
    repository.sandbox.write("docs/prd.md", GOOD.replace("# PRD", "# The PRD"));
    repository.git(&["add", "docs/prd.md"]);
    let rules = |run: &Run| -> Vec<String> {
        let answer = run.json("stepmark.check/1");
        let findings = answer["findings"].as_array().unwrap().iter();
        findings.map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(rules(&staged(&repository)), ["SM802"], "the same in both");
    repository.sandbox.write(MANIFEST, &without_row);
    assert_eq!(rules(&staged(&repository)), ["SM802"], "the index counts");
    repository.git(&["add", MANIFEST]);
    assert_eq!(rules(&staged(&repository)), ["SM801"], "the same in both again");
    fs::remove_file(repository.sandbox.place(MANIFEST)).unwrap();
    assert_eq!(rules(&staged(&repository)), ["SM801"], "the index counts still");
}

#[test]
fn who_names_an_artifact_that_is_gone_is_told() {
    let Some(repository) = repository("names one that is gone") else { return };
    let names =
        |document: &str| format!("---\nstatus: draft\ninputDocuments: [{document}, gone-before.md]\n---\n");
    repository.sandbox.write("docs/ux.md", names("prd.md"));
    repository.sandbox.write("docs/other.md", names("notes/prd.md"));
    repository.sandbox.write("docs/notes/prd.md", "# Notes\n");
    repository.commit("two");
    let run = repository.stepmark(&["remove", "docs/prd.md", "--reason", "split"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("docs/ux.md names it") && !run.stderr.contains("other.md"), "{run}");
    repository.git(&["add", "--all"]);
    assert_eq!(repository.stepmark(&["journal", "seal", "--stage"]).code, 0);
    let run = repository.stepmark(&["check", "--staged", "--format", "short"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stdout.contains("docs/ux.md:3:18: warning SM402 `prd.md`"), "{run}");
    assert_eq!(run.stdout.matches("SM402").count(), 1, "what was missing before is no news: {run}");
    // The same for one that was moved.
    repository.git(&["reset", "--quiet", "--hard", "HEAD"]);
    repository.git(&["mv", "docs/prd.md", "docs/needs.md"]);
    let run = repository.stepmark(&["check", "--staged", "--format", "short"]);
    assert!(run.code == 1 && run.stdout.matches("SM402").count() == 1, "{run}");
}

/// A person may accept after the fact what no chain of moves explains, with or without history before.
#[test]
fn what_was_done_by_hand_is_accepted_with_a_reason() {
    let Some(repository) = Repository::empty("accepted with a reason") else { return };
    let sandbox = &repository.sandbox;
    sandbox.write(".stepmark/config.yaml", "artifacts:\n  include: ['docs/**/*.md']\n");
    sandbox.write("docs/1-1-x.md", "---\nstatus: done\n---\n# Story 1.1\n");
    sandbox.write("docs/prd.md", "---\nstatus: draft\nstepsCompleted: [1, 2, 3]\n---\n");
    repository.commit("start");
    sandbox.write("docs/1-1-x.md", "---\nstatus: review\n---\n# Story 1.1\n");
    sandbox.write("docs/prd.md", "---\nstatus: draft\nstepsCompleted: [1, 2]\n---\n");
    repository.git(&["add", "--all"]);
    let refused = repository.stepmark(&["check", "--staged"]);
    assert!(
        refused.code == 1 && refused.stdout.contains("SM901") && refused.stdout.contains("SM902"),
        "{refused}"
    );
    for change in [["transition", "docs/1-1-x.md", "review"], ["set", "docs/prd.md", "stepsCompleted=[1, 2]"]]
    {
        let run = repository.stepmark(&[&change[..], &["--force", "--reason", "by hand"]].concat());
        assert!(
            run.code == 0 && run.stdout.contains("what other programs changed is accepted: by hand"),
            "{run}"
        );
        let again = repository.stepmark(&[&change[..], &["--force", "--reason", "by hand"]].concat());
        assert!(again.code == 0 && !again.stdout.contains("accepted"), "once: {again}");
    }
    assert_eq!(repository.stepmark(&["journal", "seal", "--before-commit"]).code, 0);
    let passed = repository.stepmark(&["check", "--staged"]);
    assert_eq!(passed.code, 0, "{passed}");
    assert!(repository.stepmark(&["log"]).stdout.contains("status done → review  (by hand)"));
}

#[test]
fn what_was_wrong_before_stops_no_commit() {
    let Some(repository) = Repository::empty("wrong before") else { return };
    let sandbox = &repository.sandbox;
    sandbox.write(".stepmark/config.yaml", "artifacts:\n  include: ['docs/**/*.md']\n");
    let old = "---\nstatus: draft\nstatus: final\nstepsCompleted: [1, 2, 2]\n---\n";
    sandbox.write("docs/prd.md", old);
    repository.commit("start");
    sandbox.write("docs/prd.md", format!("{old}more\n"));
    repository.git(&["add", "--all"]);
    let run = repository.stepmark(&["check", "--staged"]);
    assert!(run.code == 0 && run.stdout.contains("2 there before"), "{run}");
    sandbox.write("docs/prd.md", old.replace("2, 2]", "2, 2, 2]"));
    sandbox.write("docs/new.md", old);
    repository.git(&["add", "--all"]);
    let run = repository.stepmark(&["check", "--staged"]);
    assert!(
        run.code == 1 && run.stdout.contains("docs/new.md") && run.stdout.contains("docs/prd.md:4"),
        "{run}"
    );
}

/// The order of tickets is judged as it is staged, whichever file of the tree was changed.
#[test]
fn staged_tickets_are_held_to_their_rules() {
    let Some(repository) = Repository::empty("check --staged of tickets") else { return };
    let sandbox = &repository.sandbox;
    let epic = "_bmad-output/shop/epic-cart";
    let (list, plan) = (format!("{epic}/tickets.toml"), format!("{epic}/story-pay-plan.md"));
    let entry = |id: u32, after: &str| {
        format!("[[entry]]\nid = {id}\ntype = \"story\"\ntitle = \"Part {id}\"\nafter = [{after}]\n\n")
    };
    sandbox.write("_bmad-output/shop/tickets.toml", "[[epic]]\nid = 1\nslug = \"epic-cart\"\n");
    sandbox.write(&list, entry(1, "") + &entry(2, "7"));
    repository.commit("an unknown reference, which is old");
    let stage = |path: &str, text: &str| {
        let in_work_tree = sandbox.read(&list);
        sandbox.write(path, text);
        repository.git(&["add", path]);
        sandbox.write(&list, in_work_tree);
        staged(&repository)
    };
    assert_finds(&stage("notes.md", "nothing of the tree\n"), &[], 0);
    for (text, place, said) in [
        ("[[entry]]\nid = \n".to_owned(), "2:6", "TOML"),
        (entry(1, "") + &entry(1, "") + &entry(2, "7"), "8:6", "the id 1"),
        (entry(1, "2") + &entry(2, "1"), "5:10", "lead back"),
        (entry(1, "8") + &entry(2, "7"), "5:10", "8"),
    ] {
        assert_finds(&stage(&list, &text), &[&list], 0);
        let short = repository.stepmark(&["check", "--staged", "--format", "short"]).stdout;
        let is_meant = |line: &str| line.starts_with(&format!("{list}:{place}")) && line.contains(said);
        assert!(short.lines().any(is_meant) && !short.contains("`7`"), "{short}");
    }
    stage(&list, &(entry(1, "") + &entry(2, "7")));
    assert_finds(&stage(&plan, "---\nticket: 1\nstatus: draft\n---\n"), &[], 1);
    let second = format!("{epic}/other-plan.md");
    let run = stage(&second, "---\nticket: 1\nstatus: draft\n---\n");
    assert!(run.code == 1 && run.stdout.contains("SMB01"), "two plans of one ticket: {run}");
}
