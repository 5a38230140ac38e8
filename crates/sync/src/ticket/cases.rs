//! Cases of tickets.

use std::sync::Arc;

use proptest::{prop_assert, prop_assert_eq, prop_assume};
use stepmark_model::{artifact::ProjectPath, journal::ArtifactKey};

use super::{
    CloseReason, Commit, ManagedSection, Marker, Snapshot, Ticket, TicketFacts, TicketKind, TicketSettings,
    TicketState,
    sample::{facts, marker, ticket},
};

const LIMIT: usize = 65_536;

fn body(ticket: &Ticket) -> String {
    ManagedSection::of(ticket).alone(LIMIT).unwrap().body
}

#[test]
fn a_ticket_says_what_a_person_wants_to_know() {
    let ticket = ticket("PRD-1", |_| {});
    assert_eq!(ticket.title, "Artifact PRD-1");
    assert_eq!(
        ticket.labels.iter().map(String::as_str).collect::<Vec<_>>(),
        ["scope:large", "status:draft", "stepmark:p", "workflow:prd"]
    );
    assert_eq!(ticket.state, TicketState::InProgress);
    assert_eq!(
        body(&ticket),
        "<!-- stepmark:begin v1 p/id:PRD-1 -->\n\
         <!-- stepmark:labels scope%3Alarge status%3Adraft workflow%3Aprd -->\n\
         █████████████░░░░░░░ 2 of 3 steps done (66 %)\n\
         \n\
         - **Status:** `draft`\n\
         - **Scope:** `large`\n\
         - **Next:** 3 · Success\n\
         \n\
         ### Steps\n\
         \n\
         - [x] 1 · Init\n\
         - [x] 2 · Discovery\n\
         - [ ] 3 · Success\n\
         \n\
         ### Files\n\
         \n\
         - `docs/PRD-1.md`\n\
         - `docs/brief.md`\n\
         \n\
         ---\n\
         stepmark keeps what stands above in step with `docs/PRD-1.md` and overwrites changes to it; what is written below stays.\n\
         <!-- stepmark:end -->"
    );
}

/// A story as BMAD 6.0 writes it.
const STORY: &str = "# Story 1.1: Borrow a tool\n\nStatus: in-progress\n\n## Story\n\nAs a **neighbour**,\nI want a drill,\nso that #12 \
    holds, @ada.\n\n## Acceptance Criteria\n\n1. It is **free**\n2. It is mine\n\n## Tasks / Subtasks\n\n- [x] Look (AC: #1)\n  - [ ] Ask\n- [ ] Ring\n\n\
    ## Dev Notes\n\n```sh\ndrill --fast\n```\n";

fn story(change: impl FnOnce(&mut TicketFacts)) -> TicketFacts {
    let mut story = TicketFacts {
        text: STORY.to_owned(),
        status: Some("in-progress".to_owned()),
        path: ProjectPath::new("docs/1-1-borrow-a-tool.md").unwrap(),
        ..facts("a")
    };
    (story.steps, story.inputs, story.next) = Default::default();
    (story.done, story.total, story.scope) = Default::default();
    change(&mut story);
    story
}

