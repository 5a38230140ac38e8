//! Chains of delegation.

use crate::artifact::{Delegation, Field};
use crate::check::{Finding, Fix, Safety, Subject, rule::Decision, rules::argument};
use crate::delegation::{Ancestry, Chains, Member};
use stepmark_frontmatter::{Edit, KeyPath, Span, Value};

fn member<'a>(subject: &Subject<'a>) -> Option<(&'a Chains, &'a Member)> {
    let chains = subject.chains?;
    let member = chains.at(subject.artifact.path())?;
    chains.takes_part(member).then_some((chains, member))
}

/// The member, its stated delegation, and the actual ids from the root down to itself.
fn place<'a>(subject: &Subject<'a>) -> Option<(&'a Member, &'a Delegation, Vec<&'a str>)> {
    let (chains, member) = member(subject)?;
    let says_place = |delegation: &&Delegation| delegation.is_mapping && !delegation.is_parent_alone;
    let delegation = member.delegation.as_ref().filter(says_place)?;
    match chains.ancestry(member) {
        Ancestry::Whole(way) => Some((member, delegation, way)),
        _ => None,
    }
}

fn span(member: &Member, part: impl FnOnce(&Delegation) -> Option<&Field>) -> Span {
    let delegation = member.delegation.as_ref();
    delegation.map_or(Span::at(0), |delegation| part(delegation).map_or(delegation.span, |field| field.span))
}

fn said(field: &Option<Field>) -> String {
    match field.as_ref().and_then(Field::filled) {
        Some(text) => format!("is `{text}`"),
        None => "is missing".to_owned(),
    }
}

fn as_the_parents_say(subject: &Subject<'_>, part: &str, value: Value) -> Option<Fix> {
    let set = Edit::Set { path: KeyPath::key("delegation").then(part), value };
    let title = format!("make `{part}` what the parents say");
    Fix::edit(Safety::Safe, title, subject.artifact, &[set])
}

fn quoted(words: &[impl AsRef<str>]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<String> = words.iter().take(SHOWN).map(|word| format!("`{}`", word.as_ref())).collect();
    if words.len() > SHOWN {
        text.push(format!("and {} more", words.len() - SHOWN));
    }
    if text.is_empty() { "nothing".to_owned() } else { text.join(", ") }
}

rules! { Delegation;
    pub(crate) UNREADABLE "SM501" "delegation-unreadable" Error Decision::OfArtifact(check_unreadable);
    pub(crate) ID_TWICE "SM502" "delegation-id-twice" Error Decision::OfArtifact(check_id_twice);
    pub(crate) ID_DISAGREES "SM503" "delegation-id-disagrees" Warning Decision::OfArtifact(check_id_disagrees);
    pub(crate) PARENT_MISSING "SM504" "delegation-parent-missing" Error Decision::OfArtifact(check_parent_missing);
    pub(crate) CIRCLE "SM505" "delegation-circle" Error Decision::OfArtifact(check_circle);
    pub(crate) DEPTH_WRONG "SM506" "delegation-depth-wrong" Warning Decision::OfArtifact(check_depth_wrong);
    pub(crate) ROOT_WRONG "SM507" "delegation-root-wrong" Warning Decision::OfArtifact(check_root_wrong);
    pub(crate) CHAIN_WRONG "SM508" "delegation-chain-wrong" Warning Decision::OfArtifact(check_chain_wrong);
    pub(crate) CHILDREN_OPEN "SM509" "delegation-children-open" Warning Decision::OfArtifact(check_children_open);
}

fn check_unreadable(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((_, member)) = member(subject) else { return };
    let Some(delegation) = &member.delegation else { return };
    if !delegation.is_mapping {
        let finding = subject.finding(&UNREADABLE, delegation.span, "`delegation` holds no keys");
        found.push(finding.with_help("write `delegation: {id, parent_id, root_id, depth, chain_path}`"));
    } else if member.id().is_none() {
        let message = "the delegation has no `id`, so nothing can be delegated from here";
        found.push(subject.finding(&UNREADABLE, delegation.span, message).with_help("give it one"));
    }
}

