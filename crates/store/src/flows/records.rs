//! Records of flows on the disk, one file each.
#![expect(clippy::disallowed_methods, reason = "an edge module: a file that is no record is seen here")]

use super::Flows;
use crate::records::whole_id;
use crate::{Error, disk::names_in};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    flows::{FlowKind, FlowRecord, FlowRecordError, FlowState, is_flow_id, is_task_id},
};

impl Flows<'_> {
    pub fn graph_path(&self, id: &str, version: u64) -> Result<ProjectPath, Error> {
        match is_flow_id(id) {
            true => Ok(self.settings.folder.join(&format!("graphs/{id}.v{version}.md"))?),
            false => Err(unknown("graph", id)),
        }
    }

    pub fn flow_path(&self, id: &str) -> Result<ProjectPath, Error> {
        match is_flow_id(id) {
            true => Ok(self.settings.folder.join(&format!("{id}/flow.md"))?),
            false => Err(unknown("flow", id)),
        }
    }

    pub fn task_path(&self, flow: &str, task: &str) -> Result<ProjectPath, Error> {
        match is_flow_id(flow) && is_task_id(task) {
            true => Ok(self.settings.folder.join(&format!("{flow}/tasks/{task}.md"))?),
            false => Err(unknown("task", &format!("{flow}.{task}"))),
        }
    }

    #[cfg(feature = "write")]
    pub(crate) fn is_record(&self, path: &ProjectPath) -> bool {
        let Some(rest) = path.as_str().strip_prefix(self.settings.folder.as_str()) else { return false };
        let parts: Vec<&str> = rest.split('/').collect();
        match *parts.as_slice() {
            ["", "graphs", file] => file.ends_with(".md"),
            ["", flow, "flow.md"] => is_flow_id(flow),
            ["", flow, "tasks", file] => is_flow_id(flow) && file.ends_with(".md"),
            _ => false,
        }
    }

    /// `id` may be `GRAPH@vN`; otherwise the last version.
    pub fn graph(&self, id: &str, version: Option<u64>) -> Result<(ProjectPath, FlowRecord), Error> {
        let (id, said) = id.split_once("@v").map_or((id, None), |(id, said)| (id, Some(said)));
        let said = said.map(|said| said.parse().unwrap_or_default());
        let version = version.or(said).or_else(|| self.versions(id).pop());
        let unknown = || unknown("graph", id);
        let path = self.graph_path(id, version.ok_or_else(unknown)?)?;
        let record = self.read(&path, FlowKind::Graph)?.ok_or_else(unknown)?;
        Ok((path, record))
    }

    pub fn state(&self, flow: &str) -> Result<FlowState, Error> {
        Ok(self.files(flow)?.state)
    }

    pub fn ids(&self) -> Vec<String> {
        let folders = self.names(&self.settings.folder);
        let is_flow = |id: &String| {
            self.flow_path(id).is_ok_and(|path| self.workspace.root().path().join(path.as_str()).is_file())
        };
        folders.into_iter().filter(is_flow).collect()
    }

    /// Accepts ids or prefixes.
    pub fn whole_ids(&self, (flow, task): (&str, Option<&str>)) -> Result<(String, Option<String>), Error> {
        let only = |ids: Vec<String>, given: &str| {
            let ambiguous = |ids| Error::refused(format!("`{given}` begins the id of several: {ids}"));
            whole_id(ids.iter().map(String::as_str), given).map_err(ambiguous)
        };
        let flow = only(self.ids(), flow)?;
        let tasks = || -> Result<Vec<String>, Error> {
            let names = self.names(&self.settings.folder.join(&format!("{flow}/tasks"))?);
            Ok(names.iter().filter_map(|name| Some(name.strip_suffix(".md")?.to_owned())).collect())
        };
        let task = task.map(|task| only(tasks()?, task)).transpose()?;
        Ok((flow, task))
    }

    pub(super) fn versions(&self, id: &str) -> Vec<u64> {
        let Ok(folder) = self.settings.folder.join("graphs") else { return Vec::new() };
        let version =
            |name: String| name.strip_prefix(id)?.strip_prefix(".v")?.strip_suffix(".md")?.parse().ok();
        let mut found: Vec<u64> = self.names(&folder).into_iter().filter_map(version).collect();
        found.sort_unstable();
        found
    }

    fn names(&self, folder: &ProjectPath) -> Vec<String> {
        let Ok(place) = self.workspace.root().resolve(folder) else { return Vec::new() };
        names_in(&place).unwrap_or_default()
    }

    pub(super) fn read(&self, path: &ProjectPath, kind: FlowKind) -> Result<Option<FlowRecord>, Error> {
        match self.workspace.read_record(path) {
            Ok(bytes) => read(&Artifact::read(path.clone(), bytes), kind).map(Some),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

pub(super) fn read(artifact: &Artifact, kind: FlowKind) -> Result<FlowRecord, Error> {
    FlowRecord::of(artifact, kind).map_err(|source| no_flow_record(artifact.path(), source))
}

pub(super) fn unknown(what: &str, id: &str) -> Error {
    let error = Error::no_record(format!("there is no {what} `{id}`"));
    match what {
        "flow" => error.help("`stepmark flow show` lists the flows"),
        "graph" => error.help("`stepmark flow graph create FILE` makes a graph of a file"),
        _ => error,
    }
}

pub(super) fn no_flow_record(path: &ProjectPath, source: FlowRecordError) -> Error {
    Error::refused(format!("`{path}` is no record of flows")).because(source)
}
