//! Packs that a project declares, from the file to the commit.

use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::harness::{Repository, Run, Sandbox};

/// The examples of the book.
const BACKLOG: &str = include_str!("../../../docs/packs/backlog.yaml");
const ADR: &str = include_str!("../../../docs/packs/adr.yaml");
const REVIEW: &str = include_str!("../../../docs/packs/review.yaml");

fn with(packs: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::empty();
    assert_eq!(sandbox.stepmark(&["init"]).code, 0);
    for (name, text) in packs {
        sandbox.write(&format!(".stepmark/packs/{name}.yaml"), text);
    }
    sandbox
}

fn text(sandbox: &Sandbox, path: &str) -> String {
    String::from_utf8(sandbox.read(path)).unwrap()
}

/// Runs a line as a person would type it.
fn run(sandbox: &Sandbox, line: &str) -> Run {
    sandbox.stepmark(&line.split(' ').map(|word| word.trim_matches('\'')).collect::<Vec<_>>())
}

fn refused(sandbox: &Sandbox, line: &str) -> String {
    let run = run(sandbox, line);
    assert_eq!(run.code, 1, "{run}");
    run.stderr
}

#[test]
fn a_new_pack_works_as_it_is() {
    let sandbox = with(&[]);
    assert_eq!(run(&sandbox, "pack new work").code, 0);
    assert_eq!(run(&sandbox, "pack check").code, 0);
    let before = "---\nid: W-1 # ours\nstatus: todo\n---\nText\n";
    sandbox.write("work/one.md", before);
    let status = run(&sandbox, "status");
    assert!(status.stdout.contains("work start W-1"), "{status}");
    let started = run(&sandbox, "work start W-1 --actor agent:ada");
    assert_eq!(started.code, 0, "{started}");
    let after = text(&sandbox, "work/one.md");
    assert!(after.starts_with("---\nid: W-1 # ours\nstatus: doing\nassignee: ada\nstarted_at: '"), "{after}");
    let event = run(&sandbox, "log work/one.md --json").json("stepmark.log/1")["events"][0]["id"].clone();
    assert_eq!(run(&sandbox, &format!("undo {}", event.as_str().unwrap())).code, 0);
    assert_eq!(text(&sandbox, "work/one.md"), before, "undo gives the bytes back");
    assert_eq!(run(&sandbox, "check").code, 0);
    let again = run(&sandbox, "pack new work");
    assert_ne!(again.code, 0, "{again}");
}

#[test]
fn a_refusal_names_all_that_is_missing_and_commands_that_work() {
    let sandbox = with(&[("review", REVIEW)]);
    sandbox.write("docs/pages/a.md", "---\nid: P-1\nauthor: human:Ada\nstatus: draft\n---\n");
    let told = refused(&sandbox, "review publish P-1 --evidence build --actor human:Bea");
    assert!(told.contains("it is `draft`, and `publish` is for what is `review`"), "{told}");
    assert!(told.contains("help: `stepmark review submit P-1`"), "{told}");
    let told = refused(&sandbox, "review submit P-1 --actor human:Bea");
    assert!(told.contains("`author` is `human:Ada`, not `Bea`"), "{told}");
    assert_eq!(run(&sandbox, "review submit P-1 --actor human:Ada").code, 0);
    let told = refused(&sandbox, "review publish P-1 --evidence build --actor human:Ada");
    assert!(told.contains("another one makes it (`other-than(author)`)"), "{told}");
    assert!(told.contains("`stepmark review return P-1 --reason TEXT`"), "{told}");
    let told = refused(&sandbox, "review publish P-1 --evidence build --actor agent:bot");
    assert!(told.contains("only a person makes it, and `agent:bot` is none"), "{told}");
    assert_eq!(run(&sandbox, "review publish P-1 --actor human:Bea").code, 2, "evidence is needed");
    assert_eq!(
        run(&sandbox, "review publish P --evidence build --actor human:Bea").code,
        0,
        "the beginning of an id"
    );
    let page = text(&sandbox, "docs/pages/a.md");
    assert!(
        page.contains("status: published\nreviewer: human:Bea\n") && page.contains("evidence: build"),
        "{page}"
    );
    assert_eq!(run(&sandbox, "check").code, 0);
}

