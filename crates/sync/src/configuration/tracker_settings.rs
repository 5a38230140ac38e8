//! One tracker of the configuration.

use std::time::Duration;

use serde::Deserialize;
use stepmark_model::artifact::{PathGlob, PathGlobs, ProjectPath};

use super::{
    BaseUrl, Drift, Duplicates, Prune, RunSettings, Target,
    kind::TrackerKind,
    own_keys::{KeyError, OwnKeys, fields_of},
};
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
    /// The artifacts that have tickets there; `None`: all.
    pub artifacts: Option<PathGlobs>,
    /// The branches whose state tickets follow, beside the default branch.
    pub branches: Option<PathGlobs>,
    pub ticket: TicketSettings,
    pub drift: Drift,
    /// The treatment of other tickets with the marker of an artifact that has one.
    pub duplicates: Duplicates,
    pub prune: Prune,
    /// The settings for when it is left alone.
    pub breaker: BreakerSettings,
    pub retry: RetrySettings,
    pub pace: ScopedPace,
    /// After how many seconds a ticket that is not listed is certainly not there: as long as a request may be
    /// under way, and the tracker's own list may lag behind. Unless given, 90 on GitHub, 120 on Jira, 0 for a
    /// file.
    pub look_up_wait_seconds: u32,
    /// True where any number of tickets may be pruned at once: said for one run, and no key of the
    /// configuration.
    pub prunes_many: bool,
    pub owner: SettingsOwner,
    pub run: RunSettings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsOwner {
    /// They come with a repository, and may be a stranger's.
    Repository,
    /// They stand in the user's own configuration.
    User,
}

impl TrackerSettings {
    /// Returns whether the artifact at `path` has a ticket there.
    pub fn concerns(&self, path: &ProjectPath) -> bool {
        self.artifacts.as_ref().is_none_or(|globs| globs.matches(path))
    }

    /// Returns how long lies between two writes at least.
    pub fn write_interval(&self) -> Duration {
        Duration::from_millis(self.pace.credential.write_interval_ms.into())
    }

    /// [`Self::look_up_wait_seconds`] in milliseconds.
    pub fn look_up_wait_ms(&self) -> u64 {
        u64::from(self.look_up_wait_seconds) * 1000
    }
}

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
}

/// `pace:`. What is not named is what the kind of tracker is known for.
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
        self,
        name: &TrackerName,
        kind: TrackerKind,
        own: &OwnKeys<'_>,
    ) -> Result<TrackerSettings, KeyError> {
        let refused = |reason: String| KeyError::Invalid { position: None, reason };
        let target = kind.target(own)?;
        if own.names.contains(&"token_file") {
            return Err(refused(refused_token_file(name, &target)));
        }
        let mut ticket = self.ticket.unwrap_or_default();
        if let Some(known) = kind.ticket_fields()
            && let Some(field) = ticket.fields.keys().find(|field| !known.contains(&field.as_str()))
        {
            let (kind, known) = (kind.name(), known.join("`, `"));
            let reason = format!(
                "the tickets of `{name}` have no field `{field}`: of the kind `{kind}`, `ticket.fields` knows `{known}`"
            );
            return Err(refused(reason));
        }
        ticket.tree = target.tree();
        if ticket.file_url.is_none() {
            // Who names a branch wants links to that.
            ticket.web = target.web().filter(|_| !matches!(target, Target::Github { branch: Some(_), .. }));
            ticket.file_url = target.file_url().map_err(|error| refused(error.to_string()))?;
        }
        if ticket.template.is_some() && (ticket.sections.is_some() || ticket.intro.is_some()) {
            return Err(refused(format!(
                "the tickets of `{name}` have a `template`, which says all that stands in them: take `intro` and `sections` out"
            )));
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
            pace: self.pace.unwrap_or_default().over(kind.pace()),
            look_up_wait_seconds: self.look_up_wait_seconds.unwrap_or_else(|| kind.look_up_wait_seconds()),
            prunes_many: false,
            owner: SettingsOwner::Repository,
            run: self.run.unwrap_or_default(),
        })
    }
}

pub(super) fn known_keys(way: &[&str], kind: Option<TrackerKind>) -> Vec<&'static str> {
    match way {
        [] => {
            let own = kind.into_iter().flat_map(TrackerKind::keys).copied();
            own.chain(fields_of::<TrackerKeys>().iter().copied()).collect()
        }
        ["ticket"] => fields_of::<TicketSettings>().to_vec(),
        ["breaker"] => fields_of::<BreakerSettings>().to_vec(),
        ["retry"] => fields_of::<RetrySettings>().to_vec(),
        ["run"] => fields_of::<RunSettings>().to_vec(),
        ["pace"] => fields_of::<PaceKeys>().to_vec(),
        ["pace", _] => fields_of::<PaceSettings>().to_vec(),
        _ => Vec::new(),
    }
}

fn refused_token_file(name: &TrackerName, target: &Target) -> String {
    let host = target.base_url().map(BaseUrl::origin).unwrap_or_default();
    format!(
        "the tracker `{name}` names a file of secrets by `token_file`, which only your own configuration may; write into \
         `~/.config/stepmark/config.yaml`: `credentials: {{{host}: {{token_file: PATH}}}}`"
    )
}
