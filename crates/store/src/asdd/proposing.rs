//! Atomic updates: an agent begins and proposes; the custodian commits or refuses.

use super::changing::no_proposal;
use crate::{Error, records::no_record};
use serde_json::{Map, Value as Json};

use super::{
    Asdd, AsddFiles,
    changing::{Reading, draft},
};
use crate::changes::RecordDecision;
use crate::records::{ChangedRecords as _, RecordSystem as _};
use stepmark_model::{
    artifact::FileHash,
    asdd::{
        AsddRefusal, Confidence, Failure, Proposal, ProposedFile, Record, SliceFacts, SliceKind, Verdict,
        commit, drifted, inconsistencies, plain_name, settle, slice_move,
    },
    journal::{ArtifactKey, Event, EventDraft, Kind},
};

#[derive(Clone, Debug)]
pub struct Begun {
    pub slice: Record,
    pub base: FileHash,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// `status` is the next phase.
    pub set: Map<String, Json>,
    /// Keys of `phase_data`, each with the path of the agent's file.
    pub files: Vec<(String, String)>,
    pub confidence: Option<Confidence>,
    pub trace: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Proposed {
    pub proposal: Proposal,
    pub slice: Record,
    pub files: AsddFiles,
}

impl Asdd<'_> {
    pub fn begin(&self, id: &str, agent: &str) -> Result<Begun, Error> {
        let state = self.state_to_change()?;
        let slice = slice_of(&state, id)?;
        self.refuse_unusable(SliceKind::Slice, id)?;
        let facts = self.files_of(slice, []);
        let found = inconsistencies(slice, &facts);
        if !found.is_empty() {
            return Err(AsddRefusal::Inconsistent { slice: id.to_owned(), found }.into());
        }
        let paths: Vec<String> = drifted(slice, &state, &facts).into_iter().map(str::to_owned).collect();
        if !paths.is_empty() {
            return Err(AsddRefusal::Drift { slice: id.to_owned(), paths }.into());
        }
        self.refuse_drift(id)?;
        let base = slice.base();
        self.keep_reading(&Reading { slice: id.to_owned(), agent: plain_name(agent), base })?;
        self.beat(agent, Some("ACTIVE"), Some(id), &[])?;
        let slice = slice.clone();
        Ok(Begun { slice, base })
    }

    /// Validates the proposal, and commits it if the slice is `AUTO`; otherwise it waits for the custodian. A
    /// confidence below the threshold blocks the slice.
    pub fn propose(&self, id: &str, slice_id: &str, agent: &str, wanted: Draft) -> Result<Proposed, Error> {
        let reading = self.reading(slice_id, agent)?;
        let state = self.state_to_change()?;
        let slice = slice_of(&state, slice_id)?;
        let proposal = self.proposal(id, agent, &reading, wanted)?;
        self.keep(&proposal)?;
        self.rest(agent)?;
        if let Some(failure) = self.failure(&proposal) {
            let (slice, files) = match self.fail(slice_id, &failure) {
                // Another process was faster, and the slice is blocked: the proposal must not wait.
                Err(error) => return Err(self.refused(proposal, error.into_detail()?)?.into()),
                Ok(failed) => failed,
            };
            let proposal = self.decided(proposal, Verdict::Failed, Some(failure.reason(&self.rules())))?;
            return Ok(Proposed { proposal, slice, files });
        }
        if let Err(refusal) = self.validate(slice, &proposal, &state) {
            return Err(self.refused(proposal, refusal)?.into());
        }
        let others = self.pending(slice_id, proposal.base)?.len() > 1;
        if slice.is_manual() || slice.status() == "LOCK" {
            let made = slice_move("lock").with("requester", plain_name(agent));
            let (slice, files) = match others && slice.status() != "LOCK" {
                true => match self.change(slice_id, "asdd-lock", &made) {
                    Err(error) if matches!(error.detail(), Some(AsddRefusal::Status { .. })) => {
                        (slice_of(&self.state()?, slice_id)?.clone(), self.follow())
                    }
                    made => made?,
                },
                false => (slice.clone(), self.follow()),
            };
            return Ok(Proposed { proposal, slice, files });
        }
        match self.commit_proposal(proposal.clone()) {
            // The agent has been told of the failure, so nobody may commit it later.
            Err(error) if self.waiting(id).is_ok() => {
                Err(self.refused(proposal, error.into_detail()?)?.into())
            }
            done => done,
        }
    }