/// `check` finds an edit by hand; moves go on when a person has accepted it.
#[test]
fn a_pack_counts_only_what_was_recorded() {
    let pack = "pack: work\nhand_edits: recorded\nkinds:\n  item:\n    applies_to: [{path: 'work/*.md'}]\n    by_moves: [note]\n    \
                states: [{name: todo}, {name: doing}, {name: asked, waits_for: person}, {name: done, terminal: true}]\n    \
                transitions: [{from: asked, to: done, guards: [filled(note), filled(owner)]}]\n    \
                moves: {start: {from: todo, to: doing}, ask: {from: doing, to: asked}, note: {from: asked, set: {note: $agent}}}\n";
    let sandbox = with(&[("work", pack)]);
    sandbox.write("work/a.md", "---\nid: a\nstatus: todo\n---\n");
    assert_eq!(run(&sandbox, "item start a").code, 0);
    sandbox.write("work/a.md", text(&sandbox, "work/a.md").replace("id: a", "id: a\nsize: 3"));
    let check = run(&sandbox, "check");
    assert!(check.code == 1 && check.stdout.contains("SMP11"), "{check}");
    assert!(refused(&sandbox, "item ask a").contains("no recorded change led to this state"));
    assert_eq!(run(&sandbox, "set work/a.md size=4 --force --reason 'mine'").code, 0);
    assert_eq!((run(&sandbox, "check").code, run(&sandbox, "item ask a").code), (0, 0));
    assert_eq!(run(&sandbox, "next").code, 8, "a person goes on");
    let missing = refused(&sandbox, "transition work/a.md done");
    assert!(
        missing.contains("`filled(note)`: ") && missing.contains("; and with `filled(owner)`: "),
        "{missing}"
    );
    assert!(
        refused(&sandbox, "set work/a.md note=x --actor agent:w").contains("`note` changes by moves alone")
    );
    assert_eq!(run(&sandbox, "item note a --actor agent:w").code, 0);
    sandbox.write(".stepmark/packs/work.yaml", pack.replace("by_moves: [note]", "writers: lead"));
    assert!(
        refused(&sandbox, "item note a").contains("only the role `lead` changes it"),
        "moves are for it too"
    );
}

#[test]
fn a_state_gets_another_name_with_history() {
    let pack = "pack: work\nkinds: {item: {applies_to: [{path: 'work/*.md'}], renamed: {doing: active}, \
                states: [{name: todo}, {name: active}, {name: done, terminal: true}], \
                moves: {start: {from: todo, to: active}, finish: {from: active, to: done}}}}\n";
    let sandbox = with(&[("work", pack)]);
    for id in ["a", "b"] {
        sandbox.write(&format!("work/{id}.md"), format!("---\nid: {id} # ours\nstatus: Doing\n---\n"));
    }
    assert_eq!(run(&sandbox, "item finish a").code, 0, "the old name is read");
    let renamed = run(&sandbox, "pack check --rename");
    assert_eq!((renamed.code, renamed.stdout.contains("work/b.md: Doing → active")), (0, true), "{renamed}");
    assert_eq!(text(&sandbox, "work/b.md"), "---\nid: b # ours\nstatus: active\n---\n");
    assert!(run(&sandbox, "log work/b.md").stdout.contains("the state `Doing` is called `active` now"));
    sandbox.write(".stepmark/packs/work.yaml", pack.replace("doing: active", "doing: ative"));
    let wrong = run(&sandbox, "pack check");
    assert!(wrong.code == 4 && wrong.stderr.contains("there is no state `ative`"), "{wrong}");
}

