//! What the program prints, and where: results on stdout, messages and progress on stderr.
#![expect(clippy::disallowed_macros, reason = "this is the one place that prints")]

mod report;
mod spinner;
mod table;
pub(crate) mod wire;
pub(crate) mod wording;

use std::io::Write;

use anstream::{eprintln, println};
use anstyle::{AnsiColor, Style};

use crate::{
    arguments::{ColorChoice, OutputArguments},
    exit::{Exit, Failure},
};

pub(crate) use report::Excerpt;
pub(crate) use spinner::with_spinner;
pub(crate) use table::{bar, table};

/// The program's voice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Output {
    pub(crate) fn new(arguments: &OutputArguments) -> Self {
        match arguments.color {
            ColorChoice::Auto => {}
            ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
            ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
        }
        Self { json: arguments.json, quiet: arguments.quiet }
    }

    /// A line of the result.
    pub(crate) fn line(&self, text: impl std::fmt::Display) {
        if !self.json {
            println!("{text}");
        }
    }

    /// A line that `--quiet` leaves out.
    pub(crate) fn remark(&self, text: impl std::fmt::Display) {
        if !self.json && !self.quiet {
            println!("{text}");
        }
    }

    /// Something to look at that does not stop the command.
    pub(crate) fn warning(&self, text: impl std::fmt::Display) {
        let style = AnsiColor::Yellow.on_default().bold();
        eprintln!("{style}warning{style:#}: {text}");
    }

    /// The result as JSON; `schema` names its shape and version.
    pub(crate) fn json(&self, schema: &str, result: serde_json::Value) -> Result<(), Failure> {
        let mut object = serde_json::Map::new();
        object.insert("schema".to_owned(), schema.into());
        if let serde_json::Value::Object(fields) = result {
            object.extend(fields);
        }
        let text = serde_json::Value::Object(object).to_string();
        let mut stdout = std::io::stdout().lock();
        let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
        written.map_err(|error| Failure::new(Exit::Io, format!("cannot write the result: {error}")))
    }

    /// Bytes that are the result themselves: a completion script, a page.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
        written.map_err(|error| Failure::new(Exit::Io, format!("cannot write the result: {error}")))
    }

    /// Reports why the command did not do what it was asked for.
    pub(crate) fn failure(&self, failure: &Failure) -> Exit {
        if self.json {
            let object = serde_json::json!({
                "schema": "stepmark.error/1",
                "error": failure.message,
                "causes": failure.causes,
                "help": failure.help,
                "exit": failure.exit as u8,
            });
            eprintln!("{object}");
            return failure.exit;
        }
        let (red, blue) = (AnsiColor::Red.on_default().bold(), Style::new().bold());
        eprintln!("{red}error{red:#}: {}", failure.message);
        for cause in &failure.causes {
            eprintln!("  {blue}cause{blue:#}: {cause}");
        }
        if let Some(help) = &failure.help {
            eprintln!("  {blue}help{blue:#}: {help}");
        }
        failure.exit
    }
}
