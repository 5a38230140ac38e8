//! One tracker of the configuration.

use std::collections::BTreeMap;

use serde::{Deserialize, de::IgnoredAny};
use stepmark_model::artifact::{PathGlob, PathGlobs, ProjectPath};

use super::{BaseUrl, Drift, Duplicates, Prune, Repository, Target, TargetKind};
use crate::{
    TrackerName,
    breaker::BreakerSettings,
    pace::{PaceSettings, ScopedPace},
    retry::RetrySettings,
    run_settings::RunSettings,
    ticket::TicketSettings,
};

/// What the configuration says about one tracker.
#[derive(Clone, Debug)]
pub struct TrackerSettings {
    /// Its name.
    pub name: TrackerName,
    /// Where it keeps tickets.
    pub target: Target,
    /// The artifacts that have tickets there; `None`: all.
    pub artifacts: Option<PathGlobs>,
    /// What tickets say.
    pub ticket: TicketSettings,
    /// What happens to what people changed.
    pub drift: Drift,
    /// What happens to other tickets with the marker of an artifact that has one.
    pub duplicates: Duplicates,
    /// What happens to tickets whose artifact is gone.
    pub prune: Prune,
    /// When it is left alone.
    pub breaker: BreakerSettings,
    /// How often a delivery is tried.
    pub retry: RetrySettings,
    /// How fast it is asked.
    pub pace: ScopedPace,
    /// After how many seconds a ticket that is not listed is certainly not there: as long as a request may be under way, and the
    /// tracker's own list may lag behind. Unless given, 90 on GitHub, 120 on Jira, 0 for a file.
    pub look_up_wait_seconds: u32,
    /// Whether any number of tickets may be pruned at once: said for one run, and no key of the configuration.
    pub prunes_many: bool,
    /// Whose words these are.
    pub owner: SettingsOwner,
    /// How the background process works.
    pub run: RunSettings,
}

/// Whose words the settings of a tracker are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsOwner {
    /// They come with a repository, and may be a stranger's.
    Repository,
    /// They stand in the user's own configuration.
    User,
}

impl TrackerSettings {
    /// Whether the artifact at `path` has a ticket there.
    pub fn concerns(&self, path: &ProjectPath) -> bool {
        self.artifacts.as_ref().is_none_or(|globs| globs.matches(path))
    }

    /// [`Self::look_up_wait_seconds`] in milliseconds.
    pub fn look_up_wait_ms(&self) -> u64 {
        u64::from(self.look_up_wait_seconds) * 1000
    }
}

/// The keys of one tracker as they are written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "a mapping with keys such as `kind` and `repository`")]
pub(super) struct TrackerKeys {
    kind: Option<TargetKind>,
    base_url: Option<BaseUrl>,
    repository: Option<Repository>,
    branch: Option<String>,
    project: Option<String>,
    issue_type: Option<String>,
    epic_issue_type: Option<String>,
    story_issue_type: Option<String>,
    child_issue_type: Option<String>,
    email: Option<String>,
    statuses: Option<BTreeMap<String, String>>,
    path: Option<ProjectPath>,
    artifacts: Option<Vec<PathGlob>>,
    ticket: Option<TicketSettings>,
    drift: Option<Drift>,
    duplicates: Option<Duplicates>,
    prune: Option<Prune>,
    breaker: Option<BreakerSettings>,
    retry: Option<RetrySettings>,
    pace: Option<PaceKeys>,
    look_up_wait_seconds: Option<u32>,
    token_file: Option<IgnoredAny>,
    run: Option<RunSettings>,
}

/// The fields of `ticket.fields` that an issue of GitHub has.
const GITHUB_FIELDS: [&str; 3] = ["milestone", "assignees", "type"];

