//! `stepmark project --ledgers`: `sprint-status.yaml` and `Status:` lines are what frontmatter says.

use insta::assert_snapshot;

use crate::harness::{
    Repository, Sandbox, changed_lines,
    sprint::{LEDGER, ledger, path, story},
};

/// Stories with frontmatter: name, status there, in the line and in the ledger.
fn project(stories: &[(&str, &str, &str, &str)]) -> Sandbox {
    let sandbox = Sandbox::empty();
    let mut entries = vec![("epic-1", "in-progress")];
    for (name, frontmatter, line, listed) in stories {
        sandbox.write(&path(name), story(name, Some(frontmatter), (!line.is_empty()).then_some(*line)));
        if !listed.is_empty() {
            entries.push((name, listed));
        }
    }
    sandbox.write(LEDGER, ledger(&entries));
    sandbox
}

#[test]
fn both_ledgers_follow_and_nothing_else_differs() {
    let sandbox = project(&[
        ("1-1-a", "done", "review", "in-progress"),
        ("1-2-b", "in-review", "Review", "review # Ana"),
        ("1-3-c", "ready-for-dev", "", "'backlog'"),
        ("1-4-d", "review", "review", ""),
    ]);
    let crlf = String::from_utf8(sandbox.read(LEDGER)).unwrap().replace('\n', "\r\n");
    sandbox.write(LEDGER, &crlf);
    let before = sandbox.read(&path("1-1-a"));
    assert_snapshot!(sandbox.stepmark(&["project", "--ledgers"]), @r"
    exit 0
    ── stdout
    _bmad-output/implementation-artifacts/1-1-a.md: 1-1-a: `review` → `done`
    _bmad-output/implementation-artifacts/1-2-b.md: 1-2-b: `Review` → `in-review`
    _bmad-output/implementation-artifacts/sprint-status.yaml: 1-1-a: `in-progress` → `done`
    _bmad-output/implementation-artifacts/sprint-status.yaml: 1-3-c: `backlog` → `ready-for-dev`
    _bmad-output/implementation-artifacts/sprint-status.yaml: 1-4-d: nothing → `review`
    ledgers: 4 story files, 3 written, 0 removed, 1 unchanged
    ");
    assert_snapshot!(changed_lines(crlf.as_bytes(), &sandbox.read(LEDGER)), @r"
    -  1-1-a: in-progress␍
    +  1-1-a: done␍
    -  1-3-c: 'backlog'␍
    +  1-3-c: 'ready-for-dev'␍
    +  1-4-d: 'review'␍
    ");
    assert_snapshot!(changed_lines(&before, &sandbox.read(&path("1-1-a"))), @r"
    -Status: review
    +Status: done
    ");
    let again = sandbox.reads_only(&["project", "--ledgers"]);
    assert_eq!((again.code, again.stderr.as_str()), (0, ""), "{again}");
    let check = sandbox.reads_only(&["check"]);
    assert_eq!(check.code, 0, "{check}");
}

#[test]
fn the_frontmatter_wins_and_a_word_that_no_lifecycle_has_is_left() {
    let sandbox = project(&[
        ("1-1-a", "in-progress", "review", "done"),
        ("1-2-b", "done", "done", "review"),
        ("1-3-c", "review", "review", "shipped"),
    ]);
    let before = sandbox.read(LEDGER);
    assert_snapshot!(sandbox.stepmark(&["project", "--ledgers"]), @r"
    exit 1
    ── stdout
    _bmad-output/implementation-artifacts/1-1-a.md: 1-1-a: `review` → `in-progress`
    _bmad-output/implementation-artifacts/sprint-status.yaml: 1-1-a: `done` → `in-progress`
    _bmad-output/implementation-artifacts/sprint-status.yaml: 1-2-b: `review` → `done`
    ledgers: 3 story files, 2 written, 0 removed, 2 unchanged
    ── stderr
    warning: _bmad-output/implementation-artifacts/1-3-c.md: `_bmad-output/implementation-artifacts/sprint-status.yaml` says `shipped`, its frontmatter `review`: left, since no lifecycle has that word; `stepmark import stories --prefer SIDE _bmad-output/implementation-artifacts/1-3-c.md` says which side wins
    ");
    assert_snapshot!(changed_lines(&before, &sandbox.read(LEDGER)), @r"
    -  1-1-a: done
    -  1-2-b: review
    +  1-1-a: in-progress
    +  1-2-b: done
    ");
    let chosen = sandbox.stepmark(&["import", "stories", "--prefer", "frontmatter"]);
    assert_eq!((chosen.code, chosen.stderr.as_str()), (0, ""), "{chosen}");
    assert_eq!(sandbox.reads_only(&["project", "--ledgers"]).code, 0);
    assert_eq!(sandbox.stepmark(&["replay", "--verify"]).code, 0);
}

#[test]
fn a_ledger_that_is_no_yaml_is_shown_and_left_alone() {
    let sandbox = project(&[("1-1-a", "done", "review", "backlog")]);
    let broken =
        String::from_utf8(sandbox.read(LEDGER)).unwrap() + "\nlast_updated: 2026-05-02: after review\n";
    sandbox.write(LEDGER, &broken);
    assert_snapshot!(sandbox.stepmark(&["project", "--ledgers"]), @r"
    exit 1
    ── stdout
    _bmad-output/implementation-artifacts/1-1-a.md: 1-1-a: `review` → `done`
    error[SM308]: not YAML: mapping values are not allowed in this context
      --> _bmad-output/implementation-artifacts/sprint-status.yaml:12:25
       |
    12 | last_updated: 2026-05-02: after review
       |                         ^
       |
       = help: put a value with `: ` or ` #` in it, or one that begins with a sign, in quotes
    ledgers: 1 story file, 1 written, 0 removed, 0 unchanged
    ── stderr
    warning: _bmad-output/implementation-artifacts/sprint-status.yaml:12:25: left alone, since it cannot be read (SM308)
    ");
    assert_eq!(sandbox.read(LEDGER), broken.as_bytes());
    let answer = sandbox.stepmark(&["project", "--ledgers", "--json"]).json("stepmark.project/1");
    assert_eq!(answer["projections"][0]["broken"][0]["line"], 12);
}

/// More than a word stands there, which nobody but the person who wrote it knows how to change.
#[test]
fn a_map_in_the_ledger_is_never_replaced() {
    let sandbox = project(&[
        ("1-1-a", "done", "", "{status: done, owner: Ana, pr: 12}  # x"),
        ("1-2-b", "review", "", "{status: done, owner: Ana}"),
        ("1-3-c", "in-progress", "", "[review]"),
    ]);
    let before = sandbox.read(LEDGER);
    assert_snapshot!(sandbox.stepmark(&["project", "--ledgers"]), @r"
    exit 1
    ── stdout
    ledgers: 3 story files, 0 written, 0 removed, 0 unchanged
    ── stderr
    warning: _bmad-output/implementation-artifacts/1-1-a.md: `_bmad-output/implementation-artifacts/sprint-status.yaml` says a map or a list, its frontmatter `done`: left: that is no word, and what else stands there would be lost
    warning: _bmad-output/implementation-artifacts/1-2-b.md: `_bmad-output/implementation-artifacts/sprint-status.yaml` says a map or a list, its frontmatter `review`: left: that is no word, and what else stands there would be lost
    warning: _bmad-output/implementation-artifacts/1-3-c.md: `_bmad-output/implementation-artifacts/sprint-status.yaml` says a map or a list, its frontmatter `in-progress`: left: that is no word, and what else stands there would be lost
    ");
    let again = sandbox.stepmark(&["project", "--ledgers", "--json"]);
    let left = &again.json("stepmark.project/1")["projections"][0]["left"];
    assert_eq!(left[2]["reason"], "that is no word, and what else stands there would be lost", "{again}");
    let moved = sandbox.stepmark(&["transition", &path("1-3-c"), "review"]);
    assert_eq!(moved.code, 0, "{moved}");
    assert!(
        moved.stderr.contains("a ledger stays behind") && moved.stderr.contains("a map or a list"),
        "{moved}"
    );
    assert_eq!(sandbox.read(LEDGER), before);
}

#[test]
fn a_blank_reason_is_none() {
    let sandbox = project(&[("1-1-a", "in-progress", "", "done")]);
    let story = path("1-1-a");
    for arguments in [
        vec!["transition", &story, "done", "--force", "--reason", " \t"],
        vec!["set", &story, "status=done", "--force", "--reason", ""],
        vec!["undo", "00", "--reason", ""],
        vec!["restore", &story, "--from", "x", "--reason", ""],
    ] {
        let refused = sandbox.reads_only(&arguments);
        assert_eq!(refused.code, 2, "{arguments:?}: {refused}");
        assert!(refused.stderr.contains("a reason is wanted, and this one is blank"), "{refused}");
    }
}

#[test]
fn what_is_not_known_is_told() {
    let sandbox = project(&[("1-1-a", "done", "done", "done"), ("7-1-z", "review", "", "")]);
    sandbox.write(&path("1-2-b"), story("1-2-b", None, Some("review")));
    sandbox.write(&path("epic-1"), "---\nstatus: done\n---\n# Epic 1\n");
    sandbox.write(&path("epic-2"), "---\nstatus: backlog\n---\n# Epic 2\n");
    assert_snapshot!(sandbox.stepmark(&["project", "--ledgers"]), @r"
    exit 1
    ── stdout
    _bmad-output/implementation-artifacts/sprint-status.yaml: epic-1: `in-progress` → `done`
    ledgers: 4 story files, 1 written, 0 removed, 1 unchanged
    ── stderr
    warning: _bmad-output/implementation-artifacts/7-1-z.md: `_bmad-output/implementation-artifacts/sprint-status.yaml` says nothing, its frontmatter `review`: left: its epic is not listed there, so nobody knows where it belongs
    warning: 1 story has no status in its frontmatter and waits for `stepmark import stories`
    ");
    let bare = Sandbox::empty();
    let nothing = bare.reads_only(&["project", "--ledgers"]);
    assert_eq!((nothing.code, nothing.stderr.as_str()), (0, ""), "no ledger is made: {nothing}");
}

#[test]
fn the_nearest_ledger_that_lists_the_story_counts() {
    let sandbox = Sandbox::empty();
    let done = |name: &str| story(name, Some("done"), None);
    sandbox.write("docs/stories/1-1-a.md", done("1-1-a"));
    sandbox.write("docs/stories/1-2-b.md", done("1-2-b"));
    sandbox.write(
        "docs/sprint-status.yaml",
        ledger(&[("epic-1", "in-progress"), ("1-1-a", "review"), ("1-2-b", "review")]),
    );
    sandbox.write("docs/stories/sprint-status.yaml", "development_status:\n  1-2-b: backlog\n");
    sandbox.write("sprint-status.yaml", "development_status:\n  1-1-a: backlog\n  1-2-b: backlog\n");
    let projected = sandbox.stepmark(&["project", "--ledgers"]);
    assert_eq!((projected.code, projected.stderr.as_str()), (0, ""), "{projected}");
    let said = |path: &str| {
        let text = String::from_utf8(sandbox.read(path)).unwrap();
        text.lines().filter(|line| line.contains("-a:") || line.contains("-b:")).collect::<Vec<_>>().join(";")
    };
    assert_eq!(said("docs/sprint-status.yaml"), "  1-1-a: done;  1-2-b: review");
    assert_eq!(said("docs/stories/sprint-status.yaml"), "  1-2-b: done");
    assert_eq!(said("sprint-status.yaml"), "  1-1-a: backlog;  1-2-b: backlog");
}

/// A lease keeps the line of a story from being written, and nothing else.
#[test]
fn a_story_that_somebody_holds_is_left() {
    let sandbox = project(&[("1-1-a", "done", "review", "review"), ("1-2-b", "done", "review", "review")]);
    let mut lease = sandbox.command(&["lease", "take", &path("1-1-a")]);
    lease.env("STEPMARK_SESSION", "other").env("STEPMARK_ACTOR", "agent:other");
    assert_eq!(sandbox.run(&mut lease).code, 0);
    let run = sandbox.stepmark(&["project", "--ledgers", "--json"]);
    assert_eq!(run.code, 1, "{run}");
    let answer = run.json("stepmark.project/1");
    assert_eq!(answer["projections"][0]["entries"].as_array().unwrap().len(), 3, "{run}");
    assert!(run.stderr.contains("agent:other in session other holds its lease"), "{run}");
}

/// BMAD's own sync stops on two keys of one number.
#[test]
fn a_number_has_one_entry() {
    let sandbox = project(&[
        ("1-1-a", "done", "", "done"),
        ("1-2-new", "ready-for-dev", "", ""),
        ("1-3-c", "review", "", ""),
    ]);
    sandbox.write(&path("1-3-other"), story("1-3-other", Some("done"), None));
    sandbox.write(LEDGER, ledger(&[("epic-1", "in-progress"), ("1-1-a", "done"), ("1-2-old", "done")]));
    let before = sandbox.read(LEDGER);
    let run = sandbox.stepmark(&["project", "--ledgers"]);
    assert_eq!((run.code, sandbox.read(LEDGER)), (1, before), "{run}");
    for said in [
        "lists `1-2-old`, the file is `1-2-new`: left",
        "lists `1-3-other`, the file is `1-3-c`: left",
        "lists `1-3-c`, the file is `1-3-other`: left",
    ] {
        assert!(run.stderr.contains(said), "{said}: {run}");
    }
    for command in [&["check"][..], &["import", "stories", "--dry-run"]] {
        let run = sandbox.reads_only(command);
        let found = format!("{}{}", run.stdout, run.stderr);
        assert!(run.code == 1 && found.contains("`1-2-old` is listed as `done`, the file is `_bmad-output/implementation-artifacts/1-2-new.md`"), "{run}");
    }
    assert!(
        !sandbox.reads_only(&["check", &path("1-1-a")]).stdout.contains("SM312"),
        "one artifact is no whole project"
    );
}

/// Such keys are compared with nothing; beside stories with numbers one is somebody's own.
#[test]
fn keys_without_numbers_are_named_where_there_are_no_others() {
    let sandbox = project(&[]);
    sandbox.write(&path("AUTH-1-login"), "---\nstatus: review\n---\n");
    let own = [("epic-auth", "backlog"), ("AUTH-1-login", "review")];
    sandbox.write(LEDGER, ledger(&own));
    let run = sandbox.reads_only(&["check"]);
    let said = "no story is joined to `epic-auth` and 1 more: such a key has no number";
    assert!(run.code == 1 && run.stdout.contains(said), "{run}");
    sandbox.write(LEDGER, ledger(&[&own[..], &[("1-1-a", "backlog")]].concat()));
    assert_eq!(sandbox.reads_only(&["check"]).code, 0);
    // The first line, a comment, says `generated:` too.
    sandbox
        .write(LEDGER, ledger(&[("epic-1", "backlog"), ("1-1-a", "backlog"), ("generated", "2026-01-16")]));
    let run = sandbox.reads_only(&["check", "--format", "short"]);
    assert!(run.stdout.contains(":11:3: note SM312 no story is joined to `generated`:"), "{run}");
}

/// A story whose key has no numbers has the name of its entry; its heading says what it is.
#[test]
fn a_key_without_numbers_is_joined_by_the_name_of_the_file() {
    let sandbox = Sandbox::empty();
    for (name, status) in [("AUTH-1-login", "in-progress"), ("gh-247", "done"), ("press-gauge", "backlog")] {
        sandbox.write(&path(name), format!("---\nstatus: {status}\n---\n# Story {name}: x\n"));
    }
    let entries = [
        ("epic-auth", "backlog"),
        ("AUTH-1-login", "backlog # Ana"),
        ("gh-247", "review"),
        ("press-2-cup", "backlog"),
    ];
    sandbox.write(LEDGER, ledger(&entries));
    let found = sandbox.reads_only(&["check"]);
    assert!(
        found.stdout.contains("`_bmad-output/implementation-artifacts/sprint-status.yaml` says `review`")
    );
    assert!(found.stdout.contains("no story is joined to `press-2-cup`: such a key"), "{found}");
    let moved = sandbox.stepmark(&["transition", &path("AUTH-1-login"), "review"]);
    assert_eq!(moved.code, 0, "{moved}");
    assert_eq!(sandbox.stepmark(&["import", "stories", "--prefer", "furthest"]).code, 0);
    let text = String::from_utf8(sandbox.read(LEDGER)).unwrap();
    for line in ["epic-auth: in-progress\n", "AUTH-1-login: review # Ana\n", "gh-247: done\n"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains("press-gauge"), "what no entry lists is not put in");
    assert_eq!(sandbox.stepmark(&["check"]).code, 0);
}

/// Any name will do where the heading says what the file is, or the configuration how stories are called.
#[test]
fn stories_with_keys_of_a_project_are_joined_by_name_or_by_a_pattern() {
    let sandbox = Sandbox::empty();
    let bare = |status: &str| format!("---\nstatus: {status}\n---\n# Sign in\n\nStatus: {status}\n");
    sandbox.write(&path("login_page"), "---\nstatus: in-progress\n---\n# Story: Login page\n");
    sandbox.write(&path("logout"), "# Story logout: Leave\n\nStatus: review\n");
    sandbox.write(&path("story_pay"), bare("in-progress"));
    let rows = [
        ("epic-1", "backlog"),
        ("login_page", "backlog"),
        ("logout", "review"),
        ("story_pay", "backlog"),
        ("story_ship", "backlog"),
    ];
    sandbox.write(LEDGER, ledger(&rows));
    let found = sandbox.reads_only(&["check"]).stdout;
    assert!(
        found.contains("no story is joined to `story_pay` and 1 more") && found.contains("key_pattern"),
        "{found}"
    );
    assert!(found.contains("logout.md") && found.contains("the story is not imported"), "{found}");
    assert_eq!(sandbox.stepmark(&["import", "stories", "--prefer", "furthest"]).code, 0);
    let rows = |rows: [&str; 4]| {
        let text = String::from_utf8(sandbox.read(LEDGER)).unwrap();
        assert!(rows.iter().all(|row| text.contains(row)), "{text}");
    };
    rows(["login_page: in-progress\n", "logout: review\n", "story_pay: backlog\n", "story_ship: backlog\n"]);
    sandbox.write(".stepmark/config.yaml", "stories: {key_pattern: 'story_{name}'}\n");
    let found = sandbox.stepmark(&["check"]).stdout;
    assert!(
        found.contains("sprint-status.yaml` says `backlog`") && !found.contains("no story is joined"),
        "{found}"
    );
    let moved = sandbox.stepmark(&["transition", &path("story_pay"), "review"]);
    assert_eq!(moved.code, 0, "{moved}");
    rows(["login_page: in-progress\n", "logout: review\n", "story_pay: review\n", "story_ship: backlog\n"]);
    assert_eq!(String::from_utf8(sandbox.read(&path("story_pay"))).unwrap(), bare("review"));
    sandbox.write(".stepmark/config.yaml", "stories: {key_pattern: 'a/b'}\n");
    assert!(sandbox.stepmark(&["check"]).stderr.contains("a pattern of names such as `story_*` is wanted"));
}

/// Whoever takes a story back in the ledger is named, so that the right one can be asked.
#[test]
fn a_row_that_somebody_took_back_is_found_with_who_and_when() {
    let Some(repository) = Repository::empty("who took an entry back") else { return };
    let sandbox = &repository.sandbox;
    sandbox.write(&path("1-1-a"), story("1-1-a", Some("done"), None));
    sandbox.write(LEDGER, ledger(&[("epic-1", "in-progress"), ("1-1-a", "done"), ("1-2-b", "backlog")]));
    repository.commit("start");
    sandbox.write(LEDGER, ledger(&[("epic-1", "in-progress"), ("1-1-a", "backlog"), ("1-2-b", "backlog")]));
    let check = || repository.stepmark(&["check"]).stdout;
    assert!(check().contains("as for the entry of the ledger: it is not committed yet"));
    repository.commit("plan anew");
    let commit = repository.git(&["log", "-1", "--format=%an wrote it on %ad (%h", "--date=format:%Y-%m-%d"]);
    assert!(check().contains(commit.trim_end()), "{commit}: {}", check());
    assert_eq!(sandbox.stepmark(&["project", "--ledgers"]).code, 0);
    assert!(String::from_utf8(sandbox.read(LEDGER)).unwrap().contains("1-1-a: done"));
}
