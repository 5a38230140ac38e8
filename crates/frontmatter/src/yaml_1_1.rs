//! Plain scalars as readers of YAML 1.1 (PyYAML, Ruby, many agents' tools) take them.

use super::Scalar;

/// Returns whether some reader of YAML 1.1 does not read `text` as text: booleans, binary and underscored
/// numbers, base 60 (`12:30`), timestamps, and whatever looks like one of them.
pub(super) fn may_be_no_text(text: &str) -> bool {
    if is_word_for_bool(text) {
        return true;
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return false;
    }
    let digits_only = unsigned
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, '_' | '.' | ',' | ':' | '+' | '-' | 'e' | 'E'));
    digits_only || is_based(unsigned) || is_timestamp(unsigned)
}

/// A disagreement of readers on a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Disagreement {
    /// `yes`, `no`, `on`, `off`, `y`, `n`: a boolean of YAML 1.1, text of YAML 1.2.
    Bool,
    /// A number to one and text, or another number, to the other: `0123`, `1:30`, `1_000`, `75e9782`.
    Number,
}

/// The disagreement of YAML 1.1 and YAML 1.2 on the plain scalar `text`; `None` where they agree. Timestamps,
/// which stand in every document and mean the same to people, are left out.
pub fn disagreement(text: &str) -> Option<Disagreement> {
    if is_word_for_bool(text) {
        return Some(Disagreement::Bool);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let is_number = !matches!(Scalar::resolve(text), Scalar::String(_));
    let has_exponent = |c: char| matches!(c, 'e' | 'E');
    let disagree = if is_number {
        let is_octal =
            unsigned.len() > 1 && unsigned.starts_with('0') && unsigned.bytes().all(|c| c.is_ascii_digit());
        let is_1_2_only =
            unsigned.starts_with("0o") || (unsigned.contains(has_exponent) && !unsigned.starts_with("0x"));
        is_octal || (is_1_2_only && !is_float_in_1_1(unsigned))
    } else {
        is_based(unsigned) || is_underscored(unsigned) || is_sexagesimal(unsigned)
    };
    disagree.then_some(Disagreement::Number)
}

fn is_word_for_bool(text: &str) -> bool {
    const WORDS: [&str; 6] = ["y", "n", "yes", "no", "on", "off"];
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// `0b101`, `0x_ff`
fn is_based(text: &str) -> bool {
    let bases = [("0b", 2), ("0x", 16), ("0o", 8)];
    let digits = bases.iter().find_map(|(base, radix)| Some((text.strip_prefix(base)?, *radix)));
    digits.is_some_and(|(digits, radix)| digits.chars().all(|c| c.is_digit(radix) || c == '_'))
}

/// `1_000`
fn is_underscored(text: &str) -> bool {
    text.contains('_') && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'_' | b'.'))
}

/// `1:30`, `12:30:45`: numbers of base 60.
fn is_sexagesimal(text: &str) -> bool {
    let mut parts = text.split(':');
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let first = parts.next().is_some_and(is_digits);
    let mut rest = parts.peekable();
    first && rest.peek().is_some() && rest.all(|part| is_digits(part) && part.len() <= 2 && part < "60")
}

/// `1.5e+3`: with a point and a signed exponent.
fn is_float_in_1_1(text: &str) -> bool {
    text.split_once(['e', 'E'])
        .is_some_and(|(digits, exponent)| digits.contains('.') && exponent.starts_with(['+', '-']))
}

/// `2026-11-21`, alone or followed by a time.
pub(super) fn is_timestamp(text: &str) -> bool {
    let parts: Vec<_> = text.splitn(3, '-').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match parts.as_slice() {
        [year, month, rest] if year.len() == 4 && is_number(year) && is_number(month) => {
            let day = rest.bytes().take_while(u8::is_ascii_digit).count();
            day > 0 && matches!(rest.as_bytes().get(day), None | Some(b'T' | b't' | b' '))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_yaml_disagree_on_few_values() {
        for (text, wanted) in [
            ("yes", Some(Disagreement::Bool)),
            ("OFF", Some(Disagreement::Bool)),
            ("0123456", Some(Disagreement::Number)),
            ("08", Some(Disagreement::Number)),
            ("1:30", Some(Disagreement::Number)),
            ("12:30:45", Some(Disagreement::Number)),
            ("75e9782", Some(Disagreement::Number)),
            ("1e3", Some(Disagreement::Number)),
            ("1.5e3", Some(Disagreement::Number)),
            ("1.5e+3", None),
            ("1_000", Some(Disagreement::Number)),
            ("0b101", Some(Disagreement::Number)),
            ("0b12ab9", None),
            ("0o17", Some(Disagreement::Number)),
            ("0x1F", None),
            ("0xe1", None),
            ("1:75", None),
            ("1:2:x", None),
            ("0", None),
            ("1.10", None),
            ("10", None),
            ("2026-11-21", None),
            ("true", None),
            ("done", None),
            ("1.2.3", None),
            ("step_1", None),
            ("3_a", None),
            (".5", None),
            ("", None),
        ] {
            assert_eq!(disagreement(text), wanted, "{text}");
        }
    }
}
