//! Edits: found by span, spliced, parsed again, proven, or refused.
//!
//! **Flow.** The region is parsed with comments; edits that do not depend on each other become splices of one
//! batch; the new text is parsed again; its value tree, key order and comments are compared with what the
//! edits mean, and its flow nodes are held against the indentation that the reference asks. What cannot be
//! proven together is made one by one.
//! **Guarantee.** The result differs from the input in the splices only, says what was asked to lenient and
//! strict readers, and is what one edit after the other leads to; else nothing is returned but the reason.

mod append;
#[cfg(test)]
mod cases;
mod compose;
mod insert;
mod insert_entry;
mod locate;
mod prove;
mod refusal;
mod remove;
mod rewrite;
mod set;
mod spell;

pub use refusal::Refusal;

use std::{cell::OnceCell, collections::HashSet};

use refusal::plan_batch;

use super::{
    Document, KeyIndex, KeyPath, LineEnding, ParseError, Region, RegionError, Span, Value, Yaml,
    parse::Comments,
};

/// A change of one value. Several lead to what one after the other leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Gives the value at `path`; creates the last keys of the path where they are missing.
    Set {
        /// The key path.
        path: KeyPath,
        /// The value.
        value: Value,
    },
    /// Adds an item at the end of the list at `path`; creates the list where it is missing or null.
    Append {
        /// The key path of the list.
        path: KeyPath,
        /// The item.
        item: Value,
    },
    /// Adds an item before the item `index` of the list at `path`; at its length it appends.
    Insert {
        /// The key path of the list.
        path: KeyPath,
        /// Place of the new item, from 0.
        index: usize,
        /// The item.
        item: Value,
    },
    /// Adds an entry to the block mapping at `path`, behind the entry that is there already under the key
    /// `after`.
    InsertEntry {
        /// The key path of the mapping.
        path: KeyPath,
        /// The key of the entry above.
        after: String,
        /// The new key, which the mapping must not have.
        key: String,
        /// Its value.
        value: Value,
    },
    /// Removes the entry or item at `path` with the comment on its own lines.
    Remove {
        /// The key path.
        path: KeyPath,
    },
    /// Makes `splices` in `file`, and in no other. Every entry of the root and every comment that they do not
    /// touch stays as it is; what they lead to is for the caller to compare.
    Rewrite {
        /// The bytes of the file at its turn.
        file: Vec<u8>,
        /// In order, none of them outside the region.
        splices: Vec<Splice>,
    },
    /// The same for frontmatter on which readers disagree, so that it has no entries to compare: the region
    /// ends with the last splice or behind it, and nothing behind the region changes.
    PutBack {
        /// The bytes of the file at its turn.
        file: Vec<u8>,
        /// In order, none of them outside the region.
        splices: Vec<Splice>,
    },
}

impl Edit {
    /// The path that the edit names.
    pub const fn path(&self) -> &KeyPath {
        const ROOT: &KeyPath = &KeyPath(Vec::new());
        match self {
            Self::Rewrite { .. } | Self::PutBack { .. } => ROOT,
            Self::Set { path, .. }
            | Self::Append { path, .. }
            | Self::Insert { path, .. }
            | Self::InsertEntry { path, .. }
            | Self::Remove { path } => path,
        }
    }
}

/// A replacement of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// The bytes that go, counted in the text before the batch of edits that the splice belongs to.
    pub span: Span,
    /// The text in its place.
    pub text: String,
}

/// A file after its edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// All bytes of the file.
    pub bytes: Vec<u8>,
    /// The splices, batch by batch, those of a batch in the order of the text; empty when everything said
    /// already was so. A single edit is one batch.
    pub splices: Vec<Splice>,
}

/// A reason why a file was not edited. The file is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// There is no such region to edit.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// The region cannot be read.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The edit cannot be made faithfully.
    #[error("`{path}` is left as it is: {reason}")]
    Refused {
        /// The path of the edit.
        path: KeyPath,
        /// The reason.
        reason: Refusal,
        /// The bytes of the file that the reason is about.
        span: Span,
    },
}

/// The input of planning edits, with facts about the whole region that it found on the way.
struct Context<'t, 'a> {
    file: &'a [u8],
    yaml: &'t Yaml<'a>,
    line_ending: LineEnding,
    aliases: OnceCell<HashSet<&'t str>>,
    keys: KeyIndex<'t>,
    habits: spell::Habits,
}

impl<'t, 'a> Context<'t, 'a> {
    fn new(file: &'a [u8], yaml: &'t Yaml<'a>) -> Self {
        let line_ending =
            LineEnding::first_of(&file[yaml.span().range()]).or_else(|| LineEnding::first_of(file));
        let line_ending = line_ending.unwrap_or(LineEnding::Lf);
        Self {
            file,
            yaml,
            line_ending,
            aliases: OnceCell::new(),
            keys: KeyIndex::default(),
            habits: spell::Habits::default(),
        }
    }
}

/// The bytes of `file` with `edits` made in `region`.
///
/// ```
/// use stepmark_frontmatter::{Edit, KeyPath, Region, Value, apply};
///
/// let file = b"---\nstepsCompleted: ['step-01-init'] # list\nstatus: draft\n---\n# PRD\n";
/// let append = Edit::Append { path: KeyPath::key("stepsCompleted"), item: Value::from("step-02-discovery") };
/// let edited = apply(file, &Region::Frontmatter, &[append])?;
/// assert_eq!(
///     edited.bytes,
///     b"---\nstepsCompleted: ['step-01-init', 'step-02-discovery'] # list\nstatus: draft\n---\n# PRD\n"
/// );
/// # Ok::<(), stepmark_frontmatter::EditError>(())
/// ```
///
/// # Errors
/// When the region is missing or unreadable, or an edit cannot be made faithfully; then no edit is made.
pub fn apply(file: &[u8], region: &Region, edits: &[Edit]) -> Result<Edited, EditError> {
    Edited::read(file, region, edits, |_, _| ()).map(|(edited, _)| edited)
}

