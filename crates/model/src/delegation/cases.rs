//! Chains as they are found: whole, broken, circular.

use super::*;
use crate::artifact::{Artifact, ProjectPath};
use stepmark_frontmatter::{Edit, KeyPath, Region, apply};

fn member(path: &str, frontmatter: &str) -> Member {
    let file = format!("---\n{frontmatter}\n---\n");
    Member::of(&Artifact::read(ProjectPath::new(path).unwrap(), file.into_bytes()), None)
}

fn linked(path: &str, id: &str, parent: &str) -> Member {
    member(path, &format!("status: todo\ndelegation: {{id: {id}, parent_id: {parent}}}"))
}

#[test]
fn ways_lead_to_the_root_or_say_why_not() {
    let chains = Chains::of([
        member("root.md", "id: r"),
        linked("a.md", "a", "r"),
        linked("b.md", "b", "a"),
        linked("lost.md", "l", "gone"),
        linked("below-lost.md", "bl", "l"),
        linked("x.md", "x", "y"),
        linked("y.md", "y", "x"),
        linked("of-x.md", "ox", "x"),
        linked("self.md", "s", "s"),
        linked("twin1.md", "t", "r"),
        linked("twin2.md", "t", "r"),
        linked("of-twin.md", "ot", "t"),
        member("nameless.md", "status: todo\ndelegation: {parent_id: r}"),
        member("other.md", "status: todo"),
    ]);
    let ancestry = |path: &str| {
        let member = chains.members().iter().find(|member| member.path.as_str() == path).unwrap();
        chains.ancestry(member)
    };
    assert_eq!(ancestry("b.md"), Ancestry::Whole(vec!["r", "a", "b"]));
    assert!(
        matches!(ancestry("below-lost.md"), Ancestry::Broken { below, missing: "gone" } if below.path.as_str() == "lost.md")
    );
    assert_eq!(ancestry("x.md"), Ancestry::Circle(vec!["y", "x"]));
    assert_eq!(ancestry("of-x.md"), Ancestry::Circle(vec!["y", "x"]));
    assert_eq!(ancestry("self.md"), Ancestry::Circle(vec!["s"]));
    assert_eq!(ancestry("of-twin.md"), Ancestry::Ambiguous { id: "t" });
    assert_eq!(ancestry("nameless.md"), Ancestry::Nameless);
    assert!(chains.members().iter().all(|member| member.path.as_str() != "other.md"));

    let forest = Forest::of(&chains);
    let drawn: Vec<(usize, &str, bool)> =
        forest.rows.iter().map(|row| (row.level, row.member.path.as_str(), row.is_cut_off)).collect();
    assert_eq!(drawn.len(), chains.members().len(), "each once: {drawn:?}");
    for expected in [
        (0, "root.md", false),
        (1, "a.md", false),
        (2, "b.md", false),
        (0, "lost.md", true),
        (1, "below-lost.md", false),
        (0, "of-twin.md", true),
        (0, "nameless.md", true),
    ] {
        assert!(drawn.contains(&expected), "{expected:?} in {drawn:?}");
    }
    let below = forest.below(&ProjectPath::new("root.md").unwrap());
    let below: Vec<&str> = below.iter().map(|row| row.member.path.as_str()).collect();
    assert_eq!(below, ["root.md", "a.md", "b.md", "twin1.md", "twin2.md"]);
}

#[test]
fn a_chain_of_any_length_is_walked() {
    let members = (0..2_000).map(|depth: usize| match depth.checked_sub(1) {
        None => member("0.md", "id: i0"),
        Some(above) => linked(&format!("{depth}.md"), &format!("i{depth}"), &format!("i{above}")),
    });
    let chains = Chains::of(members);
    let last = chains.with_id("i1999").next().unwrap();
    assert!(matches!(chains.ancestry(last), Ancestry::Whole(way) if way.len() == 2_000));
}

#[test]
fn a_place_is_read_back_as_it_was_written() {
    let root = ChainPosition::root("r: 1");
    let child = root.child("a/b").unwrap().child("007").unwrap();
    for place in [root, child] {
        let edit = Edit::Set { path: KeyPath::key("delegation"), value: place.to_value() };
        let edited = apply(b"---\nstatus: todo\n---\n", &Region::Frontmatter, &[edit]).unwrap();
        let artifact = Artifact::read(ProjectPath::new("a.md").unwrap(), edited.bytes.clone());
        let text = String::from_utf8(edited.bytes).unwrap();
        assert!(artifact.diagnoses().is_empty(), "{text}");
        let member = Member::of(&artifact, None);
        assert_eq!(ChainPosition::of(&member, "unused").unwrap(), place, "{text}");
        let delegation = member.delegation.unwrap();
        assert_eq!(delegation.depth(), Some(place.depth()), "{text}");
        assert_eq!(delegation.root_id.unwrap().text, "r: 1", "{text}");
    }
}

#[test]
fn an_unclear_parent_gives_no_child_a_place() {
    for (frontmatter, reason) in [
        ("delegation: [a]\nid: x", "no mapping"),
        ("delegation: {id: b, parent_id: a}", "no `chain_path`"),
        ("delegation: {id: b, parent_id: a, chain_path: [r, b]}", "through `parent_id`"),
        ("delegation: {id: b, parent_id: a, chain_path: [b, a, b]}", "circle"),
    ] {
        let error = ChainPosition::of(&member("a.md", frontmatter), "new").unwrap_err().to_string();
        assert!(error.contains(reason), "{frontmatter}: {error}");
    }
    let ancestors_only = member("a.md", "delegation: {id: b, parent_id: a, chain_path: [r, a]}");
    assert_eq!(ChainPosition::of(&ancestors_only, "new").unwrap().chain(), ["r", "a", "b"]);
    let mut place = ChainPosition::root("0");
    for depth in 1..=64 {
        place = place.child(depth.to_string()).unwrap();
    }
    assert!(matches!(place.child("x"), Err(ParentPositionError::TooDeep { depth: 64 })));
}

#[test]
fn agents_are_read_where_work_is_delegated() {
    let agent = |frontmatter: &str| member("a.md", frontmatter).agent.map(|agent| agent.0);
    assert_eq!(agent("assignee: writer\ndelegation: {id: a}").as_deref(), Some("writer"));
    assert_eq!(agent("agent: 'x'\ndelegation: {id: a}").as_deref(), Some("x"));
    assert_eq!(agent("assignee: writer\nid: a"), None);
}
