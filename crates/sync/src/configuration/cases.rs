//! Cases of `trackers:`.

use std::path::Path;

use stepmark_model::artifact::ProjectPath;

use super::{Drift, Prune, SyncConfiguration, Target};
use crate::{Result, pace::ScopedPace, ticket::Parents};

fn parse(text: &str) -> Result<Option<SyncConfiguration>> {
    SyncConfiguration::read(Path::new("config.yaml"), text.as_bytes())
}

fn read(text: &str) -> SyncConfiguration {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn files_without_trackers_name_none() {
    for text in ["", "# nothing\n", "project_id: p\nartifacts: {include: ['**']}\n", "trackers:\n"] {
        assert!(parse(text).unwrap().is_none(), "{text}");
    }
}

#[test]
fn reads_every_kind() {
    let configuration = read(
        "project_id: p\ntrackers:\n  github: {repository: o/r, branch: main}\n  work:\n    kind: jira\n    \
         base_url: https://x.atlassian.net\n    project: ABC\n    email: me@example.org\n    epic_issue_type: Epic\n    story_issue_type: Story\n    child_issue_type: Sub-task\n    statuses: {in-review: In Review}\n    drift: report\n    \
         prune: close\n    artifacts: ['docs/**']\n    ticket: {parents: ignore, fields: {priority: High}}\n  \
         file: {path: out/tickets.jsonl}\n  dry:\n",
    );
    assert!(configuration.unknown_keys.is_empty(), "{:?}", configuration.unknown_keys);
    let [dry, file, github, work] = configuration.trackers.as_slice() else { panic!("{configuration:?}") };
    assert_eq!(dry.target, Target::Dry);
    let path = ProjectPath::new("out/tickets.jsonl").unwrap();
    assert_eq!(file.target, Target::File { path: path.clone() });
    let Target::Github { base_url, repository, .. } = &github.target else { panic!("{github:?}") };
    assert_eq!((base_url.as_str(), repository.to_string().as_str()), ("https://api.github.com", "o/r"));
    let url = github.ticket.file_url.as_ref().map(|url| url.of(&path));
    assert_eq!(url.as_deref(), Some("https://github.com/o/r/blob/main/out/tickets.jsonl"));
    let Target::Jira { project, issue_type, statuses, child_issue_type, email, .. } = &work.target else {
        panic!("{work:?}")
    };
    assert_eq!((child_issue_type.as_deref(), email.as_deref()), (Some("Sub-task"), Some("me@example.org")));
    assert_eq!(
        (project.as_str(), issue_type.as_str(), statuses["in-review"].as_str()),
        ("ABC", "Task", "In Review")
    );
    assert_eq!((work.drift, work.prune, work.ticket.parents), (Drift::Report, Prune::Close, Parents::Ignore));
    assert!(work.concerns(&ProjectPath::new("docs/a.md").unwrap()) && !work.concerns(&path));
    assert!(dry.concerns(&path));
}

#[test]
fn a_file_of_thousands_of_trackers_is_refused_at_once() {
    let trackers: String =
        (0..20_000).map(|number| format!("  a{number}: {{kind: file, path: a}}\n")).collect();
    let error = parse(&format!("trackers:\n{trackers}")).unwrap_err().to_string();
    assert!(error.contains("there are more than 100 trackers"), "{error}");
}

#[test]
fn a_key_of_another_kind_is_not_said_to_be_unknown_where_the_kind_is() {
    let error = parse("trackers: {work: {repository: o/r}}").unwrap_err().to_string();
    assert!(error.contains("needs the key `kind`") && !error.contains("repository"), "{error}");
}

#[test]
fn fields_that_github_has_not_are_refused() {
    let of = |fields: &str| {
        parse(&format!("trackers: {{github: {{repository: o/r, ticket: {{fields: {{{fields}}}}}}}}}"))
    };
    assert!(of("milestone: '1.10', assignees: ada, type: '{workflow}'").is_ok());
    let error = of("milestone: '1', priority: high").unwrap_err().to_string();
    assert!(
        error.contains(
            "no field `priority`: of the kind `github`, `ticket.fields` knows `milestone`, `assignees`, `type`"
        ),
        "{error}"
    );
}

#[test]
fn a_template_says_all_of_a_body() {
    let of = |ticket: &str| parse(&format!("trackers: {{dry: {{ticket: {{{ticket}}}}}}}"));
    assert!(of("template: '{title}'").is_ok());
    for (ticket, reason) in [
        ("template: '{title}', sections: [steps]", "take `intro` and `sections` out"),
        ("template: '{tittle}'", "`{tittle}` stands for nothing; there are `{title}`"),
        ("sections: [storey]", "there is no section `storey`; there are `progress`"),
    ] {
        let error = of(ticket).unwrap_err().to_string();
        assert!(error.contains(reason), "{ticket}: {error}");
    }
}

#[test]
fn files_are_looked_at_where_the_interface_is() {
    for (base_url, expected) in [
        ("https://api.github.com", "https://github.com/o/r/blob/HEAD/a.md"),
        ("https://git.example.org/api/v3/", "https://git.example.org/o/r/blob/HEAD/a.md"),
        ("http://127.0.0.1:4101", "http://127.0.0.1:4101/o/r/blob/HEAD/a.md"),
    ] {
        let read = read(&format!("trackers: {{github: {{repository: o/r, base_url: '{base_url}'}}}}"));
        let url = read.trackers[0].ticket.file_url.as_ref().unwrap();
        assert_eq!(url.of(&ProjectPath::new("a.md").unwrap()), expected);
    }
}

#[test]
fn a_test_server_can_be_driven_flat_out() {
    let text = "trackers:\n  github:\n    repository: o/r\n    pace: {credential: {write_interval_ms: 0, limits: []}}\n    \
                breaker: {failures: 2}\n    retry: {attempts: 3}\n";
    let configuration = read(text);
    assert!(configuration.unknown_keys.is_empty(), "{:?}", configuration.unknown_keys);
    let github = &configuration.trackers[0];
    assert_eq!(github.pace, ScopedPace::default());
    assert_eq!((github.breaker.failures, github.breaker.wait_seconds, github.retry.attempts), (2, 30, 3));
    let usual = read("trackers: {github: {repository: o/r}}");
    assert_eq!(usual.trackers[0].pace, ScopedPace::github());
}

#[test]
fn keys_without_effect_are_reported() {
    let configuration = read(
        "other: 1\ntrackers:\n  dry:\n    kind: dry\n    lables: []\n    ticket: {tilte: x, fields: {any: thing}}\n",
    );
    let keys: Vec<_> = configuration.unknown_keys.iter().map(|unknown| unknown.key.as_str()).collect();
    assert_eq!(keys, ["trackers.dry.lables", "trackers.dry.ticket.tilte"]);
    let near: Vec<_> = configuration.unknown_keys.iter().map(|unknown| unknown.near.as_deref()).collect();
    assert_eq!(near, [None, Some("title")]);
    let configuration = read(
        "trackers:\n  github: {repository: o/r, bass_url: x, drfit: y, pace: {endpiont: {}, ticket: {limit: []}}}\n",
    );
    let near: Vec<_> = configuration.unknown_keys.iter().map(|unknown| unknown.near.as_deref()).collect();
    assert_eq!(near, ["base_url", "drift", "endpoint", "limits"].map(Some));
}

#[test]
fn a_misspelt_key_is_named_beside_one_that_is_missing() {
    for (text, expected) in [
        (
            "trackers:\n  github: {reposiory: o/r}\n",
            "needs the key `repository`; the key `trackers.github.reposiory` is not known; did you mean `repository`?",
        ),
        ("trackers:\n  jira: {base_url: 'https://x', projekt: ABC}\n", "did you mean `project`?"),
        ("trackers:\n  work: {knd: jira}\n", "did you mean `kind`?"),
        (
            "trackers:\n  work: {kind: linear}\n",
            "no kind of tracker `linear`; there are `github`, `jira`, `file` and `dry`",
        ),
        ("trackers:\n  github: {repository: o/r, repository: o/s}\n", "duplicate"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
}

#[test]
fn a_key_without_a_value_is_as_one_that_is_not_there() {
    for text in ["dry: {project: , token_file: ~}", "github: {repository: o/r, project: null, branch: }"] {
        let read = read(&format!("trackers:\n  {text}\n"));
        assert_eq!(read.trackers.len(), 1, "{text}");
    }
}

#[test]
fn says_where_and_why_it_cannot_be_used() {
    for (text, place, reason) in [
        ("trackers: [a]\n", "1:11", "a mapping of names to trackers"),
        ("trackers:\n  'a b': {kind: dry}\n", "2:3", "cannot name a tracker"),
        ("trackers: {dry: , dry: }\n", "1:11", "twice"),
        ("trackers:\n  work: {repository: o/r}\n", "2:3", "needs the key `kind`"),
        ("trackers:\n  github: {}\n", "2:3", "needs the key `repository`"),
        ("trackers:\n  github: {repository: o}\n", "2:24", "`owner/name` is wanted"),
        ("trackers:\n  jira: {base_url: 'https://x', project: abc}\n", "2:3", "needs the key `project`"),
        ("trackers:\n  jira: {base_url: 'http://x', project: ABC}\n", "2:20", "`https` is wanted"),
        ("trackers:\n  dry: {project: ABC}\n", "2:3", "no key `project`"),
        ("trackers:\n  dry: {ticket: {title: '{x}'}}\n", "2:25", "stands for nothing"),
        ("trackers:\n  dry: {ticket: {labels: [a, '{']}}\n", "2:30", "stands alone"),
        ("trackers:\n  dry: {token_file: /t}\n", "2:3", "no key `token_file`"),
        (
            "trackers:\n  github: {repository: o/r, token_file: ~/t}\n",
            "2:3",
            "`credentials: {https://api.github.com: {token_file: PATH}}`",
        ),
        ("trackers:\n  dry: {drift: merge}\n", "2:16", "`overwrite` or `report`"),
        ("trackers:\n  dry: {artifacts: [/a]}\n", "2:21", "not a path pattern"),
        ("trackers:\n  file: {path: ../x}\n", "2:9", "out of the project"),
        ("trackers:\n  file: {path: .stepmark/journal/a}\n", "2:16", "among stepmark's own files"),
        ("trackers:\n  file: {path: .git/config}\n", "2:16", "among git's files"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.message.contains(&format!("`:{place} cannot be used")), "{text:?}: {error}");
        assert!(error.to_string().contains(reason), "{text:?}: {error}");
    }
}

#[test]
fn runs_have_settings() {
    let read = read("trackers:\n  github: {repository: o/r, run: {pass_seconds: 60, lease_seconds: 9999}}\n");
    assert!(read.unknown_keys.is_empty(), "{:?}", read.unknown_keys);
    let github = &read.trackers[0];
    assert_eq!((github.run.pass_seconds, github.run.lease_ms(), github.run.quiet_ms), (60, 600_000, 500));
}
