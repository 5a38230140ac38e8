//! Whatever way the database came to a state, it holds the same; and it can be taken away or spoiled at any
//! time.
#![expect(clippy::disallowed_methods, reason = "the tests make projects and spoil databases")]

use std::{collections::BTreeMap, fs, path::PathBuf, thread, time::Duration};

use proptest::prelude::*;

use crate::{Error, index::*, index_db::tables};

const CONFIGURATION: &str = "artifacts:\n  include: ['docs/**/*.md']\n";

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        project.write(".stepmark/config.yaml", CONFIGURATION);
        project
    }

    fn place(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn database(&self) -> PathBuf {
        self.place(".stepmark/local/cache/index.db")
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.place(path).parent().unwrap()).unwrap();
        fs::write(self.place(path), text).unwrap();
    }

    fn workspace(&self) -> Workspace {
        Workspace::open(self.folder.path()).unwrap()
    }

    fn ask_with(&self, sql: &str, freshness: &Freshness) -> Result<Vec<Vec<Cell>>, Error> {
        let query = SqlQuery::prepare(sql)?;
        let answer = self.workspace().index().ask(&query, &BTreeMap::new(), Limits::default(), freshness)?;
        Ok(answer.rows)
    }

    fn ask(&self, sql: &str) -> Vec<Vec<Cell>> {
        self.ask_with(sql, &Freshness::Now).unwrap()
    }

    fn texts(&self, sql: &str) -> Vec<String> {
        let text = |cell: &Cell| match cell {
            Cell::Text(text) => text.clone(),
            Cell::Null => "-".to_owned(),
            Cell::Integer(number) => number.to_string(),
            other => format!("{other:?}"),
        };
        let rows = self.ask(sql);
        rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join(" ")).collect()
    }

    /// All rows of all tables, in the order in which they lie.
    fn everything(&self) -> Vec<(&'static str, Vec<Vec<Cell>>)> {
        tables().map(|table| (table.name, self.ask(&format!("SELECT * FROM {}", table.name)))).collect()
    }
}

#[test]
fn an_artifact_is_told_in_full() {
    let project = Project::new();
    project.write(
        "docs/a.md",
        "---\nid: A\ntitle: One\nstatus: in-progress\nscope: large\nscope_source: ai\nscope_confidence: 0.8\n\
         stepsCompleted: [1, step-02-x]\ndelegation: {id: A, parent_id: R, root_id: R, depth: 1, chain_path: R/A}\n---\nText\n",
    );
    project.write("docs/plain.md", "# Nothing\n");
    project.write("elsewhere.md", "---\nstatus: done\n---\n");
    let columns = "path, id, key, title, workflow, status, scope, scope_rank, scope_source, finished";
    assert_eq!(
        project.texts(&format!("SELECT {columns} FROM artifacts")),
        ["docs/a.md A id:A One - in-progress large 4 ai 0"]
    );
    assert_eq!(project.ask("SELECT scope_confidence FROM artifacts"), [[Cell::Real(0.8)]]);
    assert_eq!(
        project.texts("SELECT * FROM steps"),
        ["docs/a.md 1 1 - 1 0 0", "docs/a.md 2 step-02-x - 1 0 0"]
    );
    assert_eq!(project.texts("SELECT * FROM delegations"), ["docs/a.md A R R 1 R/A"]);
    assert_eq!(project.texts("SELECT parent, child FROM children"), ["- docs/a.md"]);
}

#[test]
fn what_did_not_change_is_not_written_again() {
    let project = Project::new();
    project.write("docs/a.md", "---\nstatus: done\n---\n");
    project.write(".stepmark/manifests/task-manifest.csv", "name\nx\n");
    project.everything();
    // Files as new as that are read once more.
    thread::sleep(Duration::from_millis(60));
    project.everything();
    let bytes = |suffix: &str| fs::read(self_place(&project, suffix)).unwrap_or_default();
    let before = [bytes(""), bytes("-wal")];
    let first = project.everything();
    assert_eq!(project.everything(), first);
    assert!([bytes(""), bytes("-wal")] == before, "not a byte is written");
    project.write("docs/a.md", "---\nstatus: draft\n---\n");
    assert_eq!(project.texts("SELECT status FROM artifacts"), ["draft"]);
}

