//! Decisions on slices, as tables.

use serde_json::{Map, Value as Json, json};

use super::{
    AsddRefusal, Confidence, Failure, Prefer, Proposal, ProposedFile, Record, Rules, SliceFacts, SliceKind,
    State, SteeringRule, Verdict, change, commit, fail, read, reconcile, render, settle, slice_move,
};
use crate::{
    artifact::FileHash,
    records::{RecordSet as _, Signals},
};

const NOW: &str = "2026-04-20T16:45:00Z";

fn slice(values: Json) -> Record {
    let Json::Object(values) = values else { panic!("a mapping") };
    Record { order: Some(0), ..Record::new(SliceKind::Slice, "SLICE-001", values) }
}

fn design() -> Record {
    slice(json!({
        "name": "Sign-in", "type": "FEATURE", "status": "DESIGN", "governance_mode": "AUTO",
        "phase_data": {"intent": "s/intent.md", "requirements": "s/requirements.md"},
        "confidence_chain": [
            {"agent": "discovery", "score": 0.91}, {"agent": "spec", "score": 0.88},
            {"agent": "validation", "score": 0.92},
        ],
        "blockers": [], "reasoning_traces": [],
    }))
}

fn state(slice: &Record) -> State {
    let project = Record::new(SliceKind::Project, "asdd", Map::new());
    State::from_records([project, slice.clone()]).unwrap()
}

/// Files with their names as bytes.
fn facts(paths: &[&str]) -> SliceFacts {
    let files = paths.iter().map(|path| ((*path).to_owned(), Some(FileHash::of(path.as_bytes()))));
    SliceFacts { files: files.collect() }
}

const FILES: [&str; 5] = ["s/intent.md", "s/requirements.md", "s/design.md", "domain.md", "t-design.md"];

fn proposal(slice: &Record, agent: &str) -> Proposal {
    let file = |(phase, path): (&str, &str)| ProposedFile {
        phase: phase.to_owned(),
        path: path.to_owned(),
        file_hash: FileHash::of(path.as_bytes()),
    };
    Proposal {
        proposal_id: format!("p-{agent}"),
        slice_id: slice.id.clone(),
        agent: agent.to_owned(),
        base: slice.base(),
        created_at: NOW.to_owned(),
        set: [("status".to_owned(), json!("IMPLEMENTATION"))].into_iter().collect(),
        artifacts: [("design", "s/design.md"), ("domain_model", "domain.md")].map(file).to_vec(),
        confidence: Some(Confidence { score: 0.83, uncertainty_factors: vec!["load".to_owned()] }),
        trace: Some("t-design.md".to_owned()),
        verdict: Verdict::Pending,
        reason: None,
    }
}

fn made(slice: &Record, proposal: &Proposal, rules: &Rules) -> Result<Record, AsddRefusal> {
    commit(slice, proposal, (&state(slice), &facts(&FILES), rules), NOW)
}

#[test]
fn a_valid_proposal_is_what_the_slice_says() {
    let before = design();
    let after = made(&before, &proposal(&before, "design"), &Rules::default()).unwrap();
    assert_eq!(after.status(), "IMPLEMENTATION");
    assert_eq!(after.values["ccs"], json!(0.611));
    assert_eq!(after.chain().last().map(|entry| (entry.agent, entry.score)), Some(("design", 0.83)));
    assert_eq!(after.phase_file("domain_model"), Some("domain.md"));
    assert_eq!(after.accepted("s/design.md"), Some(FileHash::of(b"s/design.md").to_string().as_str()));
    assert_eq!(after.texts("reasoning_traces"), ["t-design.md"]);
}

