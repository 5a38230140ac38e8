//! The configuration of a project: `.stepmark/config.yaml` and what lies below and above it. It is static;
//! the table of [`VARIABLES`] says what is not.

mod values;
mod keys;
mod sources;
mod layer;
pub(crate) mod packs;
mod read;
mod variables;
#[cfg(test)]
mod cases;

use crate::Error;
use std::{
    collections::BTreeMap,
    ops::Deref,
    path::{Path, PathBuf},
    sync::Arc,
};

use self::keys::{AsddKeys, CoordinationKeys, Keys, Settings};
use self::layer::ConfigurationLayer;
use self::sources::{ALWAYS_EXCLUDED, built_in, default_values};
use stepmark_model::{
    artifact::{FileHash, PathGlobs, ProjectPath},
    lifecycle::{DeclaredLifecycle, Lifecycles},
};

pub use keys::{AsddSettings, AutodevSettings, CoordinationSettings, FlowSettings, ProjectDescription};
pub use layer::{ConfiguredValue, Origin, Place, position_and_reason, position_of};
use packs::PackFiles;
pub use packs::{PACKS_FOLDER, ProjectPack};
pub use read::UnknownKey;
pub use sources::{ConfigurationSources, STEPMARK_GITIGNORE, initial_configuration};
pub(crate) use sources::{DEFAULT_EXCLUDE, DEFAULT_INCLUDE};
pub use values::{
    Access, MemoryStoreKind, MemoryStoreSettings, MemoryTier, Milestone, PathAllowance, Repository,
    StepSource, Track, WorkflowDeclaration,
};
pub use variables::{Side, VARIABLES, Variable};

/// The configuration of a project; every part has a default. It is static: no state is kept in it.
#[derive(Clone, Debug)]
pub struct Configuration {
    settings: Settings,
    uses_memory: bool,
    include: PathGlobs,
    exclude: PathGlobs,
    always_excluded: PathGlobs,
    lifecycles: Arc<Lifecycles>,
    packs: Vec<ProjectPack>,
    pack_paths: PathGlobs,
    /// The values of every layer, the weakest first.
    values: Vec<ConfiguredValue>,
    /// The files and what they held, in their order.
    files: Vec<(PathBuf, Arc<[u8]>)>,
    /// `None` where it was not read.
    digest: Option<FileHash>,
    /// Set where the first of the files is the user's.
    has_user_file: bool,
    /// The sources that it was read from, besides the project.
    given: ConfigurationSources,
    unknown_keys: Vec<UnknownKey>,
}

impl Configuration {
    /// The configuration that the layers, the weakest first, give together.
    fn of(layers: Vec<ConfigurationLayer>) -> Self {
        let mut keys = Keys::default();
        let mut values = Vec::new();
        let mut unknown_keys = Vec::new();
        for layer in layers {
            keys = keys.overlaid(layer.keys);
            values.extend(layer.values);
            unknown_keys.extend(layer.unknown_keys);
        }
        let uses_memory = keys.memory.is_some();
        let settings = Settings::from(keys);
        let stories = settings.stories.key_pattern.clone().and_then(DeclaredLifecycle::of_stories);
        let declared = settings.lifecycles.iter().cloned().chain(stories).collect();
        let globs = |given: &Option<PathGlobs>, usual| given.clone().unwrap_or_else(|| built_in(usual));
        Self {
            include: globs(&settings.artifacts.include, DEFAULT_INCLUDE),
            exclude: globs(&settings.artifacts.exclude, DEFAULT_EXCLUDE),
            always_excluded: built_in(ALWAYS_EXCLUDED),
            lifecycles: Arc::new(Lifecycles::new(declared)),
            packs: Vec::new(),
            pack_paths: PathGlobs::new(Vec::new()),
            settings,
            uses_memory,
            values,
            files: Vec::new(),
            digest: None,
            has_user_file: false,
            given: ConfigurationSources::default(),
            unknown_keys,
        }
    }

    fn with_packs(mut self, root: &Path, files: &PackFiles) -> Result<Self, Error> {
        let invalid = |reason: String| read::invalid(&root.join(PACKS_FOLDER), None, &reason);
        let packs = packs::assemble(root, files)?;
        if packs.is_empty() {
            return Ok(self);
        }
        let (kinds, paths) = packs::lifecycles_of(&packs).map_err(invalid)?;
        let declared = self.lifecycles.declared();
        let is_taken = |kind: &&DeclaredLifecycle| {
            declared.iter().any(|own| own.lifecycle.name() == kind.lifecycle.name())
        };
        if let Some(taken) = kinds.iter().find(is_taken) {
            let name = taken.lifecycle.name();
            return Err(invalid(format!(
                "`lifecycles` of the configuration has `{name}` too: give one of them another name"
            )));
        }
        self.lifecycles = Arc::new(Lifecycles::new(declared.iter().cloned().chain(kinds).collect()));
        (self.packs, self.pack_paths) = (packs, paths);
        Ok(self)
    }

