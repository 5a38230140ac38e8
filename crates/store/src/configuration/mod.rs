//! The configuration of a project: `.stepmark/config.yaml` and the other layers. It is static; [`VARIABLES`]
//! lists what is not.

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
    /// All layers, the weakest first.
    values: Vec<ConfiguredValue>,
    /// The files and their bytes, the weakest first.
    files: Vec<(PathBuf, Arc<[u8]>)>,
    /// `None` if it was not read from files.
    digest: Option<FileHash>,
    /// True if the first of `files` is the user's.
    has_user_file: bool,
    /// The sources other than the project.
    given: ConfigurationSources,
    unknown_keys: Vec<UnknownKey>,
}

impl Configuration {
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

    /// In the order of their files.
    pub fn packs(&self) -> &[ProjectPack] {
        &self.packs
    }

    pub fn is_artifact(&self, path: &ProjectPath) -> bool {
        let is_included = || self.include.matches(path) && !self.exclude.matches(path);
        (is_included() || self.is_record(path) || self.pack_paths.matches(path))
            && !self.always_excluded.matches(path)
    }

    /// True if no file below the folder can be an artifact, so that walks skip it.
    pub fn skips_folder(&self, path: &ProjectPath) -> bool {
        let leads_to_system = || self.system_folders().any(|folder| folder.starts_with(path));
        let is_open = || self.is_of_system(path) || leads_to_system();
        self.exclude.matches_all_in(path) && !is_open() || self.always_excluded.matches_all_in(path)
    }

    pub(crate) fn switch_asdd_on(&mut self) {
        self.settings.asdd.get_or_insert_with(|| AsddKeys::default().into());
    }

    /// True if memory is configured: then it is given to agents at their start.
    pub const fn uses_memory(&self) -> bool {
        self.uses_memory
    }

    pub(crate) fn switch_coordination_on(&mut self) {
        self.settings.coordination.get_or_insert_with(|| CoordinationKeys::default().into());
    }

    /// True for records of enabled systems, which are artifacts whatever the patterns say.
    fn is_record(&self, path: &ProjectPath) -> bool {
        let is_markdown = path.extension() == Some("md");
        is_markdown && self.is_of_system(path) || self.autodev.as_ref().is_some_and(|own| own.file == *path)
    }

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

    /// The settings given to agents (`user_name`, `communication_language`, …), spelled as written.
    pub const fn settings(&self) -> &BTreeMap<String, String> {
        &self.settings.settings
    }

    /// The bytes of `.stepmark/config.yaml`, if it alone defines allowances (`check.allow`).
    pub(crate) fn source_of_allowances(&self) -> Option<&[u8]> {
        let last = self.values.iter().rfind(|value| value.key == "check.allow")?;
        let Origin::Project(place) = &last.origin else { return None };
        self.sources().find(|(file, _)| *file == place.file).map(|(_, bytes)| bytes)
    }

    /// The SHA-256 of all layers' bytes: equal digests mean equal configurations. `None` if it was not read.
    pub const fn digest(&self) -> Option<FileHash> {
        self.digest
    }

    /// The configuration files and their bytes, the weakest first: other crates have sections in them.
    pub fn sources(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_path(), &**bytes))
    }

    /// `None` if there is none. All other files come with the project.
    pub fn user_source(&self) -> Option<(&Path, &[u8])> {
        self.sources().next().filter(|_| self.has_user_file)
    }

    /// For a person's permissions: no project can bring this folder along.
    pub fn user_folder(&self) -> Option<&Path> {
        self.given.user_file.as_deref().and_then(Path::parent)
    }

    #[cfg(feature = "write")]
    pub(crate) const fn given(&self) -> &ConfigurationSources {
        &self.given
    }

    /// Effective values with their origin, in the order of [`VARIABLES`]. Keys without value and default are
    /// left out.
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

    /// Keys without effect.
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