#[test]
fn a_proposal_that_contradicts_something_is_refused() {
    type Change = fn(&mut Record, &mut Proposal);
    let cases: [(&str, Change); 13] = [
        ("has changed since", |slice, _| slice.set("name", "Other")),
        ("is no status of a slice", |slice, own| {
            slice.set("status", "THINKING");
            own.base = slice.base();
        }),
        ("which is not there", |slice, own| {
            slice.set_in("phase_data", "intent", "gone.md".into());
            own.base = slice.base();
        }),
        ("changed since it was accepted", |slice, own| {
            slice.set_in("accepted", "s/intent.md", "0".into());
            own.base = slice.base();
        }),
        ("is not the file that was proposed", |_, own| own.artifacts[0].file_hash = FileHash::of(b"x")),
        ("there is no file `gone.md`", |_, own| own.trace = Some("gone.md".to_owned())),
        ("has an entry in the confidence chain", |_, own| own.agent = "spec_agent".to_owned()),
        ("names what the agent is not sure of", |_, own| {
            own.confidence.as_mut().unwrap().uncertainty_factors.clear();
        }),
        ("is not changed by a proposal", |_, own| drop(own.set.insert("ccs".to_owned(), json!(1)))),
        ("cannot go from DESIGN to CI_CD", |_, own| {
            drop(own.set.insert("status".to_owned(), json!("CI_CD")))
        }),
        ("has told no confidence", |_, own| own.confidence = None),
        ("no trace of `design` is listed", |_, own| own.trace = None),
        ("names no file that is there", |_, own| drop(own.artifacts.pop())),
    ];
    for (expected, change) in cases {
        let mut slice = design();
        let mut own = proposal(&slice, "design");
        change(&mut slice, &mut own);
        let mut facts = facts(&FILES);
        facts.files.insert("gone.md".to_owned(), None);
        let refusal = commit(&slice, &own, (&state(&slice), &facts, &Rules::default()), NOW).unwrap_err();
        assert!(refusal.to_string().contains(expected), "{expected}: {refusal}");
    }
}

#[test]
fn a_manual_slice_waits_for_a_tech_lead() {
    let mut slice = design();
    slice.set("governance_mode", "SOMETHING");
    let own = proposal(&slice, "design");
    let refusal = made(&slice, &own, &Rules::default()).unwrap_err();
    assert!(matches!(refusal, AsddRefusal::NotApproved { .. }), "{refusal}");
    let approval = slice_move("approve").with("to", "IMPLEMENTATION").with("actor", "human:Ada");
    let approved = change(&slice, &approval, NOW).unwrap();
    assert_eq!(approved.base(), slice.base(), "a proposal still rests on it");
    let after = made(&approved, &own, &Rules::default()).unwrap();
    assert_eq!((after.status(), after.approved()), ("IMPLEMENTATION", None));
}

#[test]
fn a_floor_holds_the_product_up() {
    let slice = design();
    let rules = Rules { ccs_floor: Some(0.65), ..Rules::default() };
    let refusal = made(&slice, &proposal(&slice, "design"), &rules).unwrap_err();
    assert!(refusal.to_string().contains("`ccs` is 0.611, and 0.65 is the least"), "{refusal}");
}

#[test]
fn a_failure_goes_back_to_the_last_phase_that_was_good() {
    let mut slice = made(&design(), &proposal(&design(), "design"), &Rules::default()).unwrap();
    slice.push("confidence_chain", json!({"agent": "task-planning", "score": 0.9}));
    slice.set_in("phase_data", "tasks", "s/tasks.md".into());
    let failure = Failure {
        agent: "implementation_agent".to_owned(),
        score: 0.71,
        uncertainty_factors: vec!["Settlement entity has conflicting attribute definitions".to_owned()],
    };
    let after = fail(&slice, &failure, &Rules::default(), NOW).unwrap();
    let text = |key: &str| after.text(key).unwrap_or_default().to_owned();
    assert_eq!(after.status(), "BLOCKED");
    assert_eq!((text("blocked_at_phase"), text("lkg_phase")), ("IMPLEMENTATION".into(), "DESIGN".into()));
    assert_eq!(text("block_reason"), "Implementation Agent confidence 0.71 < threshold 0.75");
    assert_eq!(text("rollback_timestamp"), NOW);
    assert_eq!(after.chain().len(), 4);
    assert_eq!(after.phase_file("tasks"), None);
    assert_eq!(after.values["ccs"], json!(0.611));
    let open = change(&after, &slice_move("unblock"), NOW).unwrap();
    assert_eq!(open.status(), "DESIGN");
    assert!(!open.values.contains_key("block_reason"));
    assert_eq!(open.texts("uncertainty_factors").len(), 1, "the next attempt is told");
    let sure = Failure { score: 0.75, ..failure };
    assert!(fail(&slice, &sure, &Rules::default(), NOW).is_err());
}

