//! Chains of delegation → findings.

use super::{Finding, Severity};
use crate::{
    artifact::{Delegation, Field},
    delegation::{Ancestry, Chains, Member},
    document::Span,
};

/// What is wrong with the chains of a project, in the order of the paths.
pub fn chain_findings(chains: &Chains) -> Vec<Finding> {
    let members = chains.members().iter().filter(|member| chains.takes_part(member));
    members.flat_map(|member| findings(chains, member)).collect()
}

fn findings(chains: &Chains, member: &Member) -> Vec<Finding> {
    let mut found = Found { member, findings: Vec::new() };
    found.shape();
    found.identity(chains);
    match chains.ancestry(member) {
        Ancestry::Whole(way) => found.place(&way),
        Ancestry::Broken { below, missing } if below.path == member.path => found.push(
            "delegation-parent-missing",
            Severity::Error,
            found.span(|delegation| delegation.parent_id.as_ref()),
            format!("no artifact of the project has the id `{missing}` of the parent"),
            "it was removed, or its id was changed: put it back, or make this one a root",
        ),
        Ancestry::Circle(way) if way.iter().any(|id| member.id() == Some(*id)) => found.push(
            "delegation-circle",
            Severity::Error,
            found.span(|delegation| delegation.parent_id.as_ref()),
            format!("the chain goes in a circle: {}", quoted(&way)),
            "take the wrong `parent_id` out",
        ),
        Ancestry::Broken { .. } | Ancestry::Circle(_) | Ancestry::Ambiguous { .. } | Ancestry::Nameless => {}
    }
    found.children(chains);
    found.findings
}

/// The findings of one member.
struct Found<'c> {
    member: &'c Member,
    findings: Vec<Finding>,
}

