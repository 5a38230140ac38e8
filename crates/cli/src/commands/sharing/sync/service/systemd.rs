//! The user unit of systemd (its manuals, "systemd.service" and "systemd.unit").

use std::path::Path;

use super::Service;
use crate::exit::{Exit, Failure};

/// After how many seconds without a sign of life the process is started again. It gives one twice as often;
/// reading a very large project or asking a key ring takes a while.
const WATCHDOG_SECONDS: u64 = 300;

/// The restrictions that take away what the process never needs. It writes in the project, in git's folder of
/// it, and in the user's own folders for state and configuration, all below the home, which a tracker's
/// program of credentials may want, too: so that stays as it is.
const HARDENING: &str = "NoNewPrivileges=yes\n\
    ProtectSystem=full\n\
    ProtectKernelTunables=yes\n\
    ProtectKernelModules=yes\n\
    ProtectKernelLogs=yes\n\
    ProtectControlGroups=yes\n\
    ProtectClock=yes\n\
    ProtectHostname=yes\n\
    LockPersonality=yes\n\
    RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK\n\
    RestrictRealtime=yes\n\
    RestrictSUIDSGID=yes\n\
    SystemCallArchitectures=native\n";

/// The unit of `service`. Variables stand in `environment_file`, which need not exist.
///
/// # Errors
/// When a path holds what no unit can.
pub(super) fn unit(service: &Service, environment_file: &Path) -> Result<String, Failure> {
    let words = service.words.iter().map(|word| quoted(word)).collect::<Result<Vec<_>, _>>()?;
    let variables = service
        .variables
        .iter()
        .map(|(name, value)| Ok(format!("Environment={}\n", quoted_value(&format!("{name}={value}"))?)))
        .collect::<Result<String, Failure>>()?;
    let environment_file = plain(&environment_file.display().to_string())?;
    let (root, command) = (plain(&service.root)?, words.join(" "));
    let stop_limit = service.stop_limit.as_secs();
    Ok(format!(
        "[Unit]\n\
         Description=stepmark sync for {root}\n\
         Wants=network-online.target\n\
         After=network-online.target\n\
         StartLimitIntervalSec=0\n\
         \n\
         [Service]\n\
         Type=notify\n\
         NotifyAccess=main\n\
         ExecStart={command}\n\
         ExecReload=/bin/kill -HUP $MAINPID\n\
         {variables}\
         EnvironmentFile=-{environment_file}\n\
         Restart=on-failure\n\
         RestartSec=10\n\
         TimeoutStopSec={stop_limit}\n\
         WatchdogSec={WATCHDOG_SECONDS}\n\
         {HARDENING}\
         \n\
         [Install]\n\
         WantedBy=default.target\n"
    ))
}

/// A word of a command line, where `$` begins the name of a variable.
fn quoted(word: &str) -> Result<String, Failure> {
    quoted_value(&word.replace('$', "$$"))
}

/// A word in quotation marks, where `$` is a letter like others.
fn quoted_value(word: &str) -> Result<String, Failure> {
    let word = plain(word)?.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(format!("\"{word}\""))
}

/// A text in which nothing stands for anything else.
fn plain(text: &str) -> Result<String, Failure> {
    if text.chars().any(char::is_control) {
        let message = format!("`{}` holds control characters, so no unit can name it", text.escape_debug());
        return Err(Failure::new(Exit::Findings, message));
    }
    Ok(text.replace('%', "%%"))
}

#[cfg(test)]
mod tests {
    use super::{super::tests::service, *};

    #[test]
    fn every_word_stands_for_itself() {
        let service = service("/home/ada/a b%n$HOME\"\\", Some("github"));
        let unit = unit(&service, Path::new("/home/ada/50%/x.env")).unwrap();
        let line = |start: &str| unit.lines().find_map(|line| line.strip_prefix(start)).unwrap();
        assert_eq!(
            line("ExecStart="),
            r#""/opt/bin/stepmark" "--root" "/home/ada/a b%%n$$HOME\"\\" "sync" "run" "--tracker" "github""#
        );
        assert_eq!(line("EnvironmentFile="), "-/home/ada/50%%/x.env");
        assert_eq!(line("Environment="), "\"XDG_STATE_HOME=/s t/100%%\"");
        assert_eq!(line("TimeoutStopSec="), "40");
        let evil = super::super::tests::service("/home/ada/x\nExecStart=/bin/evil", None);
        assert!(super::unit(&evil, Path::new("/e")).is_err());
    }
}
