//! Credentials are found and never shown.
#![expect(clippy::disallowed_methods, reason = "tests write files directly")]

use std::{fs, path::Path};

use super::*;

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
        assert!(matches!(error, CredentialError::Exposed { mode: own, .. } if own == mode), "{error}");
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
fn a_strange_host_gets_no_token_of_another() {
    let places = |url: &str, trusted| -> Vec<String> {
        let file = Some("/t".into());
        let sources = CredentialSource::github(&url.parse().unwrap(), file, trusted);
        sources.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        places("https://api.github.com", None),
        ["file /t", "env GH_TOKEN", "env GITHUB_TOKEN", "command gh auth token --hostname github.com"]
    );
    assert_eq!(places("http://127.0.0.1:1", None), ["file /t", "env GH_TOKEN", "env GITHUB_TOKEN"]);
    let strange = "https://evil.example/api/v3";
    assert_eq!(places(strange, Some("github.com")), ["command gh auth token --hostname evil.example"]);
    assert_eq!(
        places("https://git.example/api/v3", Some("git.example")),
        [
            "file /t",
            "env GH_ENTERPRISE_TOKEN",
            "env GITHUB_ENTERPRISE_TOKEN",
            "command gh auth token --hostname git.example"
        ]
    );
}

#[test]
fn a_strange_jira_gets_a_token_of_its_own_alone() {
    for (url, variables) in [
        ("https://x.atlassian.net", &["env JIRA_API_TOKEN", "env ATLASSIAN_API_TOKEN"][..]),
        ("https://api.atlassian.com/ex/jira/1", &["env JIRA_API_TOKEN", "env ATLASSIAN_API_TOKEN"]),
        ("http://127.0.0.1:9", &["env JIRA_API_TOKEN", "env ATLASSIAN_API_TOKEN"]),
        ("https://jira.example.org:8443", &["env JIRA_API_TOKEN_JIRA_EXAMPLE_ORG_8443"]),
        ("https://evilatlassian.net", &["env JIRA_API_TOKEN_EVILATLASSIAN_NET"]),
        ("https://atlassian.net.evil.org", &["env JIRA_API_TOKEN_ATLASSIAN_NET_EVIL_ORG"]),
    ] {
        let sources = CredentialSource::jira(&url.parse().unwrap(), None);
        assert_eq!(sources.iter().map(ToString::to_string).collect::<Vec<_>>(), variables, "{url}");
    }
}

#[test]
fn a_strange_jira_gets_no_file_either() {
    for (url, counts) in [
        ("https://x.atlassian.net", true),
        ("http://127.0.0.1:1", true),
        ("https://jira.evil.example", false),
    ] {
        let sources = CredentialSource::jira(&url.parse().unwrap(), Some("/t".into()));
        assert_eq!(sources[0].to_string() == "file /t", counts, "{url}");
    }
}
