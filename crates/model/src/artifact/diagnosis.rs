//! Oddities of an artifact; `check` turns them into findings.

use std::fmt;

use stepmark_frontmatter::{ParseError, RegionError, Span};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    pub problem: Problem,
    /// In bytes of the file.
    pub span: Span,
}

impl Diagnosis {
    pub const fn new(problem: Problem, span: Span) -> Self {
        Self { problem, span }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    FenceUnclosed,
    FrontmatterMisplaced,
    /// The heading above the state is missing or repeated.
    NoStateBlock {
        error: RegionError,
    },
    NotYaml {
        error: ParseError,
    },
    NotAMapping,
    /// Only the first YAML document is read.
    SeveralDocuments,
    KeyTwice {
        key: String,
    },
    /// `*name` without an anchor: `glob: *.md`.
    AliasUnresolved {
        name: String,
    },
    LineEndsMixed,
    /// Some readers see no frontmatter after it.
    ByteOrderMark,
    StepsNotAList {
        key: String,
    },
    StepEmpty {
        key: String,
    },
    StepUnreadable {
        key: String,
    },
    StepTwice {
        key: String,
        step: String,
    },
    StepKindsMixed {
        key: String,
    },
    /// `## stepsCompleted:` as a heading.
    StepsInBody,
    /// Readers change it or disagree: `1.10` becomes `1.1`, `012` becomes 10.
    NumberMisread {
        key: String,
        text: String,
    },
    /// YAML versions disagree, or a digit is lost: `0123`, `1:30`, `version: 1.10`.
    ReadDifferently {
        key: String,
        text: String,
    },
    /// A boolean in YAML 1.1, else text: `yes`, `off`.
    ReadAsBool {
        key: String,
        text: String,
    },
    /// ` #` begins a comment within a plain value.
    CutByComment {
        key: String,
        lost: String,
    },
    /// An unfilled placeholder: `{ system-date }`, `'{{date}}'`.
    TemplateUnfilled {
        key: String,
    },
    StatusNotText,
    StatusDisagrees {
        body: String,
        frontmatter: String,
    },
    AbsolutePath {
        path: String,
    },
    CurrentStepDisagrees {
        key: String,
    },
}

impl Problem {
    pub const fn hides_state(&self) -> bool {
        matches!(
            self,
            Self::FenceUnclosed
                | Self::FrontmatterMisplaced
                | Self::NoStateBlock { .. }
                | Self::NotYaml { .. }
                | Self::NotAMapping
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FenceUnclosed => out.write_str("the frontmatter that opens here is never closed"),
            Self::FrontmatterMisplaced => out
                .write_str("frontmatter counts only at the very start of a file; readers take this for text"),
            Self::NoStateBlock { error } => error.fmt(out),
            Self::NotYaml { error } => error.fmt(out),
            Self::NotAMapping => out.write_str("the frontmatter holds no keys"),
            Self::SeveralDocuments => out.write_str("only the first YAML document is read"),
            Self::KeyTwice { key } => {
                write!(out, "the key `{key}` stands twice, and readers disagree on which one counts")
            }
            Self::AliasUnresolved { name } => {
                write!(out, "`*{name}` is a reference to an anchor that does not exist")
            }
            Self::LineEndsMixed => out.write_str("lines of the frontmatter end in different ways"),
            Self::ByteOrderMark => out.write_str(
                "the file starts with a byte order mark; some readers see no frontmatter behind it",
            ),
            Self::StepsNotAList { key } => write!(out, "`{key}` is no list of steps"),
            Self::StepEmpty { key } => write!(out, "`{key}` has an empty item"),
            Self::StepUnreadable { key } => write!(out, "this item of `{key}` names no step"),
            Self::StepTwice { key, step } => write!(out, "`{step}` stands twice in `{key}`"),
            Self::StepKindsMixed { key } => write!(out, "`{key}` mixes numbers and names"),
            Self::StepsInBody => out.write_str("this heading holds state that no reader of frontmatter sees"),
            Self::NumberMisread { key, text } => {
                write!(out, "`{text}` in `{key}` is a number that readers change or disagree on")
            }
            Self::ReadDifferently { key, text } => {
                write!(out, "`{text}` in `{key}` is another value to some readers")
            }
            Self::ReadAsBool { key, text } => {
                write!(out, "`{text}` in `{key}` is a boolean to some readers and text to others")
            }
            Self::CutByComment { key, lost } => {
                write!(out, "the value of `{key}` ends here; readers take `{lost}` for a comment")
            }
            Self::TemplateUnfilled { key } => {
                write!(out, "`{key}` still holds the placeholder of its template")
            }
            Self::StatusNotText => out.write_str("`status` is no word"),
            Self::StatusDisagrees { body, frontmatter } => {
                write!(out, "the body says `Status: {body}`, the frontmatter says `status: {frontmatter}`")
            }
            Self::AbsolutePath { path } => write!(out, "`{path}` exists on one machine only"),
            Self::CurrentStepDisagrees { key } => write!(out, "`{key}` says something else"),
        }
    }
}
