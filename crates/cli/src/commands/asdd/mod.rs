//! `stepmark asdd`

mod overview;
mod proposing;
mod report;
mod slice;

use clap::{Args, Subcommand};
use serde_json::{Map, Value as Json, json};
use stepmark_frontmatter::Value;
use stepmark_model::asdd::{AsddRefusal, Record, SliceKind};
use stepmark_store::{asdd::Asdd, projection::Overwrite, records::SystemError, workspace::Workspace};

use crate::{
    commands::{checking::check::Check, coordination::agent, followed_files},
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
    Show(slice::Show),
    Add(slice::Add),
    /// Add a slice that goes without the gates of the phases
    Quick {
        /// What it is about
        name: String,
    },
    Begin(proposing::Begin),
    Propose(proposing::Propose),
    Proposals(proposing::Proposals),
    Commit(proposing::Commit),
    Reject(proposing::Reject),
    Approve(slice::Approve),
    Lock(slice::Lock),
    /// Let a locked slice go on
    Unlock {
        /// The slice
        slice: String,
    },
    Block(slice::Block),
    /// Let a blocked slice go on in the last phase that was good
    Unblock {
        /// The slice
        slice: String,
    },
    Fail(slice::Fail),
    Accept(slice::Accept),
    Review(slice::Review),
    Retro(slice::Retro),
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

impl AsddCommand {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        if let What::Init { sprint, goals } = &self.what {
            return init(project, sprint.as_deref(), goals, output);
        }
        let asdd = asdd(&project.workspace)?;
        match &self.what {
            What::Status => overview::status(&asdd, project, output),
            What::Show(command) => command.run(&asdd, output),
            What::Add(command) => command.run(&asdd, output),
            What::Quick { name } => slice::add(&asdd, None, (name, "FEATURE"), "QUICK_FIX", output),
            What::Begin(command) => command.run((&asdd, project), output),
            What::Propose(command) => command.run((&asdd, project), output),
            What::Proposals(command) => command.run(&asdd, output),
            What::Commit(command) => command.run(&asdd, output),
            What::Reject(command) => command.run(&asdd, output),
            What::Approve(command) => command.run(&asdd, output),
            What::Lock(command) => command.run((&asdd, project), output),
            What::Unlock { slice } => slice::unlock(&asdd, slice, output),
            What::Block(command) => command.run(&asdd, output),
            What::Unblock { slice } => slice::unblock(&asdd, slice, output),
            What::Fail(command) => command.run((&asdd, project), output),
            What::Accept(command) => command.run((&asdd, project), output),
            What::Review(command) => command.run(&asdd, output),
            What::Retro(command) => command.run(&asdd, output),
            What::Heartbeat(command) => command.run((&asdd, project), output),
            What::Monitor => overview::monitor(&asdd, output),
            What::Check(list) => check(&asdd, list, project, output),
            What::Rebuild => overview::rebuild(&asdd, output),
            What::Project { overwrite } => write_manifest(&asdd, overwrite.as_deref(), output),
            What::Init { .. } => Ok(Exit::Fine),
        }
    }

    pub(crate) const fn writes(&self) -> bool {
        !matches!(self.what, What::Status | What::Show(_) | What::Proposals(_) | What::Check(_))
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

/// The project, where ASDD is switched on in its configuration.
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
    values.insert("product_goals".to_owned(), json!(goals));
    let files = asdd.init(Record::new(SliceKind::Project, "asdd", values))?;
    output.remark(format_args!(
        "ASDD begins in {}: `stepmark asdd add NAME` adds a slice",
        asdd.settings().folder
    ));
    Ok(followed_files::told(&files, "asdd", output))
}

fn write_manifest(asdd: &Asdd<'_>, overwrite: Option<&[String]>, output: &Output) -> Result<Exit, Failure> {
    let overwrite = match overwrite {
        None => Overwrite::None,
        Some([]) => Overwrite::All,
        Some(ids) => Overwrite::Records(ids.iter().cloned().collect()),
    };
    let files = asdd.project(&overwrite)?;
    output.json_or(
        "stepmark.asdd-project/1",
        || followed_files::wire(&files),
        || {
            for path in &files.written {
                output.line(path);
            }
        },
    );
    followed_files::told(&files, "asdd", output);
    Ok(if files.drift.is_empty() { Exit::Fine } else { Exit::Findings })
}

/// The remedy of `error`: a command that is legal instead.
pub(super) fn help(error: &SystemError) -> Option<String> {
    Some(match error {
        SystemError::Unread { slice, agent } => {
            format!("`stepmark asdd begin {slice} --agent {agent}` shows it")
        }
        SystemError::Unknown { what: "slice", .. } => "`stepmark asdd status` lists the slices".to_owned(),
        SystemError::NoProposal { .. } => "`stepmark asdd proposals` lists those that wait".to_owned(),
        SystemError::Role { holders, .. } => {
            format!(
                "act as one of {} with --actor or STEPMARK_ACTOR; `roles:` of the configuration says who is",
                holders.join(", ")
            )
        }
        SystemError::Slice(refusal) => help_of_refusal(refusal)?,
        _ => return None,
    })
}

fn help_of_refusal(refusal: &AsddRefusal) -> Option<String> {
    Some(match refusal {
        AsddRefusal::Outdated { slice, agent, .. } => {
            format!(
                "read it again with `stepmark asdd begin {slice} --agent {agent}`, and propose anew; `stepmark asdd proposals --all` keeps this one"
            )
        }
        AsddRefusal::Inconsistent { slice, .. } => {
            format!(
                "bring the files and `stepmark asdd show {slice}` together, then begin again; a file of a later phase comes with that phase"
            )
        }
        AsddRefusal::Drift { slice, paths } => {
            let path = paths.first().map_or("PATH", String::as_str);
            format!(
                "bring the accepted bytes back, propose the file, or let a tech lead accept it: `stepmark asdd accept {slice} {path} --reason TEXT`"
            )
        }
        AsddRefusal::ManifestDrift { slice } => format!(
            "`stepmark import asdd --take file` takes it, `stepmark asdd project --overwrite {slice}` gives it up"
        ),
        AsddRefusal::Halted { slice, .. } => format!(
            "`stepmark asdd show {slice}` shows it; a tech lead resolves it with `stepmark asdd unblock {slice}` or `stepmark asdd review {slice} KEY=VALUE`"
        ),
        AsddRefusal::Move { legal, .. } if !legal.is_empty() => format!("it can go to {}", legal.join(", ")),
        AsddRefusal::NotApproved { slice, to } => {
            format!("a tech lead approves it with `stepmark asdd approve {slice} {to}`")
        }
        AsddRefusal::TwiceInChain { .. } => {
            "propose without --score: the entry in the chain counts".to_owned()
        }
        AsddRefusal::FactorsMissing { .. } => "give --uncertainty TEXT, once for each".to_owned(),
        AsddRefusal::Conflict { slice, .. } => format!(
            "add a rule to `asdd.steering`, or refuse one: `stepmark asdd reject ID --reason TEXT`; `stepmark asdd proposals` lists those for {slice}"
        ),
        _ => return None,
    })
}