impl Edited {
    /// The same as [`apply`], and what `read` makes of the bytes and the tree that the last batch of edits
    /// was proven with, so that nobody parses them again; `None` where nothing changed.
    ///
    /// # Errors
    /// Those of [`apply`].
    pub fn read<T>(
        file: &[u8],
        region: &Region,
        edits: &[Edit],
        mut read: impl FnMut(&[u8], &Yaml<'_>) -> T,
    ) -> Result<(Self, Option<T>), EditError> {
        let mut edited = Self { bytes: file.to_vec(), splices: Vec::new() };
        let (mut rest, mut together, mut last) = (edits, edits.len(), None);
        while !rest.is_empty() {
            let tried = &rest[..together.min(rest.len())];
            match apply_batch(&edited.bytes, region, tried, &mut read)? {
                Tried::Made { count, next } => {
                    if let Some((next, seen)) = next {
                        edited.bytes = next.bytes;
                        edited.splices.extend(next.splices);
                        last = Some(seen);
                    }
                    rest = &rest[count..];
                    together = together.saturating_mul(2);
                }
                // Together they are not what one after the other is; which of them it is, fewer of them tell.
                Tried::Fewer { count } => together = count.div_ceil(2),
            }
        }
        Ok((edited, last))
    }
}

/// The result of a batch.
enum Tried<T> {
    /// The first `count` edits are made; `next` is `None` when the file says so already.
    Made { count: usize, next: Option<(Edited, T)> },
    /// These `count` edits, more than one, cannot be proven together.
    Fewer { count: usize },
}

/// Makes as many of `edits` as can be made on one reading of the file.
fn apply_batch<T>(
    file: &[u8],
    region: &Region,
    edits: &[Edit],
    read: &mut impl FnMut(&[u8], &Yaml<'_>) -> T,
) -> Result<Tried<T>, EditError> {
    let span = region.find(&Document::scan(file))?;
    let yaml = Yaml::parse_with(file, span, Comments::Keep)?;
    let refused =
        |edit: &Edit, (reason, span)| EditError::Refused { path: edit.path().clone(), reason, span };
    let Some(first) = edits.first() else { return Ok(Tried::Made { count: 0, next: None }) };
    if yaml.documents() > 1 {
        return Err(refused(first, (Refusal::SeveralDocuments { count: yaml.documents() }, span)));
    }
    let context = Context::new(file, &yaml);
    let batch = plan_batch(&context, edits).map_err(|reason| refused(first, reason))?;
    let count = batch.count;
    if batch.changes.is_empty() {
        return Ok(Tried::Made { count, next: None });
    }
    let splices = batch.splices();
    match proven(&context, region, &batch.changes, &splices, read) {
        Ok((bytes, seen)) => Ok(Tried::Made { count, next: Some((Edited { bytes, splices }, seen)) }),
        Err(_) if count > 1 => Ok(Tried::Fewer { count }),
        Err(reason) => Err(refused(first, (reason, splices.first().map_or(span, |splice| splice.span)))),
    }
}

/// The file with `splices`, proven to be what `changes` mean.
fn proven<T>(
    context: &Context<'_, '_>,
    region: &Region,
    changes: &[Change],
    splices: &[Splice],
    read: &mut impl FnMut(&[u8], &Yaml<'_>) -> T,
) -> Result<(Vec<u8>, T), Refusal> {
    let bytes = splice(context.file, splices).ok_or(Refusal::NotProven)?;
    let span = region.find(&Document::scan(&bytes)).map_err(|_| Refusal::NotProven)?;
    let after = Yaml::parse_with(&bytes, span, Comments::Keep).map_err(|_| Refusal::NotProven)?;
    prove::prove((context.file, context.yaml), (&bytes, &after), changes)?;
    let seen = read(&bytes, &after);
    Ok((bytes, seen))
}

/// A planned edit: its splices and what they must mean.
struct Change {
    splices: Vec<Splice>,
    meaning: prove::Meaning,
}

type Planned = Result<Option<Change>, (Refusal, Span)>;

fn plan(context: &Context<'_, '_>, edit: &Edit) -> Planned {
    match edit {
        Edit::Set { path, value } => set::plan(context, path, value),
        Edit::Append { path, item } => append::plan(context, path, item),
        Edit::Insert { path, index, item } => insert::plan(context, path, *index, item),
        Edit::InsertEntry { path, after, key, value } => {
            insert_entry::plan(context, path, after, (key, value))
        }
        Edit::Remove { path } => remove::plan(context, path),
        Edit::Rewrite { file, splices } => rewrite::plan(context, file, splices, prove::Meaning::Rewritten),
        Edit::PutBack { file, splices } => rewrite::plan(context, file, splices, prove::Meaning::PutBack),
    }
}

impl Value {
    /// The value as YAML on one line, as it stands behind a key.
    pub fn to_inline_yaml(&self) -> String {
        spell::inline(self, spell::Quote::Plain, spell::Place::Block)
    }
}

/// `file` with `splices`; `None` unless they are in order and do not overlap.
pub fn splice(file: &[u8], splices: &[Splice]) -> Option<Vec<u8>> {
    let added: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut bytes = Vec::with_capacity(file.len() + added);
    let mut copied = 0;
    for splice in splices {
        bytes.extend_from_slice(file.get(copied..splice.span.start)?);
        bytes.extend_from_slice(splice.text.as_bytes());
        copied = splice.span.end;
    }
    bytes.extend_from_slice(file.get(copied..)?);
    Some(bytes)
}
