//! The files of a flow, read once for a command.

use super::records::{no_flow_record, unknown};
use crate::{Error, records::not_listed};
use std::{collections::BTreeMap, io, sync::PoisonError};
use stepmark_model::flows::FlowRecordError;

use serde::{Deserialize, Serialize};

use super::{Flows, records::read};
use crate::disk::folder::Folder;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    flows::{FlowKind, FlowRecord, FlowState, Graph},
    journal::{ArtifactKey, Digests},
};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KnownFile {
    path: String,
    key: ArtifactKey,
    digests: Digests,
    record: FlowRecord,
}

pub(super) struct FlowFiles {
    pub(super) state: FlowState,
    #[cfg_attr(not(feature = "write"), expect(dead_code, reason = "only who changes a flow asks history"))]
    known: BTreeMap<String, (ArtifactKey, Digests)>,
}

impl KnownFile {
    fn of(artifact: &Artifact, kind: FlowKind) -> Result<Self, Error> {
        let record = read(artifact, kind)?;
        let (path, key) = (artifact.path().to_string(), ArtifactKey::of(artifact));
        Ok(Self { path, key, digests: Digests::of(artifact), record })
    }
}

#[cfg(feature = "write")]
impl FlowFiles {
    pub(super) fn get(&self, path: &ProjectPath) -> Option<(ArtifactKey, Digests)> {
        self.known.get(path.as_str()).cloned()
    }
}

impl Flows<'_> {
    pub(super) fn files(&self, flow: &str) -> Result<FlowFiles, Error> {
        let path = self.flow_path(flow)?;
        let unknown = || unknown("flow", flow);
        let own = self.known_file(&path, FlowKind::Flow)?.ok_or_else(unknown)?;
        let path = self.graph_path(own.record.text("graph"), own.record.number("graph_version"))?;
        let graph_file = self.known_file(&path, FlowKind::Graph)?;
        let graph = self.read_graph(path, graph_file.as_ref().map(|file| &file.record))?;
        let tasks = self.executions(&own.record, &graph)?;
        let mut known = BTreeMap::new();
        let mut record_of = |file: KnownFile| {
            known.insert(file.path, (file.key, file.digests));
            file.record
        };
        graph_file.map(&mut record_of);
        let flow = record_of(own);
        let tasks = tasks.into_iter().map(record_of).collect();
        Ok(FlowFiles { state: FlowState { flow, graph, tasks }, known })
    }

    #[cfg(feature = "write")]
    pub(super) fn state_of(&self, flow: FlowRecord) -> Result<FlowState, Error> {
        let path = self.graph_path(flow.text("graph"), flow.number("graph_version"))?;
        let record = self.read(&path, FlowKind::Graph)?;
        let graph = self.read_graph(path, record.as_ref())?;
        let tasks = self.executions(&flow, &graph)?.into_iter().map(|file| file.record).collect();
        Ok(FlowState { flow, graph, tasks })
    }

    fn read_graph(&self, path: ProjectPath, record: Option<&FlowRecord>) -> Result<Graph, Error> {
        let unknown = || unknown("graph", path.as_ref());
        Graph::of(record.ok_or_else(unknown)?).map_err(|source| no_flow_record(&path, source))
    }

    /// In graph order. Unchanged files are not read again.
    fn executions(&self, flow: &FlowRecord, graph: &Graph) -> Result<Vec<KnownFile>, Error> {
        let folder = self.settings.folder.join(&format!("{}/tasks", flow.id()))?;
        let root = self.workspace.root();
        root.resolve(&folder).map_err(Error::from)?;
        let found = match Folder::open(root.path(), folder.to_string()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(not_listed(&folder, source)),
            Ok(folder) => {
                let mut snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
                // Other files in the folder are ignored.
                let read = |path: &ProjectPath| match self.known_file(path, FlowKind::Execution) {
                    Err(error) if error.detail::<FlowRecordError>().is_some() => Ok(None),
                    read => read,
                };
                let (found, others) = snapshot.read(root, &folder, read);
                match others.into_iter().find_map(|(_, error)| error) {
                    Some(error) => return Err(error),
                    None => found,
                }
            }
        };
        let mut found: BTreeMap<String, KnownFile> =
            found.into_iter().map(|file| (file.path.clone(), file)).collect();
        let mut executions = Vec::with_capacity(graph.tasks.len());
        for task in &graph.tasks {
            let path = self.task_path(flow.id(), &task.id)?;
            match found.remove(path.as_str()) {
                Some(file) => executions.push(file),
                None => executions.extend(self.known_file(&path, FlowKind::Execution)?),
            }
        }
        Ok(executions)
    }

    fn known_file(&self, path: &ProjectPath, kind: FlowKind) -> Result<Option<KnownFile>, Error> {
        match self.workspace.read_file(path) {
            Ok(bytes) => KnownFile::of(&Artifact::read(path.clone(), bytes), kind).map(Some),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }
}
