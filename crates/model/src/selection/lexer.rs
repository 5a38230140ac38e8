//! A question cut into words and signs.

use super::{SelectionError, SelectionErrorKind};
use stepmark_frontmatter::Span;

/// A word or sign of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A bare word: a field, a keyword or a value.
    Word(String),
    /// A text in quotes: always a value.
    Text(String),
    /// A comparison.
    Operator(Operator),
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
}

/// A comparison of a field with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    Unequal,
    Holds,
    HoldsNot,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    /// Longer ones first, so that `<=` is not read as `<`.
    const ALL: [(&'static str, Self); 9] = [
        ("==", Self::Equal),
        ("!=", Self::Unequal),
        ("!~", Self::HoldsNot),
        ("<=", Self::LessOrEqual),
        (">=", Self::GreaterOrEqual),
        ("=", Self::Equal),
        ("~", Self::Holds),
        ("<", Self::Less),
        (">", Self::Greater),
    ];

    /// As it is written.
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "!=",
            Self::Holds => "~",
            Self::HoldsNot => "!~",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

/// Cuts `text` into tokens.
///
/// # Errors
/// When a text has no end, or a sign is none.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, SelectionError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (kind, length) = token(&text[at..])
            .map_err(|(kind, length)| SelectionError { span: Span::new(at, at + length), kind })?;
        tokens.push(Token { kind, span: Span::new(at, at + length) });
        at += length;
    }
    Ok(tokens)
}

/// The token that `rest`, which is not empty, begins with, and its length in bytes.
fn token(rest: &str) -> Result<(TokenKind, usize), (SelectionErrorKind, usize)> {
    for (sign, kind) in [("(", TokenKind::Open), (")", TokenKind::Close), (",", TokenKind::Comma)] {
        if rest.starts_with(sign) {
            return Ok((kind, sign.len()));
        }
    }
    if let Some((sign, operator)) = Operator::ALL.into_iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Ok((TokenKind::Operator(operator), sign.len()));
    }
    if let Some(quote) = rest.chars().next().filter(|first| matches!(first, '\'' | '"')) {
        return quoted(rest, quote);
    }
    let ends = |character: char| {
        character.is_whitespace()
            || matches!(character, '(' | ')' | ',' | '=' | '!' | '~' | '<' | '>' | '\'' | '"')
    };
    match rest.find(ends).unwrap_or(rest.len()) {
        0 => Err((SelectionErrorKind::Unexpected { wanted: "a field, a comparison or a value" }, 1)),
        length => Ok((TokenKind::Word(rest[..length].to_owned()), length)),
    }
}

/// A text in quotes; two quotes inside of it are one.
fn quoted(rest: &str, quote: char) -> Result<(TokenKind, usize), (SelectionErrorKind, usize)> {
    let mut text = String::new();
    let mut characters = rest.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if character != quote {
            text.push(character);
        } else if characters.next_if(|(_, next)| *next == quote).is_some() {
            text.push(quote);
        } else {
            return Ok((TokenKind::Text(text), at + quote.len_utf8()));
        }
    }
    Err((SelectionErrorKind::UnclosedText, rest.len()))
}
