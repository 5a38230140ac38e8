//! Reading the layers of the configuration.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::{
    Error, ErrorKind,
    configuration::{
        Configuration, ConfigurationSources, Origin, Place, Side, Variable,
        layer::ConfigurationLayer,
        packs::{self, PackFiles},
    },
    disk::{
        file_reading::open_file,
        own_file::{self, Access},
        root::{CONFIGURATION_PATH, Root},
    },
};
use sha2::{Digest, Sha256};
use stepmark_frontmatter::Position;
use stepmark_model::{artifact::FileHash, spelling::near_words};

/// In bytes: configurations are written by hand, so a larger file is something else.
const SIZE_LIMIT: u64 = 1024 * 1024;

impl Configuration {
    pub fn load(root: &Root) -> Result<Self, Error> {
        Self::load_with(root, &ConfigurationSources::default())
    }

    /// The project's file takes precedence over the user's, environment and flags over both.
    pub fn load_with(root: &Root, sources: &ConfigurationSources) -> Result<Self, Error> {
        let own = own_file::open(root.path(), CONFIGURATION_PATH.as_ref(), Access::Read);
        let bytes = read_opened(&root.path().join(CONFIGURATION_PATH), own)?;
        Self::of_project_bytes(root, sources, bytes, packs::read_folder(root)?)
    }

    /// Uses `project_bytes` (`None`: no file) instead of the file on the disk.
    pub(crate) fn of_project_bytes(
        root: &Root,
        sources: &ConfigurationSources,
        project_bytes: Option<Vec<u8>>,
        pack_files: PackFiles,
    ) -> Result<Self, Error> {
        let mut layers = Vec::new();
        let mut files = Vec::new();
        let mut digest = Sha256::new();
        let mut has_user_file = false;
        let user = match &sources.user_file {
            Some(path) => Some((path.clone(), read_file(path)?, Origin::User as fn(Place) -> Origin)),
            None => None,
        };
        let project = root.path().join(CONFIGURATION_PATH);
        let project = (project, project_bytes, Origin::Project as fn(Place) -> Origin);
        for (path, bytes, origin) in user.into_iter().chain([project]) {
            let Some(bytes) = bytes else { continue };
            digest.update(format!("{path:?} {}\n", bytes.len()));
            digest.update(&bytes);
            let layer = ConfigurationLayer::read(&path, &bytes, origin)?;
            refuse_misplaced(&path, &layer)?;
            layers.push(layer);
            has_user_file |= sources.user_file.as_ref() == Some(&path);
            files.push((path, bytes.into()));
        }
        for variable in Variable::all_static() {
            let Some(name) = &variable.environment else { continue };
            let Some((_, text)) = sources.environment.iter().rfind(|(own, _)| own == name) else { continue };
            digest.update(format!("{name}={text:?}\n"));
            let origin = Origin::Environment { variable: name.clone() };
            layers.push(ConfigurationLayer::given(&variable.name, text, origin).map_err(|reason| {
                let source_name = format!("the environment variable `{name}`");
                given(&source_name, &variable.name, &reason)
            })?);
        }
        for (key, text) in &sources.flags {
            digest.update(format!("--config {key:?}={text:?}\n"));
            layers.push(flag_layer(key, text)?);
        }
        for (name, bytes) in &pack_files {
            digest.update(format!("pack {name:?} {}\n", bytes.len()));
            digest.update(bytes);
        }
        let digest = Some(FileHash::from_digest(digest.finalize().into()));
        let read = Self { files, has_user_file, given: sources.clone(), digest, ..Self::of(layers) };
        read.with_packs(root.path(), &pack_files)
    }
}

fn read_file(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    // A pipe would block.
    let regular = |file: File| match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    };
    read_opened(path, open_file(path).and_then(regular))
}

fn read_opened(path: &Path, opened: io::Result<File>) -> Result<Option<Vec<u8>>, Error> {
    let mut bytes = Vec::new();
    let read = opened.and_then(|file| file.take(SIZE_LIMIT + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) if bytes.len() as u64 > SIZE_LIMIT => {
            let message = format!("the configuration `{}` is larger than {SIZE_LIMIT} bytes", path.display());
            Err(Error::new(ErrorKind::Io, message).help(OR_DEFAULTS))
        }
        Ok(_) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(unreadable(path, source)),
    }
}

