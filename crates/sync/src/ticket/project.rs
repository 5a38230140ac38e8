//! From an artifact to the ticket that it should have.

use std::collections::BTreeSet;

use stepmark_core::artifact::ProjectPath;

use super::{
    Block, CloseReason, Inline, Marker, Parents, Placeholder, Section, Snapshot, Standing, StepFact,
    TITLE_LIMIT, Task, Ticket, TicketFacts, TicketSettings, bar::bar, step_name::step_name,
};

impl Ticket {
    /// The ticket that the artifact of `marker` should have; `None` where `snapshot` has no such artifact.
    pub fn desired(snapshot: &Snapshot, marker: &Marker, settings: &TicketSettings) -> Option<Self> {
        let facts = snapshot.get(marker)?;
        let fact = |place| facts.fact(place, marker);
        let title = settings.title.fill(fact).filter(|title| !title.trim().is_empty());
        let own_labels = settings.labels.iter().filter_map(|label| label.fill(fact));
        let mut labels: BTreeSet<String> = own_labels.map(|label| one_line(&label, LABEL_LIMIT)).collect();
        labels.remove("");
        labels.insert(marker.label());
        let parent = match settings.parents {
            Parents::Follow => snapshot.parent(marker).cloned(),
            Parents::Ignore => None,
        };
        let fields = settings.fields.iter();
        Some(Self {
            marker: marker.clone(),
            title: one_line(&title.unwrap_or_else(|| facts.title.clone()), TITLE_LIMIT),
            body: body(facts, marker, settings),
            file: file(&facts.path, settings),
            labels,
            standing: standing(facts, settings),
            status: facts.status.clone(),
            parent,
            fields: fields.filter_map(|(name, value)| Some((name.clone(), value.fill(fact)?))).collect(),
        })
    }
}

/// How many characters a label has at most, as on GitHub (FORMATS.md §4).
const LABEL_LIMIT: usize = 50;

/// `text` in one line of at most `limit` characters, cut with `…`.
fn one_line(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    let kept: String = line.chars().take(limit - 1).collect();
    format!("{}…", kept.trim_end())
}

impl TicketFacts {
    /// What stands for a place of a template; `None` where it is not known.
    fn fact(&self, place: Placeholder, marker: &Marker) -> Option<String> {
        match place {
            Placeholder::Title => Some(self.title.clone()),
            Placeholder::Workflow => self.workflow.clone(),
            Placeholder::Status => self.status.clone(),
            Placeholder::Scope => self.scope.clone(),
            Placeholder::Path => Some(self.path.to_string()),
            Placeholder::Id => marker.artifact().as_str().strip_prefix("id:").map(str::to_owned),
            Placeholder::Done => Some(self.done.to_string()),
            Placeholder::Total => self.total.map(|total| total.to_string()),
            Placeholder::Percent => self.percent().map(|percent| percent.to_string()),
            Placeholder::Next => (!self.next.is_empty()).then(|| self.next.join(" | ")),
        }
    }
}

fn standing(facts: &TicketFacts, settings: &TicketSettings) -> Standing {
    if facts.is_finished {
        let word = facts.status.as_deref().unwrap_or_default();
        let is_dropped = settings.not_planned.iter().any(|dropped| dropped.eq_ignore_ascii_case(word));
        return Standing::Closed(if is_dropped { CloseReason::NotPlanned } else { CloseReason::Completed });
    }
    let is_among = |words: &[&str]| {
        facts.status.as_deref().map(|word| words.iter().any(|own| own.eq_ignore_ascii_case(word)))
    };
    let is_initial = facts.is_initial.unwrap_or_else(|| is_among(&BEGINNING_WORDS).unwrap_or(true));
    let is_planned = is_among(&PLANNED_WORDS).unwrap_or(false);
    if (is_initial || is_planned) && facts.done == 0 { Standing::ToDo } else { Standing::InProgress }
}

