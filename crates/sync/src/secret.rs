//! Secrets in texts that leave this machine, by the rules of `ironclaw_safety`.

use std::{collections::BTreeSet, sync::LazyLock};

use ironclaw_safety::{LeakDetector, LeakMatch, LeakSeverity};

static DETECTOR: LazyLock<LeakDetector> = LazyLock::new(LeakDetector::new);

/// The rule that matches, as `github_token`; long hexadecimal hashes are no secrets.
pub fn secret_in(text: &str) -> Option<String> {
    secrets(text).next().map(|found| found.pattern_name)
}

/// Replaces secrets by [`withheld`]; also returns the rules that matched. `None` without any.
pub(crate) fn without_secrets(text: &str) -> Option<(String, BTreeSet<String>)> {
    let (mut rules, mut kept, mut end) = (BTreeSet::new(), String::new(), 0);
    for found in secrets(text) {
        let (rule, range) = (found.pattern_name, found.location);
        if range.start >= end {
            kept.push_str(&text[end..range.start]);
            kept.push_str(&withheld(&rule));
        }
        let is_key = rule.ends_with("private_key");
        end = end.max(if is_key { end_of_key(text, range.end) } else { range.end });
        rules.insert(rule);
    }
    kept.push_str(&text[end..]);
    (!rules.is_empty()).then_some((kept, rules))
}

pub(crate) fn withheld(rule: &str) -> String {
    format!("[withheld: {rule}]")
}

fn secrets(text: &str) -> impl Iterator<Item = LeakMatch> {
    DETECTOR.scan(text).matches.into_iter().filter(|found| found.severity >= LeakSeverity::High)
}

/// The end of the private key that begins at `begin`: its last line, else all that looks like one.
fn end_of_key(text: &str, begin: usize) -> usize {
    const LAST: &str = "-----END";
    let key = &text[begin..];
    if let Some(at) = key.find(LAST) {
        let behind = key[at + LAST.len()..].find("-----").map_or(0, |dashes| dashes + "-----".len());
        return begin + at + LAST.len() + behind;
    }
    let is_key = |line: &&str| !line.trim().contains(' ') || line.contains(": ");
    begin + key.split_inclusive('\n').take_while(is_key).map(str::len).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn github() -> String {
        format!("{}{}", "ghp_", "0123456789abcdefghijABCDEFGHIJ012345")
    }

    #[test]
    fn keys_are_found_and_hashes_are_none() {
        assert_eq!(secret_in(&format!("the key is {}", github())).as_deref(), Some("github_token"));
        assert!(secret_in("-----BEGIN RSA PRIVATE KEY-----\nMIIE").is_some());
        assert_eq!(secret_in(&"ab12".repeat(16)), None);
        assert_eq!(secret_in("We keep the token in the keychain"), None);
    }

    #[test]
    fn only_the_secret_is_withheld() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEow\nAB+/=\n";
        let github = github();
        for (text, expected) in [
            (format!("a {github} b {github}"), "a [withheld: github_token] b [withheld: github_token]"),
            (format!("a\n{key}-----END RSA PRIVATE KEY-----\nb c"), "a\n[withheld: pem_private_key]\nb c"),
            (format!("a {key}and so on"), "a [withheld: pem_private_key]and so on"),
            (format!("Bearer {github}."), "[withheld: bearer_token]."),
        ] {
            assert_eq!(without_secrets(&text).unwrap().0, expected);
        }
        assert_eq!(without_secrets("nothing"), None);
    }
}