#[test]
fn a_long_log_is_emptied() {
    let project = Project::new();
    let log = || fs::metadata(self_place(&project, "-wal")).unwrap().len();
    for number in 0..400 {
        let steps =
            (0..30).map(|step| format!("'step-{step:02}-of-{number}'")).collect::<Vec<_>>().join(", ");
        project.write(&format!("docs/{number}.md"), &format!("---\nstepsCompleted: [{steps}]\n---\n"));
    }
    assert_eq!(project.texts("SELECT COUNT(*) FROM steps"), ["12000"]);
    assert_eq!(log(), 0, "the first filling is long");
    for number in 0..40 {
        project.write("docs/1.md", &format!("---\nstatus: s{number}\n---\n"));
        assert_eq!(project.texts("SELECT status FROM artifacts WHERE status <> ''"), [format!("s{number}")]);
        assert!(log() < 1024 * 1024, "{number}: {}", log());
    }
}

fn self_place(project: &Project, suffix: &str) -> PathBuf {
    project.place(&format!(".stepmark/local/cache/index.db{suffix}"))
}

#[test]
fn a_change_that_leaves_no_trace_in_the_stat_is_seen() {
    let project = Project::new();
    for (word, number) in ["done", "open", "held"].into_iter().cycle().zip(0..30) {
        project.write("docs/a.md", &format!("---\nstatus: {word}\n---\n"));
        assert_eq!(project.texts("SELECT status FROM artifacts"), [word], "{number}");
    }
}

#[test]
fn another_configuration_is_another_state() {
    let project = Project::new();
    project.write("docs/a.md", "---\nstatus: done\n---\n");
    project.write("other/b.md", "---\nstatus: done\n---\n");
    assert_eq!(project.texts("SELECT path FROM artifacts"), ["docs/a.md"]);
    project.write(".stepmark/config.yaml", "artifacts:\n  include: ['other/**/*.md']\n");
    assert_eq!(project.texts("SELECT path FROM artifacts"), ["other/b.md"]);
}

#[test]
fn a_database_that_is_gone_damaged_or_of_another_version_is_made_anew() {
    let project = Project::new();
    project.write("docs/a.md", "---\nstatus: done\n---\n");
    let wanted = project.everything();
    let spoil: [(&str, &dyn Fn()); 8] = [
        ("gone", &|| fs::remove_file(project.database()).unwrap()),
        ("all gone", &|| fs::remove_dir_all(project.place(".stepmark/local/cache")).unwrap()),
        ("empty", &|| fs::write(project.database(), b"").unwrap()),
        ("no database", &|| fs::write(project.database(), [b'x'; 5000]).unwrap()),
        ("without its log", &|| fs::remove_file(self_place(&project, "-wal")).unwrap()),
        ("another version", &|| {
            let connection = Connection::open(project.database()).unwrap();
            connection
                .execute_batch("DROP TABLE events; CREATE TABLE x (y); PRAGMA user_version = 7")
                .unwrap();
        }),
        ("other tables", &|| {
            let connection = Connection::open(project.database()).unwrap();
            connection.execute_batch("DROP TABLE _files; CREATE TABLE _files (y)").unwrap();
        }),
        ("with a trigger", &|| {
            let connection = Connection::open(project.database()).unwrap();
            let trigger = "CREATE TRIGGER gone AFTER INSERT ON artifacts BEGIN DELETE FROM artifacts; END";
            connection
                .execute_batch(&format!("{trigger}; DELETE FROM artifacts; DELETE FROM _files"))
                .unwrap();
        }),
    ];
    for (what, spoil) in spoil {
        spoil();
        assert_eq!(project.everything(), wanted, "{what}");
    }
    // Pages in the middle, where only the query comes past them.
    let connection = Connection::open(project.database()).unwrap();
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(connection);
    let mut bytes = fs::read(project.database()).unwrap();
    bytes[4096..].fill(0xff);
    fs::write(project.database(), bytes).unwrap();
    assert_eq!(project.everything(), wanted);
}

