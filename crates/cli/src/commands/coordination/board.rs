//! `stepmark coordination`

use clap::{Args, Subcommand, ValueEnum};
use stepmark_model::coordination::{Format, Overview};
use stepmark_store::Error;
use stepmark_store::coordination::{Coordination, Overwrite};

use super::{
    agent, coordination,
    report::{self, Answer},
    switched_on, task,
};
use crate::{
    environment::new_id,
    exit::{Exit, Failure},
    output::{ListArguments, Output, spinner, table},
    project::Project,
};

/// Keep tasks, agents and discoveries that several agents share
///
/// Each record is a file below `.coordination/`. The files of the programs that share them follow each
/// change: `tasks.json` and its siblings (option A), `mcp-state.json` (option B), or, on `save`, the state
/// file of an orchestrator (option C). Nothing flows back from these but by `stepmark import coordination`.
#[derive(Debug, Args)]
pub(crate) struct CoordinationCommand {
    #[command(subcommand)]
    what: What,
}

/// The option whose files follow.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum OptionName {
    #[value(name = "A")]
    A,
    #[value(name = "B")]
    B,
    #[value(name = "C")]
    C,
}

impl OptionName {
    pub(super) const fn format(self) -> Format {
        match self {
            Self::A => Format::TasksFile,
            Self::B => Format::ServerState,
            Self::C => Format::OrchestratorState,
        }
    }
}

#[derive(Debug, Subcommand)]
enum What {
    /// Begin: switch coordination on in .stepmark/config.yaml, and note the goal
    Init {
        /// The purpose of all of it
        #[arg(long)]
        goal: String,
        /// Which files follow; where nothing is said, those of the configuration, else A
        #[arg(long)]
        option: Option<OptionName>,
        /// The plan as Markdown
        #[arg(long, default_value = "")]
        plan: String,
    },
    /// Show how far the work is
    Status,
    /// Make an agent known
    Register {
        /// The agent
        agent: String,
        /// `leader`, `worker` or, with option C, `specialist`
        #[arg(long, default_value = "worker")]
        role: String,
        /// One of its capabilities; once for each
        #[arg(long = "capability")]
        capabilities: Vec<String>,
    },
    /// Note that an agent is alive
    Heartbeat {
        /// The agent; without it the actor of the command
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
    },
    /// Keep what an agent has found out
    Discover {
        /// The discovery, as Markdown
        content: String,
        /// The agent; without it the actor of the command
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
        /// A word to find it by; once for each
        #[arg(long = "tag")]
        tags: Vec<String>,
    },
    /// List what agents have found out
    Discoveries {
        /// Only those with this tag; once for each
        #[arg(long = "tag")]
        tags: Vec<String>,
        #[command(flatten)]
        list: ListArguments,
    },
    /// Print the plan
    Plan,
    /// Write the files that follow; ends with 1 where other programs changed them
    Project {
        /// Give up what other programs changed: in these records, or in all
        #[arg(long, value_name = "ID", num_args = 0..)]
        overwrite: Option<Vec<String>>,
    },
    /// Keep the records for another option from now on
    Convert {
        /// The option
        #[arg(long)]
        to: OptionName,
        /// Say what would be done
        #[arg(long)]
        dry_run: bool,
    },
    /// Write the state file of option C
    Save,
    /// Bring the state file of option C in
    Load,
    /// Keep a copy of the state file of option C under a name
    Checkpoint {
        /// The name
        name: String,
    },
    /// Bring a kept copy in
    Restore {
        /// The name
        name: String,
    },
}

