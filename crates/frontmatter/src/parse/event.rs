//! Events of a YAML parser. The parser itself stays behind [`EventReader`], so that it can be exchanged.

use std::borrow::Cow;

use crate::{CollectionStyle, ScalarStyle, Span, Tag};

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