    /// For a locked slice, commits all waiting proposals, joined by the steering rules.
    pub fn commit(&self, id: &str) -> Result<Proposed, Error> {
        self.want_role("committing a proposal", "custodian")?;
        self.commit_proposal(self.waiting(id)?)
    }

    fn commit_proposal(&self, proposal: Proposal) -> Result<Proposed, Error> {
        let (id, rules, now) = (proposal.slice_id.clone(), self.rules(), self.now());
        self.refuse_drift(&id)?;
        let state = self.state_to_change()?;
        let together = match slice_of(&state, &id)?.status() {
            "LOCK" => self.pending(&id, proposal.base)?,
            _ => Vec::new(),
        };
        let all = if together.is_empty() { vec![proposal.clone()] } else { together.clone() };
        let ids: Vec<&str> = all.iter().map(|own| own.proposal_id.as_str()).collect();
        let draft = draft("asdd-commit", "asdd commit").with("proposals", ids);
        let made = self.change_slice(&id, draft, |slice| {
            let facts = self.facts_of(slice, &all);
            // Deciding on a proposal requires the lock of its slice.
            if all.iter().any(|own| self.waiting(&own.proposal_id).is_err()) {
                return Err(AsddRefusal::Decided { proposal: proposal.proposal_id.clone() });
            }
            match together.is_empty() {
                true => commit(slice, &proposal, (&state, &facts, &rules), &now),
                false => settle(slice, &together, (&state, &facts, &rules), &now),
            }
        });
        let (slice, files) = match made {
            // A process that died after its commit did not record the verdict.
            Err(error)
                if matches!(error.detail(), Some(AsddRefusal::Outdated { .. }))
                    && self.tells_commit(&proposal)? =>
            {
                (slice_of(&self.state()?, &id)?.clone(), self.follow())
            }
            Err(error) if error.detail().is_none_or(AsddRefusal::is_passing) => return Err(error),
            Err(error) => {
                // Proposals that could not be committed alone are refused.
                let state = self.state_to_change()?;
                for own in all {
                    if let Err(fault) = self.validate(slice_of(&state, &id)?, &own, &state)
                        && !fault.is_passing()
                    {
                        self.refused(own, fault)?;
                    }
                }
                return Err(error);
            }
            Ok(made) => made,
        };
        for own in all {
            self.decided(own, Verdict::Committed, None)?;
        }
        let proposal = Proposal { verdict: Verdict::Committed, ..proposal };
        Ok(Proposed { proposal, slice, files })
    }

    /// The slice stays as it is. With `restores`, the proposal's files are restored from git as the slice
    /// last accepted them. Returns those that could not be restored.
    pub fn reject(&self, id: &str, reason: &str, restores: bool) -> Result<(Proposed, Vec<String>), Error> {
        self.want_role("refusing a proposal", "custodian")?;
        let proposal = self.waiting(id)?;
        let state = self.state_to_change()?;
        let slice = slice_of(&state, &proposal.slice_id)?.clone();
        let mut left = Vec::new();
        for file in proposal.artifacts.iter().filter(|_| restores) {
            left.extend(match self.hash(&file.path) == Some(file.file_hash) {
                true => self.restore_accepted(&file.path, slice.accepted(&file.path))?,
                false => Some(format!("`{}` was changed since it was proposed", file.path)),
            });
        }
        let proposal = self.decide_rejected(proposal, reason)?;
        let event = EventDraft::new(Kind::of("asdd-reject"))
            .with_command("asdd reject")
            .with_reason(Some(reason.to_owned()))
            .with("proposal", id)
            .with("slice", slice.id.as_str());
        self.workspace.history().append_event(event).map_err(Error::in_system)?;
        let is_settled = slice.status() == "LOCK" && self.pending(&slice.id, proposal.base)?.len() < 2;
        let (slice, files) = match is_settled {
            true => self.change(&slice.id.clone(), "asdd-unlock", &slice_move("unlock"))?,
            false => (slice, self.follow()),
        };
        Ok((Proposed { proposal, slice, files }, left))
    }

