//! `stepmark memlog`: the memlogs of BMAD, as its own script writes them.

use std::path::{Component, Path, PathBuf};
use stepmark_store::{ErrorKind, changes::left_for};

use clap::{Args, Subcommand};
use serde_json::Value as Json;
use stepmark_model::bmad::memlog::{Memlog as Read, MemlogEntry};
use stepmark_store::changes::MemlogChange;

use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Keep a memlog of BMAD: what was decided and found, entry by entry
///
/// `init`, `append` and `set` take what BMAD's `memlog.py` takes, write the bytes that it writes, and answer
/// with its line of JSON; entries of several agents at once are all kept, and `stepmark log` shows them.
#[derive(Debug, Args)]
pub(crate) struct Memlog {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Place {
    /// The folder of the memlog: `DIR/.memlog.md`
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The memlog
    #[arg(long, value_name = "FILE")]
    path: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Begin a memlog
    Init {
        #[command(flatten)]
        place: Place,
        /// A field of its head
        #[arg(long = "field", value_name = "KEY=VALUE", value_parser = field)]
        fields: Vec<(String, String)>,
    },
    /// Add an entry
    Append {
        #[command(flatten)]
        place: Place,
        /// What is to be kept, on one line
        #[arg(long)]
        text: String,
        /// What it is: `decision`, `question`, `idea`, …
        #[arg(long = "type", value_name = "TYPE")]
        kind: Option<String>,
        /// Who says so
        #[arg(long, value_name = "WHO")]
        by: Option<String>,
    },
    /// Give a field of the head a value
    Set {
        #[command(flatten)]
        place: Place,
        /// The field
        #[arg(long)]
        key: String,
        /// Its value
        #[arg(long)]
        value: String,
    },
    /// Let BMAD's skills call it: put a script in place of the project's memlog.py
    ///
    /// Where stepmark is not installed BMAD's own script runs, which stays beside it.
    Shim {
        /// Put BMAD's own script back
        #[arg(long)]
        remove: bool,
    },
    /// Show its fields and entries
    Show {
        #[command(flatten)]
        place: Place,
    },
}

answers! { Answer
    /// `memlog show`: the fields and entries of a memlog of BMAD
    "stepmark.memlog/1" Show { memlog: String, fields: Vec<(String, String)>, entries: Vec<String> }
    /// `memlog init`, `append` and `set`: the number of its entries now
    "stepmark.memlog-change/1" Change { memlog: String, entries: usize }
    /// `memlog shim`: the script that was put in place, or back
    "stepmark.memlog-shim/1" Shim { path: &'static str, changed: bool }
}

fn field(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("KEY=VALUE is wanted")?;
    Ok((key.to_owned(), value.to_owned()))
}

impl Place {
    /// As BMAD's script names it.
    fn file(&self) -> PathBuf {
        let folder = self.workspace.as_deref().unwrap_or(Path::new(""));
        let given = self.path.clone().unwrap_or_else(|| folder.join(".memlog.md"));
        given.components().filter(|part| *part != Component::CurDir).collect()
    }
}

impl Memlog {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let (place, change) = match &self.what {
            What::Init { place, fields } => (place, MemlogChange::Init(fields)),
            What::Append { place, text, kind, by } => {
                let entry = MemlogEntry { text, kind: kind.as_deref(), by: by.as_deref() };
                (place, MemlogChange::Append(entry))
            }
            What::Set { place, key, value } => (place, MemlogChange::Set(key, value)),
            What::Shim { remove } => {
                let changed = project.workspace.set_memlog_shim(!remove)?;
                let said = if changed { "written" } else { "is so already" };
                let path = "_bmad/scripts/memlog.py";
                output.answer(|| Answer::Shim { path, changed });
                output.remark(format_args!("{path}: {said}"));
                return Ok(Exit::Fine);
            }
            What::Show { place } => return show(&place.file(), project, output),
        };
        let file = place.file();
        let entries = match project.workspace.change_memlog(&project.path(&file)?, change) {
            Err(error) if error.kind() == ErrorKind::Exists => {
                let message = format!("{} already exists; use append/set to update it", file.display());
                return Err(Failure::new(Exit::Usage, message));
            }
            Err(error) if error.is_missing() => {
                return Err(Failure::from_error(Exit::Findings, &error)
                    .with_help(format!("`stepmark memlog init --path {}` begins one", file.display())));
            }
            entries => entries?,
        };
        let memlog = file.to_string_lossy().into_owned();
        output.styled_line(acknowledgement(&memlog, entries));
        output.answer(|| Answer::Change { memlog, entries });
        Ok(Exit::Fine)
    }

    pub(crate) const fn writes(&self) -> bool {
        !matches!(self.what, What::Show { .. })
    }
}

fn show(file: &Path, project: &Project, output: &Output) -> Result<Exit, Failure> {
    let path = project.path(file)?;
    let artifact = project.workspace.artifact(&path)?;
    let failed = |reason: String| left_for(&path, &reason);
    let memlog = Read::read(artifact.artifact().bytes()).map_err(failed)?;
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    output.answer(|| Answer::Show {
        memlog: path.to_string(),
        fields: memlog.fields().map(owned).collect(),
        entries: memlog.entries().map(str::to_owned).collect(),
    });
    memlog.fields().for_each(|(key, value)| output.line(format_args!("{key}: {value}")));
    memlog.entries().for_each(|entry| output.line(format_args!("- {entry}")));
    Ok(Exit::Fine)
}

/// In ASCII, with blanks behind colons and commas, as BMAD's script prints it.
fn acknowledgement(file: &str, entries: usize) -> String {
    let mut quoted = String::new();
    for letter in Json::from(file).to_string().chars() {
        match letter.is_ascii() {
            true => quoted.push(letter),
            false => letter
                .encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| quoted.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    format!("{{\"ok\": true, \"memlog\": {quoted}, \"entries\": {entries}}}")
}
