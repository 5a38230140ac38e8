//! One run of the program.

use std::{
    fmt,
    io::Read,
    process::{Child, Command, ExitStatus, Stdio},
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

/// After this a run counts as hanging. The longest honest wait is that for a lock, 30 s.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a run of the program gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The exit code; 128 and the signal's number where a signal ended it.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Runs `command` to its end, with nothing to read on stdin.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        thread::scope(|scope| {
            let stdout = scope.spawn(|| read(stdout));
            let stderr = scope.spawn(|| read(stderr));
            let code = wait(&mut child, command);
            Self { code, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
        })
    }

    /// The one JSON object on stdout, after its `schema` was found to be `schema`.
    pub(crate) fn json(&self, schema: &str) -> serde_json::Value {
        parsed(&self.stdout, schema).unwrap_or_else(|reason| panic!("{reason} on stdout of\n{self}"))
    }

    /// The error as JSON on stderr.
    pub(crate) fn json_error(&self) -> serde_json::Value {
        let last = self.stderr.lines().last().unwrap_or_default();
        parsed(last, "stepmark.error/1").unwrap_or_else(|reason| panic!("{reason} on stderr of\n{self}"))
    }

    /// Whether any byte of the answer steers a terminal.
    pub(crate) fn has_escape_codes(&self) -> bool {
        self.stdout.contains('\u{1b}') || self.stderr.contains('\u{1b}')
    }
}

impl fmt::Display for Run {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "exit {}", self.code)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                write!(out, "── {name}\n{text}")?;
            }
        }
        Ok(())
    }
}

fn parsed(text: &str, schema: &str) -> Result<serde_json::Value, String> {
    let value: serde_json::Value =
        serde_json::from_str(text.trim_end()).map_err(|error| format!("no JSON ({error})"))?;
    match value["schema"].as_str() {
        Some(found) if found == schema => {
            as_published(schema, &value)?;
            Ok(value)
        }
        found => Err(format!("schema {found:?} instead of `{schema}`")),
    }
}

/// Holds an answer against its schema in the list that `stepmark schema` prints.
fn as_published(name: &str, answer: &serde_json::Value) -> Result<(), String> {
    static SCHEMAS: LazyLock<serde_json::Value> = LazyLock::new(|| {
        serde_json::from_str(include_str!("../../../crates/cli/src/schemas/answers.json")).unwrap()
    });
    // Those that are made from types are in the program alone.
    let printed = || Command::new(env!("CARGO_BIN_EXE_stepmark")).args(["schema", name]).output().ok();
    let schema = SCHEMAS.get(name).cloned().or_else(|| serde_json::from_slice(&printed()?.stdout).ok());
    let schema = schema.ok_or_else(|| format!("`{name}` is not published"))?;
    let validator = jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
    let wrong: Vec<String> = validator
        .iter_errors(answer)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("not as answers.json says: {}", wrong.join("; "))) }
}

fn read(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    stream.expect("the stream is piped").read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).expect("the program speaks UTF-8")
}

fn wait(child: &mut Child, command: &Command) -> i32 {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return code(status);
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{command:?} did not end within {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(1));
    }
}

pub(super) fn code(status: ExitStatus) -> i32 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128 + signal;
    }
    status.code().expect("a process that ended has a code")
}
