//! Rows of a file of another program that become artifacts of a kind of a pack.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use crate::changes::{RECORDS_A_COMMIT, RecordDecision};
use crate::commit::make_folders_to;
use crate::records::SystemError;
use crate::workspace::Workspace;
use crate::workspace::claimed::{between, kind_of};
use stepmark_frontmatter::{EditError, apply};
use stepmark_model::{
    artifact::{Artifact, ProjectPath, state_edits, state_file, state_region},
    journal::{ActorKind, EventDraft, Kind as EventKind},
    packs::{Kind, is_name_of},
    projection::{rows, text},
    tracked_artifact::TrackedArtifact,
};

/// The rows of a file that say something else than the artifacts of a kind.
#[derive(Clone, Debug, Default)]
pub struct RowSurvey {
    /// The columns that are no keys of the kind.
    pub left_out: BTreeSet<String>,
    pub rows: Vec<RowChange>,
    pub same: usize,
    /// Rows that no command would write; with any nothing is brought in.
    pub faults: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct RowChange {
    pub path: ProjectPath,
    pub keys: Vec<String>,
    found: Option<Vec<u8>>,
    bytes: Vec<u8>,
}

impl RowChange {
    pub const fn is_new(&self) -> bool {
        self.found.is_none()
    }
}

impl Workspace {
    /// Compares the rows in `bytes` with the artifacts of `kind`. A row means the one at its `path`, else
    /// that of its `id`; else it is a new one, in the folder of the kind.
    pub fn survey_rows(&self, kind: &Kind, (bytes, is_csv): (&[u8], bool)) -> Result<RowSurvey, SystemError> {
        let mut survey = RowSurvey::default();
        let read = rows(bytes, is_csv).map_err(|fault| SystemError::Values { faults: vec![fault] })?;
        let mut claimed = self.claimed(|_| true).map_err(|error| SystemError::Change(error.into()))?;
        for (number, row) in (1..).zip(&read) {
            let (values, others): (Map<_, _>, Map<_, _>) =
                row.clone().into_iter().partition(|(column, _)| is_key(kind, column));
            survey.left_out.extend(others.into_iter().map(|(key, _)| key).filter(|key| key != "path"));
            match self.survey_row(kind, (row, values), is_csv, &claimed) {
                Ok(None) => survey.same += 1,
                Ok(Some((change, _))) if survey.rows.iter().any(|own| own.path == change.path) => {
                    survey.faults.push(format!("row {number}: another row is `{}` too", change.path));
                }
                Ok(Some((change, after))) => {
                    claimed.retain(|own| *own.path() != change.path);
                    claimed.push(after);
                    survey.rows.push(change);
                }
                Err(fault) => survey.faults.push(format!("row {number}: {fault}")),
            }
        }
        let is_changed = |path: &ProjectPath| survey.rows.iter().any(|own| own.path == *path);
        let odd = between(&claimed).into_iter().filter(|(place, _)| is_changed(claimed[*place].path()));
        let odd: Vec<String> =
            odd.map(|(place, fault)| format!("{}: {fault}", claimed[place].path())).collect();
        survey.faults.extend(odd);
        Ok(survey)
    }

    /// The change that a row comes to; `None` where its artifact says the same.
    fn survey_row(
        &self,
        kind: &Kind,
        (row, values): (&Map<String, Json>, Map<String, Json>),
        is_csv: bool,
        claimed: &[TrackedArtifact],
    ) -> Result<Option<(RowChange, TrackedArtifact)>, String> {
        let said = |key: &str| Some(text(row.get(key))).filter(|text| !text.is_empty());
        let own = || claimed.iter().filter(|own| kind_of(own) == Some(kind));
        let meant: Vec<&TrackedArtifact> = match (said("path"), said("id")) {
            (Some(path), _) => own().filter(|own| own.path().as_str() == path).collect(),
            (None, Some(id)) => {
                let exact: Vec<_> = own().filter(|own| own.member().id() == Some(&id)).collect();
                let named = |own: &&TrackedArtifact| is_name_of(&id, own.path().as_str(), own.member().id());
                if exact.is_empty() { own().filter(named).collect() } else { exact }
            }
            (None, None) => Vec::new(),
        };
        if let [first, second, ..] = meant[..] {
            return Err(format!("it may mean `{}` or `{}`: give it a `path`", first.path(), second.path()));
        }
        let found = meant.first().copied();
        let path = match found {
            Some(own) => own.path().clone(),
            None => self.place_of_row(kind, said)?,
        };
        let before = match found {
            Some(own) => own.artifact().state_value().map_err(|error| error.to_string())?,
            None => Json::Object(Map::new()),
        };
        let before = before.as_object().cloned().unwrap_or_default();
        let (mut after, mut keys) = (before.clone(), Vec::new());
        for (key, value) in values {
            let typed = kind.keys.iter().find(|(own, _)| *own == key).filter(|_| is_csv);
            let value = typed
                .map_or_else(|| value.clone(), |(_, own)| own.of_cell(value.as_str().unwrap_or_default()));
            // A cell cannot tell an empty text from nothing, nor a list from its spelling.
            let is_same =
                before.get(&key) == Some(&value) || is_csv && text(before.get(&key)) == text(Some(&value));
            if !is_same && !text(Some(&value)).is_empty() {
                after.insert(key.clone(), value);
                keys.push(key);
            }
        }
        if keys.is_empty() {
            return Ok(None);
        }
        let table = kind.lifecycle.as_deref().ok_or("its kind has no states")?;
        if found.is_none()
            && let Some(state) = table.states().iter().find(|state| state.is_initial)
        {
            after.entry("status").or_insert_with(|| state.name.clone().into());
        }
        let status = text(after.get("status"));
        if table.state_of(&status).is_none() {
            let states: Vec<&str> = table.states().iter().map(|state| &*state.name).collect();
            return Err(format!("`{status}` is no state: there are {}", states.join(", ")));
        }
        if let Some((_, fault)) = kind.faults(&Json::Object(after.clone())).into_iter().next() {
            return Err(fault);
        }
        let title = said("title").or_else(|| said("id")).unwrap_or_else(|| path.file_stem().to_owned());
        let told = |error: EditError| error.to_string();
        let bytes = match found {
            Some(own) => {
                let edits = state_edits(&before, &after);
                apply(own.artifact().bytes(), &state_region(&path), &edits).map_err(told)?.bytes
            }
            None => {
                state_file(&after, &format!("\n# {}\n", title.replace(['\n', '\r'], " "))).map_err(told)?
            }
        };
        let after = self.read_again(&path, &bytes).map_err(|error| error.to_string())?;
        if kind_of(&after) != Some(kind) {
            return Err(format!("what it says at `{path}` is no {} by `applies_to`", kind.name));
        }
        let found = found.map(|own| own.artifact().bytes().to_vec());
        Ok(Some((RowChange { path, keys, found, bytes }, after)))
    }

