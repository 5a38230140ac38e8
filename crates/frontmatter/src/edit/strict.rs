//! The strict reading of a result: the indentation that the reference asks of flow nodes (YAML 1.2.2, §6.1
//! and §7.4).
//!
//! Our parser, as libyaml, reads a flow collection whatever the column of its lines; the reference wants each
//! line of it behind the column of the key or dash before it. What an edit writes has to be read by both.
//! **Where the text before the edit is loose already**, the edit may not make another node loose, nor bring
//! more than a closing bracket to the column of the key (`]` below `key: [`), which most strict readers
//! forgive, where there was no more before.

use super::layout::{dash, entry_start, is_blank, line_start};
use crate::{CollectionStyle, Node, NodeKind, ScalarStyle, Span, Yaml, scan::lines_from};

/// The number of flow nodes of a region that are indented less than the reference asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Looseness {
    /// Nodes of which only the line of the closing bracket stands at the column of the key.
    brackets: usize,
    /// All other.
    others: usize,
}

/// Returns whether every strict reader that reads `before` can read `after`, as far as indentation goes.
pub(super) fn is_as_strict(before: (&[u8], &Yaml<'_>), after: (&[u8], &Yaml<'_>)) -> bool {
    let after = Looseness::of(after.0, after.1);
    if after == Looseness::default() {
        return true;
    }
    let before = Looseness::of(before.0, before.1);
    after.others <= before.others && after.brackets + after.others <= before.brackets + before.others
}

impl Looseness {
    fn of(file: &[u8], yaml: &Yaml<'_>) -> Self {
        let mut found = Self::default();
        if let Some(root) = yaml.root() {
            found.add(file, yaml, root, 0);
        }
        found
    }

    /// Adds the flow nodes of `node`, whose lines must stand at `column` or behind it.
    fn add(&mut self, file: &[u8], yaml: &Yaml<'_>, node: &Node<'_>, column: usize) {
        let floor = yaml.span().start;
        let column_of = |offset: usize| offset - line_start(file, offset, floor);
        match &node.kind {
            NodeKind::Mapping { style: CollectionStyle::Block, entries } => {
                for entry in entries {
                    let start = entry_start(file, entry, floor);
                    // A key without a `?` stands on one line.
                    if start < entry.key.outer_start() {
                        self.add(file, yaml, &entry.key, column_of(start) + 1);
                    }
                    self.add(file, yaml, &entry.value, column_of(start) + 1);
                }
            }
            NodeKind::Sequence { style: CollectionStyle::Block, items } => {
                for item in items {
                    let column = dash(file, item, floor).map_or(column, |dash| column_of(dash) + 1);
                    self.add(file, yaml, item, column);
                }
            }
            NodeKind::Scalar { style: ScalarStyle::Literal | ScalarStyle::Folded, .. }
            | NodeKind::Alias { .. } => {}
            _ => self.add_flow(file, yaml, node, column),
        }
    }

    fn add_flow(&mut self, file: &[u8], yaml: &Yaml<'_>, node: &Node<'_>, column: usize) {
        if column == 0 || node.is_empty_value() {
            return;
        }
        let start = line_start(file, node.span.start, yaml.span().start);
        let from = if is_blank(file, Span::new(start, node.span.start)) { start } else { node.span.start };
        let loose = |line: Span, is_first: bool| -> bool {
            let text = &file[line.range()];
            let spaces = text.iter().take_while(|byte| **byte == b' ').count();
            let visible = text.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
            let is_comment = |at: usize| {
                let is_here =
                    yaml.comments().binary_search_by_key(&(line.start + at), |comment| comment.span.start);
                text[at] == b'#' && is_here.is_ok()
            };
            spaces < column && (!is_first || from == start) && visible.is_some_and(|at| !is_comment(at))
        };
        let lines = lines_from(&file[..node.span.end], from).enumerate();
        let mut found =
            lines.filter(|(place, line)| loose(line.content, *place == 0)).map(|(_, line)| line.content);
        match (found.next(), found.next()) {
            (None, _) => {}
            (Some(line), None) if line.end == node.span.end && is_bracket(&file[line.range()], column) => {
                self.brackets += 1;
            }
            _ => self.others += 1,
        }
    }
}

/// Returns whether `line` is a closing bracket one column left of `column`.
fn is_bracket(line: &[u8], column: usize) -> bool {
    line.len() == column && matches!(line.last(), Some(b']' | b'}'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::Comments;

    fn looseness(text: &str) -> (usize, usize) {
        let yaml = Yaml::parse_with(text.as_bytes(), Span::new(0, text.len()), Comments::Keep).unwrap();
        let Looseness { brackets, others } = Looseness::of(text.as_bytes(), &yaml);
        (brackets, others)
    }

    #[test]
    fn lines_of_a_flow_node_stand_behind_their_key() {
        for (text, wanted) in [
            ("s: [1,\n 2]\nt: 'a\n b'\n", (0, 0)),
            ("s: [\n\n# c\n 1 # d\n ]\n", (0, 0)),
            ("s: [\n  1\n]\n", (1, 0)),
            ("s: {\n  a: 1\n}\nt: [\n]\n", (2, 0)),
            ("s: [\n1\n]\n", (0, 1)),
            ("s: [\n  1\n, ]\n", (0, 1)),
            ("[\n1\n]\n", (0, 0)),
            ("o:\n  s: [\n    1\n  ]\n", (1, 0)),
            ("o:\n  s: [\n    1\n ]\n", (0, 1)),
            ("o:\n- a: [\n    1\n  ]\n- [2,\n 3]\n", (1, 0)),
            ("- - [2,\n   3]\n- - [2,\n  3]\n", (0, 1)),
            ("? [1,\n2]\n: [3,\n 4]\n", (0, 1)),
            ("s: |\n a\nt: *x\n", (0, 0)),
        ] {
            assert_eq!(looseness(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn what_was_loose_may_stay_so() {
        let as_strict = |before: &str, after: &str| {
            let read = |text: &'static str| {
                (text, Yaml::parse_with(text.as_bytes(), Span::new(0, text.len()), Comments::Keep).unwrap())
            };
            let leak = |text: &str| -> &'static str { text.to_owned().leak() };
            let (before, after) = (read(leak(before)), read(leak(after)));
            is_as_strict((before.0.as_bytes(), &before.1), (after.0.as_bytes(), &after.1))
        };
        assert!(as_strict("s: [\n 1\n]\n", "s: [\n 1, 2\n]\n"));
        assert!(as_strict("s: [\n1\n]\n", "s: [\n1,\n2\n]\n"));
        assert!(as_strict("s: [\n1\n]\n", "s: [\n 1\n]\n"));
        assert!(!as_strict("s: [\n 1 ]\n", "s: [\n 1\n]\n"));
        assert!(!as_strict("s: [\n 1,\n 2\n]\n", "s: [\n 1\n, ]\n"));
    }
}
