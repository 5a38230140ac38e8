//! One edit, judged: by its splices, by the model, and by other readers.

use stepmark_frontmatter::{
    Document, Edit, EditError, Edited, LIMITS, ParseError, Refusal, Region, Span, Splice, Value, Yaml, apply,
};

use crate::{Reader, at, expected};

/// The outcome of an edit that did no harm.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The file has changed as the model says.
    Changed(Edited),
    /// The file said so already.
    Unchanged,
    /// The edit was refused.
    Refused(Refusal),
    /// The region is missing or cannot be read.
    Unreadable,
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// The promise, or the reader that reads something else.
    pub promise: &'static str,
    /// The text of what was found instead.
    pub found: String,
}

fn wrong(promise: &'static str, found: impl std::fmt::Debug) -> Wrong {
    Wrong { promise, found: format!("{found:#?}") }
}

/// Makes `edit` in `file` and checks every promise about the result; `readers` give second opinions.
///
/// # Errors
/// With the first promise that is broken.
pub fn judge(file: &[u8], region: &Region, edit: &Edit, readers: &[Reader]) -> Result<Verdict, Wrong> {
    let result = apply(file, region, std::slice::from_ref(edit));
    let Some(before) = Reading::of(file, region) else {
        return match result {
            Err(EditError::Region(_) | EditError::Parse(_)) => Ok(Verdict::Unreadable),
            other => Err(wrong("an unreadable region is not edited", other)),
        };
    };
    let edited = match result {
        Ok(edited) => edited,
        Err(EditError::Refused { reason, .. }) => return Ok(Verdict::Refused(reason)),
        Err(other) => return Err(wrong("a readable region is edited or refused", other)),
    };
    let spliced = splice(file, &edited.splices).filter(|bytes| *bytes == edited.bytes);
    if spliced.is_none() {
        return Err(wrong("the result is the file with its splices", &edited));
    }
    if edited.splices.iter().any(|splice| !before.span_holds(splice.span)) {
        return Err(wrong("splices lie inside the region", &edited));
    }
    let Some(after) = Reading::of(&edited.bytes, region) else {
        return Err(wrong("the result can be read", &edited));
    };
    if before.follows_aliases() {
        let wanted = expected(before.value.as_ref(), edit);
        if wanted.is_none() || !same_root(wanted.as_ref(), after.value.as_ref()) {
            return Err(wrong("the value is what the model says", (after.value, wanted)));
        }
    }
    for reader in readers {
        agrees(reader, &before, &after, edit)?;
    }
    Ok(if edited.splices.is_empty() { Verdict::Unchanged } else { Verdict::Changed(edited) })
}

/// A region as stepmark reads it.
struct Reading<'f> {
    text: &'f str,
    span: Span,
    has_root: bool,
    value: Option<Value>,
}

impl<'f> Reading<'f> {
    fn of(file: &'f [u8], region: &Region) -> Option<Self> {
        let span = region.find(&Document::scan(file)).ok()?;
        let yaml = Yaml::parse(file, span).ok()?;
        let text = std::str::from_utf8(&file[span.range()]).ok()?;
        let value = yaml.root().and_then(|root| Value::of(&yaml, root).ok());
        Some(Self { text, span, has_root: yaml.root().is_some(), value })
    }

    fn span_holds(&self, span: Span) -> bool {
        self.span.start <= span.start && span.end <= self.span.end
    }

    /// Returns whether the value is known: an alias without an anchor has none.
    fn follows_aliases(&self) -> bool {
        self.value.is_some() == self.has_root
    }
}

/// `file` with `splices`; `None` when they overlap or lie outside. Splices of one edit are in order.
fn splice(file: &[u8], splices: &[Splice]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(file.len());
    let mut copied = 0;
    for splice in splices {
        bytes.extend_from_slice(file.get(copied..splice.span.start)?);
        bytes.extend_from_slice(splice.text.as_bytes());
        copied = splice.span.end;
    }
    bytes.extend_from_slice(file.get(copied..)?);
    Some(bytes)
}

/// Returns whether two regions say the same; one without a root says an empty map.
fn same_root(one: Option<&Value>, other: Option<&Value>) -> bool {
    let empty = Value::Mapping(Vec::new());
    one.unwrap_or(&empty) == other.unwrap_or(&empty)
}

/// Checks that `reader` reads the new text as the model says, where it reads the old one, and in that the
/// value that the edit names as stepmark does.
fn agrees(reader: &Reader, before: &Reading<'_>, after: &Reading<'_>, edit: &Edit) -> Result<(), Wrong> {
    if !(reader.is_fair)(before.text) || !(reader.is_fair)(after.text) {
        return Ok(());
    }
    let theirs = match (reader.read)(before.text) {
        Some(Value::Null) if !before.has_root => Value::Mapping(Vec::new()),
        Some(theirs) => theirs,
        None => return Ok(()),
    };
    let path = &edit.path().0;
    let ours = before.value.as_ref().and_then(|ours| at(ours, path));
    if ours.map(without_order) != at(&theirs, path).map(without_order) {
        return Ok(());
    }
    let Some(wanted) = expected(Some(&theirs), edit).filter(reader.holds) else { return Ok(()) };
    let found = (reader.read)(after.text);
    let is_empty = |value: &Value| matches!(value, Value::Null) || *value == Value::Mapping(Vec::new());
    match &found {
        Some(found) if without_order(found) == without_order(&wanted) => Ok(()),
        Some(found) if is_empty(found) && is_empty(&wanted) => Ok(()),
        _ => Err(wrong(reader.name, (found, wanted, after.text))),
    }
}

/// `value` with the entries of its maps sorted: some readers do not keep the order, and ours is proven by the
/// model.
fn without_order(value: &Value) -> Value {
    match value {
        Value::Sequence(items) => Value::Sequence(items.iter().map(without_order).collect()),
        Value::Mapping(entries) => {
            let mut entries: Vec<_> =
                entries.iter().map(|(key, value)| (without_order(key), without_order(value))).collect();
            entries.sort_by_cached_key(|(key, _)| format!("{key:?}"));
            Value::Mapping(entries)
        }
        other => other.clone(),
    }
}

/// Returns whether an error of reading lies inside the file.
pub(crate) fn has_place(error: &ParseError, file: &[u8]) -> bool {
    error.offset() <= file.len() && LIMITS.bytes > 0
}
