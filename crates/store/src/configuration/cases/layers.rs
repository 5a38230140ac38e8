//! Layers over each other, and state in the wrong place.
#![expect(clippy::disallowed_methods, reason = "tests write files directly")]

use std::{fs, time::Duration};

use crate::Error;
use crate::configuration::{Configuration, ConfigurationSources};
use crate::disk::{root::CONFIGURATION_PATH, root::Root};
use stepmark_model::check::rule_of;

struct Surroundings {
    _folder: tempfile::TempDir,
    root: Root,
    sources: ConfigurationSources,
}

impl Surroundings {
    fn new(user: &str, project: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs::create_dir_all(root.join(".stepmark")).unwrap();
        fs::write(root.join(CONFIGURATION_PATH), project).unwrap();
        let user_file = folder.path().join("user.yaml");
        fs::write(&user_file, user).unwrap();
        let sources = ConfigurationSources { user_file: Some(user_file), ..ConfigurationSources::default() };
        Self { root: Root::open(&root).unwrap(), sources, _folder: folder }
    }

    fn load(&self) -> Result<Configuration, Error> {
        Configuration::load_with(&self.root, &self.sources)
    }
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// Every origin as `layer` or `layer:line`.
fn origins(configuration: &Configuration) -> Vec<(String, String, String)> {
    let values = configuration.effective_values().into_iter();
    values
        .map(|value| {
            let line =
                value.origin.place().map_or(String::new(), |place| format!(":{}", place.position.line));
            (value.key, value.value.to_json().to_string(), format!("{}{line}", value.origin.layer()))
        })
        .collect()
}

#[test]
fn the_nearest_layer_counts_key_by_key() {
    let mut around = Surroundings::new(
        "settings:\n  user_name: Ada\n  skill_level: expert\nlease: {seconds: 60}\ninstructions:\n  output: A.md\n",
        "project_id: p\nsettings:\n  skill_level: beginner\ninstructions:\n  components: [docs/a.md]\nmilestones: [3]\n",
    );
    let configuration = around.load().unwrap();
    let settings: Vec<_> = configuration.settings().iter().map(|(name, text)| (&**name, &**text)).collect();
    assert_eq!(settings, [("skill_level", "beginner"), ("user_name", "Ada")]);
    assert_eq!(configuration.lease.seconds, Duration::from_secs(60));
    assert_eq!(configuration.instructions.output.as_ref().unwrap().as_str(), "A.md");
    assert_eq!(configuration.instructions.components.len(), 1);
    assert_eq!(configuration.git_history.limit_ms, Duration::from_millis(300));

    around.sources.environment = vec![
        pair("STEPMARK_LEASE_SECONDS", "90"),
        pair("STEPMARK_ACTIVE", "{project-root}/docs/prd.md"),
        pair("STEPMARK_SESSION", "not ours"),
    ];
    around.sources.flags =
        vec![pair("lease.seconds", "7"), pair("settings.user_name", "Bob"), pair("lease.seconds", "8")];
    let configuration = around.load().unwrap();
    assert_eq!(configuration.lease.seconds, Duration::from_secs(8));
    assert_eq!(configuration.active.as_ref().unwrap().as_str(), "docs/prd.md");
    assert_eq!(configuration.settings()["user_name"], "Bob");
    let found = origins(&configuration);
    let listed: Vec<_> =
        found.iter().map(|(key, value, origin)| (&**key, &**value, &**origin)).skip(3).collect();
    assert_eq!(
        found.iter().map(|found| &*found.2).take(3).collect::<Vec<_>>(),
        ["project:1", "default", "default"]
    );
    assert_eq!(
        listed,
        [
            ("active", "\"{project-root}/docs/prd.md\"", "environment"),
            ("milestones", "[3]", "project:6"),
            ("instructions.output", "\"A.md\"", "user:6"),
            ("instructions.components", "[\"docs/a.md\"]", "project:5"),
            ("lease.seconds", "8", "flag"),
            ("gates", "false", "default"),
            ("git_history.limit_ms", "300", "default"),
            ("settings.skill_level", "\"beginner\"", "project:3"),
            ("settings.user_name", "\"Bob\"", "flag"),
        ]
    );
}

#[test]
fn sections_of_systems_lie_over_each_other_key_by_key_too() {
    let around =
        Surroundings::new("flows: {folder: work, stale_seconds: 9}\n", "flows: {stale_seconds: 5}\n");
    let configuration = around.load().unwrap();
    let flows = configuration.flows.as_ref().unwrap();
    assert_eq!((flows.folder.as_str(), flows.stale_seconds.get()), ("work", 5));
}

#[test]
fn the_nearest_level_of_a_rule_counts_by_either_name() {
    let mut around = Surroundings::new(
        "check: {rules: {SM106: off, SM101: note}}\n",
        "check:\n  rules: {key-twice: warning}\n",
    );
    let levels = |around: &Surroundings| {
        let configuration = around.load().unwrap();
        ["SM106", "SM101"].map(|id| configuration.check.rules.of(rule_of(id).unwrap()).to_string())
    };
    assert_eq!(levels(&around), ["warning", "note"]);
    around.sources.flags = vec![pair("check.rules.SM106", "error")];
    assert_eq!(levels(&around), ["error", "note"]);
}

#[test]
fn state_is_refused_wherever_it_stands() {
    for (text, place, key, decision) in [
        ("stepsCompleted: [1]\n", "1:1", "stepsCompleted", "frontmatter"),
        ("project_id: p\nstatus: draft\ncurrentStep: 3\n", "2:1", "status", "frontmatter"),
        ("variables:\n  current_step: docs\n", "2:3", "variables.current_step", "frontmatter"),
        ("variables: {stepsCompleted: [1]}\n", "1:13", "variables.stepsCompleted", "frontmatter"),
        ("settings:\n  user_name: A\n  lastStep: 4\n", "3:3", "settings.lastStep", "frontmatter"),
        ("workflows:\n- name: a\n  status: done\n", "3:3", "workflows.status", "frontmatter"),
        ("anything: {deep: [{progress: 1}]}\n", "1:20", "anything.deep.progress", "frontmatter"),
        ("delegation: {depth: 1}\n", "1:14", "delegation.depth", "frontmatter"),
        ("settings: {date: 2026-11-21}\n", "1:12", "settings.date", "frontmatter"),
        ("session: abc\n", "1:1", "session", "found out when it is needed"),
        ("\u{FEFF}status: x\n", "1:1", "status", "frontmatter"),
    ] {
        let around = Surroundings::new("", text);
        let error = around.load().unwrap_err();
        let message = error.to_string();
        for part in
            [&format!("config.yaml:{place}` holds state: `{key}`"), "configuration is static", decision]
        {
            assert!(message.contains(part), "{text}: {message}");
        }
    }
    let in_the_users_file = Surroundings::new("status: done\n", "").load().unwrap_err();
    assert!(in_the_users_file.to_string().contains("user.yaml:1:1"), "{in_the_users_file}");
}

#[test]
fn words_of_other_dialects_are_no_state() {
    let text = "trackers: {jira: {status: {done: Closed}}}\nmemory: {x: {status: [a]}}\nlifecycles: [{name: task, applies_to: [{key: {status: a}}]}]\ndelegation: {folder: d}\n";
    let configuration = Surroundings::new("", text).load().unwrap();
    assert_eq!(configuration.delegation.folder.as_ref().unwrap().as_str(), "d");
    let unknown: Vec<_> = configuration.unknown_keys().iter().map(|unknown| unknown.key.as_str()).collect();
    assert_eq!(unknown, ["memory.x"]);
}

#[test]
fn what_cannot_be_used_says_where_it_comes_from() {
    for (text, place, reason) in [
        ("lease: {seconds: 0}\n", "1:18", "from 1 to"),
        ("lease: {seconds: soon}\n", "1:18", "from 1 to"),
        ("git_history: {limit_ms: -1}\n", "1:25", "from 0 to"),
        ("checkpoints:\n  every: 1.5\n", "2:10", "from 1 to"),
        ("active: /etc/passwd\n", "1:9", "absolute"),
        ("instructions: {components: [../x.md]}\n", "1:29", "out of the project"),
        ("milestones: ['']\n", "1:14", "empty"),
        ("settings: {a b: c}\n", "1:12", "letters"),
        ("settings: {a: [1]}\n", "1:15", "expected a text"),
        ("project_id: p\ncredentials: {https://h: {variable: T}}\n", "2:1", "no repository may"),
        ("credentials:\n  https://h: {variable: T}\n", "1:1", "no repository may"),
    ] {
        let error = Surroundings::new("", text).load().unwrap_err().to_string();
        assert!(
            error.contains(&format!("config.yaml`:{place} ")) && error.contains(reason),
            "{text}: {error}"
        );
    }
    let error = Surroundings::new("a: 1\nproject_id: p\n", "").load().unwrap_err().to_string();
    assert!(error.contains("user.yaml`:2:1 ") && error.contains("identity of one project"), "{error}");
    for (name, value, wanted) in [
        ("lease.seconds", "soon", "`--config` cannot be used for `lease.seconds`: a whole number"),
        ("leese.seconds", "1", "these are `active`, "),
        ("workflows", "[]", "no key with a single value"),
        ("settings.", "x", "no key with a single value"),
        ("check.rules.SM999", "off", "there is no rule `SM999`"),
        ("status", "done", "configuration is static"),
    ] {
        let mut around = Surroundings::new("", "");
        around.sources.flags = vec![pair(name, value)];
        let error = around.load().unwrap_err().to_string();
        assert!(error.contains(wanted), "{name}: {error}");
    }
    let mut around = Surroundings::new("", "");
    around.sources.environment = vec![pair("STEPMARK_LEASE_SECONDS", "soon")];
    let error = around.load().unwrap_err().to_string();
    assert!(error.starts_with("the environment variable `STEPMARK_LEASE_SECONDS` cannot be used"), "{error}");
}
