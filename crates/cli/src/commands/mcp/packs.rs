//! The tools of a pack of the project: one for each move, and one that lists.

use std::{path::PathBuf, sync::Arc};

use serde::Serialize;
use serde_json::Value;
use stepmark_mcp::{
    Answer, Arguments, Effect, Presence,
    Presence::{Optional, Required},
    Refusal, Schema, Tool, ToolSet,
};
use stepmark_model::packs::{ArgumentShape, Kind, NamedMove, Pack};

use super::Opening;
use crate::{commands::packs::moves::KindMove, exit::Failure};

pub(super) struct PackTools {
    opening: Opening,
    instructions: String,
    tools: Vec<PackTool>,
}

struct PackTool {
    /// Names of tools live as long as the server.
    name: &'static str,
    description: &'static str,
    kind: Arc<Kind>,
    made: Option<NamedMove>,
}

#[derive(Serialize)]
struct Listed {
    artifacts: Vec<ListedArtifact>,
}

#[derive(Serialize)]
struct ListedArtifact {
    artifact: String,
    status: String,
    moves: Vec<String>,
}

#[derive(Serialize)]
struct Moved {
    artifact: String,
    status: String,
}

impl PackTools {
    pub(super) fn new(opening: Opening, pack: &Pack) -> Self {
        let tools = pack.kinds.iter().flat_map(|own| tools_of(&own.kind)).collect();
        let about = pack.about.as_deref().unwrap_or("A state system of this project.");
        let instructions = format!(
            "{about}\nEach tool makes one move of an artifact, as the pack `{}` declares it; a refusal names what is \
             legal instead. List first, and say your own id as agent_id.",
            pack.name
        );
        Self { opening, instructions, tools }
    }
}

fn tools_of(kind: &Arc<Kind>) -> Vec<PackTool> {
    let tool = |name: &str, description: String, made: Option<&NamedMove>| PackTool {
        name: format!("{}_{name}", kind.command).replace('-', "_").leak(),
        description: description.leak(),
        kind: Arc::clone(kind),
        made: made.cloned(),
    };
    let moves = kind.lifecycle.as_ref().map(|table| table.named_moves()).unwrap_or_default();
    let list = tool(
        "list",
        format!("List the {}, with their states and the moves that are legal.", kind.plural),
        None,
    );
    let made = moves.iter().map(|made| {
        let about = made.about.clone().map(|about| format!("{about}: ")).unwrap_or_default();
        tool(&made.name, format!("{about}{}.", made.way()), Some(made))
    });
    if moves.is_empty() { Vec::new() } else { std::iter::once(list).chain(made).collect() }
}

impl PackTool {
    fn tool(&self) -> Tool {
        let text = Schema::text;
        let agent = ("agent_id", Optional, text("Your own id"));
        let Some(made) = &self.made else {
            let row = Schema::object([
                ("artifact", Required, text("")),
                ("status", Required, text("")),
                ("moves", Required, Schema::list("", text(""))),
            ]);
            let output = Schema::object([("artifacts", Required, Schema::list("", row))]);
            let (name, description) = (self.name, self.description);
            return Tool {
                name,
                description,
                effect: Effect::Reads,
                input: Schema::object([]).closed(),
                output,
            };
        };
        let mut keys: Vec<(&str, Presence, Schema)> =
            vec![("artifact", Required, text("Its path, name or id"))];
        keys.extend(made.args.iter().map(|(name, kind)| {
            let schema = match kind.shape {
                ArgumentShape::Int | ArgumentShape::Number => Schema::number(""),
                ArgumentShape::Bool => Schema::flag(""),
                ArgumentShape::List => Schema::list("", text("")),
                ArgumentShape::Map => Schema::object([]),
                ArgumentShape::Text | ArgumentShape::Time | ArgumentShape::Ref => text(""),
            };
            (name.as_str(), if kind.is_optional { Optional } else { Required }, schema)
        }));
        let presence = |word: &str| match made.needs.iter().any(|need| need.name() == word) {
            true => Required,
            false => Optional,
        };
        keys.push(("reason", presence("reason"), text("Why, for history")));
        keys.push(("evidence", presence("evidence"), text("What shows that it is so")));
        keys.push(agent);
        let output = Schema::object([("artifact", Required, text("")), ("status", Required, text(""))]);
        let (name, description) = (self.name, self.description);
        Tool { name, description, effect: Effect::Changes, input: Schema::object(keys).closed(), output }
    }
}

