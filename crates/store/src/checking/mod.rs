//! Checks artifacts on the disk; gathers the facts that the rules need.

pub(crate) mod cache;
#[cfg(feature = "history")]
pub(crate) mod changed_files;
pub(crate) mod check_report;
pub(crate) mod checked_before;
pub(crate) mod kept_chains;
pub(crate) mod kept_digests;
#[cfg(feature = "history")]
mod journal_account;
pub(crate) mod listed_artifact;
#[cfg(feature = "write")]
mod lost_in_merges;
#[cfg(feature = "write")]
pub(crate) mod peers;
pub(crate) mod manifest_rows;
pub(crate) mod summaries;

pub use cache::Brief;
pub use check_report::{CheckReport, CheckedFile, Known, LeftOut};
pub use checked_before::CheckedBefore;
pub use kept_digests::KeptDigests;
pub use listed_artifact::ListedArtifact;
pub use summaries::{Summaries, SummaryRow};

use std::{collections::HashMap, io};

use crate::workspace::Workspace;
use crate::{Error, disk::own_file};
use crate::{bmad::sprint::StoryLedgers, checking::cache::Answers, checking::check_report::CheckingRun};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::ProjectPath,
    artifact::READ_LIMIT,
    check::{self, Allowance, Baseline, Finding, Judged, Policy, Rule, Subject},
    delegation::{Chains, Member},
};

pub const BASELINE_PATH: &str = ".stepmark/baseline.json";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    All,
    Some,
}

#[derive(Clone, Copy, Debug)]
pub struct Checks<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    pub const fn checks(&self) -> Checks<'_> {
        Checks { workspace: self }
    }

    pub fn check<'t>(
        &self,
        artifacts: &'t [TrackedArtifact],
        selection: Selection,
        known: Known,
    ) -> Result<CheckReport<'t>, Error> {
        let answers = Answers::new(self);
        let mut run = CheckingRun::begin(self, known)?;
        let chains = self.chains_of(artifacts, selection)?;
        run.judge(artifacts, chains.as_ref(), &answers, |_| None, |_, _, _, _| {})?;
        let workflows = artifacts.iter().filter_map(TrackedArtifact::workflow);
        #[cfg(feature = "write")]
        if selection == Selection::All {
            run.scan_files_of_records(&answers);
        }
        let stories = (selection == Selection::All)
            .then(|| StoryLedgers::stories(artifacts.iter().map(TrackedArtifact::path)));
        run.scan_other_files(workflows, answers.into_ledgers(), stories.as_deref());
        Ok(run.finish(selection))
    }

    pub(crate) fn by_policy(&self, subject: &Subject<'_>, findings: Vec<Finding>) -> Judged {
        self.policy_at(subject.artifact.path(), |policy| policy.judge(subject, findings))
    }

    pub(crate) fn policy_at(&self, path: &ProjectPath, judge: impl FnOnce(&Policy<'_>) -> Judged) -> Judged {
        let configuration = self.configuration();
        let all = configuration.check.allow.iter().enumerate();
        let concerning = all.filter(|(_, allowance)| allowance.paths.matches(path));
        let (places, allowed): (Vec<usize>, Vec<&Allowance>) =
            concerning.map(|(at, allowance)| (at, &allowance.allowance)).unzip();
        let mut judged = judge(&Policy { levels: &configuration.check.rules, allowed: &allowed });
        let in_configuration =
            |own: &mut Vec<(usize, &'static Rule)>| own.iter_mut().for_each(|(at, _)| *at = places[*at]);
        in_configuration(&mut judged.used);
        in_configuration(&mut judged.undecided);
        judged
    }

    /// An unreadable baseline has the digest of a missing one.
    pub(crate) fn baseline_digest(&self) -> String {
        self.baseline_bytes()
            .map_or_else(|_| String::new(), |bytes| check_report::digest_of_baseline(bytes.as_deref()))
    }

    pub(crate) fn baseline_bytes(&self) -> Result<Option<Vec<u8>>, Error> {
        match own_file::read(self.root().path(), BASELINE_PATH.as_ref(), READ_LIMIT) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(format!("cannot read the baseline `{BASELINE_PATH}`"), error)),
        }
    }

    /// Reads all artifacts, so it does so only if a checked artifact takes part in a chain, or has an id,
    /// which others may have, too.
    pub(crate) fn chains_of(
        &self,
        artifacts: &[TrackedArtifact],
        selection: Selection,
    ) -> Result<Option<Chains>, Error> {
        if selection == Selection::All {
            return Ok(Some(Chains::of(artifacts.iter().map(TrackedArtifact::member))));
        }
        if !artifacts.iter().any(|one| one.state().delegation.is_some() || one.member().id().is_some()) {
            return Ok(None);
        }
        let all = self.checks().summaries()?;
        let given: HashMap<&ProjectPath, &TrackedArtifact> =
            artifacts.iter().map(|artifact| (artifact.path(), artifact)).collect();
        // Freshly read artifacts have current positions.
        let own = |member: Member| given.get(&member.path).map_or(member, |artifact| artifact.member());
        Ok(Some(Chains::of(all.members().into_iter().map(own))))
    }
}

pub(crate) fn read_baseline(bytes: &[u8]) -> Result<Baseline, Error> {
    Baseline::read(bytes)
        .map_err(|source| Error::io(format!("cannot use the baseline `{BASELINE_PATH}`"), source))
}

impl Checks<'_> {
    /// Skips rules that need other files, and the baseline. For a glance; [`Workspace::check`] applies all.
    pub fn own_findings(&self, artifact: &TrackedArtifact) -> Vec<Finding> {
        let subject = Subject::of(artifact);
        self.workspace.by_policy(&subject, check::findings(&subject)).findings
    }

    pub fn artifacts_that_name(&self, path: &ProjectPath) -> Result<Vec<ProjectPath>, Error> {
        let names = |found: &TrackedArtifact| {
            let mut documents = found.artifact().state().input_documents.iter();
            documents.any(|document| document.candidates(found.path()).contains(path))
        };
        let found = self.workspace.artifacts()?.artifacts;
        Ok(found.into_iter().filter(names).map(|found| found.path().clone()).collect())
    }

    /// Empty if there is no baseline.
    pub fn baseline(&self) -> Result<Baseline, Error> {
        match self.workspace.baseline_bytes()? {
            Some(bytes) => read_baseline(&bytes),
            None => Ok(Baseline::default()),
        }
    }
}
