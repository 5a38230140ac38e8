//! The service that starts `stepmark sync run` on a system: its text, and its place. Pure but for `place`.

mod launchd;
pub(super) mod place;
mod systemd;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::ValueEnum;
use stepmark_model::artifact::FileHash;

use crate::exit::{Exit, Failure};

/// What starts services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Manager {
    /// systemd, on Linux
    Systemd,
    /// launchd, on macOS
    Launchd,
}

/// The process for one project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Service {
    /// Its name: the same for the same project and tracker.
    pub(super) name: String,
    /// The words that start it; the first is the program.
    words: Vec<String>,
    /// Variables that lead to the user's own files, which the manager may not know: name and value.
    variables: Vec<(&'static str, String)>,
    /// The folder of the project, as people know it.
    root: String,
    /// The time that it may take to end.
    stop_limit: Duration,
}

/// Folders of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServiceFolders {
    home: PathBuf,
    configuration: PathBuf,
}

/// The time, beyond its own limit, that the process gets to end before it is killed.
const MARGIN: Duration = Duration::from_secs(10);

impl ServiceFolders {
    /// Those below `home`; `configuration` is that of the XDG Base Directory Specification, where one is set.
    pub(super) fn of(home: &Path, configuration: Option<&Path>) -> Self {
        let configuration = configuration.map_or_else(|| home.join(".config"), Path::to_owned);
        Self { home: home.to_owned(), configuration }
    }

    /// The file with variables of a service, which its owner writes.
    fn environment_file(&self, service: &Service) -> PathBuf {
        self.configuration.join("stepmark").join(format!("{}.env", service.name))
    }
}

impl Service {
    /// The process that `executable` is for the project in the folder `root`: for one tracker, or all. It
    /// ends within `drain`.
    ///
    /// `variables` lead it to the same files of the user.
    ///
    /// # Errors
    /// When a path is no UTF-8: neither manager could be told of it.
    pub(super) fn new(
        executable: PathBuf,
        root: PathBuf,
        tracker: Option<String>,
        drain: Duration,
        variables: Vec<(&'static str, PathBuf)>,
    ) -> Result<Self, Failure> {
        let text = |path: PathBuf| {
            path.into_os_string().into_string().map_err(|path| {
                let path = path.to_string_lossy().into_owned();
                Failure::new(Exit::Findings, format!("`{path}` is not UTF-8, so no service can name it"))
            })
        };
        let (executable, root) = (text(executable)?, text(root)?);
        let name = name(&root, tracker.as_deref());
        let mut words =
            [executable.as_str(), "--root", root.as_str(), "sync", "run"].map(str::to_owned).to_vec();
        if let Some(tracker) = tracker {
            words.extend(["--tracker".to_owned(), tracker]);
        }
        let variables = variables
            .into_iter()
            .map(|(name, path)| Ok((name, text(path)?)))
            .collect::<Result<_, Failure>>()?;
        Ok(Self { name, words, variables, root, stop_limit: drain + MARGIN })
    }
}

/// `stepmark-sync-FOLDER-DIGEST`: for people, and one for each project and tracker.
fn name(root: &str, tracker: Option<&str>) -> String {
    let folder =
        Path::new(root).file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let mut words = String::new();
    for letter in folder.chars().take(40) {
        match letter {
            letter if letter.is_ascii_alphanumeric() => words.push(letter),
            _ if !words.is_empty() && !words.ends_with('-') => words.push('-'),
            _ => {}
        }
    }
    let words = words.trim_end_matches('-');
    let digest = FileHash::of(format!("{root}\0{}", tracker.unwrap_or_default()).as_bytes()).to_string();
    let digest: String = digest.chars().take(8).collect();
    if words.is_empty() {
        format!("stepmark-sync-{digest}")
    } else {
        format!("stepmark-sync-{words}-{digest}")
    }
}

impl Manager {
    /// That of the system that this program was built for.
    pub(super) fn of_this_system() -> Result<Self, Failure> {
        match std::env::consts::OS {
            "linux" => Ok(Self::Systemd),
            "macos" => Ok(Self::Launchd),
            other => Err(Failure::new(Exit::Findings, format!("no services are known for `{other}`"))
                .with_help(
                    "start `stepmark sync run` by the means of your system; it stays in the foreground",
                )),
        }
    }

