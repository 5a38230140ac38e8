//! The failure log: a document of people, to which a row is added.

/// The columns of the table.
const COLUMNS: [&str; 8] = [
    "Date",
    "Agent",
    "Phase",
    "Failure Mode",
    "Confidence Score",
    "Resolution",
    "Time to Resolve",
    "Root Cause",
];

/// `log` with one more row of the table that has the column `Failure Mode`; a log without one is given one at
/// its end. Nothing else changes.
pub fn add_row(log: Option<&[u8]>, cells: &[&str]) -> Vec<u8> {
    let row = row(COLUMNS.iter().enumerate().map(|(place, _)| cells.get(place).copied().unwrap_or("")));
    let Some(log) = log.filter(|log| !log.trim_ascii().is_empty()) else {
        return format!("# Agent failure log\n\n{}{row}", head()).into_bytes();
    };
    let (before, row, after) = match end_of_table(log) {
        Some(at) => {
            let line_end = if log[..at].ends_with(b"\n") { "" } else { "\n" };
            (&log[..at], format!("{line_end}{row}"), &log[at..])
        }
        None => (log.trim_ascii_end(), format!("\n\n{}{row}", head()), &[][..]),
    };
    [before, row.as_bytes(), after].concat()
}

fn head() -> String {
    format!("{}{}", row(COLUMNS.into_iter()), row(COLUMNS.iter().map(|_| "---")))
}

fn row<'c>(cells: impl Iterator<Item = &'c str>) -> String {
    let plain = |text: &str| text.replace(|letter: char| letter.is_control() && !letter.is_whitespace(), "");
    let escaped = |text: &str| without_tags(&plain(text)).replace('|', "\\|");
    let cell = |cell: &str| escaped(cell).split_whitespace().collect::<Vec<_>>().join(" ");
    format!("| {} |\n", cells.map(cell).collect::<Vec<_>>().join(" | "))
}

/// `text` in which no `<` begins a tag (CommonMark §6.6): a blank behind it stays readable.
fn without_tags(text: &str) -> String {
    let mut parts = text.split('<');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, part| {
        let is_tag = part.starts_with(|letter: char| letter.is_ascii_alphabetic() || "/!?".contains(letter));
        before + if is_tag { "&lt;" } else { "<" } + part
    })
}

/// The place behind the last row of the table of failures.
fn end_of_table(log: &[u8]) -> Option<usize> {
    let (mut at, mut end) = (0, None);
    for line in log.split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        let is_row = line.trim_ascii_start().starts_with(b"|");
        let is_head = is_row && String::from_utf8_lossy(line).contains("Failure Mode");
        if is_head || is_row && end.is_some_and(|end| end == at - line.len()) {
            end = Some(at);
        }
    }
    end
}

#[cfg(test)]
mod tests {
    fn add_row(log: Option<&str>, cells: &[&str]) -> String {
        String::from_utf8(super::add_row(log.map(str::as_bytes), cells)).unwrap()
    }

    #[test]
    fn other_bytes_stay() {
        let made = super::add_row(Some(b"caf\xe9\n"), &["a"]);
        assert!(made.starts_with(b"caf\xe9\n\n| Date"), "{made:?}");
    }

    #[test]
    fn nothing_that_an_agent_says_means_something_in_the_document() {
        let made = add_row(None, &["2026-04-20", "a|b", "\u{1b}[31mred", "<script>\n| x |"]);
        let row = made.lines().last().unwrap();
        assert!(row.starts_with("| 2026-04-20 | a\\|b | [31mred | &lt;script> \\| x \\| |"), "{row}");
    }

    #[test]
    fn a_row_joins_the_table_and_nothing_else_changes() {
        let made = add_row(None, &["2026-04-20", "implementation"]);
        let table = "| Date | Agent | Phase | Failure Mode | Confidence Score | Resolution | Time to Resolve | Root Cause |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
        let row = "| 2026-04-20 | implementation |  |  |  |  |  |  |\n";
        assert_eq!(made, format!("# Agent failure log\n\n{table}{row}"));
        let log = format!("# Log\r\n\ntext | of people\n\n{table}{row}\nBelow.\n");
        let second = "| a \\| b | c d |  |  |  |  |  |  |\n";
        let expected = format!("# Log\r\n\ntext | of people\n\n{table}{row}{second}\nBelow.\n");
        assert_eq!(add_row(Some(&log), &["a | b", "c\nd"]), expected);
        assert_eq!(add_row(Some("No table"), &["a | b", "c\nd"]), format!("No table\n\n{table}{second}"));
        let unended = table.trim_end();
        assert_eq!(add_row(Some(unended), &["a | b", "c d"]), format!("{table}{second}"));
    }
}
