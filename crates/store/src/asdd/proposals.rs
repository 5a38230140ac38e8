//! Proposals that wait, and what agents have read: files in the local state of the clone, being no state.

use std::io;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::Asdd;
use crate::commit::{FsyncPolicy, names_in, replace_state_file};
use crate::disk::{local_state::StateFolder, own_file};
use crate::records::SystemError;
use stepmark_model::{
    artifact::FileHash,
    asdd::{AsddRefusal, Proposal, Verdict, plain_name},
    records::{file_stem, read_time},
};

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
    /// All proposals, the oldest first.
    pub fn proposals(&self) -> Result<Vec<Proposal>, SystemError> {
        let folder = self.workspace.root().state().folder(StateFolder::Proposals);
        let names = match folder {
            Ok(folder) => names_in(&folder).map_err(|source| local("proposals", source))?,
            Err(_) => Vec::new(),
        };
        let proposals = names.iter().filter(|name| name.starts_with(PROPOSAL));
        let mut proposals: Vec<Proposal> =
            proposals.filter_map(|name| self.read(name).ok().flatten()).collect();
        // As texts, times without a last zero would not be in order.
        proposals.sort_by_cached_key(|own| (read_time(&own.created_at), own.proposal_id.clone()));
        Ok(proposals)
    }

    pub(super) fn pending(&self, slice: &str, base: FileHash) -> Result<Vec<Proposal>, SystemError> {
        let mut proposals = self.proposals()?;
        proposals.retain(|own| own.verdict == Verdict::Pending && own.slice_id == slice && own.base == base);
        Ok(proposals)
    }

    pub(super) fn waiting(&self, id: &str) -> Result<Proposal, SystemError> {
        let found: Option<Proposal> = self
            .read(&format!("{PROPOSAL}{}.json", file_stem(id)))
            .map_err(|source| local("proposals", source))?;
        let found = found.filter(|proposal| proposal.verdict == Verdict::Pending);
        found.ok_or_else(|| SystemError::NoProposal { id: id.to_owned() })
    }

    /// Keeps a proposal, so that it outlives a loss of power.
    pub(super) fn keep(&self, proposal: &Proposal) -> Result<(), SystemError> {
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
    ) -> Result<Proposal, SystemError> {
        (proposal.verdict, proposal.reason) = (verdict, reason);
        self.keep(&proposal)?;
        Ok(proposal)
    }

    pub(super) fn reading(&self, slice: &str, agent: &str) -> Result<Reading, SystemError> {
        let found = self.read(&name_of(slice, agent)).map_err(|source| local("what agents read", source))?;
        found.ok_or_else(|| SystemError::Unread { slice: slice.to_owned(), agent: agent.to_owned() })
    }

    /// Keeps what an agent has read. Whoever loses it reads again.
    pub(super) fn keep_reading(&self, reading: &Reading) -> Result<(), SystemError> {
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
    // No `=` stands in a stem of a file.
    format!("{BEGUN}{}={}.json", file_stem(slice), file_stem(&plain_name(agent)))
}

pub(super) const fn local(what: &'static str, source: io::Error) -> SystemError {
    SystemError::Local { what, source }
}