#[test]
fn proposals_come_together_or_contradict_each_other() {
    let slice = design();
    // As texts they would be in the other order.
    let one = Proposal { created_at: "2026-04-20T16:44:59.68Z".to_owned(), ..proposal(&slice, "design") };
    let mut other = proposal(&slice, "security");
    other.created_at = "2026-04-20T16:44:59.681Z".to_owned();
    other.set = [("name".to_owned(), json!("Other"))].into_iter().collect();
    other.artifacts.truncate(1);
    other.artifacts[0].path = "other.md".to_owned();
    other.confidence = Some(Confidence { score: 0.96, uncertainty_factors: Vec::new() });
    let all = [one, other];
    let conflicts = reconcile(&all, &[]).unwrap_err();
    assert_eq!(conflicts.iter().map(|own| own.key.as_str()).collect::<Vec<_>>(), ["phase_data.design"]);
    let rule = |prefer| vec![SteeringRule { keys: vec!["design".to_owned()], prefer }];
    for (prefer, winner) in [
        (Prefer::First, "s/design.md"),
        (Prefer::HigherConfidence, "other.md"),
        (Prefer::Agent("security_agent".to_owned()), "other.md"),
    ] {
        let united = reconcile(&all, &rule(prefer)).unwrap();
        let files = united.iter().flat_map(|own| &own.artifacts).filter(|file| file.phase == "design");
        assert_eq!(files.map(|file| file.path.as_str()).collect::<Vec<_>>(), [winner]);
    }
    let locked = change(&slice, &slice_move("lock").with("requester", "security"), NOW).unwrap();
    assert_eq!((locked.status(), locked.base()), ("LOCK", slice.base()));
    let context =
        (&state(&locked), &facts(&FILES), &Rules { steering: rule(Prefer::First), ..Rules::default() });
    let settled = settle(&locked, &all, context, NOW).unwrap();
    assert_eq!((settled.status(), settled.text("name")), ("IMPLEMENTATION", Some("Other")));
    assert_eq!(settled.chain().len(), 5);
    let undecided = (&state(&locked), &facts(&FILES), &Rules::default());
    assert!(matches!(settle(&locked, &all, undecided, NOW), Err(AsddRefusal::Conflict { .. })));
}

#[test]
fn a_review_ends_when_all_is_said() {
    let mut slice = design();
    slice.set("needs_human_review", json!(["status", "type"]));
    let own = proposal(&slice, "design");
    let refusal = made(&slice, &own, &Rules::default()).unwrap_err();
    assert!(refusal.to_string().contains("a tech lead has to look at status, type"), "{refusal}");
    let said = |key: &str, value: &str| slice_move("review").with("set", json!({key: value}));
    let half = change(&slice, &said("status", "DESIGN"), NOW).unwrap();
    assert_eq!(half.needs_review(), ["type"]);
    let whole = change(&half, &said("type", "BUG_FIX"), NOW).unwrap();
    assert!(whole.needs_review().is_empty() && whole.text("type") == Some("BUG_FIX"));
}

#[test]
fn a_manifest_is_read_and_written_as_it_is() {
    let text = json!({
        "project_context": {"current_sprint": "2026-Q2-S3", "product_goals": ["..."], "global_confidence_score": 0.87, "own": 1},
        "slices": [
            {"slice_id": "SLICE-001", "name": "Sign-in", "phase_data": {"intent": "s/intent.md", "more": null}, "id": "x", "custom": [1, 2.50]},
            {"slice_id": "a b", "status": "BLOCKED", "lkg_phase": "DESIGN"},
        ],
        "agent_heartbeats": {"implementation_agent": {"last_execution": "2026-04-20T15:10:00Z", "status": "ACTIVE", "current_slice": "SLICE-003", "current_wave": 2, "tasks_completed": 7, "tasks_remaining": 4, "mood": "good"}},
        "pipeline": {"version": 2},
    });
    let (state, signals) = read(text.to_string().as_bytes()).unwrap();
    let artifacts = state.records().map(|record| {
        let path = crate::artifact::ProjectPath::new("a.md").unwrap();
        Record::of(&crate::artifact::Artifact::read(path, record.to_file().unwrap())).unwrap()
    });
    let state = State::from_records(artifacts).unwrap();
    let written: Json = serde_json::from_slice(&render(&state, &signals)).unwrap();
    assert_eq!(written, text);
    assert_eq!(render(&state, &Signals::new()), render(&state, &Signals::new()));
    for damaged in
        ["", "[]", "{}", r#"{"slices": [{}]}"#, r#"{"slices": [{"slice_id": "a"}, {"slice_id": "a"}]}"#]
    {
        assert!(read(damaged.as_bytes()).is_err(), "{damaged}");
    }
}
