//! `stepmark import stories`: the state of a project of BMAD comes into its frontmatter, by a decision.

use insta::assert_snapshot;

use crate::harness::{
    Sandbox, changed_lines,
    sprint::{FOLDER, LEDGER, ledger, path, sprint, story},
};

/// A story that disagrees, one that does not, and one that no ledger lists.
fn small() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(&path("1-1-a"), story("1-1-a", None, Some("review")));
    sandbox.write(&path("1-2-b"), story("1-2-b", None, Some("ready-for-dev")).replace('\n', "\r\n"));
    sandbox.write(&path("1-3-c"), story("1-3-c", Some("done"), None));
    sandbox.write(
        LEDGER,
        ledger(&[("epic-1", "in-progress"), ("1-1-a", "done"), ("1-2-b", "drafted # old word")]),
    );
    sandbox
}

#[test]
fn every_disagreement_is_shown_and_nobody_is_guessed_to_win() {
    assert_snapshot!(small().reads_only(&["import", "stories"]), @r"
    exit 1
    ── stdout
    STORY                                           FRONTMATTER  STATUS LINE    SPRINT STATUS  CHOSEN
    _bmad-output/implementation-artifacts/1-1-a.md  -            review         done           ?
    _bmad-output/implementation-artifacts/1-2-b.md  -            ready-for-dev  drafted        ready-for-dev
    ── stderr
    error: 1 story disagrees with its ledgers, and nobody said which side wins; nothing was written
      help: say which: `--prefer frontmatter`, `--prefer status-line`, `--prefer sprint-status`, or `--prefer furthest` for the one that is furthest along; `--dry-run` shows what it comes to
    ");
}

#[test]
fn the_preferred_side_comes_into_the_frontmatter_and_all_agree() {
    let sandbox = small();
    let dry = sandbox.reads_only(&["import", "stories", "--prefer", "status-line", "--dry-run"]);
    assert_eq!(dry.code, 0, "{dry}");
    let before = [LEDGER.to_owned(), path("1-1-a"), path("1-2-b")].map(|path| (sandbox.read(&path), path));
    assert_snapshot!(sandbox.stepmark(&["import", "stories", "--prefer", "status-line"]), @r"
    exit 0
    ── stdout
    STORY                                           FRONTMATTER  STATUS LINE    SPRINT STATUS  CHOSEN
    _bmad-output/implementation-artifacts/1-1-a.md  -            review         done           review
    _bmad-output/implementation-artifacts/1-2-b.md  -            ready-for-dev  drafted        ready-for-dev
    2 stories written, 0 unchanged; 1 value of ledgers written
    ");
    let changes = before.iter().map(|(bytes, path)| changed_lines(bytes, &sandbox.read(path)));
    assert_snapshot!(changes.collect::<String>(), @r"
    -  1-1-a: done
    +  1-1-a: review
    +---
    +status: review
    +---
    +---␍
    +status: ready-for-dev␍
    +---␍
    ");
    let again = sandbox.reads_only(&["import", "stories", "--prefer", "status-line"]);
    assert_eq!((again.code, again.stderr.as_str()), (0, ""), "{again}");
    let log = sandbox.stepmark(&["log", &path("1-1-a"), "--json"]).json("stepmark.log/1");
    let event = &log["events"][0];
    assert_eq!(
        (event["kind"].as_str(), event["reason"].as_str()),
        (Some("import"), Some("status-line wins"))
    );
    assert_eq!(sandbox.stepmark(&["replay", "--verify"]).code, 0);
}

#[test]
fn sixty_of_eighty_two_disagree_and_afterwards_none() {
    for prefer in ["status-line", "sprint-status"] {
        let sandbox = sprint(82, 22);
        let asked = sandbox.reads_only(&["import", "stories", "--json"]);
        let answer = asked.json("stepmark.import-stories/1");
        let disputed = |story: &&serde_json::Value| story["disputed"] == true;
        let stories = answer["stories"].as_array().unwrap();
        assert_eq!((asked.code, stories.len(), stories.iter().filter(disputed).count()), (1, 82, 60));
        let done = sandbox.stepmark(&["import", "stories", "--prefer", prefer]);
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{done}");
        let check = sandbox.stepmark(&["check", "--json"]).json("stepmark.check/1");
        let rules: Vec<&str> = check["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["rule"].as_str().unwrap())
            .collect();
        assert!(!rules.iter().any(|rule| rule.contains("disagree")), "{prefer}: {rules:?}");
        assert_eq!(sandbox.stepmark(&["project"]).code, 0);
        assert_eq!(sandbox.reads_only(&["project", "--ledgers"]).code, 0);
        assert_eq!(
            sandbox.reads_only(&["import", "stories", "--prefer", "sprint-status"]).code,
            0,
            "they agree"
        );
    }
}

#[test]
fn what_cannot_be_written_is_told_and_the_others_are_imported() {
    let sandbox = sprint(5, 0);
    let held = path("1-2-part-1");
    let mut lease = sandbox.command(&["lease", "take", &held]);
    lease.env("STEPMARK_SESSION", "other").env("STEPMARK_ACTOR", "agent:other");
    assert_eq!(sandbox.run(&mut lease).code, 0);
    sandbox.write(
        &path("1-3-part-2"),
        "---\nstatus: done\nstatus: review\n---\n# Story 1.3\n\nStatus: backlog\n",
    );
    let done = sandbox.stepmark(&["import", "stories", FOLDER, "--prefer", "sprint-status"]);
    assert_eq!(done.code, 1, "{done}");
    assert!(done.stdout.contains("3 stories written"), "{done}");
    for reason in ["agent:other in session other holds its lease", "1-3-part-2"] {
        assert!(done.stderr.contains(reason), "{reason}: {done}");
    }
    let one = sandbox.stepmark(&["import", "stories", &path("1-1-part-0"), "--prefer", "status-line"]);
    assert_eq!(one.code, 0, "it agrees with itself: {one}");
}

#[test]
fn stories_of_a_broken_ledger_are_left_out_and_named() {
    let sandbox = sprint(2, 2);
    let broken = String::from_utf8(sandbox.read(LEDGER)).unwrap() + "last_updated: today: noon\n";
    sandbox.write(LEDGER, &broken);
    sandbox.write("docs/7-1-z.md", story("7-1-z", None, Some("review")));
    for arguments in [&["import", "stories"][..], &["import", "stories", "--prefer", "sprint-status"]] {
        let done = sandbox.stepmark(arguments);
        assert_eq!(done.code, 1, "{done}");
        assert!(done.stdout.contains("SM308") && !done.stdout.contains("1-1-part-0"), "{done}");
        for name in ["1-1-part-0", "1-2-part-1"] {
            assert!(done.stderr.contains(&format!("{name}.md: left out")), "{done}");
            assert!(!String::from_utf8(sandbox.read(&path(name))).unwrap().contains("status:"), "{done}");
        }
    }
    assert!(
        String::from_utf8(sandbox.read("docs/7-1-z.md")).unwrap().contains("status: review"),
        "another ledger"
    );
    assert_eq!(sandbox.read(LEDGER), broken.as_bytes());
    let answer = sandbox.stepmark(&["import", "stories", "--json"]).json("stepmark.import-stories/1");
    assert_eq!(
        answer["waiting_for_ledger"][0],
        serde_json::json!({"path": path("1-1-part-0"), "ledger": LEDGER})
    );
}

/// A side that says nothing cannot win, and no other wins in its name.
#[test]
fn where_the_preferred_side_is_silent_the_others_must_agree() {
    let sandbox = small();
    sandbox.write(&path("1-4-d"), story("1-4-d", Some("in-progress"), Some("review")));
    assert_snapshot!(sandbox.reads_only(&["import", "stories", "--prefer", "sprint-status"]), @r"
    exit 1
    ── stdout
    STORY                                           FRONTMATTER  STATUS LINE    SPRINT STATUS  CHOSEN
    _bmad-output/implementation-artifacts/1-1-a.md  -            review         done           done
    _bmad-output/implementation-artifacts/1-2-b.md  -            ready-for-dev  drafted        ready-for-dev
    _bmad-output/implementation-artifacts/1-4-d.md  in-progress  review         -              ?
    ── stderr
    error: 1 story disagrees with its ledgers, and `sprint-status` says nothing of it; nothing was written
      help: import it first, by a side that says something: `stepmark import stories --prefer SIDE PATH…`
    ");
    let refused = sandbox.reads_only(&["import", "stories", "--prefer", "frontmatter", "--json"]);
    let answer = refused.json("stepmark.import-stories/1");
    assert_eq!((refused.code, &answer["stories"][0]["winner"]), (1, &serde_json::Value::Null), "{refused}");
    assert_eq!(answer["stories"][1]["chosen"], "ready-for-dev", "what the others agree on");
    let one = sandbox.stepmark(&["import", "stories", "--prefer", "status-line", &path("1-4-d")]);
    assert_eq!(one.code, 0, "{one}");
    assert_eq!(sandbox.stepmark(&["import", "stories", "--prefer", "sprint-status"]).code, 0);
    let text = |name: &str| String::from_utf8(sandbox.read(&path(name))).unwrap();
    assert!(text("1-4-d").contains("status: review") && text("1-1-a").contains("status: done"));
}

/// BMAD 6.0 keeps no frontmatter: its dev-story workflow writes the line and the ledger, also after an
/// import.
#[test]
fn what_a_workflow_of_bmad_moves_is_taken_in() {
    let sandbox = small();
    sandbox.stepmark(&["import", "stories", "--prefer", "status-line"]);
    let moved = |sandbox: &Sandbox| {
        let story = String::from_utf8(sandbox.read(&path("1-2-b"))).unwrap();
        sandbox.write(&path("1-2-b"), story.replace("Status: ready-for-dev", "Status: review"));
        sandbox.write(LEDGER, ledger(&[("epic-1", "in-progress"), ("1-1-a", "review"), ("1-2-b", "review")]));
    };
    moved(&sandbox);
    let before = sandbox.read(&path("1-2-b"));
    let run = sandbox.stepmark(&["check", "--fix", "--unsafe-fixes"]);
    assert_eq!(sandbox.read(&path("1-2-b")), before, "{run}");
    assert!(run.stdout.contains("import stories --prefer furthest"), "{run}");
    let run = sandbox.stepmark(&["import", "stories", "--prefer", "furthest"]);
    assert_snapshot!(run, @r"
    exit 0
    ── stdout
    STORY                                           FRONTMATTER    STATUS LINE  SPRINT STATUS  CHOSEN
    _bmad-output/implementation-artifacts/1-2-b.md  ready-for-dev  review       review         review
    1 story written, 0 unchanged; 0 values of ledgers written
    ");
    assert_eq!(sandbox.reads_only(&["check", &path("1-2-b")]).code, 0);
    let shown = String::from_utf8(sandbox.read(&path("1-2-b"))).unwrap();
    assert!(shown.starts_with("---\r\nstatus: review\r\n---\r\n"), "{shown}");
    let log = sandbox.stepmark(&["log", &path("1-2-b")]);
    assert!(log.stdout.contains("import"), "{log}");
}

#[test]
fn what_a_review_of_bmad_sent_back_is_taken_in_by_its_side() {
    let sandbox = Sandbox::empty();
    let lamp = path("1-1-lamp");
    sandbox.write(&lamp, story("1-1-lamp", None, Some("in-progress")));
    sandbox.write(LEDGER, ledger(&[("epic-1", "in-progress"), ("1-1-lamp", "in-progress")]));
    assert_eq!(sandbox.stepmark(&["import", "stories"]).code, 0);
    assert_eq!(sandbox.stepmark(&["transition", "1.1", "review"]).code, 0);
    // The workflow `code-review` writes line and ledger.
    for file in [&lamp, LEDGER] {
        let text = String::from_utf8(sandbox.read(file)).unwrap();
        let text = text.replace("Status: review", "Status: in-progress");
        sandbox.write(file, text.replace("1-1-lamp: review", "1-1-lamp: in-progress"));
    }
    let before = sandbox.read(&lamp);
    let check = sandbox.stepmark(&["check", "1.1"]).stdout;
    assert!(check.contains("--prefer sprint-status"), "{check}");
    sandbox.stepmark(&["check", "--fix"]);
    assert_eq!(before, sandbox.read(&lamp));
    assert_snapshot!(sandbox.stepmark(&["import", "stories", "--prefer", "sprint-status"]), @r"
    exit 0
    ── stdout
    STORY                                              FRONTMATTER  STATUS LINE  SPRINT STATUS  CHOSEN
    _bmad-output/implementation-artifacts/1-1-lamp.md  review       in-progress  in-progress    in-progress
    1 story written, 0 unchanged; 0 values of ledgers written
    ");
    let text = String::from_utf8(sandbox.read(&lamp)).unwrap();
    assert!(text.contains("status: in-progress\n") && text.contains("Status: in-progress\n"), "{text}");
    assert_eq!(sandbox.stepmark(&["check"]).code, 0);
    let log = sandbox.stepmark(&["log", "1.1", "--limit", "1"]).stdout;
    assert!(log.contains("status review → in-progress"), "{log}");
}

#[test]
fn a_story_that_came_after_the_import_is_told_by_all_that_lead_on() {
    let sandbox = Sandbox::empty();
    sandbox.write(&path("1-1-lamp"), story("1-1-lamp", None, Some("done")));
    sandbox.write(LEDGER, ledger(&[("epic-1", "in-progress"), ("1-1-lamp", "done"), ("1-2-dim", "review")]));
    assert_eq!(sandbox.stepmark(&["import", "stories"]).code, 0);
    sandbox.write(&path("1-2-dim"), story("1-2-dim", None, Some("review")));
    assert_snapshot!(sandbox.stepmark(&["check"]), @r"
    exit 0
    ── stdout
    note[SM311]: the story is not imported: its frontmatter has no status
     --> _bmad-output/implementation-artifacts/1-2-dim.md:3:9
      |
    3 | Status: review
      |         ^^^^^^
      |
      = help: `stepmark import stories _bmad-output/implementation-artifacts/1-2-dim.md` takes it in

    2 artifacts: 0 errors, 0 warnings, 1 note
    ");
    let status = sandbox.stepmark(&["status"]).stdout;
    assert!(status.contains("1-2-dim   not imported  import stories"), "{status}");
    let next = sandbox.stepmark(&["next"]);
    assert!(next.code == 1 && next.stderr.contains("help: `stepmark import stories`"), "{next}");
    let moved = sandbox.stepmark(&["transition", "1.2", "done"]);
    assert!(moved.code == 1 && moved.stderr.contains("help: `stepmark import stories _bmad"), "{moved}");
}
