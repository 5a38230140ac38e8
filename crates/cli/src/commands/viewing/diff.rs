//! `stepmark log diff`

use clap::Args;
use serde_json::{Map, Value as Json};
use stepmark_frontmatter::{Change, diff};
use stepmark_model::{
    artifact::ProjectPath,
    journal::{ArtifactKey, Event, EventId},
};
use stepmark_store::history::{History, KnownArtifact, Point};

use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output, Row, history, wire::Open},
    project::Project,
};

/// Show what differs in the artifacts between the ends of two sessions
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The session at whose end the older states stood
    older: String,
    /// The session at whose end the newer states stood
    newer: String,
    #[command(flatten)]
    list: ListArguments,
}

struct Difference {
    artifact: KnownArtifact,
    older: Option<Event>,
    newer: Option<Event>,
    changes: Vec<Change>,
}

impl Diff {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let history = History::open(project.root())?;
        let mut differences = Vec::new();
        for artifact in history.touched(&self.older, &self.newer)? {
            differences.extend(self.compare(&history, artifact)?);
        }
        let answer = |artifacts, more| Answer::Diff { artifacts, more };
        self.list.answer(output, &mut differences, DifferenceRow::of, answer, |differences| {
            if differences.is_empty() {
                output.remark(format_args!(
                    "no artifact differs between the ends of {} and {}",
                    self.older, self.newer
                ));
            }
            differences.iter().for_each(|difference| show(difference, output));
        })?;
        Ok(Exit::Fine)
    }

    fn compare(&self, history: &History, artifact: KnownArtifact) -> Result<Option<Difference>, Failure> {
        let at_end =
            |session: &str| history.at(&artifact.key, &artifact.path, &Point::Session(session.to_owned()));
        let (older, newer) = (at_end(&self.older)?, at_end(&self.newer)?);
        if older.as_ref().map(|event| event.id) == newer.as_ref().map(|event| event.id) {
            return Ok(None);
        }
        let changes = diff(&state(history, older.as_ref())?, &state(history, newer.as_ref())?);
        let is_same = changes.is_empty() && exists(older.as_ref()) == exists(newer.as_ref());
        Ok((!is_same).then_some(Difference { artifact, older, newer, changes }))
    }
}

fn exists(event: Option<&Event>) -> bool {
    event.is_some_and(|event| event.after.is_some())
}

fn state(history: &History, event: Option<&Event>) -> Result<Json, Failure> {
    match event.filter(|event| event.after.is_some()) {
        Some(event) => Ok(history.state_after(event.id)?),
        None => Ok(Json::Object(Map::new())),
    }
}

answers! { Answer<'a>
    /// `log diff`: what differs between the ends of two sessions
    "stepmark.diff/1" Diff { artifacts: Vec<Row<DifferenceRow<'a>>>, more: usize }
    struct DifferenceRow<'a> {
        path: &'a ProjectPath, key: &'a ArtifactKey, older: Option<EventId>, newer: Option<EventId>,
        changes: Open<&'a [Change]>,
    }
}

impl<'a> DifferenceRow<'a> {
    fn of(Difference { artifact, older, newer, changes }: &'a Difference) -> Self {
        let [older, newer] = [older, newer].map(|event| event.as_ref().map(|event| event.id));
        Self { path: &artifact.path, key: &artifact.key, older, newer, changes: Open(changes) }
    }
}

fn show(difference: &Difference, output: &Output) {
    let presence = match (exists(difference.older.as_ref()), exists(difference.newer.as_ref())) {
        (false, true) => " (new)",
        (true, false) => " (gone)",
        _ => "",
    };
    output.line(format_args!("{}{presence}", difference.artifact.path));
    for change in &difference.changes {
        output.line(format_args!("    {}", crate::output::on_one_line(&history::change(change))));
    }
}
