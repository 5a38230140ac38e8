//! `stepmark instructions`

use std::time::Duration;

use insta::assert_snapshot;

use crate::harness::{Run, Sandbox, demo::PRD};

const OUTPUT: &str = ".claude-mpm/PM_INSTRUCTIONS.md";
const META: &str = ".claude-mpm/PM_INSTRUCTIONS.md.meta";

fn project() -> Sandbox {
    let demo = Sandbox::demo();
    demo.write(
        ".stepmark/config.yaml",
        format!(
            "instructions:\n  output: {OUTPUT}\n  components: [agents/pm.md, agents/rules.md]\n\
             settings: {{user_name: Zoë, communication_language: English}}\n"
        ),
    );
    demo.write("agents/pm.md", "---\nname: pm\n---\n# PM\n\nPlan.\n");
    demo.write("agents/rules.md", "# Rules\r\n\r\n- Ask.\r\n");
    demo
}

fn meta(project: &Sandbox) -> serde_json::Value {
    serde_json::from_slice(&project.read(META)).unwrap()
}

/// The verdict of `verify`, which writes nothing.
fn verdict(project: &Sandbox) -> (i32, String) {
    let run: Run = project.reads_only(&["instructions", "verify", "--json"]);
    (run.code, run.json("stepmark.instructions/1")["verdict"].as_str().unwrap().to_owned())
}

