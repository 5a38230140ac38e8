//! The program `kuzu-memory` (PyPI, 1.12): one process for each request. It keeps texts, finds entities
//! itself, and knows no other graph. Each text is stored once: it ends with the id of its memory, and its
//! source `stepmark:KEY:DIGEST` (unit, digest of the form) finds it again. It removes nothing, so a text
//! names the memories that it replaces. Memories expire after 30 days; one that still holds is stored again
//! then.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: the program has a folder and an environment of its own"
)]

use std::{collections::BTreeSet, env, fmt::Write as _, fs, path::PathBuf, time::Duration};

use jiff::Timestamp;
use serde_json::Value as Json;
use stepmark_sync::{
    breaker::{Failure, Reason},
    program::{Printed, Program},
};

use super::{Held, MemoryStore, Target, Unit, UnitKey, not_run, unit::digest_of};
use crate::{Edge, context::plain};

const NAME: &str = "kuzu-memory";
const INSTALL: &str = "`pip install kuzu-memory` brings it";
/// It breaks lines of JSON at the terminal's width (docs/formats.md, "Memory"), and colours some.
const VARIABLES: [(&str, &str); 3] = [("COLUMNS", "100000"), ("NO_COLOR", "1"), ("TERM", "dumb")];
/// It loads a language model, perhaps from the network.
const PATIENCE: Duration = Duration::from_secs(180);
const ANSWER: u64 = 256 * 1024 * 1024;
const ALL: &str = "1000000";
const MOST: (usize, usize) = (8_000, 200);

#[derive(Debug)]
pub struct KuzuMemory {
    folder: PathBuf,
}

impl KuzuMemory {
    /// `folder` is ours alone: the program treats it as home and working directory, changes settings of
    /// agents in both, and loads models and modules from there.
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn run(&self, command: &str, rest: &[&str]) -> Result<Printed, Failure> {
        let failed =
            |error| Failure::new(Reason::Unreachable, &format!("{}: {error}", self.folder.display()));
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let (database, folder) = (self.folder.join("memories.db"), self.folder.to_string_lossy());
        let database = database.to_string_lossy();
        let words = ["--project-root", &folder, "memory", command, "--db-path", &database];
        let arguments: Vec<String> = words.iter().chain(rest).map(|word| (*word).to_owned()).collect();
        let of_home = of_home();
        let of_home = of_home.iter().map(|(name, value)| (*name, value.as_str()));
        let variables: Vec<_> = VARIABLES.into_iter().chain([("HOME", &*folder)]).chain(of_home).collect();
        let program = Program {
            name: NAME,
            arguments: &arguments,
            variables: &variables,
            hidden: &[],
            is_bare: true,
            folder: Some(&self.folder),
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

    fn sources(&self, command: &str, rest: &[&str]) -> Result<Vec<String>, Failure> {
        let printed = self.run(command, rest)?.output;
        let text = String::from_utf8_lossy(&printed);
        if text.trim_start().starts_with("No memories found") {
            return Ok(Vec::new());
        }
        let unreadable = |why: &str| Failure::new(Reason::Unreadable, &format!("`{NAME}`: {why}"));
        let answer: Json = serde_json::from_str(&text).map_err(|error| unreadable(&error.to_string()))?;
        let memories =
            answer["memories"].as_array().ok_or_else(|| unreadable("an answer without memories"))?;
        Ok(memories.iter().filter_map(|memory| memory["source"].as_str().map(str::to_owned)).collect())
    }

    fn store(&self, unit: &Unit, text: &str) -> Result<(), Failure> {
        let source = format!("stepmark:{}:{}", unit.key(), digest_of(text));
        let told = unit.record.as_ref().map(|record| &record.source);
        let agent = told.map(|source| plain(&source.agent, MOST.1));
        let session = told.and_then(|source| source.session.as_deref()).map(|session| plain(session, MOST.1));
        let mut rest = vec!["--source", source.as_str()];
        for (option, value) in [("--agent-id", &agent), ("--session-id", &session)] {
            rest.extend(
                value
                    .as_deref()
                    .filter(|value| !value.starts_with('-'))
                    .iter()
                    .flat_map(|value| [option, *value]),
            );
        }
        rest.extend(["--", text]);
        self.run("store", &rest).map(drop)
    }
}

fn of_home() -> Vec<(&'static str, String)> {
    let Some(home) = env::var_os("HOME").map(PathBuf::from) else { return Vec::new() };
    [("HF_HOME", ".cache/huggingface"), ("PYTHONUSERBASE", ".local")]
        .into_iter()
        .filter(|(name, _)| env::var_os(name).is_none())
        .map(|(name, below)| (name, home.join(below).to_string_lossy().into_owned()))
        .collect()
}

fn read(source: &str) -> Option<(UnitKey, String)> {
    let (key, digest) = source.strip_prefix("stepmark:")?.split_once(':')?;
    Some((key.to_owned().into(), digest.to_owned()))
}

impl MemoryStore for KuzuMemory {
    fn recall(&mut self, text: &str, limit: usize, _now: Timestamp) -> Result<Vec<String>, Failure> {
        let (limit, mut seen) = (limit.to_string(), BTreeSet::new());
        let found = self.sources("recall", &["--format", "json", "--max-memories", &limit, "--", text])?;
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
        let mut text = format!("{}: {}", record.kind.name(), plain(&record.content, MOST.0));
        let alternatives = record.decision.as_ref().map(|own| own.alternatives.join(", "));
        let alternatives = alternatives.filter(|text| !text.is_empty());
        let parts = [("Reason", record.rationale.as_ref()), ("Rejected", alternatives.as_ref())];
        let parts = parts.into_iter().filter_map(|(word, part)| Some((word, part?)));
        let places = unit.instead_of.iter().map(|old| ("It takes the place of", old));
        for (word, part) in parts.chain(places) {
            let _ = write!(text, ". {word}: {}", plain(part, MOST.0));
        }
        let _ = write!(text, " (memory {:.8})", record.id);
        // The program takes `[word]` for a style of its terminal, and prints nothing of it.
        Some(text.replace('[', "(").replace(']', ")"))
    }

    fn held(&mut self) -> Result<Held, Failure> {
        let mut held = Held::new();
        for source in self.sources("recent", &["--format", "json", "--limit", ALL])? {
            if let Some((key, digest)) = read(&source) {
                held.entry(key).or_default().push(digest);
            }
        }
        Ok(held)
    }

    fn batch(&self) -> usize {
        1
    }

    fn put(&mut self, units: &[&Unit]) -> Result<(), Failure> {
        let forms = units.iter().filter_map(|unit| Some((unit, self.form(unit)?)));
        forms.into_iter().try_for_each(|(unit, text)| self.store(unit, &text))
    }

    fn forget(&mut self, _keys: &[&UnitKey]) -> Result<bool, Failure> {
        Ok(false)
    }
}