/// Status words of artifacts without a lifecycle before which nothing was done (FORMATS.md §1, "`status` values seen").
const BEGINNING_WORDS: [&str; 10] =
    ["draft", "backlog", "todo", "to-do", "ready", "ready-for-dev", "new", "open", "pending", "not-started"];

/// Status words that say of any lifecycle that the work itself has not begun, although its first state is behind it.
const PLANNED_WORDS: [&str; 2] = ["backlog", "ready-for-dev"];

fn body(facts: &TicketFacts, marker: &Marker, settings: &TicketSettings) -> Vec<Block> {
    let intro = settings.intro.as_ref().and_then(|intro| intro.fill(|place| facts.fact(place, marker)));
    let mut blocks: Vec<Block> =
        intro.map(|text| Block::Paragraph(vec![Inline::Text(text)])).into_iter().collect();
    let mut points = Vec::new();
    for section in &settings.sections {
        let heading = |text: &str| Block::Heading(text.to_owned());
        match section {
            Section::Status => points.extend(point("Status", facts.status.as_deref().into_iter().map(code))),
            Section::Scope => points.extend(point("Scope", facts.scope.as_deref().into_iter().map(code))),
            Section::Next => points.extend(point("Next", facts.next.iter().map(|step| step_name(step)))),
            // Facts that follow each other make one list.
            Section::Progress | Section::Steps | Section::Files => {
                flush(&mut points, &mut blocks);
                match section {
                    Section::Progress => blocks.extend(progress(facts)),
                    Section::Steps if !facts.steps.is_empty() => {
                        blocks
                            .extend([heading("Steps"), Block::Tasks(facts.steps.iter().map(task).collect())]);
                    }
                    Section::Files => blocks.extend([heading("Files"), files(facts, settings)]),
                    _ => {}
                }
            }
        }
    }
    flush(&mut points, &mut blocks);
    blocks
}

fn flush(points: &mut Vec<Vec<Inline>>, blocks: &mut Vec<Block>) {
    if !points.is_empty() {
        blocks.push(Block::List(std::mem::take(points)));
    }
}

/// `name: a or b`; nothing where there are no values.
fn point(name: &str, values: impl Iterator<Item = Inline>) -> Option<Vec<Inline>> {
    let values = alternatives(values);
    if values.is_empty() {
        return None;
    }
    let mut inlines = vec![Inline::Strong(format!("{name}:")), Inline::Text(" ".to_owned())];
    inlines.extend(values);
    Some(inlines)
}

fn code(word: &str) -> Inline {
    Inline::Code(word.to_owned())
}

fn alternatives(values: impl Iterator<Item = Inline>) -> Vec<Inline> {
    let mut inlines = Vec::new();
    for (at, value) in values.enumerate() {
        if at > 0 {
            inlines.push(Inline::Text(" or ".to_owned()));
        }
        inlines.push(value);
    }
    inlines
}

fn progress(facts: &TicketFacts) -> Option<Block> {
    let steps = |count: usize| if count == 1 { "step" } else { "steps" };
    let text = match (facts.total, facts.percent()) {
        (Some(total), Some(percent)) => {
            let done = facts.done.min(total);
            format!("{} {done} of {total} {} done ({percent} %)", bar(done, total), steps(total))
        }
        _ if facts.done > 0 => format!("{} {} done", facts.done, steps(facts.done)),
        _ => return None,
    };
    Some(Block::Paragraph(vec![Inline::Text(text)]))
}

fn task(step: &StepFact) -> Task {
    Task { done: step.is_done, text: alternatives(step.names.iter().map(|name| step_name(name))) }
}

fn files(facts: &TicketFacts, settings: &TicketSettings) -> Block {
    let files = std::iter::once(&facts.path).chain(&facts.inputs);
    Block::List(files.map(|path| vec![file(path, settings)]).collect())
}

fn file(path: &ProjectPath, settings: &TicketSettings) -> Inline {
    match &settings.file_url {
        Some(url) => Inline::Link { text: path.to_string(), url: url.of(path) },
        None => Inline::Code(path.to_string()),
    }
}