impl CoordinationCommand {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        if let What::Init { goal, option, plan } = &self.what {
            return init(project, (goal, *option, plan), output);
        }
        let coordination = coordination(&project.workspace)?;
        match &self.what {
            What::Status => {
                let overview = overview(&coordination, project)?;
                status(&overview, output);
                Ok(Exit::Fine)
            }
            What::Register { agent, role, capabilities } => {
                let capabilities = (!capabilities.is_empty()).then(|| capabilities.as_slice().into());
                let files = coordination.register(agent, role, capabilities)?;
                output.remark(format_args!("{agent}: {role}"));
                Ok(report::told(&files, output))
            }
            What::Heartbeat { agent: named } => {
                let files = coordination.heartbeat(&agent(project, named.as_deref())?, None)?;
                Ok(report::told(&files, output))
            }
            What::Discover { content, agent: named, tags } => {
                let agent = agent(project, named.as_deref())?;
                let (found, files) =
                    coordination.discover((&format!("discovery-{}", new_id()), &agent), content, tags)?;
                let discoveries = ListArguments::default().keep_fields([report::discovery(&found)])?;
                output.answer(|| Answer::Discoveries { discoveries, more: None });
                output.line(&found.id);
                Ok(report::told(&files, output))
            }
            What::Discoveries { tags, list } => {
                let mut found = coordination.state()?.discoveries;
                found.retain(|found| {
                    tags.is_empty()
                        || found.texts("tags").iter().any(|tag| tags.iter().any(|own| own == *tag))
                });
                let answer = |discoveries, more| Answer::Discoveries { discoveries, more: Some(more) };
                list.answer(output, &mut found, report::discovery, answer, |found| {
                    let row = |found: &stepmark_model::coordination::Record| {
                        let text = |key: &str| found.text(key).unwrap_or("-").to_owned();
                        let first = found.body.lines().next().unwrap_or("").to_owned();
                        vec![found.id.clone(), text("agent_id"), found.texts("tags").join(", "), first]
                    };
                    output.line(table(&["ID", "AGENT", "TAGS", "CONTENT"], found.iter().map(row)));
                })?;
                Ok(Exit::Fine)
            }
            What::Plan => {
                let root = coordination.state()?.root;
                if root.body.trim().is_empty() {
                    output.note(
                        "there is no plan yet: it is the text below the frontmatter of `coordination.md`",
                    );
                }
                let answer = || Answer::Plan { goal: root.text("goal"), plan: &root.body };
                output.answer_or(answer, || output.bytes(root.body.as_bytes()));
                Ok(Exit::Fine)
            }
            What::Project { overwrite } => {
                let overwrite = match overwrite {
                    None => Overwrite::None,
                    Some(ids) if ids.is_empty() => Overwrite::All,
                    Some(ids) => Overwrite::Records(ids.iter().cloned().collect()),
                };
                task::project(&coordination, &overwrite, output)
            }
            What::Convert { to, dry_run } => task::convert(&coordination, to.format(), *dry_run, output),
            What::Save => task::save(&coordination, output),
            What::Load => task::load(&coordination, None, output),
            What::Checkpoint { name } => task::checkpoint(&coordination, name, output),
            What::Restore { name } => task::load(&coordination, Some(name), output),
            What::Init { .. } => Ok(Exit::Fine),
        }
    }

    pub(crate) const fn writes(&self) -> bool {
        !matches!(
            self.what,
            What::Status | What::Discoveries { .. } | What::Plan | What::Convert { dry_run: true, .. }
        )
    }
}

fn init(
    project: &Project,
    (goal, option, plan): (&str, Option<OptionName>, &str),
    output: &Output,
) -> Result<Exit, Failure> {
    let configured = || project.workspace.coordination().map(|own| own.settings().option);
    let format = option.map(OptionName::format).or_else(configured).unwrap_or(Format::TasksFile);
    let workspace = switched_on(&project.workspace, format)?;
    let coordination = coordination(&workspace)?;
    let files = coordination.begin(goal, plan)?;
    output.remark(format_args!(
        "coordination begins in {}: `stepmark task add TEXT` adds a task",
        coordination.settings().folder
    ));
    Ok(report::told(&files, output))
}

pub(crate) fn overview(coordination: &Coordination<'_>, project: &Project) -> Result<Overview, Error> {
    let limit = coordination.settings().inactive_seconds.get();
    Ok(Overview::of(&coordination.state()?, &coordination.signals(), project.workspace.now(), limit))
}

fn status(overview: &Overview, output: &Output) {
    output.answer(|| Answer::Status(overview.to_json()));
    output.line(format_args!("{}", overview.goal));
    let counts: Vec<String> =
        overview.counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    output.line(format_args!(
        "{}, {} % done: {}",
        spinner::count(overview.total, "task"),
        overview.percent,
        counts.join(", ")
    ));
    output.line(format_args!(
        "{}, {} active; {}",
        spinner::count(overview.agents, "agent"),
        overview.active,
        match overview.discoveries {
            1 => "1 discovery".to_owned(),
            count => format!("{count} discoveries"),
        }
    ));
}
