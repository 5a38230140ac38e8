//! `stepmark query`: the state of a project as tables.

use std::{fs, process::Command};

use insta::assert_snapshot;

use crate::harness::{
    Run, Sandbox,
    demo::{PRD, STORY},
};

const DATABASE: &str = ".stepmark/local/cache/index.db";

/// The values of the first column.
fn firsts(run: &Run) -> Vec<String> {
    let answer = run.json("stepmark.query/1");
    let rows = answer["rows"].as_array().unwrap();
    rows.iter().map(|row| row[0].as_str().map_or_else(|| row[0].to_string(), str::to_owned)).collect()
}

fn ask(sandbox: &Sandbox, sql: &str) -> Vec<String> {
    firsts(&sandbox.stepmark(&["query", sql, "--json"]))
}

#[test]
fn answers_for_people_and_programs() {
    let demo = Sandbox::demo();
    let sql = "SELECT path, done, total, next_step FROM artifacts WHERE workflow IS NOT NULL";
    assert_snapshot!(demo.stepmark(&["query", sql]));
    assert_snapshot!(demo.stepmark(&["query", sql, "--csv"]));
    assert_snapshot!(demo.stepmark(&["query", sql, "--json"]));
    assert_eq!(demo.stepmark(&["query", "SELECT 1 WHERE 0"]).stdout, "no rows\n");
}

#[test]
fn questions_with_names() {
    let demo = Sandbox::demo();
    assert_eq!(demo.stepmark(&["complete", PRD, "4", "--session", "s-1"]).code, 0);
    for name in ["blocked", "done", "leases", "next", "tickets", "wrong", "inventory"] {
        let run = demo.stepmark(&["query", "--named", name, "--csv"]);
        assert_eq!(run.code, 0, "{name}: {run}");
        // Times of files differ from run to run.
        if name != "done" {
            assert_snapshot!(format!("named_{name}"), run);
        }
    }
    let whole = ["query", "--named", "session", "--json"];
    let of =
        |more: &[&str]| demo.stepmark(&[&whole[..], more].concat()).json("stepmark.query/1")["rows"].clone();
    let asked = of(&["--param", "session=s-1"]);
    assert_eq!(of(&["--session", "s-1"]), asked);
    assert_eq!(asked.as_array().unwrap().len(), 2, "{asked}");
    assert_eq!((&asked[1][2], &asked[1][3]), (&"change".into(), &PRD.into()), "{asked}");
    assert!(asked[1][4].as_str().unwrap().contains("step-04-journeys"), "{asked}");
    assert_snapshot!("named_session_without_one", demo.stepmark(&["query", "--named", "session"]));
    assert_eq!(
        demo.stepmark(&["query", "--named", "history", "--param", &format!("artifact={PRD}")]).code,
        0
    );
    assert_snapshot!(demo.stepmark(&["query", "--named", "history"]));
    assert_snapshot!(demo.stepmark(&["query", "--named", "nxt"]));
    assert_snapshot!(demo.stepmark(&["query", "--list"]));
}

#[test]
fn what_was_forced_belongs_to_its_artifact() {
    let demo = Sandbox::demo();
    assert_eq!(demo.stepmark(&["set", STORY, "status=backlog"]).code, 1);
    assert_eq!(
        demo.stepmark(&["set", STORY, "status=backlog", "--force", "--reason", "begun too early"]).code,
        0
    );
    for question in [
        &["SELECT kind FROM events WHERE artifact = :artifact ORDER BY at, n, id"][..],
        &[
            "SELECT kind FROM (SELECT * FROM events WHERE artifact = :artifact) WHERE reason = 'begun too early'",
        ],
        &["--named", "history"],
    ] {
        let artifact = format!("artifact={STORY}");
        let run = demo.stepmark(&[&["query"][..], question, &["--param", &artifact]].concat());
        assert!(run.stdout.contains("override"), "{question:?}: {run}");
    }
}