/// `pace:`. What is not named is what the kind of tracker is known for.
#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "a mapping with `credential`, `endpoint` and `ticket`")]
struct PaceKeys {
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
    /// The tracker called `name`; its kind may be left out where it is called like one.
    pub(super) fn assemble(self, name: TrackerName) -> Result<TrackerSettings, String> {
        self.refuse_foreign_keys(&name)?;
        let kind = self.kind_of(&name)?;
        let needs = |key: &str| format!("the tracker `{name}` needs the key `{key}`");
        let target = match kind {
            TargetKind::Github => Target::Github {
                base_url: match self.base_url {
                    Some(url) => url,
                    None => {
                        "https://api.github.com".parse().map_err(|error: super::BaseUrlError| error.reason)?
                    }
                },
                repository: self.repository.ok_or_else(|| needs("repository"))?,
            },
            TargetKind::Jira => Target::Jira {
                base_url: self.base_url.ok_or_else(|| needs("base_url"))?,
                project: self.project.filter(|key| is_project_key(key)).ok_or_else(|| needs("project"))?,
                issue_type: self.issue_type.unwrap_or_else(|| "Task".to_owned()),
                epic_issue_type: self.epic_issue_type,
                story_issue_type: self.story_issue_type,
                child_issue_type: self.child_issue_type,
                email: self.email,
                statuses: self.statuses.unwrap_or_default(),
            },
            TargetKind::File => Target::File { path: self.path.ok_or_else(|| needs("path"))? },
            TargetKind::Dry => Target::Dry,
        };
        if self.token_file.is_some() {
            return Err(refused_token_file(&name, &target));
        }
        let mut ticket = self.ticket.unwrap_or_default();
        let is_unknown =
            |field: &&String| kind == TargetKind::Github && !GITHUB_FIELDS.contains(&field.as_str());
        if let Some(field) = ticket.fields.keys().find(is_unknown) {
            let known = GITHUB_FIELDS.join("`, `");
            return Err(format!(
                "the tickets of `{name}` have no field `{field}`: on GitHub `ticket.fields` knows `{known}`"
            ));
        }
        if ticket.file_url.is_none() {
            // Who names a branch wants links to that.
            ticket.web = target.web().filter(|_| self.branch.is_none());
            ticket.file_url = target.file_url(self.branch.as_deref()).map_err(|error| error.to_string())?;
        }
        if ticket.template.is_some() && (ticket.sections.is_some() || ticket.intro.is_some()) {
            return Err(format!(
                "the tickets of `{name}` have a `template`, which says all that stands in them: take `intro` and `sections` out"
            ));
        }
        let pace = match kind {
            TargetKind::Github => ScopedPace::github(),
            TargetKind::Jira => ScopedPace::jira(),
            TargetKind::File | TargetKind::Dry => ScopedPace::default(),
        };
        let look_up_wait_seconds = match kind {
            // Longer than a request may take.
            TargetKind::Github => 90,
            TargetKind::Jira => 120,
            TargetKind::File | TargetKind::Dry => 0,
        };
        Ok(TrackerSettings {
            name,
            target,
            artifacts: self.artifacts.map(PathGlobs::new),
            ticket,
            drift: self.drift.unwrap_or_default(),
            duplicates: self.duplicates.unwrap_or_default(),
            prune: self.prune.unwrap_or_default(),
            breaker: self.breaker.unwrap_or_default(),
            retry: self.retry.unwrap_or_default(),
            pace: self.pace.unwrap_or_default().over(pace),
            look_up_wait_seconds: self.look_up_wait_seconds.unwrap_or(look_up_wait_seconds),
            prunes_many: false,
            owner: SettingsOwner::Repository,
            run: self.run.unwrap_or_default(),
        })
    }

    fn kind_of(&self, name: &TrackerName) -> Result<TargetKind, String> {
        let named = || name.as_str().parse().ok();
        self.kind.or_else(named).ok_or_else(|| {
            format!("the tracker `{name}` needs the key `kind`: `github`, `jira`, `file` or `dry`")
        })
    }

    /// A key of another kind of tracker would have no effect, and whoever wrote it believes that it has one.
    fn refuse_foreign_keys(&self, name: &TrackerName) -> Result<(), String> {
        use TargetKind::{File, Github, Jira};
        let kind = self.kind_of(name)?;
        let keys: [(&str, bool, &[TargetKind]); 12] = [
            ("base_url", self.base_url.is_some(), &[Github, Jira]),
            ("repository", self.repository.is_some(), &[Github]),
            ("branch", self.branch.is_some(), &[Github]),
            ("project", self.project.is_some(), &[Jira]),
            ("issue_type", self.issue_type.is_some(), &[Jira]),
            ("epic_issue_type", self.epic_issue_type.is_some(), &[Jira]),
            ("story_issue_type", self.story_issue_type.is_some(), &[Jira]),
            ("child_issue_type", self.child_issue_type.is_some(), &[Jira]),
            ("email", self.email.is_some(), &[Jira]),
            ("statuses", self.statuses.is_some(), &[Jira]),
            ("path", self.path.is_some(), &[File]),
            ("token_file", self.token_file.is_some(), &[Github, Jira]),
        ];
        match keys.iter().find(|(_, is_given, kinds)| *is_given && !kinds.contains(&kind)) {
            Some((key, ..)) => Err(format!("the tracker `{name}` is of a kind that has no key `{key}`")),
            None => Ok(()),
        }
    }
}

/// A repository could name any file of the person who works in it, and the host that it is sent to.
fn refused_token_file(name: &TrackerName, target: &Target) -> String {
    let host = target.base_url().map(BaseUrl::origin).unwrap_or_default();
    format!(
        "the tracker `{name}` names a file of secrets by `token_file`, which only your own configuration may; write into \
         `~/.config/stepmark/config.yaml`: `credentials: {{{host}: {{token_file: PATH}}}}`"
    )
}

/// The key of a Jira project, as Jira makes them by default.
fn is_project_key(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_uppercase())
        && key.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}
