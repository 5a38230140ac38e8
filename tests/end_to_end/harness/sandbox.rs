//! A project of a test's own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use super::{Run, Tree};

/// What stands for every id that the program would make at random.
pub(crate) const TEST_ID: &str = "00000000-0000-4000-8000-000000000001";

/// A project in a temporary folder, with an empty home and an empty search path beside it.
pub(crate) struct Sandbox {
    folder: TempDir,
    root: PathBuf,
}

impl Sandbox {
    /// A project without any file.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::Builder::new().prefix("stepmark-test-").tempdir().unwrap();
        // Resolved: the program answers with resolved paths, and a temporary folder may be a link.
        let root = folder.path().canonicalize().unwrap().join("project");
        fs::create_dir(&root).unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        Self { folder, root }
    }

    /// A copy of `fixtures/repos/NAME`.
    pub(crate) fn of(name: &str) -> Self {
        let sandbox = Self::empty();
        sandbox.add_copy(&format!("fixtures/repos/{name}"), "");
        sandbox
    }

    /// Copies a folder of the checkout to a folder of the project.
    pub(crate) fn add_copy(&self, from: &str, to: &str) {
        let target = self.root.join(to);
        fs::create_dir_all(&target).unwrap();
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(from), &target);
    }

    /// A copy of the project that the README shows.
    pub(crate) fn demo() -> Self {
        Self::of("demo")
    }

    /// The project's folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A folder beside the project.
    pub(crate) fn outside(&self) -> PathBuf {
        let outside = self.root.with_file_name("outside");
        fs::create_dir_all(&outside).unwrap();
        outside
    }

    /// The place of a file of the project.
    pub(crate) fn place(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.place(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Writes a file as another program would.
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let place = self.place(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, bytes).unwrap();
    }

    /// Writes the configuration of the person who runs the program.
    pub(crate) fn write_user_configuration(&self, text: &str) {
        let folder = self.root.with_file_name("home").join(".config/stepmark");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.yaml"), text).unwrap();
    }

    /// Everything that is in the project.
    pub(crate) fn tree(&self) -> Tree {
        Tree::of(&self.root)
    }

    /// `stepmark ARGUMENTS…`, to be run in the project's folder, with nothing of the environment of the test.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stepmark"));
        self.isolate(command.args(arguments));
        command
    }

    /// Gives `command` the project as its folder and an environment without anything of this machine.
    pub(crate) fn isolate(&self, command: &mut Command) {
        let home = self.root.with_file_name("home");
        command
            .current_dir(&self.root)
            .env_clear()
            .env("HOME", &home)
            .env("PATH", &home)
            .env("STEPMARK_TEST_ID", TEST_ID)
            .env("STEPMARK_TEST_HOST", "none");
    }

    /// Runs `stepmark ARGUMENTS…`.
    pub(crate) fn stepmark(&self, arguments: &[&str]) -> Run {
        self.run(&mut self.command(arguments))
    }

    /// Runs a command; in its answer the folder of the project is `[ROOT]`.
    pub(crate) fn run(&self, command: &mut Command) -> Run {
        let Run { code, stdout, stderr } = Run::of(command);
        let folder = self.root.parent().unwrap().display().to_string();
        let hide = |text: String| {
            text.replace(&self.root.display().to_string(), "[ROOT]").replace(&folder, "[FOLDER]")
        };
        Run { code, stdout: hide(stdout), stderr: hide(stderr) }
    }

    /// Runs `stepmark ARGUMENTS…` and makes sure that no byte of the project has changed, nor anything beside
    /// it.
    pub(crate) fn reads_only(&self, arguments: &[&str]) -> Run {
        self.changes_nothing(&mut self.command(arguments))
    }

    /// Runs a command and makes sure that no byte of the project has changed, nor anything beside it.
    pub(crate) fn changes_nothing(&self, command: &mut Command) -> Run {
        let before = Tree::of(self.folder.path());
        let run = self.run(command);
        before.assert_same(&Tree::of(self.folder.path()), &run);
        run
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
