//! `stepmark sync` with the tickets of BMAD 7: those that BMAD made in a tracker, and those that are over.

use std::{
    collections::BTreeMap,
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value as Json, json};

use crate::harness::{Repository, Run, Sandbox};

const EPIC: &str = "_bmad-output/shop/epic-cart";

/// The issues of a GitHub that knows REST alone, by their numbers.
#[derive(Clone, Default)]
struct Issues(Arc<Mutex<BTreeMap<u64, Json>>>);

impl Issues {
    fn start(&self) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let issues = self.clone();
        thread::spawn(move || listener.incoming().flatten().for_each(|stream| issues.serve(stream, port)));
        port
    }

    fn serve(&self, mut stream: TcpStream, port: u16) {
        let (mut text, mut buffer) = (String::new(), [0; 65_536]);
        let is_whole = |text: &str| {
            let length = |head: &str| {
                let line = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
                line.parse::<usize>().ok()
            };
            text.split_once("\r\n\r\n").is_some_and(|(head, body)| body.len() >= length(head).unwrap_or(0))
        };
        while !is_whole(&text) {
            let count = stream.read(&mut buffer).unwrap();
            text.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
        }
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let mut words = head.split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap().split('?').next().unwrap());
        let reply = self.reply(method, path, serde_json::from_str(body).unwrap_or_default(), port);
        let (status, body) =
            reply.map_or(("404 Not Found", "{}".to_owned()), |own| ("200 OK", own.to_string()));
        let length = body.len();
        let answer =
            format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
        stream.write_all(answer.as_bytes()).unwrap();
    }

    fn reply(&self, method: &str, path: &str, body: Json, port: u16) -> Option<Json> {
        let mut issues = self.0.lock().unwrap();
        let number = path.strip_prefix("/repos/o/r/issues/").and_then(|number| number.parse::<u64>().ok());
        match (method, path, number) {
            ("GET", "/repos/o/r", _) => Some(json!({"id": 1, "permissions": {"push": true}})),
            ("GET", "/repos/o/r/issues", _) => Some(issues.values().cloned().collect()),
            ("POST", "/repos/o/r/issues", _) => {
                let number = issues.keys().max().unwrap_or(&0) + 1;
                issues.insert(number, issue(number, port, &body));
                issues.get(&number).cloned()
            }
            ("PATCH", _, Some(number)) => {
                let own = issues.get_mut(&number)?;
                body.as_object()?.iter().for_each(|(key, value)| own[key] = value.clone());
                Some(own.clone())
            }
            ("GET", _, Some(number)) => issues.get(&number).cloned(),
            _ => None,
        }
    }

    fn text(&self, number: u64, key: &str) -> String {
        self.0.lock().unwrap()[&number][key].as_str().unwrap_or_default().to_owned()
    }

    fn numbers(&self) -> Vec<u64> {
        self.0.lock().unwrap().keys().copied().collect()
    }
}

fn issue(number: u64, port: u16, body: &Json) -> Json {
    let url = format!("http://127.0.0.1:{port}/o/r/issues/{number}");
    json!({"number": number, "id": number + 1000, "node_id": format!("I_{number}"), "html_url": url, "title": body["title"],
        "body": body["body"], "state": "open", "state_reason": null, "labels": body["labels"], "comments": 0,
        "created_at": "2026-11-22T12:00:00Z"})
}

/// An epic of two tickets that are begun, of which the second has a leaf file with these keys.
fn shop(sandbox: &Sandbox, tracker: &str, store: &str, keys: &str) {
    sandbox.write(".stepmark/config.yaml", format!("project_id: demo\ntrackers:\n{tracker}"));
    sandbox.write("_bmad/config.toml", "[core]\noutput_folder = \"_bmad-output\"\n");
    sandbox.write("_bmad/custom/ticketing-store-config.toml", format!("[tickets]\nstore = \"{store}\"\n"));
    sandbox.write("_bmad-output/shop/tickets.toml", "[[epic]]\nid = 1\nslug = \"epic-cart\"\n");
    sandbox.write(&format!("{EPIC}/epic-cart.md"), "---\ntype: epic\n---\n");
    let entry = |id| format!("[[entry]]\nid = {id}\ntype = \"story\"\ntitle = \"Part {id}\"\n");
    sandbox.write(&format!("{EPIC}/tickets.toml"), [1, 2, 3].map(entry).concat());
    leaf(sandbox, keys);
    for id in [1, 2] {
        let plan =
            format!("---\ntitle: Part {id}\nticket: {id}\nstatus: in-progress\nstepmark_id: P{id}\n---\n");
        sandbox.write(&format!("{EPIC}/story-part-{id}-plan.md"), plan);
    }
}

