//! Cases of configuration files: what they say, and what they must not.
#![expect(clippy::disallowed_methods, reason = "tests write files directly")]

mod layers;

use std::path::Path;

use crate::Error;
use crate::configuration::sources::{DEFAULT_EXCLUDE, DEFAULT_INCLUDE};
use crate::configuration::{Configuration, Milestone, Origin};
use crate::configuration::{StepSource, initial_configuration, layer::ConfigurationLayer};
use crate::disk::{root::CONFIGURATION_PATH, root::Root};
use stepmark_model::{artifact::PathGlobs, artifact::ProjectPath, check::rule_of};

fn path(text: &str) -> ProjectPath {
    ProjectPath::new(text).unwrap()
}

fn read(text: &str) -> Configuration {
    parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(super) fn uncommented(text: &str) -> String {
    let uncommented = text.lines().map(|line| match line.strip_prefix("# ") {
        Some(key) if key.starts_with("  ") || key.split_once(':').is_some_and(|(key, _)| is_key(key)) => key,
        _ => line,
    });
    uncommented.collect::<Vec<_>>().join("\n")
}

fn is_key(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

fn parse(bytes: &[u8]) -> Result<Configuration, Error> {
    let file = Path::new(CONFIGURATION_PATH);
    Ok(Configuration::of(vec![ConfigurationLayer::read(file, bytes, Origin::Project)?]))
}

#[test]
fn by_default_markdown_outside_of_tools_is_an_artifact() {
    let configuration = Configuration::default();
    for (file, expected) in [
        ("docs/prd.md", true),
        ("README.md", true),
        ("_bmad-output/planning-artifacts/prd.md", true),
        ("docs/bmad/prd.md", true),
        ("docs/prd.yaml", false),
        ("_bmad/bmm/workflows/prd/workflow.md", false),
        ("packages/a/_bmad/core/x.md", false),
        ("bmad/core/x.md", false),
        (".bmad/core/x.md", false),
        (".claude/skills/x/SKILL.md", false),
        ("docs/.draft.md", false),
        ("node_modules/x/README.md", false),
        ("a/vendor/x/README.md", false),
        ("target/doc/x.md", false),
    ] {
        assert_eq!(configuration.is_artifact(&path(file)), expected, "{file}");
    }
    for (folder, expected) in [("docs", false), ("a/node_modules", true), (".git", true), ("_bmad", true)] {
        assert_eq!(configuration.skips_folder(&path(folder)), expected, "{folder}");
    }
}

#[test]
fn nothing_given_is_the_default() {
    for text in ["", "# only a comment\n", "---\n", "artifacts:\nworkflows:\nvariables:\nproject_id:\n"] {
        let configuration = read(text);
        assert!(configuration.is_artifact(&path("docs/prd.md")), "{text}");
        assert!(configuration.skips_folder(&path("node_modules")), "{text}");
        assert_eq!(configuration.project_id.as_deref(), None);
        assert!(configuration.unknown_keys().is_empty());
    }
}

#[test]
fn the_text_of_init_says_the_defaults() {
    let configuration = read(&initial_configuration("4f6c"));
    assert_eq!(configuration.project_id.as_deref(), Some("4f6c"));
    assert!(configuration.unknown_keys().is_empty(), "{:?}", configuration.unknown_keys());
    let texts = |globs: &PathGlobs| globs.iter().map(|glob| glob.as_str().to_owned()).collect::<Vec<_>>();
    assert_eq!(texts(&configuration.include), DEFAULT_INCLUDE);
    assert_eq!(texts(&configuration.exclude), DEFAULT_EXCLUDE);
}

#[test]
fn the_examples_in_the_text_of_init_are_valid() {
    let configuration = read(&uncommented(&initial_configuration("4f6c")));
    assert_eq!(configuration.workflows.len(), 2);
    let lifecycles = configuration.lifecycles().declared();
    let names: Vec<&str> = lifecycles.iter().map(|declared| declared.lifecycle.name()).collect();
    assert_eq!(names, ["release", "task"]);
    assert_eq!(configuration.variables.len(), 1);
    assert_eq!(
        configuration.milestones,
        [Milestone::Step("step-04-journeys".to_owned()), Milestone::Finished]
    );
    assert_eq!(configuration.instructions.components, [path("docs/agent.md")]);
    assert_eq!(configuration.settings().len(), 3);
    assert_eq!(configuration.check.allow.len(), 1);
    assert!(configuration.unknown_keys().is_empty());
}

#[test]
fn reads_globs_workflows_and_variables() {
    let configuration = read(
        "artifacts: {include: ['docs/**/*.md', notes/], exclude: []}\nworkflows:\n\
         - {name: prd, artifacts: ['docs/prd*.md']}\n\
         - {name: release, artifacts: [docs/releases/], steps: [1, step-02-write, 1.10, 02, '2.10']}\n\
         - {name: audit, folder: ./workflows/audit/}\n\
         variables: {planning: '{project-root}/docs/plan/', output: ., plain: out}\n",
    );
    assert!(configuration.is_artifact(&path("notes/.hidden/a.txt")), "exclude is empty");
    assert!(!configuration.is_artifact(&path("docs/.git/a.md")), "but the files of git never are artifacts");
    assert!(!configuration.is_artifact(&path("a.md")));
    let [prd, release, audit] = configuration.workflows.as_slice() else {
        panic!("{:?}", configuration.workflows)
    };
    assert_eq!((prd.name.as_str(), &prd.steps), ("prd", &StepSource::Discovered));
    assert!(prd.artifacts.matches(&path("docs/prd-2.md")) && !prd.artifacts.matches(&path("docs/x.md")));
    let steps = ["1", "step-02-write", "1.10", "02", "2.10"].map(str::to_owned).to_vec();
    assert_eq!(release.steps, StepSource::Listed(steps));
    assert_eq!(audit.steps, StepSource::Folder(path("workflows/audit")));
    let variables: Vec<_> = configuration.variables.iter().map(|(name, path)| (&**name, &**path)).collect();
    assert_eq!(variables, [("output", ""), ("plain", "out"), ("planning", "docs/plan")]);
}

#[test]
fn unknown_keys_are_reported_at_every_level() {
    let configuration =
        read("others: {github: {}}\nartifacts: {inclde: []}\nworkflows:\n- {name: a, step: [x]}\n1: 2\n");
    let keys: Vec<_> = configuration.unknown_keys().iter().map(|unknown| unknown.key.as_str()).collect();
    assert_eq!(keys, ["others", "1", "artifacts.inclde", "workflows[0].step"]);
    let near: Vec<_> = configuration.unknown_keys().iter().map(|unknown| unknown.near.as_deref()).collect();
    assert_eq!(near, [None, None, Some("include"), Some("steps")]);
    let told = configuration.unknown_keys()[2].to_string();
    assert!(told.ends_with("it has no effect; did you mean `include`?"), "{told}");
}

#[test]
fn says_where_the_file_is_broken_and_why() {
    for (text, place, reason) in [
        ("artifacts: {\n  include: [a", "3:1", "did not find"),
        ("artifacts:\n  include: docs\n", "2:12", "sequence"),
        ("artifacts:\n  include:\n    - ok\n    - 'docs/[a'\n", "4:7", "not a path pattern"),
        ("artifacts:\n  exclude: [/docs]\n", "2:13", "leave the `/` away"),
        ("project_id: {a: b}\n", "1:13", "expected a text"),
        ("project_id: 'a b'\n", "1:13", "project_id"),
        ("workflows:\n  - artifacts: []\n", "2:5", "name"),
        ("workflows:\n  - name: a\n  - name: a\n", "2:3", "twice"),
        ("workflows:\n  - name: a\n    steps: [{a: b}]\n", "3:13", "expected a text"),
        ("workflows:\n  - name: a\n    steps: []\n", "2:3", "empty"),
        ("workflows:\n  - name: a\n    steps: [x, x]\n", "2:3", "twice"),
        ("workflows:\n  - {name: a, steps: [x], folder: b}\n", "2:3", "both"),
        ("workflows:\n  - {name: a, folder: ../b}\n", "2:23", "out of the project"),
        ("variables: {a: /tmp}\n", "1:16", "absolute"),
        ("variables: {'{a}': docs}\n", "1:13", "braces"),
        ("project_id: a\nproject_id: b\n", "1:1", "duplicate"),
        ("memory: {a: 1, a: 2}\n", "1:9", "duplicate"),
        ("project_id: a\n---\nb: 1\n", "", "more than one document"),
        ("project_id: \"\u{1}\"\n", "1:1", "control characters"),
        ("- a\n", "1:1", "a mapping of keys"),
        ("lifecycles:\n  - name: x\n    sates: []\n", "3:5", "unknown field `sates`"),
        ("lifecycles:\n  - name: x\n", "2:11", "none of that name is built in"),
        ("lifecycles:\n  - name: task\n    states: [{name: a}]\n", "2:11", "that of a built-in one"),
        ("lifecycles:\n  - {name: task}\n  - {name: task}\n", "3:12", "two lifecycles have this name"),
        (
            "lifecycles:\n  - name: x\n    states: [{name: a}, {name: b, terminal: true}]\n    moves:\n      - {from: a, to: c}\n",
            "5:23",
            "there is no state `c`: the states are `a` and `b`",
        ),
        (
            "lifecycles:\n  - name: x\n    states: [{name: a}, {name: b, terminal: true}]\n    moves: []\n",
            "3:14",
            "nothing leads out of `a`",
        ),
        ("lifecycles:\n  - name: task\n    applies_to:\n      - path: '[a'\n", "4:15", "not a path pattern"),
        ("check: {rules: {SM999: off}}\n", "1:17", "there is no rule `SM999`"),
        ("check:\n  rules:\n    SM106: fatal\n", "3:12", "`off`, `note`, `warning` or `error`"),
        ("check: {rules: {SM106: off, key-twice: note}}\n", "1:16", "twice"),
        ("check:\n  allow:\n  - {rules: [SM106], paths: [a.md]}\n", "3:5", "reason"),
        ("check:\n  allow:\n  - {rules: [SM106], paths: [a.md], reason: ' '}\n", "3:3", "reason is empty"),
        ("check:\n  allow:\n  - {rules: [SM106], paths: [], reason: x}\n", "3:3", "at least one"),
        ("check:\n  allow:\n  - {rules: [nonsense], paths: [a.md], reason: x}\n", "3:14", "no rule"),
    ] {
        let error = parse(text.as_bytes()).unwrap_err();
        let message = error.to_string();
        let (at, found) = message.split_once(" cannot be used: ").unwrap();
        let position = at.rsplit('`').next().unwrap().trim_start_matches(':');
        assert_eq!(position, place, "{text:?}: {found}");
        assert!(found.contains(reason), "{text:?}: {found}");
    }
    assert!(parse(b"project_id: \xff\n").is_err());
}

#[test]
fn a_missing_file_is_the_default_and_others_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::open(folder.path()).unwrap();
    assert_eq!(Configuration::load(&root).unwrap().project_id.as_deref(), None);
    let file = root.path().join(CONFIGURATION_PATH);
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "project_id: p\n").unwrap();
    assert_eq!(Configuration::load(&root).unwrap().project_id.as_deref(), Some("p"));

    std::fs::write(&file, "project_id: [1]\n").unwrap();
    let message = Configuration::load(&root).unwrap_err().to_string();
    assert!(message.contains("config.yaml`:1:13 cannot be used: "), "{message}");

    std::fs::write(&file, vec![b'#'; 1024 * 1024 + 1]).unwrap();
    assert!(Configuration::load(&root).unwrap_err().to_string().contains(" is larger than 1048576 bytes"));
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert!(Configuration::load(&root).unwrap_err().to_string().starts_with("cannot read the configuration"));
}

