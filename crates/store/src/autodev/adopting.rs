//! Adopting a project's state file: switches autodev on in the configuration, converts older formats.

use std::borrow::Cow;

use super::Autodev;
use crate::{
    Error,
    commit::{CommitError, FileDecision, make_folders_to, read_whole},
    projection::{OnEdit, ProjectedFile, Projection, Published, Witness, publish, was_written},
    workspace::Workspace,
};
use stepmark_frontmatter::{KeyPath, Value, apply};
use stepmark_model::{
    artifact::{Artifact, FileHash, ProjectPath, state_region},
    autodev::{Position, convert_older, keeps_state, summary},
    journal::{EventDraft, Kind},
    projection::ProjectionFacts,
};

const NAMES: [&str; 2] = ["_autodev_state.md", "_autopilot_state.md"];

const DOCS: &str = "_docs";

#[derive(Clone, Debug)]
pub struct Adoption {
    pub from: ProjectPath,
    pub file: ProjectPath,
    pub position: Position,
    pub is_older: bool,
    pub lacks_key: bool,
    found: Vec<u8>,
    bytes: Vec<u8>,
}

impl Workspace {
    /// Without `path`, looks in `_docs`, for the current format and older ones.
    pub fn autodev_to_adopt(&self, path: Option<&ProjectPath>) -> Result<Adoption, Error> {
        let configured = || self.configuration().autodev.as_ref().map(|settings| settings.file.clone());
        let usual = NAMES.iter().map(|name| ProjectPath::new(format!("{DOCS}/{name}")));
        let places = match path {
            Some(path) => vec![path.clone()],
            None => configured().into_iter().map(Ok).chain(usual).collect::<Result<_, _>>()?,
        };
        let mut read = places.into_iter().map(|path| (self.read_file(&path), path));
        let found =
            read.find(|(read, _)| path.is_some() || !read.as_ref().is_err_and(|error| error.is_missing()));
        let (bytes, from) =
            found.ok_or_else(|| Error::refused(format!("there is no state file of autodev in `{DOCS}`")))?;
        let found = bytes?;
        let file = if keeps_state(&from) {
            from.clone()
        } else if NAMES.contains(&from.file_name()) {
            let folder = from.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
            ProjectPath::new(format!("{folder}/{}", NAMES[0]).trim_start_matches('/'))?
        } else {
            let [one, other] = &NAMES;
            return Err(Error::refused(format!("`{from}` is called neither `{one}` nor `{other}`")));
        };
        if file != from && self.read_file(&file).is_ok() {
            return Err(Error::refused(format!("`{file}` is there already: take one of the two away")));
        }
        let unreadable = |source| Error::refused(format!("`{from}` says no position")).because(source);
        let artifact = Artifact::read(file.clone(), found.clone());
        let edits = convert_older(&artifact).map_err(unreadable)?;
        let is_older = edits.is_some() || file != from;
        let edited = apply(&found, &state_region(&file), &edits.unwrap_or_default());
        let edited =
            edited.map_err(|source| Error::refused(format!("cannot edit `{from}`")).because(source))?;
        let position =
            Position::of(&Artifact::read(file.clone(), edited.bytes.clone())).map_err(unreadable)?;
        let lacks_key = self.configuration().autodev.is_none();
        Ok(Adoption { from, file, position, is_older, lacks_key, found, bytes: edited.bytes })
    }

    /// An older file elsewhere stays.
    pub fn adopt_autodev(&self, adoption: &Adoption) -> Result<(), Error> {
        if adoption.lacks_key {
            let is_usual = adoption.file.as_str() == format!("{DOCS}/{}", NAMES[0]);
            let entry = (Value::from("file"), Value::from(adoption.file.as_str()));
            let value = Value::Mapping(if is_usual { Vec::new() } else { vec![entry] });
            self.configure(KeyPath::key("autodev"), value)?;
        }
        if !adoption.is_older {
            return Ok(());
        }
        let command = format!("import autodev {} --convert", adoption.from);
        let draft = EventDraft::new(Kind::IMPORT).with_command(command).with("from", adoption.from.as_str());
        let expected = (adoption.from == adoption.file).then_some(&adoption.found[..]);
        self.change_files(
            std::slice::from_ref(&adoption.file),
            |_| draft.clone(),
            |found| {
                let is_as_shown = found.first().copied().flatten() == expected;
                let write = || FileDecision::Write(adoption.bytes.clone());
                Ok(vec![if is_as_shown { write() } else { FileDecision::Keep }])
            },
        )?;
        Ok(())
    }
}

struct Summary<'s> {
    path: &'s ProjectPath,
    text: String,
    found: Option<FileHash>,
    is_foreign: bool,
}

impl Projection for Summary<'_> {
    const FACTS: ProjectionFacts = ProjectionFacts::AUTODEV_SUMMARY;

    fn files(&self) -> Vec<ProjectedFile<'_>> {
        vec![ProjectedFile {
            path: Cow::Borrowed(self.path),
            bytes: Cow::Borrowed(self.text.as_bytes()),
            found: self.found,
            witness: Witness::Memory,
            on_edit: OnEdit::Keep,
            is_foreign: self.is_foreign,
        }]
    }
}

impl Autodev<'_> {
    pub const fn has_summary(&self) -> bool {
        self.settings.summary.is_some()
    }

    /// `None` if the configuration names no file, or no position is recorded.
    pub fn publish_summary(&self) -> Result<Option<Published>, Error> {
        let Some(path) = &self.settings.summary else { return Ok(None) };
        let status = self.status()?;
        let Some(noted) = status.position() else { return Ok(None) };
        let root = self.workspace.root();
        let options = self.workspace.commit_options();
        make_folders_to(root, path, options.fsync).map_err(CommitError::from)?;
        let found = read_whole(root, path)?;
        let text = summary(&status.flow, noted);
        let is_own = |found: &Vec<u8>| found.starts_with(b"# autodev: ");
        let is_foreign = !found.as_ref().is_none_or(is_own)
            && !was_written(root, ProjectionFacts::AUTODEV_SUMMARY.name, path);
        let found = found.as_deref().map(FileHash::of);
        let summary = Summary { path, text, found, is_foreign };
        publish(root, options, &summary).map(Some).map_err(Error::in_system)
    }
}
