//! Collections on lines of their own.

use stepmark_frontmatter::{Segment, Value};

use super::Writer;

impl Writer<'_, '_> {
    /// A mapping whose keys stand at `column`; the first of them may continue a line (`- key: …`).
    pub(super) fn block_mapping(&mut self, column: usize, depth: usize, continues_line: bool) -> Value {
        let count = 1 + self.choices.below(4);
        let mut entries = Vec::with_capacity(count);
        for place in 0..count {
            if place > 0 || !continues_line {
                self.gap(column);
                self.spaces(column);
            }
            if self.choices.chance(5) {
                entries.push(self.explicit_entry(column, depth));
                continue;
            }
            let (key, name) = self.key();
            let colon = if self.choices.chance(8) { " :" } else { ":" };
            self.put(colon);
            let value = self.below(Segment::Key(name), |writer| writer.value_behind_key(column, depth));
            entries.push((key, value));
        }
        Value::Mapping(entries)
    }

    /// `? key` and `: value` on two lines.
    fn explicit_entry(&mut self, column: usize, depth: usize) -> (Value, Value) {
        self.put("? ");
        let (key, name) = if self.choices.chance(128) {
            self.put("[p, q]");
            (Value::Sequence(vec![Value::from("p"), Value::from("q")]), "?".to_owned())
        } else {
            self.key()
        };
        self.end_line();
        self.spaces(column);
        self.put(":");
        (key, self.below(Segment::Key(name), |writer| writer.value_behind_key(column, depth)))
    }

    /// All that follows a `:`, up to and including the line end.
    fn value_behind_key(&mut self, column: usize, depth: usize) -> Value {
        match self.choices.below(if depth == 0 { 12 } else { 20 }) {
            0..=8 => {
                let blanks = *self.choices.pick(&[" ", " ", " ", "  ", "\t"]);
                self.put(blanks);
                let value = self.inline(column, depth, false);
                self.trailing();
                value
            }
            9 => {
                self.trailing();
                Value::Null
            }
            10 | 11 => {
                self.put(" ");
                self.block_scalar(column)
            }
            12..=15 => {
                let anchor = self.line_of_properties();
                let dashes = column + *self.choices.pick(&[0, 2, 2, 4]);
                let value = self.block_sequence(dashes, depth - 1, false);
                self.finish(anchor, value)
            }
            _ => {
                let anchor = self.line_of_properties();
                let deeper = column + *self.choices.pick(&[2, 2, 4, 1]);
                let value = self.block_mapping(deeper, depth - 1, false);
                self.finish(anchor, value)
            }
        }
    }

    /// A list whose dashes stand at `column`; the first of them may continue a line (`- - …`).
    pub(super) fn block_sequence(&mut self, column: usize, depth: usize, continues_line: bool) -> Value {
        let count = 1 + self.choices.below(4);
        let mut items = Vec::with_capacity(count);
        for index in 0..count {
            if index > 0 || !continues_line {
                self.gap(column);
                self.spaces(column);
            }
            self.put("-");
            items.push(self.below(Segment::Index(index), |writer| writer.item_behind_dash(column, depth)));
        }
        Value::Sequence(items)
    }

    fn item_behind_dash(&mut self, column: usize, depth: usize) -> Value {
        let blanks = *self.choices.pick(&[1, 1, 1, 3]);
        match self.choices.below(if depth == 0 { 11 } else { 16 }) {
            0..=8 => {
                self.spaces(blanks);
                let value = self.inline(column, depth, false);
                self.trailing();
                value
            }
            9 => {
                self.trailing();
                Value::Null
            }
            10 => {
                self.spaces(blanks);
                self.block_scalar(column)
            }
            11 => {
                self.spaces(blanks);
                self.block_sequence(column + 1 + blanks, depth - 1, true)
            }
            12 => {
                let anchor = self.line_of_properties();
                let value = self.block_mapping(column + 2, depth - 1, false);
                self.finish(anchor, value)
            }
            _ => {
                self.spaces(blanks);
                self.block_mapping(column + 1 + blanks, depth - 1, true)
            }
        }
    }

    /// The rest of the line above a block collection; gives the name of its anchor.
    fn line_of_properties(&mut self) -> Option<String> {
        let anchor = self.choices.chance(10).then(|| self.anchor_name());
        if let Some(name) = &anchor {
            self.put(&format!(" &{name}"));
        }
        if self.choices.chance(6) {
            self.put(" !t");
        }
        self.trailing();
        anchor
    }
}
