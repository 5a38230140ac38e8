//! The configuration of BMAD: four layered files, later ones override.

use std::ops::Range;

use stepmark_frontmatter::Span;
use toml_edit::Document;

pub const CONFIGURATION_LAYERS: [&str; 4] = [
    "_bmad/config.toml",
    "_bmad/config.user.toml",
    "_bmad/custom/config.toml",
    "_bmad/custom/config.user.toml",
];

/// Names the tracker of BMAD 7's tickets, if they are not in files.
pub const TICKET_STORE: &str = "_bmad/custom/ticketing-store-config.toml";

pub const USUAL_OUTPUT: &str = "_bmad-output";

/// The folder of stories and their ledger.
pub const STORIES_KEY: &str = "implementation_artifacts";

/// The keys of folders for artifacts. Some skills of BMAD 6 read them from the first layer alone.
const FOLDER_KEYS: [&str; 3] = ["output_folder", "planning_artifacts", STORIES_KEY];

/// A folder of the project for artifacts, as a layer names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactFolder {
    pub key: &'static str,
    pub folder: String,
    /// The place of the layer in what was read, and that of the value in it.
    pub place: usize,
    pub span: Span,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BmadSettings {
    /// As written.
    pub output_folder: Option<String>,
    pub active_initiative: Option<String>,
    /// `repo`, or the tracker with the tickets.
    pub store: Option<String>,
    /// The folders of all layers, each once: artifacts may stand in one that a later layer moved.
    pub folders: Vec<ArtifactFolder>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsProblem {
    pub place: usize,
    pub span: Span,
    pub message: String,
}

impl BmadSettings {
    /// Layers, then the store file; empty text for a missing file.
    pub fn read(files: &[String]) -> (Self, Vec<SettingsProblem>) {
        let (mut read, mut problems) = (Self::default(), Vec::new());
        for (place, text) in files.iter().enumerate() {
            let document = match Document::parse(text.as_str()) {
                Ok(document) => document,
                Err(error) => {
                    let span = place_of(error.span());
                    let message = format!("it is no TOML: {}", error.message());
                    problems.push(SettingsProblem { place, span, message });
                    continue;
                }
            };
            let text = |way: &[&str]| {
                let item = way.iter().try_fold(document.as_item(), |item, key| item.get(key))?;
                Some((item.as_str()?.trim().to_owned(), item.span()))
            };
            // Previews of BMAD 7 had it in their module.
            let either = |key| text(&["core", key]).or_else(|| text(&["modules", "bmm", key]));
            for key in FOLDER_KEYS {
                let Some((folder, span)) = either(key) else { continue };
                let is_new = |folder: &&str| !read.of_key(key).any(|own| own.folder == **folder);
                if let Some(folder) = in_project(&folder).filter(is_new) {
                    let (folder, span) = (folder.to_owned(), place_of(span));
                    read.folders.push(ArtifactFolder { key, folder, place, span });
                }
            }
            let output = either("output_folder").map(|(folder, _)| folder);
            read.output_folder = output.or(read.output_folder);
            if let Some((name, span)) = either("active_initiative").filter(|(name, _)| !name.is_empty()) {
                if name.contains(['/', '\\']) || name.starts_with('.') {
                    let span = place_of(span);
                    let message = format!("`{name}` is no name of a folder in the output folder");
                    problems.push(SettingsProblem { place, span, message });
                } else {
                    read.active_initiative = Some(name);
                }
            }
            read.store = text(&["tickets", "store"]).map(|(store, _)| store).or(read.store);
        }
        (read, problems)
    }

    /// Relative to the project root, or absolute.
    pub fn output_outside(&self) -> Option<&str> {
        let folder = self.output_folder.as_deref().filter(|_| self.output_in_project().is_none())?;
        Some(folder.strip_prefix("{project-root}/").unwrap_or(folder))
    }

    pub fn output_in_project(&self) -> Option<&str> {
        in_project(self.output_folder.as_deref().unwrap_or(USUAL_OUTPUT))
    }

    /// The folders of the project that the layers name for `key`, the first of which is where it began.
    pub fn of_key(&self, key: &str) -> impl Iterator<Item = &ArtifactFolder> {
        self.folders.iter().filter(move |own| own.key == key)
    }
}

fn place_of(span: Option<Range<usize>>) -> Span {
    span.map_or(Span::at(0), |span| Span { start: span.start, end: span.end })
}

fn in_project(written: &str) -> Option<&str> {
    let folder = written.strip_prefix("{project-root}").unwrap_or(written);
    let is_outside = folder.starts_with('/') && folder.len() == written.len()
        || folder.split('/').any(|part| part == "..");
    let folder = folder.trim_matches('/');
    let folder = folder.strip_prefix("./").unwrap_or(folder);
    (!is_outside).then_some(if folder == "." { "" } else { folder })
}

/// Newest first; the older are common words, so these need a folder of [`BOOKS`].
pub const FOLDERS: [&str; 3] = ["_bmad", "bmad", ".bmad"];

/// Folders of the installer's own files; the second is of alpha releases.
pub const BOOKS: [&str; 2] = ["_config", "_cfg"];

pub const MODULES_BOOK: &str = "manifest.yaml";

pub const INSTALLERS_MANIFEST: &str = "files-manifest.csv";

pub const RENDERED: &str = "render";

pub(crate) fn installer_skips_folder(folder: &str) -> bool {
    matches!(folder, "render" | "_config" | "_cfg" | "memory" | "_memory")
}

/// For files not in its manifest.
pub(crate) fn installer_skips_file(path: &str) -> bool {
    // Installers before 6.3 compile agents into the modules' `agents` folders, and list them nowhere.
    let compiled_agent = path.ends_with(".md") && path.contains("/agents/");
    installer_never_compares(path) || compiled_agent
}

/// Even for files in its manifest.
pub(crate) fn installer_never_compares(path: &str) -> bool {
    let top = path.split('/').next().unwrap_or(path);
    let in_skipped_folder = top.len() < path.len() && installer_skips_folder(top);
    in_skipped_folder || path == "config.yaml" || path.ends_with("/config.yaml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[&str]) -> (BmadSettings, Vec<SettingsProblem>) {
        BmadSettings::read(&files.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn later_layers_win_and_a_broken_one_says_nothing() {
        let (settings, problems) = read(&[
            "[core]\noutput_folder = \"_bmad-output\"\n",
            "[modules.bmm]\nactive_initiative = \"old\"\n",
            "[core\n",
            "[core]\nactive_initiative = \" shop \"\noutput_folder = \"{project-root}/docs/\"\n",
            "[tickets]\nstore = \"github\"\n",
        ]);
        assert_eq!(settings.output_in_project(), Some("docs"));
        assert_eq!(
            (settings.active_initiative.as_deref(), settings.store.as_deref()),
            (Some("shop"), Some("github"))
        );
        assert_eq!(problems.iter().map(|own| own.place).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_folder_outside_is_none_of_the_project() {
        for (folder, expected) in [
            ("_bmad-output", Some("_bmad-output")),
            ("{project-root}/out", Some("out")),
            ("./out/", Some("out")),
            ("{project-root}", Some("")),
            (".", Some("")),
            ("../shared", None),
            ("/srv/shared", None),
            ("{project-root}/../shared", None),
        ] {
            let (settings, _) = read(&[&format!("[core]\noutput_folder = \"{folder}\"\n")]);
            assert_eq!(settings.output_in_project(), expected, "{folder}");
        }
        let (settings, problems) = read(&["[core]\nactive_initiative = \"../../etc\"\n"]);
        assert_eq!((settings.active_initiative, problems.len()), (None, 1));
    }
}