#[test]
fn tasks_of_backlog_md_wait_for_their_dependencies() {
    let sandbox = with(&[("backlog", BACKLOG)]);
    let task = |id: &str, status: &str, more: &str| {
        let text = format!("---\nid: {id}\ntitle: Task\nstatus: {status}\nassignee: []\n{more}---\n");
        sandbox.write(&format!("backlog/tasks/{id} - x.md"), text);
    };
    task("task-1", "To Do", "");
    task("task-2", "To Do", "dependencies: [task-1]\n");
    let told = refused(&sandbox, "backlog start task-2 --actor agent:w");
    assert!(told.contains("open: `task-1` (`dependencies-done(dependencies)`)"), "{told}");
    for line in [
        "backlog start task-1 --actor agent:w",
        "backlog finish task-1 --actor agent:w",
        "backlog start task-2 --actor agent:w",
    ] {
        assert_eq!(run(&sandbox, line).code, 0, "{line}");
    }
    assert!(text(&sandbox, "backlog/tasks/task-2 - x.md").contains("status: In Progress\nassignee: [w]\n"));
    let told = refused(&sandbox, "backlog finish task-2 --actor agent:other");
    assert!(told.contains("`assignee` is `w`, not `other`"), "{told}");
    // By hand it is judged as by a command.
    let told = refused(&sandbox, "set backlog/tasks/task-2 status=Done");
    assert!(told.contains("holder(assignee)"), "{told}");
    assert!(!run(&sandbox, "check").stdout.contains("SMP15"));
    let later = sandbox.run(sandbox.command(&["check"]).env("STEPMARK_TEST_TIME", "2100-01-01T00:00:00Z"));
    let told = "SMP15]: `w` has it, and nothing happened for more than 14 days";
    assert!(later.code == 0 && later.stdout.contains(told), "{later}");
    task("task-3", "Started", "due: 1\n");
    let found = run(&sandbox, "check");
    assert!(found.code == 1 && found.stdout.contains("no state `Started`"), "{found}");
}

#[test]
fn a_decision_is_superseded_by_one_that_is_there() {
    let sandbox = with(&[("adr", ADR)]);
    sandbox.write("docs/adr/0001-store.md", "---\nstatus: proposed\ndate: 2020-01-01\n---\n# Store\n");
    sandbox.write("docs/adr/0002-git.md", "---\nid: '0002'\nstatus: proposed\n---\n# Git\n");
    assert_eq!(run(&sandbox, "adr accept 0001-store --actor human:Ada").code, 0);
    assert!(!text(&sandbox, "docs/adr/0001-store.md").contains("2020"), "the date of the move");
    let told = refused(&sandbox, "adr supersede 0001-store --new 0009 --actor human:Ada");
    assert!(told.contains("`superseded_by` names `0009`, and no artifact has that id"), "{told}");
    assert_eq!(run(&sandbox, "adr supersede 0001-store --new 0002 --actor human:Ada").code, 0);
    sandbox.write("docs/adr/0003-x.md", "---\nstatus: proposed\ndate: soon\n---\n");
    let found = run(&sandbox, "check");
    assert!(
        found.stdout.contains("SMP07") && found.stdout.contains("`date` is \"soon\", and time is wanted"),
        "{found}"
    );
}

/// Names of others and rules between artifacts: `check` finds what is wrong, and no command writes it.
#[test]
fn what_artifacts_say_of_each_other_is_held_against_the_pack() {
    let sandbox = with(&[("backlog", BACKLOG)]);
    let write = |id: &str, own: &str, more: &str| {
        let text = format!("---\nid: {own}\ntitle: T\nstatus: To Do\n{more}---\n");
        sandbox.write(&format!("backlog/tasks/{id} - x.md"), text);
    };
    write("task-1", "task-1", "priority: high\n");
    write("task-2", "task-2", "ordinal: 20\ndependencies: [task-1]\n");
    write("task-3", "task-3", "ordinal: 3\n");
    assert_eq!(run(&sandbox, "check").code, 0);
    let next = run(&sandbox, "next");
    let place = |id: &str| next.stdout.find(id);
    assert!(place("task-3") < place("task-2") && place("task-2") < place("task-1"), "by ordinal\n{next}");
    for (line, expected) in [
        (
            "set task-1 dependencies=[task-9]",
            "`dependencies` names `task-9`, and there is no backlog-task of that name",
        ),
        ("set task-1 dependencies=[task-2]", "`dependencies` leads in a circle"),
        ("set task-3 id=task-1", "`id` is `task-1`, and that of `backlog/tasks/task-1 - x.md` is the same"),
    ] {
        let told = refused(&sandbox, line);
        assert!(told.contains(expected), "{line}\n{told}");
    }
    write("task-1", "task-1", "priority: urgent\ndependencies: [task-2]\n");
    write("task-3", "task-2", "dependencies: [task-8]\n");
    let found = run(&sandbox, "check");
    for (rule, expected) in [
        ("SMP07", "`priority` is `urgent`, and one of `high`, `medium` and `low` is wanted"),
        ("SMP12", "`dependencies` names `task-8`"),
        ("SMP12", "`dependencies` names `task-2`, and 2 of the kind backlog-task have that name"),
        ("SMP14", "`id` is `task-2`"),
    ] {
        assert!(found.stdout.contains(rule) && found.stdout.contains(expected), "{rule} {expected}\n{found}");
    }
    write("task-3", "task-3", "");
    let found = run(&sandbox, "check backlog/tasks/task-1");
    assert!(found.stdout.contains("SMP13"), "a file alone\n{found}");
}

