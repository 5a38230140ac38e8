//! The `stepmark` program: all of it lives in `stepmark-cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    stepmark_cli::run()
}
