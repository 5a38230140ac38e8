//! Conversations in memory, in each revision of the protocol.

use std::{
    io::{self, Cursor, Write},
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use super::*;
use crate::{Answer, Arguments, Effect, Presence, Refusal, Schema, Tool, ToolSet, server::FRESH_MS};

/// Says again what it is told, unless that is nothing.
struct Echo;

impl ToolSet for Echo {
    fn instructions(&self) -> &str {
        "Say something."
    }

    fn tools(&self) -> Vec<Tool> {
        let said = || Schema::object([("text", Presence::Required, Schema::text(""))]);
        vec![Tool {
            name: "echo",
            description: "Says it again.",
            input: said().closed(),
            output: said(),
            effect: Effect::Reads,
        }]
    }

    fn call(&self, _tool: &str, arguments: Arguments) -> Result<Answer, Refusal> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Said {
            text: String,
        }
        let Said { text } = crate::read(arguments)?;
        if text.is_empty() {
            return Err(Refusal::new("nothing was said").with_remedy("say something"));
        }
        let structured = Arguments::from_iter([("text".to_owned(), json!(text))]);
        Ok(Answer { structured, text })
    }
}

/// Keeps what is written, to be read when the server has ended.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn answers(lines: impl Into<Vec<u8>>) -> Vec<Value> {
    let output = Written::default();
    let server = Server::new(vec![Box::new(Echo)], "1.2.3");
    serve(server, Cursor::new(lines.into()), output.clone()).unwrap();
    let written = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    written.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn lines(messages: &[Value]) -> String {
    messages.iter().map(|message| format!("{message}\n")).collect()
}

fn initialize(version: &str) -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn say(id: i64, text: &str) -> Value {
    request(id, "tools/call", json!({ "name": "echo", "arguments": { "text": text } }))
}

/// The same request as the revision without sessions has it.
fn stateless(mut request: Value) -> Value {
    request["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request
}

fn code(answer: &Value) -> Option<i64> {
    answer["error"]["code"].as_i64()
}

#[test]
fn with_a_session() {
    let found = answers(lines(&[
        initialize("2025-11-25"),
        initialized(),
        request(2, "ping", json!({})),
        request(3, "tools/list", json!({})),
        say(4, "hello"),
        say(5, ""),
    ]));
    let opened = &found[0]["result"];
    assert_eq!(opened["protocolVersion"], "2025-11-25");
    assert_eq!(opened["serverInfo"], json!({ "name": "stepmark", "version": "1.2.3" }));
    assert_eq!(opened["instructions"], "Say something.");
    assert_eq!(found[1]["result"], json!({}));
    let tools = &found[2]["result"];
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(1));
    assert_eq!((tools.get("ttlMs"), tools.get("resultType")), (None, None));
    assert_eq!(
        found[3]["result"],
        json!({ "content": [{ "type": "text", "text": "hello" }], "structuredContent": { "text": "hello" }, "isError": false })
    );
    assert_eq!(
        found[4]["result"],
        json!({ "content": [{ "type": "text", "text": "nothing was said\nhelp: say something" }], "isError": true })
    );
}

#[test]
fn without_a_session() {
    let found = answers(lines(&[
        stateless(request(1, "server/discover", json!({}))),
        stateless(request(2, "tools/list", json!({}))),
        stateless(say(3, "hello")),
        stateless(request(4, "ping", json!({}))),
        say(5, "without what a request needs"),
    ]));
    let discovered = &found[0]["result"];
    let versions = discovered["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")));
    assert_eq!(discovered["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "stepmark");
    for answer in &found[..2] {
        let result = &answer["result"];
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(FRESH_MS), &json!("public")));
    }
    assert_eq!(found[2]["result"]["resultType"], "complete");
    assert_eq!(found[2]["result"]["structuredContent"], json!({ "text": "hello" }));
    assert_eq!((code(&found[3]), code(&found[4])), (Some(-32601), Some(-32602)));
}

#[test]
fn one_process_serves_both() {
    for opening in [
        [initialize("2025-11-25"), stateless(say(2, "new"))],
        [stateless(say(2, "new")), initialize("2025-11-25")],
    ] {
        let mut messages = opening.to_vec();
        messages.extend([stateless(say(3, "hello"))]);
        let found = answers(lines(&messages));
        assert!(found.iter().all(|answer| answer.get("result").is_some()), "{found:#?}");
        assert_eq!(found.len(), 3);
    }
}

#[test]
fn a_client_of_another_revision_is_told_what_there_is() {
    let old = answers(lines(&[initialize("2024-11-05"), initialize("2026-07-28")]));
    assert_eq!(old[0]["result"]["protocolVersion"], "2024-11-05");
    for version in ["1999-01-01", "2026-07-28"] {
        let found = answers(lines(&[initialize(version)]));
        assert_eq!(found[0]["result"]["protocolVersion"], "2025-11-25", "{version}");
    }
    let mut unknown = stateless(say(1, "hello"));
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1999-01-01");
    let found = answers(lines(&[unknown]));
    assert_eq!(code(&found[0]), Some(-32022));
    assert!(found[0]["error"]["data"]["supported"].is_array());
}