/// Rows of another program become artifacts, checked like what is typed, and what nobody decided on stays.
#[test]
fn rows_of_a_table_become_artifacts() {
    let sandbox = with(&[("backlog", BACKLOG)]);
    let first = "---\nid: task-1 # ours\ntitle: One\nstatus: To Do\nassignee: [Ada]\n---\nBody\n";
    sandbox.write("backlog/tasks/task-1 - One.md", first);
    sandbox.write("backlog/tasks/7-a.md", first.replace("task-1", "7-a"));
    sandbox.write("backlog/tasks/7-b.md", first.replace("task-1", "7-b"));
    let import = |file: &str, rows: &str, more: &str| {
        sandbox.write(file, rows);
        run(&sandbox, &format!("import pack backlog {file}{more}"))
    };
    for (file, rows, expected) in [
        ("a.json", r#"[{"id": "x", "title": "X", "status": "flying"}]"#, "row 1: `flying` is no state"),
        (
            "a.json",
            r#"[{"id": "x", "title": "X", "dependencies": "task-1"}]"#,
            "list of ref backlog-task is wanted",
        ),
        ("a.csv", "id,title,dependencies\nx,X,none\n", "`dependencies` names `none`"),
        ("a.csv", "id,title,dependencies\nx,X,y\ny,Y,x\n", "leads in a circle"),
        ("a.csv", "id,title\nx,X\nx,Y\n", "row 2: another row is `backlog/tasks/x.md` too"),
        ("a.csv", "path,id,title\nREADME.md,x,X\n", "is no backlog-task by `applies_to`"),
        ("a.csv", "path,id,title\n../x.md,x,X\n", "row 1:"),
        ("a.csv", "id,title\n7,X\n", "it may mean `backlog/tasks/7-a.md` or `backlog/tasks/7-b.md`"),
        ("a.csv", "priority\nhigh\n", "it says neither `path`, `id` nor `title`"),
        ("a.json", "{}", "it holds no list of objects"),
    ] {
        let told = import(file, rows, " --take file --actor human:Ada");
        assert!(told.code == 1 && told.stderr.contains(expected), "{rows}\n{told}");
    }
    let rows = "id,title,status,assignee,dependencies,estimate\ntask-1,One,In Progress,Ada; Bob,,3\ntask-2,\"A, B\",,,task-3,5\ntask-3,C,Done,,,\n";
    let told = import("rows.csv", rows, "");
    assert!(told.code == 1 && told.stderr.contains("nobody said which counts"), "{told}");
    assert!(told.stdout.contains("no such keys: estimate"), "{told}");
    assert!(!sandbox.root().join("backlog/tasks/task-2.md").exists());
    let told = import("rows.csv", rows, " --take file --actor agent:w");
    assert!(told.code != 0 && told.stderr.contains("is for a person"), "{told}");
    let told = import("rows.csv", rows, " --take file --actor human:Ada");
    assert!(told.code == 0 && told.stdout.contains("3 artifacts written"), "{told}");
    let wanted = first.replace("To Do", "In Progress").replace("[Ada]", "[Ada, Bob]");
    assert_eq!(text(&sandbox, "backlog/tasks/task-1 - One.md"), wanted, "the rest of it stays");
    let second = "---\nid: task-2\ntitle: A, B\ndependencies: [task-3]\nstatus: To Do\n---\n\n# A, B\n";
    assert_eq!(text(&sandbox, "backlog/tasks/task-2.md"), second);
    assert_eq!(run(&sandbox, "check").code, 0);
    let again = import("rows.csv", rows, " --json");
    let told: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!((again.code, &told["same"], &told["written"]), (0, &json!(3), &json!(0)));
}

/// What is there once is so within a pack, also where another one calls its kind the same.
#[test]
fn packs_do_not_share_their_values() {
    let pack = |name: &str| {
        format!(
            "pack: {name}\nkinds:\n  item:\n    command: {name}\n    applies_to: [{{path: '{name}/*.md'}}]\n    \
                 states: [{{name: open, initial: true}}, {{name: done, terminal: true}}]\n    \
                 rules: [{{use: unique, key: number}}, {{use: no-circle, key: after}}]\n    keys: {{after: ref item?}}\n"
        )
    };
    let sandbox = with(&[("one", &pack("one")), ("two", &pack("two"))]);
    for name in ["one", "two"] {
        sandbox.write(&format!("{name}/a.md"), "---\nid: A\nstatus: open\nnumber: 1\n---\n");
        sandbox.write(&format!("{name}/b.md"), "---\nid: B\nstatus: open\nnumber: 2\nafter: A\n---\n");
    }
    let found = run(&sandbox, "check");
    assert!(!["SMP12", "SMP13", "SMP14"].iter().any(|rule| found.stdout.contains(rule)), "{found}");
}

#[test]
fn a_pack_lists_its_artifacts_in_a_file() {
    let sandbox = with(&[("adr", ADR)]);
    for (name, title) in [("0002-b", "B"), ("0010-a", "A")] {
        sandbox.write(&format!("docs/adr/{name}.md"), format!("---\nstatus: proposed\n---\n# {title}\n"));
    }
    let index = || text(&sandbox, "docs/adr/index.csv");
    assert_eq!(run(&sandbox, "adr accept 0002-b --actor human:Ada").code, 0);
    let rows =
        "path,status,date,superseded_by\ndocs/adr/0002-b.md,accepted,,\ndocs/adr/0010-a.md,proposed,,\n";
    assert_eq!(index(), rows);
    assert_eq!(run(&sandbox, "adr supersede 2 --new 10 --actor human:Ada").code, 0, "by their numbers");
    assert_eq!(index().lines().nth(1), Some("docs/adr/0002-b.md,superseded,,10"));
    assert_eq!(run(&sandbox, "check").code, 0);
    sandbox.write("docs/adr/index.csv", rows);
    let found = run(&sandbox, "check");
    assert!(found.stdout.contains("SMP02") && found.stdout.contains("project --pack-files"), "{found}");
    let again = run(&sandbox, "project --pack-files");
    assert_eq!(again.code, 0, "{again}");
    assert_eq!(index().lines().nth(1), Some("docs/adr/0002-b.md,superseded,,10"));
    sandbox.write("docs/adr/index.csv", "path,mine\n");
    assert_eq!(run(&sandbox, "adr accept 0010-a --actor human:Ada").code, 0);
    assert_eq!(text(&sandbox, "docs/adr/index.csv.edited-2"), "path,mine\n", "what somebody wrote is kept");
    let sandbox = with(&[("adr", ADR)]);
    sandbox.write("docs/adr/index.csv", "name,mine\n");
    sandbox.write("docs/adr/1-a.md", "---\nstatus: proposed\n---\n");
    let moved = run(&sandbox, "adr accept 1-a --actor human:Ada");
    assert!(
        moved.code == 0 && moved.stderr.contains("a file is there that stepmark did not make"),
        "{moved}"
    );
    assert_eq!(text(&sandbox, "docs/adr/index.csv"), "name,mine\n");
}

#[test]
fn a_pack_of_a_stranger_is_judged_with_its_place_and_changes_nothing() {
    let kind = "kinds:\n  x:\n    applies_to: [{path: 'x/*.md'}]\n    states: [{name: a, initial: true}, {name: b, terminal: true}]\n";
    let moved = |text: &str| format!("pack: x\n{kind}    moves:\n      go: {text}\n");
    let long = format!("pack: x\nkinds:\n{}", (0..65).map(|n| format!("  k{n}: {{}}\n")).collect::<String>());
    for (pack, expected) in [
        (
            "pack: y\nkinds: {}\n".to_owned(),
            "x.yaml`:1:7 cannot be used: its name is `y`, and its file is called `x`",
        ),
        ("pack: x\nkinds: {a/b: {}}\n".to_owned(), "`a/b` is no name"),
        ("pack: x\nkinds: {x: {status: []}}\n".to_owned(), "unknown field `status`"),
        (
            "pack: x\nextends: none\nkinds: {}\n".to_owned(),
            "x.yaml`:2:10 cannot be used: there is no pack `none`",
        ),
        ("pack: x\nextends: x\nkinds: {}\n".to_owned(), "packs extend each other: x → x"),
        ("pack: bmad\nkinds: {}\n".to_owned(), "its name is `bmad`"),
        (long, "it has 65 kinds, and 64 are the most"),
        (moved("{from: a, to: c}"), "x.yaml`:7:25 cannot be used: in the kind `x` of the pack `x`"),
        (moved("{from: a, to: b, guards: [run(rm)]}"), "`run(rm)` is no guard"),
        (moved("{from: a, to: b, set: {k: $actr}}"), "there is no `$actr`: is `$actor` meant?"),
        (moved("{from: a, to: b, set: {status: c}}"), "the status is what `to` says"),
        (moved("{from: a, to: b, set: {k: 1}, clear: [k]}"), "the move writes `k` twice"),
        (moved("{from: a, to: b, args: {now: text}}"), "`now` is a variable of every move"),
        ("a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\npack: x\nkinds: {}\n".to_owned(), "unknown field"),
        (format!("pack: x\n{kind}    keys: {{k: ref y}}\n"), "`k` names the kind `y`, which the pack lacks"),
        (format!("pack: x\n{kind}    rules: [{{use: one-of, key: k}}]\n"), "`one-of` wants `values`"),
        (
            format!("pack: x\n{kind}files: [{{path: ../a.csv, kind: x, keys: [k]}}]\n"),
            "write a path below the project root",
        ),
        (
            format!("pack: x\n{kind}files: [{{path: .git/a.json, kind: x, keys: [k]}}]\n"),
            "write a path below the project root",
        ),
        (
            format!(
                "pack: x\n{kind}files: [{{path: a.csv, kind: x, keys: []}}, {{path: a.csv, kind: x, keys: [k]}}]\n"
            ),
            "`a.csv` is written twice",
        ),
        (
            format!("pack: x\n{kind}files: [{{path: a.sh, kind: x, keys: [k]}}]\n"),
            "write a path below the project root",
        ),
        (format!("pack: x\nabout: {}\nkinds: {{}}\n", "x".repeat(1 << 20)), "cannot read the configuration"),
    ] {
        let sandbox = with(&[("x", &pack)]);
        let before = sandbox.tree();
        let run = run(&sandbox, "pack check");
        assert!(run.code != 0 && run.stderr.contains(expected), "{expected}\n{run}");
        before.assert_same(&sandbox.tree(), &run);
    }
    let sandbox = with(&[(
        "x",
        &format!("pack: x\n{kind}    command: check\n    moves:\n      go: {{from: a, to: b}}\n"),
    )]);
    let run = run(&sandbox, "pack check");
    assert!(run.code == 2 && run.stderr.contains("calls its command `check`"), "{run}");
}

#[test]
fn a_pack_builds_on_another_and_two_do_not_share_an_artifact() {
    let more = "pack: ours\nextends: backlog\nkinds:\n  backlog-task:\n    states:\n      - {name: Waiting, waits_for: person}\n    moves:\n      \
                ask: {from: In Progress, to: Waiting, needs: reason}\n      go-on: {from: Waiting, to: In Progress, by: person}\n";
    let sandbox = with(&[("backlog", BACKLOG), ("ours", more)]);
    sandbox.write("backlog/tasks/task-1.md", "---\nid: task-1\ntitle: T\nstatus: To Do\n---\n");
    for line in ["backlog start task-1 --actor agent:w", "backlog ask task-1 -m 'which?' --actor agent:w"] {
        let run = run(&sandbox, line);
        assert_eq!(run.code, 0, "{run}");
    }
    let status = run(&sandbox, "list --where work_state=blocked");
    assert_eq!(status.code, 0, "{status}");
    assert!(refused(&sandbox, "backlog go-on task-1 --actor agent:w").contains("only a person"));
    let rival = ADR.replace("docs/adr/[0-9]*.md", "backlog/**");
    sandbox.write(".stepmark/packs/adr.yaml", rival);
    let found = run(&sandbox, "check");
    assert!(found.stdout.contains("the packs `adr` and `ours` both claim it"), "{found}");
    let told = refused(&sandbox, "backlog go-on task-1 --actor human:Ada");
    assert!(told.contains("both claim it: change `applies_to`"), "{told}");
}

#[test]
fn what_a_pack_forbids_does_not_pass_the_hook() {
    let Some(repository) = Repository::empty("what_a_pack_forbids_does_not_pass_the_hook") else { return };
    let sandbox = &repository.sandbox;
    repository.stepmark(&["init"]);
    sandbox.write(".stepmark/packs/review.yaml", REVIEW);
    sandbox.write("docs/pages/a.md", "---\nid: P-1\nauthor: Ada\nstatus: draft\n---\n");
    repository.commit("a page");
    sandbox.write("docs/pages/a.md", "---\nid: P-1\nauthor: Ada\nstatus: published\n---\n");
    repository.git(&["add", "."]);
    let run = repository.stepmark(&["check", "--staged"]);
    assert!(run.code == 1 && run.stdout.contains("SM903"), "{run}");
    repository.git(&["reset", "--hard", "--quiet"]);
    sandbox.write(".stepmark/packs/backlog.yaml", BACKLOG);
    let write = |id: &str, other: &str| {
        let task = format!("---\nid: {id}\ntitle: T\nstatus: To Do\ndependencies: [{other}]\n---\n");
        sandbox.write(&format!("backlog/tasks/{id}.md"), task);
    };
    write("task-1", "gone");
    write("task-2", "task-1");
    repository.commit("tasks");
    let staged = |expected: &[&str]| {
        repository.git(&["add", "--all"]);
        let run = repository.stepmark(&["check", "--staged"]);
        assert_eq!(run.code, i32::from(!expected.is_empty()), "{run}");
        assert!(expected.iter().all(|text| run.stdout.contains(text)), "{run}");
    };
    write("task-3", "task-1");
    staged(&[]);
    write("task-3", "task-9");
    staged(&["SMP12", "task-3.md"]);
    std::fs::remove_file(sandbox.root().join("backlog/tasks/task-3.md")).unwrap();
    std::fs::remove_file(sandbox.root().join("backlog/tasks/task-1.md")).unwrap();
    staged(&["task-2.md", "`dependencies` names `task-1`"]);
}

#[test]
fn agents_make_the_moves_as_tools() {
    let sandbox = with(&[("backlog", BACKLOG)]);
    sandbox.write("backlog/tasks/task-1.md", "---\nid: task-1\ntitle: T\nstatus: To Do\n---\n");
    let call = |id: u8, name: &str, arguments: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
    let client = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        call(2, "backlog_list", json!({})),
        call(3, "backlog_start", json!({"artifact": "task-1", "agent_id": "w"})),
        call(4, "backlog_start", json!({"artifact": "task-1", "agent_id": "w"})),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    sandbox.write("input", input);
    let mut command = sandbox.command(&["mcp", "--tools", "backlog"]);
    command.stdin(std::fs::File::open(sandbox.place("input")).unwrap());
    let output = command.output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = answers[1]["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["backlog_list", "backlog_start", "backlog_finish", "backlog_stop", "backlog_reopen"]);
    assert_eq!(answers[2]["result"]["structuredContent"]["artifacts"][0]["moves"], json!(["start"]));
    assert_eq!(answers[3]["result"]["structuredContent"]["status"], "In Progress");
    let told = answers[4]["result"]["content"].to_string();
    assert!(
        answers[4]["result"]["isError"] == true && told.contains("stepmark backlog finish task-1"),
        "{told}"
    );
    let unknown = sandbox.stepmark(&["mcp", "--tools", "none"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("`backlog`"), "{unknown}");
}

#[test]
fn of_many_processes_that_take_a_task_one_gets_it() {
    let sandbox = with(&[("backlog", BACKLOG)]);
    for task in 0..46 {
        let text = format!("---\nid: task-{task}x\ntitle: T\nstatus: To Do\n---\n");
        sandbox.write(&format!("backlog/tasks/task-{task}x.md"), text);
    }
    let start = |agent: usize| {
        let (task, actor) = (format!("task-{}x", agent / 2), format!("agent:w{agent}"));
        let mut command = sandbox.command(&["backlog", "start", &task, "--actor", &actor]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let started: Vec<Child> = (0..92).map(start).collect();
    let won: Vec<bool> = started.into_iter().map(|mut child| child.wait().unwrap().success()).collect();
    for task in 0..46 {
        let winners: Vec<usize> = [2 * task, 2 * task + 1].into_iter().filter(|agent| won[*agent]).collect();
        assert_eq!(winners.len(), 1, "task {task}");
        let text = text(&sandbox, &format!("backlog/tasks/task-{task}x.md"));
        assert!(text.contains(&format!("assignee: [w{}]\n", winners[0])), "{text}");
    }
    assert_eq!(run(&sandbox, "check").code, 0);
}
