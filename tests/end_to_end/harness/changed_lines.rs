//! What an edit did to a text, line by line.

/// The lines that differ, `-` before those of `before` and `+` before those of `after`; lines that both texts start or
/// end with are left out. A carriage return shows as `␍`, a missing final line end as `⏎̸`.
pub(crate) fn changed_lines(before: &[u8], after: &[u8]) -> String {
    let (before, after) = (lines(before), lines(after));
    let start = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let (before, after) = (&before[start..], &after[start..]);
    let end = before.iter().rev().zip(after.iter().rev()).take_while(|(one, other)| one == other).count();
    let removed = before[..before.len() - end].iter().map(|line| format!("-{line}\n"));
    let added = after[..after.len() - end].iter().map(|line| format!("+{line}\n"));
    removed.chain(added).collect()
}

fn lines(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let shown = |line: &str| match line.strip_suffix('\n') {
        Some(line) => line.replace('\r', "␍"),
        None => format!("{}⏎̸", line.replace('\r', "␍")),
    };
    text.split_inclusive('\n').map(shown).collect()
}