#[test]
fn builds_a_file_and_its_meta() {
    let project = project();
    assert_eq!(verdict(&project), (1, "absent".to_owned()));
    assert_snapshot!(project.stepmark(&["instructions", "build"]), @r"
    exit 0
    ── stdout
    wrote .claude-mpm/PM_INSTRUCTIONS.md: 1442 bytes
    ── stderr
    warning: _bmad-output/planning-artifacts/epics.md has no state digest: `stepmark check _bmad-output/planning-artifacts/epics.md` says why
    warning: _bmad-output/planning-artifacts/market-research-2026-01-13.md has no state digest: `stepmark check _bmad-output/planning-artifacts/market-research-2026-01-13.md` says why
    ");
    let text = String::from_utf8(project.read(OUTPUT)).unwrap();
    assert_snapshot!(text, @r"
    <!-- Assembled by stepmark: edits here do not stay: when it is written anew, the edited file is kept beside it (`.edited`). Change the components, then run `stepmark instructions build`. -->

    # PM

    Plan.

    # Rules

    - Ask.

    ## Settings

    - `communication_language`: English
    - `user_name`: Zoë

    ## State of the work

    How far the work is does not stand here: it stands in the frontmatter of the artifacts below, and changes while you work.
    Never edit `status` or a list of steps by hand:

        stepmark next [ARTIFACT]            what comes next, and the file to read for it
        stepmark complete ARTIFACT STEP     a step is done
        stepmark transition ARTIFACT STATE  a new status; without STATE the legal moves
        stepmark resume --json              where you were, whenever you are unsure

    A refusal (exit code 1) is an answer: do what it says.

    ## Artifacts

    Each with the digest of the state in which these instructions were assembled.

    - `_bmad-output/brainstorming/brainstorming-session-2026-01-12.md`: 290a766b2d09
    - `_bmad-output/implementation-artifacts/1-1-borrow-a-tool.md`: 06f0349d8c2d
    - `_bmad-output/planning-artifacts/architecture.md`: d3ed5f3a2e0a
    - `_bmad-output/planning-artifacts/epics.md`: unreadable
    - `_bmad-output/planning-artifacts/market-research-2026-01-13.md`: unreadable
    - `_bmad-output/planning-artifacts/prd.md`: f5061d1f75a3
    - `_bmad-output/planning-artifacts/product-brief-toolshed-2026-01-14.md`: 975c96a7af19
    ");
    let written = meta(&project);
    assert_eq!(written["content_size_bytes"], text.len());
    assert_eq!(written["components"], serde_json::json!(["agents/pm.md", "agents/rules.md"]));
    assert_eq!(
        (&written["version"], &written["content_type"]),
        (&"1.0".into(), &"assembled_instruction".into())
    );
    let names: Vec<_> = written.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["version", "content_type", "components", "content_hash", "content_size_bytes", "cached_at"]
    );
    assert_eq!(verdict(&project), (0, "current".to_owned()));
    assert_eq!(project.reads_only(&["instructions", "show"]).stdout, text);
}

#[test]
fn what_has_not_changed_is_not_written() {
    let project = project();
    project.stepmark(&["instructions", "build"]);
    let before = meta(&project);
    std::thread::sleep(Duration::from_millis(2));
    // Times, line ends and the body of an artifact are no state.
    let prd = String::from_utf8(project.read(PRD)).unwrap();
    project.write(PRD, prd.replacen("---\n", "---\nlastSaved: 2031-01-01\n", 1) + "More.\n");
    project.write("agents/pm.md", "# PM\r\n\r\nPlan.\r\n");
    assert_snapshot!(project.reads_only(&["instructions", "build"]), @r"
    exit 0
    ── stdout
    .claude-mpm/PM_INSTRUCTIONS.md is up to date: 1442 bytes
    ── stderr
    warning: _bmad-output/planning-artifacts/epics.md has no state digest: `stepmark check _bmad-output/planning-artifacts/epics.md` says why
    warning: _bmad-output/planning-artifacts/market-research-2026-01-13.md has no state digest: `stepmark check _bmad-output/planning-artifacts/market-research-2026-01-13.md` says why
    ");
    assert_eq!(meta(&project), before);
}

#[test]
fn a_change_of_any_input_makes_it_stale_until_the_next_boundary() {
    let project = project();
    project.stepmark(&["instructions", "build"]);
    let cached = project.read(OUTPUT);
    project.stepmark(&["complete", PRD, "4"]);
    assert_snapshot!(project.reads_only(&["instructions", "verify"]), @r"
    exit 1
    ── stdout
    .claude-mpm/PM_INSTRUCTIONS.md is stale: changed since: _bmad-output/planning-artifacts/prd.md
      `stepmark instructions build` writes it, and so does the next start or end of a session
    ── stderr
    warning: _bmad-output/planning-artifacts/epics.md has no state digest: `stepmark check _bmad-output/planning-artifacts/epics.md` says why
    warning: _bmad-output/planning-artifacts/market-research-2026-01-13.md has no state digest: `stepmark check _bmad-output/planning-artifacts/market-research-2026-01-13.md` says why
    ");
    assert_eq!(project.read(OUTPUT), cached, "immutable within a cycle");
    assert_snapshot!(project.reads_only(&["instructions", "show", "-q"]).stderr, @"warning: .claude-mpm/PM_INSTRUCTIONS.md is stale: changed since: _bmad-output/planning-artifacts/prd.md; `stepmark instructions build` writes it, and so does the next start or end of a session");
    let before = meta(&project);
    project.stepmark(&["instructions", "build"]);
    assert_ne!(meta(&project)["content_hash"], before["content_hash"]);
    assert_ne!(meta(&project)["cached_at"], before["cached_at"]);
    assert_eq!(verdict(&project), (0, "current".to_owned()));
    project.write("agents/pm.md", "# PM\n\nPlan well.\n");
    assert_eq!(verdict(&project), (1, "stale".to_owned()));
}

#[test]
fn an_edit_of_the_file_itself_shows() {
    let project = project();
    project.stepmark(&["instructions", "build"]);
    let text = String::from_utf8(project.read(OUTPUT)).unwrap();
    project.write(OUTPUT, text.replace("Plan.", "Obey."));
    assert_eq!(verdict(&project), (1, "tampered".to_owned()));
    assert_snapshot!(project.reads_only(&["instructions", "show"]), @r"
    exit 1
    ── stderr
    error: `.claude-mpm/PM_INSTRUCTIONS.md` is tampered: its SHA-256 is 68af54289bf38678f0bd31c52d41c85b7e800130cbe56470956e044446f96efc, and 7711bb2f2824a484bb017fe68032594a92739a22c5905566ef6c96dae6e41431 was written
      help: move what is to stay into a component; `stepmark instructions build`, or the next session, writes the file anew and keeps this version beside it
    ");
    assert_snapshot!(project.stepmark(&["instructions", "build"]), @r"
    exit 0
    ── stdout
    wrote .claude-mpm/PM_INSTRUCTIONS.md: 1442 bytes
    ── stderr
    warning: .claude-mpm/PM_INSTRUCTIONS.md was edited, and is written anew: the edited version is in .claude-mpm/PM_INSTRUCTIONS.md.edited; what is to stay belongs into a component
    warning: _bmad-output/planning-artifacts/epics.md has no state digest: `stepmark check _bmad-output/planning-artifacts/epics.md` says why
    warning: _bmad-output/planning-artifacts/market-research-2026-01-13.md has no state digest: `stepmark check _bmad-output/planning-artifacts/market-research-2026-01-13.md` says why
    ");
    assert_eq!(project.read(OUTPUT), text.as_bytes());
    assert_eq!(verdict(&project), (0, "current".to_owned()));
}

/// Nobody asked for it to be written anew, so nothing may be lost.
#[test]
fn what_was_edited_is_kept_beside_the_file() {
    let project = project();
    project.stepmark(&["instructions", "build"]);
    let text = project.read(OUTPUT);
    let kept = |number: &str| project.read(&format!("{OUTPUT}.edited{number}"));
    project.write(OUTPUT, "<!-- mine -->\nObey.\n".as_bytes());
    let run = project.stepmark(&["session", "start"]);
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(project.read(OUTPUT), b"<!-- mine -->\nObey.\n", "another's file stays where it is: {run}");
    project.write(OUTPUT, &text);
    for (way, other) in [
        (&["session", "start"][..], "Obey.\n"),
        (&["exec", "--", "/bin/sh", "-c", "exit 0"], "Obey.\n"),
        (&["session", "start"], "Rest.\n"),
    ] {
        let edited = [&text[..], other.as_bytes()].concat();
        project.write(OUTPUT, &edited);
        let run = project.stepmark(way);
        assert_eq!(run.code, 0, "{run}");
        assert!(
            run.stderr
                .contains(&format!("{OUTPUT} was edited, and is written anew: the edited version is in")),
            "{run}"
        );
        assert_eq!(project.read(OUTPUT), text);
    }
    assert_eq!(kept(""), [&text[..], b"Obey.\n"].concat(), "the same version is kept once");
    assert_eq!(kept("-2"), [&text[..], b"Rest.\n"].concat());
    assert!(!project.place(&format!("{OUTPUT}.edited-3")).exists());
}

/// The file is written before its meta file: a process that dies in between leaves the new file and the old
/// meta file.
#[test]
fn a_build_that_died_between_the_two_files_is_fixed() {
    let project = project();
    project.stepmark(&["instructions", "build"]);
    let old = project.read(META);
    project.stepmark(&["complete", PRD, "4"]);
    project.stepmark(&["instructions", "build"]);
    let (file, new) = (project.read(OUTPUT), meta(&project));
    project.write(META, &old);
    assert_snapshot!(project.reads_only(&["instructions", "verify"]), @r"
    exit 1
    ── stdout
    .claude-mpm/PM_INSTRUCTIONS.md is stale: its .meta is missing or behind, as after an interrupted build
      `stepmark instructions build` writes it, and so does the next start or end of a session
    ── stderr
    warning: _bmad-output/planning-artifacts/epics.md has no state digest: `stepmark check _bmad-output/planning-artifacts/epics.md` says why
    warning: _bmad-output/planning-artifacts/market-research-2026-01-13.md has no state digest: `stepmark check _bmad-output/planning-artifacts/market-research-2026-01-13.md` says why
    ");
    project.stepmark(&["instructions", "build"]);
    assert_eq!((project.read(OUTPUT), &meta(&project)["content_hash"]), (file, &new["content_hash"]));
    std::fs::remove_file(project.place(META)).unwrap();
    assert_eq!(verdict(&project), (1, "stale".to_owned()));
    project.stepmark(&["instructions", "build"]);
    assert_eq!(verdict(&project), (0, "current".to_owned()));
}

#[test]
fn what_cannot_be_assembled() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["instructions", "build"]), @r"
    exit 1
    ── stderr
    error: the configuration names no instruction file
      help: give `instructions: {output: PATH, components: [PATH, …]}` in `.stepmark/config.yaml`
    ");
    demo.write(".stepmark/config.yaml", "instructions: {output: out.md, components: [gone.md]}\n");
    assert_snapshot!(demo.reads_only(&["instructions", "build"]), @r"
    exit 4
    ── stderr
    error: cannot assemble the instructions: the component `gone.md` cannot be read
      cause: there is no file `gone.md` in the project
      help: correct `instructions.components` in `.stepmark/config.yaml`, or the file
    ");
    demo.write(".stepmark/config.yaml", "instructions: {output: out.md, components: [out.md]}\n");
    assert_snapshot!(demo.reads_only(&["instructions", "verify"]), @r"
    exit 1
    ── stderr
    error: `instructions.output` and `instructions.components` both name `out.md`: the file would hold itself
      help: name another output in `.stepmark/config.yaml`
    ");
}