fn body_of(facts: TicketFacts, settings: &str) -> String {
    let settings: TicketSettings = serde_yaml::from_str(settings).unwrap();
    let snapshot = Snapshot::of_facts("p", [facts]);
    let whole = body(&Ticket::desired(&snapshot, &marker("a"), &settings).unwrap());
    let said = whole.split_once("\n\n---\n").unwrap().0.lines().filter(|line| !line.starts_with("<!--"));
    said.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_story_can_be_read_in_its_ticket() {
    let acceptance = "### Acceptance Criteria\n\n1. It is **free**\n2. It is mine";
    let tasks = "- [x] Look (AC: #\u{200B}1)\n    - [ ] Ask\n- [ ] Ring";
    let says = "As a **neighbour**, I want a drill, so that #\u{200B}12 holds, @\u{200B}ada.";
    assert_eq!(
        body_of(story(|_| {}), "{}"),
        format!(
            "██████░░░░░░░░░░░░░░ 1 of 3 tasks done (33 %)\n\n- **Status:** `in-progress`\n\n### Story\n\n{says}\n\n\
             {acceptance}\n\n### Tasks / Subtasks\n\n{tasks}\n\n### Files\n\n- `docs/1-1-borrow-a-tool.md`"
        )
    );
    for (settings, expected) in [
        ("sections: ['# dev notes']", "### Dev Notes\n\n```\ndrill --fast\n```".to_owned()),
        ("sections: [acceptance-criteria, '# None']", acceptance.to_owned()),
        (
            "template: \"**{status}**: {title}\\n\\n{tasks}\"",
            format!("**in-progress**: Artifact a\n\n{tasks}"),
        ),
    ] {
        assert_eq!(body_of(story(|_| {}), settings), expected, "{settings}");
    }
    let whole = body_of(story(|_| {}), "sections: [text]");
    assert!(whole.starts_with("### Story\n\nAs a") && whole.ends_with("drill --fast\n```"), "{whole}");
    let bare =
        story(|facts| facts.text = "# Story 1.1: A\n\nStatus: review\n\nAs a b.\n\n## Dev\n".to_owned());
    assert!(body_of(bare, "{}").contains("### Story\n\nAs a b.\n\n### Files"));
}

#[test]
fn a_long_text_is_cut_at_a_section() {
    let long = |count: usize| {
        format!(
            "## Story\n\n{}\n\n## Acceptance Criteria\n\n{}",
            "a word ".repeat(5000),
            "- it holds\n".repeat(count)
        )
    };
    let whole = |count: usize| body_of(story(|facts| facts.text = long(count)), "{}");
    assert!(whole(10).ends_with("- `docs/1-1-borrow-a-tool.md`"));
    let cut = whole(4000);
    assert!(cut.len() < 60_000, "{}", cut.len());
    assert!(
        cut.ends_with("a word\n\n*… 4007 more lines: see* `docs/1-1-borrow-a-tool.md`"),
        "{}",
        &cut[cut.len() - 100..]
    );
}

#[test]
fn the_state_follows_from_steps_and_status() {
    type Change = fn(&mut TicketFacts);
    let changes: [(Change, TicketState); 8] = [
        (|facts| facts.is_finished = true, TicketState::Closed(CloseReason::Completed)),
        (
            |facts| (facts.is_finished, facts.status) = (true, Some("Cancelled".to_owned())),
            TicketState::Closed(CloseReason::NotPlanned),
        ),
        (|facts| facts.status = Some("cancelled".to_owned()), TicketState::InProgress),
        (|facts| facts.done = 0, TicketState::ToDo),
        (|facts| (facts.done, facts.status) = (0, None), TicketState::ToDo),
        (|facts| (facts.done, facts.status) = (0, Some("in-review".to_owned())), TicketState::InProgress),
        (|facts| (facts.done, facts.is_initial) = (0, Some(false)), TicketState::InProgress),
        (
            |facts| {
                (facts.done, facts.is_initial, facts.status) =
                    (0, Some(false), Some("ready-for-dev".to_owned()));
            },
            TicketState::ToDo,
        ),
    ];
    for (at, (change, expected)) in changes.into_iter().enumerate() {
        assert_eq!(ticket("a", change).state, expected, "{at}");
    }
}

#[test]
fn the_configuration_chooses() {
    let settings: TicketSettings = serde_yaml::from_str(
        "title: '[{workflow}] {title} ({percent} %)'\nintro: 'See {path}'\nsections: [next, files]\nlabels: [team, '{id}']\n\
         fields: {priority: '{scope}', milestone: '1.10', due: '{next}'}\nfile_url: 'https://h/blob/main/{path}'\n",
    )
    .unwrap();
    let snapshot = Snapshot::of_facts("p", [facts("a")]);
    let ticket = Ticket::desired(&snapshot, &marker("a"), &settings).unwrap();
    assert_eq!(ticket.title, "[prd] Artifact a (66 %)");
    assert_eq!(ticket.labels.iter().map(String::as_str).collect::<Vec<_>>(), ["a", "stepmark:p", "team"]);
    let fields: Vec<_> = ticket.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(fields, [("due", "step-03-success"), ("milestone", "1.10"), ("priority", "large")]);
    let expected = "See docs/a.md\n\n- **Next:** 3 · Success\n\n### Files\n\n\
                    - [docs/a.md](<https://h/blob/main/docs/a.md>)\n- [docs/brief.md](<https://h/blob/main/docs/brief.md>)";
    assert!(body(&ticket).contains(expected), "{}", body(&ticket));
}

#[test]
fn another_commit_alone_changes_no_ticket() {
    let at = |id: char, is_committed: bool| {
        let commit = Commit {
            folder: "sub/".to_owned(),
            remotes: vec!["git@h:x/y.git".to_owned()],
            holds: Arc::new(move |_| is_committed),
            ..Commit::sample(&id.to_string().repeat(40))
        };
        let snapshot = Snapshot::of_facts("p", [facts("a")]).at(move || Some(commit));
        let settings = TicketSettings {
            file_url: Some("https://h/o/r/blob/HEAD/{path}".parse().unwrap()),
            web: Some("https://h".to_owned()),
            ..TicketSettings::default()
        };
        Ticket::desired(&snapshot, &marker("a"), &settings).unwrap()
    };
    let (first, second, changed) = (at('a', true), at('b', true), at('b', false));
    let link = |id: &str| format!("[docs/a.md](<https://h/{id}/docs/a.md>)");
    let id = format!("x/y/blob/{}/sub", "a".repeat(40));
    assert_eq!(body(&first).matches(&link(&id)).count(), 2, "{}", body(&first));
    assert!(body(&changed).contains(&link("o/r/blob/HEAD")), "what is not committed is on the branch");
    assert_eq!((first.digest(), first.digest()), (second.digest(), changed.digest()));
    for (written, wanted) in [(&first, &second), (&first, &changed), (&changed, &first)] {
        assert!(ManagedSection::of(wanted).is_in(&body(written), LIMIT).unwrap());
        let other = body(written).replace("docs/a.md", "docs/b.md");
        assert!(!ManagedSection::of(wanted).is_in(&other, LIMIT).unwrap());
    }
}

#[test]
fn titles_are_one_line_and_labels_fit() {
    let long = ticket("a", |facts| {
        facts.title = format!("{}\nend", "wörd ".repeat(100));
        facts.scope = Some("an agent wrote a whole sentence about the scope here".to_owned());
    });
    assert_eq!(long.title.chars().count(), 255);
    assert!(long.title.ends_with("wörd…"), "{}", long.title);
    assert!(long.labels.iter().all(|label| label.chars().count() <= 50), "{:?}", long.labels);
}

#[test]
fn who_has_no_own_identity_gets_no_ticket() {
    let path = |text: &str| ProjectPath::new(text).unwrap();
    let at = |id: &str, file: &str| TicketFacts { path: path(file), ..facts(id) };
    let lost = TicketFacts { key: ArtifactKey::of_path(&path("x.md")), path: path("x.md"), ..facts("x") };
    let snapshot = Snapshot::of_facts("p", [at("same", "b.md"), lost, at("same", "a.md"), at("own", "c.md")]);
    assert_eq!(snapshot.artifacts().map(|(marker, _)| marker.to_string()).collect::<Vec<_>>(), ["p/id:own"]);
    let left_out: Vec<_> =
        snapshot.left_out().iter().map(|left| (left.path.as_str(), &left.reason)).collect();
    assert_eq!((left_out[0].0, left_out[1].0), ("a.md", "b.md"));
    assert!(left_out[0].1.starts_with("`a.md` and `b.md` have the same id (`id:same`)"), "{}", left_out[0].1);
    assert_eq!(left_out[0].1, left_out[1].1);
    assert!(left_out[2].1.contains("stepmark track"), "{}", left_out[2].1);
    assert_eq!(Snapshot::of_facts("", [facts("a")]).artifacts().len(), 0);
}

#[test]
fn while_one_cannot_be_read_none_is_gone() {
    let broken = TicketFacts { is_readable: false, ..facts("b") };
    let snapshot = Snapshot::of_facts("p", [facts("a"), broken]);
    assert_eq!(snapshot.artifacts().len(), 1);
    assert!(snapshot.left_out()[0].reason.starts_with("its frontmatter cannot be read"));
    assert!(!snapshot.lacks(&marker("b")) && !snapshot.lacks(&marker("c")));
    assert!(Snapshot::of_facts("p", [facts("a")]).lacks(&marker("b")));
}

#[test]
fn tickets_hang_below_those_of_their_parents() {
    let child = |id: &str, parent: &str| TicketFacts { parent_id: Some(parent.to_owned()), ..facts(id) };
    let snapshot = Snapshot::of_facts(
        "p",
        [
            facts("root"),
            child("a", "root"),
            child("b", "missing"),
            child("c", "d"),
            child("d", "c"),
            child("e", "c"),
        ],
    );
    for (id, parent) in [("root", None), ("a", Some("root")), ("b", None), ("c", None), ("d", None)] {
        let ticket = Ticket::desired(&snapshot, &marker(id), &TicketSettings::default()).unwrap();
        assert_eq!(ticket.parent, parent.map(marker), "{id}");
    }
}

#[test]
fn stories_hang_below_their_epic() {
    let at = |id: &str, file: &str| TicketFacts { path: ProjectPath::new(file).unwrap(), ..facts(id) };
    let delegated = TicketFacts { parent_id: Some("one".to_owned()), ..at("d", "s/2-2-d.md") };
    let snapshot = Snapshot::of_facts(
        "p",
        [
            at("one", "epics/epic-1-tools.md"),
            at("two", "epic-2.md"),
            at("other two", "epics/epic-02.md"),
            at("beside", "epic-1-context.md"),
            at("retro", "epic-1-retro-2026-01-01.md"),
            at("a", "s/1-1-a.md"),
            at("b", "s/spec-1-2-b.md"),
            at("c", "s/2-1-c.md"),
            delegated,
            TicketFacts { is_record: true, ..at("task", "tasks/1-2-x.md") },
            TicketFacts { is_record: true, ..at("other one", "tasks/epic-1.md") },
        ],
    );
    for (id, parent) in [
        ("a", Some("one")),
        ("b", Some("one")),
        ("c", None),
        ("d", Some("one")),
        ("retro", None),
        ("task", None),
    ] {
        assert_eq!(snapshot.parent(&marker(id)), parent.map(marker).as_ref(), "{id}");
    }
    let kind = |id: &str| Ticket::desired(&snapshot, &marker(id), &TicketSettings::default()).unwrap().kind;
    assert_eq!(
        ["one", "a", "d", "retro", "task", "other one"].map(kind),
        [TicketKind::Epic, TicketKind::Story].into_iter().chain([TicketKind::Other; 4]).collect::<Vec<_>>()[..]
    );
}

#[test]
fn the_digest_follows_from_what_is_said() {
    let base = ticket("a", |_| {});
    assert_eq!(base.digest(), ticket("a", |_| {}).digest());
    assert_eq!(base.canonical().find("{\"schema\":\"stepmark.ticket/2\",\"ticket\":{\"marker\":"), Some(0));
    assert_eq!(
        base.digest().to_string(),
        "de157924411f07a9486ba36a0080c47a93c9f52522871ba8e66f08c3dcb72692",
        "what was sent by an older version is not sent again"
    );
    let json = serde_json::to_string(&base).unwrap();
    let older = json.replace("\"state\":", "\"standing\":");
    assert_ne!(older, json);
    for json in [json, older] {
        assert_eq!(serde_json::from_str::<Ticket>(&json).unwrap().digest(), base.digest(), "{json}");
    }
    for change in [
        (|facts| facts.title.push('!')) as fn(&mut TicketFacts),
        |facts| facts.scope = None,
        |facts| facts.steps[2].is_done = true,
        |facts| facts.is_finished = true,
        |facts| facts.inputs.clear(),
    ] {
        assert_ne!(ticket("a", change).digest(), base.digest());
    }
    assert_eq!(base.digest().to_string().parse(), Ok(base.digest()));
}

#[test]
fn what_people_wrote_is_kept() {
    let ticket = ticket("a", |_| {});
    let own = body(&ticket);
    let old = "<!-- stepmark:begin v1 p/id:a -->\nold\n<!-- stepmark:end -->";
    let other = "<!-- stepmark:begin v1 p/id:b -->\nanother\n<!-- stepmark:end -->";
    for (existing, expected, sections) in [
        (String::new(), own.clone(), 0),
        ("mine".to_owned(), format!("{own}\n\nmine"), 0),
        (old.to_owned(), own.clone(), 1),
        (old.replace('\n', "\r\n"), own.clone(), 1),
        (format!("above\n\n\n{old}\n\nbelow\n"), format!("above\n\n{own}\n\nbelow\n"), 1),
        (format!("{old}\n{old}\nbelow"), format!("{own}\n\nbelow"), 2),
        (format!("{old}\n\n{other}"), format!("{own}\n\n{other}"), 1),
        ("<!-- stepmark:begin v1 p/id:a -->\nhalf".to_owned(), format!("{own}\n\nhalf"), 0),
        ("half\n<!-- stepmark:end -->\nrest".to_owned(), format!("{own}\n\nhalf\nrest"), 0),
        // Without its end it ends at its last line.
        (own.replace("<!-- stepmark:end -->", "") + "below", format!("{own}\n\nbelow"), 1),
        (
            format!("`{old}`"),
            format!("{own}\n\n`<!-- stepmark:begin v1 p/id:a -->\nold\n<!-- stepmark:end -->`"),
            0,
        ),
    ] {
        let merged = ManagedSection::of(&ticket).merged_into(&existing, LIMIT).unwrap();
        assert_eq!(merged.body, expected, "{existing}");
        assert_eq!(merged.sections, sections, "{existing}");
    }
}

#[test]
fn a_body_without_room_is_refused() {
    let ticket = ticket("a", |_| {});
    let error =
        ManagedSection::of(&ticket).merged_into(&"x".repeat(LIMIT - 300), LIMIT).unwrap_err().to_string();
    assert!(error.contains("shorten that text"), "{error}");
    let cut = ManagedSection::of(&ticket).alone(720).unwrap();
    assert_eq!(cut.omitted_lines, 0);
    assert!(ManagedSection::of(&ticket).alone(400).is_err());
}

#[test]
fn a_body_names_its_marker_in_a_line_of_its_own() {
    for (body, expected) in [
        ("<!-- stepmark:begin v1 p/id:a -->", Some("a")),
        ("x\r\n  <!-- stepmark:begin v1 p/id:a -->\r\n", Some("a")),
        ("see <!-- stepmark:begin v1 p/id:a -->", None),
        ("<!-- stepmark:begin v1 p/id:a b -->", None),
        ("<!-- stepmark:begin v2 p/id:a -->", None),
        ("p/id:a", None),
    ] {
        assert_eq!(Marker::in_body(body), expected.map(marker), "{body}");
    }
}

proptest::proptest! {
    /// Once merged, nothing is left to do; and the text around it is what it was.
    #[test]
    fn merging_again_changes_nothing(before in "[ a-z\r\n<>!-]{0,40}", after in "[ a-z\r\n<>!-]{0,40}", title in ".{0,30}") {
        let ticket = ticket("a", |facts| facts.next = vec![title]);
        let section = ManagedSection::of(&ticket);
        let first = section.merged_into(&format!("{before}\n{}\n{after}", body(&ticket)), LIMIT).unwrap().body;
        prop_assert!(section.is_in(&first, LIMIT).unwrap(), "{}", first);
        prop_assert_eq!(Marker::in_body(&first), Some(marker("a")));
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let around = first.replace(&body(&ticket), "");
        prop_assert_eq!(words(&around), words(&format!("{before} {after}")));
    }

    /// Nothing that an artifact says can end the section or forge another one.
    #[test]
    fn nothing_breaks_out(text in ".*", title in "(<!-- stepmark:(end|begin v1 p/id:b) -->|\n|x){1,5}") {
        prop_assume!(!text.is_empty());
        let ticket = ticket("a", |facts| {
            (facts.next, facts.status) = (vec![title.clone()], Some(text));
            facts.steps[0].names = vec![title];
        });
        let whole = body(&ticket);
        let merged = ManagedSection::of(&ticket).merged_into(&format!("{whole}\n\nbelow"), LIMIT).unwrap();
        prop_assert_eq!(merged.body, format!("{whole}\n\nbelow"));
        prop_assert_eq!(merged.sections, 1);
    }
}
