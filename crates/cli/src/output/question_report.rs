//! The report of what is wrong with a question on the command line: the place with a caret, as rustc shows
//! it.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use stepmark_model::selection::SelectionError;

use super::on_one_line;

pub(crate) fn question_report(option: &str, text: &str, error: &SelectionError) -> String {
    // Pictures of control characters have other lengths, so the place is counted in what is shown.
    let length = |end: usize| on_one_line(&text[..end]).len();
    let (shown, span) = (on_one_line(text), length(error.span.start)..length(error.span.end));
    let snippet = Snippet::source(shown.as_str()).path(option).annotation(AnnotationKind::Primary.span(span));
    let mut group = Level::ERROR.primary_title(on_one_line(&error.to_string())).element(snippet);
    if let Some(help) = error.help() {
        group = group.element(Level::HELP.message(on_one_line(&help)));
    }
    Renderer::styled().render(&[group])
}
