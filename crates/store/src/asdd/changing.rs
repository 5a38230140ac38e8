//! Changes of slices, each one commit.

use crate::{Error, ErrorKind, records::no_record};
use std::io;

use super::{Asdd, AsddFiles, proposing::slice_of};
use crate::{
    changes::RecordDecision,
    commit::{Expected, FsyncPolicy, make_folders_to, names_in, replace_state_file, replace_whole},
    disk::{local_state::StateFolder, own_file},
    git::version::{Object, ObjectReader},
    records::{self, ChangedRecords as _, RecordSystem as _},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use stepmark_model::{
    artifact::{Artifact, FileHash, ProjectPath},
    asdd::{
        AsddRefusal, Failure, Proposal, Record, SliceKind, Verdict, add_row, change, fail, plain_name,
        slice_move,
    },
    journal::{ActorKind, EventDraft, Kind},
    packs::MoveCall,
    records::{RecordSet as _, Signal, file_stem, read_time},
};

impl Asdd<'_> {
    pub fn init(&self, project: Record) -> Result<AsddFiles, Error> {
        match self.state() {
            Err(error) if error.kind() == ErrorKind::NotBegun => {}
            Err(error) => return Err(error),
            Ok(_) => return Err(Error::refused("ASDD has begun here already")),
        }
        self.write_record(&project, draft("create", "asdd init"))?;
        Ok(self.follow())
    }

    pub fn add(
        &self,
        id: &str,
        (name, kind): (&str, &str),
        status: &str,
    ) -> Result<(Record, AsddFiles), Error> {
        let state = self.state_to_change()?;
        if state.slice(id).is_some() || self.was_given(id)? {
            return Err(id_taken("slice", id));
        }
        let slice = SliceKind::new_slice(id, (name, kind), status, state.next_order(SliceKind::Slice));
        self.write_record(&slice, draft("create", "asdd add"))?;
        Ok((slice, self.follow()))
    }

    /// Finds a slice by its id or a unique prefix of it.
    pub fn slice_id(&self, given: &str) -> Result<String, Error> {
        self.whole_id(SliceKind::Slice, given)
    }

    /// Also true for a removed slice, which keeps its id.
    pub fn was_given(&self, id: &str) -> Result<bool, Error> {
        let (path, folder) = (self.path_of(SliceKind::Slice, id)?, &self.settings.folder);
        Ok(self
            .workspace
            .history()
            .ask(|history| history.known_below(folder))
            .map_err(Error::in_system)?
            .contains(&path))
    }

    pub fn change(
        &self,
        id: &str,
        event: &'static str,
        made: &MoveCall,
    ) -> Result<(Record, AsddFiles), Error> {
        match &*made.name {
            "approve" => self.want_role("approving a phase", "tech_lead")?,
            "review" => self.want_role("a review", "tech_lead")?,
            "resolve" => self.want_role("resolving what stands in the way", "tech_lead")?,
            "unblock" => self.want_role("unblocking a slice", "tech_lead")?,
            "block" => self.want_agents_to_be_custodian("blocking a slice, by an agent,")?,
            "unlock" => {
                let base = slice_of(&self.state()?, id)?.base();
                if self.pending(id, base)?.len() > 1 {
                    self.want_role("unlocking a slice for which several proposals wait", "custodian")?;
                }
            }
            _ => {}
        }
        self.make(id, event, made)
    }

    pub(super) fn make(
        &self,
        id: &str,
        event: &'static str,
        made: &MoveCall,
    ) -> Result<(Record, AsddFiles), Error> {
        let now = self.now();
        let reason = made.text("reason").map(str::to_owned);
        let made = made.clone().with("actor", self.workspace.attribution().actor.to_string());
        let command = event.replacen('-', " ", 1);
        self.change_slice(id, draft(event, &command).with_reason(reason), |slice| change(slice, &made, &now))
    }

    pub fn accept(&self, id: &str, path: &str, reason: &str) -> Result<(Record, AsddFiles), Error> {
        self.want_role("accepting a file", "tech_lead")?;
        let hash = self.hash_of_work(path)?;
        let made = slice_move("accept").with("path", path).with("hash", hash.to_string());
        let (draft, now) =
            (draft("asdd-accept", "asdd accept").with_reason(Some(reason.to_owned())), self.now());
        self.change_slice(id, draft, |slice| change(slice, &made, &now))
    }

    pub fn fail(&self, id: &str, failure: &Failure) -> Result<(Record, AsddFiles), Error> {
        let state = self.state_to_change()?;
        let phase = slice_of(&state, id)?.status_below_lock().to_owned();
        let (rules, now) = (self.rules(), self.now());
        let paths = [self.path_of(SliceKind::Slice, id)?, self.settings.failure_log.clone()];
        if self.is_own_file(&paths[1]) {
            return Err(AsddRefusal::NoWork { path: paths[1].to_string() }.into());
        }
        make_folders_to(self.workspace.root(), &paths[1], self.workspace.commit_options().fsync)?;
        let (agent, factors) = (plain_name(&failure.agent), failure.uncertainty_factors.join("; "));
        let score = failure.score.to_string();
        let mode = format!("{id}: {}", failure.reason(&rules));
        let row = [&now[..10.min(now.len())], &agent, &phase, &mode, &score, "", "", &factors];
        let draft = draft("asdd-fail", "asdd fail").with_reason(Some(failure.reason(&rules)));
        let slice = self.attempt(&paths, draft, |found| {
            let before = found_slice(found, id)?;
            let after = fail(&before, failure, &rules, &now)?;
            let log = found.get(1).and_then(Option::as_ref).map(Artifact::bytes);
            let log = RecordDecision::Write(add_row(log, &row));
            Ok((after.clone(), vec![RecordDecision::Edit(before.edits_to(&after)), log]))
        })?;
        Ok((slice, self.follow()))
    }

    /// Updates the manifest as well; the journal gets an event only if the status or the work state changes.
    pub fn heartbeat(
        &self,
        agent: &str,
        (status, slice): (Option<&str>, Option<&str>),
        numbers: &[(&str, i64)],
    ) -> Result<AsddFiles, Error> {
        self.beat(agent, status, slice, numbers)?;
        Ok(self.follow())
    }

    pub(super) fn beat(
        &self,
        agent: &str,
        status: Option<&str>,
        slice: Option<&str>,
        numbers: &[(&str, i64)],
    ) -> Result<(), Error> {
        let status = status.unwrap_or(if slice.is_some() { "ACTIVE" } else { "IDLE" });
        let signals = self.signals();
        let mut known = signals.keys().filter(|own| plain_name(own) == plain_name(agent));
        let agent = known.next().map_or(agent, String::as_str);
        let signal = Signal {
            agent: agent.to_owned(),
            at: self.now(),
            status: Some(status.to_owned()),
            current: slice.map(str::to_owned),
            numbers: numbers.iter().map(|(key, number)| ((*key).to_owned(), *number)).collect(),
            ..Signal::default()
        };
        let before = self.signals().remove(agent);
        if before.is_none_or(|before| {
            (before.status, before.current) != (signal.status.clone(), signal.current.clone())
        }) {
            let event = EventDraft::new(Kind::of("agent-status"))
                .with_command("asdd heartbeat")
                .with("agent", agent)
                .with("status", status)
                .with("slice", slice);
            self.workspace.history().append_event(event).map_err(Error::in_system)?;
        }
        self.note_signal(&signal)
    }

    pub(super) fn rest(&self, agent: &str) -> Result<(), Error> {
        let numbers = self.signals().remove(agent).unwrap_or_default().numbers;
        let numbers: Vec<(&str, i64)> = numbers.iter().map(|(key, number)| (key.as_str(), *number)).collect();
        self.beat(agent, Some("IDLE"), None, &numbers)
    }

    pub(super) fn change_slice(
        &self,
        id: &str,
        draft: EventDraft,
        mut decide: impl FnMut(&Record) -> Result<Record, AsddRefusal>,
    ) -> Result<(Record, AsddFiles), Error> {
        slice_of(&self.state_to_change()?, id)?;
        let path = self.path_of(SliceKind::Slice, id)?;
        let slice = self.attempt(&[path], draft, |found| {
            let before = found_slice(found, id)?;
            let after = decide(&before)?;
            let edits = before.edits_to(&after);
            let decision = if edits.is_empty() { RecordDecision::Keep } else { RecordDecision::Edit(edits) };
            Ok((after, vec![decision]))
        })?;
        Ok((slice, self.follow()))
    }

    pub(super) fn write_record(&self, record: &Record, draft: EventDraft) -> Result<(), Error> {
        let (kind, id) = (record.kind.to_string(), record.id.clone());
        self.write_new(record, draft, || id_taken(&kind, &id))
    }

    /// Restores the bytes with the hash `accepted` from git; returns the reason if git does not have them.
    pub(super) fn restore_accepted(
        &self,
        path: &str,
        accepted: Option<&str>,
    ) -> Result<Option<String>, Error> {
        let Some(accepted) = accepted else { return Ok(Some(format!("`{path}` was never accepted"))) };
        if self.hash(path).is_some_and(|hash| hash.to_string() == accepted) {
            return Ok(None);
        }
        let root = self.workspace.root();
        let names = [format!("HEAD:./{path}"), format!(":./{path}")];
        let objects = ObjectReader::start(root.path()).and_then(|mut reader| reader.read(&names));
        let is_it = |bytes: &[u8]| FileHash::of(bytes).to_string() == accepted;
        let found = objects.into_iter().flatten().find_map(|object| match object {
            Object::Blob(bytes) if is_it(&bytes) => Some(bytes),
            _ => None,
        });
        let Some(bytes) = found else {
            return Ok(Some(format!(
                "git has no `{path}` as it was accepted, neither at HEAD nor in the index"
            )));
        };
        let path = ProjectPath::new(path)?;
        let before = self.workspace.read_file(&path).ok();
        replace_whole(root, &path, Expected::of(before.as_deref()), &bytes, self.workspace.commit_options())
            .map_err(|error| Error::from(error).in_system())?;
        Ok(None)
    }

    pub(super) fn want_role(&self, wanted: &'static str, role: &'static str) -> Result<(), Error> {
        let (roles, actor) =
            (&self.workspace.configuration().roles, self.workspace.attribution().actor.to_string());
        match roles.has(role, &actor) {
            true => Ok(()),
            false => {
                let holders = roles.of(role).join(", ");
                let help = format!(
                    "act as one of {holders} with --actor or STEPMARK_ACTOR; `roles:` of the configuration says who is"
                );
                Err(Error::refused(format!("{wanted} is for a {role}, and `{actor}` is none")).help(help))
            }
        }
    }

    pub(super) fn want_agents_to_be_custodian(&self, wanted: &'static str) -> Result<(), Error> {
        match self.workspace.attribution().actor.kind {
            ActorKind::Agent => self.want_role(wanted, "custodian"),
            _ => Ok(()),
        }
    }

    pub(super) fn now(&self) -> String {
        self.workspace.now().to_string()
    }
}