const OR_DEFAULTS: &str = "correct or remove it: without a configuration the defaults count";

pub(super) fn unreadable(path: &Path, source: io::Error) -> Error {
    Error::io(format!("cannot read the configuration `{}`", path.display()), source).help(OR_DEFAULTS)
}

pub(super) fn invalid(path: &Path, position: Option<Position>, reason: &str) -> Error {
    let at = position.map(|at| format!(":{at}")).unwrap_or_default();
    Error::new(ErrorKind::Io, format!("`{}`{at} cannot be used: {reason}", path.display()))
        .help("fix that line; nothing was changed")
}

fn given(source: &str, key: &str, reason: &str) -> Error {
    Error::usage(format!("{source} cannot be used for `{key}`: {reason}"))
}

/// Refuses an identity shared by all projects of a person, and credentials in a repository's file.
fn refuse_misplaced(path: &Path, layer: &ConfigurationLayer) -> Result<(), Error> {
    for value in &layer.values {
        let key = value.key.split('.').next().unwrap_or_default();
        let reason = match (&value.origin, key) {
            (Origin::User(_), "project_id") => format!(
                "`project_id` is the identity of one project: it belongs in its `{CONFIGURATION_PATH}`"
            ),
            (Origin::Project(_), "credentials") => {
                "`credentials` says which host gets your credentials, which no repository \
                 may: it belongs in your own configuration, `~/.config/stepmark/config.yaml`"
                    .to_owned()
            }
            _ => continue,
        };
        let position = value.origin.place().map(|place| place.position);
        return Err(invalid(path, position, &reason));
    }
    Ok(())
}

fn flag_layer(key: &str, text: &str) -> Result<ConfigurationLayer, Error> {
    let failed = |reason: String| given("`--config`", key, &reason);
    let name = key.rsplit('.').next().unwrap_or(key);
    if let Some(variable) = Variable::dynamic_at(key, name) {
        let belongs = belongs_to(variable.side, key);
        return Err(failed(format!(
            "it is {}; configuration is static, and this belongs {belongs}",
            variable.meaning
        )));
    }
    let single = Variable::all_static().filter(|variable| variable.environment.is_some());
    if !Variable::all_static().any(|variable| variable.has_below(key))
        && !single.clone().any(|variable| variable.name == key)
    {
        let known: Vec<_> = single.map(|variable| format!("`{}`", variable.name)).collect();
        return Err(failed(format!(
            "it is no key with a single value; these are {}, `settings.NAME`, `variables.NAME`, `roles.ROLE` and `check.rules.RULE`",
            known.join(", ")
        )));
    }
    ConfigurationLayer::given(key, text, Origin::Flag).map_err(failed)
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnknownKey {
    pub key: String,
    pub file: PathBuf,
    pub near: Option<String>,
}

impl UnknownKey {
    /// `key` below `way` (as `workflows[0].`); `known` are the valid keys there.
    pub fn new<'k>(way: &str, key: &str, file: &Path, known: impl IntoIterator<Item = &'k str>) -> Self {
        let near = near_words(key, known).into_iter().next();
        Self { key: format!("{way}{key}"), file: file.to_owned(), near }
    }

    /// The similar key to use instead, as the end of a sentence; empty if there is none.
    pub fn suggestion(&self) -> String {
        self.near.as_ref().map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
    }
}

impl fmt::Display for UnknownKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "`{}` has the key `{}`, which stepmark does not know: it has no effect{}",
            self.file.display(),
            self.key,
            self.suggestion()
        )
    }
}

pub(super) fn belongs_to(side: Side, key: &str) -> String {
    let name = key.rsplit('.').next().unwrap_or(key);
    match side {
        Side::RunTime => "nowhere: it is found out when it is needed".to_owned(),
        Side::Frontmatter | Side::System | Side::Project => {
            format!("in the frontmatter of the artifact (`stepmark set ARTIFACT {name}=…`)")
        }
    }
}
