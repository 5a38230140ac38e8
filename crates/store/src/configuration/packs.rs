//! Packs of the project: `.stepmark/packs/NAME.yaml`. They come with the repository, so from a stranger.

use crate::{Error, configuration::read};
use std::{path::Path, path::PathBuf, sync::Arc};

use crate::configuration::{Configuration, position_of};
use crate::disk::{folder::Folder, own_file, root::Root};
use stepmark_frontmatter::KeyPath;
use stepmark_model::{
    artifact::{PathGlob, PathGlobs},
    lifecycle::DeclaredLifecycle,
    packs::{self, MOST_BYTES, Pack, PackDeclaration, PackError, PackKind},
};

pub const PACKS_FOLDER: &str = ".stepmark/packs";

const MOST_PACKS: usize = 64;

pub(crate) type PackFiles = Vec<(String, Vec<u8>)>;

#[derive(Clone, Debug)]
pub struct ProjectPack {
    pub pack: Pack,
    pub file: String,
    pub bytes: Arc<[u8]>,
}

pub(super) fn read_folder(root: &Root) -> Result<PackFiles, Error> {
    let unreadable =
        |name: &str, source| read::unreadable(&root.path().join(PACKS_FOLDER).join(name), source);
    own_file::check_folder(root.path(), Path::new(PACKS_FOLDER)).map_err(|source| unreadable("", source))?;
    let names = Configuration::pack_names(root);
    names
        .into_iter()
        .map(|name| {
            let below = Path::new(PACKS_FOLDER).join(&name);
            let bytes = own_file::read(root.path(), &below, MOST_BYTES as u64);
            let bytes = bytes.map_err(|source| unreadable(&name, source))?;
            Ok((name, bytes))
        })
        .collect()
}

impl Configuration {
    /// Empty if the folder cannot be listed.
    pub(crate) fn pack_names(root: &Root) -> Vec<String> {
        let Ok(folder) = Folder::open(root.path(), PACKS_FOLDER.to_owned()) else { return Vec::new() };
        let names = (0..folder.len()).map(|place| folder.name(place)).filter(|name| is_pack_file(name));
        names.map(str::to_owned).collect()
    }
}

/// Editors leave other files there.
pub(crate) fn is_pack_file(name: &str) -> bool {
    name.ends_with(".yaml") && !name.starts_with('.')
}

pub(super) fn assemble(root: &Path, files: &PackFiles) -> Result<Vec<ProjectPack>, Error> {
    let path = |name: &str| root.join(PACKS_FOLDER).join(name);
    let invalid = |name: &str, position, reason: String| read::invalid(&path(name), position, &reason);
    if files.len() > MOST_PACKS {
        let reason = format!("there are {} packs, and {MOST_PACKS} are the most", files.len());
        return Err(invalid("", None, reason));
    }
    let mut declared: Vec<(&str, &[u8], PackDeclaration)> = Vec::new();
    for (name, bytes) in files {
        let own = PackDeclaration::read(bytes).map_err(|error| misplaced(path(name), bytes, &error))?;
        let stem = name.trim_end_matches(".yaml");
        let at = |key: &str| position_of(bytes, &KeyPath::key(key));
        if own.pack.0 != stem {
            let reason =
                format!("its name is `{}`, and its file is called `{stem}`: give both one name", own.pack.0);
            return Err(invalid(name, at("pack"), reason));
        }
        if packs::declaration_of(stem).is_some() {
            let reason =
                format!("`{stem}` is built in: choose another name, and `extends: {stem}` to add to it");
            return Err(invalid(name, at("pack"), reason));
        }
        declared.push((name, bytes, own));
    }
    let mut packs: Vec<ProjectPack> = Vec::new();
    // Packs that others extend are loaded through these.
    let is_extended = |name: &str| {
        declared.iter().any(|(_, _, own)| own.extends.as_ref().is_some_and(|base| base.0 == name))
    };
    for (name, bytes, own) in
        declared.iter().filter(|(_, _, own)| !is_extended(&own.pack.0) || own.extends.is_some())
    {
        let base = base_of(own, &declared, &mut vec![&own.pack.0])
            .map_err(|reason| invalid(name, position_of(bytes, &KeyPath::key("extends")), reason))?;
        let pack = own.assemble(base.as_ref()).map_err(|error| misplaced(path(name), bytes, &error))?;
        for kind in &pack.kinds {
            let lifecycle = kind.kind.lifecycle.as_ref().map(|own| own.name());
            let is_same = |other: &PackKind| {
                let own = other.kind.lifecycle.as_ref().map(|own| own.name());
                other.kind.command == kind.kind.command || own.is_some() && own == lifecycle
            };
            if let Some(other) = packs.iter().find(|other| other.pack.kinds.iter().any(is_same)) {
                let way = KeyPath::key("kinds").then(&kind.kind.name);
                let (kind, other) = (&kind.kind.name, &other.file);
                let reason = format!(
                    "`{other}` has a kind or a command `{kind}` too: give one of them `command` or `lifecycle`"
                );
                return Err(invalid(name, position_of(bytes, &way), reason));
            }
        }
        packs.push(ProjectPack { pack, file: format!("{PACKS_FOLDER}/{name}"), bytes: Arc::from(*bytes) });
    }
    Ok(packs)
}

