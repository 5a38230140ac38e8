//! The configuration of a project: `.stepmark/config.yaml` and what lies below and above it. It is static;
//! the table of [`VARIABLES`] says what is not.

pub(crate) mod initial_files;
pub(crate) mod workflow_declaration;

pub use initial_files::{STEPMARK_GITIGNORE, initial_configuration};
pub use workflow_declaration::{StepSource, WorkflowDeclaration};

mod asdd;
mod sections;
mod variable_sides;
mod scalars;
mod check_keys;
mod keys;
mod sources;
mod layer;
mod lifecycles;
pub(crate) mod packs;
mod schema;
mod error;
mod read;
#[cfg(test)]
mod cases;

use std::{
    collections::BTreeMap,
    num::NonZeroU32,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use self::keys::{ArtifactKeys, Globs, Keys};
use self::layer::ConfigurationLayer;
use self::sources::{ALWAYS_EXCLUDED, DEFAULT_GIT_HISTORY_LIMIT, DEFAULT_LEASE, built_in, default_values};
use self::variable_sides::FREE_MAPS;
use stepmark_model::{
    artifact::{FileHash, PathGlobs, ProjectPath},
    check::Levels,
    lifecycle::{DeclaredLifecycle, Lifecycles, Roles},
};

pub use asdd::AsddSettings;
pub use check_keys::PathAllowance;
pub use error::{ConfigurationError, UnknownKey};
pub use layer::{ConfiguredValue, Origin, Place};
use packs::PackFiles;
pub use packs::{PACKS_FOLDER, ProjectPack};
pub use scalars::Milestone;
pub use sections::{
    Access, AutodevSettings, CoordinationSettings, FlowSettings, MemorySettings, MemoryStoreKind,
    MemoryStoreSettings, MemoryTier, ProjectDescription, RecallSettings, Repository, Track,
};
pub use sources::ConfigurationSources;
pub(crate) use sources::{DEFAULT_EXCLUDE, DEFAULT_INCLUDE};
pub use variable_sides::{DynamicPlace, Side, StaticLevel, VARIABLES, Variable};

/// The configuration of a project; every part has a default. It is static: no state is kept in it.
#[derive(Clone, Debug)]
pub struct Configuration {
    keys: Keys,
    project: ProjectDescription,
    include: PathGlobs,
    exclude: PathGlobs,
    always_excluded: PathGlobs,
    workflows: Vec<WorkflowDeclaration>,
    lifecycles: Arc<Lifecycles>,
    packs: Vec<ProjectPack>,
    pack_paths: PathGlobs,
    roles: Roles,
    variables: BTreeMap<String, String>,
    instruction_components: Vec<ProjectPath>,
    settings: BTreeMap<String, String>,
    autodev: Option<AutodevSettings>,
    asdd: Option<AsddSettings>,
    coordination: Option<CoordinationSettings>,
    flows: Option<FlowSettings>,
    memory: MemorySettings,
    rule_levels: Levels,
    /// The values of every layer, the weakest first.
    values: Vec<ConfiguredValue>,
    files: Vec<PathBuf>,
    /// `None` where it was not read.
    digest: Option<FileHash>,
    /// The bytes of the files, in their order.
    contents: Vec<Arc<[u8]>>,
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
        let mut lifecycles = None;
        for layer in layers {
            lifecycles = layer.lifecycles.or(lifecycles);
            keys = keys.overlaid(layer.keys);
            values.extend(layer.values);
            unknown_keys.extend(layer.unknown_keys);
        }
        let globs = |of: fn(&ArtifactKeys) -> &Option<Globs>, usual: &[&str]| {
            let given = keys.artifacts.as_ref().and_then(|artifacts| of(artifacts).as_ref());
            given.map_or_else(|| built_in(usual), |globs| globs.0.clone())
        };
        let components = keys.instructions.iter().filter_map(|keys| keys.components.as_ref()).flatten();
        let levels = keys.check.iter().filter_map(|keys| keys.rules.as_ref()).flat_map(|levels| &levels.0);
        Self {
            project: keys.project.clone().unwrap_or_default().into(),
            include: globs(|keys| &keys.include, DEFAULT_INCLUDE),
            exclude: globs(|keys| &keys.exclude, DEFAULT_EXCLUDE),
            always_excluded: built_in(ALWAYS_EXCLUDED),
            workflows: keys.workflows.take().map(|workflows| workflows.0).unwrap_or_default(),
            lifecycles: Arc::new(Lifecycles::new(lifecycles.unwrap_or_default())),
            packs: Vec::new(),
            pack_paths: PathGlobs::new(Vec::new()),
            roles: keys.roles.take().into_iter().fold(Roles::default(), Roles::overlaid),
            variables: texts(&keys.variables, |name| &name.0, |path| &path.0),
            instruction_components: components.map(|path| path.0.clone()).collect(),
            settings: texts(&keys.settings, |name| &name.0, |text| &text.0),
            autodev: keys.autodev.take().map(AutodevSettings::from),
            asdd: keys.asdd.take().map(AsddSettings::from),
            coordination: keys.coordination.take().map(CoordinationSettings::from),
            flows: keys.flows.take().map(FlowSettings::from),
            memory: keys.memory.clone().unwrap_or_default().into(),
            rule_levels: levels.copied().collect(),
            keys,
            values,
            files: Vec::new(),
            digest: None,
            contents: Vec::new(),
            has_user_file: false,
            given: ConfigurationSources::default(),
            unknown_keys,
        }
    }

    fn with_packs(mut self, packs: Vec<ProjectPack>) -> Result<Self, String> {
        if packs.is_empty() {
            return Ok(self);
        }
        let (kinds, paths) = packs::lifecycles_of(&packs)?;
        let declared = self.lifecycles.declared();
        let is_taken = |kind: &&DeclaredLifecycle| {
            declared.iter().any(|own| own.lifecycle.name() == kind.lifecycle.name())
        };
        if let Some(taken) = kinds.iter().find(is_taken) {
            let name = taken.lifecycle.name();
            return Err(format!(
                "`lifecycles` of the configuration has `{name}` too: give one of them another name"
            ));
        }
        self.lifecycles = Arc::new(Lifecycles::new(declared.iter().cloned().chain(kinds).collect()));
        (self.packs, self.pack_paths) = (packs, paths);
        Ok(self)
    }

    pub(crate) fn with_pack_files(&self, root: &Path, files: &PackFiles) -> Result<Self, ConfigurationError> {
        let of_pack = |declared: &&DeclaredLifecycle| declared.kind.is_none();
        let own = self.lifecycles.declared().iter().filter(of_pack).cloned().collect();
        let bare = Self {
            lifecycles: Arc::new(Lifecycles::new(own)),
            packs: Vec::new(),
            digest: None,
            ..self.clone()
        };
        let invalid =
            |reason| ConfigurationError::Invalid { path: root.join(PACKS_FOLDER), position: None, reason };
        bare.with_packs(packs::assemble(root, files)?).map_err(invalid)
    }

    /// The packs of the project, in the order of their files.
    pub fn packs(&self) -> &[ProjectPack] {
        &self.packs
    }

    /// The identity of the project in tickets, memory and history; `None` until `init` gives one.
    pub fn project_id(&self) -> Option<&str> {
        self.keys.project_id.as_ref().map(|id| id.0.as_str())
    }

    /// The project, as `project:` describes it: its repositories, constitution and documents.
    pub const fn project(&self) -> &ProjectDescription {
        &self.project
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

    pub fn is_include_configured(&self) -> bool {
        self.keys.artifacts.as_ref().is_some_and(|artifacts| artifacts.include.is_some())
    }

    /// autodev; `None` where the project does not use it.
    pub const fn autodev(&self) -> Option<&AutodevSettings> {
        self.autodev.as_ref()
    }

    /// ASDD; `None` where the project does not use it.
    pub const fn asdd(&self) -> Option<&AsddSettings> {
        self.asdd.as_ref()
    }

    pub(crate) fn switch_asdd_on(&mut self) {
        self.asdd.get_or_insert_with(|| asdd::AsddKeys::default().into());
    }

    /// Coordination; `None` where the project does not use it.
    pub const fn coordination(&self) -> Option<&CoordinationSettings> {
        self.coordination.as_ref()
    }

    /// Flows; `None` where the project does not use them.
    pub const fn flows(&self) -> Option<&FlowSettings> {
        self.flows.as_ref()
    }

    /// Returns whether the configuration says something about memory: then it is handed to agents that start.
    pub const fn uses_memory(&self) -> bool {
        self.keys.memory.is_some()
    }

    pub const fn memory(&self) -> &MemorySettings {
        &self.memory
    }

    pub(crate) fn switch_coordination_on(&mut self) {
        self.coordination.get_or_insert_with(|| sections::CoordinationKeys::default().into());
    }

    /// Returns whether the file at `path` is a record of a system that is switched on: an artifact whatever
    /// the patterns say.
    fn is_record(&self, path: &ProjectPath) -> bool {
        let is_markdown = path.extension() == Some("md");
        is_markdown && self.is_of_system(path) || self.autodev().is_some_and(|own| own.file == *path)
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

    /// The declared workflows, in the order of the file.
    pub fn workflows(&self) -> &[WorkflowDeclaration] {
        &self.workflows
    }

    pub const fn lifecycles(&self) -> &Arc<Lifecycles> {
        &self.lifecycles
    }

    /// The roles with their actors: those that are declared, and those that the built-in systems know.
    pub const fn roles(&self) -> &Roles {
        &self.roles
    }

    /// The values of variables in step files (`planning_artifacts`, without braces): folders seen from the
    /// project root, with `/` between their parts; empty for the root itself.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// The artifact that is worked on, as configuration names it.
    pub fn active(&self) -> Option<&ProjectPath> {
        self.keys.active.as_ref().map(|path| &path.0)
    }

    /// After what checkpoints are made by themselves.
    pub fn milestones(&self) -> &[Milestone] {
        self.keys.milestones.as_deref().unwrap_or_default()
    }

    /// After how many completed steps a checkpoint is made by itself; `None`: never.
    pub fn checkpoint_every(&self) -> Option<NonZeroU32> {
        self.keys.checkpoints.as_ref()?.every.as_ref().map(|count| count.0)
    }

    /// The folder in which delegated artifacts are made; `None`: beside their parent.
    pub fn delegation_folder(&self) -> Option<&ProjectPath> {
        self.keys.delegation.as_ref()?.folder.as_ref().map(|path| &path.0)
    }

    /// The time that a lease lasts. 600 s by default.
    pub fn lease_duration(&self) -> Duration {
        let seconds = self.keys.lease.as_ref().and_then(|keys| keys.seconds.as_ref());
        Duration::from_secs(seconds.map_or(DEFAULT_LEASE, |count| count.0).get().into())
    }

    /// Returns whether the steps of artifacts have gates. They have none by default.
    pub fn has_gates(&self) -> bool {
        self.keys.gates.unwrap_or_default()
    }

    /// The time for which git may be asked for the history of a file. 300 ms by default; 0 turns it off.
    pub fn git_history_limit(&self) -> Duration {
        let limit = self.keys.git_history.as_ref().and_then(|keys| keys.limit_ms.as_ref());
        Duration::from_millis(limit.map_or(DEFAULT_GIT_HISTORY_LIMIT, |limit| limit.0).into())
    }

    /// Returns whether the hook brings the frontmatter of a story to what its line and its ledger agree on;
    /// `false` by default.
    pub fn takes_in_agreed(&self) -> bool {
        self.keys.stories.as_ref().and_then(|keys| keys.take_in_agreed).unwrap_or_default()
    }

    /// The path of the assembled instruction file; `None`: there is none.
    pub fn instruction_output(&self) -> Option<&ProjectPath> {
        self.keys.instructions.as_ref()?.output.as_ref().map(|path| &path.0)
    }

    /// The Markdown files that it is assembled from, in their order.
    pub fn instruction_components(&self) -> &[ProjectPath] {
        &self.instruction_components
    }

    /// The settings that an agent is told (`user_name`, `communication_language`, …), each as it is spelled.
    pub const fn settings(&self) -> &BTreeMap<String, String> {
        &self.settings
    }

    /// The levels of the findings of each rule (`check.rules`).
    pub const fn rule_levels(&self) -> &Levels {
        &self.rule_levels
    }

    /// Findings that are accepted (`check.allow`), in the order of the file.
    pub fn allowances(&self) -> &[PathAllowance] {
        self.keys.check.as_ref().and_then(|keys| keys.allow.as_deref()).unwrap_or_default()
    }

    /// The bytes of `.stepmark/config.yaml`, if [`Configuration::allowances`] stand there and in no other
    /// layer.
    pub(crate) fn source_of_allowances(&self) -> Option<&[u8]> {
        let last = self.values.iter().rfind(|value| value.key == "check.allow")?;
        let Origin::Project(place) = &last.origin else { return None };
        self.sources().find(|(file, _)| *file == place.file).map(|(_, bytes)| bytes)
    }

    /// The configuration files that were read, the weakest first.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The SHA-256 over what all layers say, to the byte: equal ones mean equal configurations. `None` for
    /// one that was not read.
    pub const fn digest(&self) -> Option<FileHash> {
        self.digest
    }

    /// The configuration files that were read and what they held, the weakest first: for what other crates
    /// keep in them.
    pub fn sources(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        self.files.iter().zip(&self.contents).map(|(path, bytes)| (path.as_path(), &**bytes))
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
            let place = Variable::all_static().position(|variable| {
                variable.name == value.key
                    || FREE_MAPS.contains(&variable.name)
                        && value.key.strip_prefix(variable.name).is_some_and(|rest| rest.starts_with('.'))
            });
            nearest.insert((place.unwrap_or(usize::MAX), &value.key), value.clone());
        }
        nearest.into_values().collect()
    }

    /// The keys that stand in the files without effect.
    pub fn unknown_keys(&self) -> &[UnknownKey] {
        &self.unknown_keys
    }
}

impl Default for Configuration {
    fn default() -> Self {
        Self::of(Vec::new())
    }
}

fn texts<K, V>(
    map: &Option<BTreeMap<K, V>>,
    name: fn(&K) -> &String,
    text: fn(&V) -> &String,
) -> BTreeMap<String, String> {
    map.iter().flatten().map(|(key, value)| (name(key).clone(), text(value).clone())).collect()
}
