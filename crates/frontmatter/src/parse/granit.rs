//! `granit-parser` as an [`EventReader`]: the only file that knows it. docs/design.md ("Edits") lists its
//! span traps; those that concern single events are straightened here, those that concern layout in
//! `edit/layout`.

use std::borrow::Cow;

use crate::{CollectionStyle, ScalarStyle, Span, Tag, TagKind};
use granit_parser::{Event as Granit, Parser, ScalarStyle as GranitScalar, StrInput, StructureStyle};

pub(super) struct GranitReader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    text: &'a str,
}

impl<'a> GranitReader<'a> {
    pub(super) fn new(text: &'a str, comments: Comments, depth_limit: usize) -> Self {
        let mut options = granit_parser::options! {
            // Aliases without an anchor are real (`glob: *.md`): a finding for us, not the end of reading.
            emit_unresolved_aliases: true,
            emit_anchor_events: true,
            // Real files comment at length; the 1 MiB limit bounds this.
            max_buffered_comment_events: 1 << 16,
            flow_nesting_limit: depth_limit,
            block_nesting_limit: depth_limit,
        };
        options.set_emit_comments(comments == Comments::Keep);
        Self { parser: Parser::new_from_str_with_options(text, options), text }
    }
}

impl<'a> EventReader<'a> for GranitReader<'a> {
    fn next_event(&mut self) -> Option<Result<(Event<'a>, Span), SyntaxError>> {
        loop {
            let (event, span) = match self.parser.next()? {
                Ok(next) => next,
                Err(error) => return Some(Err(syntax_error(&error))),
            };
            let tag_span = span.tag_span().and_then(|span| span.byte_range()).map(Span::from);
            let tag = |tag: Option<&granit_parser::Tag>| Some(Tag { span: tag_span?, kind: tag_kind(tag?) });
            let place = span.byte_range().map(Span::from).unwrap_or_default();
            let event = match event {
                Granit::DocumentStart(..) => Event::DocumentStart,
                Granit::Scalar(text, style, _, own) => {
                    let tag = tag(own.as_deref());
                    let style = scalar_style(style);
                    // A missing value is reported as `~` with an empty span; an empty text tells the two
                    // apart.
                    let missing = style == ScalarStyle::Plain && place.is_empty();
                    Event::Scalar { style, text: if missing { "".into() } else { text }, tag }
                }
                Granit::SequenceStart(style, _, own) => {
                    Event::SequenceStart { style: collection_style(style), tag: tag(own.as_deref()) }
                }
                Granit::MappingStart(style, _, own) => {
                    Event::MappingStart { style: collection_style(style), tag: tag(own.as_deref()) }
                }
                Granit::SequenceEnd | Granit::MappingEnd => Event::End,
                Granit::Anchor(_, name) => Event::Anchor { name },
                Granit::Alias(_) | Granit::UnresolvedAlias(_) => {
                    let name = self.text.get(place.range()).unwrap_or_default();
                    Event::Alias { name: name.strip_prefix('*').unwrap_or(name).into() }
                }
                Granit::Comment(text, _) => Event::Comment { text },
                _ => continue,
            };
            return Some(Ok((event, place)));
        }
    }
}

fn syntax_error(error: &granit_parser::ScanError) -> SyntaxError {
    SyntaxError {
        offset: error.marker().byte_offset().unwrap_or_default(),
        message: error.info(),
        too_deep: matches!(error.kind(), granit_parser::ErrorKind::RecursionLimitExceeded),
    }
}

fn tag_kind(tag: &granit_parser::Tag) -> TagKind {
    let names_scalar = ["int", "float", "bool", "null"].iter().any(|name| tag.is_yaml_core_schema_tag(name));
    if names_scalar { TagKind::CoreScalar } else { TagKind::Other }
}

fn scalar_style(style: GranitScalar) -> ScalarStyle {
    match style {
        GranitScalar::SingleQuoted => ScalarStyle::SingleQuoted,
        GranitScalar::DoubleQuoted => ScalarStyle::DoubleQuoted,
        GranitScalar::Literal => ScalarStyle::Literal,
        GranitScalar::Folded => ScalarStyle::Folded,
        _ => ScalarStyle::Plain,
    }
}

fn collection_style(style: StructureStyle) -> CollectionStyle {
    match style {
        StructureStyle::Flow => CollectionStyle::Flow,
        StructureStyle::Block => CollectionStyle::Block,
    }
}

/// One parse event; its span counts bytes of the text that was given to the parser.
#[derive(Debug)]
pub(super) enum Event<'a> {
    DocumentStart,
    Scalar {
        style: ScalarStyle,
        text: Cow<'a, str>,
        tag: Option<Tag>,
    },
    SequenceStart {
        style: CollectionStyle,
        tag: Option<Tag>,
    },
    MappingStart {
        style: CollectionStyle,
        tag: Option<Tag>,
    },
    /// End of the innermost open sequence or mapping.
    End,
    /// `&name` of the node whose event came right before.
    Anchor {
        name: Cow<'a, str>,
    },
    Alias {
        name: Cow<'a, str>,
    },
    /// The text after `#`.
    Comment {
        text: Cow<'a, str>,
    },
}

/// A syntax error, and its offset.
#[derive(Debug)]
pub(super) struct SyntaxError {
    pub(super) offset: usize,
    pub(super) message: String,
    /// The text nests deeper than the parser was told to allow.
    pub(super) too_deep: bool,
}

/// The choice to collect comments: edits need them to prove that none was lost, plain reading does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comments {
    Keep,
    Skip,
}

/// A source of events in document order.
pub(super) trait EventReader<'a> {
    /// The next event with its span, `None` at the end of the text.
    fn next_event(&mut self) -> Option<Result<(Event<'a>, Span), SyntaxError>>;
}
