//! A worker keeps tickets in step with artifacts.
#![expect(clippy::disallowed_methods, reason = "an edge: artifacts are edited here")]

use std::fs;

use stepmark_sync::{configuration::Duplicates, plan::ActionKind};

use crate::{
    fake::{FakeJira, Status},
    synced_project::{Project, marker_of},
};

#[tokio::test]
async fn a_ticket_follows_its_artifact() {
    let fake = FakeJira::start();
    let project = Project::new(&fake);
    project.sync(&fake).await;
    let issue = |id: &str| {
        let marker = format!("demo/id:{id}");
        let state = fake.state();
        state.issues.values().find(|issue| marker_of(&issue.properties) == marker).unwrap().clone()
    };
    let path = project.file("A-0");
    let text = fs::read_to_string(&path).unwrap();
    let before = issue("A-0");
    // Edited, and a person wrote something beside.
    fake.state().issues.get_mut(&before.id).unwrap().labels.insert("urgent".to_owned());
    fs::write(&path, text.replacen("stepmark_id: A-0\n", "stepmark_id: A-0\nscope: tiny\n", 1)).unwrap();
    project.sync(&fake).await;
    let edited = issue("A-0");
    assert!(edited.labels.contains("scope:tiny") && edited.labels.contains("urgent"), "{:?}", edited.labels);
    assert_eq!(edited.summary, before.summary);
    // Gone, and back again.
    fs::remove_file(&path).unwrap();
    project.sync(&fake).await;
    assert_eq!(issue("A-0").status, Status::Cancelled);
    fs::write(&path, text).unwrap();
    project.sync(&fake).await;
    let back = issue("A-0");
    assert_eq!((back.status, back.id), (before.status, before.id));
    // What a person changed is seen and written over.
    fake.state().issues.get_mut(&before.id).unwrap().summary = "Mine".to_owned();
    let plan = project.surveyed_plan(&fake).await;
    let fields: Vec<_> =
        plan.actions[0].differences.iter().map(|difference| difference.field.as_str()).collect();
    assert_eq!((plan.actions.len(), fields), (1, vec!["title"]));
}

#[tokio::test]
async fn a_duplicate_is_closed_and_the_oldest_stays() {
    let fake = FakeJira::start();
    let mut project = Project::new(&fake);
    project.settings.duplicates = Duplicates::Close;
    project.sync(&fake).await;
    let copy = {
        let mut state = fake.state();
        let mut copy = state.issues.values().find(|issue| issue.status != Status::Done).unwrap().clone();
        copy.id = state.issues.keys().last().unwrap() + 1;
        copy.made_at_ms += 1;
        // Another machine made it: what a person copies is left alone.
        copy.properties["stepmark"]["from"] = "made=1-1".into();
        state.issues.insert(copy.id, copy.clone());
        copy
    };
    let plan = project.surveyed_plan(&fake).await;
    assert_eq!(
        plan.actions.iter().map(|action| action.kind).collect::<Vec<_>>(),
        [ActionKind::CloseDuplicate]
    );
    let tracker = project.tracker(&fake);
    project.work(&tracker, async |worker| worker.apply(&plan).await.unwrap()).await;
    let marker = marker_of(&copy.properties);
    let state = fake.state();
    let same = state.issues.values().filter(|issue| marker_of(&issue.properties) == marker);
    let closed: Vec<bool> = same.map(|issue| issue.status == Status::Cancelled).collect();
    assert_eq!(closed, [false, true]);
}

#[tokio::test]
async fn an_issue_that_was_moved_to_another_project_is_left_alone() {
    let fake = FakeJira::start();
    let project = Project::new(&fake);
    project.sync(&fake).await;
    let id = project.linked()["demo/id:A-0"];
    fake.state().issues.get_mut(&id).unwrap().moved_to = Some("XYZ-7".to_owned());
    let before = fake.state().issues[&id].clone();
    let path = project.file("A-0");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("stepmark_id: A-0\n", "stepmark_id: A-0\nscope: tiny\n", 1)).unwrap();
    let plan = project.surveyed_plan(&fake).await;
    let tracker = project.tracker(&fake);
    let report = project.work(&tracker, async |worker| worker.apply(&plan).await.unwrap()).await;
    let told: Vec<String> = report.entries.iter().map(|entry| format!("{:?}", entry.outcome)).collect();
    assert!(told.len() == 1 && told[0].contains("was moved to another project, as XYZ-7"), "{told:?}");
    assert!(told[0].contains("reason: Gone"), "{told:?}");
    assert_eq!(fake.state().issues[&id], before);
}

#[tokio::test]
async fn a_project_whose_key_was_changed_has_its_issues() {
    let fake = FakeJira::start();
    let project = Project::new(&fake);
    project.sync(&fake).await;
    let id = project.linked()["demo/id:A-0"];
    // The server tells `ED` of the project under any key.
    fake.state().issues.get_mut(&id).unwrap().moved_to = Some("ED-1".to_owned());
    let path = project.file("A-0");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("stepmark_id: A-0\n", "stepmark_id: A-0\nscope: tiny\n", 1)).unwrap();
    project.sync(&fake).await;
    assert!(fake.state().issues[&id].labels.contains("scope:tiny"));
}