fn leaf(sandbox: &Sandbox, keys: &str) {
    let text = format!("---\nid: 2\ntype: story\ntitle: Part 2\n{keys}---\n");
    sandbox.write(&format!("{EPIC}/story-part-2.md"), text);
}

/// The same with a GitHub in which issue 42 is there, and how `sync apply` ends.
fn at_github(keys: &str) -> (Sandbox, Issues) {
    let (sandbox, issues) = (Sandbox::empty(), Issues::default());
    let port = issues.start();
    let pace = "{credential: {write_interval_ms: 0, limits: []}}, look_up_wait_seconds: 0";
    let tracker =
        format!("  github: {{base_url: 'http://127.0.0.1:{port}', repository: o/r, pace: {pace}}}\n");
    shop(&sandbox, &tracker, "github", keys);
    let host = format!("http://127.0.0.1:{port}: {{variable: GH_TOKEN, targets: [o/r]}}");
    sandbox.write_user_configuration(&format!("credentials:\n  {host}\n"));
    let made = json!({"title": "Part two", "body": "As a buyer, I pay.", "labels": ["story"]});
    issues.0.lock().unwrap().insert(42, issue(42, port, &made));
    (sandbox, issues)
}

fn apply(sandbox: &Sandbox) -> Run {
    sandbox.run(sandbox.command(&["sync", "apply"]).env("GH_TOKEN", "ghp_aTokenOfATest"))
}

#[test]
fn a_ticket_that_bmad_made_is_adopted_and_never_made_twice() {
    let (sandbox, issues) =
        at_github("tracker_id: 42\nremote: https://github.com/o/r/issues/42\ntracker_status: backlog\n");
    let run = apply(&sandbox);
    let is_told = |line: &str| run.stdout.contains(line);
    assert!(
        run.code == 0 && is_told(&format!("adopt           found     {EPIC}/story-part-2-plan.md #42")),
        "{run}"
    );
    assert!(is_told(&format!("create          done      {EPIC}/story-part-1-plan.md #43")), "{run}");
    assert_eq!(issues.numbers(), [42, 43]);
    let body = issues.text(42, "body");
    assert!(
        body.ends_with("\n\nAs a buyer, I pay.") && body.contains("stepmark:begin v1 demo/id:P2"),
        "{body}"
    );
    assert!(apply(&sandbox).stdout.starts_with("0 actions, 0 requests"));
    // BMAD writes the text anew, without the marker; another machine has no ledger.
    for status in ["in-review", "built"] {
        issues.0.lock().unwrap().get_mut(&42).unwrap()["body"] = "As a buyer, I pay cash.".into();
        fs::remove_dir_all(sandbox.place(".stepmark/local")).unwrap();
        assert_eq!(sandbox.stepmark(&["transition", "1.2", status]).code, 0);
        let run = apply(&sandbox);
        assert!(run.code == 0 && issues.text(42, "body").contains(status), "{run}");
    }
    // The tracker says that it is over, and nobody opens it again.
    let closed = json!({"state": "closed", "state_reason": "completed"});
    issues.reply("PATCH", "/repos/o/r/issues/42", closed, 0).unwrap();
    leaf(&sandbox, "tracker_id: 42\ntracker_status: done\n");
    assert_eq!(sandbox.stepmark(&["transition", "1.2", "in-progress"]).code, 0);
    let run = apply(&sandbox);
    assert!(run.code == 0 && issues.text(42, "state") == "closed", "{run}");
    leaf(&sandbox, "tracker_id: 7\n");
    let run = apply(&sandbox);
    assert!(
        run.code == 0 && run.stderr.contains("stays its ticket, although its leaf file names #7"),
        "{run}"
    );
    assert_eq!(issues.numbers(), [42, 43]);
}

