//! An artifact with its workflow and lifecycle.

use std::sync::{Arc, OnceLock};

use crate::{
    artifact::{Artifact, FrontmatterState, Kind, ProjectPath},
    autodev,
    delegation::{Completion, Member},
    lifecycle::{Choice, LifecycleState, Lifecycles, Move, MoveDecision, MoveFacts, MoveRefusal},
    transition::{Command, DecisionContext, Plan, StepLists, Strictness, TransitionRefusal, decide},
    workflow::{BindingReason, Next, Progress, Step, Track, WorkState, WorkflowDefinition},
};
use stepmark_frontmatter::{KeyPath, KeyPathError, Value};

#[derive(Clone, Debug)]
pub struct TrackedArtifact {
    artifact: Artifact,
    membership: Membership,
    steps: StepLists,
    lifecycles: Arc<Lifecycles>,
    /// Lazy: most commands do not need it.
    lifecycle: OnceLock<Option<Choice>>,
}

#[derive(Clone, Debug)]
pub enum Membership {
    Member {
        workflow: Arc<WorkflowDefinition>,
        evidence: Vec<BindingReason>,
    },
    /// Several fit equally well.
    Ambiguous {
        candidates: Vec<String>,
    },
    Missing {
        name: String,
    },
    None,
}

impl TrackedArtifact {
    pub fn new(artifact: Artifact, membership: Membership, lifecycles: Arc<Lifecycles>) -> Self {
        let track = match &membership {
            Membership::Member { workflow, .. } => workflow.chain.track(),
            _ => Track::Create,
        };
        let steps = match &membership {
            Membership::Member { workflow, .. } if autodev::keeps_state(artifact.path()) => {
                StepLists::passed(autodev::steps_passed(&artifact, &workflow.chain))
            }
            _ => StepLists::read(&artifact, track),
        };
        Self { artifact, membership, steps, lifecycles, lifecycle: OnceLock::new() }
    }

    pub const fn path(&self) -> &ProjectPath {
        self.artifact.path()
    }

    pub const fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    pub const fn state(&self) -> &FrontmatterState {
        self.artifact.state()
    }

    pub const fn steps(&self) -> &StepLists {
        &self.steps
    }

    pub const fn membership(&self) -> &Membership {
        &self.membership
    }

    pub fn workflow(&self) -> Option<&WorkflowDefinition> {
        match &self.membership {
            Membership::Member { workflow, .. } => Some(workflow),
            _ => None,
        }
    }

