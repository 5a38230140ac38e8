//! A program on a pseudo-terminal, to which a test types.

use std::{
    io::{Read as _, Write as _},
    num::NonZero,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

/// How long a test waits for what must appear. Far longer than it takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Rows and columns of the terminal.
pub(super) const WINDOW: (u16, u16) = (30, 120);

/// A program that runs on a terminal until it ends, or the test does.
pub(crate) struct Typed {
    child: Child,
    keys: Option<ChildStdin>,
    screen: Arc<Mutex<Screen>>,
    process_id: PathBuf,
}

/// What has come so far, and the picture that it makes.
struct Screen {
    bytes: Vec<u8>,
    terminal: vt100::Parser,
}

impl Typed {
    /// Starts `command`, which writes the number of the program that it starts to `process_id`.
    pub(super) fn start(command: &mut Command, process_id: PathBuf) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let (rows, columns) = (NonZero::new(WINDOW.0).unwrap(), NonZero::new(WINDOW.1).unwrap());
        let screen = Screen { bytes: Vec::new(), terminal: vt100::Parser::new(rows, columns, 0) };
        let screen = Arc::new(Mutex::new(screen));
        let (mut stdout, all) = (child.stdout.take().unwrap(), Arc::clone(&screen));
        thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut part) {
                let mut all = all.lock().unwrap();
                all.bytes.extend_from_slice(&part[..count]);
                all.terminal.process(&part[..count]);
            }
        });
        let keys = child.stdin.take();
        Self { child, keys, screen, process_id }
    }

    /// What is to be seen now.
    pub(crate) fn shown(&self) -> String {
        self.screen.lock().unwrap().terminal.screen().contents()
    }

    /// Everything that was ever written, escape codes included.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap().bytes).into_owned()
    }

    /// Waits until `text` is to be seen.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let started = Instant::now();
        while !self.shown().contains(text) {
            assert!(started.elapsed() < PATIENCE, "`{text}` is not to be seen:\n{}", self.shown());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Types `keys`.
    pub(crate) fn type_keys(&mut self, keys: &str) {
        let input = self.keys.as_mut().unwrap();
        input.write_all(keys.as_bytes()).and_then(|()| input.flush()).unwrap();
    }

    /// The file with the number of the program's process.
    pub(crate) fn process_id_file(&self) -> &Path {
        &self.process_id
    }

    /// Waits for its end; answers its code and everything that was written.
    pub(crate) fn end(&mut self) -> (i32, String) {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                thread::sleep(Duration::from_millis(50));
                return (super::run::code(status), self.written());
            }
            assert!(started.elapsed() < PATIENCE, "it did not end:\n{}", self.shown());
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Typed {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.child.kill();
        let _code = self.child.wait();
    }
}
