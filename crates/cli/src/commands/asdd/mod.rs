//! `stepmark asdd`

pub(crate) mod overview;
mod proposing;

pub(crate) use overview::help_of_refusal;

use clap::{Args, Subcommand};
use serde_json::{Map, Value as Json};
use stepmark_frontmatter::Value;
use stepmark_model::asdd::{Failure as AgentFailure, Record, SliceKind, slice_move};
use stepmark_model::packs::MoveCall;
use stepmark_store::{asdd::Asdd, projection::Overwrite, workspace::Workspace};

use crate::{
    commands::{
        checking::check::Check,
        coordination::{agent, report::told_of},
    },
    exit::{Exit, Failure},
    output::{ListArguments, Output},
    project::Project,
};

/// Lead slices of a product through phases, with agents that propose and a custodian who commits
///
/// Each slice is a file below `.asdd/slices/`; `.asdd/state/manifest.json`, which agents read before they
/// work, follows each change. An agent begins with a slice, proposes what it has done, and the custodian
/// commits or refuses that; a tech lead approves phases and resolves what is held up. Nothing flows back from
/// the manifest but by `stepmark import asdd`.
#[derive(Debug, Args)]
pub(crate) struct AsddCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Args)]
struct Named {
    /// The slice
    slice: String,
}

