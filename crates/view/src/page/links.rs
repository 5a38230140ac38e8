//! The places that names of artifacts lead to.

use stepmark_model::artifact::{FileHash, ProjectPath};

/// Bytes of a path that stand in an address as they are (RFC 3986, `pchar` without those that mean something
/// in HTML or a shell).
const PLAIN: &[u8] = b"-._~/";

/// The number of digits of its hash that name an artifact on a page: among 100,000 artifacts two alike are
/// less likely than 1 in 50,000.
const NAME_DIGITS: usize = 12;

/// The places that names of artifacts lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// To the row of the artifact on the same page.
    Rows,
    Pages,
}

impl Links {
    pub fn to(self, path: &ProjectPath) -> String {
        match self {
            Self::Rows => format!("#{}", row_id(path)),
            Self::Pages => format!("/artifact/{}", encoded(path.as_str())),
        }
    }

    /// The address of a rule on the page that lists findings.
    pub fn to_rule(self, id: &str) -> String {
        match self {
            Self::Rows => format!("#rule-{id}"),
            Self::Pages => format!("/#rule-{id}"),
        }
    }
}

pub(super) fn row_id(path: &ProjectPath) -> String {
    let hash = FileHash::of(path.as_str().as_bytes()).to_string();
    format!("a-{}", hash.get(..NAME_DIGITS).unwrap_or_default())
}

fn encoded(text: &str) -> String {
    let mut address = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) {
            address.push(char::from(byte));
        } else {
            address.push_str(&format!("%{byte:02X}"));
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_hold_no_byte_that_means_something() {
        for (path, address) in [
            ("docs/prd.md", "/artifact/docs/prd.md"),
            ("a b/\"<script>&?#%.md", "/artifact/a%20b/%22%3Cscript%3E%26%3F%23%25.md"),
            ("dé.md", "/artifact/d%C3%A9.md"),
        ] {
            assert_eq!(Links::Pages.to(&ProjectPath::new(path).unwrap()), address);
        }
        let row = Links::Rows.to(&ProjectPath::new("docs/prd.md").unwrap());
        assert!(row.starts_with("#a-") && row.len() == 3 + NAME_DIGITS, "{row}");
    }
}