    pub(crate) fn with_pack_files(&self, root: &Path, files: &PackFiles) -> Result<Self, Error> {
        let of_pack = |declared: &&DeclaredLifecycle| declared.kind.is_none();
        let own = self.lifecycles.declared().iter().filter(of_pack).cloned().collect();
        let lifecycles = Arc::new(Lifecycles::new(own));
        Self { lifecycles, packs: Vec::new(), digest: None, ..self.clone() }.with_packs(root, files)
    }

    /// The packs of the project, in the order of their files.
    pub fn packs(&self) -> &[ProjectPack] {
        &self.packs
    }

    /// Returns whether the file at `path` counts as an artifact.
    pub fn is_artifact(&self, path: &ProjectPath) -> bool {
        let is_included = || self.include.matches(path) && !self.exclude.matches(path);
        (is_included() || self.is_record(path) || self.pack_paths.matches(path))
            && !self.always_excluded.matches(path)
    }

    /// Returns whether no file in the folder at `path`, however deep, counts as an artifact: a walk need not
    /// enter it.
    pub fn skips_folder(&self, path: &ProjectPath) -> bool {
        let leads_to_system = || self.system_folders().any(|folder| folder.starts_with(path));
        let is_open = || self.is_of_system(path) || leads_to_system();
        self.exclude.matches_all_in(path) && !is_open() || self.always_excluded.matches_all_in(path)
    }

    pub(crate) fn switch_asdd_on(&mut self) {
        self.settings.asdd.get_or_insert_with(|| AsddKeys::default().into());
    }

    /// Returns whether the configuration says something about memory: then it is handed to agents that start.
    pub const fn uses_memory(&self) -> bool {
        self.uses_memory
    }

    pub(crate) fn switch_coordination_on(&mut self) {
        self.settings.coordination.get_or_insert_with(|| CoordinationKeys::default().into());
    }

    /// Returns whether the file at `path` is a record of a system that is switched on: an artifact whatever
    /// the patterns say.
    fn is_record(&self, path: &ProjectPath) -> bool {
        let is_markdown = path.extension() == Some("md");
        is_markdown && self.is_of_system(path) || self.autodev.as_ref().is_some_and(|own| own.file == *path)
    }

    /// Returns whether `path` is the folder of a system that is switched on, or lies in it.
    pub(crate) fn is_of_system(&self, path: &ProjectPath) -> bool {
        self.system_folders().any(|folder| path.starts_with(folder))
    }

    fn system_folders(&self) -> impl Iterator<Item = &ProjectPath> {
        let asdd = self.asdd.iter().map(|settings| &settings.folder);
        let coordination = self.coordination.iter().map(|settings| &settings.folder);
        asdd.chain(coordination).chain(self.flows.iter().map(|settings| &settings.folder))
    }

    pub const fn lifecycles(&self) -> &Arc<Lifecycles> {
        &self.lifecycles
    }

    /// The settings that an agent is told (`user_name`, `communication_language`, …), each as it is spelled.
    pub const fn settings(&self) -> &BTreeMap<String, String> {
        &self.settings.settings
    }

    /// The bytes of `.stepmark/config.yaml`, if the allowances (`check.allow`) stand there and in no other
    /// layer.
    pub(crate) fn source_of_allowances(&self) -> Option<&[u8]> {
        let last = self.values.iter().rfind(|value| value.key == "check.allow")?;
        let Origin::Project(place) = &last.origin else { return None };
        self.sources().find(|(file, _)| *file == place.file).map(|(_, bytes)| bytes)
    }

    /// The SHA-256 over what all layers say, to the byte: equal ones mean equal configurations. `None` for
    /// one that was not read.
    pub const fn digest(&self) -> Option<FileHash> {
        self.digest
    }

    /// The configuration files that were read and what they held, the weakest first: for what other crates
    /// keep in them.
    pub fn sources(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_path(), &**bytes))
    }

    /// The user's own configuration file and what it held; `None` where there is none. All others come with
    /// the project.
    pub fn user_source(&self) -> Option<(&Path, &[u8])> {
        self.sources().next().filter(|_| self.has_user_file)
    }

    /// The user's own folder for configuration, which no project can bring along: for what a person allowed.
    pub fn user_folder(&self) -> Option<&Path> {
        self.given.user_file.as_deref().and_then(Path::parent)
    }

    /// The sources that it was read from, besides the project.
    #[cfg(feature = "write")]
    pub(crate) const fn given(&self) -> &ConfigurationSources {
        &self.given
    }

    /// Every value that counts, with its origin, in the order of [`VARIABLES`]. Keys without a value
    /// and without a default are left out.
    pub fn effective_values(&self) -> Vec<ConfiguredValue> {
        let mut nearest: BTreeMap<(usize, &str), ConfiguredValue> = BTreeMap::new();
        let defaults = default_values();
        for value in defaults.iter().chain(&self.values) {
            let place = Variable::all_static()
                .position(|variable| variable.name == value.key || variable.has_below(&value.key));
            nearest.insert((place.unwrap_or(usize::MAX), &value.key), value.clone());
        }
        nearest.into_values().collect()
    }

    /// The keys that stand in the files without effect.
    pub fn unknown_keys(&self) -> &[UnknownKey] {
        &self.unknown_keys
    }
}

impl Deref for Configuration {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.settings
    }
}

impl Default for Configuration {
    fn default() -> Self {
        Self::of(Vec::new())
    }
}
