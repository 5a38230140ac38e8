//! The names of the files of records.

use sha2::{Digest, Sha256};

/// The name of the file of `id`, without its extension: the id where that is a plain name, else one that is
/// like it.
pub fn file_stem(id: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    if (1..=80).contains(&id.len()) && !id.starts_with('.') && id.chars().all(is_plain) {
        return id.to_owned();
    }
    let slug: String =
        id.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).take(60).collect();
    let digest = Sha256::digest(id.as_bytes());
    let digits: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{digits}", slug.trim_matches('-')).trim_start_matches('-').to_owned()
}