#[derive(Debug, Args)]
struct Reasoned {
    /// The slice
    slice: String,
    /// Why
    #[arg(long)]
    reason: String,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Begin: switch ASDD on in .stepmark/config.yaml, and note sprint and goals
    Init {
        /// The name of the sprint
        #[arg(long)]
        sprint: Option<String>,
        /// A goal of the product; once for each
        #[arg(long = "goal")]
        goals: Vec<String>,
    },
    /// Show all slices with phase, confidence, blockers and agents in one view
    Status,
    /// Show a slice with all that it says
    Show(Named),
    /// Add a slice in DISCOVERY
    Add {
        /// What it is about
        name: String,
        /// `FEATURE`, `RETRO_SPEC`, `BUG_FIX` or `IMPROVEMENT`
        #[arg(long = "type", default_value = "FEATURE", value_parser = ["FEATURE", "RETRO_SPEC", "BUG_FIX", "IMPROVEMENT"])]
        kind: String,
        /// Its id; without it the next free one, `SLICE-001`
        #[arg(long)]
        id: Option<String>,
    },
    /// Add a slice that goes without the gates of the phases
    Quick {
        /// What it is about
        name: String,
    },
    /// Begin to work on a slice: hold it against the files, and read it
    ///
    /// A proposal rests on what its agent read here.
    Begin {
        /// The slice
        slice: String,
        /// The agent; without it the actor of the command
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
    },
    Propose(proposing::Propose),
    /// List proposals that wait for the custodian
    Proposals {
        /// Also those that were decided
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        list: ListArguments,
    },
    /// Commit a proposal, as the custodian
    ///
    /// Where several wait for a locked slice, all are committed as `asdd.steering` brings them together.
    Commit {
        /// The proposal
        id: String,
    },
    /// Refuse a proposal, as the custodian: the slice stays
    Reject {
        /// The proposal
        id: String,
        /// Why
        #[arg(long)]
        reason: String,
        /// Bring its files back from git as they were accepted last
        #[arg(long)]
        restore: bool,
    },
    /// Let a slice go into a phase, as a tech lead
    Approve {
        /// The slice
        slice: String,
        /// The phase that it may enter
        phase: String,
    },
    /// Hold a slice up, since several want to change it
    Lock {
        /// The slice
        slice: String,
        /// Who wants it; without it the actor of the command
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
    },
    /// Let a locked slice go on
    Unlock(Named),
    /// Hold a slice up for a reason
    Block(Reasoned),
    /// Name what stands in the way of a slice: it enters no phase before that is resolved
    Raise {
        /// The slice
        slice: String,
        /// The obstacle
        text: String,
    },
    /// Say that nothing stands in the way of a slice any more, as a tech lead
    Resolve(Reasoned),
    /// Note that an agent does not agree
    Dissent {
        /// The slice
        slice: String,
        /// The reason, and what it is about
        text: String,
    },
    /// Let a blocked slice go on in the last phase that was good
    Unblock(Named),
    /// Tell that an agent is not sure enough: the slice goes back to the last phase that was good
    Fail {
        /// The slice
        slice: String,
        /// The agent; without it the actor of the command
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
        /// Its confidence, from 0 to 1
        #[arg(long)]
        score: f64,
        /// Something that it is not sure of; once for each
        #[arg(long = "uncertainty", value_name = "TEXT", required = true)]
        uncertainty: Vec<String>,
    },
    /// Accept a file as it is, as a tech lead
    Accept {
        /// The slice
        slice: String,
        /// The file, seen from the project root
        path: String,
        /// Why
        #[arg(long)]
        reason: String,
    },
    /// Say what a slice that was made again should say, as a tech lead
    Review {
        /// The slice
        slice: String,
        /// What is made sure
        #[arg(required = true, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
    /// Slices that write down what a program does already
    Retro {
        #[command(subcommand)]
        what: Retro,
    },
    Heartbeat(overview::Heartbeat),
    /// Look at agents that are silent and at conflicts that nobody settles
    Monitor,
    /// Find what is wrong in slices, also against their files and the manifest
    ///
    /// This is `stepmark check` for the folder of slices alone (SMA01 to SMA11).
    Check(ListArguments),
    /// Make slices again that are gone: from history, else from the files of their phases
    Rebuild,
    /// Write the manifest; ends with 1 where other programs changed it
    Project {
        /// Give up what other programs changed: in these slices, or in all
        #[arg(long, value_name = "ID", num_args = 0..)]
        overwrite: Option<Vec<String>>,
    },
}

#[derive(Debug, Subcommand)]
enum Retro {
    /// Add one in BEHAVIOR_CAPTURE
    Add {
        /// What it is about
        name: String,
        /// Its id; without it the next free one, `RETRO-001`
        #[arg(long)]
        id: Option<String>,
    },
    /// Count the requirements that were looked at
    Count {
        /// The slice
        slice: String,
        /// Those that were right
        #[arg(long)]
        validated: i64,
        /// Those that were corrected
        #[arg(long)]
        corrected: i64,
        /// Those that were missing
        #[arg(long)]
        missing: i64,
    },
}

impl AsddCommand {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        if let What::Init { sprint, goals } = &self.what {
            return init(project, sprint.as_deref(), goals, output);
        }
        let asdd = asdd(&project.workspace)?;
        if let Some((slice, event, made)) = self.what.slice_move(project)? {
            let (slice, files) = asdd.change(&asdd.slice_id(slice)?, event, &made)?;
            overview::changed(&slice, &files, output);
            if let What::Approve { phase, .. } = &self.what {
                output.remark(format_args!("{phase} is approved"));
            }
            return Ok(Exit::Fine);
        }
        match &self.what {
            What::Status => overview::status(&asdd, project, output),
            What::Show(Named { slice }) => proposing::show(&asdd, &asdd.slice_id(slice)?, output),
            What::Add { name, kind, id } => {
                proposing::add(&asdd, id.as_deref(), (name, kind), "DISCOVERY", output)
            }
            What::Quick { name } => proposing::add(&asdd, None, (name, "FEATURE"), "QUICK_FIX", output),
            What::Retro { what: Retro::Add { name, id } } => {
                proposing::add(&asdd, id.as_deref(), (name, "RETRO_SPEC"), "BEHAVIOR_CAPTURE", output)
            }
            What::Begin { slice, agent } => {
                proposing::begin((&asdd, project), &asdd.slice_id(slice)?, agent.as_deref(), output)
            }
            What::Propose(command) => command.run((&asdd, project), output),
            What::Proposals { all, list } => proposing::proposals(&asdd, *all, list, output),
            What::Commit { id } => {
                overview::proposed(&asdd.commit(id)?, output);
                Ok(Exit::Fine)
            }
            What::Reject { id, reason, restore } => proposing::reject(&asdd, (id, reason, *restore), output),
            What::Fail { slice, agent: named, score, uncertainty } => {
                let agent = agent(project, named.as_deref())?;
                let uncertainty_factors = uncertainty.clone();
                let (slice, files) = asdd.fail(
                    &asdd.slice_id(slice)?,
                    &AgentFailure { agent, score: *score, uncertainty_factors },
                )?;
                overview::changed(&slice, &files, output);
                output.remark(format_args!("a row joined {}", asdd.settings().failure_log));
                Ok(Exit::Fine)
            }
            What::Accept { slice, path, reason } => {
                let (slice, files) = asdd.accept(&asdd.slice_id(slice)?, path, reason)?;
                overview::changed(&slice, &files, output);
                output.remark(format_args!("{path} is accepted as it is"));
                Ok(Exit::Fine)
            }
            What::Heartbeat(command) => command.run((&asdd, project), output),
            What::Monitor => overview::monitor(&asdd, output),
            What::Check(list) => check(&asdd, list, project, output),
            What::Rebuild => overview::rebuild(&asdd, output),
            What::Project { overwrite } => write_manifest(&asdd, overwrite.as_deref(), output),
            _ => Ok(Exit::Fine),
        }
    }

    pub(crate) const fn writes(&self) -> bool {
        !matches!(self.what, What::Status | What::Show(_) | What::Proposals { .. } | What::Check(_))
    }
}

