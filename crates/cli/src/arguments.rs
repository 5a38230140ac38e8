//! Arguments that several commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stepmark_model::journal::{Actor, SessionId};
use stepmark_store::changes::ChangeReason;

/// Which project a command works on.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProjectArguments {
    /// Folder of the project; without it the nearest folder above with `.stepmark/config.yaml`, `_bmad/` or
    /// `.git`
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Give a key of the configuration a value for this run: `lease.seconds=60`, `settings.user_name=Ada`
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = assignment)]
    pub(crate) config: Vec<(String, String)>,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let parts = parts.ok_or_else(|| "KEY=VALUE is wanted".to_owned())?;
    Ok((parts.0.to_owned(), parts.1.to_owned()))
}

/// Not blank: history keeps it for those who ask why.
pub(crate) fn reason(text: &str) -> Result<String, String> {
    let is_blank = text.trim().is_empty();
    if is_blank { Err("a reason is wanted, and this one is blank".to_owned()) } else { Ok(text.to_owned()) }
}

/// Who acts, for the journal.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ActingArguments {
    /// Who acts: `agent:NAME`, `human:NAME` or `tool:NAME`; without it `STEPMARK_ACTOR`, else the user
    #[arg(long, global = true, value_name = "KIND:NAME")]
    pub(crate) actor: Option<Actor>,
    /// The session that the command belongs to; without it `STEPMARK_SESSION`
    #[arg(long, global = true, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
}

/// Why, and whether to insist on what the lifecycle, or delegated work that is open, forbids.
#[derive(Debug, Args)]
pub(crate) struct ReasonArguments {
    /// Do it although its lifecycle forbids it, its workflow has no such step, or what was delegated from it
    /// is open
    #[arg(long, requires = "reason")]
    pub(crate) force: bool,
    /// Why, for history
    #[arg(short = 'm', long, value_name = "TEXT", value_parser = reason)]
    pub(crate) reason: Option<String>,
}

impl ReasonArguments {
    pub(crate) fn reason(&self) -> ChangeReason {
        match self.reason.clone() {
            Some(reason) if self.force => ChangeReason::Forced(reason),
            said => ChangeReason::said(said),
        }
    }
}

/// How a command speaks.
#[derive(Debug, Args)]
pub(crate) struct OutputArguments {
    /// Print JSON with a versioned schema
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// Print findings and errors only
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// When to use colours; `auto` respects the terminal, `NO_COLOR` and `CLICOLOR`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}
