//! `stepmark asdd`: agents propose, a custodian commits, the manifest follows.

use std::{fs, process::Stdio};

use serde_json::{Value, json};

use super::coordination::{fails, succeeds};
use crate::harness::{Repository, Run, Sandbox};

const CUSTODIAN: [&str; 2] = ["--actor", "agent:knowledge"];
const TECH_LEAD: [&str; 2] = ["--actor", "human:Ada"];

/// A project with one slice in DISCOVERY whose intent is written.
fn project(mode: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    succeeds(&sandbox, &["asdd", "init", "--sprint", "2026-Q4-S2", "--goal", "Sign-in"]);
    succeeds(&sandbox, &["asdd", "add", "User sign-in"]);
    if mode == "AUTO" {
        let force = ["--force", "--reason", "agents run by themselves"];
        let set = ["set", ".asdd/slices/SLICE-001.md", "governance_mode=AUTO"];
        succeeds(&sandbox, &[&set[..], &force[..]].concat());
    }
    sandbox.write(".asdd/specs/auth/intent.md", "# Intent\n");
    sandbox.write(".asdd/traces/SLICE-001-discovery.md", "# Why\n");
    sandbox
}

/// Lets `agent` begin and propose what leads out of DISCOVERY.
fn propose(sandbox: &Sandbox, agent: &str) -> Run {
    succeeds(sandbox, &["asdd", "begin", "SLICE-001", "--agent", agent]);
    sandbox.stepmark(&proposal(agent))
}

fn proposal(agent: &str) -> [&str; 16] {
    [
        "asdd",
        "propose",
        "SLICE-001",
        "--agent",
        agent,
        "--to",
        "SPEC",
        "--file",
        "intent=.asdd/specs/auth/intent.md",
        "--score",
        "0.91",
        "--uncertainty",
        "load",
        "--trace",
        ".asdd/traces/SLICE-001-discovery.md",
        "--json",
    ]
}

fn monitor_in_2030(sandbox: &Sandbox) -> Run {
    let mut command = sandbox.command(&["asdd", "monitor"]);
    sandbox.run(command.env("STEPMARK_TEST_TIME", "2030-01-01T00:00:00Z"))
}

fn manifest(sandbox: &Sandbox) -> Value {
    serde_json::from_slice(&sandbox.read(".asdd/state/manifest.json")).unwrap()
}

fn slice(sandbox: &Sandbox) -> Value {
    let shown = sandbox.reads_only(&["asdd", "show", "SLICE-001", "--json"]);
    shown.json("stepmark.asdd-slice/1")["slice"].clone()
}

#[test]
fn a_manual_slice_goes_on_when_both_say_so() {
    let sandbox = project("MANUAL");
    fails(&sandbox, &proposal("discovery"), "has not begun with `SLICE-001`");
    let run = propose(&sandbox, "discovery");
    let proposed = run.json("stepmark.asdd-proposal/1");
    let id = proposed["proposal"]["proposal_id"].as_str().unwrap();
    assert_eq!((run.code, &proposed["proposal"]["verdict"]), (0, &json!("pending")), "{run}");
    assert_eq!(manifest(&sandbox)["agent_heartbeats"]["discovery"]["status"], "IDLE", "it has done its part");
    let status = succeeds(&sandbox, &["asdd", "status"]).stdout;
    let turn =
        "a tech lead approves it with `stepmark asdd approve SLICE-001 SPEC`; then the custodian commits";
    assert!(status.contains(id) && status.contains(turn), "{status}");
    fails(&sandbox, &["asdd", "commit", id], "committing a proposal is for a custodian");
    fails(&sandbox, &[&CUSTODIAN[..], &["asdd", "commit", id]].concat(), "no tech lead has approved it");
    fails(
        &sandbox,
        &[&CUSTODIAN[..], &["asdd", "approve", "SLICE-001", "SPEC"]].concat(),
        "is for a tech_lead",
    );
    let early = [&TECH_LEAD[..], &["asdd", "approve", "SLICE-001", "DONE"]].concat();
    fails(&sandbox, &early, "cannot go from DISCOVERY to DONE");
    succeeds(&sandbox, &[&TECH_LEAD[..], &["asdd", "approve", "SLICE-001", "SPEC"]].concat());
    succeeds(&sandbox, &[&CUSTODIAN[..], &["asdd", "commit", id]].concat());
    assert_eq!(manifest(&sandbox)["slices"][0]["status"], "SPEC");
    let keys: Vec<String> = manifest(&sandbox)["slices"][0].as_object().unwrap().keys().cloned().collect();
    let expected = [
        "slice_id",
        "name",
        "type",
        "status",
        "governance_mode",
        "phase_data",
        "confidence_chain",
        "ccs",
        "blockers",
        "dissent_notices",
        "reasoning_traces",
    ];
    assert_eq!(keys, expected, "in the order of the manifest, and nothing of stepmark's own");
    fails(&sandbox, &["set", ".asdd/slices/SLICE-001.md", "ccs=1"], "only the role `custodian` changes it");
    assert_eq!(sandbox.reads_only(&["asdd", "show", "SLICE"]).code, 0, "the beginning of an id");
    fails(&sandbox, &["set", ".asdd/project.md", "current_sprint=9"], "only the role `custodian` changes it");
    let block = ["--actor", "agent:spec", "asdd", "block", "SLICE-001", "--reason", "slow"];
    fails(&sandbox, &block, "blocking a slice, by an agent, is for a custodian");
    let log = sandbox.stepmark(&["log", ".asdd/slices/SLICE-001.md"]);
    assert!(log.stdout.contains("asdd-commit") && log.stdout.contains("asdd-approve"), "{log}");
    let check = sandbox.stepmark(&["check"]);
    assert_eq!(check.code, 0, "{check}");
}