#[test]
fn what_is_no_message_is_answered_by_an_error_and_the_server_goes_on() {
    let deep = "[".repeat(100_000);
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(LONGEST_LINE));
    let cases: [(&[u8], i64); 12] = [
        (b"no JSON", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"", -32700),
        (b"\xff\xfe", -32700),
        (deep.as_bytes(), -32700),
        (long.as_bytes(), -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b"{}", -32600),
        (b"{\"id\":7,\"method\":\"ping\"}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7.5,\"method\":\"ping\"}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":9}", -32600),
    ];
    let first = lines(&[initialize("2025-11-25")]);
    for (line, wanted) in cases {
        let last = lines(&[say(2, "still here")]);
        let all = [line, b"\n", first.as_bytes(), line, b"\r\n", last.as_bytes()].concat();
        let found = answers(all);
        let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        let codes: Vec<_> = found.iter().map(code).collect();
        assert_eq!(codes, [Some(wanted), None, Some(wanted), None], "{shown}");
        assert_eq!(found[3]["result"]["structuredContent"]["text"], "still here", "{shown}");
    }
}

#[test]
fn requests_that_cannot_be_served_say_why() {
    let cases = [
        (request(2, "resources/list", json!({})), -32601),
        (request(2, "nothing/like/it", json!({})), -32601),
        (json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call" }), -32602),
        (request(2, "tools/call", json!({ "arguments": {} })), -32602),
        (request(2, "tools/call", json!({ "name": "echo", "arguments": [] })), -32602),
        (request(2, "tools/call", json!({ "name": "../../etc/passwd", "arguments": {} })), -32602),
        (request(2, "tools/list", json!({ "cursor": "2" })), -32602),
        (request(2, "initialize", json!({})), -32602),
        (request(2, "subscriptions/listen", json!({ "notifications": {} })), -32601),
    ];
    for (asked, wanted) in cases {
        let found = answers(lines(&[initialize("2025-11-25"), initialized(), asked.clone()]));
        assert_eq!((code(&found[1]), &found[1]["id"]), (Some(wanted), &json!(2)), "{asked}");
    }
}

#[test]
fn arguments_that_do_not_fit_are_a_refusal_for_the_model() {
    let call = |arguments: Value| request(2, "tools/call", json!({ "name": "echo", "arguments": arguments }));
    for (arguments, wanted) in [
        (json!({}), "missing field `text`"),
        (json!({ "text": null }), "missing field `text`"),
        (json!({ "text": 7 }), "expected a string"),
        (json!({ "text": "a", "texts": "b" }), "unknown field `texts`"),
    ] {
        let found = answers(lines(&[initialize("2025-11-25"), call(arguments.clone())]));
        let result = &found[1]["result"];
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && text.contains(wanted), "{arguments}: {result}");
    }
    let found = answers(lines(&[initialize("2025-11-25"), call(json!({ "text": "a", "other": null }))]));
    assert_eq!(found[1]["result"]["isError"], false);
}

#[test]
fn what_needs_no_answer_gets_none() {
    let silent = [
        initialized(),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } }),
        json!({ "jsonrpc": "2.0", "method": "nothing/like/it" }),
        json!({ "jsonrpc": "2.0", "id": 9, "result": {} }),
        json!({ "jsonrpc": "2.0", "error": { "code": -32700, "message": "no JSON" } }),
    ];
    assert_eq!(answers(lines(&silent)), Vec::<Value>::new());
    let mut messages = vec![initialize("2025-11-25")];
    messages.extend(silent);
    assert_eq!(answers(lines(&messages)).len(), 1);
}

#[test]
fn all_that_was_asked_is_answered_in_its_order_before_the_end() {
    let mut messages = vec![initialize("2025-11-25")];
    messages.extend((2..500).map(|id| say(id, "hello")));
    let found = answers(lines(&messages));
    let ids: Vec<_> = found.iter().filter_map(|answer| answer["id"].as_i64()).collect();
    assert_eq!(ids, (1..500).collect::<Vec<_>>());
    let without_end = lines(&[initialize("2025-11-25")]);
    assert_eq!(answers(without_end.trim_end()).len(), 1);
    assert_eq!(answers("").len(), 0);
}

#[test]
fn nobody_who_reads_ends_the_server() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let server = Server::new(vec![Box::new(Echo)], "1");
    let input = lines(&[stateless(say(1, "hello")), stateless(say(2, "hello"))]);
    serve(server, Cursor::new(input.into_bytes()), Gone).unwrap();
}