#[test]
fn a_question_can_only_read() {
    let demo = Sandbox::demo();
    let before = ask(&demo, "SELECT path FROM artifacts");
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT";
    let statements = [
        ("INSERT INTO findings (position) VALUES (99)", 2),
        ("UPDATE artifacts SET status = 'done'", 2),
        ("DELETE FROM artifacts", 2),
        ("WITH gone AS (SELECT 1) DELETE FROM artifacts", 2),
        ("DELETE FROM artifacts RETURNING path", 2),
        ("DROP TABLE artifacts", 2),
        ("CREATE TABLE x (y)", 2),
        ("CREATE TEMP TABLE x (y)", 2),
        ("ALTER TABLE artifacts RENAME TO x", 2),
        ("ATTACH DATABASE 'other.db' AS other", 2),
        ("DETACH main", 2),
        ("PRAGMA user_version = 5", 2),
        ("PRAGMA journal_mode = DELETE", 2),
        ("PRAGMA writable_schema = 1", 2),
        ("SELECT * FROM pragma_table_info('artifacts')", 2),
        ("SELECT * FROM Pragma_user_version", 2),
        ("VACUUM", 2),
        ("VACUUM INTO 'copy.db'", 2),
        ("REINDEX", 2),
        ("ANALYZE", 2),
        ("BEGIN", 2),
        ("COMMIT", 2),
        ("SELECT load_extension('x')", 2),
        ("SELECT 1; SELECT 2", 2),
        ("SELECT 1; DELETE FROM artifacts", 2),
        ("", 2),
        ("-- nothing", 2),
        ("SELECT :missing", 2),
        (&format!("{endless} COUNT(*) FROM n"), 1),
        (&format!("{endless} x FROM n"), 1),
        (&format!("{endless} x FROM n LIMIT 3"), 0),
        ("SELECT 1; -- and that is all", 0),
        ("VALUES (1), (2)", 0),
    ];
    for (sql, code) in statements {
        let run = demo.stepmark(&["query", sql, "--timeout", "1", "--limit", "1000"]);
        assert_eq!(run.code, code, "{sql}: {run}");
    }
    assert_eq!(ask(&demo, "SELECT path FROM artifacts"), before);
    assert!(!demo.place("copy.db").exists() && !demo.place("other.db").exists());
    assert_snapshot!(demo.stepmark(&["query", "UPDATE artifacts SET status = 'done'"]));
    assert_snapshot!("tables_are_not_changed", demo.stepmark(&["query", "DROP TABLE artifacts"]));
    assert_snapshot!(demo.stepmark(&["query", &format!("{endless} COUNT(*) FROM n"), "--timeout", "0"]));
    assert_snapshot!(demo.stepmark(&["query", &format!("{endless} x FROM n"), "--limit", "2"]));
}

#[test]
fn a_table_is_the_same_in_any_case() {
    let demo = Sandbox::demo();
    let count = |sql: &str| ask(&demo, sql)[0].parse::<u32>().unwrap();
    assert_eq!(count("SELECT COUNT(*) FROM FINDINGS"), 4);
    fs::write(demo.place(PRD), "---\nstatus: [\n---\n").unwrap();
    assert_eq!(count("SELECT COUNT(*) FROM Findings"), count("SELECT COUNT(*) FROM findings"));
}

#[test]
fn a_parameter_that_is_spelled_as_a_number_is_one() {
    let demo = Sandbox::demo();
    let of = |sql: &str, value: &str| {
        firsts(&demo.stepmark(&["query", sql, "--param", &format!("p={value}"), "--json"]))
    };
    for (value, wanted) in [("1", "integer"), ("0.5", "real"), ("007", "text"), ("x", "text"), ("", "text")] {
        assert_eq!(of("SELECT typeof(:p)", value), [wanted], "{value}");
    }
    assert_eq!(of("SELECT COUNT(*) FROM artifacts WHERE done * 100 / total > :p", "40"), ["3"]);
    demo.write("docs/n.md", "---\nstatus: 12\n---\n");
    demo.write(".stepmark/config.yaml", "artifacts:\n  include: ['docs/*.md']\n");
    assert_eq!(of("SELECT path FROM artifacts WHERE status = :p", "12"), ["docs/n.md"]);
}

#[test]
fn statuses_that_wait_are_told_from_those_that_only_sound_so() {
    let sandbox = Sandbox::empty();
    let statuses = [
        ("a", "blocked"),
        ("b", "On_Hold"),
        ("c", "awaiting-review"),
        ("d", "unblocked"),
        ("e", "Blockchain design"),
        ("f", "draft"),
    ];
    for (name, status) in statuses {
        sandbox.write(&format!("docs/{name}.md"), format!("---\nstatus: {status}\n---\n"));
    }
    let of = |name: &str| firsts(&sandbox.stepmark(&["query", "--named", name, "--json"]));
    assert_eq!(of("blocked"), ["docs/a.md", "docs/b.md", "docs/c.md"]);
    assert_eq!(of("next"), ["docs/d.md", "docs/e.md", "docs/f.md"]);
}

