//! Collections in brackets and braces, on one line or several.

use stepmark_frontmatter::{Segment, Value};

use super::Writer;

/// The layout of a flow collection.
struct Layout {
    /// The column of children on lines of their own; `None`: all on one line.
    column: Option<usize>,
    /// The column of the closing bracket when it has its own line.
    closing: usize,
    padding: &'static str,
    separator: &'static str,
    trailing_comma: bool,
}

impl Writer<'_, '_> {
    /// A list in brackets inside a block collection at `column`.
    pub(super) fn flow_sequence(&mut self, column: usize, depth: usize) -> Value {
        self.put("[");
        let layout = self.layout(column);
        let count = self.choices.below(4);
        let mut items = Vec::with_capacity(count);
        for index in 0..count {
            self.before_child(&layout, index);
            items.push(self.below(Segment::Index(index), |writer| {
                let value = if writer.choices.chance(6) {
                    let (key, name) = writer.key();
                    writer.put(": ");
                    let value = writer.below(Segment::Key(name), |writer| writer.inline(column, 0, true));
                    Value::Mapping(vec![(key, value)])
                } else {
                    writer.inline(column, depth, true)
                };
                writer.after_child(&layout, index + 1 == count);
                value
            }));
        }
        self.close(&layout, count, "]");
        Value::Sequence(items)
    }

    /// A map in braces inside a block collection at `column`.
    pub(super) fn flow_mapping(&mut self, column: usize, depth: usize) -> Value {
        self.put("{");
        let layout = self.layout(column);
        let count = self.choices.below(4);
        let mut entries = Vec::with_capacity(count);
        for place in 0..count {
            self.before_child(&layout, place);
            let (key, name) = self.key();
            let value = self.below(Segment::Key(name), |writer| {
                let value = match writer.choices.below(12) {
                    0 => Value::Null,
                    1 => {
                        writer.put(":");
                        Value::Null
                    }
                    _ => {
                        writer.put(": ");
                        writer.inline(column, depth, true)
                    }
                };
                writer.after_child(&layout, place + 1 == count);
                value
            });
            entries.push((key, value));
        }
        self.close(&layout, count, "}");
        Value::Mapping(entries)
    }

    fn layout(&mut self, column: usize) -> Layout {
        let padding = *self.choices.pick(&["", "", "", " "]);
        let separator = *self.choices.pick(&[", ", ", ", ",  ", ","]);
        let trailing_comma = self.choices.chance(32);
        let lines = self.choices.chance(56);
        let closing = column + *self.choices.pick(&[0, 1, 2]);
        let column = lines.then(|| column + *self.choices.pick(&[2, 4]));
        Layout { column, closing, padding, separator, trailing_comma }
    }

    fn before_child(&mut self, layout: &Layout, place: usize) {
        match layout.column {
            Some(column) => {
                self.end_line();
                if self.choices.chance(16) {
                    self.spaces(column);
                    self.remark();
                    self.end_line();
                }
                self.spaces(column);
            }
            None if place == 0 => self.put(layout.padding),
            None => {}
        }
    }

    fn after_child(&mut self, layout: &Layout, is_last: bool) {
        match (is_last, layout.column) {
            (false, None) => self.put(layout.separator),
            (false, Some(_)) => self.put(","),
            (true, _) if layout.trailing_comma => self.put(","),
            (true, _) => {}
        }
        if layout.column.is_some() && self.choices.chance(32) {
            self.put(" ");
            self.remark();
        }
    }

    fn close(&mut self, layout: &Layout, count: usize, bracket: &str) {
        match layout.column {
            Some(_) => {
                self.end_line();
                self.spaces(layout.closing);
            }
            None if count > 0 || self.choices.chance(32) => self.put(layout.padding),
            None => {}
        }
        self.put(bracket);
    }
}
