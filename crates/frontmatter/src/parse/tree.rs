//! Events → tree, within the limits.

use std::borrow::Cow;

use super::{
    Comment, LIMITS, ParseError, Tree,
    granit::{Event, EventReader, SyntaxError},
};
use crate::{CollectionStyle, Entry, Node, NodeKind, Properties, ScalarStyle, Span, Tag};

/// Builds the tree of the first document of `reader`; spans are moved by `base`.
pub(super) fn build<'a>(reader: impl EventReader<'a>, base: usize) -> Result<Tree<'a>, ParseError> {
    let mut builder = Builder { reader, base, ahead: None, comments: Vec::new(), nodes: 0 };
    let mut tree = Tree { root: None, documents: 0, comments: Vec::new() };
    while let Some((event, span)) = builder.next()? {
        if matches!(event, Event::DocumentStart) {
            tree.documents += 1;
            continue;
        }
        let node = builder.node(event, span, 0)?;
        if tree.documents <= 1 {
            // A document without content arrives as an empty scalar.
            tree.root = Some(node).filter(|node| !node.is_empty_value());
        }
    }
    // A comment can arrive after the scalar that it precedes.
    builder.comments.sort_by_key(|comment: &Comment<'_>| comment.span);
    tree.comments = builder.comments;
    Ok(tree)
}

struct Builder<'a, R> {
    reader: R,
    base: usize,
    ahead: Option<(Event<'a>, Span)>,
    comments: Vec<Comment<'a>>,
    nodes: usize,
}

impl<'a, R: EventReader<'a>> Builder<'a, R> {
    /// The next event that is no comment; its span is moved into the file.
    fn next(&mut self) -> Result<Option<(Event<'a>, Span)>, ParseError> {
        if let Some(ahead) = self.ahead.take() {
            return Ok(Some(ahead));
        }
        loop {
            let Some(next) = self.reader.next_event() else { return Ok(None) };
            let (event, span) = next.map_err(|error| self.syntax(error))?;
            let span = span.shifted(self.base);
            match event {
                Event::Comment { text } => self.comments.push(Comment { text, span }),
                event => return Ok(Some((event, span))),
            }
        }
    }

    fn syntax(&self, error: SyntaxError) -> ParseError {
        let offset = self.base + error.offset;
        if error.too_deep {
            ParseError::TooDeep { limit: LIMITS.depth, offset }
        } else {
            ParseError::Syntax { message: error.message, offset }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node<'a>, ParseError> {
        self.nodes += 1;
        if self.nodes > LIMITS.nodes {
            return Err(ParseError::TooManyNodes { limit: LIMITS.nodes, offset: span.start });
        }
        if depth > LIMITS.depth {
            return Err(ParseError::TooDeep { limit: LIMITS.depth, offset: span.start });
        }
        match event {
            Event::Scalar { style, text, tag } => {
                let properties = self.properties(tag)?;
                let span =
                    if style == ScalarStyle::Plain && text.is_empty() { Span::at(span.start) } else { span };
                Ok(Node { span, kind: NodeKind::Scalar { style, text }, properties })
            }
            Event::Alias { name } => Ok(Node { span, kind: NodeKind::Alias { name }, properties: None }),
            Event::SequenceStart { style, tag } => {
                let properties = self.properties(tag)?;
                let mut items = Vec::new();
                let end = loop {
                    match self.expect(span)? {
                        (Event::End, end) => break end,
                        (event, at) => items.push(self.node(event, at, depth + 1)?),
                    }
                };
                let first = items.first().map(Node::outer_start);
                let span = collection_span(span, end, style, first, items.last());
                Ok(Node { span, kind: NodeKind::Sequence { style, items }, properties })
            }
            Event::MappingStart { style, tag } => {
                let properties = self.properties(tag)?;
                let mut entries = Vec::new();
                let end = loop {
                    match self.expect(span)? {
                        (Event::End, end) => break end,
                        (event, at) => {
                            let key = self.node(event, at, depth + 1)?;
                            let (event, at) = self.expect(at)?;
                            let mut value = self.node(event, at, depth + 1)?;
                            if value.is_empty_value() {
                                // The parser reports it at the next token where no colon is written.
                                value.span = Span::at(key.span.end);
                            }
                            entries.push(Entry { key, value });
                        }
                    }
                };
                let first = entries.first().map(|entry: &Entry<'_>| entry.key.outer_start());
                let span = collection_span(span, end, style, first, entries.last().map(|entry| &entry.value));
                Ok(Node { span, kind: NodeKind::Mapping { style, entries }, properties })
            }
            Event::DocumentStart | Event::End | Event::Anchor { .. } | Event::Comment { .. } => {
                Err(ParseError::Syntax { message: "a value is missing here".to_owned(), offset: span.start })
            }
        }
    }

    /// The next event, which must exist inside a collection.
    fn expect(&mut self, open: Span) -> Result<(Event<'a>, Span), ParseError> {
        let unclosed =
            || ParseError::Syntax { message: "this collection never ends".to_owned(), offset: open.start };
        self.next()?.ok_or_else(unclosed)
    }

    /// The anchor, which follows its node's event, and the tag.
    fn properties(&mut self, tag: Option<Tag>) -> Result<Option<Box<Properties<'a>>>, ParseError> {
        let mut anchor: Option<(Cow<'a, str>, Span)> = None;
        match self.next()? {
            Some((Event::Anchor { name }, span)) => anchor = Some((name, span)),
            other => self.ahead = other,
        }
        if anchor.is_none() && tag.is_none() {
            return Ok(None);
        }
        let tag = tag.map(|tag| Tag { span: tag.span.shifted(self.base), ..tag });
        Ok(Some(Box::new(Properties { anchor, tag })))
    }
}

/// A flow collection ends at its bracket. The events of a block collection, and of a single pair in a flow
/// list (`[key: value]`), lie at neighbouring tokens, so that their span is that of their children.
fn collection_span(
    start: Span,
    end: Span,
    style: CollectionStyle,
    first: Option<usize>,
    last: Option<&Node<'_>>,
) -> Span {
    if style == CollectionStyle::Flow && !end.is_empty() {
        return Span::new(start.start, end.end);
    }
    let from = first.unwrap_or(start.start).min(start.start);
    Span::new(from, last.map_or(from, |node| node.span.end).max(from))
}
