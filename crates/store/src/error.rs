//! The store's error.

use std::{
    error::Error as StdError,
    fmt::{self, Display, Formatter},
    io,
};

use stepmark_model::{
    artifact::{ProjectPath, ProjectPathError},
    asdd::AsddRefusal,
    autodev::AutodevRefusal,
    coordination::{FormatError, TaskRefusal},
    flows::FlowRefusal,
    transition::TransitionRefusal,
};

/// The kind says what a program may do about it.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    Usage,
    Missing,
    Unknown,
    NoRecord,
    /// A system of records is used before its start.
    NotBegun,
    Refused,
    Exists,
    /// Another program was faster: retry.
    Conflict,
    Held,
    Io,
    Nothing,
    /// The remaining work waits for other work.
    Waits,
    /// The remaining work needs a person.
    Person,
}

/// The state of a failed change's files: do they have their new content?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteState {
    /// No file was changed: the command can be run again.
    NotWritten,
    /// The files have their new content, except what the error names.
    Written,
    /// Possibly in part: the next writing command finishes it. A person must look at kept bytes.
    Unknown,
}

type Source = Box<dyn StdError + Send + Sync>;

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    path: Option<ProjectPath>,
    /// `None` if the source is the message.
    message: Option<String>,
    help: Option<String>,
    help_of_tools: Option<String>,
    source: Option<Source>,
    write_state: Option<WriteState>,
}

impl Error {
    fn of(kind: ErrorKind, message: Option<String>, source: Option<Source>) -> Self {
        Self(Box::new(Inner {
            kind,
            path: None,
            message,
            help: None,
            help_of_tools: None,
            source,
            write_state: None,
        }))
    }

    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::of(kind, Some(message.into()), None)
    }

    /// Shows `source` as the message; [`Error::detail`] finds it.
    pub fn told(kind: ErrorKind, source: impl Into<Source>) -> Self {
        Self::of(kind, None, Some(source.into()))
    }

    pub fn io(message: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::of(ErrorKind::Io, Some(message.into()), Some(source.into()))
    }

    pub fn left(path: &ProjectPath, refusal: TransitionRefusal) -> Self {
        let is_usage = matches!(refusal, TransitionRefusal::EmptyStep);
        let kind = if is_usage { ErrorKind::Usage } else { ErrorKind::Refused };
        Self::new(kind, format!("`{path}` is left as it is")).because(refusal).at(path).unwritten()
    }

    pub(crate) fn missing(path: ProjectPath) -> Self {
        Self::new(ErrorKind::Missing, format!("there is no file `{path}` in the project"))
            .help("`stepmark status` lists the artifacts")
            .at(&path)
    }

    pub(crate) fn unreadable(path: &ProjectPath, source: io::Error) -> Self {
        let is_folder = source.kind() == io::ErrorKind::IsADirectory;
        let error = Self::io(format!("cannot read `{path}`"), source).at(path);
        if is_folder { error.help("name a file in it") } else { error }
    }

    pub fn because(mut self, source: impl Into<Source>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// Adds help for callers of tools.
    pub fn help_of_tools(mut self, help: impl Into<String>) -> Self {
        self.0.help_of_tools = Some(help.into());
        self
    }

    pub(crate) fn at(mut self, path: &ProjectPath) -> Self {
        self.0.path = Some(path.clone());
        self
    }

    pub const fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// True if nothing can be done now: nothing is left, or others come first.
    pub const fn is_idle(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Nothing | ErrorKind::Waits | ErrorKind::Person)
    }

    pub fn is_missing(&self) -> bool {
        self.0.kind == ErrorKind::Missing
    }

    pub const fn path(&self) -> Option<&ProjectPath> {
        self.0.path.as_ref()
    }

    /// Only if the message does not include it.
    pub fn remedy(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    pub fn remedy_of_tools(&self) -> Option<&str> {
        self.0.help_of_tools.as_deref()
    }

    /// Marks it as the error of a change that wrote nothing, unless it says otherwise.
    pub fn unwritten(self) -> Self {
        let state = self.0.write_state.unwrap_or(WriteState::NotWritten);
        self.wrote(state)
    }

    pub(crate) fn wrote(mut self, state: WriteState) -> Self {
        self.0.write_state = Some(state);
        self
    }

    /// For systems of records: the exit code is that of a refusal.
    #[cfg(feature = "write")]
    pub(crate) fn in_system(mut self) -> Self {
        (self.0.kind, self.0.help, self.0.write_state) = (ErrorKind::Refused, None, None);
        self
    }

    /// `None` if it is about no change.
    pub const fn write_state(&self) -> Option<WriteState> {
        self.0.write_state
    }

    pub fn detail<T: StdError + 'static>(&self) -> Option<&T> {
        self.0.source.as_deref()?.downcast_ref()
    }

    #[cfg(feature = "write")]
    pub(crate) fn into_detail<T: StdError + 'static>(mut self) -> Result<T, Self> {
        match self.0.source.take().map(<dyn StdError + Send + Sync>::downcast) {
            Some(Ok(detail)) => Ok(*detail),
            Some(Err(source)) => Err(self.because(source)),
            None => Err(self),
        }
    }
}

impl Display for Error {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match (&self.0.message, &self.0.source) {
            (Some(message), _) => formatter.write_str(message),
            (None, Some(source)) => source.fmt(formatter),
            (None, None) => Ok(()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        let source = self.0.source.as_deref()?;
        if self.0.message.is_some() { Some(source) } else { source.source() }
    }
}

macro_rules! kinds {
    ($($name:ident: $kind:ident,)+) => {
        impl Error {
            $(pub fn $name(message: impl Into<String>) -> Self {
                Self::new(ErrorKind::$kind, message)
            })+
        }
    };
}

kinds! {
    usage: Usage,
    unknown: Unknown,
    no_record: NoRecord,
    not_begun: NotBegun,
    refused: Refused,
    exists: Exists,
}

macro_rules! told {
    ($($error:ty: $kind:ident,)+) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::told(ErrorKind::$kind, error)
            }
        })+
    };
}

told! {
    ProjectPathError: Usage,
    TaskRefusal: Refused,
    FormatError: Refused,
    AutodevRefusal: Refused,
}

impl From<AsddRefusal> for Error {
    fn from(refusal: AsddRefusal) -> Self {
        let is_outdated = matches!(refusal, AsddRefusal::Outdated { .. });
        Self::told(if is_outdated { ErrorKind::Conflict } else { ErrorKind::Refused }, refusal)
    }
}

impl From<FlowRefusal> for Error {
    fn from(refusal: FlowRefusal) -> Self {
        let kind = match &refusal {
            FlowRefusal::NothingReady { waiting, running, failed, .. } => {
                ErrorKind::idle(waiting + running, *running == 0 && *failed > 0)
            }
            _ => ErrorKind::Refused,
        };
        Self::told(kind, refusal)
    }
}

impl ErrorKind {
    /// `open`: the amount of open work.
    pub(crate) const fn idle(open: usize, is_for_person: bool) -> Self {
        match (open, is_for_person) {
            (_, true) => Self::Person,
            (0, false) => Self::Nothing,
            (_, false) => Self::Waits,
        }
    }
}

impl WriteState {
    /// The word in JSON: `not_written`, `written` or `unknown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotWritten => "not_written",
            Self::Written => "written",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(feature = "write")]
impl Error {
    /// True if another program's write prevented this change: retry later.
    pub fn is_conflict(&self) -> bool {
        self.0.kind == ErrorKind::Conflict
    }
}
