//! Secrets in a text. The rules are those of `ironclaw_safety`, which are kept for agents.

use std::sync::LazyLock;

use ironclaw_safety::{LeakDetector, LeakSeverity};

static DETECTOR: LazyLock<LeakDetector> = LazyLock::new(LeakDetector::new);

/// The name of a rule that finds a secret in `text`, as `github_token`. Long hexadecimal numbers are none:
/// they are the hashes of commits and files.
pub fn secret_in(text: &str) -> Option<String> {
    let found = DETECTOR.scan(text).matches;
    found.into_iter().find(|found| found.severity >= LeakSeverity::High).map(|found| found.pattern_name)
}

#[cfg(test)]
mod tests {
    use super::secret_in;

    #[test]
    fn keys_are_found_and_hashes_are_none() {
        let key = format!("the key is {}{}", "ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
        assert_eq!(secret_in(&key).as_deref(), Some("github_token"));
        assert!(secret_in("-----BEGIN RSA PRIVATE KEY-----\nMIIE").is_some());
        assert_eq!(secret_in(&"ab12".repeat(16)), None);
        assert_eq!(secret_in("We keep the token in the keychain"), None);
    }
}