#[test]
fn what_stands_in_the_way_and_who_does_not_agree_is_told_by_commands() {
    let sandbox = project("MANUAL");
    let spec = ["--actor", "agent:spec"];
    succeeds(&sandbox, &[&spec[..], &["asdd", "raise", "SLICE-001", "No key yet"]].concat());
    succeeds(&sandbox, &[&spec[..], &["asdd", "dissent", "SLICE", "Too early"]].concat());
    let slice = String::from_utf8(sandbox.read(".asdd/slices/SLICE-001.md")).unwrap();
    assert!(slice.contains("text: No key yet") && slice.contains("text: Too early"), "{slice}");
    let resolve = ["asdd", "resolve", "SLICE-001", "--reason", "it came"];
    fails(&sandbox, &[&spec[..], &resolve].concat(), "resolving what stands in the way is for a tech_lead");
    succeeds(&sandbox, &[&["--actor", "human:Ada"], &resolve[..]].concat());
    assert!(String::from_utf8(sandbox.read(".asdd/slices/SLICE-001.md")).unwrap().contains("blockers: []"));
    succeeds(&sandbox, &["asdd", "heartbeat", "spec_agent", "--slice", "SLICE-001"]);
    succeeds(&sandbox, &["asdd", "heartbeat", "spec", "--slice", "SLICE-001"]);
    let manifest = String::from_utf8(sandbox.read(".asdd/state/manifest.json")).unwrap();
    assert_eq!(manifest.matches("\"last_execution\"").count(), 1, "one agent: {manifest}");
}

