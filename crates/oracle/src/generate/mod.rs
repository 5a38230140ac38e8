//! Documents generated together with what they say: every style of YAML, the value it means, and its comments
//! with the values that they belong to. The expected value is written down while the text is, without any
//! parser.

mod block;
mod flow;
mod scalar;

use stepmark_frontmatter::{KeyPath, LineEnding, Region, Segment, Value};

use crate::Choices;

/// A generated file.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The file.
    pub bytes: Vec<u8>,
    /// The place of its YAML.
    pub region: Region,
    /// The value that its YAML says.
    pub value: Value,
    /// Its comments in order.
    pub remarks: Vec<Remark>,
}

/// A comment: unlike any other in its file, and found by its text alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The text from `#` on.
    pub text: String,
    /// The value on whose lines it stands; a comment on its own line belongs to the collection around it.
    pub owner: KeyPath,
}

/// The texts of all remarks in `bytes`, in order.
pub fn remarks(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let ends = |from: &str| from.find('.').map(|at| from[..=at].to_owned());
    text.match_indices("# c").filter_map(|(at, _)| ends(&text[at..])).collect()
}

/// A document made of `choices`.
pub fn generate(choices: &mut Choices<'_>) -> Generated {
    let line_ending = *choices.pick(&[LineEnding::Lf, LineEnding::CrLf, LineEnding::Lf]);
    let frontmatter = choices.chance(128);
    let byte_order_mark = choices.chance(20);
    let mut writer = Writer::new(choices, line_ending.as_str());
    let has_marker = !frontmatter && writer.choices.chance(16);
    if has_marker {
        writer.put("---");
        writer.end_line();
    }
    let value = writer.root();
    if !frontmatter && writer.choices.chance(40) {
        writer.drop_last_line_end();
    }
    let mark = if byte_order_mark { "\u{FEFF}" } else { "" };
    let end = line_ending.as_str();
    let text = if frontmatter {
        let blanks = if writer.choices.chance(16) { " \t" } else { "" };
        format!("{mark}---{blanks}{end}{}---{end}# Title{end}- k0: body # c999.\n\u{1F600}", writer.text)
    } else {
        format!("{mark}{}", writer.text)
    };
    let region = if frontmatter { Region::Frontmatter } else { Region::WholeFile };
    Generated { bytes: text.into_bytes(), region, value, remarks: writer.remarks }
}

/// The text so far, and what is known about it.
struct Writer<'c, 'b> {
    choices: &'c mut Choices<'b>,
    line_ending: &'static str,
    text: String,
    path: KeyPath,
    remarks: Vec<Remark>,
    /// Finished values that an alias may name.
    anchors: Vec<(String, Value)>,
    keys: usize,
    last_line: LastLine,
}

/// The meaning of the line end at the end of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastLine {
    /// Nothing: blank lines may follow, and it may be missing.
    Free,
    /// It ends a `|` or `>` scalar: it may not be missing.
    Clipped,
    /// It ends a `|+` or `>+` scalar: neither.
    Kept,
}

impl<'c, 'b> Writer<'c, 'b> {
    fn new(choices: &'c mut Choices<'b>, line_ending: &'static str) -> Self {
        Self {
            choices,
            line_ending,
            text: String::new(),
            path: KeyPath::default(),
            remarks: Vec::new(),
            anchors: Vec::new(),
            keys: 0,
            last_line: LastLine::Free,
        }
    }

    fn root(&mut self) -> Value {
        match self.choices.below(20) {
            19 => {
                self.gap(0);
                Value::Mapping(Vec::new())
            }
            18 => {
                let value = self.flow_mapping(0, 3);
                self.trailing();
                value
            }
            17 => self.block_sequence(0, 3, false),
            _ => self.block_mapping(0, 3, false),
        }
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.last_line = LastLine::Free;
    }

    fn spaces(&mut self, count: usize) {
        self.put(&" ".repeat(count));
    }

    fn end_line(&mut self) {
        self.put(self.line_ending);
    }

    /// The rest of a line behind a value: perhaps blanks, perhaps a comment about the value.
    fn trailing(&mut self) {
        match self.choices.below(12) {
            0 | 1 => {
                let blanks = *self.choices.pick(&["  ", " ", "\t"]);
                self.put(blanks);
                self.remark();
            }
            2 => self.put("  "),
            _ => {}
        }
        self.end_line();
    }

    /// A comment about the value at the current path.
    fn remark(&mut self) {
        let text = format!("# c{}.", self.remarks.len());
        self.put(&text);
        self.remarks.push(Remark { text, owner: self.path.clone() });
    }

    /// Writes what may stand between two lines of a collection at `column`.
    fn gap(&mut self, column: usize) {
        if self.last_line != LastLine::Kept && self.choices.chance(16) {
            self.end_line();
        }
        if self.choices.chance(32) {
            let column = *self.choices.pick(&[column, column, 0]);
            self.spaces(column);
            self.remark();
            self.end_line();
        }
    }

    fn drop_last_line_end(&mut self) {
        if self.last_line == LastLine::Free && self.text.ends_with(self.line_ending) {
            self.text.truncate(self.text.len() - self.line_ending.len());
        }
    }

    /// Writes a value below `segment`.
    fn below(&mut self, segment: Segment, write: impl FnOnce(&mut Self) -> Value) -> Value {
        self.path.0.push(segment);
        let value = write(self);
        self.path.0.pop();
        value
    }
}