#[test]
fn history_goes_on_over_a_change_of_name() {
    let sandbox = Sandbox::empty();
    sandbox.write("docs/a.md", "---\nid: A\nstatus: draft\n---\n");
    assert_eq!(sandbox.stepmark(&["set", "docs/a.md", "status=review"]).code, 0);
    fs::rename(sandbox.place("docs/a.md"), sandbox.place("docs/b.md")).unwrap();
    assert_eq!(sandbox.stepmark(&["set", "docs/b.md", "status=done"]).code, 0);
    let changes = |path: &str| {
        let run = sandbox.stepmark(&[
            "query",
            "--named",
            "history",
            "--param",
            &format!("artifact={path}"),
            "--json",
        ]);
        run.json("stepmark.query/1")["rows"].to_string()
    };
    let whole = changes("docs/b.md");
    assert!(whole.contains("review") && whole.contains("done"), "{whole}");
    assert_eq!(changes("docs/a.md"), whole);
}

#[test]
fn an_event_that_was_changed_by_hand_is_read_again() {
    let demo = Sandbox::demo();
    assert_eq!(demo.stepmark(&["--actor", "agent:first", "set", PRD, "status=review"]).code, 0);
    let sql = "SELECT actor FROM events WHERE kind = 'change'";
    assert_eq!(ask(&demo, sql), ["agent:first"]);
    let folder = demo.place(".stepmark/local/journal");
    let segment = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let segment =
        segment.into_iter().find(|path| path.extension().is_some_and(|end| end == "jsonl")).unwrap();
    let text = fs::read_to_string(&segment).unwrap();
    fs::write(&segment, text.replace("first\"", "another\"")).unwrap();
    assert_eq!(ask(&demo, sql), ["agent:another"]);
}

#[test]
fn parameters_of_questions_with_names_are_looked_at() {
    let demo = Sandbox::demo();
    for (name, parameter) in [("stale", "days=14 days"), ("stale", "now=soon"), ("leases", "now=")] {
        let run = demo.stepmark(&["query", "--named", name, "--param", parameter]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{parameter}: {run}");
    }
    assert_eq!(demo.stepmark(&["query", "--named", "stale", "--param", "days=0.5"]).code, 0);
    let inventory = demo.stepmark(&["query", "--named", "inventory"]).stdout;
    assert_eq!(inventory, "no rows; the catalogues are as `stepmark project` last made them\n");
}

#[test]
fn what_is_no_sql_is_shown_with_its_place() {
    let demo = Sandbox::demo();
    for sql in [
        "SELECT paht FROM artifacts",
        "SELECT path\nFROM artefacts",
        "SELEC path",
        "SELECT path FROM artifacts WHERE",
        "SELECT zzzz FROM artifacts",
    ] {
        assert_snapshot!(demo.stepmark(&["query", sql]));
    }
    let error = demo.stepmark(&["query", "SELECT paht FROM artifacts", "--json"]).json_error();
    assert_eq!(error["exit"], 2);
}

#[test]
fn an_answer_is_never_older_than_the_files() {
    let demo = Sandbox::demo();
    let sql = "SELECT status FROM artifacts WHERE path LIKE '%/prd.md'";
    assert_eq!(ask(&demo, sql), ["draft"]);
    assert_eq!(demo.stepmark(&["set", PRD, "status=review"]).code, 0);
    assert_eq!(ask(&demo, sql), ["review"]);
    let old = demo.stepmark(&["query", sql, "--json", "--no-refresh"]);
    assert_eq!(firsts(&old), ["review"]);
    let text = fs::read_to_string(demo.place(PRD)).unwrap().replace("review", "approved");
    fs::write(demo.place(PRD), text).unwrap();
    assert_eq!(firsts(&demo.stepmark(&["query", sql, "--json", "--no-refresh"])), ["review"]);
    assert_eq!(ask(&demo, sql), ["approved"]);
    let events = "SELECT kind FROM events ORDER BY n";
    assert_eq!(ask(&demo, events), ["first-seen", "change"]);
}

#[test]
fn a_database_that_is_spoiled_is_made_anew() {
    let demo = Sandbox::demo();
    let missing = demo.stepmark(&["query", "SELECT 1", "--no-refresh"]);
    assert_snapshot!(missing);
    let sql =
        "SELECT path FROM artifacts UNION ALL SELECT rule FROM findings UNION ALL SELECT step FROM steps";
    let wanted = ask(&demo, sql);
    for bytes in [&b""[..], b"no database", &[0xff; 70_000]] {
        fs::write(demo.place(DATABASE), bytes).unwrap();
        assert_eq!(ask(&demo, sql), wanted);
    }
    fs::remove_dir_all(demo.place(".stepmark/local/cache")).unwrap();
    assert_eq!(ask(&demo, sql), wanted);
    // Where nothing can be kept, whoever asks: a file stands in the place of the folder.
    fs::remove_dir_all(demo.place(".stepmark/local/cache")).unwrap();
    fs::write(demo.place(".stepmark/local/cache"), "").unwrap();
    let in_memory = demo.stepmark(&["query", sql, "--json"]);
    assert_eq!(firsts(&in_memory), wanted);
    assert!(in_memory.stderr.contains("index.db cannot be kept"), "{in_memory}");
    let rebuilt = demo.stepmark(&["project", "--index"]);
    assert_eq!(rebuilt.code, 1, "{rebuilt}");
    assert!(rebuilt.stderr.contains("index.db cannot be kept"), "{rebuilt}");
}

#[test]
fn several_processes_ask_at_once() {
    let demo = Sandbox::demo();
    let wanted = ask(&demo, "SELECT path FROM artifacts");
    fs::remove_dir_all(demo.place(".stepmark/local/cache")).unwrap();
    let start = || {
        let mut command: Command = demo.command(&["query", "SELECT path FROM artifacts", "--json"]);
        command.stdout(std::process::Stdio::piped()).spawn().unwrap()
    };
    let processes: Vec<_> = (0..6).map(|_| start()).collect();
    for process in processes {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success());
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["rows"].as_array().unwrap().len(), wanted.len());
    }
}

