//! One tracker of the configuration: its settings, and the keys that give them.

use std::{collections::BTreeMap, time::Duration};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _, IgnoredAny, Visitor},
    forward_to_deserialize_any,
};
use stepmark_model::artifact::{PathGlob, PathGlobs, ProjectPath};

use super::{BaseUrl, Drift, Duplicates, Prune, Repository, RunSettings, Target};
use crate::{
    TrackerName,
    breaker::BreakerSettings,
    pace::{PaceSettings, ScopedPace},
    retry::RetrySettings,
    ticket::TicketSettings,
};

#[derive(Clone, Debug)]
pub struct TrackerSettings {
    pub name: TrackerName,
    pub target: Target,
    pub artifacts: Option<PathGlobs>,
    pub branches: Option<PathGlobs>,
    pub ticket: TicketSettings,
    pub drift: Drift,
    pub duplicates: Duplicates,
    pub prune: Prune,
    pub breaker: BreakerSettings,
    pub retry: RetrySettings,
    pub pace: ScopedPace,
    /// Seconds after which a ticket that is not listed certainly does not exist: a request may be under way,
    /// and the list may lag. Default: 90 on GitHub, 120 on Jira, 0 for a file.
    pub look_up_wait_seconds: u32,
    /// For one run; no key of the configuration.
    pub prunes_many: bool,
    pub owner: SettingsOwner,
    pub run: RunSettings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsOwner {
    Repository,
    User,
}

impl TrackerSettings {
    pub fn concerns(&self, path: &ProjectPath) -> bool {
        self.artifacts.as_ref().is_none_or(|globs| globs.matches(path))
    }

    pub fn write_interval(&self) -> Duration {
        Duration::from_millis(self.pace.credential.write_interval_ms.into())
    }

    pub fn look_up_wait_ms(&self) -> u64 {
        u64::from(self.look_up_wait_seconds) * 1000
    }
}

/// Keys of every tracker, then those that [`KINDS`] gives to some.
#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "a mapping with keys such as `kind` and `repository`")]
pub(super) struct TrackerKeys {
    pub(super) kind: Option<String>,
    artifacts: Option<Vec<PathGlob>>,
    branches: Option<Vec<PathGlob>>,
    ticket: Option<TicketSettings>,
    drift: Option<Drift>,
    duplicates: Option<Duplicates>,
    prune: Option<Prune>,
    breaker: Option<BreakerSettings>,
    retry: Option<RetrySettings>,
    pace: Option<PaceKeys>,
    look_up_wait_seconds: Option<u32>,
    run: Option<RunSettings>,
    base_url: Option<BaseUrl>,
    repository: Option<Repository>,
    branch: Option<String>,
    token_file: Option<IgnoredAny>,
    project: Option<String>,
    issue_type: Option<String>,
    epic_issue_type: Option<String>,
    story_issue_type: Option<String>,
    child_issue_type: Option<String>,
    email: Option<String>,
    statuses: Option<BTreeMap<String, String>>,
    path: Option<ProjectPath>,
}

pub(super) struct TrackerKind {
    pub(super) name: &'static str,
    pub(super) keys: &'static [&'static str],
    target: fn(&TrackerName, &mut TrackerKeys) -> Result<Target, Problem>,
    pace: fn() -> ScopedPace,
    /// The default; longer than a request may take.
    look_up_wait_seconds: u32,
    /// `None` allows any.
    ticket_fields: Option<&'static [&'static str]>,
}

pub(super) static KINDS: [TrackerKind; 4] = [
    TrackerKind {
        name: "github",
        keys: &["base_url", "repository", "branch", "token_file"],
        target: github,
        pace: ScopedPace::github,
        look_up_wait_seconds: 90,
        ticket_fields: Some(&["milestone", "assignees", "type"]),
    },
    TrackerKind {
        name: "jira",
        keys: &[
            "base_url",
            "project",
            "issue_type",
            "epic_issue_type",
            "story_issue_type",
            "child_issue_type",
            "email",
            "statuses",
            "token_file",
        ],
        target: jira,
        pace: ScopedPace::jira,
        look_up_wait_seconds: 120,
        ..DRY
    },
    TrackerKind { name: "file", keys: &["path"], target: file, ..DRY },
    DRY,
];

const DRY: TrackerKind = TrackerKind {
    name: "dry",
    keys: &[],
    target: |_, _| Ok(Target::Dry),
    pace: ScopedPace::default,
    look_up_wait_seconds: 0,
    ticket_fields: None,
};

pub(super) struct Problem {
    /// `None` if a key is missing, or several do not go together.
    pub(super) key: Option<&'static str>,
    pub(super) reason: String,
}

impl From<String> for Problem {
    fn from(reason: String) -> Self {
        Self { key: None, reason }
    }
}

fn missing(name: &TrackerName, key: &str) -> Problem {
    format!("the tracker `{name}` needs the key `{key}`").into()
}

fn github(name: &TrackerName, keys: &mut TrackerKeys) -> Result<Target, Problem> {
    let base_url = match keys.base_url.take() {
        Some(url) => url,
        None => BaseUrl::read("https://api.github.com")?,
    };
    let repository = keys.repository.take().ok_or_else(|| missing(name, "repository"))?;
    Ok(Target::Github { base_url, repository, branch: keys.branch.take() })
}

