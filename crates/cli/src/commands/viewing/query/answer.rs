//! An answer, as a table, CSV or JSON.

use serde_json::{Value as Json, json};
use stepmark_store::index_db::{self, Answer, Cell, VIEWS};

use crate::{
    exit::{Exit, Failure},
    output::{Output, table, wording},
};

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
}