    /// The path of the file of the service.
    pub(super) fn file(self, service: &Service, folders: &ServiceFolders) -> PathBuf {
        match self {
            Self::Systemd => {
                folders.configuration.join("systemd/user").join(format!("{}.service", service.name))
            }
            Self::Launchd => {
                folders.home.join("Library/LaunchAgents").join(format!("{}.plist", service.name))
            }
        }
    }

    /// Returns what stands in it.
    pub(super) fn text(self, service: &Service, folders: &ServiceFolders) -> Result<String, Failure> {
        match self {
            Self::Systemd => systemd::unit(service, &folders.environment_file(service)),
            Self::Launchd => Ok(launchd::agent(service, &folders.home)),
        }
    }

    /// Returns what its manager has made of the file when the service was enabled, and is to go with it.
    pub(super) fn links(self, service: &Service, folders: &ServiceFolders) -> Option<PathBuf> {
        match self {
            Self::Systemd => Some(
                folders
                    .configuration
                    .join("systemd/user/default.target.wants")
                    .join(format!("{}.service", service.name)),
            ),
            Self::Launchd => None,
        }
    }

    /// The commands that start the service, now and whenever the user logs in.
    pub(super) fn commands_to_start(self, service: &Service, folders: &ServiceFolders) -> Vec<String> {
        let name = &service.name;
        match self {
            Self::Systemd => vec![
                "systemctl --user daemon-reload".to_owned(),
                format!("systemctl --user enable --now {name}.service"),
            ],
            Self::Launchd => {
                let file = self.file(service, folders);
                vec![format!("launchctl bootstrap gui/$(id -u) '{}'", file.display())]
            }
        }
    }

    /// The commands that stop it, once its file is gone.
    pub(super) fn commands_to_stop(self, service: &Service) -> Vec<String> {
        let name = &service.name;
        match self {
            Self::Systemd => {
                vec![
                    format!("systemctl --user stop {name}.service"),
                    "systemctl --user daemon-reload".to_owned(),
                ]
            }
            Self::Launchd => vec![format!("launchctl bootout gui/$(id -u)/{name}")],
        }
    }

    /// The places where credentials can stand, and what else a person should know.
    pub(super) fn credentials(self, service: &Service, folders: &ServiceFolders) -> Vec<String> {
        let token_file = "credentials are read from the file that your own configuration names under `credentials` (mode 600)";
        match self {
            Self::Systemd => {
                let file = folders.environment_file(service);
                vec![
                    format!("{token_file}, or from variables in `{}` (mode 600)", file.display()),
                    "without somebody who is logged in it runs after `loginctl enable-linger`".to_owned(),
                ]
            }
            Self::Launchd => vec![token_file.to_owned()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn service(root: &str, tracker: Option<&str>) -> Service {
        let tracker = tracker.map(str::to_owned);
        let variables = vec![("XDG_STATE_HOME", "/s t/100%".into())];
        Service::new("/opt/bin/stepmark".into(), root.into(), tracker, Duration::from_secs(30), variables)
            .unwrap()
    }

    #[test]
    fn each_project_and_tracker_has_a_name_of_its_own() {
        let names = [
            service("/home/ada/Tool Shed!", None).name,
            service("/home/eve/Tool Shed!", None).name,
            service("/home/ada/Tool Shed!", Some("github")).name,
            service("/", None).name,
            service("/ä", None).name,
        ];
        assert!(names[0].starts_with("stepmark-sync-tool-shed-"), "{names:?}");
        let different: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{names:?}");
        assert!(
            names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
        );
        assert_eq!(service("/home/ada/Tool Shed!", None).name, names[0]);
    }

    #[test]
    fn files_stand_where_their_manager_looks() {
        let service = service("/p", None);
        let own = ServiceFolders::of(Path::new("/home/ada"), None);
        let other = ServiceFolders::of(Path::new("/home/ada"), Some(Path::new("/etc/ada")));
        let name = &service.name;
        for (manager, folders, expected) in [
            (Manager::Systemd, &own, format!("/home/ada/.config/systemd/user/{name}.service")),
            (Manager::Systemd, &other, format!("/etc/ada/systemd/user/{name}.service")),
            (Manager::Launchd, &other, format!("/home/ada/Library/LaunchAgents/{name}.plist")),
        ] {
            assert_eq!(manager.file(&service, folders), Path::new(&expected));
        }
    }
}
