//! Typed values of configuration keys.

use std::{convert::Infallible, fmt, num::NonZeroU32, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny};

use stepmark_frontmatter::Span;
use stepmark_model::packs::{deserialize_as_scalar, schema_of_scalar};
use stepmark_model::{
    artifact::{PathGlob, PathGlobs, ProjectPath, ProjectPathError},
    asdd::Prefer,
    check::{Allowance, Level, RULES, rule_of},
};

/// Declares scalar types, each with its parser and its JSON Schema.
macro_rules! scalars {
    ($($(#[$about:meta])* $own:ident($type:ty), |$text:ident| -> $error:ty $parse:block $schema:tt)*) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(super) struct $own(pub(super) $type);

        impl FromStr for $own {
            type Err = $error;

            fn from_str($text: &str) -> Result<Self, $error> {
                let parsed: Result<$type, $error> = $parse;
                parsed.map(Self)
            }
        }

        deserialize_as_scalar!($own);
        schema_of_scalar!($own, $schema);
    )*};
}

scalars! {
    /// A path below the project root; `{project-root}/` may precede it, as in files of BMAD.
    FilePath(ProjectPath), |text| -> ProjectPathError {
        ProjectPath::new(text.strip_prefix("{project-root}/").unwrap_or(text))
    } {"type": "string", "minLength": 1, "not": {"pattern": "^/"}}

    /// Seconds or steps, at least 1.
    Count(NonZeroU32), |text| -> String {
        text.parse().map_err(|_| format!("a whole number from 1 to {} is wanted, not `{text}`", u32::MAX))
    } {"type": ["integer", "string"], "minimum": 1, "maximum": u32::MAX, "pattern": "^0*[1-9][0-9]*$"}

    Limit(u32), |text| -> String {
        text.parse().map_err(|_| format!("a whole number from 0 to {} is wanted, not `{text}`", u32::MAX))
    } {"type": ["integer", "string"], "minimum": 0, "maximum": u32::MAX, "pattern": "^[0-9]+$"}

    /// A value of `settings:`, spelled as written.
    SettingText(String), |text| -> Infallible { Ok(text.to_owned()) } {"type": ["string", "number", "boolean"]}

    /// Used in ticket markers and labels, so it is one short word.
    ProjectId(String), |text| -> String {
        word(text, "-_.", 64).ok_or_else(|| {
            format!("a project id is made of 1 to 64 letters, digits, `-`, `_` and `.`, not `{text}`")
        })
    } {"type": ["string", "integer"], "pattern": "^[A-Za-z0-9_.-]{1,64}$"}

    #[derive(PartialOrd, Ord)]
    VariableName(String), |text| -> String {
        word(text, "-_", usize::MAX).ok_or_else(|| {
            format!("the name of a variable is made of letters, digits, `-` and `_`, without braces, not `{text}`")
        })
    } {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"}

    /// One word, like those of trackers.
    #[derive(PartialOrd, Ord)]
    StoreName(String), |text| -> String {
        word(text, "-_", 64).ok_or_else(|| {
            format!("the name of a store is made of 1 to 64 letters, digits, `-` and `_`, not `{text}`")
        })
    } {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}

    /// Story files by name without the extension; `{name}` means `*`.
    StoryPattern(PathGlob), |text| -> String {
        let open = |part: &str| part.split_once('}').map_or_else(|| part.to_owned(), |(_, rest)| format!("*{rest}"));
        let name: String = text.split('{').map(open).collect();
        let glob = format!("**/{name}.md").parse().ok().filter(|_| !name.is_empty() && !name.contains('/'));
        glob.ok_or_else(|| format!("a pattern of names such as `story_*` is wanted, not `{text}`"))
    } {"type": "string", "pattern": "^[^/]+$"}

    /// Relative to the project root; empty for the root itself.
    VariablePath(String), |text| -> ProjectPathError {
        let inside = text.strip_prefix("{project-root}").map(|inside| inside.strip_prefix('/').unwrap_or(inside));
        match ProjectPath::new(inside.unwrap_or(text)) {
            Err(ProjectPathError::Empty) => Ok(String::new()),
            path => path.map(|path| path.as_str().to_owned()),
        }
    } {"type": "string"}

    /// `higher-confidence`, `first` or `agent NAME`.
    PreferText(Prefer), |text| -> String {
        match text.split_once(' ') {
            None if text == "higher-confidence" => Ok(Prefer::HigherConfidence),
            None if text == "first" => Ok(Prefer::First),
            Some(("agent", name)) if !name.trim().is_empty() => Ok(Prefer::Agent(name.trim().to_owned())),
            _ => Err(format!("`{text}` is none of `higher-confidence`, `first` and `agent NAME`")),
        }
    } {"type": "string"}

    /// A step id, spelled as written: `1.10` and `02` are not numbers.
    StepId(String), |text| -> &'static str {
        Some(text.trim()).filter(|id| !id.is_empty()).map(str::to_owned).ok_or("a step id is empty")
    } {"type": ["string", "number"], "pattern": r"\S"}

    #[derive(PartialOrd, Ord)]
    RuleName(&'static str), |text| -> String {
        rule_of(text).map(|rule| rule.id).ok_or_else(|| format!("there is no rule `{text}`; `stepmark explain` lists them"))
    } {"enum": RULES.iter().flat_map(|rule| [rule.id, rule.name]).collect::<Vec<_>>()}

    RuleLevel(Level), |text| -> <Level as FromStr>::Err { text.parse() } {"enum": ["off", "note", "warning", "error"]}
}

/// `None` unless all characters are letters, digits or `others`, in at most `most` bytes.
fn word(text: &str, others: &str, most: usize) -> Option<String> {
    let fits = (1..=most).contains(&text.len())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || others.contains(letter));
    fits.then(|| text.to_owned())
}

