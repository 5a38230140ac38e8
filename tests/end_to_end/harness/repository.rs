//! A project in a git repository, by the program `git` of this machine.

use std::{path::PathBuf, process::Command};

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

    /// Runs `git ARGUMENTS…` in the project, which must succeed, and returns what it prints.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(&self.git);
        self.sandbox.isolate(command.args(arguments));
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Ada").env(format!("GIT_{role}_EMAIL"), "ada@localhost");
        }
        let run = Run::of(&mut command);
        assert_eq!(run.code, 0, "git {arguments:?}: {run}");
        run.stdout.trim_end().to_owned()
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
