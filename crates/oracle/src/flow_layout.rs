//! Flow collections in every layout that the grammar allows (YAML 1.2.2, §7.4): comments, line breaks and
//! commas between any two tokens, lines as far left as the reference reads them; and its rule of indentation
//! once more, on lines alone.

use crate::Choices;

/// A text with one flow collection behind a key.
#[derive(Clone, Debug)]
pub struct FlowText {
    /// The text.
    pub text: String,
    /// The column of the key.
    pub column: usize,
}

/// A text made of `choices`.
pub fn flow_text(choices: &mut Choices<'_>) -> FlowText {
    let column = *choices.pick(&[0, 0, 2, 4]);
    let mut writer = Writer { choices, text: String::new(), column, remarks: 0 };
    let indent = " ".repeat(column);
    writer.text.push_str(if column == 0 { "" } else { "o:\n" });
    let start = *writer.choices.pick(&["s: ", "s: ", "s:\n"]);
    writer.text.push_str(&format!("{indent}{start}"));
    if start.ends_with('\n') {
        writer.text.push_str(&format!("{indent}  "));
    }
    writer.collection(2);
    let end = *writer.choices.pick(&["\n", " # end\n"]);
    writer.text.push_str(end);
    if writer.choices.chance(128) {
        writer.text.push_str(&format!("{indent}t: 1\n"));
    }
    FlowText { text: writer.text, column }
}

/// The first line inside of a flow collection that does not stand right of `column`; blank lines and comments
/// may.
pub fn line_too_far_left(text: &str, column: usize) -> Option<&str> {
    let (mut depth, mut quote) = (0_usize, None);
    for line in text.lines() {
        let visible = line.trim_start_matches(' ');
        let is_free = visible.is_empty() || (quote.is_none() && visible.starts_with('#'));
        if (depth > 0 || quote.is_some()) && !is_free && line.len() - visible.len() <= column {
            return Some(line);
        }
        let mut before = ' ';
        for c in line.chars() {
            match (quote, c) {
                (Some('"'), _) if before == '\\' => {
                    before = ' ';
                    continue;
                }
                (Some(open), c) if c == open => quote = None,
                (Some(_), _) => {}
                (None, '#') if before == ' ' => break,
                (None, '\'' | '"') if matches!(before, ' ' | ',' | '[' | '{') => quote = Some(c),
                (None, '[' | '{') => depth += 1,
                (None, ']' | '}') => depth = depth.saturating_sub(1),
                (None, _) => {}
            }
            before = c;
        }
    }
    None
}

struct Writer<'c, 'b> {
    choices: &'c mut Choices<'b>,
    text: String,
    column: usize,
    remarks: usize,
}

impl Writer<'_, '_> {
    fn collection(&mut self, depth: usize) {
        let is_list = self.choices.chance(150);
        self.text.push(if is_list { '[' } else { '{' });
        let count = self.choices.below(4);
        for place in 0..count {
            self.gap();
            if !is_list {
                self.text.push_str(&format!("k{place}:"));
                let value = *self.choices.pick(&[" ", "\n", "#"]);
                match value {
                    " " => self.text.push(' '),
                    "\n" => self.line(),
                    _ => self.remark(),
                }
            }
            if depth > 1 && self.choices.chance(80) {
                self.collection(depth - 1);
            } else {
                let scalar = *self.choices.pick(&["1", "a", "'b'", "\"c # d\"", "x y", "~", "[]", "{}"]);
                self.text.push_str(scalar);
            }
            self.gap();
            if place + 1 < count || self.choices.chance(80) {
                self.text.push(',');
            }
        }
        self.gap();
        self.text.push(if is_list { ']' } else { '}' });
    }

    /// Writes what may stand between two tokens.
    fn gap(&mut self) {
        match self.choices.below(8) {
            0..=2 => {}
            3 => self.text.push(' '),
            4 | 5 => self.line(),
            6 => self.remark(),
            _ => {
                self.text.push_str("\n#");
                self.remark();
            }
        }
    }

    fn line(&mut self) {
        let deeper = 1 + self.choices.below(3);
        self.text.push('\n');
        self.text.push_str(&" ".repeat(self.column + deeper));
    }

    fn remark(&mut self) {
        self.text.push_str(&format!(" # c{}.", self.remarks));
        self.remarks += 1;
        self.line();
    }
}