pub(super) enum RuleLevels {}

schema_of_scalar!(RuleLevels, {
    "type": "object",
    "propertyNames": {"enum": RULES.iter().flat_map(|rule| [rule.id, rule.name]).collect::<Vec<_>>()},
    "additionalProperties": {"enum": ["off", "note", "warning", "error"]},
});

/// Earlier versions, which always had gates, wrote `{days: N}`.
pub(super) fn gates<'de, D: Deserializer<'de>>(text: D) -> Result<Option<bool>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected `true` or `false`")]
    enum Written {
        Switch(bool),
        Days {
            #[serde(rename = "days")]
            _days: IgnoredAny,
        },
    }
    Written::deserialize(text).map(|gates| Some(!matches!(gates, Written::Switch(false))))
}

/// An item of `milestones:`: triggers a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Milestone {
    Step(String),
    Finished,
}

impl FromStr for Milestone {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text.trim() {
            "" => Err("a milestone is empty: name a step, or `finished`"),
            "finished" => Ok(Self::Finished),
            step => Ok(Self::Step(step.to_owned())),
        }
    }
}

impl fmt::Display for Milestone {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Step(step) => step,
            Self::Finished => "finished",
        })
    }
}

deserialize_as_scalar!(Milestone);
schema_of_scalar!(Milestone, {"type": ["string", "number"], "pattern": r"\S"});

/// An entry of `workflows:`: the workflow's name, its artifacts, and the source of its steps.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "WorkflowKeys")]
#[non_exhaustive]
pub struct WorkflowDeclaration {
    /// Trimmed and unique.
    pub name: String,
    pub artifacts: PathGlobs,
    pub steps: StepSource,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepSource {
    /// The ids in `steps:`, in order; no step file need exist.
    Listed(Vec<String>),
    /// Contains `workflow.md` or the step files.
    Folder(ProjectPath),
    /// Neither: binds artifacts to the workflow of that name found in the project.
    Discovered,
}

pub(super) const WORKFLOW_KEYS: [&str; 4] = ["name", "artifacts", "steps", "folder"];

/// The keys of an entry, as written.
#[derive(Deserialize, JsonSchema)]
#[serde(expecting = "a workflow: a mapping with `name`, `artifacts`, and `steps` or `folder`")]
#[schemars(rename = "Workflow")]
pub(super) struct WorkflowKeys {
    /// Its name.
    name: String,
    /// The artifacts bound to it.
    artifacts: Option<Vec<PathGlob>>,
    /// The ids of its steps, in order.
    steps: Option<Vec<StepId>>,
    /// The folder of its step files, instead of `steps`.
    folder: Option<FilePath>,
}

impl TryFrom<WorkflowKeys> for WorkflowDeclaration {
    type Error = String;

