//! `stepmark sync run`

mod asdd_monitor;
mod memory_delivery;
mod generation;
mod log;
mod metrics_server;
mod service_manager;
mod supervisor;

use std::net::SocketAddr;

use clap::{Args, ValueEnum};

use self::{generation::Generation, supervisor::Supervisor};
use crate::{
    environment::Environment,
    exit::{Exit, Failure},
    project::Project,
};

/// Keep tickets in step for as long as this runs: watches the project, and logs changes on stderr
///
/// Several of these on one project wait for each other; when one dies, another takes over. SIGTERM or SIGINT
/// ends it after the request in flight, SIGHUP reads the configuration and credentials again. `stepmark sync
/// install` lets the system start it.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// How lines on stderr are written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
    /// Serve `/metrics` (for Prometheus) and `/healthz` at this address of this machine, such as
    /// `127.0.0.1:9464`
    #[arg(long, value_name = "ADDRESS", value_parser = loopback)]
    metrics: Option<SocketAddr>,
}

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

/// An address that only this machine reaches: what is served there names artifacts' states, and nobody is
/// asked for a password.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr =
        text.parse().map_err(|_| "an address with a port is wanted, such as 127.0.0.1:9464".to_owned())?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err("only an address of this machine (127.0.0.1 or [::1]) is served".to_owned())
    }
}

impl Run {
    pub(super) fn run(
        &self,
        project: &dyn Fn() -> Result<Project, Failure>,
        environment: &Environment,
        tracker: Option<&str>,
    ) -> Result<Exit, Failure> {
        log::start(self.log_format);
        let open = || Generation::open(project()?, environment, tracker);
        Supervisor { open: &open, metrics: self.metrics }.run()?;
        Ok(Exit::Fine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_served() {
        for (text, is_served) in [
            ("127.0.0.1:9464", true),
            ("127.8.0.1:1", true),
            ("[::1]:0", true),
            ("0.0.0.0:9464", false),
            ("[::]:9464", false),
            ("192.168.1.5:9464", false),
            ("localhost:9464", false),
            ("9464", false),
        ] {
            assert_eq!(loopback(text).is_ok(), is_served, "{text}");
        }
    }
}
