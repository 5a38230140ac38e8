//! Edits: found by span, spliced, parsed again, proven, or refused.
//!
//! **Flow.** The region is parsed with comments; the edit becomes one or two splices; the new text is parsed again;
//! its value tree, key order and comments are compared with what the edit means. **Guarantee.** The result differs
//! from the input in the splices only, and says what was asked; else nothing is returned but the reason.

mod append;
#[cfg(test)]
mod cases;
mod compose;
mod insert;
mod insert_entry;
mod layout;
mod locate;
mod prove;
mod refusal;
mod remove;
mod rewrite;
mod set;
mod spell;
mod style;
mod together;

pub use refusal::Refusal;
pub use together::set_together;

use super::{
    Document, FileHash, KeyPath, LineEnding, ParseError, Region, RegionError, Span, Value, Yaml,
    parse::Comments,
};

/// A change of one value. Applied one by one; each is proven before the next.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Gives the value at `path`; creates the last keys of the path where they are missing.
    Set {
        /// Where.
        path: KeyPath,
        /// What.
        value: Value,
    },
    /// Adds an item at the end of the list at `path`; creates the list where it is missing or null.
    Append {
        /// Where the list stands.
        path: KeyPath,
        /// The item.
        item: Value,
    },
    /// Adds an item before the item `index` of the list at `path`; at its length it appends.
    Insert {
        /// Where the list stands.
        path: KeyPath,
        /// Place of the new item, from 0.
        index: usize,
        /// The item.
        item: Value,
    },
    /// Adds an entry to the block mapping at `path`, behind the entry that is there already under the key `after`.
    InsertEntry {
        /// Where the mapping stands.
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
        /// Where.
        path: KeyPath,
    },
    /// Makes `splices` in the file of which `file` is the hash. They must lead to `state`, and to nothing else beside the entries
    /// of the root that they touch.
    Rewrite {
        /// The hash of the file at its turn.
        file: FileHash,
        /// In order, none of them outside the region.
        splices: Vec<Splice>,
        /// What the region says afterwards.
        state: serde_json::Value,
    },
}

impl Edit {
    /// The path that the edit names.
    pub const fn path(&self) -> &KeyPath {
        const ROOT: &KeyPath = &KeyPath(Vec::new());
        match self {
            Self::Rewrite { .. } => ROOT,
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
    /// The bytes that go, counted in the text before this splice's edit.
    pub span: Span,
    /// What stands there instead.
    pub text: String,
}

/// A file after its edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// All bytes of the file.
    pub bytes: Vec<u8>,
    /// The splices, edit by edit; empty when everything said already was so.
    pub splices: Vec<Splice>,
}

/// Why a file was not edited. The file is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
        /// Why.
        reason: Refusal,
        /// The bytes of the file that the reason is about.
        span: Span,
    },
}

/// What planning an edit sees.
struct Context<'t, 'a> {
    file: &'a [u8],
    yaml: &'t Yaml<'a>,
    line_ending: LineEnding,
}

/// The bytes of `file` with `edits` made in `region`.
///
/// ```
/// use stepmark_core::document::{Edit, Region, Value, apply};
///
/// let file = b"---\nstepsCompleted: ['step-01-init'] # list\nstatus: draft\n---\n# PRD\n";
/// let append = Edit::Append { path: "stepsCompleted".into(), item: Value::from("step-02-discovery") };
/// let edited = apply(file, &Region::Frontmatter, &[append])?;
/// assert_eq!(
///     edited.bytes,
///     b"---\nstepsCompleted: ['step-01-init', 'step-02-discovery'] # list\nstatus: draft\n---\n# PRD\n"
/// );
/// # Ok::<(), stepmark_core::document::EditError>(())
/// ```
///
/// # Errors
/// When the region is missing or unreadable, or an edit cannot be made faithfully; then no edit is made.
pub fn apply(file: &[u8], region: &Region, edits: &[Edit]) -> Result<Edited, EditError> {
    let mut edited = Edited { bytes: file.to_vec(), splices: Vec::new() };
    for edit in edits {
        if let Some(next) = apply_one(&edited.bytes, region, edit)? {
            edited.bytes = next.bytes;
            edited.splices.extend(next.splices);
        }
    }
    Ok(edited)
}

/// One edit; `None` when the file says so already.
fn apply_one(file: &[u8], region: &Region, edit: &Edit) -> Result<Option<Edited>, EditError> {
    let span = region.find(&Document::scan(file))?;
    let yaml = Yaml::parse_with(file, span, Comments::Keep)?;
    let refused = |(reason, span)| EditError::Refused { path: edit.path().clone(), reason, span };
    if yaml.documents() > 1 {
        return Err(refused((Refusal::SeveralDocuments { count: yaml.documents() }, span)));
    }
    let line_ending = LineEnding::first_of(&file[span.range()])
        .or_else(|| LineEnding::first_of(file))
        .unwrap_or(LineEnding::Lf);
    let context = Context { file, yaml: &yaml, line_ending };
    let plan = plan(&context, edit).map_err(refused)?;
    let Some(change) = plan else { return Ok(None) };

    let unfaithful = |reason| refused((reason, change.splices.first().map_or(span, |splice| splice.span)));
    let bytes = splice(file, &change.splices).ok_or_else(|| unfaithful(Refusal::NotProven))?;
    let new_span = region.find(&Document::scan(&bytes)).map_err(|_| unfaithful(Refusal::NotProven))?;
    let after =
        Yaml::parse_with(&bytes, new_span, Comments::Keep).map_err(|_| unfaithful(Refusal::NotProven))?;
    prove::prove(&yaml, &after, &change).map_err(unfaithful)?;
    Ok(Some(Edited { bytes, splices: change.splices }))
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
        Edit::Rewrite { file, splices, state } => rewrite::plan(context, *file, splices, state),
    }
}

/// The text of `value` on one line behind a key, where the document has no habits.
pub(super) fn plain_text(value: &Value) -> String {
    spell::inline(value, spell::Quote::Plain, spell::Place::Block)
}

/// `file` with `splices`; `None` unless they are in order and do not overlap.
pub(crate) fn splice(file: &[u8], splices: &[Splice]) -> Option<Vec<u8>> {
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
