//! The installation of BMAD in a project: names of its folders and of the installer's own files.

/// The folders that it may stand in, the newest first. The older ones are common words, so these need a
/// folder of books.
pub const FOLDERS: [&str; 3] = ["_bmad", "bmad", ".bmad"];

/// The folders of the installer's own books in it; the second in alpha releases.
pub const BOOKS: [&str; 2] = ["_config", "_cfg"];

pub const MODULES_BOOK: &str = "manifest.yaml";

pub const INSTALLERS_MANIFEST: &str = "files-manifest.csv";

/// The folder of what the installer renders for web use: no module.
pub const RENDERED: &str = "render";

pub(crate) fn installer_skips_folder(folder: &str) -> bool {
    matches!(folder, "render" | "_config" | "_cfg" | "memory" | "_memory")
}

/// Returns whether the installer's search passes over a file that its manifest does not list.
pub(crate) fn installer_skips_file(path: &str) -> bool {
    // Agents are compiled into the modules' `agents` folders by installers before 6.3, and listed nowhere.
    let compiled_agent = path.ends_with(".md") && path.contains("/agents/");
    installer_never_compares(path) || compiled_agent
}

/// Returns whether the installer's search passes over a file even where its manifest lists it.
pub(crate) fn installer_never_compares(path: &str) -> bool {
    let top = path.split('/').next().unwrap_or(path);
    let in_skipped_folder = top.len() < path.len() && installer_skips_folder(top);
    in_skipped_folder || path == "config.yaml" || path.ends_with("/config.yaml")
}