    pub fn progress(&self) -> Option<Progress<'_>> {
        self.workflow().map(|workflow| workflow.progress(&self.steps.record()))
    }

    pub fn lifecycle(&self) -> Option<&Choice> {
        self.lifecycle.get_or_init(|| self.lifecycles.choose(&self.artifact)).as_ref()
    }

    pub(crate) fn may_have_attributes(&self) -> bool {
        self.lifecycles.judge_changes()
    }

    /// By workflow, or by status: per lifecycle, else per word list.
    pub fn completion(&self) -> Completion {
        let completion = Completion::of(&self.artifact, self.progress().as_ref());
        let by_status = match self.lifecycle().zip(self.lifecycle_state()) {
            Some((choice, state)) => choice.lifecycle.is_terminal(&state.name),
            None => completion.by_status,
        };
        Completion { by_status, ..completion }
    }

    pub fn waits_for_person(&self) -> bool {
        self.lifecycle_state().is_some_and(|state| state.waits_for_person)
    }

    pub fn lifecycle_state(&self) -> Option<&LifecycleState> {
        let status = self.state().status.as_ref()?.filled()?;
        self.lifecycle()?.lifecycle.state_of(status)
    }

    pub fn moves(&self) -> Vec<Move<'_>> {
        let Some((choice, state)) = self.lifecycle().zip(self.lifecycle_state()) else { return Vec::new() };
        choice.lifecycle.moves_from(state, self.remembered().as_deref())
    }

    pub fn next_state(&self) -> Option<&LifecycleState> {
        let rank = self.lifecycle_state()?.rank;
        let further = self.moves().into_iter().filter(|legal| legal.is_return || legal.to.rank > rank);
        further.min_by_key(|legal| (!legal.is_return, legal.to.rank)).map(|nearest| nearest.to)
    }

    /// A step of the workflow, else a move of the lifecycle.
    pub fn has_work_left(&self) -> bool {
        let has_status = || self.state().status.as_ref().is_some_and(|status| status.filled().is_some());
        match self.progress() {
            Some(progress) => progress.next != Next::Finished,
            None => has_status() && self.lifecycle().is_some() && !self.completion().by_status,
        }
    }

    pub fn member(&self) -> Member {
        let member = Member::of(&self.artifact, self.progress().as_ref());
        // Fast path: without an id it is in no chain.
        if member.id().is_none() && member.delegation.is_none() {
            return member;
        }
        Member { completion: self.completion(), ..member }
    }

    /// Gaps and the next step; [`Progress::left`] counts all.
    pub fn open_steps(&self) -> Vec<String> {
        let Some(progress) = self.progress().filter(|progress| progress.state != WorkState::Finished) else {
            return Vec::new();
        };
        let next: Vec<&Step> = match &progress.next {
            Next::Step { step, .. } => vec![*step],
            Next::Choice(steps) => steps.clone(),
            Next::Finished | Next::Unknown(_) => Vec::new(),
        };
        let mut names: Vec<String> = Vec::new();
        for step in progress.gaps.iter().copied().chain(next) {
            if !names.iter().any(|name| name == step.name()) {
                names.push(step.name().to_owned());
            }
        }
        names
    }

    pub fn remembered(&self) -> Option<String> {
        let (choice, state) = self.lifecycle().zip(self.lifecycle_state())?;
        choice.lifecycle.remembered(state, &self.artifact.root_keys()).map(str::to_owned)
    }

    /// Ignores children; `None` without a lifecycle.
    pub fn judge_status(&self, to: &str) -> Option<Result<MoveDecision<'_>, MoveRefusal>> {
        let lifecycle = &self.lifecycle()?.lifecycle;
        let keys = self.artifact.root_keys();
        let open_steps = self.open_steps();
        let facts = MoveFacts {
            before: &keys,
            after: &keys,
            open_steps: &open_steps,
            open_children: &[],
            elsewhere: &|guard| guard.unmet_in(&self.artifact.state_value().unwrap_or_default()),
        };
        let status = self.state().status.as_ref().and_then(|status| status.filled());
        Some(lifecycle.judge_move(status, to, &facts))
    }

    pub fn decide(&self, command: &Command, strictness: Strictness) -> Result<Plan, TransitionRefusal> {
        if matches!(command, Command::Transition { .. })
            && !self.artifact.has_state_region()
            && self.waits_for_import()
        {
            return Err(TransitionRefusal::NotImported);
        }
        if matches!(command, Command::Complete { .. } | Command::Reopen { .. })
            && let Some(instead) = self.state().kind.and_then(Kind::mover)
        {
            return Err(TransitionRefusal::StepsFollow { instead });
        }
        // Only these need it.
        let lifecycle = match command {
            Command::Transition { .. } | Command::Set { .. } | Command::Move(_) => self.lifecycle(),
            _ => None,
        };
        if let Some(choice) = lifecycle
            && let Some((own, rival)) = choice.kind.as_ref().zip(choice.rival.as_ref())
        {
            let packs = [own, rival].map(|kind| kind.system.clone());
            return Err(MoveRefusal::Claimed { packs }.into());
        }
        let lifecycle = lifecycle.map(|choice| &*choice.lifecycle);
        decide(&self.artifact, &DecisionContext { workflow: self.workflow(), lifecycle, strictness }, command)
    }

    /// In any spelling; unknown or out-of-order steps only give a remark.
    pub fn complete(&self, step: &str) -> Result<Plan, TransitionRefusal> {
        self.decide(&Command::Complete { steps: vec![step.to_owned()] }, Strictness::Warn)
    }

    pub fn reopen(&self, step: &str) -> Result<Plan, TransitionRefusal> {
        self.decide(&Command::Reopen { steps: vec![step.to_owned()] }, Strictness::Warn)
    }

    pub fn transition(&self, to: &str) -> Result<Plan, TransitionRefusal> {
        self.decide(&Command::Transition { to: to.to_owned() }, Strictness::Warn)
    }

    pub fn set<P>(&self, path: P, value: impl Into<Value>) -> Result<Plan, TransitionRefusal>
    where
        P: TryInto<KeyPath, Error: Into<KeyPathError>>,
    {
        let path = path.try_into().map_err(Into::into)?;
        self.decide(&Command::Set { assignments: vec![(path, value.into())] }, Strictness::Warn)
    }
}