#[test]
fn a_ticket_that_the_tracker_does_not_know_is_told_and_not_made() {
    for (keys, told) in [
        ("tracker_id: 99\n", "99"),
        ("tracker_id: PAY-1\n", "`PAY-1`"),
        ("tracker_id: 42\nremote: https://github.com/o/other/issues/42\n", "o/other"),
    ] {
        let (sandbox, issues) = at_github(keys);
        for _ in 0..2 {
            let run = apply(&sandbox);
            let text = format!("{}{}", run.stdout, run.stderr);
            assert!(run.code == 1 && text.contains("`tracker_id`") && text.contains(told), "{keys}: {run}");
        }
        assert_eq!(
            (issues.numbers(), issues.text(42, "title")),
            (vec![42, 43], "Part two".to_owned()),
            "{keys}"
        );
        leaf(&sandbox, "tracker_id: \"#42\"\nremote: https://github.com/O/R/issues/42\n");
        let run = apply(&sandbox);
        assert!(run.code == 0 && issues.text(42, "title") == "Part 2", "{keys}: {run}");
        assert_eq!(issues.numbers(), [42, 43], "{keys}");
    }
}

#[test]
fn tickets_of_another_store_are_left_to_it() {
    let sandbox = Sandbox::empty();
    shop(&sandbox, "  file: {path: out/t.jsonl, prune: close}\n", "repo", "");
    sandbox.write("docs/a.md", "---\nid: A\nstatus: draft\n---\n\n# Alpha\n");
    assert_eq!(apply(&sandbox).stdout.matches("create ").count(), 3);
    sandbox.write("_bmad/custom/ticketing-store-config.toml", "[tickets]\nstore = \"linear\"\n");
    assert_eq!(sandbox.stepmark(&["transition", "1.1", "in-review"]).code, 0);
    let run = apply(&sandbox);
    assert!(run.code == 0 && run.stdout.starts_with("0 actions") && run.stderr.lines().count() == 1, "{run}");
    assert!(run.stderr.contains("2 artifacts get no ticket: the store of tickets is `linear`"), "{run}");
}

#[test]
fn work_that_was_done_before_its_plan_was_deleted_is_closed_as_done() {
    let Some(repository) = Repository::empty("work_that_was_done_before_its_plan_was_deleted") else {
        return;
    };
    let sandbox = &repository.sandbox;
    shop(sandbox, "  file: {path: out/t.jsonl, prune: close}\n", "repo", "");
    sandbox.write(".gitignore", "out/\n");
    repository.commit("begun");
    assert_eq!(repository.stepmark(&["sync", "apply"]).code, 0);
    for (ticket, way) in [("1.1", &["built", "done"][..]), ("1.2", &["dropped"])] {
        for word in way {
            assert_eq!(repository.stepmark(&["transition", ticket, word]).code, 0, "{ticket} {word}");
        }
    }
    repository.commit("done");
    assert_eq!(repository.stepmark(&["remove", &format!("{EPIC}/story-part-1-plan.md")]).code, 0);
    fs::remove_file(sandbox.place(&format!("{EPIC}/story-part-2-plan.md"))).unwrap();
    repository.commit("after the retrospective");
    let run = repository.stepmark(&["sync", "apply"]);
    assert!(run.code == 0 && run.stdout.contains("close           done      \"Part 1\" #1"), "{run}");
    let lines = String::from_utf8(sandbox.read("out/t.jsonl")).unwrap();
    let last = |number: u64| {
        let lines = lines.lines().rev().map(|line| serde_json::from_str::<Json>(line).unwrap());
        lines.into_iter().find(|line| line["number"] == number).unwrap()["ticket"].clone()
    };
    assert_eq!((&last(1)["state"]["closed"], &last(1)["status"]), (&"completed".into(), &"done".into()));
    assert_eq!(last(2)["state"]["closed"], "not_planned");
    assert!(last(1)["labels"].as_array().unwrap().contains(&"status:done".into()), "{}", last(1));
    assert!(repository.stepmark(&["sync", "apply"]).stdout.starts_with("0 actions"));
    assert!(repository.stepmark(&["log", "1.1"]).stdout.contains("built → done"));
}
