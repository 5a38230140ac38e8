//! Readers of YAML that share no code with stepmark: second opinions on every edit.

use serde_yaml::Value as Theirs;
use stepmark_frontmatter::Value;

/// A second opinion.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// Its name, for reports.
    pub name: &'static str,
    /// Returns what it reads in a text; `None` where it reads nothing that a [`Value`] can hold.
    pub read: fn(&str) -> Option<Value>,
    /// Returns whether it means the same by a text as YAML 1.2 does.
    pub is_fair: fn(&str) -> bool,
    /// Returns whether it can hold a value that is to be written.
    pub holds: fn(&Value) -> bool,
}

/// libyaml through `yaml_serde`: a scanner in C translated to Rust, which reads YAML 1.1.
pub const LIBYAML: Reader = Reader { name: "libyaml", read, is_fair, holds };

/// `None` for a key that stands twice, a tag of its own, aliases without end.
fn read(text: &str) -> Option<Value> {
    serde_yaml::from_str::<Theirs>(text).ok().as_ref().and_then(ours)
}

/// U+0085, U+2028 and U+2029 end a line in YAML 1.1; tabs are read otherwise; and `yaml_serde` confuses
/// aliases where an anchor is defined again.
fn is_fair(text: &str) -> bool {
    let has_line_ends_of_1_1 = text.contains(['\u{85}', '\u{2028}', '\u{2029}']);
    let tab_first = |line: &str| line.trim_start_matches(' ').starts_with('\t');
    let has_odd_tabs = text.contains('\t') && (text.contains("? ") || text.lines().any(tab_first));
    !has_line_ends_of_1_1 && !has_odd_tabs && !defines_an_anchor_again(text)
}

/// Returns whether some `&name` stands twice, in whatever meaning.
fn defines_an_anchor_again(text: &str) -> bool {
    let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}');
    let mut names: Vec<_> = text.split('&').skip(1).filter_map(|rest| rest.split(is_end).next()).collect();
    names.sort_unstable();
    names.windows(2).any(|pair| pair[0] == pair[1])
}

/// `yaml_serde` ends with an error at integers beyond 64 bits.
fn holds(value: &Value) -> bool {
    match value {
        Value::Number(_) => false,
        Value::Sequence(items) => items.iter().all(holds),
        Value::Mapping(entries) => entries.iter().all(|(key, value)| holds(key) && holds(value)),
        _ => true,
    }
}

fn ours(value: &Theirs) -> Option<Value> {
    Some(match value {
        Theirs::Null => Value::Null,
        Theirs::Bool(value) => Value::Bool(*value),
        Theirs::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Value::Integer(integer),
            (None, Some(float)) if number.is_f64() && float.is_finite() => Value::Float(float),
            _ => Value::Number(number.to_string()),
        },
        Theirs::String(text) => Value::String(text.clone()),
        Theirs::Sequence(items) => Value::Sequence(items.iter().map(ours).collect::<Option<_>>()?),
        Theirs::Mapping(entries) => Value::Mapping(
            entries.iter().map(|(key, value)| Some((ours(key)?, ours(value)?))).collect::<Option<_>>()?,
        ),
        Theirs::Tagged(_) => return None,
    })
}
