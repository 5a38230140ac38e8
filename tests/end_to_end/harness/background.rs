//! A run of the program that goes on beside the test.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::Sandbox;

/// How long a test waits for something that must happen. Far longer than it takes: a machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that runs until it is told to end, or the test does.
pub(crate) struct Background {
    child: Child,
    log: PathBuf,
}

impl Background {
    /// Starts `command`; what it tells on stderr goes to a file beside the project of `sandbox`.
    pub(crate) fn start(sandbox: &Sandbox, command: &mut Command, name: &str) -> Self {
        let log = sandbox.outside().join(format!("{name}.log"));
        let stderr = File::create(&log).unwrap();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).spawn();
        Self { child: child.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}")), log }
    }

    /// The same, with its results in that file, too.
    pub(crate) fn start_telling(sandbox: &Sandbox, command: &mut Command, name: &str) -> Self {
        let log = sandbox.outside().join(format!("{name}.log"));
        let streams = File::create(&log).and_then(|file| Ok((file.try_clone()?, file)));
        let (stdout, stderr) = streams.unwrap();
        let child = command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).spawn();
        Self { child: child.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}")), log }
    }

    /// Everything that it has told so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// How many lines of what it told hold `text`.
    pub(crate) fn lines_with(&self, text: &str) -> usize {
        self.log().lines().filter(|line| line.contains(text)).count()
    }

    /// Waits until it has told `text` so many times.
    pub(crate) fn wait_for_lines(&mut self, text: &str, count: usize) {
        self.wait_until(&format!("{count} lines with `{text}`"), |own| own.lines_with(text) >= count);
    }

    /// Waits until something holds, while it runs.
    pub(crate) fn wait_until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let started = Instant::now();
        while !holds(self) {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended ({ended:?}) before there was {what}:\n{}", self.log());
            assert!(started.elapsed() < PATIENCE, "after {PATIENCE:?} there is no {what}:\n{}", self.log());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends it a signal, by name: `TERM`, `HUP`, `KILL`.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("/bin/kill").args([&format!("-{name}"), &id]).status().unwrap();
        assert!(status.success(), "kill -{name} {id}");
    }

    /// Waits for its end, and answers its exit code; 128 and the signal's number where a signal ended it.
    pub(crate) fn end(&mut self) -> i32 {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return super::run::code(status);
            }
            assert!(started.elapsed() < PATIENCE, "it did not end within {PATIENCE:?}:\n{}", self.log());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.child.kill();
        let _code = self.child.wait();
    }
}