impl What {
    /// `None` if the command does more than one move.
    fn slice_move(&self, project: &Project) -> Result<Option<(&str, &'static str, MoveCall)>, Failure> {
        Ok(Some(match self {
            Self::Approve { slice, phase } => {
                (slice, "asdd-approve", slice_move("approve").with("to", phase.as_str()))
            }
            Self::Lock { slice, agent } => {
                let actor = || project.workspace.attribution().actor.to_string();
                let requester = agent.clone().unwrap_or_else(actor);
                (slice, "asdd-lock", slice_move("lock").with("requester", requester))
            }
            Self::Unlock(Named { slice }) => (slice, "asdd-unlock", slice_move("unlock")),
            Self::Block(Reasoned { slice, reason }) => {
                (slice, "asdd-block", slice_move("block").with("reason", reason.as_str()))
            }
            Self::Raise { slice, text } => (slice, "asdd-raise", slice_move("raise").with("text", &**text)),
            Self::Resolve(Reasoned { slice, reason }) => {
                (slice, "asdd-resolve", slice_move("resolve").with("reason", &**reason))
            }
            Self::Dissent { slice, text } => {
                (slice, "asdd-dissent", slice_move("dissent").with("text", &**text))
            }
            Self::Unblock(Named { slice }) => (slice, "asdd-unblock", slice_move("unblock")),
            Self::Review { slice, set } => {
                let set: Map<_, _> = set.iter().map(|text| key_value(text)).collect::<Result<_, _>>()?;
                (slice, "asdd-review", slice_move("review").with("set", set))
            }
            Self::Retro { what: Retro::Count { slice, validated, corrected, missing } } => {
                let made = slice_move("count").with("validated", *validated);
                (slice, "asdd-count", made.with("corrected", *corrected).with("missing", *missing))
            }
            _ => return Ok(None),
        }))
    }
}

fn asdd(workspace: &Workspace) -> Result<Asdd<'_>, Failure> {
    workspace.asdd().ok_or_else(|| {
        Failure::new(Exit::Findings, "the project does not use ASDD").with_help(
            "`stepmark asdd init` switches it on, and `stepmark import asdd PATH` brings a manifest in",
        )
    })
}

fn check(asdd: &Asdd<'_>, list: &ListArguments, project: &Project, output: &Output) -> Result<Exit, Failure> {
    asdd.state()?;
    let place = project.root().path().join(asdd.settings().folder.as_str());
    Check::of_place(place, list.clone()).run(project, output)
}

pub(crate) fn switched_on(workspace: &Workspace) -> Result<Workspace, Failure> {
    let key = "asdd.folder".parse().map_err(|error| Failure::from_error(Exit::Usage, &error))?;
    let folder = workspace.asdd().map_or_else(|| ".asdd".to_owned(), |own| own.settings().folder.to_string());
    Ok(workspace.configure(key, Value::from(folder))?)
}

fn init(project: &Project, sprint: Option<&str>, goals: &[String], output: &Output) -> Result<Exit, Failure> {
    let workspace = switched_on(&project.workspace)?;
    let asdd = asdd(&workspace)?;
    let mut values = Map::new();
    values.insert("current_sprint".to_owned(), sprint.map_or(Json::Null, Json::from));
    values.insert("product_goals".to_owned(), goals.into());
    let files = asdd.init(Record::new(SliceKind::Project, "asdd", values))?;
    output.remark(format_args!(
        "ASDD begins in {}: `stepmark asdd add NAME` adds a slice",
        asdd.settings().folder
    ));
    Ok(told_of(&files, "asdd", output))
}

fn write_manifest(asdd: &Asdd<'_>, overwrite: Option<&[String]>, output: &Output) -> Result<Exit, Failure> {
    let overwrite = match overwrite {
        None => Overwrite::None,
        Some([]) => Overwrite::All,
        Some(ids) => Overwrite::Records(ids.iter().cloned().collect()),
    };
    let files = asdd.project(&overwrite)?;
    output.answer(|| overview::Answer::Project(&files));
    files.written.iter().for_each(|path| output.line(path));
    told_of(&files, "asdd", output);
    Ok(if files.drift.is_empty() { Exit::Fine } else { Exit::Findings })
}

pub(super) fn key_value(text: &str) -> Result<(String, Json), Failure> {
    let (key, value) = text
        .split_once('=')
        .filter(|(key, _)| !key.is_empty())
        .ok_or_else(|| Failure::new(Exit::Usage, format!("`{text}` is no KEY=VALUE")))?;
    let value = stepmark_frontmatter::Value::from_argument(value)
        .map_err(|error| Failure::from_error(Exit::Usage, &error))?;
    Ok((key.to_owned(), value.to_json()))
}
