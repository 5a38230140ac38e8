//! The chains of delegation that changed artifacts take part in, as git holds them.

use std::collections::{BTreeMap, BTreeSet};

use crate::workspace::chain::FOLDER_SUFFIX;
use crate::{checking::CheckError, git::GitVersion, repository::ChangedArtifact, repository::Repository};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    delegation::{Chains, Member},
};

const DELEGATION: &str = "delegation:";

/// The number of times that git is asked for the parents of those found: a chain is as deep as files make it.
const MOST_ROUNDS: usize = 64;

pub(crate) struct ChainsAround {
    pub(crate) chains: Chains,
    /// The unchanged parents and children of what changed, in the order of their paths.
    pub(crate) neighbours: Vec<TrackedArtifact>,
}

impl Repository<'_> {
    /// The chains that `changed` take part in, in the newer state of `version`; `None` where they take part
    /// in none. What has an id and no delegation of its own takes part where it has a folder of delegated
    /// artifacts, and where the id is new there: another may have it.
    pub(crate) fn chains_around(
        &self,
        changed: &[ChangedArtifact],
        version: &GitVersion,
    ) -> Result<Option<ChainsAround>, CheckError> {
        let mut moving = Moving::default();
        for side in changed.iter().flat_map(ChangedArtifact::sides) {
            let member = Member::of(side.artifact(), None);
            let has_children =
                || delegations_folder(side.path()).map_or(Ok(false), |folder| version.holds(&folder));
            if member.delegation.is_some() || member.id().is_some() && has_children()? {
                moving.ids.extend(member.id().map(str::to_owned));
                moving.parents.extend(member.parent_id().map(str::to_owned));
                moving.is_any = true;
            }
        }
        for artifact in changed {
            let ChangedArtifact::Present { now, before, .. } = artifact else { continue };
            let id = |side: &TrackedArtifact| Member::of(side.artifact(), None).id().map(str::to_owned);
            moving.new_ids.extend(id(now).filter(|new| before.as_deref().and_then(id).as_ref() != Some(new)));
        }
        if !moving.is_any && moving.new_ids.is_empty() {
            return Ok(None);
        }
        let present: Vec<&TrackedArtifact> = changed.iter().filter_map(ChangedArtifact::now).collect();
        let mut others = self.members_of_chains(&present, &moving, version)?;
        // Where two of the others share an id already, the change does not bring that in.
        let members: Vec<Member> = others.values().map(TrackedArtifact::member).collect();
        let is_old = |id: &str| members.iter().filter(|other| other.id() == Some(id)).count() > 1;
        let is_taken = |id: &str| moving.new_ids.contains(id) && is_old(id);
        others.retain(|_, other| !other.member().id().is_some_and(is_taken));
        let chains = Chains::of(present.into_iter().chain(others.values()).map(TrackedArtifact::member));
        let neighbours = others.into_values().filter(|artifact| moving.touches(&artifact.member())).collect();
        Ok(Some(ChainsAround { chains, neighbours }))
    }

    fn members_of_chains(
        &self,
        present: &[&TrackedArtifact],
        moving: &Moving,
        version: &GitVersion,
    ) -> Result<BTreeMap<ProjectPath, TrackedArtifact>, CheckError> {
        let mut found: BTreeMap<ProjectPath, TrackedArtifact> = BTreeMap::new();
        let mut asked: BTreeSet<String> = BTreeSet::new();
        let mut words: BTreeSet<String> = moving.ids.union(&moving.parents).cloned().collect();
        words.extend(moving.is_any.then(|| DELEGATION.to_owned()));
        // As keys alone: a short id is a part of many a word.
        let spellings = |id: &String| ["", "'", "\""].map(|quote| format!("id: {quote}{id}{quote}"));
        words.extend(moving.new_ids.iter().flat_map(spellings));
        for _ in 0..MOST_ROUNDS {
            let new: Vec<&str> = words.difference(&asked).map(String::as_str).collect();
            // A line end would be two words to git.
            let new: Vec<&str> = new.into_iter().filter(|word| !word.contains(['\n', '\r'])).collect();
            if new.is_empty() {
                break;
            }
            for path in version.files_with(&new)? {
                let is_known = found.contains_key(&path) || present.iter().any(|now| *now.path() == path);
                if is_known || !self.workspace.configuration().is_artifact(&path) {
                    continue;
                }
                let Some(bytes) = version.read(&path)? else { continue };
                let artifact = Artifact::read(path.clone(), bytes);
                if artifact.is_tracked() {
                    found.insert(path, self.workspace.track(artifact)?);
                }
            }
            asked.append(&mut words);
            let parents =
                found.values().filter_map(|artifact| artifact.member().parent_id().map(str::to_owned));
            words = parents.collect();
        }
        Ok(found)
    }
}

/// `docs/prd.delegations` for `docs/prd.md`: the folder in which delegation puts its children.
fn delegations_folder(parent: &ProjectPath) -> Option<ProjectPath> {
    let name = format!("{}{FOLDER_SUFFIX}", parent.file_stem());
    parent.parent().map_or_else(|| ProjectPath::new(&name), |above| above.join(&name)).ok()
}

/// The ids of the changed artifacts, and those that they call their parents by, before or after the change.
#[derive(Debug, Default)]
struct Moving {
    ids: BTreeSet<String>,
    parents: BTreeSet<String>,
    is_any: bool,
    /// Ids that were not those of their artifacts before.
    new_ids: BTreeSet<String>,
}

impl Moving {
    fn touches(&self, member: &Member) -> bool {
        let ids = [&self.parents, &self.ids, &self.new_ids];
        member.id().is_some_and(|id| ids.iter().any(|known| known.contains(id)))
            || member.parent_id().is_some_and(|parent| self.ids.contains(parent))
    }
}
