//! The delegation chains of a project, without reading every artifact.
//!
//! Other artifacts decide about one with an id. So its note holds the basis of that decision
//! ([`Chains::surroundings`]), and the artifact is read again if that has changed. This needs only notes, and
//! only those of artifacts in a delegation.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::checking::{cache::Verdicts, checked_before::KnownArtifact};
use crate::disk::in_parts::par_map;
use stepmark_model::{
    delegation::{Chains, Member},
    tracked_artifact::TrackedArtifact,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ChainPart {
    /// Without an id no artifact can name it.
    #[default]
    Nameless,
    /// It has an id that no other artifact has or names.
    Named,
    /// It has a delegation, is named by one, or shares its id.
    Member,
}

impl ChainPart {
    pub(crate) fn of(artifact: &TrackedArtifact, chains: &Chains) -> Self {
        let state = artifact.state();
        match chains.at(artifact.path()) {
            Some(member) if chains.concern(member) => Self::Member,
            _ if state.id.is_some() || state.stepmark_id.is_some() => Self::Named,
            _ => Self::Nameless,
        }
    }
}

pub(super) fn chains(verdicts: &Verdicts<'_>, known: &[KnownArtifact], read: &[TrackedArtifact]) -> Chains {
    let mut members: Vec<Member> = read.iter().map(TrackedArtifact::member).collect();
    let all_with = |part| known.iter().filter(move |artifact| artifact.part == part);
    let kept = |artifact: &KnownArtifact| verdicts.note(artifact.entry).member(&artifact.path);
    members.extend(all_with(ChainPart::Member).map(kept));
    let ids: HashSet<&str> = members.iter().flat_map(Member::ids).collect();
    let mut named = Vec::new();
    if !ids.is_empty() {
        let is_meant =
            |artifact: &&KnownArtifact| verdicts.note(artifact.entry).id().is_some_and(|id| ids.contains(id));
        named.extend(all_with(ChainPart::Named).filter(is_meant).map(kept));
    }
    Chains::of(members.into_iter().chain(named))
}

pub(super) fn take_outdated(
    verdicts: &Verdicts<'_>,
    chains: &Chains,
    known: &mut Vec<KnownArtifact>,
) -> Vec<KnownArtifact> {
    let is_outdated = par_map(known, |artifact| match artifact.part {
        ChainPart::Nameless => false,
        ChainPart::Named => chains.at(&artifact.path).is_some_and(|member| chains.concern(member)),
        ChainPart::Member => {
            let now = chains.at(&artifact.path).and_then(|member| chains.surroundings(member));
            verdicts.note(artifact.entry).surroundings() != now.map(|now| super::cache::surroundings(&now))
        }
    });
    let mut is_outdated = is_outdated.into_iter();
    known.extract_if(.., |_| is_outdated.next().unwrap_or(true)).collect()
}
