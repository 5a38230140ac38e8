//! Fields of artifacts that questions use.

use super::{FieldValue, Selectable, SelectionError, SelectionErrorKind};
use crate::spelling::near_words;
use std::cmp::Ordering;
use stepmark_frontmatter::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SelectionField {
    /// `path`: where it stands in the project.
    Path,
    /// `id`: its own id, else the one that `track` gave it.
    Id,
    Title,
    Workflow,
    Status,
    /// `scope`: how big the work is, from `micro` to `epic`.
    Scope,
    /// `work_state`: `not-started`, `interrupted`, `underway` or `finished`.
    WorkState,
    Done,
    Total,
    /// `progress`: steps that are done, in whole percent.
    Progress,
    /// `next`: the step that comes next; several where there is a choice.
    Next,
    Agent,
    /// `parent`: the id of the artifact that it was delegated from.
    Parent,
    /// `problems`: errors and warnings of `check` in it alone.
    Problems,
    /// `modified`: when its file was last changed.
    Modified,
    Updated,
    /// Any other key of its frontmatter, by its name there.
    Key(&'static str),
}

/// The type of a field's values, which decides the operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    Text,
    Status,
    /// A scope; they are ordered.
    Scope,
    Number,
    Time,
}

impl SelectionField {
    /// All but keys of the frontmatter, in the order in which they are shown.
    pub const ALL: [Self; 16] = [
        Self::Path,
        Self::Id,
        Self::Title,
        Self::Workflow,
        Self::Status,
        Self::Scope,
        Self::WorkState,
        Self::Done,
        Self::Total,
        Self::Progress,
        Self::Next,
        Self::Agent,
        Self::Parent,
        Self::Problems,
        Self::Modified,
        Self::Updated,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Id => "id",
            Self::Title => "title",
            Self::Workflow => "workflow",
            Self::Status => "status",
            Self::Scope => "scope",
            Self::WorkState => "work_state",
            Self::Done => "done",
            Self::Total => "total",
            Self::Progress => "progress",
            Self::Next => "next",
            Self::Agent => "agent",
            Self::Parent => "parent",
            Self::Problems => "problems",
            Self::Modified => "modified",
            Self::Updated => "updated",
            Self::Key(name) => name,
        }
    }

    pub const fn kind(self) -> FieldType {
        match self {
            Self::Path
            | Self::Id
            | Self::Title
            | Self::Workflow
            | Self::WorkState
            | Self::Next
            | Self::Agent
            | Self::Parent
            | Self::Key(_) => FieldType::Text,
            Self::Status => FieldType::Status,
            Self::Scope => FieldType::Scope,
            Self::Done | Self::Total | Self::Progress | Self::Problems => FieldType::Number,
            Self::Modified | Self::Updated => FieldType::Time,
        }
    }

    /// The field with this name, whatever its case, else the key of `keys`; `at` is where the name stands in
    /// the question.
    pub fn named(name: &str, at: Span, keys: &[&'static str]) -> Result<Self, SelectionError> {
        if name.is_empty() {
            let kind = SelectionErrorKind::Unexpected { wanted: "the name of a field" };
            return Err(SelectionError { span: at, kind });
        }
        let lower = name.to_lowercase();
        let key = || keys.iter().find(|key| **key == name).map(|key| Self::Key(key));
        Self::ALL.into_iter().find(|field| field.name() == lower).or_else(key).ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            let kind =
                SelectionErrorKind::UnknownField { name: name.to_owned(), near: near_words(&lower, names) };
            SelectionError { span: at, kind }
        })
    }
}

/// Reads names of fields with commas between them: `path,status,next`.
pub fn parse_fields(text: &str, keys: &[&'static str]) -> Result<Vec<SelectionField>, SelectionError> {
    parts(text).map(|(name, at)| SelectionField::named(name, at, keys)).collect()
}

/// The parts of a list with commas, without blanks around them, and where each stands.
pub(super) fn parts(text: &str) -> impl Iterator<Item = (&str, Span)> {
    let mut start = 0;
    text.split(',').map(move |part| {
        let word = part.trim();
        let at = start + part.len() - part.trim_start().len();
        start += part.len() + 1;
        (word, Span::new(at, at + word.len()))
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    pub field: SelectionField,
    /// True if the greatest comes first: `-FIELD`.
    pub is_descending: bool,
}

/// Fields to sort by, the first counts most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SortKeys(pub Vec<SortKey>);

impl SortKeys {
    /// Reads fields with commas between them, with `-` before those whose greatest value comes first:
    /// `-scope,path`.
    pub fn parse(text: &str, keys: &[&'static str]) -> Result<Self, SelectionError> {
        let key = |(word, at): (&str, Span)| {
            let name = word.strip_prefix('-');
            let at = Span::new(at.start + usize::from(name.is_some()), at.end);
            let field = SelectionField::named(name.unwrap_or(word), at, keys)?;
            Ok(SortKey { field, is_descending: name.is_some() })
        };
        parts(text).map(key).collect::<Result<_, _>>().map(Self)
    }

    /// Sorts `rows`. Those that are equal stay as they are; what says nothing in a field comes last, whatever
    /// the direction.
    pub fn sort<T: Selectable>(&self, rows: Vec<T>) -> Vec<T> {
        let values = |row: &T| self.0.iter().map(|key| row.value(key.field)).collect::<Vec<_>>();
        let mut keyed: Vec<(Vec<FieldValue>, T)> = rows.into_iter().map(|row| (values(&row), row)).collect();
        keyed.sort_by(|(one, _), (other, _)| self.compare(one, other));
        keyed.into_iter().map(|(_, row)| row).collect()
    }

    fn compare(&self, one: &[FieldValue], other: &[FieldValue]) -> Ordering {
        let pairs = self.0.iter().zip(one.iter().zip(other));
        let orders = pairs.map(|(key, (one, other))| match (one.is_empty(), other.is_empty()) {
            (false, false) if key.is_descending => other.order(one),
            (false, false) => one.order(other),
            (one, other) => one.cmp(&other),
        });
        orders.fold(Ordering::Equal, Ordering::then)
    }
}
