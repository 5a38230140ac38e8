//! The chosen row in full.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::{Block, Paragraph, Wrap},
};
use stepmark_model::artifact::ProjectPath;

use super::{BoardState, Theme, row::Row, theme::mark};
use crate::{
    observation::Entry,
    observation::FindingRow,
    overview::{Overview, Trouble},
    wording::on_one_line,
};

/// Limits the scroll offset to the end of the text.
pub(super) fn draw(state: &mut BoardState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let lines = match state.chosen() {
        Some((_, Row::Artifact(entry))) => of_artifact(entry, &state.overview, theme),
        Some((_, Row::Trouble(trouble))) => of_trouble(trouble, &state.overview, theme),
        None => vec![Line::styled("Nothing fits.", theme.quiet())],
    };
    let block = Block::bordered();
    let inner = block.inner(area);
    let height: usize = lines.iter().map(|line| height(line, usize::from(inner.width))).sum();
    let hidden = u16::try_from(height).unwrap_or(u16::MAX).saturating_sub(inner.height);
    state.scroll = state.scroll.min(hidden);
    let more = if state.scroll < hidden { " J: more " } else { "" };
    let block = block.title(" Detail ").title_bottom(more);
    let text = Paragraph::new(lines).wrap(Wrap { trim: false }).scroll((state.scroll, 0)).block(block);
    frame.render_widget(text, area);
}

fn height(line: &Line<'_>, width: usize) -> usize {
    let text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
    let (mut rows, mut used) = (1, 0);
    for word in text.split_inclusive(' ') {
        let room = Span::raw(word.trim_end()).width();
        if used > 0 && used + room > width {
            rows += 1;
            used = 0;
        }
        // A word wider than the window continues in the next row.
        rows += room.saturating_sub(1).checked_div(width).unwrap_or(0);
        used = (used + Span::raw(word).width()).checked_rem(width + 1).unwrap_or(0);
    }
    rows
}

fn of_trouble(trouble: &Trouble, overview: &Overview, theme: Theme) -> Vec<Line<'static>> {
    let mut lines = vec![Line::from(vec![
        Span::styled(format!("{} ", trouble.severity), theme.severity(trouble.severity)),
        Span::raw(on_one_line(&trouble.what)),
    ])];
    if let Some(path) = &trouble.path {
        lines.push(Line::styled(on_one_line(path.as_str()), theme.quiet()));
        lines.extend(findings(path, overview, theme));
    }
    lines
}

fn of_artifact(entry: &Entry, overview: &Overview, theme: Theme) -> Vec<Line<'static>> {
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
    // Findings come before long text: a short window shows them without a key.
    lines.extend(findings(&entry.path, overview, theme));
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
    lines
}

fn findings(path: &ProjectPath, overview: &Overview, theme: Theme) -> Vec<Line<'static>> {
    let mut found = overview.findings.iter().filter(|finding| finding.path == *path).peekable();
    if found.peek().is_none() {
        return Vec::new();
    }
    let title = [Line::default(), Line::styled("Findings", theme.title())];
    let line = |finding: &FindingRow| {
        Line::from(vec![
            Span::styled(
                format!("{} {} ", finding.severity, finding.rule.id),
                theme.severity(finding.severity),
            ),
            Span::raw(format!("{}: {}", finding.position, on_one_line(&finding.message))),
        ])
    };
    title.into_iter().chain(found.map(line)).collect()
}