    /// The place of the new artifact that a row comes to; `said` gives what stands in a column.
    fn place_of_row(
        &self,
        kind: &Kind,
        said: impl Fn(&str) -> Option<String>,
    ) -> Result<ProjectPath, String> {
        let path = match (said("path"), said("id").or_else(|| said("title"))) {
            (Some(path), _) => path,
            (None, Some(name)) => {
                let folder = self.folder_of(kind).ok_or("it has no `path`, and the kind names no folder")?;
                format!("{folder}{}.md", file_name(&name))
            }
            (None, None) => return Err("it says neither `path`, `id` nor `title`".to_owned()),
        };
        let path = ProjectPath::new(path).map_err(|error| error.to_string())?;
        match self.configuration().is_artifact(&path) && self.read_file(&path).is_err() {
            true => Ok(path),
            false => Err(format!("a {} cannot be made at `{path}`", kind.name)),
        }
    }

    /// The folder of the first pattern of `kind` that begins with one.
    fn folder_of(&self, kind: &Kind) -> Option<String> {
        let kinds = self.configuration().packs().iter().flat_map(|own| &own.pack.kinds);
        let conditions = kinds.filter(|own| *own.kind == *kind).flat_map(|own| &own.applies_to);
        let mut globs = conditions.flat_map(|own| own.path.iter().flat_map(|paths| &paths.0));
        globs.find_map(|glob| {
            let plain = glob.as_str().split(['*', '?', '[', '{']).next()?;
            plain.rfind('/').map(|end| plain[..=end].to_owned())
        })
    }

    /// Brings in what was found: new artifacts always, changed ones where `takes_file`. Returns their number.
    pub fn import_rows(
        &self,
        survey: &RowSurvey,
        takes_file: bool,
        command: &str,
    ) -> Result<usize, SystemError> {
        if !survey.faults.is_empty() {
            return Err(SystemError::Values { faults: survey.faults.clone() });
        }
        let actor = &self.attribution().actor;
        if actor.kind == ActorKind::Agent {
            return Err(SystemError::NotHuman { wanted: "an import", actor: actor.to_string() });
        }
        let wanted: Vec<&RowChange> = survey.rows.iter().filter(|own| own.is_new() || takes_file).collect();
        for changes in wanted.chunks(RECORDS_A_COMMIT) {
            let paths: Vec<ProjectPath> = changes.iter().map(|own| own.path.clone()).collect();
            for path in &paths {
                make_folders_to(self.root(), path, self.commit_options().fsync)?;
            }
            let draft = EventDraft::new(EventKind::IMPORT).with_command(command.to_owned());
            self.change_records::<SystemError>(
                &paths,
                |_| draft.clone(),
                |found| {
                    let decide = |(change, found): (&&RowChange, &Option<Artifact>)| {
                        let is_as_surveyed = found.as_ref().map(Artifact::bytes) == change.found.as_deref();
                        let write = || RecordDecision::Write(change.bytes.clone());
                        is_as_surveyed
                            .then(write)
                            .ok_or_else(|| SystemError::Busy { path: change.path.clone() })
                    };
                    changes.iter().zip(found).map(decide).collect()
                },
            )?;
        }
        self.publish_pack_files()?;
        Ok(wanted.len())
    }
}

fn is_key(kind: &Kind, column: &str) -> bool {
    let named = [&kind.title, &kind.parent, &kind.agent].into_iter().flatten().chain(&kind.order);
    ["id", "title", "status"].contains(&column)
        || kind.keys.iter().map(|(key, _)| key).chain(named).any(|key| key == column)
}

fn file_name(name: &str) -> String {
    let safe = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    let name: String = name.trim().chars().map(safe).take(80).collect();
    name.trim_matches(['-', '.']).to_owned()
}
