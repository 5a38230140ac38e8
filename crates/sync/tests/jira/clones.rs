//! Several clones of a project, each with a ledger of its own, with tickets in one Jira whose index is late.
#![expect(clippy::disallowed_methods, reason = "an edge: artifacts are edited here")]

use std::{collections::BTreeMap, fs};

use serde_json::Value as Json;

use crate::{
    fake::{FakeJira, Fault, Issue, Status, When},
    synced_project::{Project, marker_of},
};

/// A server whose index is late, with issues of people, and two clones.
fn clones() -> (FakeJira, BTreeMap<u64, Issue>, [Project; 2]) {
    let fake = FakeJira::start();
    fake.state().index_lag_ms = 60_000;
    let one = Project::new(&fake);
    let other = one.another(&fake);
    let people = people(&fake);
    (fake, people, [one, other])
}

/// Issues of people: without our property, and one with another project's.
fn people(fake: &FakeJira) -> BTreeMap<u64, Issue> {
    let mut state = fake.state();
    for (id, status) in [(10_000, Status::ToDo), (10_001, Status::Done)] {
        let issue = Issue {
            id,
            summary: "It hurts".to_owned(),
            description: Json::Null,
            labels: ["bug".to_owned()].into(),
            status,
            resolution: None,
            issue_type: "Task".to_owned(),
            parent: None,
            properties: serde_json::Map::new(),
            others: BTreeMap::new(),
            made_at_ms: 0,
            history: Vec::new(),
            comments: 1,
            moved_to: None,
        };
        state.issues.insert(id, issue);
    }
    state.issues.clone()
}

/// The issues of each artifact that are not given up.
fn live(fake: &FakeJira, people: &BTreeMap<u64, Issue>) -> BTreeMap<String, Vec<u64>> {
    let mut live: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for issue in fake.state().issues.values().filter(|issue| !people.contains_key(&issue.id)) {
        let of_artifact = live.entry(marker_of(&issue.properties)).or_default();
        if issue.status != Status::Cancelled {
            of_artifact.push(issue.id);
        }
    }
    live
}

fn assert_untouched(fake: &FakeJira, people: &BTreeMap<u64, Issue>) {
    let state = fake.state();
    assert!(people.iter().all(|(id, issue)| state.issues[id] == *issue), "issues of people were changed");
}

#[tokio::test]
async fn clones_that_apply_at_once_agree_on_one_ticket_an_artifact() {
    let (fake, people, clones) = clones();
    tokio::join!(clones[0].settle(&fake), clones[1].settle(&fake));
    for clone in &clones {
        clone.settle(&fake).await;
    }
    let live = live(&fake, &people);
    assert!(live.len() >= 5 && live.values().all(|same| same.len() <= 1), "{live:?}");
    assert_untouched(&fake, &people);
    for clone in &clones {
        for (marker, id) in clone.linked() {
            assert!(live[&marker].is_empty() || live[&marker] == [id], "{marker}: {id}, {live:?}");
        }
    }
}

/// The first ticket of each shows the other, before the rest is made.
#[tokio::test]
async fn new_clones_within_the_lag_of_the_index_make_hardly_a_double() {
    let (fake, people, mut clones) = clones();
    clones.iter_mut().for_each(Project::let_others_go_on);
    for number in 0..30 {
        clones.iter().for_each(|clone| clone.create(&format!("N-{number}")));
    }
    tokio::join!(clones[0].settle(&fake), clones[1].settle(&fake));
    let made = fake.state().issues.len() - people.len();
    let wanted = live(&fake, &people).len();
    assert!(wanted > 30 && made <= wanted + 2, "{made} for {wanted}");
}

#[tokio::test]
async fn what_another_clone_made_is_found_though_the_index_does_not_have_it() {
    let (fake, people, [one, other]) = clones();
    one.settle(&fake).await;
    let made = fake.state().issues.len();
    other.settle(&fake).await;
    assert_eq!(fake.state().issues.len(), made, "nothing was made twice");
    assert_eq!(one.linked(), other.linked());
    assert_untouched(&fake, &people);
}

