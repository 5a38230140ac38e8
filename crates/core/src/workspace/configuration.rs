//! The configuration of a project: `.stepmark/config.yaml`.
#![expect(clippy::disallowed_methods, reason = "an edge module: the configuration file is read here")]

use std::{collections::BTreeMap, fmt, fs::File, io, io::Read, path::PathBuf};

use super::{
    CONFIGURATION_PATH, PathGlobs, Root, WorkflowDeclaration,
    configuration_keys::{ArtifactKeys, Keys, Misplaced},
};
use crate::{artifact::ProjectPath, document::Position};

/// A configuration is written by hand; what is larger than this many bytes is something else.
const SIZE_LIMIT: u64 = 1024 * 1024;

/// What counts as an artifact where the configuration does not say.
pub(super) const DEFAULT_INCLUDE: &[&str] = &["**/*.md"];

/// What is never an artifact where the configuration does not say: what an installer or another tool put there. BMAD
/// installs into `_bmad/` (older: `bmad/`, `.bmad/`) and writes artifacts into `_bmad-output/` or `docs/`.
pub(super) const DEFAULT_EXCLUDE: &[&str] = &[
    "**/_bmad/**",
    "bmad/**",
    "**/.*",
    "**/.*/**",
    "**/node_modules/**",
    "**/site-packages/**",
    "**/target/**",
    "**/vendor/**",
];

/// Excluded whatever the configuration says: the state of stepmark and of git.
const ALWAYS_EXCLUDED: &[&str] = &["**/.stepmark/**", "**/.stepmark-*", "**/.git/**"];

/// The configuration of a project; every part has a default. It is static: no state is kept in it.
#[derive(Clone, Debug)]
pub struct Configuration {
    project_id: Option<String>,
    include: PathGlobs,
    exclude: PathGlobs,
    always_excluded: PathGlobs,
    workflows: Vec<WorkflowDeclaration>,
    variables: BTreeMap<String, String>,
    unknown_keys: Vec<UnknownKey>,
}

/// A key of the configuration that this version does not know: a typing error, or a key of a newer version. It has no
/// effect, and is reported.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnknownKey {
    /// The way to the key, for instance `workflows[0].step`.
    pub key: String,
}

impl fmt::Display for UnknownKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "`{CONFIGURATION_PATH}` has the key `{}`, which stepmark does not know: it has no effect",
            self.key
        )
    }
}

/// Why the configuration cannot be used. A missing file is no error.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurationError {
    /// The file exists, but cannot be read.
    #[error("cannot read the configuration `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is too large to be a configuration.
    #[error("the configuration `{}` is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How many bytes it may have.
        limit: u64,
    },
    /// The file is no YAML, or a value in it is not what stands for its key.
    #[error("`{}`{} cannot be used: {reason}", path.display(), At(*position))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where in the file, as far as it is known.
        position: Option<Position>,
        /// What is wrong there.
        reason: String,
    },
}

/// `:line:column`, as editors understand it.
struct At(Option<Position>);

impl fmt::Display for At {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |position| write!(out, ":{position}"))
    }
}

