//! Memories in a text of an agent.

use crate::{Draft, MemoryKind};

/// The first three are those of `kuzu-memory` 1.12 and `claude-mpm`.
const SIGNS: [(&str, MemoryKind); 4] = [
    ("# Remember:", MemoryKind::Preference),
    ("Important:", MemoryKind::Learning),
    ("Learned:", MemoryKind::Learning),
    ("Decision:", MemoryKind::Decision),
];

const MOST: usize = 20;
const LIMIT: usize = 1024 * 1024;

/// `Decision: X because Y` has its reason. Fenced lines are examples.
pub fn told_lines(text: &str) -> Vec<Draft> {
    let mut is_code = false;
    let end = text.floor_char_boundary(LIMIT);
    let lines = text[..end].lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.filter_map(told).take(MOST).collect()
}

fn told(line: &str) -> Option<Draft> {
    let plain = line.trim().trim_start_matches(['-', '*', '>', ' ']);
    let (sign, kind) = SIGNS.iter().find(|(sign, _)| {
        let start = plain.get(..sign.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(sign))
    })?;
    let content = plain[sign.len()..].trim_matches(['*', ' ', '\t']);
    if content.is_empty() {
        return None;
    }
    let reason = content.split_once(" because ").filter(|_| *kind == MemoryKind::Decision);
    let (content, rationale) = match reason {
        Some((chosen, reason)) => (chosen, Some(reason.trim().to_owned())),
        None => (content, None),
    };
    Some(Draft { kind: Some(*kind), content: content.to_owned(), rationale, ..Draft::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tell_what_is_to_be_remembered() {
        let text = "Done.\n**Decision:** none\n- Decision: use SQLite because nothing is installed\n\
                    ```\nLearned: not this\n```\n> learned: tests want a clock\n# Remember: no emoji\nLearned:\n";
        let told: Vec<(MemoryKind, String, Option<String>)> = told_lines(text)
            .into_iter()
            .map(|draft| (draft.kind.unwrap(), draft.content, draft.rationale))
            .collect();
        let nothing = "nothing is installed".to_owned();
        assert_eq!(
            told,
            [
                (MemoryKind::Decision, "none".to_owned(), None),
                (MemoryKind::Decision, "use SQLite".to_owned(), Some(nothing)),
                (MemoryKind::Learning, "tests want a clock".to_owned(), None),
                (MemoryKind::Preference, "no emoji".to_owned(), None),
            ]
        );
    }

    #[test]
    fn a_long_text_tells_a_bounded_number() {
        assert_eq!(told_lines(&"Learned: x\n".repeat(1000)).len(), MOST);
    }
}
