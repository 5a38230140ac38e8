//! Tickets of BMAD 7: read as BMAD's own script reads them, moved by stepmark.

use std::{fs, path::Path, thread};

use serde_json::Value;

use crate::harness::{Repository, Run, Sandbox};

const TREES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/tickets");

fn of_tree(tree: &Value) -> Sandbox {
    let sandbox = Sandbox::empty();
    for (path, text) in tree["files"].as_object().unwrap() {
        sandbox.write(path, text.as_str().unwrap());
    }
    sandbox
}

/// What is answered, without what stepmark adds, and how many problems there are.
fn answer(run: &Run, schema: &str) -> (Value, usize) {
    let mut answer = run.json(schema);
    let own = answer.as_object_mut().unwrap();
    own.remove("schema");
    let problems = own.remove("problems").map_or(0, |problems| problems.as_array().unwrap().len());
    (answer, problems)
}

/// The answers beside the trees are those of `tickets.py` of BMAD 7.
#[test]
fn forty_trees_are_answered_as_by_the_script_of_bmad() {
    let files: Vec<_> = fs::read_dir(TREES).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 40);
    for file in files {
        let tree: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let sandbox = of_tree(&tree);
        if tree["error"] == true {
            let found = sandbox.stepmark(&["check", "--json"]).json("stepmark.check/1");
            let is_ours = |own: &&Value| own["id"].as_str().unwrap().starts_with("SMB");
            assert!(found["findings"].as_array().unwrap().iter().any(|own| is_ours(&own)), "{file:?}");
        }
        for (command, key, schema) in
            [("next", "next", "stepmark.next-tickets/1"), ("tickets", "status", "stepmark.tickets/1")]
        {
            for (folder, expected) in tree[key].as_object().into_iter().flatten() {
                let run = sandbox.reads_only(&[command, folder, "--json"]);
                assert_eq!(answer(&run, schema).0, *expected, "{file:?} {command} {folder}");
            }
        }
    }
}

const EPIC: &str = "_bmad-output/shop/epic-cart";

/// An epic of five tickets, of which two wait for others.
fn shop() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write("_bmad/config.toml", "[core]\noutput_folder = \"_bmad-output\"\n");
    sandbox.write("_bmad-output/shop/shop.md", "---\ntype: initiative\n---\n");
    sandbox.write("_bmad-output/shop/tickets.toml", "[[epic]]\nid = 1\nslug = \"epic-cart\" # ours\n");
    sandbox.write(&format!("{EPIC}/epic-cart.md"), "---\ntype: epic\n---\n");
    let entry = |(id, after): (usize, &str)| {
        format!("[[entry]]\nid = {id}\ntype = \"story\"\ntitle = \"Part {id}\"\nafter = [{after}]\n\n")
    };
    let entries: String = [(1, ""), (2, "1"), (3, ""), (4, "2, 3"), (5, "")].into_iter().map(entry).collect();
    sandbox.write(&format!("{EPIC}/tickets.toml"), entries);
    sandbox
}

