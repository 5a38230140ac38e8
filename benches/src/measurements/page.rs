//! `stepmark serve`: how long the whole page takes over the loopback, and how soon a change is to be had
//! after its commit.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use stepmark_store::workspace::Workspace;

use crate::{
    failure::Failure,
    report,
    timing::{Contender, alternate},
    tools::Tools,
};

/// Until the browser has all that it paints first; painting is its own affair (tests/interop/page tells how
/// long that takes).
const PAGE: Duration = Duration::from_millis(500);
/// Until whoever listens has the parts of the page that a commit changed.
const UPDATE: Duration = Duration::from_millis(200);
/// After this a server counts as hanging.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server that ends with the measurement.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(tools: &Tools, folder: &Path) -> Result<Self, Failure> {
        let mut command = tools.stepmark(folder, &["serve", "--port", "0"]);
        let failed = |reason: String| Failure::Process { command: "stepmark serve".to_owned(), reason };
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| failed(error.to_string()))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(|error| failed(error.to_string()))?;
        }
        let address = line.trim().strip_prefix("http://").map(|url| url.trim_end_matches('/').to_owned());
        match address {
            Some(address) => Ok(Self { child, address }),
            None => Err(failed(format!("it says `{}` instead of where it serves", line.trim()))),
        }
    }

    fn ask(&self, target: &str) -> Result<BufReader<TcpStream>, Failure> {
        let asked = || {
            let mut stream = TcpStream::connect(&self.address)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            write!(stream, "GET {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address)?;
            Ok(BufReader::new(stream))
        };
        asked().map_err(unanswered)
    }

    fn answer(&self, target: &str) -> Result<String, Failure> {
        let mut bytes = Vec::new();
        self.ask(target)?.read_to_end(&mut bytes).map_err(unanswered)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.child.kill();
        let _code = self.child.wait();
    }
}

fn unanswered(error: std::io::Error) -> Failure {
    Failure::Process { command: "a request to stepmark serve".to_owned(), reason: error.to_string() }
}

/// Measures and prints.
pub(crate) fn measure(tools: &Tools, folder: &Path, rounds: usize) -> Result<(), Failure> {
    let workspace = Workspace::open(folder).map_err(Failure::library)?;
    let artifacts = workspace.artifacts().map_err(Failure::library)?.artifacts;
    let Some(first) = artifacts.first().map(|artifact| artifact.path().clone()) else {
        return Err(Failure::Usage(format!("there is no artifact in `{}`", folder.display())));
    };
    let server = Server::start(tools, folder)?;
    let page = server.answer("/")?;
    let rows = page.matches("<tr id=\"a-").count();
    if rows != artifacts.len() {
        return Err(Failure::Disagreement {
            who: "the page".to_owned(),
            found: format!("{rows} artifacts"),
            other: "the library".to_owned(),
            wanted: artifacts.len().to_string(),
        });
    }
    let mut events = server.ask("/events")?;
    let mut revision = next_revision(&mut events)?;
    let mut round = 0_usize;
    let series = alternate(
        rounds,
        vec![
            Contender::new(format!("the first byte of the page, {rows} artifacts"), || {
                let started = Instant::now();
                server.ask("/")?.read_exact(&mut [0]).map_err(unanswered)?;
                Ok(started.elapsed())
            }),
            Contender::new(format!("the whole page, {} KiB", page.len() / 1024), || {
                let started = Instant::now();
                server.answer("/").map(|_| started.elapsed())
            }),
            Contender::new("from the start of a server to its first whole page", || {
                let started = Instant::now();
                Server::start(tools, folder)?.answer("/").map(|_| started.elapsed())
            }),
            Contender::new("from the end of a commit to the changed parts of the page", || {
                round += 1;
                // Not a word that another measurement of this project has left there.
                let title = format!("round {round} of {}", server.address);
                let changed = workspace.update(&first, |artifact| artifact.set("title", title.as_str()));
                changed.map_err(Failure::library)?;
                let committed = Instant::now();
                loop {
                    let before = revision;
                    revision = next_revision(&mut events)?;
                    if server.answer(&format!("/update?from={before}"))?.contains(&title) {
                        return Ok(committed.elapsed());
                    }
                }
            }),
        ],
    )?;
    report::title("the live page");
    report::time(&series[0], None);
    report::time(&series[1], Some(PAGE));
    report::time(&series[2], None);
    report::time(&series[3], Some(UPDATE));
    Ok(())
}

/// The next revision that the stream tells of.
fn next_revision(events: &mut BufReader<TcpStream>) -> Result<u64, Failure> {
    loop {
        let mut line = String::new();
        if events.read_line(&mut line).map_err(unanswered)? == 0 {
            return Err(Failure::Usage("the stream of events ended".to_owned()));
        }
        if let Some(Ok(revision)) = line.trim().strip_prefix("data: ").map(str::parse) {
            return Ok(revision);
        }
    }
}
