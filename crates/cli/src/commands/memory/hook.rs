//! `stepmark memory hook`: the hooks of Claude Code (its page "Hooks reference"). A hook never blocks: it
//! exits with 0, and errors go to standard error, which the person sees.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use super::{now, open};
use crate::{
    exit::{Exit, Failure, chain},
    output::Output,
    project::Project,
};
use clap::{Args, Subcommand};
use serde_json::{Value as Json, json};
use stepmark_memory::{Decision, Draft, MemoryKind, Query, context, ranking::fits, supersession, told_lines};
use stepmark_model::journal::{EventDraft, Kind, SessionId};
use stepmark_store::configuration::Track;

/// Bytes of input.
const LIMIT: u64 = 16 * 1024 * 1024;
const WITH_PROMPT: usize = 3;

/// Answer a hook of a coding agent: its JSON on standard input, an answer on standard output
#[derive(Debug, Args)]
pub(super) struct Hook {
    #[command(subcommand)]
    moment: Moment,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Moment {
    /// A session starts: tell what matters (SessionStart, SubagentStart)
    SessionStart,
    /// A person asks: tell what fits (UserPromptSubmit)
    Prompt,
    /// An agent has given something back: remember what it says (SubagentStop, Stop, PostToolUse)
    PostDelegation,
    /// The session ends: its summary is made, its part of the journal sealed (SessionEnd)
    SessionEnd,
}

impl Hook {
    pub(super) fn run(&self, project: Project, output: &Output) -> Result<Exit, Failure> {
        if let Err(failure) = self.answer(project, output) {
            output.warning(format_args!("memory: {}", failure.message));
        }
        Ok(Exit::Fine)
    }

    fn answer(&self, project: Project, output: &Output) -> Result<(), Failure> {
        let given = given()?;
        let text = |key: &str| given.get(key).and_then(Json::as_str);
        let session: Option<SessionId> = text("session_id").and_then(|id| id.parse().ok());
        let own = project.workspace.attribution().session.clone().or(session);
        let name = |usual| text("hook_event_name").unwrap_or(usual);
        match self.moment {
            Moment::SessionStart => hand_over(at_start(&project, None)?, name("SessionStart"), output),
            Moment::Prompt => {
                let text = with_prompt(&project, text("prompt").unwrap_or_default())?;
                hand_over(text, name("UserPromptSubmit"), output);
            }
            Moment::PostDelegation => remember(&project.in_session(own), &given)?,
            Moment::SessionEnd => {
                if let Some(session) = own {
                    end(&project.in_session(Some(session.clone())), &session)?;
                }
            }
        }
        Ok(())
    }
}

/// For an agent that starts; empty without memory. A failure does not keep the agent from starting.
pub(in crate::commands) fn handed_over(project: &Project, artifact: Option<&str>, output: &Output) -> String {
    if !project.workspace.configuration().uses_memory() {
        return String::new();
    }
    at_start(project, artifact).unwrap_or_else(|failure| {
        output.warning(format_args!("memory: {}", failure.message));
        String::new()
    })
}

/// About `artifact` if work is delegated to the agent.
fn at_start(project: &Project, artifact: Option<&str>) -> Result<String, Failure> {
    let settings = &project.workspace.configuration().memory;
    let active = project.workspace.configuration().active.as_ref().map(ToString::to_string);
    let query = Query {
        artifact: artifact.map(str::to_owned).or(active),
        limit: settings.recall.limit,
        ..Query::default()
    };
    let found = open(project)?.recall(&query, now(project))?;
    Ok(context(found.iter().map(|recalled| &recalled.record), settings.recall.budget_chars))
}

fn with_prompt(project: &Project, prompt: &str) -> Result<String, Failure> {
    if prompt.trim().is_empty() {
        return Ok(String::new());
    }
    let query = Query { text: prompt.to_owned(), limit: WITH_PROMPT, ..Query::default() };
    let found = open(project)?.recall(&query, now(project))?;
    let fitting = found.iter().filter(|recalled| fits(prompt, &recalled.record));
    let budget = project.workspace.configuration().memory.recall.budget_chars;
    Ok(context(fitting.map(|recalled| &recalled.record), budget))
}

fn hand_over(text: String, event: &str, output: &Output) {
    if !text.is_empty() {
        let answer = json!({"hookEventName": event, "additionalContext": text});
        output.line(json!({"hookSpecificOutput": answer}));
    }
}

/// Stores the memories in an agent's answer; refused ones are reported, the others stored.
fn remember(project: &Project, given: &Json) -> Result<(), Failure> {
    let answer = ["last_assistant_message", "tool_response", "tool_output"]
        .iter()
        .find_map(|key| given.get(*key).map(text_of))
        .unwrap_or_default();
    let agent = ["agent_type", "subagent_type"].iter().find_map(|key| given.get(*key)?.as_str());
    let agent = agent.or_else(|| given.get("tool_input")?.get("subagent_type")?.as_str());
    let mut refused = None;
    for draft in told_lines(&answer) {
        // Agents send one answer to several hooks, and again after an error.
        if open(project)?.says(&draft.content)? {
            continue;
        }
        let agent = agent.map(|agent| format!("agent:{agent}"));
        if let Err(failure) = told(&Draft { agent, ..draft }, project) {
            refused = Some(failure);
        }
    }
    refused.map_or(Ok(()), Err)
}

fn text_of(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Json::Object(entries) => entries.values().map(text_of).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

fn end(project: &Project, session: &SessionId) -> Result<(), Failure> {
    let history = project.workspace.history();
    let events = history.ask(|history| history.of_session(session.as_str()))?;
    let has_ended = events.iter().any(|event| event.kind == Kind::SESSION_END);
    if !events.is_empty() && !has_ended {
        history.append_event(EventDraft::new(Kind::SESSION_END).with_command("memory hook session-end"))?;
        history.seal(Some(session))?;
    }
    Ok(())
}

fn given() -> Result<Json, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(LIMIT).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new(Exit::Io, chain(&error)))?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(Json::Null);
    }
    serde_json::from_str(text)
        .map_err(|error| Failure::new(Exit::Usage, format!("the hook was given no JSON: {error}")))
}