/// Machines edit, rename, create and delete artifacts, lose their ledgers, lose replies, go to another site
/// and come back, and apply, alone or at once, in any order.
#[tokio::test]
async fn whatever_machines_do_there_is_one_ticket_an_artifact() {
    for seed in 1..=7_u64 {
        let (fake, strangers, [one, other]) = clones();
        let away = FakeJira::start();
        away.state().index_lag_ms = 60_000;
        one.tell_time(&away);
        let strangers_away = people(&away);
        let mut settings = [one.settings.clone(), Project::new(&away).settings];
        settings.iter_mut().for_each(|settings| settings.prunes_many = true);
        one.tell_time(&away);
        let mut clones = [one.another(&fake), one, other];
        clones.iter_mut().for_each(|clone| clone.settings = settings[0].clone());
        let (mut places, mut made, mut deleted) = ([0; 3], Vec::new(), Vec::new());
        let mut chance = seed;
        let mut draw = |most: u64| {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from((chance >> 33) % most).unwrap()
        };
        let fakes = [&fake, &away];
        for _ in 0..12 {
            let (which, beside) = (draw(3), draw(3));
            match draw(12) {
                0 => clones[which].lose_ledger(),
                1 => fake.fail(When::new("POST", "/issue/bulk"), Fault::LoseReply),
                2 => {
                    // Git brings the change to the other clones.
                    let scope = ["tiny", "large"][draw(2)];
                    for clone in &clones {
                        let file = clone.file("A-0");
                        let text = fs::read_to_string(&file).unwrap();
                        let rest = text.replace("scope: tiny\n", "").replace("scope: large\n", "");
                        let edited = rest.replacen("A-0\n", &format!("A-0\nscope: {scope}\n"), 1);
                        fs::write(file, edited).unwrap();
                    }
                }
                3 => {
                    let name = ["first.md", "second.md"][draw(2)];
                    for clone in &clones {
                        let file = clone.file("A-0");
                        fs::rename(&file, file.with_file_name(name)).unwrap();
                    }
                }
                4 => {
                    places[which] = draw(2);
                    clones[which].settings = settings[places[which]].clone();
                }
                7 => {
                    let id = format!("N-{}", made.len() + deleted.len());
                    clones.iter().for_each(|clone| clone.create(&id));
                    made.push(id);
                }
                8 if !made.is_empty() => {
                    let id = made.remove(draw(made.len() as u64));
                    clones.iter().for_each(|clone| fs::remove_file(clone.file(&id)).unwrap());
                    deleted.push(id);
                }
                5 | 6 if which != beside => {
                    let [first, second] = [which, beside].map(|at| &clones[at]);
                    let [at, to] = [which, beside].map(|at| fakes[places[at]]);
                    tokio::join!(first.settle(at), second.settle(to));
                }
                _ => clones[which].settle(fakes[places[which]]).await,
            }
        }
        for clone in &mut clones {
            clone.settings = settings[0].clone();
        }
        for clone in [0, 1, 2, 0, 1] {
            clones[clone].settle(&fake).await;
        }
        for (fake, strangers) in [(&fake, &strangers), (&away, &strangers_away)] {
            let live = live(fake, strangers);
            assert!(live.values().all(|same| same.len() <= 1), "seed {seed}: {live:?}");
            assert_untouched(fake, strangers);
        }
        let live = live(&fake, &strangers);
        let count = |id: &String| {
            let own = live.iter().filter(|(marker, _)| marker.ends_with(&format!(":{id}")));
            own.map(|(_, same)| same.len()).sum::<usize>()
        };
        assert!(made.iter().all(|id| count(id) == 1), "seed {seed}: {made:?}, {live:?}");
        assert!(deleted.iter().all(|id| count(id) == 0), "seed {seed}: {deleted:?}, {live:?}");
        assert!(live.values().flatten().count() >= 5 + made.len(), "seed {seed}: {live:?}");
        let links = clones.each_ref().map(Project::linked);
        assert!(links[0] == links[1] && links[1] == links[2], "seed {seed}: {links:#?}");
    }
}
