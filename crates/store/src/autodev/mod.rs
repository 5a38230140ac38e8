//! autodev in a project: its flows, the state that the project's files indicate, and its state file.

mod files;
#[cfg(feature = "write")]
mod changing;
#[cfg(feature = "write")]
mod adopting;

use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    autodev::{
        AutodevFacts, AutodevRefusal, Detection, Flow, FlowError, FlowStep, Flows, Position, PositionError,
        SkillState, StepPlace, detect, detect_flow, fault, read_flow_file,
    },
    tracked_artifact::{Membership, TrackedArtifact},
};

use self::files::FilesOnDisk;
use crate::workspace::Workspace;
use crate::{Error, ErrorKind, configuration::AutodevSettings};

#[cfg(feature = "write")]
pub use adopting::Adoption;
#[cfg(feature = "write")]
pub use changing::{Correction, Moved, not_begun};

#[derive(Clone, Copy, Debug)]
pub struct Autodev<'w> {
    pub(crate) workspace: &'w Workspace,
    pub(crate) settings: &'w AutodevSettings,
}

#[derive(Clone, Debug)]
pub struct AutodevStatus {
    pub file: ProjectPath,
    pub noted: Option<Result<Position, PositionError>>,
    pub flow: Flow,
    /// Compares the position with the files; if it cannot be read, from the files alone.
    pub detection: Detection,
    /// For each step of the flow: due, done, or unknown to the files.
    pub due: Vec<Option<bool>>,
    pub other_phase: Option<SkillState>,
    pub fault: Option<AutodevRefusal>,
}

impl Workspace {
    /// `None` without the key `autodev`.
    pub fn autodev(&self) -> Option<Autodev<'_>> {
        self.configuration().autodev.as_ref().map(|settings| Autodev { workspace: self, settings })
    }

    /// The workflow of autodev's state file is the flow that it names.
    pub(crate) fn autodev_membership(
        &self,
        artifact: &stepmark_model::artifact::Artifact,
    ) -> Option<Membership> {
        let autodev = self.autodev().filter(|autodev| autodev.settings.file == *artifact.path())?;
        let position = Position::of(artifact).ok()?;
        let flow = position.flow(&autodev.flows().ok()?).ok()?.to_workflow();
        Some(Membership::Member {
            workflow: flow.into(),
            evidence: vec![stepmark_model::workflow::BindingReason::Configured],
        })
    }
}

fn unusable(source: FlowError) -> Error {
    Error::new(ErrorKind::Refused, "a flow of autodev cannot be used").because(source)
}

impl Autodev<'_> {
    pub const fn file(&self) -> &ProjectPath {
        &self.settings.file
    }

    /// Configured flows override those of the installed skill, which override the built-in ones.
    pub fn flows(&self) -> Result<Flows, Error> {
        let mut flows = Vec::new();
        if let Some(skill) = &self.settings.skill {
            for flow in Flows::default().iter() {
                let path = skill.join(&format!("flows/{}.md", flow.flow));
                // Without a flow file, or without a table in it, the flow is the built-in one.
                let bytes = path.ok().and_then(|path| self.workspace.read_file(&path).ok());
                let text = bytes.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
                flows.extend(text.and_then(|text| read_flow_file(&flow.flow, text)));
            }
        }
        flows.extend(self.settings.flows.iter().cloned());
        Flows::with(flows).map_err(unusable)
    }

    pub(crate) fn facts(&self, artifact: &Artifact) -> Option<AutodevFacts> {
        let noted = Position::of(artifact).ok();
        let files = FilesOnDisk::new(self.workspace.root());
        let flows = self.is_state_file(artifact).then(|| self.flows().ok())??;
        Some(AutodevFacts::gather(flows, &self.settings.states, noted.as_ref(), &files))
    }

    #[cfg(feature = "history")]
    pub(crate) fn facts_without_files(&self, artifact: &Artifact) -> Option<AutodevFacts> {
        let flows = self.is_state_file(artifact).then(|| self.flows().ok())??;
        Some(AutodevFacts { flows, detection: None, skill_state: None })
    }

    fn is_state_file(&self, artifact: &Artifact) -> bool {
        *artifact.path() == self.settings.file
    }

    pub fn status(&self) -> Result<AutodevStatus, Error> {
        let flows = self.flows()?;
        let noted = match self.workspace.artifact(self.file()) {
            Ok(artifact) => Some(Position::of(artifact.artifact()).and_then(|noted| {
                noted.flow(&flows)?;
                Ok(noted)
            })),
            Err(error) if error.is_missing() => None,
            Err(error) => return Err(error),
        };
        let position = noted.as_ref().and_then(|noted| noted.as_ref().ok());
        let files = FilesOnDisk::new(self.workspace.root());
        let flow = match position.map(|position| flows.named(&position.flow)) {
            Some(known) => known,
            None => detect_flow(&flows, files.has_code(&self.settings.docs), &files),
        };
        let flow = flow.ok_or_else(|| unusable(FlowError::NoSteps { flow: String::new() }))?;
        let state = position.and_then(|noted| SkillState::find(&self.settings.states, noted, &files));
        let other_phase = state.filter(|state| position.is_some_and(|noted| !state.agrees_with(noted)));
        let (detection, due) =
            (self.detect(flow, position), flow.steps.iter().map(|step| step.is_due(&files)));
        let due = due.collect();
        Ok(AutodevStatus {
            file: self.file().clone(),
            flow: flow.clone(),
            detection,
            due,
            other_phase,
            fault: position.and_then(|noted| fault(flow, noted, self.file())),
            noted,
        })
    }

    pub fn evidence(&self, flow: &Flow) -> Vec<Vec<String>> {
        let files = FilesOnDisk::new(self.workspace.root());
        flow.steps.iter().map(|step| step.evidence(&files)).collect()
    }

    fn detect(&self, flow: &Flow, noted: Option<&Position>) -> Detection {
        detect(flow, noted, &FilesOnDisk::new(self.workspace.root()))
    }
}

impl AutodevStatus {
    /// `None` if all are done.
    pub fn step(&self) -> Option<&FlowStep> {
        let number = match (&self.detection, self.position().map(|position| &position.step)) {
            (Detection::Elsewhere(step), _) => (*step)?,
            (Detection::Agrees, Some(StepPlace::Number(number))) => *number,
            (Detection::Agrees, _) => return None,
        };
        self.flow.step(number)
    }

    pub fn position(&self) -> Option<&Position> {
        self.noted.as_ref()?.as_ref().ok()
    }

    pub fn is_consistent(&self) -> bool {
        self.position().is_some() && self.detection == Detection::Agrees && self.fault.is_none()
    }
}

pub fn is_state_file(artifact: &TrackedArtifact) -> bool {
    artifact.artifact().region() != stepmark_frontmatter::Region::Frontmatter
}