fn check_id_twice(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(chains) = subject.chains else { return };
    let Some(member) = chains.at(subject.artifact.path()) else { return };
    let Some(id) = member.id() else { return };
    let others = chains.with_id(id).filter(|other| other.path != member.path);
    let others: Vec<_> = others.map(|other| other.path.as_str()).collect();
    if !others.is_empty() {
        let message = format!("the id `{id}` is also that of {}", quoted(&others));
        let state = subject.artifact.state();
        let own = state.id.as_ref().or(state.stepmark_id.as_ref()).filter(|_| member.delegation.is_none());
        let place = own.map_or_else(|| span(member, |delegation| delegation.id.as_ref()), |id| id.span);
        let finding = subject.finding(&ID_TWICE, place, message);
        found.push(finding.with_help("a copied file keeps the id of its original: give one of them its own"));
    }
}

fn check_id_disagrees(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((_, member)) = member(subject) else { return };
    let (Some(id), Some(own)) = (member.id(), member.identity.as_deref()) else { return };
    if own != id {
        let message = format!("the delegation calls this artifact `{id}`, its own id is `{own}`");
        let finding =
            subject.finding(&ID_DISAGREES, span(member, |delegation| delegation.id.as_ref()), message);
        found.push(finding.with_help("make them the same"));
    }
}

fn check_parent_missing(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((chains, member)) = member(subject) else { return };
    let Ancestry::Broken { below, missing } = chains.ancestry(member) else { return };
    if below.path == member.path {
        let message = format!("no artifact of the project has the id `{missing}` of the parent");
        let finding = subject.finding(
            &PARENT_MISSING,
            span(member, |delegation| delegation.parent_id.as_ref()),
            message,
        );
        let help = "it was removed, or its id was changed: put it back, or make this one a root";
        let fix = as_a_root(subject, member);
        let help = match fix {
            Some(_) => {
                format!("{help}: `stepmark check --fix --unsafe-fixes {}`", argument(member.path.as_str()))
            }
            None => help.to_owned(),
        };
        found.push(finding.with_help(help).with_fix(fix));
    }
}

fn as_a_root(subject: &Subject<'_>, member: &Member) -> Option<Fix> {
    let delegation = member.delegation.as_ref().filter(|delegation| delegation.is_mapping)?;
    let id = delegation.id()?;
    let set = |part: &str, value| Edit::Set { path: KeyPath::key("delegation").then(part), value };
    let edits = [
        set("parent_id", Value::Null),
        set("root_id", Value::from(id)),
        set("depth", Value::Integer(0)),
        set("chain_path", Value::Sequence(vec![Value::from(id)])),
    ];
    Fix::edit(Safety::Unsafe, "make this one a root", subject.artifact, &edits)
}

fn check_circle(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((chains, member)) = member(subject) else { return };
    let Ancestry::Circle(way) = chains.ancestry(member) else { return };
    if way.iter().any(|id| member.id() == Some(*id)) {
        let message = format!("the chain goes in a circle: {}", quoted(&way));
        let finding =
            subject.finding(&CIRCLE, span(member, |delegation| delegation.parent_id.as_ref()), message);
        found.push(finding.with_help("take the wrong `parent_id` out"));
    }
}

fn check_depth_wrong(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((member, delegation, way)) = place(subject) else { return };
    let depth = way.len().saturating_sub(1);
    if delegation.depth() != Some(depth) {
        let message =
            format!("`depth` {}, but {depth} artifacts stand above this one", said(&delegation.depth));
        let finding =
            subject.finding(&DEPTH_WRONG, span(member, |delegation| delegation.depth.as_ref()), message);
        let value = i64::try_from(depth).map(Value::Integer).ok();
        let fix = value.and_then(|value| as_the_parents_say(subject, "depth", value));
        found.push(finding.with_help("`parent_id` counts").with_fix(fix));
    }
}

fn check_root_wrong(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((member, delegation, way)) = place(subject) else { return };
    let Some(root) = way.first() else { return };
    if delegation.root_id.as_ref().and_then(Field::filled) != Some(*root) {
        let message = format!("`root_id` {}, but the chain begins with `{root}`", said(&delegation.root_id));
        let finding =
            subject.finding(&ROOT_WRONG, span(member, |delegation| delegation.root_id.as_ref()), message);
        let fix = as_the_parents_say(subject, "root_id", Value::from(*root));
        found.push(finding.with_help("`parent_id` counts").with_fix(fix));
    }
}

