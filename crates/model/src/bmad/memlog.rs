//! The memlog of BMAD 6.11 and later: a log of entries below a flat head, which only grows
//! (BMAD's `scripts/memlog.py`). Pure.
//!
//! A call gives the bytes that the script gives. What the script would drop or break stays, or is refused:
//! comments and line ends stay, a key that would break the head is refused.

/// The text of a memlog, in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memlog<'m> {
    /// The lines between the fences, with their ends.
    head: Vec<&'m str>,
    /// The text behind the second fence.
    body: &'m str,
    line_end: &'static str,
}

/// An entry, as it is to be written.
#[derive(Clone, Copy, Debug)]
pub struct MemlogEntry<'e> {
    pub text: &'e str,
    pub kind: Option<&'e str>,
    pub by: Option<&'e str>,
}

impl MemlogEntry<'_> {
    /// `- (TYPE by WHO) TEXT`; runs of white space in the text are one blank.
    pub fn line(&self) -> String {
        let text = on_one_line(self.text);
        let kind = self.kind.filter(|kind| !kind.is_empty()).map(str::to_owned);
        let by = self.by.filter(|by| !by.is_empty()).map(|by| format!("by {by}"));
        match kind.into_iter().chain(by).collect::<Vec<_>>() {
            parts if parts.is_empty() => format!("- {text}"),
            parts => format!("- ({}) {text}", parts.join(" ")),
        }
    }
}

const UPDATED: &str = "updated";

/// A new memlog with these fields; `now` is the time as BMAD writes it (`2026-01-31T08:00`). Of two fields
/// with one key the last counts.
pub fn new_memlog(fields: &[(String, String)], now: &str) -> Result<String, String> {
    let mut head: Vec<(&str, String)> = Vec::new();
    for (key, value) in fields.iter().filter(|(key, _)| key != UPDATED) {
        check_key(key)?;
        match head.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = one_line(value),
            None => head.push((key, one_line(value))),
        }
    }
    let head: String = head.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
    Ok(format!("---\n{head}{UPDATED}: {now}\n---\n\n\n"))
}

impl<'m> Memlog<'m> {
    pub fn read(bytes: &'m [u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
        let mut lines = text.split_inclusive('\n');
        let first =
            lines.next().filter(|line| is_fence(line)).ok_or("it does not begin with a line `---`")?;
        let line_end = if first.ends_with("\r\n") { "\r\n" } else { "\n" };
        let (mut head, mut length) = (Vec::new(), first.len());
        for line in lines {
            length += line.len();
            if is_fence(line) {
                return Ok(Self { head, body: &text[length..], line_end });
            }
            head.push(line);
        }
        Err("its head is never closed by a line `---`".to_owned())
    }

    /// The entries, each as its line without the dash.
    pub fn entries(&self) -> impl Iterator<Item = &'m str> {
        self.body.lines().filter_map(|line| line.strip_prefix("- "))
    }

    /// The first entry of `before` that is another one now, or is gone: a memlog only grows.
    pub fn first_changed<'b>(&self, before: &Memlog<'b>) -> Option<&'b str> {
        let mut now = self.entries();
        before.entries().find(|entry| now.next() != Some(entry))
    }

    /// The fields of the head, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&'m str, &'m str)> {
        self.head.iter().filter_map(|line| field(line))
    }

    /// The text with one entry more.
    pub fn append(&self, entry: &MemlogEntry<'_>, now: &str) -> Result<String, String> {
        if [entry.kind, entry.by].into_iter().flatten().any(|part| part.contains(['\n', '\r'])) {
            return Err("the type of an entry, and who says it, stand on one line".to_owned());
        }
        let body = self.body.trim_end_matches(['\r', '\n']);
        // The first entry stands behind an empty line.
        let text = format!("{body}{end}{}{end}", entry.line(), end = self.line_end);
        Ok(self.text(&self.head, &text, now))
    }

    /// The text where `key` has `value`.
    pub fn set(&self, key: &str, value: &str, now: &str) -> Result<String, String> {
        check_key(key)?;
        let line = format!("{key}: {}{}", one_line(value), self.line_end);
        let mut head = self.head.clone();
        match head.iter().rposition(|known| field(known).is_some_and(|(known, _)| known == key)) {
            Some(place) if head.get(place + 1).is_some_and(|next| next.starts_with([' ', '\t', '-'])) => {
                return Err(format!("the field `{key}` has lines below it, which its new value would break"));
            }
            Some(place) => head[place] = &line,
            None => head.push(&line),
        }
        Ok(self.text(&head, self.body, now))
    }

    /// The text with this head, whose last line says when it was changed.
    fn text(&self, head: &[&str], body: &str, now: &str) -> String {
        let is_other = |line: &&&str| field(line).is_none_or(|(key, _)| key != UPDATED);
        let head: String = head.iter().filter(is_other).copied().collect();
        let end = self.line_end;
        format!("---{end}{head}{UPDATED}: {now}{end}---{end}{body}")
    }
}

fn is_fence(line: &str) -> bool {
    line.trim_end_matches(['\r', '\n']) == "---"
}

fn field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = !key.trim().is_empty() && !key.starts_with([' ', '\t', '#', '-']);
    is_key.then(|| (key.trim(), value.trim()))
}

fn check_key(key: &str) -> Result<(), String> {
    match key.trim().is_empty()
        || key != key.trim()
        || key.contains([':', '\n', '\r'])
        || key.starts_with(['#', '-'])
    {
        true => {
            Err(format!("`{key}` cannot be a key of a memlog: it is empty, or has a colon or a line end"))
        }
        false => Ok(()),
    }
}

fn one_line(value: &str) -> String {
    value.replace("\r\n", " ").replace(['\n', '\r'], " ")
}

/// Runs of what Python takes for white space become single blanks.
fn on_one_line(text: &str) -> String {
    let is_blank = |letter: char| letter.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&letter);
    text.split(is_blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