impl Configuration {
    /// Reads `.stepmark/config.yaml` of the project; the defaults where it does not exist.
    ///
    /// # Errors
    /// When the file cannot be read or used, with its line and column.
    pub fn load(root: &Root) -> Result<Self, ConfigurationError> {
        let path = root.path().join(CONFIGURATION_PATH);
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(SIZE_LIMIT + 1).read_to_end(&mut bytes));
        match read {
            Ok(_) if bytes.len() as u64 > SIZE_LIMIT => {
                Err(ConfigurationError::TooLarge { path, limit: SIZE_LIMIT })
            }
            Ok(_) => Self::parse(&bytes).map_err(|Misplaced { position, reason }| {
                ConfigurationError::Invalid { path, position, reason }
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(ConfigurationError::Unreadable { path, source }),
        }
    }

    fn parse(bytes: &[u8]) -> Result<Self, Misplaced> {
        let (keys, unknown) = Keys::read(bytes)?;
        let ArtifactKeys { include, exclude } = keys.artifacts.unwrap_or_default();
        let built_in = Self::default();
        Ok(Self {
            project_id: keys.project_id.map(|id| id.0),
            include: include.map_or(built_in.include, |globs| globs.0),
            exclude: exclude.map_or(built_in.exclude, |globs| globs.0),
            always_excluded: built_in.always_excluded,
            workflows: keys.workflows.map(|workflows| workflows.0).unwrap_or_default(),
            variables: keys
                .variables
                .unwrap_or_default()
                .into_iter()
                .map(|(name, path)| (name.0, path.0))
                .collect(),
            unknown_keys: unknown.into_iter().map(|key| UnknownKey { key }).collect(),
        })
    }

    /// The identity of the project in tickets, memory and history; `None` until `init` gives one.
    pub fn project_id(&self) -> Option<&str> {
        self.project_id.as_deref()
    }

    /// Whether the file at `path` counts as an artifact.
    pub fn is_artifact(&self, path: &ProjectPath) -> bool {
        self.include.matches(path) && !self.exclude.matches(path) && !self.always_excluded.matches(path)
    }

    /// Whether no file in the folder at `path`, however deep, counts as an artifact: a walk need not enter it.
    pub fn skips_folder(&self, path: &ProjectPath) -> bool {
        self.exclude.matches_all_in(path) || self.always_excluded.matches_all_in(path)
    }

    /// The patterns of files that are artifacts.
    pub fn include(&self) -> &PathGlobs {
        &self.include
    }

    /// The patterns of files that are none, though they are included. Files of stepmark and git never are.
    pub fn exclude(&self) -> &PathGlobs {
        &self.exclude
    }

    /// The declared workflows, in the order of the file.
    pub fn workflows(&self) -> &[WorkflowDeclaration] {
        &self.workflows
    }

    /// The values of variables in step files (`planning_artifacts`, without braces): folders seen from the project
    /// root, with `/` between their parts; empty for the root itself.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// What stands in the file without effect.
    pub fn unknown_keys(&self) -> &[UnknownKey] {
        &self.unknown_keys
    }
}

impl Default for Configuration {
    fn default() -> Self {
        Self {
            project_id: None,
            include: built_in(DEFAULT_INCLUDE),
            exclude: built_in(DEFAULT_EXCLUDE),
            always_excluded: built_in(ALWAYS_EXCLUDED),
            workflows: Vec::new(),
            variables: BTreeMap::new(),
            unknown_keys: Vec::new(),
        }
    }
}

#[expect(clippy::expect_used, reason = "the patterns are constants of this file, and a test compiles them")]
fn built_in(globs: &[&str]) -> PathGlobs {
    let globs = globs.iter().map(|glob| glob.parse()).collect::<Result<_, _>>();
    PathGlobs::new(globs.expect("built-in patterns are valid"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{StepSource, initial_configuration};

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    fn read(text: &str) -> Configuration {
        Configuration::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error:?}"))
    }

    #[test]
    fn by_default_markdown_outside_of_tools_is_an_artifact() {
        let configuration = Configuration::default();
        for (file, expected) in [
            ("docs/prd.md", true),
            ("README.md", true),
            ("_bmad-output/planning-artifacts/prd.md", true),
            ("docs/bmad/prd.md", true),
            ("docs/prd.yaml", false),
            ("_bmad/bmm/workflows/prd/workflow.md", false),
            ("packages/a/_bmad/core/x.md", false),
            ("bmad/core/x.md", false),
            (".bmad/core/x.md", false),
            (".claude/skills/x/SKILL.md", false),
            ("docs/.draft.md", false),
            ("node_modules/x/README.md", false),
            ("a/vendor/x/README.md", false),
            ("target/doc/x.md", false),
        ] {
            assert_eq!(configuration.is_artifact(&path(file)), expected, "{file}");
        }
        for (folder, expected) in [("docs", false), ("a/node_modules", true), (".git", true), ("_bmad", true)]
        {
            assert_eq!(configuration.skips_folder(&path(folder)), expected, "{folder}");
        }
    }

    #[test]
    fn nothing_given_is_the_default() {
        for text in ["", "# only a comment\n", "---\n", "artifacts:\nworkflows:\nvariables:\nproject_id:\n"] {
            let configuration = read(text);
            assert!(configuration.is_artifact(&path("docs/prd.md")), "{text}");
            assert!(configuration.skips_folder(&path("node_modules")), "{text}");
            assert_eq!(configuration.project_id(), None);
            assert!(configuration.unknown_keys().is_empty());
        }
    }

    #[test]
    fn the_text_of_init_says_the_defaults() {
        let configuration = read(&initial_configuration("4f6c"));
        assert_eq!(configuration.project_id(), Some("4f6c"));
        assert!(configuration.unknown_keys().is_empty(), "{:?}", configuration.unknown_keys());
        let texts = |globs: &PathGlobs| globs.iter().map(|glob| glob.as_str().to_owned()).collect::<Vec<_>>();
        assert_eq!(texts(configuration.include()), DEFAULT_INCLUDE);
        assert_eq!(texts(configuration.exclude()), DEFAULT_EXCLUDE);
    }

    #[test]
    fn the_examples_in_the_text_of_init_are_valid() {
        let text = initial_configuration("4f6c");
        let uncommented = text.lines().map(|line| match line.strip_prefix("# ") {
            Some(key) if key.starts_with("  ") || key == "workflows:" || key == "variables:" => key,
            _ => line,
        });
        let configuration = read(&uncommented.collect::<Vec<_>>().join("\n"));
        assert_eq!(configuration.workflows().len(), 2);
        assert_eq!(configuration.variables().len(), 1);
        assert!(configuration.unknown_keys().is_empty());
    }

    #[test]
    fn reads_globs_workflows_and_variables() {
        let configuration = read(
            "artifacts: {include: ['docs/**/*.md', notes/], exclude: []}\nworkflows:\n\
             - {name: prd, artifacts: ['docs/prd*.md']}\n\
             - {name: release, artifacts: [docs/releases/], steps: [1, step-02-write, 1.10, 02, '2.10']}\n\
             - {name: audit, folder: ./workflows/audit/}\n\
             variables: {planning: '{project-root}/docs/plan/', output: ., plain: out}\n",
        );
        assert!(configuration.is_artifact(&path("notes/.hidden/a.txt")), "exclude is empty");
        assert!(
            !configuration.is_artifact(&path("docs/.git/a.md")),
            "but the files of git never are artifacts"
        );
        assert!(!configuration.is_artifact(&path("a.md")));
        let [prd, release, audit] = configuration.workflows() else {
            panic!("{:?}", configuration.workflows())
        };
        assert_eq!((prd.name(), prd.steps()), ("prd", &StepSource::Discovered));
        assert!(prd.binds(&path("docs/prd-2.md")) && !prd.binds(&path("docs/x.md")));
        let steps = ["1", "step-02-write", "1.10", "02", "2.10"].map(str::to_owned).to_vec();
        assert_eq!(release.steps(), &StepSource::Listed(steps));
        assert_eq!(audit.steps(), &StepSource::Folder(path("workflows/audit")));
        let variables: Vec<_> =
            configuration.variables().iter().map(|(name, path)| (&**name, &**path)).collect();
        assert_eq!(variables, [("output", ""), ("plain", "out"), ("planning", "docs/plan")]);
    }

    #[test]
    fn unknown_keys_are_reported_at_every_level() {
        let configuration = read(
            "trackers: {github: {}}\nartifacts: {inclde: []}\nworkflows:\n- {name: a, step: [x]}\n1: 2\n",
        );
        let keys: Vec<_> = configuration.unknown_keys().iter().map(|unknown| unknown.key.as_str()).collect();
        assert_eq!(keys, ["trackers", "1", "artifacts.inclde", "workflows[0].step"]);
    }

    #[test]
    fn says_where_the_file_is_broken_and_why() {
        for (text, place, reason) in [
            ("artifacts: {\n  include: [a", "3:1", "did not find"),
            ("artifacts:\n  include: docs\n", "2:12", "sequence"),
            ("artifacts:\n  include:\n    - ok\n    - 'docs/[a'\n", "4:7", "not a path pattern"),
            ("artifacts:\n  exclude: [/docs]\n", "2:13", "leave the `/` away"),
            ("project_id: {a: b}\n", "1:13", "expected a text"),
            ("project_id: 'a b'\n", "1:13", "project_id"),
            ("workflows:\n  - artifacts: []\n", "2:5", "name"),
            ("workflows:\n  - name: a\n  - name: a\n", "2:3", "twice"),
            ("workflows:\n  - name: a\n    steps: [{a: b}]\n", "3:13", "expected a text"),
            ("workflows:\n  - name: a\n    steps: []\n", "2:3", "empty"),
            ("workflows:\n  - name: a\n    steps: [x, x]\n", "2:3", "twice"),
            ("workflows:\n  - {name: a, steps: [x], folder: b}\n", "2:3", "both"),
            ("workflows:\n  - {name: a, folder: ../b}\n", "2:23", "out of the project"),
            ("variables: {a: /tmp}\n", "1:16", "absolute"),
            ("variables: {'{a}': docs}\n", "1:13", "braces"),
            ("project_id: a\nproject_id: b\n", "1:1", "duplicate"),
            ("trackers: {a: 1, a: 2}\n", "1:11", "duplicate"),
            ("project_id: a\n---\nb: 1\n", "", "more than one document"),
            ("project_id: \"\u{1}\"\n", "1:1", "control characters"),
            ("- a\n", "1:1", "a mapping of keys"),
        ] {
            let error = Configuration::parse(text.as_bytes()).unwrap_err();
            let found = error.position.map(|position| position.to_string()).unwrap_or_default();
            assert_eq!(found, place, "{text:?}: {}", error.reason);
            assert!(error.reason.contains(reason), "{text:?}: {}", error.reason);
        }
        assert!(Configuration::parse(b"project_id: \xff\n").is_err());
    }

    #[test]
    fn a_missing_file_is_the_default_and_others_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        assert_eq!(Configuration::load(&root).unwrap().project_id(), None);
        let file = root.path().join(CONFIGURATION_PATH);
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "project_id: p\n").unwrap();
        assert_eq!(Configuration::load(&root).unwrap().project_id(), Some("p"));

        std::fs::write(&file, "project_id: [1]\n").unwrap();
        let message = Configuration::load(&root).unwrap_err().to_string();
        assert!(message.contains("config.yaml`:1:13 cannot be used: "), "{message}");

        std::fs::write(&file, vec![b'#'; 1024 * 1024 + 1]).unwrap();
        assert!(matches!(Configuration::load(&root), Err(ConfigurationError::TooLarge { .. })));
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert!(matches!(Configuration::load(&root), Err(ConfigurationError::Unreadable { .. })));
    }
}
