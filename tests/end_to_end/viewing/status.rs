//! `stepmark status`

use insta::assert_snapshot;

use crate::harness::{
    Sandbox,
    demo::PRD,
    sprint::{LEDGER, ledger, path, story},
};

#[test]
fn shows_every_artifact_and_writes_nothing() {
    assert_snapshot!(Sandbox::demo().reads_only(&["status"]), @r"
    exit 0
    ── stdout
    ARTIFACT                        DONE  STATUS       NEXT                PROBLEMS
    brainstorming-session-2026-01…  2/4   -            step-03-technique…  -
    architecture  Architecture de…  5/8   -            step-06-structure   -
    epics                           2/?   draft        -                   1 error
    market-research-2026-01-13      -     -            -                   1 error
    prd  Requirements: Toolshed     5/14  draft        step-04-journeys    -
    product-brief-toolshed-2026-0…  6/6   -            finished            -
    Epic 1 (0 of 1 done)
      1-1-borrow-a-tool             -     in-progress  status → review     1 warning
    ");
}

#[test]
fn answers_in_json() {
    let run = Sandbox::demo().reads_only(&["status", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let answer = run.json("stepmark.status/2");
    let artifacts = answer["artifacts"].as_array().unwrap();
    assert_eq!((&answer["root"], &answer["files"], artifacts.len()), (&"[ROOT]".into(), &7.into(), 7));
    let prd = artifacts.iter().find(|artifact| artifact["path"] == PRD).unwrap();
    let shown = Sandbox::demo().reads_only(&["show", "--json", PRD]).json("stepmark.show/2");
    let keys = prd.as_object().unwrap().keys();
    let count = keys.len();
    let others: Vec<&String> = keys.filter(|key| prd[*key] != shown[*key]).collect();
    assert!(count == 15 && others == ["title"], "{prd} {shown}");
    assert_eq!(prd["title"], "Requirements: Toolshed");
}

/// A project with an epic of twelve stories, of which two are done, and a blog.
fn shelf() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write("_bmad-output/epics.md", "---\nstepsCompleted: [1]\n---\n## Epic 1: Lend\n");
    for number in 1..=12 {
        let name = format!("1-{number}-part");
        sandbox.write(&path(&name), story(&name, Some(if number < 3 { "done" } else { "review" }), None));
    }
    sandbox.write("blog/2026-01-01-hello.md", "---\ntitle: Hello\nstatus: published\n---\n# Hello\n");
    sandbox
}

#[test]
fn groups_by_epic_in_natural_order_and_leaves_out_what_is_done_first() {
    let shelf = shelf();
    assert_snapshot!(shelf.reads_only(&["status", "--limit", "4"]), @r"
    exit 0
    ── stdout
    ARTIFACT             DONE  STATUS  NEXT
    epics  Epic 1: Lend  1/?   -       -
    Epic 1: Lend (2 of 12 done)
      1-3-part           -     review  status → done
      1-4-part           -     review  status → done
      1-5-part           -     review  status → done
    and 9 more (2 done): `stepmark status --all`
    1 file with nothing but a status: `stepmark status --all`
    ");
    for (arguments, expected) in [
        (&["status"][..], 13),
        (&["status", "--limit", "11"], 11),
        (&["status", "--limit", "12"], 12),
        (&["status", "--all"], 14),
    ] {
        let run = shelf.reads_only(arguments);
        assert_eq!(run.code, 0, "{run}");
        let is_artifact = |line: &&str| ["  1-", "epics", "2026"].iter().any(|start| line.starts_with(start));
        assert_eq!(run.stdout.lines().filter(is_artifact).count(), expected, "{run}");
        assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{run}");
        assert_eq!(run.stdout.contains("2026-01-01-hello"), arguments.contains(&"--all"), "{run}");
    }
    let json = |arguments: &[&str]| {
        let answer = shelf.reads_only(&[&["status", "--json"], arguments].concat()).json("stepmark.status/2");
        let paths = answer["artifacts"].as_array().unwrap().iter();
        let stems = paths.map(|one| one["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned());
        (
            stems.collect::<Vec<_>>(),
            answer["total"].as_u64().unwrap(),
            answer["status_only"].as_u64().unwrap(),
        )
    };
    let (all, total, posts) = json(&[]);
    assert_eq!((all.len(), total, posts), (13, 13, 1));
    assert!(
        all.iter().position(|name| name == "1-2-part.md")
            < all.iter().position(|name| name == "1-10-part.md")
    );
    assert_eq!(json(&["--limit", "2"]).0, ["epics.md", "1-3-part.md"]);
    assert_eq!(json(&["--all"]).0.len(), 14);
}

#[test]
fn quiet_leaves_out_remarks_alone() {
    let demo = Sandbox::demo();
    assert_eq!(demo.stepmark(&["status", "-q"]), demo.stepmark(&["status"]));
    let empty = Sandbox::empty();
    assert_snapshot!(empty.reads_only(&["status"]), @r"
    exit 0
    ── stdout
    no artifact with workflow state among 0 Markdown files of [ROOT]
    a Markdown file with `stepsCompleted` or `status` in its frontmatter is one
    ");
    assert_snapshot!(empty.reads_only(&["status", "--quiet"]), @"exit 0");
}

#[test]
fn finds_the_project_from_a_folder_inside_and_from_outside() {
    let demo = Sandbox::demo();
    let here = demo.stepmark(&["status"]);
    let inside =
        demo.run(demo.command(&["status"]).current_dir(demo.place("_bmad-output/planning-artifacts")));
    assert_eq!(inside, here);
    let root = demo.root().to_str().unwrap();
    let outside = demo.run(demo.command(&["status", "--root", root]).current_dir(demo.outside()));
    assert_eq!(outside, here);
}

#[test]
fn shows_the_readable_artifacts_beside_those_that_are_not() {
    let demo = Sandbox::demo();
    let large = std::fs::File::create(demo.place("large.md")).unwrap();
    large.set_len(64 * 1024 * 1024 + 1).unwrap();
    let run = demo.reads_only(&["status"]);
    assert_eq!(run.code, 4, "{run}");
    assert_eq!(run.stdout, Sandbox::demo().stepmark(&["status"]).stdout);
    assert_snapshot!(run.stderr, @"warning: cannot read `large.md`: it has more than the 67108864 bytes that stepmark reads");
    let answer = demo.reads_only(&["status", "--json"]).json("stepmark.status/2");
    assert_eq!(answer["unreadable"].as_array().unwrap().len(), 1, "{answer}");
}

/// A story that its lifecycle does not know the status of, one that its ledger contradicts, one that waits
/// for its import.
fn sprint() -> Sandbox {
    let sandbox = Sandbox::empty();
    for (name, status) in [("1-1-lend", "blocked"), ("1-2-mend", "review"), ("1-3-count", "done")] {
        sandbox.write(&path(name), story(name, Some(status), None));
    }
    sandbox.write(&path("1-4-label"), story("1-4-label", None, Some("done")));
    let said =
        [("epic-1", "in-progress"), ("1-1-lend", "blocked"), ("1-2-mend", "done"), ("1-3-count", "done")];
    sandbox.write(LEDGER, ledger(&said));
    sandbox
}

#[test]
fn counts_what_check_finds() {
    let sandbox = sprint();
    assert_snapshot!(sandbox.reads_only(&["status"]), @r"
    exit 0
    ── stdout
    ARTIFACT     STATUS        NEXT            PROBLEMS
    Epic 1 (1 of 4 done)
      1-1-lend   blocked       -               1 warning
      1-2-mend   review        status → done   1 warning
      1-3-count  done          -               -
      1-4-label  not imported  import stories  -
    ── stderr
    warning: 1 story has no status in its frontmatter and waits for `stepmark import stories`
    ");
    let checked = sandbox.reads_only(&["check", "--format", "json"]).json("stepmark.check/1");
    let counted = sandbox.reads_only(&["status", "--json"]).json("stepmark.status/2");
    let counts = counted["artifacts"].as_array().unwrap().iter().map(|artifact| &artifact["problems"]);
    let sum = |kind: &str| counts.clone().map(|counts| counts[kind].as_u64().unwrap()).sum::<u64>();
    let found = |severity: &str| {
        let all = checked["findings"].as_array().unwrap().iter();
        all.filter(|finding| finding["severity"] == severity).count() as u64
    };
    assert_eq!((sum("errors"), sum("warnings")), (found("error"), found("warning")));
    let listed = sandbox.reads_only(&["list", "--where", "problems>0", "--columns", "path"]);
    assert!(listed.stdout.contains("1-1-lend") && listed.stdout.contains("1-2-mend"), "{listed}");
    assert!(!listed.stdout.contains("1-3-count"), "{listed}");
    let all = sandbox.reads_only(&["list", "--sort", "-problems,path", "--columns", "problems,path"]);
    assert!(all.stdout.lines().nth(3).is_some_and(|line| line.starts_with('0')), "{all}");
}

#[test]
fn tells_of_a_ledger_that_cannot_be_read() {
    let sandbox = sprint();
    sandbox.write(LEDGER, "development_status: [unclosed\n");
    let run = sandbox.reads_only(&["status"]);
    let warning = format!("{LEDGER}: 1 error; `stepmark check` says what");
    assert!(run.stderr.contains(&warning), "{run}");
    let json = sandbox.reads_only(&["status", "--json"]).json("stepmark.status/2");
    assert_eq!(
        (&json["other_files"][0]["path"], &json["other_files"][0]["problems"]["errors"]),
        (&LEDGER.into(), &1.into())
    );
}

#[test]
fn counts_what_it_can_where_no_check_is_possible() {
    let sandbox = sprint();
    sandbox.write(".stepmark/baseline.json", "nonsense");
    let run = sandbox.reads_only(&["status"]);
    assert_eq!(run.code, 4, "{run}");
    assert!(run.stdout.contains("1-1-lend") && run.stderr.contains("baseline"), "{run}");
}

/// The page counts them so.
#[test]
fn stories_without_a_file_count_and_what_was_delegated_stands_below_its_parent() {
    let sandbox = Sandbox::demo();
    let folder = "_bmad-output/implementation-artifacts";
    let ledger = "development_status:\n  epic-1: in-progress\n  1-1-borrow-a-tool: in-progress\n  1-2-return: backlog\n  2-1-find: backlog\n";
    sandbox.write(&format!("{folder}/sprint-status.yaml"), ledger);
    let prd = "_bmad-output/planning-artifacts/prd.md";
    assert_eq!(sandbox.stepmark(&["delegate", prd, "--to", "Winston"]).code, 0);
    let status = sandbox.stepmark(&["status"]);
    let lines: Vec<&str> = status.stdout.lines().collect();
    assert!(lines.contains(&"Epic 1 (0 of 2 done, 1 not written)"), "{status}");
    assert!(lines.contains(&"Epic 2 (0 of 1 done, 1 not written)"), "{status}");
    let parent = lines.iter().position(|line| line.starts_with("prd")).unwrap();
    assert!(lines[parent + 1].starts_with("  winston-"), "{status}");
    assert!(sandbox.stepmark(&["next", "Winston"]).stdout.contains("status → in-progress"));
    let json = sandbox.stepmark(&["status", "--json"]).json("stepmark.status/2");
    let titles = json["artifacts"].as_array().unwrap().iter().map(|row| &row["title"]);
    assert!(
        titles.filter(|title| **title == "Requirements: Toolshed").count() == 1,
        "the heading, where there is no title"
    );
}

/// Open action items of retrospectives are counted; the list is not changed.
#[test]
fn open_action_items_of_a_ledger_are_counted() {
    let sandbox = Sandbox::empty();
    sandbox.write(&path("1-1-a"), story("1-1-a", Some("done"), None));
    let item = |number: u8, status: &str| {
        format!("  - id: \"epic-1-retro-item-{number}\"\n    status: \"{status}\"\n")
    };
    let items =
        |last: &str| format!("action_items:\n{}{}{}", item(1, "open"), item(2, "done"), item(3, last));
    sandbox.write(LEDGER, ledger(&[("epic-1", "done"), ("1-1-a", "done")]) + &items("in-progress"));
    let said = sandbox.reads_only(&["status"]).stdout;
    assert!(said.contains(&format!("2 open action items of retrospectives in {LEDGER}")), "{said}");
    let answer = sandbox.reads_only(&["status", "--json"]).json("stepmark.status/2");
    let open = ["epic-1-retro-item-1", "epic-1-retro-item-3"];
    assert_eq!(answer["open_action_items"], serde_json::json!(open));
    sandbox.write(
        LEDGER,
        ledger(&[("epic-1", "done"), ("1-1-a", "done")]) + &items("done").replace("open", "done"),
    );
    assert!(!sandbox.reads_only(&["status"]).stdout.contains("action item"));
}
