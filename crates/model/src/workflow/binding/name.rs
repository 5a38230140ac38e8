//! How the names of workflows and the names that artifacts give for them compare.

/// How well two names agree, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameAgreement {
    /// One begins with all words of the other: `testarch-nfr` and `testarch-nfr-assess`, `ux` and `ux-design`. Holds how
    /// many words they share.
    Prefix(usize),
    /// They are the same but for `bmad-` and a verb in front: `prd` and `bmad-create-prd`.
    Core,
    /// They are the same.
    Exact,
}

/// Compares a workflow's name with what an artifact's `workflowType` says; case does not count.
pub(in crate::workflow) fn agreement(name: &str, workflow_type: &str) -> Option<NameAgreement> {
    let (name, wanted) = (name.to_lowercase(), workflow_type.trim().to_lowercase());
    if wanted.is_empty() {
        return None;
    }
    if name == wanted {
        return Some(NameAgreement::Exact);
    }
    let (name, wanted) = (core(&name), core(&wanted));
    if name == wanted {
        return Some(NameAgreement::Core);
    }
    let shared = parts(name).zip(parts(wanted)).take_while(|(a, b)| a == b).count();
    let all = || parts(name).count().min(parts(wanted).count());
    (shared > 0 && shared == all()).then_some(NameAgreement::Prefix(shared))
}

/// A name without what its releases put in front: `bmad-create-prd`, `create-prd` and `prd` are one workflow
/// (releases 6.3, 6.0.4 and the alphas).
pub(in crate::workflow) fn core(name: &str) -> &str {
    let name = name.strip_prefix("bmad-").unwrap_or(name);
    let verbs = ["create-", "edit-", "validate-", "generate-", "check-"];
    verbs.iter().find_map(|verb| name.strip_prefix(verb)).filter(|core| !core.is_empty()).unwrap_or(name)
}

/// The words of a file's stem or a name, lower-case.
pub(in crate::workflow) fn words(name: &str) -> Vec<String> {
    parts(name).map(str::to_lowercase).collect()
}

fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_across_releases() {
        use NameAgreement::{Core, Exact, Prefix};
        for (name, workflow_type, expected) in [
            ("create-prd", "prd", Some(Core)),
            ("bmad-create-prd", "prd", Some(Core)),
            ("prd", "prd", Some(Exact)),
            ("PRD", "prd", Some(Exact)),
            ("create-ux-design", "ux-design", Some(Core)),
            ("create-ux-design", "ux", Some(Prefix(1))),
            ("create-epics-and-stories", "epics", Some(Prefix(1))),
            ("bmad-testarch-nfr", "testarch-nfr-assess", Some(Prefix(2))),
            ("bmad-testarch-trace", "testarch-nfr-assess", None),
            ("create-prd", "product-brief", None),
            ("create-prd", "", None),
            ("create-", "x", None),
        ] {
            assert_eq!(agreement(name, workflow_type), expected, "{name} {workflow_type}");
        }
        assert!(Exact > Core && Core > Prefix(9) && Prefix(2) > Prefix(1));
    }
}
