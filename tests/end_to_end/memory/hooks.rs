//! `stepmark memory hook` speaks to coding agents, and never stands in their way.

use std::{io::Write as _, process::Stdio};

use serde_json::{Value, json};

use super::recalling::done;
use crate::harness::{Run, Sandbox};

fn hook(sandbox: &Sandbox, moment: &str, given: &str) -> Run {
    let mut command = sandbox.command(&["memory", "hook", moment]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut hook = command.spawn().unwrap();
    hook.stdin.take().unwrap().write_all(given.as_bytes()).unwrap();
    let output = hook.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    let run = Run { code, stdout: text(output.stdout), stderr: text(output.stderr) };
    assert_eq!(run.code, 0, "{run}");
    run
}

fn context(run: &Run) -> String {
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run}"));
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn what_an_agent_gives_back_is_recalled_by_the_next() {
    let sandbox = Sandbox::empty();
    let start = json!({"session_id": "abc", "hook_event_name": "SessionStart", "source": "startup"});
    assert_eq!(hook(&sandbox, "session-start", &start.to_string()).stdout, "", "nothing is known yet");
    let message = "Done.\n- Decision: use rust because it is fast\n# Remember: no emoji\n";
    let stop = json!({"session_id": "abc", "hook_event_name": "SubagentStop", "agent_type": "architect",
        "last_assistant_message": message});
    hook(&sandbox, "post-delegation", &stop.to_string());
    let tool = json!({"session_id": "abc", "hook_event_name": "PostToolUse", "tool_name": "Task",
        "tool_input": {"subagent_type": "tester"}, "tool_response": {"content": [{"type": "text", "text": "Learned: the port is taken"}]}});
    hook(&sandbox, "post-delegation", &tool.to_string());
    let told = hook(&sandbox, "session-start", &start.to_string());
    for said in
        ["use rust; because it is fast (decision", "no emoji (preference", "the port is taken (learning"]
    {
        assert!(context(&told).contains(said), "{told}");
    }
    let prompt =
        json!({"session_id": "abc", "hook_event_name": "UserPromptSubmit", "prompt": "Is the port free?"});
    let told = context(&hook(&sandbox, "prompt", &prompt.to_string()));
    assert!(told.contains("the port is taken") && !told.contains("emoji"), "{told}");
    let end = json!({"session_id": "abc", "hook_event_name": "SessionEnd", "reason": "other"}).to_string();
    hook(&sandbox, "session-end", &end);
    hook(&sandbox, "session-end", &end);
    let summary = done(&sandbox, &["memory", "summary", "abc"]).stdout;
    assert_eq!(summary.matches("Session abc").count(), 1, "{summary}");
}

#[test]
fn what_goes_wrong_is_told_and_stops_nobody() {
    let sandbox = Sandbox::empty();
    let run = hook(&sandbox, "prompt", "no JSON");
    assert!(run.stdout.is_empty() && run.stderr.contains("was given no JSON"), "{run}");
    let secret = format!("Learned: the key {}{}\nLearned: fine", "AKIA", "IOSFODNN7EXAMPLE");
    let run = hook(&sandbox, "post-delegation", &json!({"last_assistant_message": secret}).to_string());
    assert!(run.stderr.contains("holds a secret"), "{run}");
    let known = done(&sandbox, &["memory", "recall"]).stdout;
    assert!(known.contains("fine") && !known.contains("AKIA"), "{known}");
    assert_eq!(hook(&sandbox, "session-end", "").stdout, "");
}
