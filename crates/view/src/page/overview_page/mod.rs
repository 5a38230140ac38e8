//! The overview as a served page, a file, and live pieces.

mod summary;
mod flows;
mod slices;
mod sections;

pub(super) use flows::element_id as flow_element;
use maud::{Markup, PreEscaped, html};

use super::{
    Links, Revision, findings,
    layout::{self, Form, GENERATOR},
    memory_page, tickets, timeline,
};
use crate::{observation::ObservedMemory, overview::Overview};

const MAIN: &str = "main";

/// One element with the id `id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub id: String,
    /// The id of the parent element; pieces of one parent keep their order.
    pub place: &'static str,
    pub html: String,
}

#[derive(Clone, Debug)]
pub struct OverviewPage {
    pub html: String,
    /// Sections in their order, and rows of the table of artifacts.
    pub pieces: Vec<Piece>,
}

impl OverviewPage {
    pub fn live(overview: &Overview, revision: Revision<'_>) -> Self {
        let form = Form::Live { revision, has_memory: overview.has_memory, has_pieces: true };
        Self::drawn(overview, Links::Pages, form, None)
    }

    fn file(overview: &Overview, memory: Option<&ObservedMemory>) -> Self {
        let systems = &overview.systems;
        let parts = [
            (!systems.flows.is_empty()).then_some(("#flows", "Flows")),
            systems.asdd.is_some().then_some(("#slices", "Slices")),
            memory.is_some().then_some(("#decisions", "Memory")),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        Self::drawn(overview, Links::Rows, Form::File(&parts), memory)
    }

    fn drawn(overview: &Overview, links: Links, form: Form<'_>, memory: Option<&ObservedMemory>) -> Self {
        let rows = sections::rows(overview, links);
        let sections: Vec<(&str, Markup)> = [
            Some(("summary", summary::summary(overview, links))),
            flows::section(overview, links).map(|section| ("flows", section)),
            slices::section(overview, links).map(|section| ("slices", section)),
            Some(("board", sections::board(overview, links))),
            memory.map(|memory| ("memory", memory_page::sections(overview, memory, links))),
            Some(("progress", sections::progress(overview))),
            Some(("delegation", sections::delegation(overview, links))),
            Some(("timeline", timeline::section(overview, links))),
            Some(("findings", findings::section(overview, links))),
            Some(("tickets", tickets::section(overview))),
            Some(("rules", findings::rules(overview))),
        ]
        .into_iter()
        .flatten()
        .collect();
        let drawn_rows = PreEscaped(rows.iter().map(|row| row.html.as_str()).collect::<String>());
        let main = html! {
            h1 { (overview.project) }
            @for (name, section) in &sections {
                (section)
                // Rows are the pieces, not the table: the text in its search box is kept.
                @if *name == "progress" { (sections::section(overview, &drawn_rows)) }
            }
        };
        let title = format!("{}: done, next, wrong", overview.project);
        let html = layout::text(&layout::page(&title, &overview.project, overview.at, form, &main));
        let piece = |(name, section): (&str, Markup)| Piece {
            id: name.to_owned(),
            place: MAIN,
            html: layout::text(&section),
        };
        let pieces = sections.into_iter().map(piece).chain(rows).collect();
        Self { html, pieces }
    }
}

/// Deterministic, and without requests to other hosts.
pub fn report(overview: &Overview, memory: Option<&ObservedMemory>) -> String {
    let mut html = OverviewPage::file(overview, memory).html;
    html.push('\n');
    html
}

/// True if a newer report may replace the file; a few hundred bytes are enough.
pub fn is_report(start: &[u8]) -> bool {
    let mark = format!("name=\"generator\" content=\"{GENERATOR}\"");
    start.windows(mark.len()).any(|window| window == mark.as_bytes())
}
