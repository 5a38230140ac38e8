//! Which addresses a ticket may link to.

/// Parts of an address behind which GitHub and its like name a ticket, a change or a discussion: a link there shows up in it.
const REFERRED: [&str; 6] = ["issues", "pull", "pulls", "discussions", "commit", "merge_requests"];

/// Whether `address` leads to a ticket or a change: a tracker would tell that one of ours, and keep telling it.
pub(in crate::ticket) fn refers_to_ticket(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let mut parts = path.split('/');
    parts.any(|part| REFERRED.iter().any(|own| part.eq_ignore_ascii_case(own)))
        && parts.next().is_some_and(|part| !part.is_empty())
}

/// Whether a ticket may link to `address`.
pub(super) fn may_be_linked(address: &str) -> bool {
    let is_plain = address.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"`\\".contains(&byte));
    let is_web = ["http://", "https://"].iter().any(|scheme| address.starts_with(scheme));
    is_plain && is_web && address.len() <= LONGEST && !refers_to_ticket(address)
}

/// How long an address may be, in bytes.
const LONGEST: usize = 2000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_of_others_are_not_linked() {
        for (address, expected) in [
            ("https://example.org/a?b#c", true),
            ("https://github.com/o/r", true),
            ("https://github.com/o/r/issues", true),
            ("https://github.com/o/r/issues/12#issuecomment-1", false),
            ("https://github.com/o/r/Pull/12", false),
            ("https://github.com/o/r/commit/abc", false),
            ("javascript:alert(1)", false),
            ("../b.md", false),
            ("https://example.org/a b", false),
            ("https://example.org/>", false),
        ] {
            assert_eq!(may_be_linked(address), expected, "{address}");
        }
    }
}
