//! Which process a session belongs to, and whether it still lives. Only Linux tells; elsewhere nobody knows.
#![expect(clippy::disallowed_methods, reason = "an edge: the system is asked about processes")]

use serde_json::{Value as Json, json};

/// This process, as the start of a session notes it: its number, when it began, and in which run of which machine.
pub(crate) fn own() -> Option<Json> {
    noted(std::process::id())
}

/// The process that started this one: a shell, or an agent.
#[cfg(unix)]
pub(crate) fn parent() -> Option<Json> {
    noted(std::os::unix::process::parent_id())
}

/// Other systems do not tell.
#[cfg(not(unix))]
pub(crate) const fn parent() -> Option<Json> {
    None
}

/// Whether a process that was noted lives on this machine.
pub(crate) fn lives(noted: &Json) -> bool {
    let id = noted["id"].as_u64().and_then(|id| u32::try_from(id).ok());
    id.and_then(self::noted).as_ref() == Some(noted)
}

fn noted(id: u32) -> Option<Json> {
    // Tests compare whole files, in which no number of a process may stand.
    if std::env::var_os("STEPMARK_TEST_HOST").is_some_and(|host| host == "none") {
        return None;
    }
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let status = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name of the program stands in parentheses and may hold anything; what follows it does not (proc_pid_stat(5), field 22).
    let mut fields = status.rsplit_once(')')?.1.split_whitespace();
    let is_dead = fields.next() == Some("Z");
    let began: u64 = fields.nth(18)?.parse().ok()?;
    (!is_dead).then(|| json!({ "boot": boot.trim(), "id": id, "began": began }))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_others_with_its_number_do_not() {
        let own = own().unwrap();
        assert!(lives(&own) && lives(&parent().unwrap()));
        for (key, value) in [("began", json!(1)), ("boot", json!("another")), ("id", json!(4_194_400))] {
            let mut other = own.clone();
            other[key] = value;
            assert!(!lives(&other), "{key}");
        }
        assert!(!lives(&Json::Null));
    }
}
