//! From the gates that are there to those that should be.

use std::collections::{HashMap, HashSet};

use super::{Gate, GateStat, GateStep, StoredGate, gate_file_name};
use crate::{
    artifact::{FileHash, ProjectPath, StateDigest},
    journal::{ArtifactKey, EventId},
};

/// An artifact, as its gates remember it.
#[derive(Clone, Debug)]
pub struct GateFacts<'a> {
    pub key: ArtifactKey,
    pub path: &'a ProjectPath,
    pub stat: GateStat,
    /// The hash of its bytes.
    pub file: FileHash,
    pub state: StateDigest,
}

/// Changes in the folder of an artifact's gates. Removal comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateChanges {
    pub remove: Vec<String>,
    /// Files to write, with their bytes.
    pub write: Vec<(String, Vec<u8>)>,
    /// The number of files that are right as they are.
    pub unchanged: usize,
}

impl GateChanges {
    /// Plans the changes that turn `stored` into the gates of `steps`. A new gate names `event`; one that is
    /// there keeps its own.
    pub fn plan(
        steps: &[GateStep],
        stored: &[StoredGate],
        facts: &GateFacts<'_>,
        event: Option<EventId>,
    ) -> Self {
        let names = stored.iter().map(|stored| stored.file_name.as_str());
        let mut changes = Self { remove: superfluous(steps, names), ..Self::default() };
        let by_name: HashMap<&str, &StoredGate> =
            stored.iter().map(|stored| (stored.file_name.as_str(), stored)).collect();
        for step in steps {
            let name = gate_file_name(&step.name);
            let old = by_name.get(name.as_str()).and_then(|old| old.gate.as_ref());
            let event = old.map_or(event, |old| old.event.or(event));
            let mut gate = Gate::new(step, event, facts);
            if let Some(old) = old.filter(|old| old.stat.is_proof && old.stat.is_same_file(&gate.stat)) {
                // A stat that has become proof by time is worth a new file; the reverse is not.
                gate.stat = old.stat;
            }
            if old == Some(&gate) {
                changes.unchanged += 1;
            } else {
                changes.write.push((name, gate.to_bytes()));
            }
        }
        changes
    }
}

/// Those of the file names `stored` that are the gate of none of `steps`.
pub fn superfluous<'n>(steps: &[GateStep], stored: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let names: HashSet<String> = steps.iter().map(|step| gate_file_name(&step.name)).collect();
    let is_superfluous = |stored: &&str| !names.contains(*stored);
    stored.into_iter().filter(is_superfluous).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::Artifact;

    fn step(name: &str) -> GateStep {
        GateStep { name: name.to_owned(), listed: name.to_owned() }
    }

    fn stored(changes: &GateChanges) -> Vec<StoredGate> {
        let file = |(name, bytes): &(String, Vec<u8>)| StoredGate {
            file_name: name.clone(),
            gate: Gate::read(bytes),
        };
        changes.write.iter().map(file).collect()
    }

    #[test]
    fn only_what_differs_is_touched() {
        let path = ProjectPath::new("docs/prd.md").unwrap();
        let artifact = Artifact::read(path.clone(), b"---\nid: a\n---\n".to_vec());
        let facts = |size, is_proof| GateFacts {
            key: ArtifactKey::of(&artifact),
            path: &path,
            stat: GateStat { size, modified: 2, changed: 3, inode: u64::MAX, is_proof },
            file: artifact.file_hash(),
            state: StateDigest::of(&serde_json::json!({})),
        };
        let [one, two] = [[1; 16], [2; 16]].map(EventId::from_bytes);
        let first = GateChanges::plan(&[step("a"), step("b")], &[], &facts(1, false), Some(one));
        assert_eq!((first.write.len(), first.remove.len()), (2, 0));
        let mut there = stored(&first);
        there.push(StoredGate { file_name: "junk".to_owned(), gate: None });

        let same = GateChanges::plan(&[step("a"), step("b")], &there, &facts(1, false), Some(two));
        assert_eq!(
            (same.write.len(), same.remove.as_slice(), same.unchanged),
            (0, &["junk".to_owned()][..], 2)
        );
        let proven = GateChanges::plan(&[step("a")], &there, &facts(1, true), None);
        assert_eq!((proven.write.len(), proven.remove.len()), (1, 2));
        assert_eq!(GateChanges::plan(&[step("a")], &stored(&proven), &facts(1, false), None).unchanged, 1);

        let later = GateChanges::plan(&[step("a"), step("c")], &there, &facts(9, false), Some(two));
        let gates: Vec<Gate> = stored(&later).into_iter().filter_map(|stored| stored.gate).collect();
        assert_eq!(
            gates.iter().map(|gate| (gate.step.as_str(), gate.event, gate.stat.size)).collect::<Vec<_>>(),
            [("a", Some(one), 9), ("c", Some(two), 9)]
        );
        assert_eq!(later.remove, ["b.gate", "junk"]);
    }
}
