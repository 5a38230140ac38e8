//! A lifecycle as a Mermaid state diagram.

use std::fmt::Write;

use stepmark_model::lifecycle::Lifecycle;

/// The diagram, which GitHub and many editors draw. States are numbered, since their names may hold anything.
pub(crate) fn state_diagram(lifecycle: &Lifecycle) -> String {
    let place =
        |name: &str| lifecycle.states().iter().position(|state| state.name == name).unwrap_or_default();
    let mut text = "stateDiagram-v2\n".to_owned();
    // Writing into a text cannot fail.
    for (at, state) in lifecycle.states().iter().enumerate() {
        let _ = writeln!(text, "    state \"{}\" as s{at}", escaped(&state.name));
    }
    for (at, _) in lifecycle.states().iter().enumerate().filter(|(_, state)| state.is_initial) {
        let _ = writeln!(text, "    [*] --> s{at}");
    }
    for legal in lifecycle.moves() {
        let _ = write!(text, "    s{} --> s{}", place(&legal.from.name), place(&legal.to.name));
        let label = label(legal.guards.iter().map(ToString::to_string), legal.is_return);
        let _ = match label.as_str() {
            "" => writeln!(text),
            label => writeln!(text, " : {}", escaped(label)),
        };
    }
    for (at, _) in lifecycle.states().iter().enumerate().filter(|(_, state)| state.is_terminal) {
        let _ = writeln!(text, "    s{at} --> [*]");
    }
    text
}

pub(super) fn label(guards: impl Iterator<Item = String>, is_return: bool) -> String {
    if is_return { "back".to_owned() } else { guards.collect::<Vec<_>>().join(", ") }
}

/// A text as Mermaid takes it: `#34;` for a quote, and no character that ends a label.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '#' | ';' | ':' | '<' | '>' | '&' | '\\' | '`' => {
                let _ = write!(safe, "#{};", u32::from(letter));
            }
            letter if letter.is_control() => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_its_label() {
        assert_eq!(escaped("a \"b\"\n: c;"), "a #34;b#34; #58; c#59;");
    }
}