impl ToolSet for PackTools {
    fn instructions(&self) -> &str {
        &self.instructions
    }

    fn tools(&self) -> Vec<Tool> {
        self.tools.iter().map(PackTool::tool).collect()
    }

    fn call(&self, tool: &str, given: Arguments) -> Result<Answer, Refusal> {
        let own = self.tools.iter().find(|own| own.name == tool);
        let own = own.ok_or_else(|| Refusal::new(format!("there is no tool `{tool}`")))?;
        match &own.made {
            Some(made) => self.make(own, made, given),
            None => self.list(own),
        }
    }
}

impl PackTools {
    fn list(&self, own: &PackTool) -> Result<Answer, Refusal> {
        let project = self.opening.project(None).map_err(refusal)?;
        let found = project.workspace.artifacts().map_err(Failure::from).map_err(refusal)?;
        let rows = found.artifacts.iter().filter_map(|artifact| {
            let choice = artifact.lifecycle().filter(|choice| choice.kind.as_ref() == Some(&own.kind))?;
            let state = artifact.lifecycle_state()?;
            let moves = choice.lifecycle.named_from(state).map(|made| made.name.clone()).collect();
            Some(ListedArtifact { artifact: artifact.path().to_string(), status: state.name.clone(), moves })
        });
        let artifacts: Vec<ListedArtifact> = rows.collect();
        let text = format!("{} {}", artifacts.len(), own.kind.plural);
        Ok(answer(&Listed { artifacts }, text))
    }

    fn make(&self, own: &PackTool, made: &NamedMove, mut given: Arguments) -> Result<Answer, Refusal> {
        let mut text = |name: &str| given.remove(name).and_then(|value| value.as_str().map(str::to_owned));
        let agent = text("agent_id");
        let artifact = text("artifact").ok_or_else(|| Refusal::new("`artifact` is missing"))?;
        let (reason, evidence) = (text("reason"), text("evidence"));
        let args = given.into_iter().flat_map(|(name, value)| {
            let texts = match value {
                Value::Null => Vec::new(),
                Value::Array(items) => items.iter().map(spelled).collect(),
                value => vec![spelled(&value)],
            };
            texts.into_iter().map(move |text| (name.clone(), text)).collect::<Vec<_>>()
        });
        let kind_move = KindMove {
            kind: Arc::clone(&own.kind),
            name: made.name.clone(),
            artifact: PathBuf::from(artifact),
            args: args.collect(),
            reason,
            evidence,
        };
        let project = self.opening.project(agent.as_deref()).map_err(refusal)?;
        let carried = kind_move.make(&project).map_err(refusal)?;
        let status = carried.artifact.state().status.as_ref().map(|status| status.text.clone());
        let moved =
            Moved { artifact: carried.artifact.path().to_string(), status: status.unwrap_or_default() };
        let text = format!("{} is {}", moved.artifact, moved.status);
        Ok(answer(&moved, text))
    }
}

fn spelled(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn answer(structured: &impl Serialize, text: String) -> Answer {
    let structured = match serde_json::to_value(structured) {
        Ok(Value::Object(keys)) => keys,
        _ => Arguments::new(),
    };
    Answer { structured, text }
}

fn refusal(failure: Failure) -> Refusal {
    let causes = failure.causes.iter().fold(failure.message, |text, cause| format!("{text}: {cause}"));
    Refusal { reason: causes, remedy: failure.help }
}