    fn try_from(written: WorkflowKeys) -> Result<Self, String> {
        let name = written.name.trim();
        if name.is_empty() {
            return Err("the name of the workflow is empty".to_owned());
        }
        let steps = match (written.steps, written.folder) {
            (Some(_), Some(_)) => {
                return Err(format!(
                    "workflow `{name}` has both `steps` and `folder`: its steps come from one of them"
                ));
            }
            (Some(steps), None) => {
                if let Some((_, twice)) = steps.iter().enumerate().find(|(at, id)| steps[..*at].contains(id))
                {
                    return Err(format!("workflow `{name}` lists the step `{}` twice", twice.0));
                }
                if steps.is_empty() {
                    return Err(format!("workflow `{name}` has an empty list of steps"));
                }
                StepSource::Listed(steps.into_iter().map(|id| id.0).collect())
            }
            (None, Some(folder)) => StepSource::Folder(folder.0),
            (None, None) => StepSource::Discovered,
        };
        let artifacts = PathGlobs::new(written.artifacts.unwrap_or_default());
        Ok(Self { name: name.to_owned(), artifacts, steps })
    }
}

/// An entry of `check.allow:`: accepted findings in some artifacts.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "AllowanceKeys")]
#[non_exhaustive]
pub struct PathAllowance {
    pub allowance: Allowance,
    pub paths: PathGlobs,
    /// Its position in the file; `None` if it is not from a file.
    pub span: Option<Span>,
}

/// The keys of an entry, as written.
#[derive(Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `rules`, `paths` and `reason`")]
#[schemars(rename = "Allowance")]
pub(super) struct AllowanceKeys {
    /// The rules that may be broken.
    rules: Vec<RuleName>,
    /// The files in which they may be.
    paths: Vec<PathGlob>,
    /// Why.
    reason: String,
}

impl TryFrom<AllowanceKeys> for PathAllowance {
    type Error = &'static str;

    fn try_from(written: AllowanceKeys) -> Result<Self, &'static str> {
        let AllowanceKeys { rules, paths, reason } = written;
        if rules.is_empty() || paths.is_empty() {
            return Err("`rules` and `paths` name at least one rule and one pattern");
        }
        if reason.trim().is_empty() {
            return Err("the reason is empty: say why these findings are accepted");
        }
        let rules = rules.into_iter().filter_map(|rule| rule_of(rule.0)).collect();
        Ok(Self { allowance: Allowance { rules, reason }, paths: PathGlobs::new(paths), span: None })
    }
}

/// A number from 0 to 1.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
pub(super) struct Share(#[schemars(range(min = 0.0, max = 1.0))] pub(super) f64);

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(number: f64) -> Result<Self, String> {
        match (0.0..=1.0).contains(&number) {
            true => Ok(Self(number)),
            false => Err(format!("{number} is no number from 0 to 1")),
        }
    }
}

/// A repository that the work of the project changes or reads.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Repository {
    /// Its name.
    pub name: String,
    /// Its place, as the project spells it.
    pub path: String,
    /// The right to it.
    #[serde(default)]
    pub access: Access,
}

/// The right of the work to a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// It is only read.
    #[default]
    Ro,
    /// It is changed.
    Rw,
}

/// A store that is given what is remembered, beside the embedded one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `kind` and `tiers`", deny_unknown_fields)]
pub struct MemoryStoreSettings {
    /// Its kind.
    pub kind: MemoryStoreKind,
    /// The tiers that it is given; all, where nothing is said.
    #[serde(default = "all_tiers")]
    pub tiers: Vec<MemoryTier>,
}

/// The kind of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryStoreKind {
    /// The program `kuzu-memory`.
    KuzuMemory,
    /// A database of Ladybug, by its Python package.
    Ladybug,
}

/// The moment at which records are given to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MemoryTier {
    /// At once: decisions, errors, security, preferences.
    Continuous,
    /// At milestones: what was seen and done on the way, and the graph.
    Milestones,
    /// At the end of a session: its summary.
    Sessions,
}

fn all_tiers() -> Vec<MemoryTier> {
    vec![MemoryTier::Continuous, MemoryTier::Milestones, MemoryTier::Sessions]
}

/// The place of what is told to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Track {
    /// In this clone.
    #[default]
    Local,
    /// In the tracked journal, for every clone.
    Git,
}