pub(super) fn draft(kind: &'static str, command: &str) -> EventDraft {
    records::draft(Kind::of(kind), command)
}

fn found_slice(found: &[Option<Artifact>], id: &str) -> Result<Record, Error> {
    match found.first() {
        Some(Some(artifact)) => Ok(Asdd::read_artifact(artifact)?),
        _ => Err(no_record("slice", id)),
    }
}

const LIMIT: u64 = 1024 * 1024;

const BEGUN: &str = "begun-";

const PROPOSAL: &str = "proposal-";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reading {
    pub(super) slice: String,
    pub(super) agent: String,
    pub(super) base: FileHash,
}

impl Asdd<'_> {
    /// Oldest first.
    pub fn proposals(&self) -> Result<Vec<Proposal>, Error> {
        let folder = self.workspace.root().state().folder(StateFolder::Proposals);
        let names = match folder {
            Ok(folder) => names_in(&folder).map_err(|source| local("proposals", source))?,
            Err(_) => Vec::new(),
        };
        let proposals = names.iter().filter(|name| name.starts_with(PROPOSAL));
        let mut proposals: Vec<Proposal> =
            proposals.filter_map(|name| self.read(name).ok().flatten()).collect();
        // Compared as times: their texts do not sort, since trailing zeros are left off.
        proposals.sort_by_cached_key(|own| (read_time(&own.created_at), own.proposal_id.clone()));
        Ok(proposals)
    }

    pub(super) fn pending(&self, slice: &str, base: FileHash) -> Result<Vec<Proposal>, Error> {
        let mut proposals = self.proposals()?;
        proposals.retain(|own| own.verdict == Verdict::Pending && own.slice_id == slice && own.base == base);
        Ok(proposals)
    }

    pub(super) fn waiting(&self, id: &str) -> Result<Proposal, Error> {
        let found: Option<Proposal> = self
            .read(&format!("{PROPOSAL}{}.json", file_stem(id)))
            .map_err(|source| local("proposals", source))?;
        let found = found.filter(|proposal| proposal.verdict == Verdict::Pending);
        found.ok_or_else(|| no_proposal(id))
    }

    /// Flushed, so that it survives a loss of power.
    pub(super) fn keep(&self, proposal: &Proposal) -> Result<(), Error> {
        let size = serde_json::to_vec(proposal).map_err(|error| local("a proposal", error.into()))?.len();
        if size as u64 > LIMIT {
            return Err(AsddRefusal::TooLarge { size, limit: LIMIT }.into());
        }
        let name = format!("{PROPOSAL}{}.json", file_stem(&proposal.proposal_id));
        self.write(&name, proposal, FsyncPolicy::Always).map_err(|source| local("a proposal", source))
    }

    pub(super) fn decided(
        &self,
        mut proposal: Proposal,
        verdict: Verdict,
        reason: Option<String>,
    ) -> Result<Proposal, Error> {
        (proposal.verdict, proposal.reason) = (verdict, reason);
        self.keep(&proposal)?;
        Ok(proposal)
    }

    pub(super) fn reading(&self, slice: &str, agent: &str) -> Result<Reading, Error> {
        let found = self.read(&name_of(slice, agent)).map_err(|source| local("what agents read", source))?;
        found.ok_or_else(|| {
            let message =
                format!("`{agent}` has not begun with `{slice}`: a proposal rests on what its agent read");
            let help = format!("`stepmark asdd begin {slice} --agent {agent}` shows it");
            Error::refused(message).help(help)
        })
    }

    /// Not flushed: an agent that loses it reads again.
    pub(super) fn keep_reading(&self, reading: &Reading) -> Result<(), Error> {
        let name = name_of(&reading.slice, &reading.agent);
        self.write(&name, reading, FsyncPolicy::Never).map_err(|source| local("what agents read", source))
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> io::Result<Option<T>> {
        let folder =
            self.workspace.root().state().folder(StateFolder::Proposals).map_err(io::Error::other)?;
        match own_file::read(&folder, name.as_ref(), LIMIT) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&self, name: &str, value: &impl Serialize, fsync: FsyncPolicy) -> io::Result<()> {
        let folder = self.workspace.root().state().make(StateFolder::Proposals).map_err(io::Error::other)?;
        replace_state_file(&folder, name, &serde_json::to_vec(value)?, fsync)
    }
}

fn name_of(slice: &str, agent: &str) -> String {
    // File stems never contain `=`.
    format!("{BEGUN}{}={}.json", file_stem(slice), file_stem(&plain_name(agent)))
}

pub(super) fn local(what: &'static str, source: io::Error) -> Error {
    Error::io(format!("cannot keep {what} in the local state of the clone"), source)
}

pub(super) fn no_proposal(id: &str) -> Error {
    Error::refused(format!("there is no proposal `{id}` that waits"))
        .help("`stepmark asdd proposals` lists those that wait")
}

fn id_taken(kind: &str, id: &str) -> Error {
    Error::exists(format!("there is a {kind} `{id}` already"))
}
