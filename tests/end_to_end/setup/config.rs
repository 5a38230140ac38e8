//! `stepmark config`

use insta::assert_snapshot;

use crate::harness::{Sandbox, demo::PRD};

const CONFIGURATION: &str = ".stepmark/config.yaml";

/// A project with a configuration, and one of its user.
fn configured() -> Sandbox {
    let sandbox = Sandbox::demo();
    sandbox.write(
        CONFIGURATION,
        "project_id: p1\nartifacts: {include: ['docs/'], exclude: []}\nsettings:\n  skill_level: beginner\nlese: 1\n",
    );
    let user = sandbox.root().with_file_name("home").join(".config/stepmark");
    std::fs::create_dir_all(&user).unwrap();
    std::fs::write(
        user.join("config.yaml"),
        "settings:\n  user_name: Ada\n  skill_level: expert\nlease: {seconds: 60}\n",
    )
    .unwrap();
    sandbox
}

#[test]
fn shows_what_counts_and_where_it_comes_from() {
    let sandbox = configured();
    assert_snapshot!(sandbox.reads_only(&["config", "show"]), @r#"
    exit 0
    ── stdout
    KEY                   VALUE
    project_id            p1
    artifacts.include     ["docs/"]
    artifacts.exclude     []
    lease.seconds         60
    gates                 false
    git_history.limit_ms  300
    settings.skill_level  beginner
    settings.user_name    Ada
    ── stderr
    warning: `[ROOT]/.stepmark/config.yaml` has the key `lese`, which stepmark does not know: it has no effect; did you mean `lease`?
    "#);
    let mut command = sandbox.command(&["config", "show", "--origin", "--config", "settings.user_name=Bob"]);
    command.env("STEPMARK_GIT_HISTORY_LIMIT_MS", "10").env("STEPMARK_ACTIVE", "");
    assert_snapshot!(sandbox.changes_nothing(&mut command), @r#"
    exit 0
    ── stdout
    KEY                   VALUE      ORIGIN
    project_id            p1         project [ROOT]/.stepmark/config.yaml:1
    artifacts.include     ["docs/"]  project [ROOT]/.stepmark/config.yaml:2
    artifacts.exclude     []         project [ROOT]/.stepmark/config.yaml:2
    lease.seconds         60         user [FOLDER]/home/.config/stepmark/config.yaml:4
    gates                 false      default
    git_history.limit_ms  10         environment STEPMARK_GIT_HISTORY_LIMIT_MS
    settings.skill_level  beginner   project [ROOT]/.stepmark/config.yaml:4
    settings.user_name    Bob        flag
    ── stderr
    warning: `[ROOT]/.stepmark/config.yaml` has the key `lese`, which stepmark does not know: it has no effect; did you mean `lease`?
    "#);
}

#[test]
fn misspelt_keys_of_trackers_are_told_by_every_command_once() {
    let demo = Sandbox::demo();
    demo.write(
        ".stepmark/config.yaml",
        "project_id: p\ntrackers: {file: {path: out/t.jsonl, dupilcates: keep}}\n",
    );
    for command in
        [&["status"][..], &["check"], &["list"], &["next", "prd"], &["sync", "plan"], &["sync", "status"]]
    {
        let run = demo.stepmark(command);
        let told = "has the key `trackers.file.dupilcates`, which stepmark does not know: it has no effect";
        assert_eq!(run.stderr.matches(told).count(), 1, "{command:?}: {run}");
        assert!(!demo.stepmark(&[command, &["--quiet"]].concat()).stderr.contains("dupilcates"));
    }
}

#[test]
fn the_folder_for_configuration_is_that_of_xdg() {
    let sandbox = configured();
    let elsewhere = sandbox.outside();
    std::fs::create_dir_all(elsewhere.join("stepmark")).unwrap();
    std::fs::write(elsewhere.join("stepmark/config.yaml"), "lease: {seconds: 5}\n").unwrap();
    let seconds = |folder: &std::path::Path| {
        let mut command = sandbox.command(&["config", "show", "--json"]);
        let answer =
            sandbox.changes_nothing(command.env("XDG_CONFIG_HOME", folder)).json("stepmark.config/1");
        let values = answer["values"].as_array().unwrap();
        values.iter().find(|value| value["key"] == "lease.seconds").unwrap().to_string()
    };
    assert_snapshot!(seconds(&elsewhere), @r#"{"key":"lease.seconds","value":5,"layer":"user","file":"[FOLDER]/outside/stepmark/config.yaml","line":1,"column":9,"variable":null}"#);
    assert!(seconds("relative".as_ref()).contains("60"), "a relative folder does not count");
}

#[test]
fn state_in_configuration_is_an_error_of_every_command() {
    let demo = Sandbox::demo();
    demo.write(CONFIGURATION, "project_id: p1\nvariables:\n  currentStep: 3\n");
    insta::allow_duplicates! {
        for arguments in [&["status"][..], &["show", PRD], &["config", "show"], &["complete", PRD, "4"]] {
            assert_snapshot!(demo.reads_only(arguments), @r"
            exit 4
            ── stderr
            error: `[ROOT]/.stepmark/config.yaml:3:3` holds state: `variables.currentStep` is the step that is being done; configuration is static, and this belongs in the frontmatter of the artifact (`stepmark set ARTIFACT currentStep=…`)
              help: take the key out of that file; nothing was changed
            ");
        }
    }
    let error = demo.reads_only(&["status", "--json"]).json_error();
    assert_eq!(error["exit"], 4);
}

#[test]
fn values_that_cannot_be_used_name_their_layer() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["status", "--config", "lease.seconds=soon"]), @r"
    exit 2
    ── stderr
    error: `--config` cannot be used for `lease.seconds`: a whole number from 1 to 4294967295 is wanted, not `soon`
    ");
    assert_snapshot!(demo.reads_only(&["status", "--config", "status=done"]), @r"
    exit 2
    ── stderr
    error: `--config` cannot be used for `status`: it is how the artifact stands; configuration is static, and this belongs in the frontmatter of the artifact (`stepmark set ARTIFACT status=…`)
    ");
    let mut command = demo.command(&["status"]);
    assert_snapshot!(demo.changes_nothing(command.env("STEPMARK_CHECKPOINTS_EVERY", "0")), @r"
    exit 2
    ── stderr
    error: the environment variable `STEPMARK_CHECKPOINTS_EVERY` cannot be used for `checkpoints.every`: a whole number from 1 to 4294967295 is wanted, not `0`
    ");
    assert_eq!(demo.reads_only(&["status", "--config", "lease"]).code, 2);
}

#[test]
fn the_table_of_variables_holds_both_sides() {
    let run = Sandbox::empty().reads_only(&["config", "variables"]);
    let line = |name: &str| {
        let found = run.stdout.lines().find(|line| line.split_whitespace().next() == Some(name));
        found.unwrap_or_else(|| panic!("{name} in {run}")).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_snapshot!(line("lease.seconds"), @"lease.seconds static, system STEPMARK_LEASE_SECONDS how long a lease lasts");
    assert_snapshot!(line("active"), @"active static, project STEPMARK_ACTIVE the artifact that is worked on");
    assert_snapshot!(line("stepsCompleted"), @"stepsCompleted dynamic, frontmatter - the steps that are done");
    assert_snapshot!(line("session"), @"session dynamic, run time - the session (`STEPMARK_SESSION`)");
    let answer = Sandbox::empty().reads_only(&["config", "variables", "--json"]);
    assert_eq!(answer.json("stepmark.config-variables/1")["variables"][0]["name"], "project_id");
}
