//! The memory page. Its content is untrusted: shown as text, on one line, bounded, without control
//! characters.

mod records;
mod graphs;
#[cfg(test)]
mod cases;

use std::collections::HashSet;

use maud::{Markup, html};
use stepmark_memory::{MemoryKind, MemoryRecord, context::plain};
use stepmark_model::artifact::{FileHash, ProjectPath};

use super::{Links, Revision, layout};
use crate::{
    observation::{ObservedMemory, RememberedKind},
    overview::Overview,
};

const TEXT: usize = 500;
const NAME: usize = 120;

pub fn memory_page(
    overview: &Overview,
    memory: Result<&ObservedMemory, &str>,
    revision: Revision<'_>,
) -> String {
    let main = html! {
        h1 #name { "Memory" }
        @match memory {
            Ok(memory) => (sections(overview, memory, Links::Pages)),
            Err(why) => p { span .tag.error { "error" } " memory cannot be read: " (why) },
        }
    };
    layout::live("Memory", overview, revision, &main)
}

pub(super) fn sections(overview: &Overview, memory: &ObservedMemory, links: Links) -> Markup {
    let records = memory.kinds.iter().flat_map(|kind| &kind.newest);
    let places = Places { overview, links, shown: records.map(|(record, _)| record.id.as_str()).collect() };
    let is_decision = |kind: &&RememberedKind| kind.kind == MemoryKind::Decision;
    let (decisions, others): (Vec<_>, Vec<_>) = memory.kinds.iter().partition(is_decision);
    html! {
        (records::decisions(decisions.first().copied(), &places))
        @if !others.is_empty() { (records::others(&others, &places)) }
        @if !memory.graphs.is_empty() { (graphs::section(memory, &places)) }
    }
}

struct Places<'p> {
    overview: &'p Overview,
    links: Links,
    shown: HashSet<&'p str>,
}

impl Places<'_> {
    fn record(&self, id: &str) -> Option<String> {
        self.shown.contains(id).then(|| format!("#{}", element_id(id)))
    }

    fn artifact(&self, path: &str) -> Option<String> {
        let path = ProjectPath::new(path).ok()?;
        self.overview.entry(&path).map(|_| self.links.to(&path))
    }

    fn successors(&self, ids: &[String]) -> Markup {
        html! {
            span .tag.warning { "superseded" } " by"
            @for id in ids { " " (linked(self.record(id), &short(id))) }
        }
    }

    fn about(&self, path: &str) -> Markup {
        linked(self.artifact(path), &plain(path, TEXT))
    }

    fn origin(&self, record: &MemoryRecord) -> Markup {
        html! {
            (plain(&record.source.agent, NAME))
            @if let Some(session) = &record.source.session { " in " (plain(session, NAME)) }
            ", event " code { (short(&record.id)) }
        }
    }
}

fn linked(address: Option<String>, name: &str) -> Markup {
    html! { @match address { Some(address) => a href=(address) { (name) }, None => code { (name) } } }
}

fn short(id: &str) -> String {
    id.chars().filter(|letter| !letter.is_control()).take(8).collect()
}

fn element_id(id: &str) -> String {
    format!("m-{:.12}", FileHash::of(id.as_bytes()).to_string())
}

fn rest(shown: usize, total: usize, command: &str) -> Markup {
    html! { @if shown < total { p .more { "… and " (total - shown) " more, " code { (command) } } } }
}