fn jira(name: &TrackerName, keys: &mut TrackerKeys) -> Result<Target, Problem> {
    let is_project_key = |key: &String| {
        key.starts_with(|first: char| first.is_ascii_uppercase())
            && key.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    Ok(Target::Jira {
        base_url: keys.base_url.take().ok_or_else(|| missing(name, "base_url"))?,
        project: keys.project.take().filter(is_project_key).ok_or_else(|| missing(name, "project"))?,
        issue_type: keys.issue_type.take().unwrap_or_else(|| "Task".to_owned()),
        epic_issue_type: keys.epic_issue_type.take(),
        story_issue_type: keys.story_issue_type.take(),
        child_issue_type: keys.child_issue_type.take(),
        email: keys.email.take(),
        statuses: keys.statuses.take().unwrap_or_default(),
    })
}

fn file(name: &TrackerName, keys: &mut TrackerKeys) -> Result<Target, Problem> {
    let path = keys.path.take().ok_or_else(|| missing(name, "path"))?;
    match reserved_for(&path) {
        None => Ok(Target::File { path }),
        Some(whose) => {
            let reason = format!("`{path}` is among {whose} files: name another file");
            Err(Problem { key: Some("path"), reason })
        }
    }
}

/// The owner of a file in which tickets must not be kept.
pub(crate) fn reserved_for(path: &ProjectPath) -> Option<&'static str> {
    if path.is_in_git_folder() || path.is_file_of_git() {
        return Some("git's");
    }
    path.is_in_own_folder().then_some("stepmark's own")
}

/// `pace:`. Keys that are missing keep the default of the kind of tracker.
#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "a mapping with `credential`, `endpoint` and `ticket`")]
pub(super) struct PaceKeys {
    credential: Option<PaceSettings>,
    endpoint: Option<PaceSettings>,
    ticket: Option<PaceSettings>,
}

impl PaceKeys {
    fn over(self, own: ScopedPace) -> ScopedPace {
        ScopedPace {
            credential: self.credential.unwrap_or(own.credential),
            endpoint: self.endpoint.unwrap_or(own.endpoint),
            ticket: self.ticket.unwrap_or(own.ticket),
        }
    }
}

impl TrackerKeys {
    pub(super) fn assemble(
        mut self,
        name: &TrackerName,
        kind: &TrackerKind,
    ) -> Result<TrackerSettings, Problem> {
        let target = (kind.target)(name, &mut self)?;
        if self.token_file.is_some() {
            return Err(refused_token_file(name, &target).into());
        }
        let mut ticket = self.ticket.unwrap_or_default();
        if let Some(known) = kind.ticket_fields
            && let Some(field) = ticket.fields.keys().find(|field| !known.contains(&field.as_str()))
        {
            let (kind, known) = (kind.name, known.join("`, `"));
            let reason = format!(
                "the tickets of `{name}` have no field `{field}`: of the kind `{kind}`, `ticket.fields` knows `{known}`"
            );
            return Err(reason.into());
        }
        ticket.tree = target.tree();
        if ticket.file_url.is_none() {
            // A named branch is wanted in links.
            ticket.web = target.web().filter(|_| !matches!(target, Target::Github { branch: Some(_), .. }));
            ticket.file_url = target.file_url().map_err(|error| error.to_string())?;
        }
        if ticket.template.is_some() && (ticket.sections.is_some() || ticket.intro.is_some()) {
            return Err(format!(
                "the tickets of `{name}` have a `template`, which says all that stands in them: take `intro` and `sections` out"
            )
            .into());
        }
        Ok(TrackerSettings {
            name: name.clone(),
            target,
            artifacts: self.artifacts.map(PathGlobs::new),
            branches: self.branches.map(PathGlobs::new),
            ticket,
            drift: self.drift.unwrap_or_default(),
            duplicates: self.duplicates.unwrap_or_default(),
            prune: self.prune.unwrap_or_default(),
            breaker: self.breaker.unwrap_or_default(),
            retry: self.retry.unwrap_or_default(),
            pace: self.pace.unwrap_or_default().over((kind.pace)()),
            look_up_wait_seconds: self.look_up_wait_seconds.unwrap_or(kind.look_up_wait_seconds),
            prunes_many: false,
            owner: SettingsOwner::Repository,
            run: self.run.unwrap_or_default(),
        })
    }
}

pub(super) fn known_keys(way: &[&str], kind: Option<&TrackerKind>) -> Vec<&'static str> {
    let of_kind = |key: &&str| kind.is_some_and(|kind| kind.keys.contains(key)) || !is_of_some_kind(key);
    match way {
        [] => fields_of::<TrackerKeys>().iter().copied().filter(of_kind).collect(),
        ["ticket"] => fields_of::<TicketSettings>().to_vec(),
        ["breaker"] => fields_of::<BreakerSettings>().to_vec(),
        ["retry"] => fields_of::<RetrySettings>().to_vec(),
        ["run"] => fields_of::<RunSettings>().to_vec(),
        ["pace"] => fields_of::<PaceKeys>().to_vec(),
        ["pace", _] => fields_of::<PaceSettings>().to_vec(),
        _ => Vec::new(),
    }
}

pub(super) fn is_of_some_kind(key: &str) -> bool {
    KINDS.iter().any(|kind| kind.keys.contains(&key))
}

fn refused_token_file(name: &TrackerName, target: &Target) -> String {
    let host = target.base_url().map(BaseUrl::origin).unwrap_or_default();
    format!(
        "the tracker `{name}` names a file of secrets by `token_file`, which only your own configuration may; write into \
         `~/.config/stepmark/config.yaml`: `credentials: {{{host}: {{token_file: PATH}}}}`"
    )
}

fn fields_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &[&str] = &[];
    // Always fails: there is no value.
    let _failed = T::deserialize(Fields(&mut fields));
    fields
}

struct Fields<'f>(&'f mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("it has no value"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
