//! A place in a text of the command line, shown as rustc shows one in a source.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use stepmark_model::selection::SelectionError;

use super::{on_one_line, visible};

/// The line of `text` with the byte at `offset`, and a mark below it; `name` says what the text is. Any line
/// ends of `text` stay lines.
pub(crate) fn marked_place(name: &str, text: &str, offset: usize) -> String {
    let offset = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (before, after) = (visible(&text[..offset]), visible(&text[offset..]));
    let is_in_word = |character: char| character.is_alphanumeric() || character == '_';
    let word = after.find(|character| !is_in_word(character)).unwrap_or(after.len());
    let length = if word > 0 { word } else { after.chars().next().map_or(0, char::len_utf8) };
    let source = format!("{before}{after}");
    let span = before.len()..before.len() + length;
    let snippet = Snippet::source(source.as_str()).path(name).annotation(AnnotationKind::Primary.span(span));
    let shown = Renderer::plain().render(&[Level::ERROR.primary_title("").element(snippet)]);
    // The title stands above it in the message already.
    shown.split_once('\n').map_or(shown.as_str(), |(_, place)| place).to_owned()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_the_word_at_the_place() {
        for (text, offset, wanted) in [
            (
                "SELECT pth FROM artifacts",
                7,
                " --> query:1:8\n  |\n1 | SELECT pth FROM artifacts\n  |        ^^^",
            ),
            ("SELECT é FROM\nx\u{1b}", 16, " --> query:2:2\n  |\n2 | x␛\n  |  ^"),
            ("a", 99, " --> query:1:2\n  |\n1 | a\n  |  ^"),
        ] {
            assert_eq!(marked_place("query", text, offset), wanted);
        }
    }
}
