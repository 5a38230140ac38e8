//! Measures whole processes and whole projects: stepmark beside bare file system work, git, and its peers.
//!
//! Contenders run in turn, A B A B, so that whatever else the machine does falls on all of them; a ratio is
//! the median of the ratios of the rounds. `docs/benchmarks.md` holds the figures and says what each of them
//! means.

mod failure;
mod measurements;
mod project;
mod timing;
mod report;
mod process;
mod parallel;
mod bare;
mod tools;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

use crate::{
    failure::Failure,
    measurements::{
        check, completion, growth, list, manifest, page, projections, query, reader, reader::Reader, resume,
        staged, start, sync, typed_reading,
    },
    project::journal,
    tools::Tools,
};

/// Measure stepmark, or do one piece of work to be measured
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Work,
}

#[derive(Debug, Subcommand)]
enum Work {
    /// Make a project of COUNT artifacts of 2 KiB in FOLDER, with workflows, a manifest and a git repository
    Project { folder: PathBuf, count: usize },
    /// `manifest verify`, warm and cold, beside git status, a bare walk and a bare hashing
    Manifest { folder: PathBuf, rounds: usize },
    /// Typed reading of all artifacts, in memory and from disk, beside the readers of the field
    TypedReading {
        folder: PathBuf,
        rounds: usize,
        /// The interpreter of a virtual environment that holds python-frontmatter
        #[arg(long)]
        python: Option<PathBuf>,
        /// The folder that holds node_modules/gray-matter
        #[arg(long)]
        node: Option<PathBuf>,
    },
    /// `complete`, as a library call and as a process, beside a bare durable replacement
    Completion { folder: PathBuf, rounds: usize },
    /// `next` as a process, in each of the projects given as PROJECT=ARTIFACT
    Start { rounds: usize, projects: Vec<String> },
    /// Ten times the files: `manifest verify` and `status` in two projects
    Growth { small: PathBuf, large: PathBuf, rounds: usize },
    /// Make a project in FOLDER with a journal of EVENTS over ARTIFACTS in SESSIONS
    Journal { folder: PathBuf, events: usize, artifacts: usize, sessions: usize },
    /// The same of the records of a flow `f` with so many tasks
    FlowJournal { folder: PathBuf, events: usize, tasks: usize, sessions: usize },
    /// Make a project in FOLDER with a journal of so many memories
    MemoryJournal { folder: PathBuf, records: usize, sessions: usize },
    /// `resume` as a process, from each tier, in a project that `project` made for this alone
    Resume { folder: PathBuf, rounds: usize },
    /// `check --staged` of ten files beside git alone, in a project that `project` made for this alone
    Staged { folder: PathBuf, rounds: usize },
    /// `check` beside git status, in a project that `project` made for this alone
    Check { folder: PathBuf, rounds: usize },
    /// `status` and `list` beside git status, in a project that `project` made for this alone
    List { folder: PathBuf, rounds: usize },
    /// `project` from nothing, unchanged and after one change, in a project that `project` made for this
    /// alone
    Projections { folder: PathBuf, rounds: usize },
    /// `sync` with nothing to do beside `status`, in a project that `project` made for this alone
    Sync { folder: PathBuf, rounds: usize },
    /// `query`, with nothing new and after one change, in a project that `project` made for this alone
    Query { folder: PathBuf, rounds: usize },
    /// One SELECT over all artifacts of the database in FOLDER
    BareSelect { folder: PathBuf },
    /// `serve`: the page over the loopback, and the delay of an update, in a project that `project` made for
    /// this alone
    Page { folder: PathBuf, rounds: usize },
    /// Walk through FOLDER and stat every file, on all processors
    BareWalk { folder: PathBuf },
    /// Walk through FOLDER and hash every file, on all processors
    BareHash { folder: PathBuf },
    /// Replace FILE by the bytes of SOURCE: write, fsync, rename, fsync of the folder
    BareReplace { file: PathBuf, source: PathBuf },
    /// Do nothing: what starting a process costs
    Nothing,
    /// Read the artifacts of FOLDER with READER and print seconds, files and completed steps
    Read { reader: Reader, place: reader::Place, folder: PathBuf },
}

fn main() -> ExitCode {
    match run(Arguments::parse().work) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(work: Work) -> Result<(), Failure> {
    match work {
        Work::Project { folder, count } => project::make(&Tools::find()?, &folder, count),
        Work::Manifest { folder, rounds } => manifest::measure(&Tools::find()?, &folder, rounds),
        Work::TypedReading { folder, rounds, python, node } => {
            typed_reading::measure(&Tools::find()?, &folder, rounds, python.as_deref(), node.as_deref())
        }
        Work::Completion { folder, rounds } => completion::measure(&Tools::find()?, &folder, rounds),
        Work::Start { rounds, projects } => start::measure(&Tools::find()?, rounds, &projects),
        Work::Growth { small, large, rounds } => growth::measure(&Tools::find()?, &small, &large, rounds),
        Work::Journal { folder, events, artifacts, sessions } => {
            journal::make(&folder, events, artifacts, sessions)
        }
        Work::FlowJournal { folder, events, tasks, sessions } => {
            journal::make_flow(&folder, events, tasks, sessions)
        }
        Work::MemoryJournal { folder, records, sessions } => {
            journal::make_memories(&folder, records, sessions)
        }
        Work::Resume { folder, rounds } => resume::measure(&Tools::find()?, &folder, rounds),
        Work::Staged { folder, rounds } => staged::measure(&Tools::find()?, &folder, rounds),
        Work::Projections { folder, rounds } => projections::measure(&Tools::find()?, &folder, rounds),
        Work::Sync { folder, rounds } => sync::measure(&Tools::find()?, &folder, rounds),
        Work::Page { folder, rounds } => page::measure(&Tools::find()?, &folder, rounds),
        Work::Check { folder, rounds } => check::measure(&Tools::find()?, &folder, rounds),
        Work::List { folder, rounds } => list::measure(&Tools::find()?, &folder, rounds),
        Work::Query { folder, rounds } => query::measure(&Tools::find()?, &folder, rounds),
        Work::BareSelect { folder } => query::print_select(&folder),
        Work::BareWalk { folder } => bare::print_walk(&folder),
        Work::BareHash { folder } => bare::print_hashing(&folder),
        Work::BareReplace { file, source } => bare::replace_by(&file, &source),
        Work::Nothing => Ok(()),
        Work::Read { reader, place, folder } => reader::print(reader, place, &folder),
    }
}
