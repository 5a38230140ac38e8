//! Tokens → a selection, checked against the types of fields.

use std::iter::Peekable;

use super::{
    FieldType, SelectionField,
    evaluate::{Expression, Literal, TimeLiteral},
};
use crate::artifact::Scope;
use stepmark_frontmatter::Span;

/// Of parentheses and `not`.
const DEPTH_LIMIT: usize = 64;

const BEGINNING: &str = "a field, `not` or `(`";

pub(super) fn parse(text: &str, keys: &[&'static str]) -> Result<Expression, SelectionError> {
    let end = Span::at(text.len());
    let mut parser = Parser { tokens: tokens(text)?.into_iter().peekable(), end, depth: 0, keys };
    let expression = parser.any()?;
    match parser.tokens.next() {
        None => Ok(expression),
        Some(left) => Err(unexpected("`and`, `or` or the end", left.span)),
    }
}

const fn unexpected(wanted: &'static str, span: Span) -> SelectionError {
    SelectionError { span, kind: SelectionErrorKind::Unexpected { wanted } }
}

struct Parser<'k> {
    keys: &'k [&'static str],
    tokens: Peekable<std::vec::IntoIter<Token>>,
    end: Span,
    depth: usize,
}

impl Parser<'_> {
    fn any(&mut self) -> Result<Expression, SelectionError> {
        let mut parts = vec![self.all()?];
        while self.takes_word("or") {
            parts.push(self.all()?);
        }
        Ok(single(parts, Expression::Any))
    }

    fn all(&mut self) -> Result<Expression, SelectionError> {
        let mut parts = vec![self.one()?];
        while self.takes_word("and") {
            parts.push(self.one()?);
        }
        Ok(single(parts, Expression::All))
    }

    fn one(&mut self) -> Result<Expression, SelectionError> {
        let Token { kind, span } = self.next(BEGINNING)?;
        match kind {
            TokenKind::Open => {
                let inner = self.deeper(span, Self::any)?;
                let close = self.next("`)`")?;
                if close.kind == TokenKind::Close { Ok(inner) } else { Err(unexpected("`)`", close.span)) }
            }
            TokenKind::Word(word) if is_keyword(&word, "not") && !self.compares_next() => {
                Ok(Expression::Not(Box::new(self.deeper(span, Self::one)?)))
            }
            TokenKind::Word(word) | TokenKind::Text(word) => {
                let field = SelectionField::named(&word, span, self.keys)?;
                self.comparison(field)
            }
            _ => Err(unexpected(BEGINNING, span)),
        }
    }

    fn deeper(
        &mut self,
        span: Span,
        read: fn(&mut Self) -> Result<Expression, SelectionError>,
    ) -> Result<Expression, SelectionError> {
        if self.depth == DEPTH_LIMIT {
            return Err(SelectionError { span, kind: SelectionErrorKind::TooDeep { limit: DEPTH_LIMIT } });
        }
        self.depth += 1;
        let inner = read(self);
        self.depth -= 1;
        inner
    }

    fn comparison(&mut self, field: SelectionField) -> Result<Expression, SelectionError> {
        const WANTED: &str = "a comparison (`=`, `~`, `<`, `in`, `is empty` …)";
        let Token { kind, span } = self.next(WANTED)?;
        match kind {
            TokenKind::Operator(operator) => {
                check_operator(field, operator, span)?;
                Ok(Expression::Compare { field, operator, value: self.value(field)? })
            }
            TokenKind::Word(word) if is_keyword(&word, "in") => self.members(field),
            TokenKind::Word(word) if is_keyword(&word, "not") => {
                let follows = self.next("`in`")?;
                match follows.kind {
                    TokenKind::Word(word) if is_keyword(&word, "in") => {
                        Ok(Expression::Not(Box::new(self.members(field)?)))
                    }
                    _ => Err(unexpected("`in`", follows.span)),
                }
            }
            TokenKind::Word(word) if is_keyword(&word, "is") => {
                let is_negated = self.takes_word("not");
                if !self.takes_word("empty") {
                    let at = self.tokens.peek().map_or(self.end, |token| token.span);
                    return Err(unexpected("`empty`", at));
                }
                let is_empty = Expression::IsEmpty(field);
                Ok(if is_negated { Expression::Not(Box::new(is_empty)) } else { is_empty })
            }
            _ => Err(unexpected(WANTED, span)),
        }
    }

    fn members(&mut self, field: SelectionField) -> Result<Expression, SelectionError> {
        let open = self.next("`(`")?;
        if open.kind != TokenKind::Open {
            return Err(unexpected("`(`", open.span));
        }
        let mut values = vec![self.value(field)?];
        loop {
            let Token { kind, span } = self.next("`,` or `)`")?;
            match kind {
                TokenKind::Comma => values.push(self.value(field)?),
                TokenKind::Close => return Ok(Expression::In { field, values }),
                _ => return Err(unexpected("`,` or `)`", span)),
            }
        }
    }

    fn value(&mut self, field: SelectionField) -> Result<Literal, SelectionError> {
        let Token { kind, span } = self.next("a value")?;
        let (TokenKind::Word(text) | TokenKind::Text(text)) = kind else {
            return Err(unexpected("a value", span));
        };
        let literal = match field.kind() {
            FieldType::Text | FieldType::Status => Some(Literal::Text(text.clone())),
            FieldType::Number => text.trim_end_matches('%').parse().ok().map(Literal::Number),
            FieldType::Scope => match Scope::read(&text) {
                Scope::Unknown(_) => None,
                scope => Some(Literal::Scope(scope)),
            },
            FieldType::Time => TimeLiteral::parse(&text).map(Literal::Time),
        };
        literal.ok_or_else(|| {
            let (field, kind) = (field.name(), field.kind());
            SelectionError { span, kind: SelectionErrorKind::WrongValue { field, value: text, kind } }
        })
    }

    fn next(&mut self, wanted: &'static str) -> Result<Token, SelectionError> {
        self.tokens.next().ok_or_else(|| unexpected(wanted, self.end))
    }

    fn takes_word(&mut self, keyword: &str) -> bool {
        let is_it = |token: &Token| matches!(&token.kind, TokenKind::Word(word) if is_keyword(word, keyword));
        self.tokens.next_if(is_it).is_some()
    }

    /// Then the word before was meant as a field.
    fn compares_next(&mut self) -> bool {
        self.tokens.peek().is_some_and(|token| matches!(token.kind, TokenKind::Operator(_)))
    }
}