#[test]
fn without_a_place_to_write_the_question_is_answered_from_memory() {
    let project = Project::new();
    project.write("docs/a.md", "---\nstatus: done\n---\n");
    // A folder cannot be made where a file stands, whoever asks.
    project.write(".stepmark/local/cache", "");
    assert_eq!(project.texts("SELECT path FROM artifacts"), ["docs/a.md"]);
    assert!(project.workspace().index().refresh(&Brought::default()).unwrap().in_memory.is_some());
    assert!(
        project
            .ask_with("SELECT 1", &Freshness::AsItIs)
            .unwrap_err()
            .to_string()
            .starts_with("there is no database")
    );
}

#[test]
fn the_database_as_it_is_knows_nothing_new() {
    let project = Project::new();
    project.write("docs/a.md", "---\nstatus: done\n---\n");
    assert!(
        project
            .ask_with("SELECT 1", &Freshness::AsItIs)
            .unwrap_err()
            .to_string()
            .starts_with("there is no database")
    );
    assert_eq!(project.texts("SELECT path FROM artifacts"), ["docs/a.md"]);
    fs::remove_file(project.place("docs/a.md")).unwrap();
    let as_it_is = project.ask_with("SELECT path FROM artifacts", &Freshness::AsItIs).unwrap();
    assert_eq!(as_it_is, [[Cell::Text("docs/a.md".to_owned())]]);
    assert!(project.texts("SELECT path FROM artifacts").is_empty());
}

#[test]
fn the_answer_is_that_of_the_refresh_whatever_becomes_of_the_files() {
    let project = Project::new();
    project.write("docs/a.md", "---\nstatus: done\n---\n");
    let workspace = project.workspace();
    let parts = Parts::ALL;
    let count = |connection: &Connection| {
        connection.query_row("SELECT COUNT(*) FROM artifacts", [], |row| row.get::<_, u64>(0)).unwrap()
    };
    let (connection, _) = workspace.index().refreshed_index(parts, None, Database::on_disk).unwrap();
    // Somebody deletes the files, with the lock, and another process makes them anew: its tables are still
    // empty.
    fs::remove_dir_all(project.place(".stepmark/local/cache")).unwrap();
    let other = Database::on_disk(workspace.root()).unwrap();
    assert_eq!((count(&connection), count(other.connection())), (1, 0));
    assert!(connection.execute("DELETE FROM artifacts", []).is_err(), "it can only read");
}

#[test]
fn a_database_that_another_process_changes_meanwhile_is_looked_at_again() {
    let project = Project::new();
    project.write("docs/a.md", "---\nstatus: done\n---\n");
    project.ask("SELECT path FROM artifacts");
    let workspace = project.workspace();
    let spoil = || {
        let connection = Connection::open(project.database()).unwrap();
        connection.execute_batch("DELETE FROM artifacts; DELETE FROM _files").unwrap();
    };
    let open = |root: &Root| {
        let database = Database::on_disk(root)?;
        spoil();
        Ok(database)
    };
    let (connection, refreshed) = workspace.index().refreshed_index(Parts::ALL, None, open).unwrap();
    let count = connection.query_row("SELECT COUNT(*) FROM artifacts", [], |row| row.get(0));
    assert_eq!((count, refreshed.in_memory), (Ok(1), None));
    let database = Database::on_disk(workspace.root()).unwrap();
    spoil();
    assert!(was_changed(&database.into_reading().unwrap_err()));
}

#[cfg(unix)]
#[test]
fn a_database_elsewhere_is_not_touched_through_a_link() {
    let project = Project::new();
    project.write("docs/a.md", "---\nstatus: done\n---\n");
    let outside = tempfile::tempdir().unwrap();
    let precious = outside.path().join("precious.db");
    Connection::open(&precious)
        .unwrap()
        .execute_batch("CREATE TABLE events (y); CREATE TABLE x (y)")
        .unwrap();
    let before = fs::read(&precious).unwrap();
    for freshness in [Freshness::Now, Freshness::AsItIs] {
        fs::create_dir_all(project.place(".stepmark/local/cache")).unwrap();
        let _none_at_first = fs::remove_file(project.database());
        std::os::unix::fs::symlink(&precious, project.database()).unwrap();
        let asked = project.ask_with("SELECT path FROM artifacts", &freshness);
        match freshness {
            Freshness::AsItIs => assert!(asked.unwrap_err().to_string().starts_with("there is no database")),
            _ => assert_eq!(asked.unwrap(), [[Cell::Text("docs/a.md".to_owned())]]),
        }
    }
    assert!(fs::read(&precious).unwrap() == before);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1, "no log beside it");
}

