//! A pseudo-terminal, by the program `script` of util-linux.

use std::{path::PathBuf, process::Command};

use super::{Run, Sandbox, Typed, skip, tool};

/// What makes terminals.
pub(crate) struct Terminal {
    script: PathBuf,
}

impl Terminal {
    /// `None`, and a line on stderr, where the machine has no means.
    pub(crate) fn find() -> Option<Self> {
        let script = tool("script", "tests on a terminal")?;
        let version = Run::of(Command::new(&script).arg("--version"));
        if !version.stdout.contains("util-linux") {
            skip("tests on a terminal", "`script` is not that of util-linux");
            return None;
        }
        Some(Self { script })
    }

    /// Runs `stepmark ARGUMENTS…` on a terminal and returns what it shows.
    pub(crate) fn run(&self, sandbox: &Sandbox, arguments: &[&str], environment: &[(&str, &str)]) -> String {
        let words = [&[env!("CARGO_BIN_EXE_stepmark")], arguments].concat();
        let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let mut command = Command::new(&self.script);
        command.args(["--quiet", "--return", "--command", &quoted.join(" "), "/dev/null"]);
        sandbox.isolate(&mut command);
        command.env("TERM", "xterm-256color").env("SHELL", "/bin/sh").envs(environment.iter().copied());
        sandbox.run(&mut command).stdout
    }

    /// The same, where a person types `answers`, of which each letter is followed by a line end.
    pub(crate) fn run_answering(&self, sandbox: &Sandbox, arguments: &[&str], answers: &str) -> Run {
        let words = [&[env!("CARGO_BIN_EXE_stepmark")], arguments].concat().join("' '");
        let typed: String = answers.chars().map(|letter| format!("{letter}\\n")).collect();
        let script = self.script.display();
        let line = format!("printf '{typed}' | {script} --quiet --return --command \"'{words}'\" /dev/null");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &line]);
        sandbox.isolate(&mut command);
        command.env("TERM", "dumb").env("SHELL", "/bin/sh").env("NO_COLOR", "1").env("PATH", "/usr/bin:/bin");
        sandbox.run(&mut command)
    }

    /// Starts `stepmark ARGUMENTS…` on a terminal, for a test that types.
    pub(crate) fn start(&self, sandbox: &Sandbox, arguments: &[&str], environment: &[(&str, &str)]) -> Typed {
        let process_id = sandbox.outside().join("process-id");
        let (rows, columns) = super::typed::WINDOW;
        let program = env!("CARGO_BIN_EXE_stepmark");
        let words = format!(
            "echo $$ > '{}'; /bin/stty rows {rows} cols {columns}; exec '{program}' {}",
            process_id.display(),
            arguments.join(" ")
        );
        let mut command = Command::new(&self.script);
        command.args(["--quiet", "--return", "--flush", "--command", &words, "/dev/null"]);
        sandbox.isolate(&mut command);
        command.env("TERM", "xterm-256color").env("SHELL", "/bin/sh").envs(environment.iter().copied());
        Typed::start(&mut command, process_id)
    }
}
