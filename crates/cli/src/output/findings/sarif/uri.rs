//! Paths as relative URI references (RFC 3986).

/// The characters that stand for themselves in any part of a path: unreserved ones, and the sub-delimiters
/// that no reader gives a meaning. A colon would make a scheme of the first part.
const fn stands_for_itself(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/' | b'@' | b'+' | b',' | b'=')
}

pub(super) fn relative(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if stands_for_itself(byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_uri_cannot_hold_is_encoded() {
        for (path, uri) in [
            ("_bmad-output/prd.md", "_bmad-output/prd.md"),
            ("a b/ü%.md", "a%20b/%C3%BC%25.md"),
            ("c:d/e?f#g.md", "c%3Ad/e%3Ff%23g.md"),
            ("\\.md", "%5C.md"),
        ] {
            assert_eq!(relative(path), uri);
        }
    }
}
