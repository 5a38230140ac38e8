//! `stepmark sync` with Jira, as far as it goes without one: what is missing is told before anything is
//! asked.

use crate::harness::{Run, Sandbox};

/// A project with a Jira that nobody runs.
fn project(keys: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    let tracker = format!("    base_url: http://127.0.0.1:9\n    project: ABC\n{keys}");
    sandbox.write(".stepmark/config.yaml", format!("project_id: demo\ntrackers:\n  jira:\n{tracker}"));
    let host = "http://127.0.0.1:9: {variable: JIRA_API_TOKEN, targets: [ABC]}";
    sandbox.write_user_configuration(&format!("credentials:\n  {host}\n"));
    sandbox.write("docs/a.md", "---\nid: A\nstatus: draft\n---\n\n# Alpha\n");
    sandbox
}

fn apply(sandbox: &Sandbox, variables: &[(&str, &str)]) -> Run {
    let mut command = sandbox.command(&["sync", "apply"]);
    command.envs(variables.iter().copied());
    sandbox.run(&mut command)
}

const TOKEN: (&str, &str) = ("JIRA_API_TOKEN", "ATATTtheSECRET");

#[test]
fn a_plan_needs_no_credential() {
    let run = project("").stepmark(&["sync", "plan", "--quiet"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "create          docs/a.md\n"), "{run:?}");
}

#[test]
fn what_is_missing_is_told() {
    let sandbox = project("");
    let run = apply(&sandbox, &[]);
    assert_eq!(run.code, 5, "{run:?}");
    assert!(run.stderr.contains("looked for `env JIRA_API_TOKEN`;"), "{run:?}");
    let run = apply(&sandbox, &[TOKEN]);
    assert_eq!(run.code, 5, "{run:?}");
    assert!(run.stderr.contains("give the key `email`, or set `JIRA_EMAIL` or `ATLASSIAN_EMAIL`"), "{run:?}");
}

#[test]
fn a_server_that_is_down_is_told_in_one_line() {
    for (keys, variables) in
        [("    email: me@example.org\n", vec![TOKEN]), ("", vec![TOKEN, ("JIRA_EMAIL", "me@example.org")])]
    {
        let sandbox = project(keys);
        let run = apply(&sandbox, &variables);
        assert_eq!(run.code, 5, "{run:?}");
        assert!(format!("{run:?}").contains("it cannot be reached"), "{run:?}");
        assert!(!format!("{run:?}").contains("SECRET"), "{run:?}");
    }
}