fn base_of<'d>(
    own: &'d PackDeclaration,
    declared: &'d [(&str, &[u8], PackDeclaration)],
    above: &mut Vec<&'d str>,
) -> Result<Option<PackDeclaration>, String> {
    let Some(name) = own.extends.as_ref().map(|name| name.0.as_str()) else { return Ok(None) };
    if above.contains(&name) {
        return Err(format!("packs extend each other: {} → {name}", above.join(" → ")));
    }
    if let Some(built_in) = packs::declaration_of(name) {
        return Ok(Some(built_in.clone()));
    }
    let Some((_, _, base)) = declared.iter().find(|(_, _, other)| other.pack.0 == name) else {
        let built_in: Vec<_> = packs::built_in().map(|pack| format!("`{}`", pack.name)).collect();
        return Err(format!("there is no pack `{name}`: built in are {}", built_in.join(", ")));
    };
    above.push(name);
    let below = base_of(base, declared, above)?;
    Ok(Some(match below {
        Some(below) => base.clone().over(&below),
        None => base.clone(),
    }))
}

pub(crate) fn misplaced(path: PathBuf, bytes: &[u8], error: &PackError) -> Error {
    let place = match error {
        PackError::Kind { way, kind, .. } => {
            let mut whole = KeyPath::key("kinds").then(kind);
            whole.0.extend(way.0.iter().cloned());
            position_of(bytes, &whole)
        }
        PackError::Pack { way, .. } => position_of(bytes, way),
        // The YAML error has the position.
        _ => None,
    };
    read::invalid(&path, place, &error.to_string())
}

pub(super) fn lifecycles_of(packs: &[ProjectPack]) -> Result<(Vec<DeclaredLifecycle>, PathGlobs), String> {
    let kinds = || packs.iter().flat_map(|own| &own.pack.kinds);
    let declared = kinds().filter_map(|kind| DeclaredLifecycle::of_kind(kind).transpose());
    let declared = declared.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let paths = kinds().flat_map(|kind| &kind.applies_to).filter_map(|condition| condition.path.as_ref());
    let globs: Vec<PathGlob> = paths.flat_map(|paths| paths.0.iter().cloned()).collect();
    Ok((declared, PathGlobs::new(globs)))
}

impl ProjectPack {
    pub(crate) fn source(&self) -> (String, Vec<u8>) {
        (self.file.rsplit('/').next().unwrap_or_default().to_owned(), self.bytes.to_vec())
    }
}
