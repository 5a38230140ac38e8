//! Output: results on stdout, messages and progress on stderr.

pub(crate) mod findings;
mod list_arguments;
pub(crate) mod replay;
mod report;
pub(crate) mod spinner;
pub(crate) mod svg;
mod table;
pub(crate) mod wire;

use std::{
    fmt::Display,
    io::{self, IsTerminal as _, Write},
    sync::{Mutex, OnceLock, PoisonError},
};

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use stepmark_store::commit::WriteState;
use stepmark_view::wording::visible;
pub(crate) use stepmark_view::wording::{history, on_one_line};

use crate::{
    arguments::{ColorChoice, OutputArguments},
    exit::{Exit, Failure},
};

pub(crate) use list_arguments::{ListArguments, Row, keep_fields};
pub(crate) use replay::unified_diff;
pub(crate) use report::Excerpt;
pub(crate) use report::{marked_place, question_report};
pub(crate) use spinner::{with_progress, with_spinner};
pub(crate) use table::{bar, long_table, table};
pub(crate) use table::{fitted, folded, line_width, width};

answers! { Answer<'a>
    /// The reason why a command did not do what it was asked for, on stderr
    "stepmark.error/1" Error {
        error: &'a str, causes: &'a [String], help: Option<&'a str>, write_state: Option<&'a str>, exit: u8,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Person,
    Program,
}

pub(crate) fn warning(text: impl Display) {
    let style = AnsiColor::Yellow.on_default().bold();
    complain(format_args!("{style}warning{style:#}: {}", visible(&text.to_string())));
}

#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    refused: OnceLock<io::Error>,
    waiting: Mutex<Option<String>>,
}

impl Output {
    pub(crate) fn new(arguments: &OutputArguments) -> Self {
        match arguments.color {
            ColorChoice::Auto => {}
            ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
            ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
        }
        Self {
            json: arguments.json,
            quiet: arguments.quiet,
            refused: OnceLock::new(),
            waiting: Mutex::default(),
        }
    }