#[test]
fn of_twenty_proposals_on_one_base_one_is_committed() {
    let sandbox = project("AUTO");
    let agents: Vec<String> = (0..20).map(|number| format!("a{number}")).collect();
    for agent in &agents {
        succeeds(&sandbox, &["asdd", "begin", "SLICE-001", "--agent", agent]);
    }
    let proposals: Vec<_> = agents
        .iter()
        .map(|agent| {
            let mut command = sandbox.command(&[
                "asdd",
                "propose",
                "SLICE-001",
                "--agent",
                agent,
                "--set",
                "name=Other",
                "--json",
            ]);
            command.env("STEPMARK_TEST_ID", agent);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut codes: Vec<i32> =
        proposals.into_iter().map(|own| own.wait_with_output().unwrap().status.code().unwrap()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [vec![0], vec![3; 19]].concat());
    let all = sandbox.reads_only(&["asdd", "proposals", "--all", "--json"]).json("stepmark.asdd-proposals/1");
    let verdicts = |wanted: &str| {
        all["proposals"].as_array().unwrap().iter().filter(|own| own["verdict"] == wanted).count()
    };
    assert_eq!((verdicts("committed"), verdicts("outdated")), (1, 19), "none is lost: {all}");
    assert_eq!(manifest(&sandbox)["slices"][0]["name"], "Other");
}

#[test]
fn a_lack_of_confidence_blocks_the_slice_and_is_logged() {
    let sandbox = project("AUTO");
    assert_eq!(propose(&sandbox, "discovery").code, 0);
    succeeds(&sandbox, &["asdd", "begin", "SLICE-001", "--agent", "spec"]);
    let unsure = ["asdd", "propose", "SLICE-001", "--agent", "spec", "--score", "0.71"];
    fails(&sandbox, &unsure, "names what the agent is not sure of");
    let run = sandbox.stepmark(&[&unsure[..], &["--uncertainty", "Who | signs in?"]].concat());
    assert_eq!(run.code, 1, "{run}");
    let told = slice(&sandbox);
    assert_eq!(told["block_reason"], "Spec Agent confidence 0.71 < threshold 0.85");
    assert_eq!(
        (&told["status"], &told["blocked_at_phase"], &told["lkg_phase"]),
        (&json!("BLOCKED"), &json!("SPEC"), &json!("DISCOVERY"))
    );
    let log = String::from_utf8(sandbox.read("docs/agent-failure-log.md")).unwrap();
    assert!(log.contains("| spec | SPEC | SLICE-001: Spec Agent confidence 0.71 < threshold 0.85 | 0.71 |  |  | Who \\| signs in? |"), "{log}");
    fails(&sandbox, &["asdd", "propose", "SLICE-001", "--agent", "spec", "--set", "name=X"], "held up");
    fails(&sandbox, &[&CUSTODIAN[..], &["asdd", "unblock", "SLICE-001"]].concat(), "is for a tech_lead");
    sandbox.write(".asdd/specs/auth/requirements.md", "# Of the attempt that failed\n");
    succeeds(&sandbox, &[&TECH_LEAD[..], &["asdd", "unblock", "SLICE-001"]].concat());
    assert_eq!(slice(&sandbox)["status"], "DISCOVERY");
    succeeds(&sandbox, &["asdd", "begin", "SLICE-001", "--agent", "discovery"]);
}

#[test]
fn a_doubt_about_a_slice_that_is_blocked_already_waits_for_nobody() {
    let sandbox = project("AUTO");
    succeeds(&sandbox, &["asdd", "begin", "SLICE-001", "--agent", "discovery"]);
    succeeds(&sandbox, &["asdd", "block", "SLICE-001", "--reason", "r"]);
    let unsure =
        ["asdd", "propose", "SLICE-001", "--agent", "discovery", "--score", "0.2", "--uncertainty", "u"];
    fails(&sandbox, &unsure, "is BLOCKED");
    let all = sandbox.reads_only(&["asdd", "proposals", "--all", "--json"]).json("stepmark.asdd-proposals/1");
    assert_eq!(all["proposals"][0]["verdict"], "rejected", "{all}");
}

#[test]
fn two_that_contradict_each_other_lock_the_slice() {
    let sandbox = project("MANUAL");
    for agent in ["discovery", "design"] {
        succeeds(&sandbox, &["asdd", "begin", "SLICE-001", "--agent", agent]);
    }
    for (agent, name) in [("discovery", "name=One"), ("design", "name=Two")] {
        let mut command = sandbox.command(&["asdd", "propose", "SLICE-001", "--agent", agent, "--set", name]);
        let run = sandbox.run(command.env("STEPMARK_TEST_ID", agent));
        assert_eq!(run.code, 0, "{run}");
    }
    let told = slice(&sandbox);
    assert_eq!((&told["status"], &told["lock"]["requester"]), (&json!("LOCK"), &json!("design")));
    let waiting = sandbox.reads_only(&["asdd", "proposals", "--json"]).json("stepmark.asdd-proposals/1");
    let id = waiting["proposals"][0]["proposal_id"].as_str().unwrap().to_owned();
    let commit = [&CUSTODIAN[..], &["asdd", "commit", &id]].concat();
    fails(&sandbox, &commit, "contradict each other: `name` (discovery: \"One\", design: \"Two\")");
    let configuration = String::from_utf8(sandbox.read(".stepmark/config.yaml")).unwrap();
    sandbox.write(
        ".stepmark/config.yaml",
        configuration.replace("asdd:\n", "asdd:\n  steering: [{keys: [name], prefer: agent design}]\n"),
    );
    succeeds(&sandbox, &commit);
    let told = slice(&sandbox);
    assert_eq!(
        (&told["status"], &told["name"], told.get("lock")),
        (&json!("DISCOVERY"), &json!("Two"), None)
    );
}

#[test]
fn a_conflict_that_nobody_settles_blocks_the_slice() {
    let sandbox = project("MANUAL");
    let configuration = String::from_utf8(sandbox.read(".stepmark/config.yaml")).unwrap();
    sandbox
        .write(".stepmark/config.yaml", configuration.replace("asdd:\n", "asdd:\n  conflict_seconds: 1\n"));
    for agent in ["discovery", "design"] {
        succeeds(&sandbox, &["asdd", "begin", "SLICE-001", "--agent", agent]);
    }
    for (agent, name) in [("discovery", "name=One"), ("design", "name=Two")] {
        let mut command = sandbox.command(&["asdd", "propose", "SLICE-001", "--agent", agent, "--set", name]);
        let run = sandbox.run(command.env("STEPMARK_TEST_ID", agent));
        assert_eq!(run.code, 0, "{run}");
    }
    let run = monitor_in_2030(&sandbox);
    assert_eq!(run.code, 1, "{run}");
    let told = slice(&sandbox);
    assert_eq!((&told["status"], &told["blockers"][0]["kind"]), (&json!("BLOCKED"), &json!("CONFLICT")));
    assert!(told["blockers"][0]["text"].as_str().unwrap().contains("design: \"Two\""), "{told}");
}

#[test]
fn a_file_that_changes_holds_its_slice_up_and_no_other() {
    let sandbox = project("AUTO");
    succeeds(&sandbox, &["asdd", "add", "Another"]);
    assert_eq!(propose(&sandbox, "discovery").code, 0);
    sandbox.write(".asdd/specs/auth/intent.md", "# Changed by hand\n");
    fails(
        &sandbox,
        &["asdd", "begin", "SLICE-001", "--agent", "spec"],
        "STATE_DRIFT in `SLICE-001`: .asdd/specs/auth/intent.md",
    );
    succeeds(&sandbox, &["asdd", "begin", "SLICE-002", "--agent", "spec"]);
    let check = sandbox.stepmark(&["check"]);
    assert!(check.code == 1 && check.stdout.contains("SMA02"), "{check}");
    let accept = ["asdd", "accept", "SLICE-001", ".asdd/specs/auth/intent.md", "--reason", "it is better"];
    succeeds(&sandbox, &[&TECH_LEAD[..], &accept].concat());
    succeeds(&sandbox, &["asdd", "begin", "SLICE-001", "--agent", "spec"]);
}

#[test]
fn a_proposal_sets_no_key_that_others_decide_on_and_names_no_file_of_git() {
    let sandbox = project("AUTO");
    sandbox.write(".git/config", "");
    for (more, reason) in [
        (["--set", "status=[1]"], "the phase that comes next is a word, and `status` is [1]"),
        (["--set", "approval.to=SPEC"], "`approval.to` is not changed by a proposal"),
        (["--set", "phase_data.intent=x"], "`phase_data.intent` is not changed by a proposal"),
        (["--file", "intent=.git/config"], "`.git/config` belongs to git"),
        (["--file", "intent=.Stepmark/config.yaml"], "belongs to git, to stepmark"),
        (["--trace", ".git/config"], "belongs to git, to stepmark"),
    ] {
        succeeds(&sandbox, &["asdd", "begin", "SLICE-001", "--agent", "discovery"]);
        let run = [&["asdd", "propose", "SLICE-001", "--agent", "discovery"][..], &more].concat();
        fails(&sandbox, &run, reason);
    }
    let accept = ["asdd", "accept", "SLICE-001", ".git/config", "--reason", "r"];
    fails(&sandbox, &[&TECH_LEAD[..], &accept].concat(), "belongs to git");
    let check = succeeds(&sandbox, &["asdd", "check"]);
    assert!(check.stderr.is_empty() || !check.stderr.contains("error"), "{check}");
}

#[test]
fn a_slice_that_another_program_takes_away_stays_away_in_its_manifest_until_somebody_decides() {
    let sandbox = project("AUTO");
    succeeds(&sandbox, &["asdd", "add", "Another"]);
    let mut edited = manifest(&sandbox);
    edited["slices"].as_array_mut().unwrap().remove(0);
    edited["slices"][0]["name"] = "Theirs".into();
    sandbox.write(".asdd/state/manifest.json", edited.to_string());
    succeeds(&sandbox, &["import", "asdd", "--take", "file"]);
    assert_eq!(manifest(&sandbox)["slices"].as_array().unwrap().len(), 1, "not put back");
    assert_eq!(slice(&sandbox)["slice_id"], "SLICE-001", "nor taken away here");
    assert_eq!(sandbox.stepmark(&["asdd", "project"]).code, 1, "it is told");
}

#[test]
fn the_manifest_is_made_again_or_holds_what_others_changed() {
    let sandbox = project("AUTO");
    let before = manifest(&sandbox);
    let place = sandbox.place(".asdd/state/manifest.json");
    for damaged in ["", "{\"slices\": [", "<<<<<<< HEAD\n"] {
        fs::write(&place, damaged).unwrap();
        succeeds(&sandbox, &["asdd", "project"]);
        assert_eq!(manifest(&sandbox)["slices"], before["slices"], "{damaged}");
    }
    fs::remove_file(&place).unwrap();
    succeeds(&sandbox, &["asdd", "project"]);
    assert_eq!(manifest(&sandbox)["slices"], before["slices"]);
    let mut edited = before.clone();
    edited["slices"][0]["name"] = "Somebody's".into();
    fs::write(&place, edited.to_string()).unwrap();
    fails(
        &sandbox,
        &["asdd", "begin", "SLICE-001", "--agent", "discovery"],
        "another program changed it in the manifest",
    );
    succeeds(&sandbox, &["asdd", "add", "Another"]);
    assert_eq!(manifest(&sandbox)["slices"][0]["name"], "Somebody's", "it stays until somebody decides");
    let by_agent = ["--actor", "agent:x", "import", "asdd", "--take", "file"];
    fails(&sandbox, &by_agent, "an import by an agent is for a custodian");
    succeeds(&sandbox, &["import", "asdd", "--take", "file"]);
    assert_eq!(slice(&sandbox)["name"], "Somebody's");
    succeeds(&sandbox, &["asdd", "begin", "SLICE-001", "--agent", "discovery"]);
}

#[test]
fn slices_are_made_again_from_history_or_from_files() {
    let sandbox = project("AUTO");
    assert_eq!(propose(&sandbox, "discovery").code, 0);
    let before = slice(&sandbox);
    fs::remove_file(sandbox.place(".asdd/slices/SLICE-001.md")).unwrap();
    let rebuilt = succeeds(&sandbox, &["asdd", "rebuild", "--json"]).json("stepmark.asdd-rebuild/1");
    assert_eq!(rebuilt["from_history"], json!(["SLICE-001"]), "{rebuilt}");
    assert_eq!(slice(&sandbox), before, "exactly");
    sandbox.write(".asdd/specs/pay/intent.md", "# Intent\n");
    sandbox.write(".asdd/specs/pay/requirements.md", "# Requirements\n");
    let rebuilt = succeeds(&sandbox, &["asdd", "rebuild", "--json"]).json("stepmark.asdd-rebuild/1");
    assert_eq!(rebuilt["from_files"], json!(["pay"]));
    let check = sandbox.stepmark(&["check"]);
    assert!(check.stdout.contains("SMA08"), "{check}");
    succeeds(&sandbox, &["asdd", "begin", "pay", "--agent", "spec"]);
    fails(
        &sandbox,
        &["asdd", "propose", "pay", "--agent", "spec", "--set", "name=Pay"],
        "a tech lead has to look at status",
    );
    let review = [
        "asdd",
        "review",
        "pay",
        "status=SPEC",
        "type=FEATURE",
        "governance_mode=AUTO",
        "confidence_chain=[]",
    ];
    succeeds(&sandbox, &[&TECH_LEAD[..], &review].concat());
    succeeds(&sandbox, &["asdd", "begin", "pay", "--agent", "spec"]);
    succeeds(&sandbox, &["asdd", "propose", "pay", "--agent", "spec", "--set", "name=Pay"]);
}

#[test]
fn a_proposal_is_refused_and_its_file_comes_back() {
    let Some(repository) = Repository::empty("asdd_reject") else { return };
    let sandbox = &repository.sandbox;
    succeeds(sandbox, &["asdd", "init"]);
    succeeds(sandbox, &["asdd", "add", "User sign-in"]);
    sandbox.write("intent.md", "# Intent\n");
    let accept = ["asdd", "accept", "SLICE-001", "intent.md", "--reason", "it is good"];
    succeeds(sandbox, &[&TECH_LEAD[..], &accept].concat());
    repository.git(&["add", "--all"]);
    repository.commit("begun");
    sandbox.write("intent.md", "# Worse\n");
    succeeds(sandbox, &["asdd", "begin", "SLICE-001", "--agent", "discovery"]);
    let propose =
        ["asdd", "propose", "SLICE-001", "--agent", "discovery", "--file", "intent=intent.md", "--json"];
    let proposed = succeeds(sandbox, &propose).json("stepmark.asdd-proposal/1");
    let id = proposed["proposal"]["proposal_id"].as_str().unwrap().to_owned();
    let reject = [&CUSTODIAN[..], &["asdd", "reject", &id, "--reason", "too short", "--restore"]].concat();
    let rejected = repository.stepmark(&reject);
    assert_eq!(rejected.code, 0, "{rejected}");
    assert_eq!(sandbox.read("intent.md"), b"# Intent\n");
    fails(sandbox, &reject, "there is no proposal");
    assert_eq!(slice(sandbox)["status"], "DISCOVERY");
    let log = sandbox.stepmark(&["log"]);
    assert!(log.stdout.contains("asdd-reject"), "{log}");
}

#[test]
fn silent_agents_are_told_of_and_block_their_slice_at_last() {
    let sandbox = project("MANUAL");
    succeeds(
        &sandbox,
        &[
            "asdd",
            "heartbeat",
            "discovery_agent",
            "--slice",
            "SLICE-001",
            "--wave",
            "2",
            "--done",
            "7",
            "--remaining",
            "4",
        ],
    );
    let told = &manifest(&sandbox)["agent_heartbeats"]["discovery_agent"];
    assert_eq!(
        (&told["status"], &told["current_wave"], &told["tasks_remaining"]),
        (&json!("ACTIVE"), &json!(2), &json!(4))
    );
    assert_eq!(succeeds(&sandbox, &["asdd", "monitor"]).stdout, "");
    succeeds(&sandbox, &["asdd", "heartbeat", "spec_agent", "--slice", "SLICE-001"]);
    let run = monitor_in_2030(&sandbox);
    assert!(
        run.code == 1 && run.stdout.contains("SLICE-001: BLOCKED, `discovery_agent` is silent since"),
        "{run}"
    );
    assert_eq!(slice(&sandbox)["blockers"][0]["kind"], "TIMEOUT");
}

#[test]
fn a_proposal_waits_for_what_may_pass_and_is_refused_for_its_own_faults_alone() {
    let sandbox = project("MANUAL");
    let waits = || {
        let listed = succeeds(&sandbox, &["asdd", "proposals", "--json"]).json("stepmark.asdd-proposals/1");
        let all = listed["proposals"].as_array().unwrap().clone();
        all.iter().map(|one| one["agent"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let id = |run: &Run| {
        let told = run.json("stepmark.asdd-proposal/1");
        told["proposal"]["proposal_id"].as_str().unwrap().to_owned()
    };
    for agent in ["good", "bad"] {
        succeeds(&sandbox, &["asdd", "begin", "SLICE-001", "--agent", agent]);
    }
    let proposes = |agent: &str, with: &[&str]| {
        let words = [&["asdd", "propose", "SLICE-001", "--agent", agent, "--json"][..], with].concat();
        sandbox.run(sandbox.command(&words).env("STEPMARK_TEST_ID", agent))
    };
    let good = id(&proposes("good", &["--set", "name=Good"]));
    let bad = proposes("bad", &["--file", "intent=.asdd/specs/auth/intent.md"]);
    assert_eq!(bad.code, 0, "{bad}");
    assert_eq!(slice(&sandbox)["status"], "LOCK");
    fails(&sandbox, &["--actor", "agent:good", "asdd", "unlock", "SLICE-001"], "is for a custodian");
    sandbox.write(".asdd/specs/auth/intent.md", "# Another\n");
    fails(&sandbox, &[&CUSTODIAN[..], &["asdd", "commit", &good]].concat(), "is not the file that was");
    assert_eq!(waits(), ["good"], "the other one is refused");
    let large: Vec<String> = (0..11).map(|n| format!("note{n}={}", "x".repeat(100_000))).collect();
    let large: Vec<&str> = large.iter().flat_map(|own| ["--set", own]).collect();
    let large = proposes("good", &large);
    assert!(large.code == 1 && large.stderr.contains("long text belongs in a file"), "{}", large.stderr);
    let own = "intent=.asdd/slices/SLICE-001.md";
    fails(
        &sandbox,
        &["asdd", "propose", "SLICE-001", "--agent", "good", "--file", own],
        "to the records of ASDD",
    );
    let roles = ["--config", "roles.tech_lead=agent:x", "--actor", "agent:x", "asdd", "unlock", "SLICE-001"];
    let run = sandbox.stepmark(&roles);
    assert!(
        run.code != 0 && run.stderr.contains("roles are given in `.stepmark/config.yaml` alone"),
        "{run}"
    );
    succeeds(&sandbox, &[&CUSTODIAN[..], &["asdd", "commit", &good]].concat());
}

#[test]
fn newer_work_outlives_the_refusal_of_what_was_proposed() {
    let sandbox = project("MANUAL");
    let run = propose(&sandbox, "discovery").json("stepmark.asdd-proposal/1");
    let id = run["proposal"]["proposal_id"].as_str().unwrap();
    sandbox.write(".asdd/specs/auth/intent.md", "# Newer\n");
    let reject = [&CUSTODIAN[..], &["asdd", "reject", id, "--reason", "no", "--restore"]].concat();
    let told = sandbox.stepmark(&reject);
    assert_eq!(told.code, 1, "{told}");
    assert!(told.stderr.contains("was changed since it was proposed"), "{told}");
    assert_eq!(sandbox.read(".asdd/specs/auth/intent.md"), b"# Newer\n");
}

#[test]
fn slices_of_all_kinds_stand_in_one_view() {
    let sandbox = project("MANUAL");
    succeeds(&sandbox, &["asdd", "quick", "Mend a typo"]);
    succeeds(&sandbox, &["asdd", "retro", "add", "Sign-in as it is"]);
    succeeds(
        &sandbox,
        &["asdd", "retro", "count", "RETRO-001", "--validated", "14", "--corrected", "3", "--missing", "2"],
    );
    let status = sandbox.reads_only(&["asdd", "status"]);
    for line in
        ["SLICE-001  FEATURE", "SLICE-002  FEATURE", "QUICK_FIX", "RETRO-001  RETRO_SPEC  BEHAVIOR_CAPTURE"]
    {
        assert!(status.stdout.contains(line), "{line}: {status}");
    }
    let told = sandbox.reads_only(&["asdd", "status", "--json"]).json("stepmark.asdd/1");
    assert_eq!(told["slices"][2]["validation_status"], "PARTIAL");
}

/// `next` and `status` print it so.
#[test]
fn a_person_who_names_no_agent_begins_as_the_one_of_the_phase() {
    let sandbox = Sandbox::empty();
    succeeds(&sandbox, &["asdd", "init"]);
    succeeds(&sandbox, &["asdd", "add", "Sign-in"]);
    succeeds(&sandbox, &["--actor", "human:Ada", "asdd", "begin", "SLICE-001"]);
    let propose =
        ["asdd", "propose", "SLICE-001", "--agent", "discovery", "--score", "0.9", "--trace", "t.md"];
    assert!(!sandbox.stepmark(&propose).stderr.contains("begin"), "it has begun as discovery");
}
