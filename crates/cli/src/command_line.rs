//! The command line.

use clap::{Parser, Subcommand};

use crate::arguments::{ActingArguments, OutputArguments, ProjectArguments};
#[cfg(feature = "mcp")]
use crate::commands::mcp;
use crate::commands::{
    asdd, autodev, changing, checking, coordination, flow, memory, packs, sessions, setup, sharing, viewing,
};

/// Reads, checks and changes the frontmatter state of agentic workflows: losslessly, atomically, provably.
#[derive(Debug, Parser)]
#[command(
    name = "stepmark",
    version,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) project: ProjectArguments,
    #[command(flatten)]
    pub(crate) acting: ActingArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands. Those that are hidden are old names of parts of others, which scripts use: they go with 1.0.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(setup::config::Init),
    Status(viewing::status::Status),
    List(viewing::list::List),
    Show(viewing::show::Show),
    Next(viewing::next::Next),
    Complete(changing::transition::Complete),
    Reopen(changing::transition::Reopen),
    Transition(changing::transition::Transition),
    Set(changing::set::Set),
    Unset(changing::set::Unset),
    Scope(changing::set::Scope),
    Track(changing::set::Track),
    Memlog(changing::memlog::Memlog),
    Defer(changing::change::Defer),
    Remove(changing::delegate::Remove),
    Undo(changing::delegate::Undo),
    Session(sessions::session::Session),
    Asdd(asdd::AsddCommand),
    Autodev(autodev::Autodev),
    Task(coordination::task::Task),
    Coordination(coordination::board::CoordinationCommand),
    Flow(flow::FlowCommand),
    Memory(memory::MemoryCommand),
    #[cfg(feature = "mcp")]
    Mcp(mcp::Mcp),
    Resume(viewing::resume::Resume),
    Checkpoint(sessions::checkpoint::Checkpoint),
    Restore(sessions::checkpoint::Restore),
    Exec(sessions::session::Exec),
    Doctor(checking::doctor::Doctor),
    Delegate(changing::delegate::Delegate),
    Tickets(viewing::tickets::Tickets),
    Tree(viewing::tree::Tree),
    Gate(checking::gate::Gate),
    #[command(hide = true)]
    Lease(checking::gate::Lease),
    Project(checking::project::Project),
    Import(changing::import::Import),
    Query(viewing::query::Query),
    Hook(checking::hook::Hook),
    Check(checking::check::Check),
    Explain(checking::check::Explain),
    Log(viewing::journal::Log),
    #[command(hide = true)]
    At(viewing::show::At),
    #[command(hide = true)]
    Diff(viewing::show::Diff),
    #[command(hide = true)]
    Replay(viewing::replay::Replay),
    #[command(hide = true)]
    Journal(viewing::journal::Journal),
    Lifecycle(checking::lifecycle::Lifecycle),
    Pack(packs::PackCommand),
    Sync(sharing::sync::Sync),
    Report(viewing::replay::Report),
    Serve(viewing::serve::Serve),
    Board(viewing::board::Board),
    #[command(hide = true)]
    Manifest(checking::manifest::Manifest),
    Config(setup::config::Config),
    #[command(hide = true)]
    Context(viewing::context::Context),
    Instructions(sharing::instructions::Instructions),
    Completions(setup::reference::Completions),
    Man(setup::reference::Man),
    Schema(setup::reference::Schema),
    Help(setup::reference::Help),
    /// A move of a pack of the project: its own line is read by the pack.
    #[command(skip)]
    Made(packs::moves::KindMove),
}