    pub(crate) fn begin(&self, folder: &str, is_first: bool) {
        if self.quiet {
            *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("{folder}:"));
            return;
        }
        if !is_first {
            self.line("");
        }
        self.line(format_args!("{folder}:"));
    }

    fn heading(&self) -> Option<String> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take().map(|heading| visible(&heading))
    }

    pub(crate) fn line(&self, text: impl Display) {
        self.styled_line(fitting(&visible(&text.to_string()), line_width()));
    }

    pub(crate) fn styled_line(&self, text: impl AsRef<str>) {
        if !self.json {
            let heading = self.heading();
            let text = text.as_ref();
            self.print(|stdout| {
                heading.iter().try_for_each(|heading| writeln!(stdout, "{heading}"))?;
                // Fast path: most texts have no styles.
                match text.contains('\u{1b}') {
                    true => stdout.write_all(text.as_bytes())?,
                    false => io::stdout().write_all(text.as_bytes())?,
                }
                stdout.write_all(b"\n")
            });
        }
    }

    pub(crate) fn remark(&self, text: impl Display) {
        if !self.quiet {
            self.line(text);
        }
    }

    pub(crate) fn warning(&self, text: impl Display) {
        if !self.json {
            self.heading().iter().for_each(complain);
        }
        warning(text);
    }

    pub(crate) fn note(&self, text: impl Display) {
        if !self.quiet {
            let style = AnsiColor::Cyan.on_default().bold();
            complain(format_args!("{style}note{style:#}: {}", visible(&text.to_string())));
        }
    }

    /// Styles are for people only; programs get the text unchanged.
    pub(crate) fn rendered(&self, text: &str, reader: Reader) {
        match reader {
            Reader::Person if text.is_empty() => {}
            Reader::Person => {
                let heading = self.heading();
                self.print(|stdout| {
                    heading.iter().try_for_each(|heading| writeln!(stdout, "{heading}"))?;
                    stdout.write_all(fitting(text, line_width()).as_bytes())
                });
            }
            Reader::Program => self.bytes(text.as_bytes()),
        }
    }

    pub(crate) fn has_colours(&self) -> bool {
        anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
    }

    /// The answer as JSON, where that is wanted.
    pub(crate) fn answer<T: Serialize>(&self, answer: impl FnOnce() -> T) {
        if self.json {
            // What is said of a project is texts, numbers and lists: it cannot fail.
            let answer = serde_json::to_value(answer()).unwrap_or_default();
            let text = escaped(answer.to_string());
            self.print(|_| writeln!(io::stdout(), "{text}"));
        }
    }

    /// The answer as JSON where that is wanted, else as `text` prints it.
    pub(crate) fn answer_or<T: Serialize>(&self, answer: impl FnOnce() -> T, text: impl FnOnce()) {
        if self.json { self.answer(answer) } else { text() }
    }

    pub(crate) fn bytes(&self, bytes: &[u8]) {
        if io::stdout().is_terminal() {
            let text = visible(&String::from_utf8_lossy(bytes));
            return self.print(|_| io::stdout().write_all(text.as_bytes()));
        }
        self.print(|_| io::stdout().write_all(bytes));
    }

    fn print(&self, write: impl FnOnce(&mut anstream::AutoStream<io::Stdout>) -> io::Result<()>) {
        if self.refused.get().is_none()
            && let Err(error) = write(&mut anstream::stdout())
        {
            // Only the first reason counts.
            let _first = self.refused.set(error);
        }
    }

    pub(crate) fn asks(&self, question: impl Display) -> Result<bool, Failure> {
        if self.json || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Ok(false);
        }
        self.line(format_args!("{question} [y]es, [n]o"));
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer);
        read.map_err(|error| Failure::new(Exit::Io, format!("cannot read the answer: {error}")))?;
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    }

    pub(crate) fn is_read(&self) -> bool {
        self.refused.get().is_none()
    }

    /// A reader that closes early (`| head`) is no failure.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        self.print(|_| io::stdout().flush());
        match self.refused.get() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let failure = Failure::new(Exit::Io, format!("cannot write the result: {error}"));
                Err(failure.with_help("only the answer is lost: what the command did stands"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn failure(&self, failure: &Failure) -> Exit {
        if self.json {
            return Self::failure_as_json(failure);
        }
        self.heading().iter().for_each(complain);
        if let Some(report) = &failure.report {
            complain(report);
            return failure.exit;
        }
        let (red, blue) = (AnsiColor::Red.on_default().bold(), Style::new().bold());
        complain(format_args!("{red}error{red:#}: {}", visible(&failure.message)));
        for cause in &failure.causes {
            complain(format_args!("  {blue}cause{blue:#}: {}", visible(cause)));
        }
        if let Some(help) = &failure.help {
            complain(format_args!("  {blue}help{blue:#}: {}", visible(help)));
        }
        failure.exit
    }
}

impl Output {
    pub(crate) fn failure_as_json(failure: &Failure) -> Exit {
        let answer = Answer::Error {
            error: &failure.message,
            causes: &failure.causes,
            help: failure.help.as_deref(),
            write_state: failure.write_state.map(WriteState::as_str),
            exit: failure.exit as u8,
        };
        // Texts and a number: it cannot fail.
        let answer = serde_json::to_string(&answer).unwrap_or_default();
        let _unheard = writeln!(io::stderr(), "{answer}");
        failure.exit
    }
}

/// Escapes characters that a terminal interprets or nobody sees: equal for programs.
fn escaped(text: String) -> String {
    if text.is_ascii() && !text.contains('\x7f') || visible(&text) == text {
        return text;
    }
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        let alone = letter.to_string();
        if letter.is_ascii_graphic() || visible(&alone) == alone {
            escaped.push(letter);
        } else {
            let mut units = [0; 2];
            letter
                .encode_utf16(&mut units)
                .iter()
                .for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
        }
    }
    escaped
}

/// If stderr fails, the exit code remains.
fn complain(text: impl Display) {
    let _unheard = writeln!(anstream::stderr(), "{}", fitting(&text.to_string(), table::error_width()));
}

fn fitting(text: &str, columns: usize) -> String {
    if columns == usize::MAX {
        return text.to_owned();
    }
    let is_of_file = |line: &str| {
        let line = anstream::adapter::strip_str(line).to_string();
        line.trim_start().starts_with(|first: char| first.is_ascii_digit() || "|^".contains(first))
    };
    let fit = |line: &str| if is_of_file(line) { line.to_owned() } else { folded(line, columns) };
    let lines: Vec<String> = text.split('\n').map(fit).collect();
    lines.join("\n")
}
