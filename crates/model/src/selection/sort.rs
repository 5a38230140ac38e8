//! The order in which artifacts are listed.

use std::cmp::Ordering;

use super::{FieldValue, Selectable, SelectionError, SelectionField, field::parts};
use stepmark_frontmatter::Span;

/// A field to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// The field.
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
    ///
    /// # Errors
    /// When a name is none of a field.
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
