//! Single values, keys, anchors and aliases.

use stepmark_frontmatter::Value;

use super::{LastLine, Writer};

/// Plain scalars that mean text in every reader of the field, in block and in flow collections.
const PLAIN_TEXT: [&str; 12] = [
    "draft",
    "step-01-init",
    "02b",
    "1.2.3",
    "in progress",
    "it's",
    "a#b",
    "\u{FC}ber",
    "\u{1F600}",
    "x-1",
    "C:\\d",
    "\u{65E5}\u{672C}",
];

/// Plain scalars that mean text where no bracket is open.
const PLAIN_TEXT_IN_BLOCK: [&str; 4] = ["a, b", "x]y", "a{b}", "http://x.y/z?q=[1]"];

impl Writer<'_, '_> {
    /// A value that starts behind its indicator and ends before the rest of the line.
    pub(super) fn inline(&mut self, column: usize, depth: usize, in_flow: bool) -> Value {
        if !self.anchors.is_empty() && self.choices.chance(24) {
            let (name, value) = self.choices.pick(&self.anchors.clone()).clone();
            self.put(&format!("*{name}"));
            if in_flow {
                self.put(" ");
            }
            return value;
        }
        let anchor = self.choices.chance(8).then(|| self.anchor_name());
        if let Some(name) = &anchor {
            self.put(&format!("&{name} "));
        }
        let value = match self.choices.below(if depth == 0 { 12 } else { 16 }) {
            12 | 13 => self.flow_sequence(column, depth - 1),
            14 => self.flow_mapping(column, depth - 1),
            15 => {
                self.put("!t ");
                let text = *self.choices.pick(&PLAIN_TEXT);
                self.put(text);
                Value::from(text)
            }
            _ => self.scalar(column, in_flow),
        };
        self.finish(anchor, value)
    }

    fn scalar(&mut self, column: usize, in_flow: bool) -> Value {
        let plain = |writer: &mut Self, text: &str, value: Value| {
            writer.put(text);
            value
        };
        match self.choices.below(16) {
            0 => plain(self, "3", Value::Integer(3)),
            1 => plain(self, "-12", Value::Integer(-12)),
            2 => plain(self, "1.5", Value::Float(1.5)),
            3 => plain(self, "true", Value::Bool(true)),
            4 => plain(self, "~", Value::Null),
            5 => plain(self, "null", Value::Null),
            6 | 7 => plain(self, "'it''s # 1.10'", Value::from("it's # 1.10")),
            8 => plain(self, "\"a: \\\"b\\\" \\u00e9\\n\"", Value::from("a: \"b\" \u{E9}\n")),
            9 => self.several_lines(column, ["\"one", "two\""], "one two"),
            10 => self.several_lines(column, ["'one", "two'"], "one two"),
            11 if !in_flow => self.several_lines(column, ["one", "two"], "one two"),
            12 if !in_flow => {
                let text = *self.choices.pick(&PLAIN_TEXT_IN_BLOCK);
                plain(self, text, Value::from(text))
            }
            _ => {
                let text = *self.choices.pick(&PLAIN_TEXT);
                plain(self, text, Value::from(text))
            }
        }
    }

    fn several_lines(&mut self, column: usize, lines: [&str; 2], text: &str) -> Value {
        self.put(lines[0]);
        self.end_line();
        let deeper = 1 + self.choices.below(3);
        self.spaces(column + deeper);
        self.put(lines[1]);
        Value::from(text)
    }

    /// A `|` or `>` scalar below a key or dash at `column`, with its line end.
    pub(super) fn block_scalar(&mut self, column: usize) -> Value {
        let folded = self.choices.chance(100);
        let chomping = *self.choices.pick(&["", "-", "+"]);
        let indent = *self.choices.pick(&[2, 2, 4, 1]);
        let anchor = self.choices.chance(8).then(|| self.anchor_name());
        if let Some(name) = &anchor {
            self.put(&format!("&{name} "));
        }
        self.put(if folded { ">" } else { "|" });
        let says_indent = self.choices.chance(24);
        if says_indent {
            self.put(&indent.to_string());
        }
        self.put(chomping);
        self.trailing();
        let mut lines: Vec<&str> = Vec::new();
        for _ in 0..=self.choices.below(3) {
            let line = *self.choices.pick(&["one", "two # no comment", "- k: v", "[x", "\u{1F600} 'y"]);
            lines.push(line);
            if self.choices.chance(24) {
                lines.push("");
                lines.push("after a blank line");
            }
        }
        if says_indent && !folded {
            lines.insert(0, "  deeper");
        }
        let blank_lines = if self.choices.chance(64) { 1 + self.choices.below(2) } else { 0 };
        for line in &lines {
            self.spaces(if line.is_empty() { 0 } else { column + indent });
            self.put(line);
            self.end_line();
        }
        for _ in 0..blank_lines {
            self.end_line();
        }
        self.last_line = match chomping {
            "+" => LastLine::Kept,
            "-" => LastLine::Free,
            _ => LastLine::Clipped,
        };
        let joined = if folded { fold(&lines) } else { lines.join("\n") };
        let value = match chomping {
            "-" => joined,
            "+" => format!("{joined}\n{}", "\n".repeat(blank_lines)),
            _ => format!("{joined}\n"),
        };
        self.finish(anchor, Value::String(value))
    }

    /// A key that no other of the document has, and its text.
    pub(super) fn key(&mut self) -> (Value, String) {
        self.keys += 1;
        let number = self.keys;
        let (written, name) = match self.choices.below(24) {
            0 => (format!("'k {number}'"), format!("k {number}")),
            1 => (format!("\"k\\t{number}\""), format!("k\t{number}")),
            2 => (format!("k.{number}"), format!("k.{number}")),
            3 => (format!("\u{FC} {number}"), format!("\u{FC} {number}")),
            4 => {
                self.put(&number.to_string());
                return (Value::Integer(number as i64), number.to_string());
            }
            _ => (format!("k{number}"), format!("k{number}")),
        };
        self.put(&written);
        (Value::String(name.clone()), name)
    }

    pub(super) fn anchor_name(&mut self) -> String {
        format!("a{}", self.anchors.len() + self.text.len())
    }

    /// Makes `value` known under its anchor.
    pub(super) fn finish(&mut self, anchor: Option<String>, value: Value) -> Value {
        self.anchors.extend(anchor.map(|name| (name, value.clone())));
        value
    }
}

/// Lines folded as `>` does: a line end is a blank, a blank line is a line end (YAML 1.2.2, §8.1.3).
fn fold(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut blank = true;
    for line in lines {
        if line.is_empty() {
            text.push('\n');
        } else if !blank {
            text.push(' ');
        }
        text.push_str(line);
        blank = line.is_empty();
    }
    text
}
