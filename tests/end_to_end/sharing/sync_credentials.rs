//! Who gets a credential: a repository may name a tracker, but only the user says which host is trusted with
//! what.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
};

use crate::harness::{Background, Run, Sandbox, terminal::Terminal};

const TOKEN: &str = "ghp_SECRETsecretSECRET";

/// A server that refuses everything and keeps what it was sent.
struct Listener {
    port: u16,
    received: Arc<Mutex<String>>,
}

impl Listener {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let (mut head, mut buffer) = (String::new(), [0; 4096]);
                while !head.contains("\r\n\r\n") {
                    match stream.read(&mut buffer) {
                        Ok(count @ 1..) => head.push_str(&String::from_utf8_lossy(&buffer[..count])),
                        _ => break,
                    }
                }
                kept.lock().unwrap().push_str(&head);
                let answer = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
                // A client that is gone was heard all the same.
                let _gone = stream.write_all(answer.as_bytes());
            }
        });
        Self { port, received }
    }

    /// What it was sent since it was asked last.
    fn take(&self) -> String {
        std::mem::take(&mut *self.received.lock().unwrap())
    }
}

/// A clone whose configuration names this tracker.
fn clone_with(tracker: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", format!("project_id: demo\ntrackers:\n{tracker}"));
    sandbox.write("docs/a.md", "---\nid: A\nstatus: draft\n---\n\n# Alpha\n");
    sandbox
}

fn github(port: u16, repository: &str) -> String {
    format!("  github:\n    base_url: http://127.0.0.1:{port}\n    repository: {repository}\n")
}

/// `stepmark sync ARGUMENTS…` with credentials in every variable.
fn sync(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    let arguments: Vec<&str> = ["sync"].iter().chain(arguments).copied().collect();
    let mut command = sandbox.command(&arguments);
    for name in ["GH_TOKEN", "GITHUB_TOKEN", "JIRA_API_TOKEN", "ATLASSIAN_API_TOKEN", "GH_ENTERPRISE_TOKEN"] {
        command.env(name, TOKEN);
    }
    sandbox.run(command.env("JIRA_EMAIL", "me@example.org").env("GH_HOST", "127.0.0.1"))
}

#[test]
fn a_clone_sends_no_credential_to_a_host_of_its_choice() {
    let server = Listener::start();
    let port = server.port;
    let jira = format!("  jira:\n    base_url: http://127.0.0.1:{port}\n    project: ABC\n");
    let bound_elsewhere = format!(
        "credentials:\n  http://127.0.0.1:{}: {{variable: GH_TOKEN, targets: [o/r]}}\n  https://127.0.0.1:{port}: {{variable: GH_TOKEN, targets: [o/r]}}\n  \
         http://localhost:{port}: {{variable: GH_TOKEN, targets: [o/r]}}\n",
        port ^ 1
    );
    for (tracker, user) in [
        (github(port, "o/r"), String::new()),
        (jira, String::new()),
        // Scheme, host and port are compared, and none of them only looks alike.
        (github(port, "o/r"), bound_elsewhere),
    ] {
        let sandbox = clone_with(&tracker);
        sandbox.write_user_configuration(&user);
        for arguments in [&["apply"][..], &["apply", "--survey"], &["plan", "--survey"], &["run"]] {
            let run = sync(&sandbox, arguments);
            assert!(run.code == 5, "{tracker} {arguments:?}: {run}");
            assert!(run.stderr.contains(&format!("http://127.0.0.1:{port}")), "{run}");
            assert!(run.stderr.contains("credentials:"), "it says what to write: {run}");
            assert!(!format!("{run}").contains("SECRET"), "{run}");
        }
        assert_eq!(server.take(), "", "{tracker}");
    }
}

