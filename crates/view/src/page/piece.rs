//! Parts of a page that change by themselves.

/// A part of a page: one element, which has the id `id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The id of the element.
    pub id: String,
    /// The id of the element that it stands in, after the piece before it of the same place.
    pub place: &'static str,
    /// The element.
    pub html: String,
}
