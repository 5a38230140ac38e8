//! Edits worth trying on a value: every kind at every path, with values that are hard to write.

use stepmark_frontmatter::{Edit, KeyPath, Segment, Value};

use crate::Choices;

/// Texts that some reader or some place misreads when they are written without care.
const TEXTS: [&str; 48] = [
    "done",
    "step-02-discovery",
    "x",
    "",
    " ",
    "a b",
    "it's",
    "say \"hi\"",
    "1.10",
    "08",
    "02b",
    "NO",
    "yes",
    "null",
    "~",
    "12:30",
    "2026-11-21",
    "123e4567",
    "0123456",
    "1_000",
    "0x1F",
    ".5",
    "1e3",
    "a: b",
    "a:b",
    ":",
    "a #b",
    "#x",
    "- a",
    "-",
    "---",
    "...",
    "? a",
    "&a",
    "*a",
    "!t",
    "|",
    ">-",
    "%x",
    "@x",
    "`x`",
    "{x}",
    "[x]",
    "a, b",
    "a\nb\n",
    "\ta",
    "\u{2028}\u{85}\u{FEFF}",
    "\u{1F600} \u{FC}ber \\ \u{7}",
];

/// A value to write.
pub fn value(choices: &mut Choices<'_>, depth: usize) -> Value {
    match choices.below(if depth == 0 { 11 } else { 15 }) {
        0..=5 => Value::from(*choices.pick(&TEXTS)),
        6 => Value::Integer(*choices.pick(&[0, 4, -12, i64::MIN, i64::MAX])),
        7 => Value::Float(*choices.pick(&[0.5, 1.0, -2.25e300, 1e-7])),
        8 => Value::Bool(choices.chance(128)),
        9 => Value::Null,
        10 => Value::Number("99999999999999999999".to_owned()),
        11 | 12 => Value::Sequence((0..choices.below(4)).map(|_| value(choices, depth - 1)).collect()),
        _ => {
            let entry = |place| (Value::String(format!("n{place}")), value(choices, depth - 1));
            Value::Mapping((0..3).map(entry).collect())
        }
    }
}

/// The paths of all values below `root`, itself first. Keys that are no text are left out with all below
/// them.
pub fn paths(root: &Value) -> Vec<KeyPath> {
    let mut found = vec![KeyPath::default()];
    collect(root, &KeyPath::default(), &mut found);
    found
}

fn collect(value: &Value, path: &KeyPath, found: &mut Vec<KeyPath>) {
    let mut child = |value: &Value, path: KeyPath| {
        found.push(path.clone());
        collect(value, &path, found);
    };
    match value {
        Value::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                child(item, path.clone().item(index));
            }
        }
        Value::Mapping(entries) => {
            for (key, value) in entries {
                if let Value::String(key) = key {
                    child(value, path.clone().then(key.as_str()));
                }
            }
        }
        _ => {}
    }
}

/// An edit at one of `paths`, or just below it.
pub fn edit_for(choices: &mut Choices<'_>, paths: &[KeyPath]) -> Edit {
    let place = choices.below(256) * 256 + choices.below(256);
    let mut path = paths[place % paths.len()].clone();
    if path.0.is_empty() || choices.chance(24) {
        path.0.push(Segment::Key("missing".to_owned()));
        if choices.chance(32) {
            path.0.push(Segment::Key("deeper".to_owned()));
        }
    }
    match choices.below(8) {
        0 | 1 => Edit::Set { path, value: value(choices, 2) },
        2..=4 => Edit::Append { path, item: value(choices, 2) },
        5 => Edit::Insert { path, index: choices.below(4), item: value(choices, 2) },
        _ => Edit::Remove { path },
    }
}
