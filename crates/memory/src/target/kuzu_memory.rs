//! The program `kuzu-memory` (PyPI, 1.12): a process a request.
//!
//! It keeps texts, finds entities in them itself, and knows no graph of others. A text is stored once: its
//! source names the unit and the digest of the form, `stepmark:KEY:DIGEST`, by which it is found again. It
//! takes nothing away, so the text of a memory names the one whose place it takes. Memories of it end by
//! themselves after 30 days; one that still holds is stored again then.
#![expect(clippy::disallowed_methods, reason = "an edge module: the program has a folder in the project")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use jiff::Timestamp;
use serde_json::Value as Json;
use stepmark_sync::{
    breaker::{Failure, Reason},
    program::{Printed, Program},
};

use super::{MemoryStore, Target, Unit, UnitKey, not_run, unit::digest_of};
use crate::{Edge, context::plain};

/// The name of the program.
const NAME: &str = "kuzu-memory";
/// The way to get it.
const INSTALL: &str = "`pip install kuzu-memory` brings it";
/// It breaks lines of JSON where the terminal ends (docs/formats.md, "Memory"), and colours some.
const VARIABLES: [(&str, &str); 3] = [("COLUMNS", "100000"), ("NO_COLOR", "1"), ("TERM", "dumb")];
/// The time for a request: it loads a model of language, and may look for it on the network.
const PATIENCE: Duration = Duration::from_secs(180);
/// The most bytes of an answer.
const ANSWER: u64 = 256 * 1024 * 1024;
/// The most memories of an answer that are looked at.
const ALL: &str = "1000000";
/// The most characters of a text.
const TEXT: usize = 8_000;

/// `kuzu-memory` in the folder of a project.
#[derive(Debug)]
pub struct KuzuMemory {
    root: PathBuf,
}

impl KuzuMemory {
    /// The one of the project at `root`, where it keeps `.kuzu-memory`.
    pub const fn new(root: PathBuf) -> Self {
        Self { root }
    }

    fn run(&self, arguments: &[&str]) -> Result<Printed, Failure> {
        let root = self.root.to_string_lossy();
        let arguments: Vec<String> =
            ["--project-root", &root].iter().chain(arguments).map(|word| (*word).to_owned()).collect();
        let program = Program {
            name: NAME,
            arguments: &arguments,
            variables: &VARIABLES,
            hidden: &[],
            folder: Some(&self.root),
            input: b"",
            patience: PATIENCE,
            most: ANSWER,
        };
        let printed = program.run().map_err(|error| not_run(&error, NAME, INSTALL))?;
        if printed.has_succeeded {
            return Ok(printed);
        }
        let said = [&printed.output, &printed.errors].map(|text| String::from_utf8_lossy(text));
        Err(Failure::new(Reason::ServerError, &format!("`{NAME}`: {}", said.join(" "))))
    }

    /// The sources of memories that it answers with. Where there are none it answers with words.
    fn sources(&self, arguments: &[&str]) -> Result<Vec<String>, Failure> {
        let printed = self.run(arguments)?.output;
        if !printed.trim_ascii_start().starts_with(b"{") {
            return Ok(Vec::new());
        }
        let unreadable = |error| Failure::new(Reason::Unreadable, &format!("`{NAME}`: {error}"));
        let answer: Json = serde_json::from_slice(&printed).map_err(unreadable)?;
        let memories = answer["memories"].as_array().into_iter().flatten();
        Ok(memories.filter_map(|memory| memory["source"].as_str().map(str::to_owned)).collect())
    }
}

/// The key and the digest in a source.
fn read(source: &str) -> Option<(UnitKey, String)> {
    let (key, digest) = source.strip_prefix("stepmark:")?.split_once(':')?;
    Some((key.to_owned().into(), digest.to_owned()))
}

impl MemoryStore for KuzuMemory {
    fn recall(&mut self, text: &str, limit: usize, _now: Timestamp) -> Result<Vec<String>, Failure> {
        let limit = limit.to_string();
        let arguments = ["memory", "recall", "--format", "json", "--max-memories", &limit, "--", text];
        let mut seen = BTreeSet::new();
        let found = self.sources(&arguments)?;
        let ids = found.iter().filter_map(|source| read(source)).map(|(key, _)| key.as_str().to_owned());
        Ok(ids.filter(|id| seen.insert(id.clone())).collect())
    }

    fn edges_of(&mut self, _id: &str) -> Result<Option<Vec<Edge>>, Failure> {
        Ok(None)
    }
}

impl Target for KuzuMemory {
    fn form(&self, unit: &Unit) -> Option<String> {
        let record = unit.record.as_ref().filter(|_| unit.superseded_by.is_empty())?;
        let mut text = format!("{}: {}", record.kind.name(), plain(&record.content, TEXT));
        if let Some(rationale) = &record.rationale {
            text.push_str(&format!(". Reason: {}", plain(rationale, TEXT)));
        }
        if let Some(decision) = record.decision.as_ref().filter(|own| !own.alternatives.is_empty()) {
            text.push_str(&format!(". Rejected: {}", plain(&decision.alternatives.join(", "), TEXT)));
        }
        for old in &unit.instead_of {
            text.push_str(&format!(". It takes the place of: {}", plain(old, 400)));
        }
        // The program takes `[word]` for a mark of its terminal, and prints nothing of it.
        Some(text.replace('[', "(").replace(']', ")"))
    }

    fn held(&mut self) -> Result<BTreeMap<UnitKey, String>, Failure> {
        let found = self.sources(&["memory", "recent", "--format", "json", "--limit", ALL])?;
        // The newest comes first, and counts.
        Ok(found.iter().rev().filter_map(|source| read(source)).collect())
    }

    fn batch(&self) -> usize {
        1
    }

    fn put(&mut self, units: &[&Unit]) -> Result<(), Failure> {
        if !self.root.join(".kuzu-memory").exists() {
            self.run(&["init"])?;
        }
        for unit in units {
            let Some(text) = self.form(unit) else { continue };
            let source = format!("stepmark:{}:{}", unit.key(), digest_of(&text));
            let mut arguments = vec!["memory", "store", "--source", source.as_str()];
            let told = unit.record.as_ref().map(|record| &record.source);
            if let Some(agent) = told.map(|source| source.agent.as_str()) {
                arguments.extend(["--agent-id", agent]);
            }
            if let Some(session) = told.and_then(|source| source.session.as_deref()) {
                arguments.extend(["--session-id", session]);
            }
            arguments.extend(["--", text.as_str()]);
            self.run(&arguments)?;
        }
        Ok(())
    }

    fn forget(&mut self, _keys: &[&UnitKey]) -> Result<bool, Failure> {
        Ok(false)
    }
}