fn ready(sandbox: &Sandbox) -> Vec<String> {
    let next = sandbox.stepmark(&["next", "--json"]);
    let rows = next.json("stepmark.next-tickets/1")["ready_to_start"].as_array().unwrap().clone();
    rows.iter().map(|row| row["ref"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn three_agents_at_once_bring_an_epic_from_planned_to_done() {
    let sandbox = shop();
    let work = |agent: &str| {
        let mut taken = Vec::new();
        let actor = format!("agent:{agent}");
        loop {
            let next = sandbox.stepmark(&["next", "--json"]);
            if next.code == 6 {
                return taken;
            }
            for ticket in ready(&sandbox) {
                if sandbox.stepmark(&["ticket", "start", &ticket, "--actor", &actor]).code != 0 {
                    continue;
                }
                for word in ["in-review", "built"] {
                    let run = sandbox.stepmark(&["transition", &ticket, word, "--actor", &actor]);
                    assert_eq!(run.code, 0, "{run}");
                }
                let done = sandbox.stepmark(&["transition", &ticket, "done"]);
                assert_eq!(done.code, 0, "{done}");
                taken.push(ticket);
            }
        }
    };
    let mut taken: Vec<String> = thread::scope(|scope| {
        let agents = ["ana", "bob", "cyd"].map(|agent| scope.spawn(move || work(agent)));
        agents.into_iter().flat_map(|agent| agent.join().unwrap()).collect()
    });
    taken.sort();
    assert_eq!(taken, ["1.1", "1.2", "1.3", "1.4", "1.5"], "each is taken once");
    let (status, _) = answer(&sandbox.stepmark(&["tickets", "--json"]), "stepmark.tickets/1");
    assert_eq!(status["counts"], serde_json::json!({"total": 5, "done": 5}));
    assert!(sandbox.stepmark(&["status"]).stdout.contains("epic-cart (5 of 5 done)"));
    assert_eq!(
        sandbox.stepmark(&["list", "--where", "status=done", "--json"]).json("stepmark.list/2")["total"],
        5
    );
    assert_eq!(sandbox.stepmark(&["check"]).code, 0);
    assert_eq!(sandbox.stepmark(&["replay", "--verify"]).code, 0);
}

#[test]
fn a_plan_is_made_by_the_first_move_and_keeps_what_people_wrote() {
    let sandbox = shop();
    let run = |words: &[&str]| sandbox.stepmark(words);
    let early = run(&["transition", "1.1", "done"]);
    assert!(early.code == 1 && early.stderr.contains("no move from `planned` to `done`"), "{early}");
    let plan = format!("{EPIC}/story-part-1-plan.md");
    assert!(!Path::new(&sandbox.place(&plan)).exists(), "a refusal makes nothing");
    assert_eq!(run(&["transition", "1.1", "in-progress"]).code, 0);
    // The bytes that `tickets.py mark` writes.
    let text = |path: &str| String::from_utf8(sandbox.read(path)).unwrap();
    assert_eq!(text(&plan), "---\ntitle: \"Part 1\"\nticket: 1\nstatus: in-progress\n---\n");
    assert_eq!(run(&["transition", "1.1", "blocked", "--reason", "no key"]).code, 0);
    assert!(text(&plan).contains("blocked_reason: no key\n"), "{}", text(&plan));
    let next = run(&["next"]);
    assert!(next.stdout.contains("no key") && next.code == 0, "{next}");
    assert_eq!(run(&["transition", "1.1", "built"]).code, 0);
    assert_eq!(text(&plan), "---\ntitle: \"Part 1\"\nticket: 1\nstatus: built\n---\n");
    // A byte order mark, CRLF, a comment and a folded value.
    let own = "\u{feff}---\r\nticket: 3\r\nstatus: draft # mine\r\nsummary: >-\r\n  one\r\n  two\r\n---\r\nBody\r\n";
    let path = format!("{EPIC}/own.md");
    sandbox.write(&path, own);
    assert_eq!(run(&["transition", "1.3", "ready-for-dev"]).code, 0);
    assert_eq!(text(&path), own.replace("draft #", "ready-for-dev #"));
}

#[test]
fn what_is_broken_is_told_with_its_place_and_stops_nothing_else() {
    for (path, text, told) in [
        (
            "tickets.toml",
            "[[entry]]\nid = 1\ntype = \"story\"\n[[entry]]\nid = 1\n",
            "two entries have the id 1",
        ),
        ("tickets.toml", "[[entry]\nid = 1\n", "it is no TOML"),
        ("tickets.toml", "[[entry]]\nid = 1\ntype = \"story\"\nafter = [1]\n", "lead back to itself"),
        ("tickets.toml", "[[entry]]\nid = 1\ntype = \"story\"\nafter = [\"9.9\"]\n", "names no ticket"),
        ("odd.md", "---\nticket: {a: b}\nstatus: draft\n---\n", "`ticket` must be an id"),
        ("odd.md", "---\nticket: 77\nstatus: draft\n---\n", "is no entry and no leaf file"),
        ("odd.md", "---\nticket: 1\nstatus: wild\n---\n", "`status` is `wild`"),
    ] {
        let sandbox = shop();
        sandbox.write("_bmad-output/shop/epic-other/epic-other.md", "---\ntype: epic\n---\n");
        let other = "[[entry]]\nid = 1\ntype = \"story\"\ntitle = \"Fine\"\n";
        sandbox.write("_bmad-output/shop/epic-other/tickets.toml", other);
        sandbox.write(&format!("{EPIC}/{path}"), text);
        let found = sandbox.stepmark(&["check", "--json"]).json("stepmark.check/1");
        let findings = found["findings"].as_array().unwrap();
        let own: Vec<&Value> =
            findings.iter().filter(|own| own["message"].as_str().unwrap().contains(told)).collect();
        assert!(own.len() == 1 && own[0]["path"] == format!("{EPIC}/{path}"), "{told}: {found}");
        assert!(sandbox.stepmark(&["next"]).stdout.contains("Fine"), "{told}");
    }
    let sandbox = shop();
    sandbox.write("_bmad/custom/config.user.toml", "[core]\nactive_initiative = \"../../etc\"\n");
    let found = sandbox.stepmark(&["check"]);
    assert!(found.stdout.contains("_bmad/custom/config.user.toml:2:21"), "{found}");
}

/// Two repositories: each has its own files and its own history.
#[test]
fn an_output_folder_outside_of_the_project_is_a_project_of_its_own() {
    let sandbox = Sandbox::empty();
    let project = sandbox.place("code");
    sandbox.write("code/_bmad/config.toml", "[core]\noutput_folder = \"{project-root}/../docs\"\n");
    sandbox.write("code/_bmad/custom/config.user.toml", "[core]\nactive_initiative = \"shop\"\n");
    sandbox.write("code/spec.md", "---\nstepsCompleted: []\nstatus: draft\n---\n");
    for initiative in ["shop", "other"] {
        sandbox.write(&format!("docs/{initiative}/tickets.toml"), "[[epic]]\nid = 1\nslug = \"epic-cart\"\n");
        sandbox.write(&format!("docs/{initiative}/epic-cart/epic-cart.md"), "---\ntype: epic\n---\n");
        let entry = format!("[[entry]]\nid = 1\ntype = \"story\"\ntitle = \"In {initiative}\"\n");
        sandbox.write(&format!("docs/{initiative}/epic-cart/tickets.toml"), entry);
    }
    let run = |words: &[&str]| sandbox.run(sandbox.command(words).current_dir(&project));
    // A clone could name any folder: it has to say whose output it is.
    for code in ["", "elsewhere"] {
        if !code.is_empty() {
            sandbox.write("elsewhere/_bmad/config.toml", "");
            sandbox.write("docs/.stepmark/config.yaml", "settings: {bmad_output: ../elsewhere}\n");
        }
        let before = sandbox.tree();
        for words in [&["next"] as &[&str], &["tickets"]] {
            let refused = run(words);
            assert!(refused.code == 1 && refused.stderr.contains("bmad_output"), "{refused}");
        }
        for words in [&["ticket", "start", "1.1"] as &[&str], &["transition", "1.1", "draft"]] {
            assert_ne!(run(words).code, 0);
        }
        assert!(!run(&["status"]).stdout.contains("In shop"));
        assert_eq!(sandbox.tree(), before);
    }
    sandbox.write("docs/.stepmark/config.yaml", "settings: {bmad_output: ../code}\n");
    let next = run(&["next"]);
    assert!(next.code == 0 && next.stdout.contains("In shop") && !next.stdout.contains("In other"), "{next}");
    let started = run(&["ticket", "start", "1.1"]);
    assert_eq!(started.code, 0, "{started}");
    assert!(sandbox.place("docs/shop/epic-cart/story-in-shop-plan.md").exists());
    let status = run(&["status"]);
    assert!(status.stdout.contains("spec") && status.stdout.contains("In shop"), "{status}");
    let log = run(&["log", "1.1"]);
    assert!(log.code == 0 && log.stdout.contains("in-progress"), "{log}");
}

#[test]
fn a_checkpoint_waits_for_a_person() {
    let sandbox = shop();
    let entry = "[[entry]]\nid = 1\ntype = \"story\"\ntitle = \"Part 1\"\ndone_checkpoint = true\n";
    sandbox.write(&format!("{EPIC}/tickets.toml"), entry);
    let story = "_bmad-output/specs/spec-a/stories/7-lend.md";
    sandbox.write(
        "_bmad-output/specs/spec-a/stories.yaml",
        "- id: \"7\"\n  title: A\n  spec_checkpoint: true\n",
    );
    sandbox.write(story, "---\nstatus: draft\n---\n");
    sandbox.stepmark(&["ticket", "start", "1.1"]);
    for (artifact, state) in [("1.1", "done"), (story, "ready-for-dev")] {
        let agent = sandbox.stepmark(&["transition", artifact, state, "--actor", "agent:ana"]);
        assert!(agent.code == 1 && agent.stderr.contains("person"), "{agent}");
        let person = sandbox.stepmark(&["transition", artifact, state, "--actor", "human:Ada"]);
        assert_eq!(person.code, 0, "{person}");
    }
}

#[test]
fn work_that_nobody_had_planned_is_no_mistake() {
    let sandbox = shop();
    let plan =
        "---\ntitle: 'A'\ntype: 'feature'\nticket: ''\nstatus: 'built'\nroute: 'oneshot'\ncontext: []\n---\n";
    sandbox.write("_bmad-output/shop/plan-optional.md", plan);
    sandbox.write("_bmad-output/plan-elsewhere.md", plan);
    let checked = sandbox.reads_only(&["check"]);
    assert!(checked.code == 0 && checked.stdout.contains("0 errors, 0 warnings, 0 notes"), "{checked}");
}

#[test]
fn an_id_is_one_tickets_for_good() {
    let Some(repository) = Repository::empty("an_id_is_one_tickets_for_good") else { return };
    let sandbox = &repository.sandbox;
    let list = format!("{EPIC}/tickets.toml");
    let entries = |titles: [&str; 3]| {
        let entry = |(place, title)| {
            format!("[[entry]]\nid = {}\ntype = \"story\"\ntitle = \"{title}\"\n", place + 1)
        };
        sandbox.write(&list, titles.into_iter().enumerate().map(entry).collect::<String>());
    };
    sandbox.write("_bmad-output/shop/tickets.toml", "[[epic]]\nid = 1\nslug = \"epic-cart\"\n");
    sandbox.write(&format!("{EPIC}/epic-cart.md"), "---\ntype: epic\n---\n");
    entries(["Scaffold the shop", "Add to cart", "Pay by card"]);
    // The plan of the second has a name and a title of its own.
    let plan = "---\ntitle: Baskets\nticket: 2\nstatus: built\n---\n";
    sandbox.write(&format!("{EPIC}/baskets.md"), plan);
    for (ticket, way) in
        [("1.1", &["in-progress", "built", "done"][..]), ("1.2", &["done"]), ("1.3", &["draft"])]
    {
        for word in way {
            assert_eq!(repository.stepmark(&["transition", ticket, word]).code, 0, "{ticket} {word}");
        }
    }
    repository.commit("done");
    for name in ["story-scaffold-the-shop-plan", "baskets", "story-pay-by-card-plan"] {
        fs::remove_file(sandbox.place(&format!("{EPIC}/{name}.md"))).unwrap();
    }
    let found = || -> Vec<Value> {
        let found = repository.stepmark(&["check", "--json"]).json("stepmark.check/1");
        let is_own = |own: &&Value| own["id"] == "SMB07";
        found["findings"].as_array().unwrap().iter().filter(is_own).cloned().collect()
    };
    assert_eq!(found(), [] as [Value; 0], "deleting plans is normal");
    entries(["Scaffold the whole shop", "Add to a basket, not a cart", "Send an invoice"]);
    assert_eq!(found(), [] as [Value; 0], "titles are mended, and what was not done says nothing");
    for is_committed in [false, true] {
        entries(["Scaffold the shop", "Send an invoice", "Pay by card"]);
        if is_committed {
            repository.commit("the next sprint");
        }
        let found = found();
        let message = found[0]["message"].as_str().unwrap();
        assert!(
            found.len() == 1 && message.contains("`Add to cart`") && message.contains("baskets.md"),
            "{found:?}"
        );
        assert_eq!(
            (&found[0]["path"], &found[0]["line"], &found[0]["column"]),
            (&list.as_str().into(), &6.into(), &6.into())
        );
    }
}