impl Found<'_> {
    fn push(&mut self, rule: &'static str, severity: Severity, span: Span, message: String, help: &str) {
        let help = (!help.is_empty()).then(|| help.to_owned());
        self.findings.push(Finding { rule, severity, message, help, path: self.member.path.clone(), span });
    }

    /// Where a part of the delegation stands; the whole where the part is missing.
    fn span(&self, part: impl FnOnce(&Delegation) -> Option<&Field>) -> Span {
        let delegation = self.member.delegation.as_ref();
        delegation
            .map_or(Span::at(0), |delegation| part(delegation).map_or(delegation.span, |field| field.span))
    }

    /// What can be said of the value by itself.
    fn shape(&mut self) {
        let Some(delegation) = &self.member.delegation else { return };
        if !delegation.is_mapping {
            let message = "`delegation` holds no keys".to_owned();
            let help = "write `delegation: {id, parent_id, root_id, depth, chain_path}`";
            self.push("delegation-unreadable", Severity::Error, delegation.span, message, help);
        } else if self.member.id().is_none() {
            let message = "the delegation has no `id`, so nothing can be delegated from here".to_owned();
            self.push("delegation-unreadable", Severity::Error, delegation.span, message, "give it one");
        }
    }

    fn identity(&mut self, chains: &Chains) {
        let Some(id) = self.member.id() else { return };
        let span = self.span(|delegation| delegation.id.as_ref());
        let others: Vec<_> = chains
            .with_id(id)
            .filter(|other| other.path != self.member.path)
            .map(|other| other.path.as_str())
            .collect();
        if !others.is_empty() {
            let message = format!("the id `{id}` is also that of {}", quoted(&others));
            let help = "a copied file keeps the id of its original: give one of them its own";
            self.push("delegation-id-twice", Severity::Error, span, message, help);
        }
        if let Some(own) = self.member.identity.as_deref().filter(|own| *own != id) {
            let message = format!("the delegation calls this artifact `{id}`, its own id is `{own}`");
            self.push("delegation-id-disagrees", Severity::Warning, span, message, "make them the same");
        }
    }

    /// The written place against the one that the parents give.
    fn place(&mut self, way: &[&str]) {
        let Some(delegation) = self.member.delegation.as_ref().filter(|delegation| delegation.is_mapping)
        else {
            return;
        };
        let depth = way.len().saturating_sub(1);
        let said = |field: &Option<Field>| match field.as_ref().and_then(Field::filled) {
            Some(text) => format!("is `{text}`"),
            None => "is missing".to_owned(),
        };
        if delegation.depth() != Some(depth) {
            let message =
                format!("`depth` {}, but {depth} artifacts stand above this one", said(&delegation.depth));
            let span = self.span(|delegation| delegation.depth.as_ref());
            self.push("delegation-depth-wrong", Severity::Warning, span, message, "`parent_id` counts");
        }
        let root = way.first().copied();
        if delegation.root_id.as_ref().and_then(Field::filled) != root {
            let root = root.unwrap_or_default();
            let message =
                format!("`root_id` {}, but the chain begins with `{root}`", said(&delegation.root_id));
            let span = self.span(|delegation| delegation.root_id.as_ref());
            self.push("delegation-root-wrong", Severity::Warning, span, message, "`parent_id` counts");
        }
        let path = delegation.chain_path.as_ref();
        // Some write the ancestors alone.
        let is_right = path.is_some_and(|path| path.ids == way || depth > 0 && path.ids == way[..depth]);
        if !is_right {
            let said = path.map_or("is missing".to_owned(), |path| format!("is {}", quoted(&path.ids)));
            let message = format!("`chain_path` {said}, but the parents lead through {}", quoted(way));
            let span = path.map_or(delegation.span, |path| path.span);
            self.push("delegation-chain-wrong", Severity::Warning, span, message, "`parent_id` counts");
        }
    }

    fn children(&mut self, chains: &Chains) {
        let Some(id) = self.member.id().filter(|_| self.member.completion.is_finished()) else { return };
        let open: Vec<_> = chains.open_children(id).map(|child| child.path.as_str()).collect();
        if !open.is_empty() {
            let message = format!("this is finished, but not what was delegated from it: {}", quoted(&open));
            let span = self.span(|delegation| delegation.id.as_ref());
            self.push("delegation-children-open", Severity::Warning, span, message, "");
        }
    }
}

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
    use super::*;
    use crate::artifact::{Artifact, ProjectPath};

    const RIGHT: &str =
        "status: todo\ndelegation: {id: c, parent_id: b, root_id: a, depth: 2, chain_path: [a, b, c]}";

    fn rules(files: &[(&str, &str)]) -> Vec<(String, &'static str, String)> {
        let member = |(path, frontmatter): &(&str, &str)| {
            let file = format!("---\n{frontmatter}\n---\n");
            Member::of(&Artifact::read(ProjectPath::new(path).unwrap(), file.into_bytes()), None)
        };
        let found = chain_findings(&Chains::of(files.iter().map(member)));
        let shown = |finding: &Finding| {
            let (_, frontmatter) = files.iter().find(|(path, _)| *path == finding.path.as_str()).unwrap();
            let file = format!("---\n{frontmatter}\n---\n");
            let place = file[finding.span.range()].to_owned();
            (finding.path.to_string(), finding.rule, place)
        };
        found.iter().map(shown).collect()
    }

    #[test]
    fn a_right_chain_is_right() {
        let a = (
            "a.md",
            "stepmark_id: a\ndelegation: {id: a, parent_id: null, root_id: a, depth: 0, chain_path: [a]}",
        );
        let b = ("b.md", "delegation: {id: b, parent_id: a, root_id: a, depth: '1', chain_path: a/b}");
        assert_eq!(rules(&[a, b, ("c.md", RIGHT)]), []);
        let ancestors = RIGHT.replace("[a, b, c]", "[a, b]");
        assert_eq!(rules(&[a, b, ("c.md", &ancestors)]), [], "the ancestors alone");
        assert_eq!(rules(&[("a.md", "id: a"), b]), [], "a parent that knows of nothing");
        assert_eq!(rules(&[("a.md", "id: 1"), ("b.md", "id: 1")]), [], "ids that no chain uses");
    }

    #[test]
    fn each_mistake_is_found_at_its_place() {
        let a = ("a.md", "id: a\nstatus: done");
        let b = (
            "b.md",
            "status: done\ndelegation: {id: b, parent_id: a, root_id: a, depth: 1, chain_path: [a, b]}",
        );
        for (old, new, rule, place) in [
            ("depth: 2", "depth: 3", "delegation-depth-wrong", "3"),
            (
                "depth: 2, ",
                "",
                "delegation-depth-wrong",
                "{id: c, parent_id: b, root_id: a, chain_path: [a, b, c]}",
            ),
            ("root_id: a", "root_id: b", "delegation-root-wrong", "b"),
            ("[a, b, c]", "[a, c]", "delegation-chain-wrong", "[a, c]"),
            ("parent_id: b", "parent_id: x", "delegation-parent-missing", "x"),
            ("parent_id: b", "parent_id: c", "delegation-circle", "c"),
        ] {
            let wrong = RIGHT.replace(old, new).replace("todo", "done");
            let expected = ("c.md".to_owned(), rule, place.to_owned());
            assert_eq!(rules(&[a, b, ("c.md", &wrong)]), [expected], "{new}");
        }
        let found = rules(&[a, b, ("c.md", RIGHT), ("d.md", RIGHT)]);
        assert_eq!(
            found.iter().map(|(path, rule, _)| (path.as_str(), *rule)).collect::<Vec<_>>(),
            [
                ("b.md", "delegation-children-open"),
                ("c.md", "delegation-id-twice"),
                ("d.md", "delegation-id-twice")
            ]
        );
        let odd = rules(&[
            ("a.md", "status: todo\ndelegation: soon"),
            ("b.md", "id: x\ndelegation: {id: y, depth: 0, root_id: y, chain_path: y}"),
        ]);
        assert_eq!(odd[0], ("a.md".to_owned(), "delegation-unreadable", "soon".to_owned()));
        assert_eq!((odd[1].1, odd[1].2.as_str()), ("delegation-id-disagrees", "y"));
        assert_eq!(odd.len(), 2);
    }
}