    fn tells_commit(&self, proposal: &Proposal) -> Result<bool, Error> {
        let path = self.path_of(SliceKind::Slice, &proposal.slice_id)?;
        let key = ArtifactKey::of_id(&proposal.slice_id);
        let lineage =
            self.workspace.history().ask(|history| history.lineage(&key, &path)).map_err(Error::in_system)?;
        let names = |event: &Event| {
            let named = event.data.get("proposals").and_then(Json::as_array);
            named.is_some_and(|named| named.iter().any(|id| *id == proposal.proposal_id.as_str()))
        };
        Ok(lineage.events().iter().any(names))
    }

    /// Holds the slice's lock, so that nobody commits the proposal meanwhile.
    fn decide_rejected(&self, proposal: Proposal, reason: &str) -> Result<Proposal, Error> {
        let path = self.path_of(SliceKind::Slice, &proposal.slice_id)?;
        let mut rejected = None;
        self.attempt(&[path], draft("asdd-reject", "asdd reject"), |_| {
            if rejected.is_none() {
                let waiting = self.waiting(&proposal.proposal_id)?;
                rejected = Some(self.decided(waiting, Verdict::Rejected, Some(reason.to_owned()))?);
            }
            Ok(((), vec![RecordDecision::Keep]))
        })?;
        rejected.ok_or(no_proposal(&proposal.proposal_id))
    }

    /// Waiting for a tech lead or for others is not an error.
    fn validate(
        &self,
        slice: &Record,
        proposal: &Proposal,
        state: &stepmark_model::asdd::State,
    ) -> Result<(), AsddRefusal> {
        let facts = self.facts_of(slice, std::slice::from_ref(proposal));
        let context = (state, &facts, &self.rules());
        let made = match slice.status() {
            "LOCK" => settle(slice, std::slice::from_ref(proposal), context, &self.now()),
            _ => commit(slice, proposal, context, &self.now()),
        };
        match made {
            Ok(_) | Err(AsddRefusal::NotApproved { .. }) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }

    /// One that only waits for somebody stays as it is.
    fn refused(&self, proposal: Proposal, refusal: AsddRefusal) -> Result<AsddRefusal, Error> {
        let verdict = match refusal {
            AsddRefusal::Outdated { .. } => Verdict::Outdated,
            AsddRefusal::NotApproved { .. } | AsddRefusal::Conflict { .. } => return Ok(refusal),
            _ => Verdict::Rejected,
        };
        self.decided(proposal, verdict, Some(refusal.to_string()))?;
        Ok(refusal)
    }

    fn proposal(&self, id: &str, agent: &str, reading: &Reading, wanted: Draft) -> Result<Proposal, Error> {
        let file = |(phase, path): (String, String)| {
            let file_hash = self.hash_of_work(&path)?;
            Ok::<_, AsddRefusal>(ProposedFile { phase, path, file_hash })
        };
        wanted.trace.as_deref().map(|trace| self.hash_of_work(trace)).transpose()?;
        Ok(Proposal {
            proposal_id: id.to_owned(),
            slice_id: reading.slice.clone(),
            agent: plain_name(agent),
            base: reading.base,
            created_at: self.now(),
            set: wanted.set,
            artifacts: wanted.files.into_iter().map(file).collect::<Result<_, _>>()?,
            confidence: wanted.confidence,
            trace: wanted.trace,
            verdict: Verdict::Pending,
            reason: None,
        })
    }

    fn failure(&self, proposal: &Proposal) -> Option<Failure> {
        let Confidence { score, uncertainty_factors } = proposal.confidence.clone()?;
        let failure = Failure { agent: proposal.agent.clone(), score, uncertainty_factors };
        let is_told = !failure.uncertainty_factors.is_empty() && (0.0..=1.0).contains(&score);
        (is_told && failure.is_below(&self.rules())).then_some(failure)
    }

    fn facts_of(&self, slice: &Record, proposals: &[Proposal]) -> SliceFacts {
        let named = proposals
            .iter()
            .flat_map(|own| own.artifacts.iter().map(|file| file.path.clone()).chain(own.trace.clone()));
        self.files_of(slice, named)
    }

    fn refuse_drift(&self, id: &str) -> Result<(), Error> {
        match self.drift()?.iter().any(|own| own == id) {
            true => Err(AsddRefusal::ManifestDrift { slice: id.to_owned() }.into()),
            false => Ok(()),
        }
    }
}

pub(super) fn slice_of<'s>(state: &'s stepmark_model::asdd::State, id: &str) -> Result<&'s Record, Error> {
    state.slice(id).ok_or_else(|| no_record("slice", id))
}
