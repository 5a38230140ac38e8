//! The body of a ticket.

mod block;
mod text;
mod markdown;
mod managed_section;

pub use block::{Block, BodyTemplate, Entry, Inline, Mark, Task};
pub use managed_section::{ManagedSection, Merged};
pub use markdown::{Markdown, markdown};

#[cfg(feature = "jira")]
pub(crate) use {
    block::{depths, shortened},
    managed_section::no_room,
    markdown::cut,
};

use stepmark_model::{artifact::ProjectPath, bmad::sprint::story_key};

use self::text::TextSection;
use super::{
    Marker, Section, StepFact, TicketFacts, TicketSettings, Withheld,
    title::{bar, step_name},
};

pub(super) fn body(facts: &TicketFacts, marker: &Marker, settings: &TicketSettings) -> Vec<Block> {
    let fact = |place| facts.fact(place, marker);
    if let Some(template) = &settings.template {
        return template.fill(fact, |section| content(section, facts, settings).1);
    }
    let intro = settings.intro.as_ref().and_then(|intro| intro.fill(fact));
    let intro = intro.map(|text| Block::Paragraph(vec![Inline::Text(text)]));
    let mut blocks: Vec<Block> = intro.into_iter().collect();
    for section in settings.sections.as_deref().unwrap_or(&Section::DEFAULT) {
        let (heading, content) = content(section, facts, settings);
        if content.is_empty() {
            continue;
        }
        blocks.extend(heading.map(Block::Heading));
        for block in content {
            match (blocks.last_mut(), block) {
                // Neighbouring facts make one list.
                (Some(Block::List(points)), Block::List(more)) => points.extend(more),
                (_, block) => blocks.push(block),
            }
        }
    }
    blocks
}

fn content(
    section: &Section,
    facts: &TicketFacts,
    settings: &TicketSettings,
) -> (Option<String>, Vec<Block>) {
    let below =
        |heading: &str, content: Option<Block>| (Some(heading.to_owned()), content.into_iter().collect());
    match section {
        Section::Progress => (None, progress(facts).into_iter().collect()),
        Section::Status => (None, point("Status", facts.status.as_deref().into_iter().map(code))),
        Section::Scope => (None, point("Scope", facts.scope.as_deref().into_iter().map(code))),
        Section::Next => (None, point("Next", facts.next.iter().map(|step| step_name(step)))),
        Section::Steps => {
            let steps = facts.steps.iter().map(task).collect::<Vec<_>>();
            below("Steps", (!steps.is_empty()).then_some(Block::Tasks(steps)))
        }
        Section::Files => below("Files", Some(files(facts, settings))),
        Section::Story => match of_text(facts, text::is_story) {
            (_, story) if story.is_empty() && story_key(&facts.path).is_some() => {
                (Some("Story".to_owned()), shown(text::opening(&facts.text)))
            }
            found => found,
        },
        Section::AcceptanceCriteria => of_text(facts, text::is_acceptance),
        Section::Tasks => of_text(facts, text::is_tasks),
        Section::Heading(wanted) => of_text(facts, |title| text::is_same_title(title, wanted)),
        Section::Text => (None, text::blocks(text::whole(&facts.text).markdown, 2)),
    }
}

fn of_text(facts: &TicketFacts, is_wanted: impl Fn(&str) -> bool) -> (Option<String>, Vec<Block>) {
    let found = text::section(&facts.text, is_wanted);
    found.map_or((None, Vec::new()), |(title, section)| (Some(title), shown(section)))
}

fn shown(section: TextSection<'_>) -> Vec<Block> {
    text::blocks(section.markdown, 0)
}

fn point(name: &str, values: impl Iterator<Item = Inline>) -> Vec<Block> {
    let values = alternatives(values);
    if values.is_empty() {
        return Vec::new();
    }
    let mut inlines = vec![Inline::Strong(format!("{name}:")), Inline::Text(" ".to_owned())];
    inlines.extend(values);
    vec![Block::List(vec![inlines])]
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
    let text = match facts.total {
        Some(total) if total > 0 => share(facts.done, total, "step"),
        _ if facts.done > 0 => format!("{} {} done", facts.done, counted("step", facts.done)),
        _ => match tasks(facts) {
            (_, 0) => return None,
            (done, total) => share(done, total, "task"),
        },
    };
    Some(Block::Paragraph(vec![Inline::Text(text)]))
}

fn share(done: usize, total: usize, what: &str) -> String {
    let done = done.min(total);
    let percent = done * 100 / total;
    format!("{} {done} of {total} {} done ({percent} %)", bar(done, total), counted(what, total))
}

fn counted(what: &str, count: usize) -> String {
    if count == 1 { what.to_owned() } else { format!("{what}s") }
}

fn tasks(facts: &TicketFacts) -> (usize, usize) {
    let (_, blocks) = of_text(facts, text::is_tasks);
    let entries = blocks.iter().filter_map(|block| match block {
        Block::Outline(entries) => Some(entries),
        _ => None,
    });
    let marks: Vec<Mark> = entries.flatten().map(|entry| entry.mark).collect();
    let count = |wanted: &[Mark]| marks.iter().filter(|mark| wanted.contains(mark)).count();
    (count(&[Mark::Done]), count(&[Mark::Done, Mark::ToDo]))
}

fn task(step: &StepFact) -> Task {
    Task { done: step.is_done, text: alternatives(step.names.iter().map(|name| step_name(name))) }
}

fn files(facts: &TicketFacts, settings: &TicketSettings) -> Block {
    let files = std::iter::once(&facts.path).chain(&facts.inputs);
    let links = facts.links.iter().map(|url| match text::may_be_linked(url) {
        true => Inline::Link { text: url.clone(), url: url.clone() },
        false => Inline::Text(url.clone()),
    });
    Block::List(files.map(|path| file(path, settings)).chain(links).map(|file| vec![file]).collect())
}

pub(super) fn file(path: &ProjectPath, settings: &TicketSettings) -> Inline {
    let shown = Withheld::default().cleaned(path.as_str());
    match &settings.file_url {
        Some(url) => Inline::Link { text: shown, url: url.of(path) },
        None => Inline::Code(shown),
    }
}