#[test]
fn rules_have_levels_and_findings_are_accepted_by_path() {
    let configuration = read(
        "check:\n  rules: {SM106: note, step-twice: off}\n  allow:\n  \
         - {rules: [SM101, status-disagrees], paths: ['old/**', a.md], reason: an import}\n",
    );
    let level = |name: &str| configuration.check.rules.of(rule_of(name).unwrap()).to_string();
    assert_eq!(
        (level("key-twice"), level("SM204"), level("SM101")),
        ("note".into(), "off".into(), "error".into())
    );
    let [allowance] = configuration.check.allow.as_slice() else { panic!("{:?}", configuration.check.allow) };
    let ids: Vec<_> = allowance.allowance.rules.iter().map(|rule| rule.id).collect();
    assert_eq!((ids, allowance.allowance.reason.as_str()), (vec!["SM101", "SM302"], "an import"));
    assert!(allowance.paths.matches(&path("old/x.md")) && !allowance.paths.matches(&path("new/x.md")));
    assert!(configuration.unknown_keys().is_empty(), "{:?}", configuration.unknown_keys());
    let keys: Vec<_> = configuration.effective_values().into_iter().map(|value| value.key).collect();
    assert!(
        keys.contains(&"check.rules.SM106".to_owned()) && keys.contains(&"check.allow".to_owned()),
        "{keys:?}"
    );
}
