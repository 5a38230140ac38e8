//! `--param KEY=VALUE`: a value for a parameter of the query.

use jiff::Timestamp;
use stepmark_store::index_db::Cell;

pub(super) fn parameter(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = parts.ok_or_else(|| "KEY=VALUE is wanted".to_owned())?;
    Ok((key.to_owned(), value.to_owned()))
}

/// The value that is meant by `text`: a number where it is spelled as SQL spells that number, else text. So a
/// comparison with a number is one of numbers, and `007` and `1.50` keep all their characters. In a
/// comparison with a column of text a number is text again, the same one.
pub(super) fn value(text: &str) -> Cell {
    if let Some(number) = text.parse::<i64>().ok().filter(|number| number.to_string() == text) {
        return Cell::Integer(number);
    }
    // `inf`, `nan` and `1e300` are words.
    let is_decimal = text.contains('.') && !text.contains('e');
    let number = text.parse::<f64>().ok().filter(|number| is_decimal && format!("{number:?}") == text);
    number.map_or_else(|| Cell::Text(text.to_owned()), Cell::Real)
}

/// Checks that the parameter `key` of a query with a name can have the value `text`; the error is what is
/// wrong otherwise.
pub(super) fn check_named(key: &str, text: &str) -> Result<(), String> {
    let is_fine = match key {
        "days" => text.parse::<f64>().is_ok_and(|days| days.is_finite() && days >= 0.0),
        "now" => text.parse::<Timestamp>().is_ok(),
        _ => true,
    };
    match (is_fine, key) {
        (true, _) => Ok(()),
        (false, "days") => Err(format!("`{text}` is no number of days: write `--param days=14`")),
        (false, _) => Err(format!("`{text}` is no time: write `--param {key}=2026-01-31T12:00:00Z`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_what_is_spelled_as_one() {
        for number in ["0", "1", "-12", "9223372036854775807", "-9223372036854775808"] {
            assert_eq!(value(number), Cell::Integer(number.parse().unwrap()));
        }
        for number in ["0.5", "-1.25", "1.0"] {
            assert_eq!(value(number), Cell::Real(number.parse().unwrap()));
        }
        for text in [
            "",
            "007",
            "+1",
            " 1",
            "1 ",
            "-0",
            "1.50",
            ".5",
            "1.",
            "0x10",
            "1e3",
            "1.0e3",
            "inf",
            "nan",
            "NaN",
            "-",
            "9223372036854775808",
            "step-1",
            "1_000",
        ] {
            assert_eq!(value(text), Cell::Text(text.to_owned()), "{text}");
        }
    }

    #[test]
    fn questions_with_names_know_their_parameters() {
        for (key, text, is_fine) in [
            ("days", "14", true),
            ("days", "0.5", true),
            ("days", "abc", false),
            ("days", "14 days", false),
            ("days", "-1", false),
            ("days", "inf", false),
            ("now", "2026-01-31T12:00:00Z", true),
            ("now", "soon", false),
            ("artifact", "anything", true),
        ] {
            assert_eq!(check_named(key, text).is_ok(), is_fine, "{key}={text}");
        }
    }

    #[test]
    fn what_has_no_name_is_no_parameter() {
        assert_eq!(parameter("a=b=c").unwrap(), ("a".to_owned(), "b=c".to_owned()));
        assert_eq!(parameter("a=").unwrap(), ("a".to_owned(), String::new()));
        assert!(parameter("a").is_err() && parameter("=b").is_err());
    }
}