#[test]
fn project_fills_the_database_and_then_has_nothing_to_write() {
    let demo = Sandbox::demo();
    let first = demo.stepmark(&["project", "--index", "--json"]).json("stepmark.project/1");
    let first = &first["projections"][0];
    assert_eq!((&first["name"], &first["removed"]), (&"index".into(), &0.into()));
    assert!(first["written"].as_u64().unwrap() > 20, "{first}");
    let again = demo.stepmark(&["project", "--index", "--json"]).json("stepmark.project/1");
    let again = &again["projections"][0];
    assert_eq!((&again["written"], &again["removed"]), (&0.into(), &0.into()));
    assert_eq!(again["unchanged"], first["written"]);
}

#[test]
fn tickets_are_told_as_the_ledger_and_the_plan_know_them() {
    let sandbox = Sandbox::empty();
    let configuration = "project_id: demo\ntrackers:\n  file:\n    path: out/tickets.jsonl\n";
    sandbox.write(".stepmark/config.yaml", configuration);
    sandbox.write("docs/a.md", "---\nid: A\nstatus: draft\n---\n\n# Alpha\n");
    sandbox.write("docs/b.md", "---\nid: B\nstatus: draft\n---\n\n# Beta\n");
    let tickets = || sandbox.stepmark(&["query", "--named", "tickets", "--csv"]);
    assert_snapshot!(tickets());
    assert_eq!(sandbox.stepmark(&["sync", "apply"]).code, 0);
    assert_snapshot!(tickets());
    assert_eq!(ask(&sandbox, "SELECT ticket FROM tickets ORDER BY artifact"), ["#1", "#2"]);
    assert_eq!(sandbox.stepmark(&["set", "docs/b.md", "status=done"]).code, 0);
    assert_snapshot!(tickets());
    // Who does not ask for them does not pay for them, and what is rebuilt has them.
    assert_eq!(sandbox.stepmark(&["project", "--index"]).code, 0);
    let old = sandbox.stepmark(&["query", "--named", "tickets", "--no-refresh", "--json"]);
    assert_eq!(firsts(&old), ["file"]);
}

#[test]
fn the_inventory_is_that_of_the_catalogues() {
    let demo = Sandbox::demo();
    assert_eq!(demo.stepmark(&["project", "--files-manifest"]).code, 0);
    let manifest = fs::read_to_string(demo.place(".stepmark/manifests/files-manifest.csv")).unwrap();
    let rows = ask(&demo, "SELECT hash FROM files ORDER BY position");
    assert_eq!(rows.len(), manifest.lines().count() - 1);
    assert!(rows.iter().all(|hash| manifest.contains(hash.as_str())));
}

#[test]
fn the_schema_is_the_documented_one() {
    let demo = Sandbox::demo();
    let document = include_str!("../../../docs/query.md");
    let described = document.split_once("<!-- schema: from the program -->\n\n").unwrap().1;
    let described = described.split_once("\n<!-- end of schema -->").unwrap().0;
    assert_eq!(demo.stepmark(&["query", "--schema"]).stdout, described);
    let json = demo.stepmark(&["query", "--schema", "--json"]).json("stepmark.query-schema/1");
    let views = json["views"].as_array().unwrap();
    for table in json["tables"].as_array().unwrap().iter().chain(views) {
        let name = table["name"].as_str().unwrap();
        let run = demo.stepmark(&["query", &format!("SELECT * FROM {name}"), "--json"]);
        let columns = run.json("stepmark.query/1")["columns"].clone();
        let names: Vec<_> = columns.as_array().unwrap().iter().map(|column| column["name"].clone()).collect();
        let described: Vec<_> =
            table["columns"].as_array().unwrap().iter().map(|column| column["name"].clone()).collect();
        assert_eq!(names, described, "{name}");
    }
}
