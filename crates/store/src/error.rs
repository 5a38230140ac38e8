//! The error of the store.

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

/// A reason why something was not done. Its kind says what a program may do about it.
#[derive(Debug)]
pub struct Error(Box<Inner>);

/// The kinds of errors; a command ends by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A path, a name or a value was given that makes no sense.
    Usage,
    /// There is no such file in the project.
    Missing,
    /// No event, session or commit has the name that was given.
    Unknown,
    /// No record has the id that was given.
    NoRecord,
    /// A system of records is used before it was begun.
    NotBegun,
    /// It may not be done now, or not by this actor.
    Refused,
    /// Something has that name already.
    Exists,
    /// Another program was faster: trying again helps.
    Conflict,
    /// Somebody else holds a lease.
    Held,
    /// A file or the system fails.
    Io,
    /// Nothing is left to do.
    Nothing,
    /// There is work, and it waits for other work.
    Waits,
    /// There is work, and only a person can go on.
    Person,
}

/// The state of the files of a change that ended with an error: whether they have their new content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteState {
    /// No file was changed: the command can be run again.
    NotWritten,
    /// The files have their new content, but for what the error names.
    Written,
    /// A part may have it: the next command that writes finishes it. A person has to look at kept bytes.
    Unknown,
}

type Source = Box<dyn StdError + Send + Sync>;

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    path: Option<ProjectPath>,
    /// `None` where the error is told as its source.
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

    /// An error that is told as `source`, which [`Error::detail`] finds again.
    pub fn told(kind: ErrorKind, source: impl Into<Source>) -> Self {
        Self::of(kind, None, Some(source.into()))
    }

    pub fn io(message: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::of(ErrorKind::Io, Some(message.into()), Some(source.into()))
    }

    /// The refusal of a change of the artifact at `path`.
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

    /// The same, with what helps a caller of tools.
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

    /// Returns whether nothing can be done now: nothing is left, or others come first.
    pub const fn is_idle(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Nothing | ErrorKind::Waits | ErrorKind::Person)
    }

    pub fn is_missing(&self) -> bool {
        self.0.kind == ErrorKind::Missing
    }

    /// The file that it is about, where it is about one.
    pub const fn path(&self) -> Option<&ProjectPath> {
        self.0.path.as_ref()
    }

    /// The help, where the message does not say it.
    pub fn remedy(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    pub fn remedy_of_tools(&self) -> Option<&str> {
        self.0.help_of_tools.as_deref()
    }

    /// The same, as the error of a change: nothing was written, where it does not say otherwise.
    pub fn unwritten(self) -> Self {
        let state = self.0.write_state.unwrap_or(WriteState::NotWritten);
        self.wrote(state)
    }

    pub(crate) fn wrote(mut self, state: WriteState) -> Self {
        self.0.write_state = Some(state);
        self
    }

    /// The same, where a system of records tells it: a command ends by it as by a refusal.
    #[cfg(feature = "write")]
    pub(crate) fn in_system(mut self) -> Self {
        (self.0.kind, self.0.help, self.0.write_state) = (ErrorKind::Refused, None, None);
        self
    }

    /// The state of the files that it is about; `None` where it is about no change.
    pub const fn write_state(&self) -> Option<WriteState> {
        self.0.write_state
    }

    /// The reason, where it is a `T`.
    pub fn detail<T: StdError + 'static>(&self) -> Option<&T> {
        self.0.source.as_deref()?.downcast_ref()
    }

    /// The reason, where it is a `T`; else the error as it is.
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

/// A constructor of each frequent kind.
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

/// The errors that are told as they are, each with its kind.
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
    /// The kind where nothing can be done now, and so much work is open.
    pub(crate) const fn idle(open: usize, is_for_person: bool) -> Self {
        match (open, is_for_person) {
            (_, true) => Self::Person,
            (0, false) => Self::Nothing,
            (_, false) => Self::Waits,
        }
    }
}

impl WriteState {
    /// The word for it in JSON: `not_written`, `written` or `unknown`.
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
    /// Returns whether another program's writing kept this change from being made: trying again later helps.
    pub fn is_conflict(&self) -> bool {
        self.0.kind == ErrorKind::Conflict
    }
}