answers! { Answer<'a>
    /// `memory remember`, `decide`, `supersede`: the memory, and the one whose place it takes
    "stepmark.memory-told/1" Told { id: &'a str, supersedes: Option<&'a str> }
}

/// Facts told beside a memory.
#[derive(Debug, Args)]
struct About {
    /// The artifact that it is about: its path or id
    #[arg(long)]
    artifact: Option<PathBuf>,
    /// A word to find it by; once for each
    #[arg(long = "tag")]
    tags: Vec<String>,
    /// Its importance, from 0 to 1
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f64>,
    /// Its certainty, from 0 to 1
    #[arg(long, value_name = "NUMBER")]
    confidence: Option<f64>,
    /// The memory whose place it takes
    #[arg(long, value_name = "ID")]
    supersedes: Option<String>,
}

/// Remember something: a learning, unless --kind says otherwise
#[derive(Debug, Args)]
pub(super) struct Remember {
    /// The text
    text: String,
    /// Its kind: decision, error, security, preference, learning, observation, pattern, documentation
    #[arg(long)]
    kind: Option<MemoryKind>,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    #[command(flatten)]
    about: About,
}

/// Remember a decision with its reason and what was rejected
#[derive(Debug, Args)]
pub(super) struct Decide {
    /// The question
    question: String,
    /// The answer
    #[arg(long)]
    chosen: String,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    because: String,
    /// An answer that was rejected; once for each
    #[arg(long = "rejected", value_name = "ANSWER")]
    alternatives: Vec<String>,
    #[command(flatten)]
    about: About,
}

/// Say that one memory takes the place of another, which is kept and no longer recalled
#[derive(Debug, Args)]
pub(super) struct Supersede {
    /// The memory that no longer holds
    id: String,
    /// The one that holds instead
    #[arg(long, value_name = "ID")]
    by: String,
}

impl Remember {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let draft = Draft {
            kind: self.kind,
            content: self.text.clone(),
            rationale: self.why.clone(),
            ..Draft::default()
        };
        tell(draft, &self.about, project, output)
    }
}

impl Decide {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let decision = Decision {
            question: self.question.clone(),
            chosen: self.chosen.clone(),
            alternatives: self.alternatives.clone(),
        };
        tell(Draft::of_decision(decision, Some(self.because.clone())), &self.about, project, output)
    }
}

impl Supersede {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let memory = open(project)?;
        let (old, new) = (memory.record(&self.id)?.id, memory.record(&self.by)?.id);
        if old == new {
            return Err(Failure::new(Exit::Findings, "a memory cannot take its own place"));
        }
        let (mut later, mut at) = (vec![new.clone()], 0);
        while let Some(id) = later.get(at).cloned() {
            let next = memory.superseded_by(&id)?;
            later.extend(next.into_iter().filter(|id| !later.contains(id)).collect::<Vec<_>>());
            at += 1;
        }
        if later.contains(&old) {
            let why = format!("{old:.8} took the place of {new:.8}: in a circle neither would be recalled");
            return Err(Failure::new(Exit::Findings, why).with_help(
                "decide anew: `stepmark memory decide … --supersedes` makes a memory of its own",
            ));
        }
        project.workspace.history().append_event(supersession(&old, &new, is_local(project)))?;
        output.answer(|| Answer::Told { id: &new, supersedes: Some(&old) });
        output.line(format_args!("{new:.8} takes the place of {old:.8}"));
        Ok(Exit::Fine)
    }
}

fn tell(mut draft: Draft, about: &About, project: &Project, output: &Output) -> Result<Exit, Failure> {
    draft = about_artifact(draft, about.artifact.as_deref(), project)?;
    draft.tags.clone_from(&about.tags);
    (draft.importance, draft.confidence) = (about.importance, about.confidence);
    let old = about.supersedes.as_deref().map(|id| Ok::<_, Failure>(open(project)?.record(id)?.id));
    let old = old.transpose()?;
    let id = told(&draft, project)?;
    if let Some(old) = &old {
        project.workspace.history().append_event(supersession(old, &id, is_local(project)))?;
    }
    output.answer(|| Answer::Told { id: &id, supersedes: old.as_deref() });
    output.line(format_args!("{id:.8}  {}", stepmark_memory::context::plain(&draft.content, 200)));
    Ok(Exit::Fine)
}

pub(super) fn about_artifact(
    draft: Draft,
    artifact: Option<&Path>,
    project: &Project,
) -> Result<Draft, Failure> {
    let Some(artifact) = artifact else { return Ok(draft) };
    let (key, path) = project.identity(artifact)?;
    Ok(Draft { key: Some(key.to_string()), artifact: Some(path.to_string()), ..draft })
}

pub(super) fn told(draft: &Draft, project: &Project) -> Result<String, Failure> {
    let event = draft.event(is_local(project))?.with_command("memory remember");
    Ok(project.workspace.history().append_event(event)?.id.to_string())
}

fn is_local(project: &Project) -> bool {
    project.workspace.configuration().memory.track == Track::Local
}
