//! An answer, as a table, CSV or JSON, and `--param KEY=VALUE`, a value for a parameter of the query.

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use crate::{
    exit::{Exit, Failure},
    output::{Output, table, wording},
};
use stepmark_store::index_db::{self, Answer, Cell, VIEWS};

pub(super) fn show(answer: &Answer, output: &Output) {
    let header: Vec<String> = answer.columns.iter().map(|(name, _)| name.to_uppercase()).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let row = |row: &Vec<Cell>| row.iter().map(|cell| text(cell).unwrap_or_else(|| "-".to_owned())).collect();
    output.line(table(&header, answer.rows.iter().map(row)));
    output.remark(wording::count(answer.rows.len(), "row"));
}

/// With a header, and nothing where a value is NULL.
pub(super) fn csv(answer: &Answer) -> Result<Vec<u8>, Failure> {
    let failed = |error: &dyn std::error::Error| Failure::from_error(Exit::Io, error);
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(answer.columns.iter().map(|(name, _)| name)).map_err(|error| failed(&error))?;
    for row in &answer.rows {
        let row = row.iter().map(|cell| text(cell).unwrap_or_default());
        writer.write_record(row).map_err(|error| failed(&error))?;
    }
    writer.into_inner().map_err(|error| failed(&error))
}

/// For programs: columns with the types that their tables declare, and rows as lists.
pub(super) fn json(answer: &Answer) -> Json {
    let columns = answer
        .columns
        .iter()
        .map(|(name, kind)| json!({"name": name, "type": kind.as_ref().map(|kind| kind.to_lowercase())}));
    let value = |cell: &Cell| match cell {
        Cell::Null => Json::Null,
        Cell::Integer(number) => (*number).into(),
        Cell::Real(number) => (*number).into(),
        Cell::Text(text) => text.as_str().into(),
        Cell::Blob(bytes) => hexadecimal(bytes).into(),
    };
    let rows = answer.rows.iter().map(|row| row.iter().map(value).collect::<Vec<_>>());
    json!({"columns": columns.collect::<Vec<_>>(), "rows": rows.collect::<Vec<_>>()})
}

pub(super) fn tables() -> Json {
    let tables = index_db::tables().map(|table| {
        let columns = table.columns.iter().map(|column| {
            json!({"name": column.name, "type": column.kind.sql().to_lowercase(), "about": column.about})
        });
        json!({"name": table.name, "about": table.about, "columns": columns.collect::<Vec<_>>()})
    });
    tables.collect()
}

pub(super) fn views() -> Json {
    let views = VIEWS.iter().map(|view| {
        let columns = view.columns.iter().map(|(name, about)| json!({"name": name, "about": about}));
        json!({"name": view.name, "about": view.about, "columns": columns.collect::<Vec<_>>()})
    });
    views.collect()
}

fn text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Null => None,
        Cell::Integer(number) => Some(number.to_string()),
        Cell::Real(number) => Some(decimal(*number)),
        Cell::Text(text) => Some(text.clone()),
        Cell::Blob(bytes) => Some(hexadecimal(bytes)),
    }
}

/// A number as it is written where it is not too long for that, else with its exponent.
fn decimal(number: f64) -> String {
    let is_short = number == 0.0 || (1e-5..1e16).contains(&number.abs());
    if is_short { number.to_string() } else { format!("{number:?}") }
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |number: u8| char::from(DIGITS[usize::from(number & 0xf)]);
    let mut text = String::with_capacity(bytes.len() * 2);
    bytes.iter().for_each(|byte| text.extend([digit(byte >> 4), digit(*byte)]));
    text
}

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
    fn values_are_spelled_shortly_and_in_full() {
        for (cell, wanted) in [
            (Cell::Real(0.0), "0"),
            (Cell::Real(0.1), "0.1"),
            (Cell::Real(-1234.5), "-1234.5"),
            (Cell::Real(1e300), "1e300"),
            (Cell::Real(2.5e-7), "2.5e-7"),
            (Cell::Real(f64::INFINITY), "inf"),
            (Cell::Blob(vec![0x00, 0x9f, 0xff]), "009fff"),
        ] {
            assert_eq!(text(&cell).as_deref(), Some(wanted));
        }
    }

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
