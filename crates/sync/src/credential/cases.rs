//! Credentials are found and never shown.
#![expect(clippy::disallowed_methods, reason = "tests write files directly")]

use std::{fs, path::Path};

use super::*;
use crate::configuration::SyncConfiguration;

const TOKEN: &str = "ghp_0123456789abcdefSECRET";

fn command(words: &[&str]) -> CredentialSource {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    CredentialSource::Command { words, hidden_variables: vec!["HOME".to_owned()] }
}

#[cfg(unix)]
fn file(path: &Path, text: &str, mode: u32) -> CredentialSource {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    CredentialSource::File { path: path.to_owned() }
}

#[test]
fn the_first_place_that_has_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let absent = [
        CredentialSource::Environment { variable: "STEPMARK_TEST_NO_SUCH_VARIABLE".to_owned() },
        CredentialSource::File { path: folder.path().join("none") },
        command(&["stepmark-test-no-such-program"]),
        command(&["false"]),
    ];
    let found =
        Credential::load(&[&absent[..], &[file(&path, &format!("{TOKEN}\n"), 0o600)]].concat()).unwrap();
    assert_eq!((found.secret.expose(), found.name.as_str()), (TOKEN, &*format!("file {}", path.display())));
    let printed = Credential::load(&[command(&["echo", TOKEN]), file(&path, "other", 0o600)]).unwrap();
    assert_eq!(printed.secret.expose(), TOKEN);
    let error = Credential::load(&absent).unwrap_err();
    assert!(error.to_string().contains("env STEPMARK_TEST_NO_SUCH_VARIABLE"), "{error}");
    let hidden = command(&["sh", "-c", "test -z \"$HOME\" && echo hidden"]);
    assert_eq!(Credential::load(&[hidden]).unwrap().secret.expose(), "hidden");
}

#[cfg(unix)]
#[test]
fn a_file_that_others_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for mode in [0o644, 0o640, 0o604, 0o620] {
        let error = Credential::load(&[file(&folder.path().join("token"), TOKEN, mode)]).unwrap_err();
        assert!(error.message.contains(&format!("(mode {mode:o})")), "{error}");
        assert!(error.to_string().contains("chmod 600") && !error.to_string().contains("SECRET"));
    }
}

#[test]
fn what_is_no_credential_is_refused_without_repeating_it() {
    for text in ["a b SECRET", "SECRET\nSECRET", "SECRETß", &"SECRET".repeat(1000), "", " \n"] {
        let error = Secret::new(text).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("SECRET"));
    }
    let folder = tempfile::tempdir().unwrap();
    for source in [
        file(&folder.path().join("token"), &"SECRET".repeat(1000), 0o600),
        file(&folder.path().join("token"), "SECRET SECRET", 0o600),
    ] {
        let error = Credential::load(&[source]).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("SECRET"), "{error}");
    }
}

#[test]
fn nothing_shows_it() {
    let credential = Credential { name: "env X".to_owned(), secret: Secret::new(TOKEN).unwrap() };
    assert!(!format!("{credential:?} {credential:#?}").contains("SECRET"));
    let echo = credential.secret.hide_in(format!("bad token {TOKEN}!"));
    assert_eq!(echo, "bad token [credential]!");
}

#[test]
fn only_the_hosts_of_a_tracker_itself_get_what_its_tools_use() {
    let github = &["env GH_TOKEN", "env GITHUB_TOKEN", "command gh auth token --hostname github.com"][..];
    let jira = &["env JIRA_API_TOKEN", "env ATLASSIAN_API_TOKEN"][..];
    let bound = CredentialBindings::read(
        Path::new("c"),
        b"credentials: {https://bound.example: {variable: OWN}, https://own.atlassian.net: {variable: OWN}}",
    )
    .unwrap();
    for (kind, url, expected) in [
        ("github", "https://api.github.com", Some(github)),
        ("github", "https://api.github.com:443/", Some(github)),
        ("jira", "https://x.atlassian.net", Some(jira)),
        ("jira", "https://api.atlassian.com/ex/jira/1", Some(jira)),
        ("github", "https://bound.example/api/v3", Some(&["env OWN"][..])),
        ("jira", "https://bound.example", Some(&["env OWN"][..])),
        ("jira", "https://own.atlassian.net", Some(&["env OWN"][..])),
        ("github", "https://api.github.com:8443", None),
        ("github", "https://api.github.com.", None),
        ("github", "https://github.com", None),
        ("github", "https://evil.example/api/v3", None),
        ("github", "http://127.0.0.1:1", None),
        ("github", "http://localhost", None),
        ("github", "https://x.atlassian.net", None),
        ("github", "https://bound.example:8443", None),
        ("jira", "https://api.github.com", None),
        ("jira", "http://127.0.0.1:9", None),
        ("jira", "https://x.atlassian.net:8443", None),
        ("jira", "https://evilatlassian.net", None),
        ("jira", "https://atlassian.net.evil.org", None),
        ("jira", "https://x.api.atlassian.com", None),
        ("jira", "https://jira.example.org", None),
    ] {
        let yaml = match kind {
            "github" => format!("trackers: {{github: {{repository: o/r, base_url: '{url}'}}}}"),
            _ => format!("trackers: {{jira: {{project: ABC, base_url: '{url}'}}}}"),
        };
        let read = SyncConfiguration::read(Path::new("c"), yaml.as_bytes()).unwrap().unwrap();
        let sources = CredentialSource::of(&read.trackers[0].target, &bound);
        let sources = sources.map(|sources| sources.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            sources.as_deref(),
            expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).as_deref(),
            "{kind} {url}"
        );
    }
}
