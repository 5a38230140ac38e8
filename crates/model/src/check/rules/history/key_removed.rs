//! SM905: a key that stepmark does not read is gone.

use super::{
    readable_base,
    state_key_removed::{is_state_key, removed},
};
use crate::artifact::STEPS_KEYS;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use stepmark_frontmatter::Span;

/// Keys whose loss other rules tell.
const IDENTITIES: [&str; 2] = ["id", "stepmark_id"];

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM905",
    name: "key-removed",
    group: Group::History,
    severity: Severity::Note,
    summary: "A key of somebody else was taken out of the frontmatter.",
    why: "Other tools keep their own keys there. Whoever rewrites frontmatter and knows only some of the keys loses the others.",
    bad: "---\n# in the last commit: author: Ada\nstatus: draft\n---\n",
    good: "---\nauthor: Ada\nstatus: draft\n---\n",
    fix: "Put the key back if nobody meant to take it out: `git show HEAD:PATH` has it.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(base) = readable_base(subject) else { return };
    let is_other = |key: &String| {
        !is_state_key(key) && !STEPS_KEYS.contains(&key.as_str()) && !IDENTITIES.contains(&key.as_str())
    };
    for key in removed(&base, subject).filter(is_other) {
        let message = format!("the key `{key}` was there before this change, and is gone");
        found.push(subject.finding(&RULE, Span::at(0), message));
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::found_after;
    use super::RULE;

    #[test]
    fn only_keys_of_others_are_noted() {
        let read = "id: A\nstepsCompleted: [1]\nstatus: draft\n";
        let before = &format!("{read}author: Ada\nlinks: {{a: b}}\ntags: [x]\ncount: 0\nopen: false");
        let gone = |key| format!("1:1 SM905 the key `{key}` was there before this change, and is gone");
        let expected = ["author", "links", "tags", "count", "open"].map(gone);
        assert_eq!(found_after(&RULE, before, "title: x"), expected);
        let empty = &format!("{read}author: ''\nlinks: {{}}\ntags: []\ncount:\nopen: ~");
        assert!(found_after(&RULE, empty, "title: x").is_empty(), "it said nothing");
        assert!(found_after(&RULE, before, before).is_empty());
    }
}
