//! A client of the protocol, in the revision without sessions.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use serde_json::{Value, json};

use crate::harness::Sandbox;

/// A server that was started, and what it offers.
pub(super) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    tools: HashMap<String, Value>,
    asked: u64,
}

impl Client {
    /// Starts a server of the tools of coordination.
    pub(super) fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(&["mcp", "--tools", "coordination"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, input, output, tools: HashMap::new(), asked: 0 };
        let listed = client.request("tools/list", json!({}))["result"]["tools"].take();
        let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
        client.tools = listed.as_array().unwrap().iter().map(|tool| (name(tool), tool.clone())).collect();
        client
    }

    /// The answer to a line.
    pub(super) fn say(&mut self, line: &[u8]) -> Value {
        self.input.write_all(line).unwrap();
        self.input.write_all(b"\n").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
    }

    /// The answer to a request.
    pub(super) fn request(&mut self, method: &str, mut params: Value) -> Value {
        self.asked += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request = json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
        self.say(request.to_string().as_bytes())
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer["result"].is_object(), "{tool} {arguments}: {answer}");
        answer["result"].take()
    }

    /// The result of a call that is carried out, for programs, held against its schema, and in words.
    pub(super) fn done(&mut self, tool: &str, arguments: Value) -> (Value, String) {
        let mut result = self.call(tool, &arguments);
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        let schemas = &self.tools[tool];
        for (schema, value) in [("inputSchema", &arguments), ("outputSchema", &result["structuredContent"])] {
            let schema = jsonschema::validator_for(&schemas[schema]).unwrap();
            assert!(schema.is_valid(value), "{tool}: {value} is not as its schema says");
        }
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (result["structuredContent"].take(), text)
    }

    /// The words of a call that is refused.
    pub(super) fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, &arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Ends the input, and returns the exit code.
    pub(super) fn end(self) -> Option<i32> {
        let Self { mut child, input, .. } = self;
        drop(input);
        child.wait().unwrap().code()
    }
}