fn check_chain_wrong(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((_, delegation, way)) = place(subject) else { return };
    let path = delegation.chain_path.as_ref();
    let above = &way[..way.len().saturating_sub(1)];
    // Some tools write ancestors only.
    let is_right = path.is_some_and(|path| path.ids == way || !above.is_empty() && path.ids == above);
    if !is_right {
        let said = path.map_or("is missing".to_owned(), |path| format!("is {}", quoted(&path.ids)));
        let message = format!("`chain_path` {said}, but the parents lead through {}", quoted(&way));
        let span = path.map_or(delegation.span, |path| path.span);
        let ids = Value::Sequence(way.iter().copied().map(Value::from).collect());
        let fix = as_the_parents_say(subject, "chain_path", ids);
        found
            .push(subject.finding(&CHAIN_WRONG, span, message).with_help("`parent_id` counts").with_fix(fix));
    }
}

fn check_children_open(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((chains, member)) = member(subject) else { return };
    let Some(id) = member.id().filter(|_| member.completion.is_finished()) else { return };
    let open: Vec<_> = chains.open_children(id).map(|child| child.path.as_str()).collect();
    if !open.is_empty() {
        let message = format!("this is finished, but not what was delegated from it: {}", quoted(&open));
        found.push(subject.finding(
            &CHILDREN_OPEN,
            span(member, |delegation| delegation.id.as_ref()),
            message,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::rules::sample::{fixed, found_in};

    #[test]
    fn a_delegation_has_keys_and_an_id() {
        for (delegation, expected) in [
            ("soon", "a.md:2:13 SM501 `delegation` holds no keys"),
            (
                "{depth: 0}",
                "a.md:2:13 SM501 the delegation has no `id`, so nothing can be delegated from here",
            ),
        ] {
            let file = format!("---\ndelegation: {delegation}\n---\n");
            assert_eq!(found_in(&UNREADABLE, &[("a.md", &file)]), [expected]);
        }
        let file = "---\ndelegation: {id: a, depth: 0, root_id: a, chain_path: [a]}\n---\n";
        assert!(found_in(&UNREADABLE, &[("a.md", file)]).is_empty());
    }

    #[test]
    fn both_are_named() {
        let file = "---\ndelegation: {id: a, depth: 0, root_id: a, chain_path: [a]}\n---\n";
        assert_eq!(
            found_in(&ID_TWICE, &[("a.md", file), ("b.md", file)]),
            [
                "a.md:2:18 SM502 the id `a` is also that of `b.md`",
                "b.md:2:18 SM502 the id `a` is also that of `a.md`"
            ]
        );
        let numbered: Vec<String> = (1..12).map(|number| format!("story-{number}.md")).collect();
        let numbered: Vec<(&str, &str)> = numbered.iter().map(|path| (path.as_str(), file)).collect();
        assert_eq!(found_in(&ID_TWICE, &numbered).len(), 11, "files with numbers, whatever their order");
        let plain = "---\nid: 1\n---\n";
        assert_eq!(
            found_in(&ID_TWICE, &[("a.md", plain), ("b.md", plain)]).len(),
            2,
            "ids that no chain uses"
        );
        assert!(found_in(&ID_TWICE, &[("a.md", plain)]).is_empty());
    }

    #[test]
    fn an_artifact_has_one_id() {
        let file = "---\nid: x\ndelegation: {id: y, depth: 0, root_id: y, chain_path: y}\n---\n";
        assert_eq!(
            found_in(&ID_DISAGREES, &[("a.md", file)]),
            ["a.md:3:18 SM503 the delegation calls this artifact `y`, its own id is `x`"]
        );
        assert!(found_in(&ID_DISAGREES, &[("a.md", &file.replace("id: x", "id: y"))]).is_empty());
    }

    #[test]
    fn only_the_child_of_the_missing_one_is_named() {
        let file =
            |id: &str, parent: &str| format!("---\ndelegation: {{id: {id}, parent_id: {parent}}}\n---\n");
        assert_eq!(
            found_in(&PARENT_MISSING, &[("a.md", &file("a", "x")), ("b.md", &file("b", "a"))]),
            ["a.md:2:32 SM504 no artifact of the project has the id `x` of the parent"]
        );
        assert!(
            found_in(&PARENT_MISSING, &[("a.md", &file("a", "null")), ("b.md", &file("b", "a"))]).is_empty()
        );
    }

    #[test]
    fn the_one_whose_parent_is_gone_becomes_a_root() {
        assert_eq!(fixed(&PARENT_MISSING, PARENT_MISSING.bad()).as_deref(), Some(PARENT_MISSING.good()));
    }

    #[test]
    fn all_of_the_circle_are_named_and_no_others() {
        let file =
            |id: &str, parent: &str| format!("---\ndelegation: {{id: {id}, parent_id: {parent}}}\n---\n");
        let found = found_in(
            &CIRCLE,
            &[("a.md", &file("a", "b")), ("b.md", &file("b", "a")), ("c.md", &file("c", "a"))],
        );
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("a.md:2:32 SM505 the chain goes in a circle"), "{found:?}");
        assert!(found[1].starts_with("b.md:2:32"), "{found:?}");
    }

    const ROOT: &str = "---\ndelegation: {id: a, root_id: a, depth: 0, chain_path: [a]}\n---\n";
    const CHILD: &str =
        "---\ndelegation: {id: b, parent_id: a, root_id: a, depth: 1, chain_path: [a, b]}\n---\n";

    #[test]
    fn the_parents_count() {
        for (new, expected) in [
            ("depth: 3", "b.md:2:54 SM506 `depth` is `3`, but 1 artifacts stand above this one"),
            ("x: 1", "b.md:2:13 SM506 `depth` is missing, but 1 artifacts stand above this one"),
        ] {
            let wrong = CHILD.replace("depth: 1", new);
            assert_eq!(found_in(&DEPTH_WRONG, &[("a.md", ROOT), ("b.md", &wrong)]), [expected]);
        }
        assert!(found_in(&DEPTH_WRONG, &[("a.md", ROOT), ("b.md", CHILD)]).is_empty());
        assert!(
            found_in(&DEPTH_WRONG, &[("a.md", ROOT), ("b.md", &CHILD.replace("depth: 1", "depth: '1'"))])
                .is_empty()
        );
    }

    #[test]
    fn is_counted_again() {
        let wrong = ROOT.replace("depth: 0", "depth: 2");
        assert_eq!(fixed(&DEPTH_WRONG, &wrong).as_deref(), Some(ROOT));
    }

    #[test]
    fn the_chain_begins_with_its_root() {
        let wrong = ROOT.replace("root_id: a", "root_id: x");
        assert_eq!(
            found_in(&ROOT_WRONG, &[("a.md", &wrong)]),
            ["a.md:2:30 SM507 `root_id` is `x`, but the chain begins with `a`"]
        );
        assert_eq!(fixed(&ROOT_WRONG, &wrong).as_deref(), Some(ROOT));
        assert!(found_in(&ROOT_WRONG, &[("a.md", ROOT)]).is_empty());
    }

    #[test]
    fn the_way_leads_through_the_parents() {
        let wrong = CHILD.replace("[a, b]", "[x, b]");
        assert_eq!(
            found_in(&CHAIN_WRONG, &[("a.md", ROOT), ("b.md", &wrong)]),
            ["b.md:2:69 SM508 `chain_path` is `x`, `b`, but the parents lead through `a`, `b`"]
        );
        assert!(found_in(&CHAIN_WRONG, &[("a.md", ROOT), ("b.md", CHILD)]).is_empty());
        let ancestors = CHILD.replace("[a, b]", "[a]");
        assert!(
            found_in(&CHAIN_WRONG, &[("a.md", ROOT), ("b.md", &ancestors)]).is_empty(),
            "the ancestors alone"
        );
    }

    #[test]
    fn is_written_again() {
        assert_eq!(fixed(&CHAIN_WRONG, &ROOT.replace("[a]", "[x, a]")).as_deref(), Some(ROOT));
    }

    #[test]
    fn the_open_children_are_named() {
        let parent = "---\nid: a\nstatus: done\n---\n";
        let child = "---\nstatus: todo\ndelegation: {id: b, parent_id: a, root_id: a, depth: 1, chain_path: [a, b]}\n---\n";
        assert_eq!(
            found_in(&CHILDREN_OPEN, &[("a.md", parent), ("b.md", child)]),
            ["a.md:1:1 SM509 this is finished, but not what was delegated from it: `b.md`"]
        );
        assert!(
            found_in(&CHILDREN_OPEN, &[("a.md", parent), ("b.md", &child.replace("todo", "done"))])
                .is_empty()
        );
        assert!(
            found_in(&CHILDREN_OPEN, &[("a.md", &parent.replace("done", "todo")), ("b.md", child)])
                .is_empty()
        );
    }

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
