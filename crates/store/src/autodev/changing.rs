//! Changing the state file of autodev.

use std::cell::Cell;

use stepmark_frontmatter::{KeyPath, LineEnding, Operation, replace_region};
use stepmark_model::{
    artifact::{Artifact, ProjectPath, state_region},
    autodev::{
        AWAITING, AutodevMove, AutodevRefusal, Detection, Flow, FlowStep, Position, PositionError, StepPlace,
        decide, fault, first_block, first_file,
    },
    journal::{ActorKind, ArtifactKey, Event, EventDraft, Kind},
    tracked_artifact::TrackedArtifact,
    transition::Plan,
};

use super::{Autodev, AutodevStatus};
use crate::commit::{CommitError, FileDecision, make_folders_to};
use crate::{Error, ErrorKind, changes::UpdateError};

#[derive(Debug)]
pub struct Moved {
    pub artifact: TrackedArtifact,
    pub before: Position,
    pub after: Position,
    pub is_changed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    pub noted: String,
    pub told: String,
}

impl Autodev<'_> {
    /// `is_forced` skips a step that is not optional.
    pub fn make(&self, made: &AutodevMove, reason: Option<String>, is_forced: bool) -> Result<Moved, Error> {
        let flows = self.flows()?;
        let is_human = self.workspace.attribution().actor.kind == ActorKind::Human;
        let draft = self.draft(made).with_reason(reason);
        let names = self.phase_names(made)?;
        let mut before = None;
        let carried = self.workspace.update_telling(self.file(), &draft, |artifact| {
            let noted = Position::of(artifact.artifact()).map_err(unreadable)?;
            let flow = noted.flow(&flows).map_err(unreadable)?;
            let corrects = matches!(made, AutodevMove::Correct(_) | AutodevMove::Rename);
            if let Some(fault) = fault(flow, &noted, self.file()).filter(|_| !corrects) {
                return Err(fault.into());
            }
            let edits = decide(flow, &noted, made, (is_human, is_forced), &names)?;
            before = Some(noted);
            Ok::<_, Error>(Plan { edits, remarks: Vec::new() })
        });
        let carried = carried.map_err(|error| match error {
            UpdateError::Refused { source, .. } => source,
            UpdateError::Change(error) if error.is_missing() => not_begun(self.file()),
            UpdateError::Change(error) => error,
        })?;
        let after = Position::of(carried.artifact.artifact()).map_err(unreadable)?;
        let before = before.unwrap_or_else(|| after.clone());
        Ok(Moved { artifact: carried.artifact, is_changed: before != after, before, after })
    }

    fn phase_names(&self, made: &AutodevMove) -> Result<Vec<String>, Error> {
        let artifact = self.workspace.artifact(self.file()).ok();
        let Some(artifact) = artifact.filter(|_| matches!(made, AutodevMove::SubStep(_))) else {
            return Ok(Vec::new());
        };
        let key = ArtifactKey::of(artifact.artifact());
        let lineage = self.workspace.history().ask(|history| history.lineage(&key, self.file()));
        let lineage = lineage.map_err(Error::unwritten)?;
        let key = KeyPath::key("sub_step").then("name");
        let name = |event: &Event| {
            let change = event.changes.iter().rev().find(|change| change.path == key)?;
            let (Operation::Set { new, .. } | Operation::Insert { new }) = &change.op else { return None };
            new.as_str().map(str::to_owned)
        };
        let noted = Position::of(artifact.artifact()).map_err(unreadable)?;
        let names = lineage.events().iter().rev().filter_map(name).take_while(|name| name != AWAITING);
        Ok(names.chain([noted.sub_step.name]).collect())
    }

    /// Moves back to an earlier step that is still due by the project's files.
    pub fn correct_back(&self) -> Result<Option<Correction>, Error> {
        let status = self.status()?;
        let is_back = match (&status.noted, &status.detection) {
            (
                Some(Ok(Position { step: StepPlace::Number(own), status, .. })),
                Detection::Elsewhere(Some(to)),
            ) => to < own && status != "failed",
            _ => false,
        };
        if is_back { self.correct() } else { Ok(None) }
    }

    /// The event of an ended step names it, since the file already points to the next one.
    fn draft(&self, made: &AutodevMove) -> EventDraft {
        let kind = if matches!(made, AutodevMove::Correct(_) | AutodevMove::Rename) {
            Kind::AUTODEV_CORRECTED
        } else {
            Kind::CHANGE
        };
        let draft = EventDraft::new(kind).with_command(format!("autodev {}", made.name())).making_a_move();
        let noted = self.workspace.artifact(self.file()).ok();
        let noted = noted.and_then(|noted| Position::of(noted.artifact()).ok());
        match (made, noted) {
            (AutodevMove::Complete | AutodevMove::Skip | AutodevMove::Boundary, Some(noted)) => {
                draft.with("finished", format!("{} {}", noted.step, noted.name))
            }
            (AutodevMove::Correct(told), Some(noted)) => {
                draft.with("noted", noted.step.to_string()).with("told", in_words(*told))
            }
            _ => draft,
        }
    }

    /// Creates a missing state file at the step that the files indicate, in `flow` or, if that is done, in
    /// the next flow. Returns whether it wrote anything.
    pub fn begin(&self, flow: Option<&str>) -> Result<bool, Error> {
        let status = self.status()?;
        let noted = status.position();
        if status.noted.is_some() && flow.is_none_or(|flow| flow == status.flow.flow) {
            return Ok(false);
        }
        let (flow, step) = match flow {
            Some(flow) => self.flow_at(flow)?,
            None => (status.flow.clone(), status.step().cloned()),
        };
        let draft = EventDraft::new(Kind::CHANGE).with_command("autodev start".to_owned());
        if status.noted.is_none() {
            let text = first_file(&flow, step.as_ref());
            self.write(&draft, |found| found.is_none().then(|| text.clone().into_bytes()))?;
            return Ok(true);
        }
        let Some(noted) = noted.filter(|noted| noted.step == StepPlace::Done) else {
            let (flow, name) =
                (status.flow.flow.clone(), noted.map_or_else(String::new, |noted| noted.name.clone()));
            let step = noted.map_or_else(|| "?".to_owned(), |noted| noted.step.to_string());
            return Err(Error::refused(format!(
                "the flow `{flow}` is in step {step} `{name}`: another one begins when it is done"
            )));
        };
        self.replace_block(&first_block(&flow, step.as_ref(), 1), &draft, |found| {
            found.as_ref() == Ok(noted)
        })?;
        Ok(true)
    }

    /// Sets the file to the step that its files indicate; history keeps both. `None`: nothing to correct.
    pub fn correct(&self) -> Result<Option<Correction>, Error> {
        let status = self.status()?;
        let is_human = self.workspace.attribution().actor.kind == ActorKind::Human;
        match (&status.noted, &status.detection) {
            (Some(Ok(noted)), Detection::Elsewhere(_)) if noted.status == "failed" && !is_human => {
                Err(AutodevRefusal::NotHuman.into())
            }
            (Some(Ok(noted)), Detection::Elsewhere(to)) => {
                let told = in_words(*to);
                let reason = format!("the files of the project tell step {told}");
                self.make(&AutodevMove::Correct(*to), Some(reason), false)?;
                Ok(Some(Correction { noted: noted.step.to_string(), told }))
            }
            (Some(Ok(noted)), Detection::Agrees) => self.rename(&status, noted),
            (Some(Err(error)), _) => self.rewrite(&status, error).map(Some),
            _ => Ok(None),
        }
    }

    fn rename(&self, status: &AutodevStatus, noted: &Position) -> Result<Option<Correction>, Error> {
        let Some(AutodevRefusal::WrongName { step, name, .. }) = &status.fault else { return Ok(None) };
        let reason = format!("step {step} is `{name}`");
        self.make(&AutodevMove::Rename, Some(reason), false)?;
        Ok(Some(Correction { noted: noted.name.clone(), told: format!("{step} `{name}`") }))
    }

    /// Replaces a block without a readable position; only its cycle is kept, if readable.
    fn rewrite(&self, status: &AutodevStatus, error: &PositionError) -> Result<Correction, Error> {
        let step = status.step();
        let told = in_words(step.map(|step| step.step));
        let damaged = self.workspace.artifact(self.file())?;
        let damaged = damaged.artifact();
        let state = damaged.state_value().unwrap_or_default();
        let is_same_flow = state["flow"].as_str() == Some(&status.flow.flow);
        let cycle = state["cycle"].as_u64().filter(|cycle| is_same_flow && *cycle > 0).unwrap_or(1);
        let block = damaged.state_span().map_or(&[][..], |span| &damaged.bytes()[span.range()]);
        let draft = EventDraft::new(Kind::AUTODEV_UNPARSABLE)
            .with_command("autodev detect --write".to_owned())
            .with_reason(Some(error.to_string()))
            .with("block", String::from_utf8_lossy(&block[..block.len().min(KEPT)]).into_owned())
            .with("told", told.clone());
        self.replace_block(&first_block(&status.flow, step, cycle), &draft, Result::is_err)?;
        Ok(Correction { noted: error.to_string(), told })
    }

    fn flow_at(&self, name: &str) -> Result<(Flow, Option<FlowStep>), Error> {
        let flows = self.flows()?;
        let flow = flows.find(name).map_err(|error| Error::told(ErrorKind::Refused, error))?;
        let step = match self.detect(flow, None) {
            Detection::Elsewhere(Some(number)) => flow.step(number).cloned(),
            Detection::Elsewhere(None) | Detection::Agrees => None,
        };
        Ok((flow.clone(), step))
    }

    /// Replaces the block below the heading, if the recorded one still `is_meant`.
    fn replace_block(
        &self,
        block: &str,
        draft: &EventDraft,
        is_meant: impl Fn(&Result<Position, PositionError>) -> bool,
    ) -> Result<(), Error> {
        let is_proven = Cell::new(true);
        let noted = |bytes: &[u8]| {
            let noted = Position::of(&Artifact::read(self.file().clone(), bytes.to_vec()));
            let flows = self.flows().ok();
            noted.and_then(|noted| match &flows {
                Some(flows) => noted.flow(flows).map(|_| noted.clone()),
                None => Ok(noted),
            })
        };
        self.write(draft, |found| {
            let bytes = found.filter(|bytes| is_meant(&noted(bytes)))?;
            let is_crlf = LineEnding::first_of(bytes) == Some(LineEnding::CrLf);
            let block = if is_crlf { block.replace('\n', "\r\n") } else { block.to_owned() };
            let replaced = replace_region(bytes, &state_region(self.file()), &block).bytes;
            is_proven.set(noted(&replaced).is_ok());
            is_proven.get().then_some(replaced)
        })?;
        if !is_proven.get() {
            let message = "has several headings `Current Step`: a person takes all but one away";
            return Err(Error::refused(format!("`{}` {message}", self.file())));
        }
        Ok(())
    }

    fn write(
        &self,
        draft: &EventDraft,
        decide: impl Fn(Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<(), Error> {
        let fsync = self.workspace.commit_options().fsync;
        make_folders_to(self.workspace.root(), self.file(), fsync).map_err(CommitError::from)?;
        let paths = [self.file().clone()];
        let decide = |found: &[Option<&[u8]>]| {
            let bytes = decide(found.first().copied().flatten());
            Ok(vec![bytes.map_or(FileDecision::Keep, FileDecision::Write)])
        };
        self.workspace.change_files(&paths, |_| draft.clone(), decide)?;
        Ok(())
    }
}

/// The most bytes of a damaged block that history keeps.
const KEPT: usize = 4096;

fn in_words(step: Option<u16>) -> String {
    step.map_or_else(|| "done".to_owned(), |step| step.to_string())
}

fn unreadable(source: PositionError) -> Error {
    let message = "the state file says no position: `stepmark autodev detect --write` notes what the files of the \
                   project tell";
    Error::refused(message).because(source)
}

pub fn not_begun(file: &ProjectPath) -> Error {
    Error::not_begun(format!("there is no state file `{file}`: `stepmark autodev start` makes it"))
}
