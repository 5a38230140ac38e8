//! Rows of another program's file that become artifacts of a pack's kind.

use crate::records::{faulty, not_human};
use crate::{Error, records::busy};
use std::collections::{BTreeMap, BTreeSet};

use crate::{
    changes::{RECORDS_A_COMMIT, RecordDecision},
    checking::KeptDigests,
    commit::make_folders_to,
    git::process::{is_repository, printed},
    history::{History, KnownArtifact},
    workspace::{
        Workspace,
        claimed::{between, kind_of},
        snapshot::OtherFile,
    },
};
use serde_json::{Map, Value as Json};
use stepmark_frontmatter::{EditError, apply};
use stepmark_model::{
    artifact::{Artifact, FileHash, ProjectPath, StateDigest, state_edits, state_file, state_region},
    journal::{ActorKind, ArtifactKey, Digests, EventDraft, Kind as EventKind},
    packs::{Kind, is_name_of},
    projection::{rows, text},
    tracked_artifact::TrackedArtifact,
};

#[derive(Clone, Debug, Default)]
pub struct RowSurvey {
    /// Columns that are not keys of the kind.
    pub left_out: BTreeSet<String>,
    pub rows: Vec<RowChange>,
    pub same: usize,
    /// Rows that no command would write; any prevents the import.
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
    /// A row is matched by `path`, then by `id`; otherwise it is new, in the kind's folder.
    pub fn survey_rows(&self, kind: &Kind, (bytes, is_csv): (&[u8], bool)) -> Result<RowSurvey, Error> {
        let mut survey = RowSurvey::default();
        let read = rows(bytes, is_csv).map_err(|fault| faulty(&[fault]))?;
        let mut claimed = self.claimed(|_| true).map_err(Error::unwritten)?;
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

    /// `None` if the artifact agrees.
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
            // Cells cannot distinguish empty from missing, or lists from their spelling.
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

    /// The path of a row's new artifact; `said` returns the value of a column.
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

    fn folder_of(&self, kind: &Kind) -> Option<String> {
        let kinds = self.configuration().packs().iter().flat_map(|own| &own.pack.kinds);
        let conditions = kinds.filter(|own| *own.kind == *kind).flat_map(|own| &own.applies_to);
        let mut globs = conditions.flat_map(|own| own.path.iter().flat_map(|paths| &paths.0));
        globs.find_map(|glob| {
            let plain = glob.as_str().split(['*', '?', '[', '{']).next()?;
            plain.rfind('/').map(|end| plain[..=end].to_owned())
        })
    }

    /// Imports new artifacts, changed ones if `takes_file`; returns their number.
    pub fn import_rows(&self, survey: &RowSurvey, takes_file: bool, command: &str) -> Result<usize, Error> {
        if !survey.faults.is_empty() {
            return Err(faulty(&survey.faults));
        }
        let actor = &self.attribution().actor;
        if actor.kind == ActorKind::Agent {
            return Err(not_human("an import", actor));
        }
        let wanted: Vec<&RowChange> = survey.rows.iter().filter(|own| own.is_new() || takes_file).collect();
        for changes in wanted.chunks(RECORDS_A_COMMIT) {
            let paths: Vec<ProjectPath> = changes.iter().map(|own| own.path.clone()).collect();
            for path in &paths {
                make_folders_to(self.root(), path, self.commit_options().fsync)?;
            }
            let draft = EventDraft::new(EventKind::IMPORT).with_command(command.to_owned());
            self.change_records::<Error>(
                &paths,
                |_| draft.clone(),
                |found| {
                    let decide = |(change, found): (&&RowChange, &Option<Artifact>)| {
                        let is_as_surveyed = found.as_ref().map(Artifact::bytes) == change.found.as_deref();
                        let write = || RecordDecision::Write(change.bytes.clone());
                        is_as_surveyed.then(write).ok_or_else(|| busy(&change.path))
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

impl Workspace {
    /// The last states in history of `files` below `folder`.
    pub(super) fn last_recorded<E>(
        &self,
        folder: &ProjectPath,
        files: &[OtherFile<E>],
    ) -> BTreeMap<ProjectPath, serde_json::Value> {
        let is_known =
            |paths: &[ProjectPath]| files.iter().any(|(path, _)| paths.binary_search(path).is_ok());
        let ask = || self.history().ask(|history| history.known_below(folder));
        if files.is_empty() || !ask().is_ok_and(|paths| is_known(&paths)) {
            return BTreeMap::new();
        }
        let mut known = self.history().ask(History::artifacts).unwrap_or_default();
        known.retain(|known| !known.goes_on && files.iter().any(|(path, _)| *path == known.path));
        let state = |known: KnownArtifact| Some((known.path.clone(), self.last_state(&known).ok()??));
        known.into_iter().filter_map(state).collect()
    }

    /// `None` after a removal.
    pub(crate) fn last_state(&self, known: &KnownArtifact) -> Result<Option<serde_json::Value>, Error> {
        let heads = self.history().ask(|history| history.events_with(&known.heads))?;
        let last = heads.iter().max_by_key(|event| event.at);
        Ok(last.and_then(|last| self.history().ask(|history| history.state_after(last.id)).ok()))
    }

    /// Records below `folder` that history has and `present` lacks, each with: is the file gone? Leaves out
    /// those removed by a command, or only on another branch.
    pub(crate) fn lost_records(
        &self,
        folder: &ProjectPath,
        present: &BTreeSet<ProjectPath>,
    ) -> Result<Vec<(ProjectPath, bool)>, Error> {
        let history = self.history();
        let mut missing = history.ask(|history| history.known_below(folder))?;
        missing.retain(|path| path.extension() == Some("md") && !present.contains(path));
        let missing = self.missing_here(folder, missing);
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let mut lost = Vec::new();
        for known in history.ask(History::artifacts)? {
            if known.goes_on || !missing.contains(&known.path) {
                continue;
            }
            // Removed by a command or an import: no state.
            if self.last_state(&known)?.is_some_and(|state| state["stepmark_kind"].is_string()) {
                let is_gone = self.read_file(&known.path).is_err();
                lost.push((known.path, is_gone));
            }
        }
        Ok(lost)
    }

    /// Records in states that no recorded change led to, and that are not committed so. Leaves out records
    /// without history. Files in `read` are not read again; digests are cached under `name`.
    pub(crate) fn unrecorded(
        &self,
        name: &str,
        records: &BTreeSet<ProjectPath>,
        read: &[TrackedArtifact],
    ) -> Result<Vec<ProjectPath>, Error> {
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let name = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
        let (kept, mut digests) = (KeptDigests::read(self.root(), &name), BTreeMap::new());
        let mut file_of = |artifact: &Artifact| {
            let file = artifact.file_hash();
            let known = kept.get(&file).map(|state| StateDigest::from_digest(*state.as_bytes()));
            let state = known.or_else(|| Digests::of(artifact).state);
            digests.extend(state.map(|state| (file, FileHash::from_digest(*state.as_bytes()))));
            (ArtifactKey::of(artifact), artifact.path().clone(), Digests { file, state })
        };
        let read = read.iter().filter(|own| records.contains(own.path()));
        let mut files: Vec<_> = read.map(|own| file_of(own.artifact())).collect();
        let known: BTreeSet<ProjectPath> = files.iter().map(|(_, path, _)| path.clone()).collect();
        for path in records.difference(&known) {
            files
                .extend(self.read_file(path).ok().map(|bytes| file_of(&Artifact::read(path.clone(), bytes))));
        }
        // Asked again only if the records or history change.
        let told = format!("{} {files:?}", self.history().ask(History::extent)?);
        let (clean, now) = (FileHash::of(b"clean"), FileHash::of(told.as_bytes()));
        let known = match kept.get(&clean) == Some(now) {
            true => vec![true; files.len()],
            false => self.history().ask(|history| history.are_at_heads(&files))?,
        };
        if known.iter().all(|known| *known) {
            digests.insert(clean, now);
        }
        // If it fails, the next check takes longer.
        let _kept = kept.replace(self.root(), &name, &digests);
        let mut found: Vec<_> = files.into_iter().zip(known).filter(|(_, known)| !known).collect();
        let mut checked_out = self.repository().checked_out();
        found.retain(|((_, path, file), _)| !checked_out.explains(path, Some(*file)));
        Ok(found.into_iter().map(|((_, path, _), _)| path).collect())
    }

    /// Those of `missing` that this branch lacks: in HEAD or the index, or never committed. Files of other
    /// branches, also deleted ones, are not missing. Empty if git fails.
    fn missing_here(&self, folder: &ProjectPath, missing: Vec<ProjectPath>) -> BTreeSet<ProjectPath> {
        let root = self.root();
        if missing.is_empty() || !is_repository(root) {
            return missing.into_iter().collect();
        }
        let listed = |arguments: &[&str]| -> Option<BTreeSet<String>> {
            let text = printed(root, &[arguments, &["--", folder.as_str()]].concat())?;
            Some(text.split('\0').map(|path| path.trim().to_owned()).collect())
        };
        const EVER: [&str; 9] = [
            "log",
            "--all",
            "--reflog",
            "--format=",
            "--name-only",
            "-z",
            "--relative",
            "--no-renames",
            "--diff-filter=A",
        ];
        let head = listed(&["ls-tree", "-r", "-z", "--name-only", "HEAD"]).unwrap_or_default();
        let index = listed(&["ls-files", "-z", "--cached"]).unwrap_or_default();
        // A shallow clone lacks commits.
        let is_shallow = printed(root, &["rev-parse", "--is-shallow-repository"])
            .is_none_or(|text| text.trim() != "false");
        let ever = if is_shallow { None } else { listed(&EVER) };
        let is_here = |path: &ProjectPath| {
            let path = path.as_str();
            head.contains(path)
                || index.contains(path)
                || ever.as_ref().is_some_and(|ever| !ever.contains(path))
        };
        missing.into_iter().filter(is_here).collect()
    }
}
