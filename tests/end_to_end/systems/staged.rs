//! `stepmark check --staged` on records and the files that follow them.

use crate::harness::{Repository, Run};

const TASK: &str = ".coordination/tasks/t1.md";
const TASKS: &str = ".coordination/tasks.json";

/// The rules of the group SMP that the staged files break, each with its file.
fn staged(repository: &Repository) -> Vec<String> {
    told(&repository.stepmark(&["check", "--staged", "--json"]))
}

fn told(run: &Run) -> Vec<String> {
    let answer = run.json("stepmark.check/1");
    let findings = answer["findings"].as_array().unwrap().iter();
    let told = |finding: &serde_json::Value| {
        let (path, id) = (finding["path"].as_str().unwrap(), finding["id"].as_str().unwrap());
        id.starts_with("SMP").then(|| format!("{path} {id}"))
    };
    findings.filter_map(told).collect()
}

fn succeeds(repository: &Repository, arguments: &[&str]) {
    let run = repository.stepmark(arguments);
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn a_staged_file_is_held_against_the_staged_records() {
    let Some(repository) = Repository::empty("staged projections") else { return };
    succeeds(&repository, &["coordination", "init", "--goal", "Ship"]);
    succeeds(&repository, &["task", "add", "One", "--id", "t1"]);
    repository.commit("one");
    assert_eq!(staged(&repository), Vec::<String>::new());
    succeeds(&repository, &["task", "claim", "--agent", "w1"]);
    assert_eq!(staged(&repository), Vec::<String>::new(), "nothing is staged");
    repository.git(&["add", TASK]);
    assert_eq!(staged(&repository), [format!("{TASKS} SMP02")], "the record alone is staged");
    repository.git(&["add", ".coordination"]);
    assert_eq!(staged(&repository), Vec::<String>::new());
    repository.commit("two");
    let from = |to: &str| told(&repository.stepmark(&["check", "--from", "HEAD~1", "--to", to, "--json"]));
    assert_eq!(from("HEAD"), Vec::<String>::new());

    let written = String::from_utf8(repository.sandbox.read(TASKS)).unwrap();
    repository.sandbox.write(TASKS, written.replace("\"claimed\"", "\"done\""));
    assert_eq!(staged(&repository), Vec::<String>::new(), "nothing is staged");
    repository.git(&["add", TASKS]);
    repository.sandbox.write(TASKS, written);
    assert_eq!(staged(&repository), [format!("{TASKS} SMP01")], "the index counts");
    repository.sandbox.write(TASKS, "{");
    repository.commit("three");
    assert_eq!(from("HEAD"), [format!("{TASKS} SMP03")], "so does a commit");
}

const LIFECYCLES: &str = "\
lifecycles:
  - name: run
    states:
      - {name: open, initial: true}
      - {name: closed, frozen: true, terminal: true}
    moves: [{from: open, to: closed}]
    append_only: [attempts]
    applies_to: [{path: 'runs/'}]
  - name: record
    states: [{name: kept, terminal: true}]
    writers: custodian
    applies_to: [{path: 'records/'}]
";

#[test]
fn what_a_lifecycle_says_of_every_change_holds_for_edits_too() {
    let Some(repository) = Repository::empty("staged attributes") else { return };
    let write = |path: &str, frontmatter: &str| {
        repository.sandbox.write(path, format!("---\n{frontmatter}\n---\n"));
    };
    repository.sandbox.write(".stepmark/config.yaml", LIFECYCLES);
    write("runs/1.md", "id: r1\nstatus: closed\nattempts: [a, b]");
    write("records/1.md", "id: k1\nstatus: kept\nn: 1");
    repository.commit("one");
    write("runs/1.md", "id: r1\nstatus: closed\nattempts: [a]");
    write("records/1.md", "id: k1\nstatus: kept\nn: 2");
    repository.git(&["add", "."]);
    assert_eq!(staged(&repository), ["records/1.md SMP06", "runs/1.md SMP04", "runs/1.md SMP05"]);

    // What stepmark did, and somebody insisted on, history tells.
    write("runs/1.md", "id: r1\nstatus: closed\nattempts: [a, b]");
    write("records/1.md", "id: k1\nstatus: kept\nn: 1");
    succeeds(&repository, &["set", "runs/1.md", "title=One", "--force", "-m", "it had none"]);
    succeeds(&repository, &["--actor", "agent:knowledge", "set", "records/1.md", "n=2"]);
    repository.git(&["add", "."]);
    assert_eq!(staged(&repository), Vec::<String>::new());
}

#[test]
fn slices_and_tasks_of_flows_that_were_edited_are_told() {
    let Some(repository) = Repository::empty("staged slices and flows") else { return };
    repository.sandbox.write(".stepmark/config.yaml", "asdd: {}\nflows: {}\n");
    repository.sandbox.write("graph.yaml", "id: g\ntasks: [{id: a}]\n");
    for words in [
        &["asdd", "init"][..],
        &["asdd", "add", "Sign in"],
        &["flow", "graph", "create", "graph.yaml"],
        &["--actor", "human:Ada", "flow", "create", "g", "--id", "r1"],
    ] {
        succeeds(&repository, words);
    }
    repository.commit("one");
    for (path, from, to) in [
        (".asdd/slices/SLICE-001.md", "status: DISCOVERY", "status: SPEC"),
        (".asdd/state/manifest.json", "DISCOVERY", "DESIGN"),
        ("flows/r1/tasks/a.md", "status: PENDING", "status: SUCCESS"),
    ] {
        let text = String::from_utf8(repository.sandbox.read(path)).unwrap();
        repository.sandbox.write(path, text.replace(from, to));
    }
    assert_eq!(repository.stepmark(&["check", "--staged"]).code, 0, "nothing is staged");
    repository.git(&["add", "."]);
    let answer = repository.stepmark(&["check", "--staged", "--json"]).json("stepmark.check/1");
    let findings = answer["findings"].as_array().unwrap().iter();
    let ids: Vec<&str> = findings.map(|finding| finding["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["SMA07", "SMP06", "SMP01", "SM903", "SMF04"]);
}
