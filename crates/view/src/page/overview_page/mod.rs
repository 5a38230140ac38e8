//! The overview as a page, and in pieces.

mod summary;
mod artifact_table;
mod kanban;
mod progress;
mod delegation;

use maud::{Markup, PreEscaped, html};

use super::{
    Links, Piece, Revision, findings,
    layout::{self, Form},
    tickets, timeline,
};
use crate::overview::Overview;

/// The id of the element that holds all sections.
const MAIN: &str = "main";

/// The overview, drawn.
#[derive(Clone, Debug)]
pub struct OverviewPage {
    /// The whole page.
    pub html: String,
    /// The parts that change by themselves: sections, in their order, and rows of the table of artifacts.
    pub pieces: Vec<Piece>,
}

impl OverviewPage {
    /// The live page of `overview`, which is the state `revision`.
    pub fn live(overview: &Overview, revision: Revision<'_>) -> Self {
        Self::drawn(overview, Links::Pages, Form::Live { revision, has_pieces: true })
    }

    /// The page for a file.
    pub(super) fn file(overview: &Overview) -> Self {
        Self::drawn(overview, Links::Rows, Form::File)
    }

    fn drawn(overview: &Overview, links: Links, form: Form<'_>) -> Self {
        let rows = artifact_table::rows(overview, links);
        let sections = [
            ("summary", summary::summary(overview, links)),
            ("board", kanban::section(overview, links)),
            ("progress", progress::section(overview)),
            ("delegation", delegation::section(overview, links)),
            ("timeline", timeline::section(overview, links)),
            ("findings", findings::section(overview, links)),
            ("tickets", tickets::section(overview)),
            ("rules", findings::rules(overview)),
        ];
        let drawn_rows = PreEscaped(rows.iter().map(|row| row.html.as_str()).collect::<String>());
        let main = html! {
            h1 { (overview.project) }
            @for (name, section) in &sections {
                (section)
                // The table is no piece: its rows are, and what is typed into its search stays.
                @if *name == "progress" { (artifact_table::section(overview, &drawn_rows)) }
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
