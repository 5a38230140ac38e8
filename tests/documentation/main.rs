//! The book in `docs/` does what it says: transcripts are what the program prints, configuration is accepted,
//! links lead somewhere, and every page stands in the table of contents.
//!
//! * ` ```console ` — a transcript, run by trycmd in a project of the page's own. The page's first line may
//!   name the project, `<!-- project: NAME -->`: a copy of `fixtures/repos/NAME`; otherwise it is empty.
//! * ` ```yaml ` that begins with `# .stepmark/config.yaml` — stands in that file while the page's
//!   transcripts run.
//! * ` ```rust ` — a program, compiled and run in a copy of the demo project; the ` ```text ` after it is
//!   what it prints.
//! * ` ```shell ` — a transcript that wants real projects of BMAD: tests/interop/bmad/first_hour.py runs it.
//! * Other kinds are shown only. ` ```sh ` is none of them: what can be run is a transcript.
//!
//! `TRYCMD=overwrite cargo test --test documentation` writes what the program prints, and the programs of
//! `programs/`, into the pages.
#![expect(clippy::disallowed_methods, reason = "tests make, run and look at everything directly")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod book;
mod fences;
mod programs;
mod transcripts;
