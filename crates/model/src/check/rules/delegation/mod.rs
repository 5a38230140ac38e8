//! Chains of delegation.

pub(crate) mod unreadable;
pub(crate) mod id_twice;
pub(crate) mod id_disagrees;
pub(crate) mod parent_missing;
pub(crate) mod circle;
pub(crate) mod depth_wrong;
pub(crate) mod root_wrong;
pub(crate) mod chain_wrong;
pub(crate) mod children_open;

use super::super::{Fix, Safety, Subject};
use crate::{
    artifact::{Delegation, Field},
    delegation::{Ancestry, Chains, Member},
};
use stepmark_frontmatter::{Edit, KeyPath, Span, Value};

/// The subject as a member of the chains of the project, where it takes part in one.
fn member<'a>(subject: &Subject<'a>) -> Option<(&'a Chains, &'a Member)> {
    let chains = subject.chains?;
    let member = chains.at(subject.artifact.path())?;
    chains.takes_part(member).then_some((chains, member))
}

/// The member, what it says of its place, and the ids that its parents give: from the root to itself.
fn place<'a>(subject: &Subject<'a>) -> Option<(&'a Member, &'a Delegation, Vec<&'a str>)> {
    let (chains, member) = member(subject)?;
    let says_place = |delegation: &&Delegation| delegation.is_mapping && !delegation.is_parent_alone;
    let delegation = member.delegation.as_ref().filter(says_place)?;
    match chains.ancestry(member) {
        Ancestry::Whole(way) => Some((member, delegation, way)),
        _ => None,
    }
}

/// The span of a part of the delegation; of the whole where the part is missing.
fn span(member: &Member, part: impl FnOnce(&Delegation) -> Option<&Field>) -> Span {
    let delegation = member.delegation.as_ref();
    delegation.map_or(Span::at(0), |delegation| part(delegation).map_or(delegation.span, |field| field.span))
}

/// Shows a part of the delegation as the middle of a sentence.
fn said(field: &Option<Field>) -> String {
    match field.as_ref().and_then(Field::filled) {
        Some(text) => format!("is `{text}`"),
        None => "is missing".to_owned(),
    }
}

/// The fix that gives a part of the delegation the value that follows from the parents.
fn as_the_parents_say(subject: &Subject<'_>, part: &str, value: Value) -> Option<Fix> {
    let set = Edit::Set { path: KeyPath::key("delegation").then(part), value };
    let title = format!("make `{part}` what the parents say");
    Fix::edit(Safety::Safe, title, subject.artifact, &[set])
}

/// Ids or paths as a list in a sentence.
fn quoted(words: &[impl AsRef<str>]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<String> = words.iter().take(SHOWN).map(|word| format!("`{}`", word.as_ref())).collect();
    if words.len() > SHOWN {
        text.push(format!("and {} more", words.len() - SHOWN));
    }
    if text.is_empty() { "nothing".to_owned() } else { text.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_long_list_says_how_much_of_it_is_left_out() {
        let ids = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        for (count, expected) in [
            (0, "nothing"),
            (1, "`a`"),
            (8, "`a`, `b`, `c`, `d`, `e`, `f`, `g`, `h`"),
            (9, "`a`, `b`, `c`, `d`, `e`, `f`, `g`, `h`, and 1 more"),
            (10, "`a`, `b`, `c`, `d`, `e`, `f`, `g`, `h`, and 2 more"),
        ] {
            assert_eq!(quoted(&ids[..count]), expected);
        }
    }
}
