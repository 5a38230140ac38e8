//! Comparison of words, suggestions for misspelt ones, shell quoting, error chains.

use std::error::Error;

use icu_normalizer::ComposingNormalizerBorrowed;

/// Ignores case, and treats `-`, `_` and blanks alike: `In Progress` is `in-progress` (docs/formats.md,
/// "Statuses").
pub fn folded(text: &str) -> String {
    let alike = |letter| if matches!(letter, '_' | ' ') { '-' } else { letter };
    text.trim().chars().map(alike).flat_map(char::to_lowercase).collect()
}

/// Compares in Unicode NFC: some file systems do not distinguish `é` from `e` with a combining accent.
pub fn is_same_name(one: &str, other: &str) -> bool {
    let nfc = ComposingNormalizerBorrowed::new_nfc();
    one == other || !one.is_ascii() && !other.is_ascii() && nfc.normalize(one) == nfc.normalize(other)
}

/// Likeliest first.
pub fn near_words<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let given = folded(given);
    let mut near: Vec<(f64, &str)> = known
        .into_iter()
        .map(|word| (strsim::jaro_winkler(&given, &folded(word)), word))
        .filter(|(likeness, _)| *likeness > 0.75)
        .collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    near.into_iter().take(3).map(|(_, word)| word.to_owned()).collect()
}

/// Quoted for a shell if necessary.
pub fn argument(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:@%+=,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

pub fn besides<T: std::fmt::Display>(others: &[T]) -> String {
    others.iter().map(|other| format!("; {other}")).collect()
}

/// Outermost first.
pub fn causes(error: &dyn Error) -> impl Iterator<Item = String> {
    std::iter::successors(error.source(), |&cause| cause.source()).map(ToString::to_string)
}

pub fn with_causes(error: &dyn Error) -> String {
    std::iter::once(error.to_string()).chain(causes(error)).collect::<Vec<_>>().join(": ")
}

pub fn listed<T: AsRef<str>>(words: &[T]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{}`", word.as_ref())).collect();
    match quoted.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_whatever_their_case() {
        let states = ["draft", "ready-for-dev", "in-progress", "in-review", "done"];
        assert_eq!(near_words("in_progres", states), ["in-progress"]);
        assert_eq!(near_words("DONNE", states), ["done"]);
        assert_eq!(near_words("zzz", states), Vec::<String>::new());
    }
}
