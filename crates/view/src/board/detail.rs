//! The artifact that is chosen.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::{Block, Paragraph, Wrap},
};
use stepmark_core::check::Severity;

use super::{BoardState, Theme, list::mark};
use crate::{
    overview::{Entry, Overview},
    wording::on_one_line,
};

/// Draws the artifact that is chosen into `area`.
pub(super) fn draw(state: &BoardState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let lines = match state.chosen() {
        Some((_, entry)) => lines(entry, &state.overview, theme),
        None => vec![Line::styled("Nothing fits.", theme.quiet())],
    };
    let text = Paragraph::new(lines).wrap(Wrap { trim: false }).block(Block::bordered().title(" Detail "));
    frame.render_widget(text, area);
}

fn lines(entry: &Entry, overview: &Overview, theme: Theme) -> Vec<Line<'static>> {
    let mut lines = vec![
        Line::styled(on_one_line(entry.name()), theme.title()),
        Line::styled(on_one_line(entry.path.as_str()), theme.quiet()),
        Line::default(),
    ];
    let mut fact = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            lines.push(Line::from(vec![
                Span::styled(format!("{name:<9}"), theme.quiet()),
                Span::raw(on_one_line(value)),
            ]));
        }
    };
    fact("state", Some(entry.condition.word()));
    fact("status", entry.status.as_deref());
    fact("workflow", Some(&entry.workflow));
    fact("next", entry.next.as_deref());
    fact("scope", entry.scope.as_deref());
    for ticket in &entry.tickets {
        fact("ticket", Some(&ticket.key));
    }
    if let Some(bar) = &entry.bar {
        lines.push(Line::default());
        lines.push(Line::styled(format!("Steps, {} of {}", bar.done, bar.total), theme.title()));
        lines.extend(bar.cells.iter().map(|cell| {
            let (mark, style) = (mark(cell.state), theme.cell(cell.state));
            let name = on_one_line(&cell.name);
            Line::from(vec![
                Span::styled(format!("{mark} {name}"), style),
                Span::styled(format!("  {}", cell.state.word()), theme.quiet()),
            ])
        }));
    }
    let findings: Vec<_> = overview.findings.iter().filter(|finding| finding.path == entry.path).collect();
    if !findings.is_empty() {
        lines.push(Line::default());
        lines.push(Line::styled("Findings", theme.title()));
    }
    for finding in findings {
        let style = match finding.severity {
            Severity::Error => theme.error(),
            Severity::Warning => theme.warning(),
            Severity::Note => theme.quiet(),
        };
        lines.push(Line::from(vec![
            Span::styled(format!("{} {} ", finding.severity, finding.rule.id), style),
            Span::raw(format!("{}: {}", finding.position, on_one_line(&finding.message))),
        ]));
    }
    lines
}