fn is_keyword(word: &str, keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword)
}

fn single(mut parts: Vec<Expression>, several: fn(Vec<Expression>) -> Expression) -> Expression {
    if parts.len() == 1 { parts.swap_remove(0) } else { several(parts) }
}

/// Texts have no order, and only texts contain others.
fn check_operator(field: SelectionField, operator: Operator, span: Span) -> Result<(), SelectionError> {
    let makes_sense = match operator {
        Operator::Equal | Operator::Unequal => true,
        Operator::Holds | Operator::HoldsNot => matches!(field.kind(), FieldType::Text | FieldType::Status),
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
            field.kind() != FieldType::Text
        }
    };
    if makes_sense {
        return Ok(());
    }
    let (field, kind, operator) = (field.name(), field.kind(), operator.sign());
    Err(SelectionError { span, kind: SelectionErrorKind::NoSuchComparison { field, operator, kind } })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A field, a keyword or a value.
    Word(String),
    /// Always a value.
    Text(String),
    Operator(Operator),
    Open,
    Close,
    Comma,
}

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
    /// Longer ones first: `<=` before `<`.
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

/// `rest` is not empty. Returns the length in bytes, too.
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

/// A doubled quote is one quote.
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

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct SelectionError {
    pub span: Span,
    pub kind: SelectionErrorKind,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionErrorKind {
    #[error("no field is called `{name}`")]
    UnknownField { name: String, near: Vec<String> },
    #[error("{wanted} is wanted here")]
    Unexpected { wanted: &'static str },
    #[error("this text has no closing quote")]
    UnclosedText,
    #[error("this stands deeper than {limit} parentheses and `not`")]
    TooDeep { limit: usize },
    #[error("`{operator}` cannot be asked of `{field}`, which is {kind}")]
    NoSuchComparison { field: &'static str, operator: &'static str, kind: FieldType },
    #[error("`{field}` is {kind}, and `{value}` is none")]
    WrongValue { field: &'static str, value: String, kind: FieldType },
}

impl SelectionError {
    pub fn help(&self) -> Option<String> {
        match &self.kind {
            SelectionErrorKind::UnknownField { near, .. } => Some(match near.as_slice() {
                [] => format!(
                    "the fields are {}",
                    super::SelectionField::ALL.map(super::SelectionField::name).join(", ")
                ),
                near => format!(
                    "is `{}` meant? The fields are {}",
                    near.join("` or `"),
                    super::SelectionField::ALL.map(super::SelectionField::name).join(", ")
                ),
            }),
            SelectionErrorKind::NoSuchComparison { kind, .. } => Some(
                match kind {
                    FieldType::Text => {
                        "texts are compared with `=`, `!=`, `~` (holds), `!~`, `in (…)` and `is empty`"
                    }
                    FieldType::Status | FieldType::Scope | FieldType::Number | FieldType::Time => {
                        "`=`, `!=`, `<`, `<=`, `>`, `>=`, `in (…)` and `is empty` can be asked"
                    }
                }
                .to_owned(),
            ),
            SelectionErrorKind::WrongValue { kind, .. } => match kind {
                FieldType::Scope => Some("scopes are micro, small, medium, large and epic".to_owned()),
                FieldType::Time => {
                    Some("write a day as `2026-01-31`, a moment as `2026-01-31T09:30:00Z`".to_owned())
                }
                FieldType::Number => Some("write a whole number".to_owned()),
                FieldType::Text | FieldType::Status => None,
            },
            SelectionErrorKind::UnclosedText => Some("a quote inside of a text is written twice".to_owned()),
            SelectionErrorKind::Unexpected { .. } | SelectionErrorKind::TooDeep { .. } => None,
        }
    }
}

impl std::fmt::Display for FieldType {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Text => "a text",
            Self::Status => "a status",
            Self::Scope => "a scope",
            Self::Number => "a whole number",
            Self::Time => "a time",
        })
    }
}
