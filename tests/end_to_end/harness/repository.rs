//! A project in a git repository, by the program `git` of this machine.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Run, Sandbox, tool};

/// A sandbox whose project is a git repository.
pub(crate) struct Repository {
    git: PathBuf,
    pub(crate) sandbox: Sandbox,
}

impl Repository {
    /// The demo project with one commit; `None`, and a line on stderr, where the machine has no git.
    pub(crate) fn of_demo(test: &str) -> Option<Self> {
        let git = tool("git", test)?;
        let repository = Self { git, sandbox: Sandbox::demo() };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.commit("one");
        Some(repository)
    }

    /// A project without any file and without a commit; `None`, and a line on stderr, where the machine has
    /// no git.
    pub(crate) fn empty(test: &str) -> Option<Self> {
        let git = tool("git", test)?;
        let repository = Self { git, sandbox: Sandbox::empty() };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        Some(repository)
    }

    /// Runs `git ARGUMENTS…` in the project, which must succeed, and returns what it prints.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let run = self.try_git(arguments);
        assert_eq!(run.code, 0, "git {arguments:?}: {run}");
        run.stdout.trim_end().to_owned()
    }

    /// Runs `git ARGUMENTS…` in the project, however it ends.
    pub(crate) fn try_git(&self, arguments: &[&str]) -> Run {
        Run::of(&mut self.git_command(arguments))
    }

    /// The same, where hooks find `stepmark`, `git` and the programs of the system.
    pub(crate) fn try_git_with_stepmark(&self, arguments: &[&str]) -> Run {
        Run::of(self.git_command(arguments).env("PATH", self.search_path()))
    }

    pub(crate) fn search_path(&self) -> String {
        let program = Path::new(env!("CARGO_BIN_EXE_stepmark")).parent().unwrap().display();
        format!("{program}:{}:/usr/bin:/bin", self.git.parent().unwrap().display())
    }

    /// `git ARGUMENTS…`, to be run in the project.
    pub(crate) fn git_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.git);
        self.sandbox.isolate(command.args(arguments));
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Ada").env(format!("GIT_{role}_EMAIL"), "ada@localhost");
        }
        command.env("GIT_EDITOR", "true");
        command
    }

    /// Makes git run a line of shell, in which `stepmark` and `git` are found, as the hook `name`.
    pub(crate) fn add_hook(&self, name: &str, line: &str) {
        let path = self.search_path();
        let place = self.sandbox.place(&format!(".git/hooks/{name}"));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, format!("#!/bin/sh\nPATH='{path}'\n{line}\n")).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// Commits everything and returns the name of the commit.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs `stepmark ARGUMENTS…` with git on its search path.
    pub(crate) fn stepmark(&self, arguments: &[&str]) -> Run {
        self.sandbox.run(&mut self.command(arguments))
    }

    /// `stepmark ARGUMENTS…` with git on its search path.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(arguments);
        command.env("PATH", self.git.parent().unwrap());
        command
    }
}