#[test]
fn many_ask_at_once_while_the_cache_is_deleted() {
    let project = Project::new();
    for number in 0..20 {
        project.write(&format!("docs/{number:02}.md"), "---\nstatus: done\n---\n");
    }
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    assert_eq!(project.texts("SELECT COUNT(*) FROM artifacts"), ["20"]);
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..10 {
                let _another_may_have_been_faster =
                    fs::remove_dir_all(project.place(".stepmark/local/cache"));
                thread::sleep(Duration::from_millis(5));
            }
        });
    });
}

#[test]
fn tickets_are_what_the_caller_says() {
    let project = Project::new();
    let ticket = |marker: &str, action: Option<&str>| TicketRow {
        tracker: "main".to_owned(),
        marker: marker.to_owned(),
        action: action.map(str::to_owned),
        differs: vec!["title".to_owned(), "body".to_owned()],
        ..TicketRow::default()
    };
    let sql = "SELECT marker, action, differs FROM tickets";
    let ask = |tickets: &[TicketRow]| {
        project
            .ask_with(sql, &Freshness::NowWith(Brought { tickets: tickets.to_vec(), ..Brought::default() }))
            .unwrap()
    };
    let text = |text: &str| Cell::Text(text.to_owned());
    assert_eq!(
        ask(&[ticket("b", None), ticket("a", Some("update")), ticket("a", Some("update"))]),
        [
            vec![text("a"), text("update"), text("title, body")],
            vec![text("b"), Cell::Null, text("title, body")]
        ]
    );
    assert!(ask(&[]).is_empty());
}

#[derive(Clone, Debug)]
enum Edit {
    Write(usize, usize),
    Delete(usize),
    Catalogue(usize),
    Lease(usize),
    Ask(usize),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        4 => (0..4_usize, 0..TEXTS.len()).prop_map(|(file, text)| Edit::Write(file, text)),
        1 => (0..4_usize).prop_map(Edit::Delete),
        1 => (0..CATALOGUES.len()).prop_map(Edit::Catalogue),
        1 => (0..2_usize).prop_map(Edit::Lease),
        2 => (0..64_usize).prop_map(Edit::Ask),
    ];
    proptest::collection::vec(edit, 1..14)
}

const TEXTS: [&str; 6] = [
    "no state\n",
    "---\nstatus: done\n---\n",
    "---\nstatus: draft\nid: A\n---\nbody\n",
    "---\nid: B\nstepsCompleted: [1, 2]\ndelegation: {parent_id: A}\n---\n",
    "---\nstatus: [1\n---\n",
    "---\nstepsCompleted: [1, 1]\nstatus: nothing-known\n---\n",
];

const CATALOGUES: [&str; 3] = ["name,module\na,b\n", "module,name,x\nb,a,c\nd,e,f\n", ""];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_way_to_a_state_does_not_show(edits in edits()) {
        let project = Project::new();
        for edit in edits {
            match edit {
                Edit::Write(file, text) => project.write(&format!("docs/{file}.md"), TEXTS[text]),
                Edit::Delete(file) => drop(fs::remove_file(project.place(&format!("docs/{file}.md")))),
                Edit::Catalogue(text) => {
                    project.write(".stepmark/manifests/agent-manifest.csv", CATALOGUES[text]);
                }
                Edit::Lease(number) => {
                    project.write(&format!(".stepmark/local/leases/{number}.json"), "no lease");
                }
                // Some parts are brought up to date, others are left behind.
                Edit::Ask(choice) => {
                    for (place, table) in tables().enumerate().filter(|(place, _)| choice >> (place % 6) & 1 == 1) {
                        prop_assert!(place < 64);
                        project.ask(&format!("SELECT COUNT(*) FROM {}", table.name));
                    }
                }
            }
        }
        let by_and_by = project.everything();
        fs::remove_dir_all(project.place(".stepmark/local/cache")).unwrap();
        prop_assert_eq!(by_and_by, project.everything());
    }
}