#[test]
fn a_clone_names_no_file_of_secrets() {
    let server = Listener::start();
    let tracker = format!("{}    token_file: ~/.vault-token\n", github(server.port, "o/r"));
    for user in [String::new(), bound(server.port, "variable: GH_TOKEN, targets: [o/r]")] {
        let sandbox = clone_with(&tracker);
        let file = sandbox.root().with_file_name("home").join(".vault-token");
        fs::write(&file, TOKEN).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        sandbox.write_user_configuration(&user);
        let run = sync(&sandbox, &["apply"]);
        assert_eq!(run.code, 4, "{run}");
        for expected in ["`token_file`", "`~/.config/stepmark/config.yaml`", "credentials:"] {
            assert!(run.stderr.contains(expected), "{expected}: {run}");
        }
        assert_eq!(server.take(), "");
    }
    let sandbox = clone_with(&github(server.port, "o/r"));
    let own = bound(server.port, "variable: GH_TOKEN, targets: [o/r]");
    sandbox.write(".stepmark/config.yaml", format!("{own}trackers:\n{}", github(server.port, "o/r")));
    let run = sync(&sandbox, &["apply"]);
    assert!(run.code == 4 && run.stderr.contains("config.yaml`:1:1 "), "a clone binds no host: {run}");
    assert_eq!(server.take(), "");
}

/// The user's configuration that binds the server at `port`.
fn bound(port: u16, keys: &str) -> String {
    format!("credentials:\n  http://127.0.0.1:{port}: {{{keys}}}\n")
}

#[test]
fn a_host_that_the_user_binds_gets_what_it_is_bound_to() {
    let server = Listener::start();
    let sandbox = clone_with(&github(server.port, "o/r"));
    let file = sandbox.root().with_file_name("home").join("token");
    fs::write(&file, "ghp_ofTheFile\n").unwrap();
    #[cfg(unix)]
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    for (keys, expected) in [("variable: GH_TOKEN", TOKEN), ("token_file: ~/token", "ghp_ofTheFile")] {
        sandbox.write_user_configuration(&bound(server.port, &format!("{keys}, targets: [o/r]")));
        let run = sync(&sandbox, &["apply"]);
        assert_eq!(run.code, 5, "{run}");
        let received = server.take().to_lowercase();
        assert!(received.contains(&format!("bearer {}", expected.to_lowercase())), "{received} {run}");
        assert_eq!(sync(&sandbox, &["reset"]).code, 0);
    }
    // A tracker of the user's own configuration is the user's own words.
    sandbox.write(".stepmark/config.yaml", "project_id: demo\n");
    let user =
        format!("{}trackers:\n{}", bound(server.port, "variable: GH_TOKEN"), github(server.port, "o/r"));
    sandbox.write_user_configuration(&user);
    assert_eq!(sync(&sandbox, &["apply"]).code, 5);
    assert!(server.take().contains(TOKEN));
}

#[test]
fn a_new_target_of_a_clone_is_allowed_by_name_once() {
    let server = Listener::start();
    let sandbox = clone_with(&github(server.port, "o/r"));
    sandbox.write_user_configuration(&bound(server.port, "variable: GH_TOKEN"));
    let base = format!("http://127.0.0.1:{}", server.port);
    let allow = ["allow", base.as_str(), "o/r"];
    for arguments in [&["apply"][..], &["run"]] {
        let run = sync(&sandbox, arguments);
        assert!(run.code == 5 && run.stderr.contains(&format!("stepmark sync {}", allow.join(" "))), "{run}");
    }
    assert_eq!(server.take(), "");
    let run = sync(&sandbox, &allow);
    assert_eq!((run.code, run.stdout.as_str()), (0, &*format!("allowed {base} o/r\n")), "{run}");
    let state = sandbox.root().with_file_name("home").join(".local/state/stepmark/allowed-targets.json");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o7777, 0o600);
    }
    assert_eq!(sync(&sandbox, &["apply"]).code, 5, "the server refuses it");
    assert!(server.take().contains(TOKEN));
    assert_eq!(sync(&sandbox, &["allow"]).stdout, format!("{base} o/r\n"));
    let listed = sync(&sandbox, &["allow", "--json"]).stdout;
    assert!(listed.contains("stepmark.sync-allow/2") && listed.contains(&base), "{listed}");
    // What is taken back is asked for again.
    assert_eq!(sync(&sandbox, &[&allow[..], &["--remove"]].concat()).stdout, format!("removed {base} o/r\n"));
    assert_eq!(sync(&sandbox, &["apply"]).code, 5);
    assert_eq!(server.take(), "");
    assert_eq!(sync(&sandbox, &["allow"]).stdout, "");
    let again = sync(&sandbox, &[&allow[..], &["--remove"]].concat());
    assert_eq!((again.code, again.stdout), (0, format!("not allowed {base} o/r\n")));
    for arguments in [&["allow", "--remove"][..], &["allow", base.as_str()]] {
        assert_eq!(sync(&sandbox, arguments).code, 2, "{arguments:?}");
    }
    assert_eq!(sync(&sandbox, &allow).code, 0);
    // What was allowed is this target alone.
    sandbox.write(
        ".stepmark/config.yaml",
        format!("project_id: demo\ntrackers:\n{}", github(server.port, "o/q")),
    );
    let run = sync(&sandbox, &["apply"]);
    assert!(run.code == 5 && run.stderr.contains(&format!("{base} o/q")), "{run}");
    assert_eq!(server.take(), "");
    // A file that others may have written, or that says something else, allows nothing.
    #[cfg(unix)]
    for (text, mode) in [(None, 0o666), (Some("{}"), 0o600)] {
        sandbox.write(
            ".stepmark/config.yaml",
            format!("project_id: demo\ntrackers:\n{}", github(server.port, "o/r")),
        );
        text.into_iter().for_each(|text| fs::write(&state, text).unwrap());
        fs::set_permissions(&state, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        let run = sync(&sandbox, &["apply"]);
        assert!(run.code == 4 && run.stderr.contains("allowed-targets.json"), "{run}");
        assert_eq!(server.take(), "");
    }
}

#[test]
fn on_a_terminal_it_asks_once() {
    let Some(terminal) = Terminal::find() else { return };
    let server = Listener::start();
    let sandbox = clone_with(&github(server.port, "o/r"));
    let file = sandbox.root().with_file_name("home").join("token");
    fs::write(&file, TOKEN).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    sandbox.write_user_configuration(&bound(server.port, "token_file: ~/token"));
    let question = format!("http://127.0.0.1:{} o/r", server.port);
    let refused = terminal.run_answering(&sandbox, &["sync", "apply"], "n");
    assert!(refused.stdout.contains(&question) && refused.stdout.contains("sync allow"), "{refused}");
    assert_eq!(server.take(), "");
    for asks in [true, false] {
        let run = terminal.run_answering(&sandbox, &["sync", "apply"], "y");
        assert_eq!(run.stdout.contains(&question), asks, "{run}");
        assert!(server.take().contains(TOKEN), "{run}");
        assert_eq!(sync(&sandbox, &["reset"]).code, 0);
    }
}

#[cfg(unix)]
#[test]
fn a_token_that_was_renewed_is_used_by_a_process_that_runs() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = Listener::start();
    let sandbox = clone_with(&github(server.port, "o/r"));
    let file = sandbox.root().with_file_name("home").join("token");
    let renew = |token: &str| {
        let next = file.with_extension("next");
        fs::write(&next, token).unwrap();
        fs::set_permissions(&next, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(next, &file).unwrap();
    };
    renew("ghp_first");
    sandbox.write_user_configuration(&bound(server.port, "token_file: ~/token, targets: [o/r]"));
    let mut run = Background::start(&sandbox, &mut sandbox.command(&["sync", "run"]), "run");
    for token in ["ghp_first", "ghp_second"] {
        run.wait_until(token, |_| server.received.lock().unwrap().contains(token));
        run.wait_for_lines("does not accept the credential", 1);
        renew("ghp_second");
    }
    assert!(!run.log().contains("ghp_"), "{}", run.log());
    run.signal("TERM");
    assert_eq!(run.end(), 0, "{}", run.log());
}
