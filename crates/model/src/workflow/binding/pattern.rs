//! File names with placeholders, from step files.

/// An output file name: `{planning_artifacts}/product-brief-{{project_name}}-{{date}}.md` gives
/// `product-brief-*-*.md`.
///
/// Placeholders `{{…}}`, `{…}`, `[…]` and `*` match any text. Ignores case.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OutputPattern {
    /// Lower-case texts between placeholders; at least one is not empty.
    literals: Vec<String>,
}

impl OutputPattern {
    /// `None` if the last component is not a Markdown file, or is only placeholders.
    pub fn parse(value: &str) -> Option<Self> {
        let value = value.trim().trim_matches(['`', '\'', '"']).to_lowercase();
        let stem = value.strip_suffix(".md")?;
        let mut literals = vec![String::new()];
        let mut depth = 0_usize;
        for letter in stem.chars() {
            match letter {
                '{' | '[' => depth += 1,
                '}' | ']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        literals.push(String::new());
                    }
                }
                '*' if depth == 0 => literals.push(String::new()),
                // Only the last component is a file name; a slash within a placeholder does not split.
                '/' if depth == 0 => literals = vec![String::new()],
                letter if depth == 0 => literals.last_mut()?.push(letter),
                _ => {}
            }
        }
        let telling = literals.iter().any(|literal| literal.contains(char::is_alphanumeric));
        telling.then_some(Self { literals })
    }

    pub fn fits(&self, file_name: &str) -> bool {
        let name = file_name.to_lowercase();
        let Some(stem) = name.strip_suffix(".md") else { return false };
        let Some((first, rest)) = self.literals.split_first() else { return false };
        let Some(mut stem) = stem.strip_prefix(first.as_str()) else { return false };
        let Some((last, middle)) = rest.split_last() else { return stem.is_empty() };
        for literal in middle {
            let Some(at) = stem.find(literal.as_str()) else { return false };
            stem = &stem[at + literal.len()..];
        }
        stem.ends_with(last.as_str())
    }

    /// Bytes outside of placeholders: the better match has more.
    pub(in crate::workflow) fn weight(&self) -> usize {
        self.literals.iter().map(String::len).sum()
    }
}

/// Weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameAgreement {
    /// Shared words at the start: `testarch-nfr` and `testarch-nfr-assess`.
    Prefix(usize),
    /// Equal without `bmad-` and a verb: `prd` and `bmad-create-prd`.
    Core,
    Exact,
}

/// Ignores case.
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

/// `bmad-create-prd`, `create-prd` and `prd` are one workflow (releases 6.3, 6.0.4, alphas).
pub(in crate::workflow) fn core(name: &str) -> &str {
    let name = name.strip_prefix("bmad-").unwrap_or(name);
    let verbs = ["create-", "edit-", "validate-", "generate-", "check-"];
    verbs.iter().find_map(|verb| name.strip_prefix(verb)).filter(|core| !core.is_empty()).unwrap_or(name)
}

pub(in crate::workflow) fn words(name: &str) -> Vec<String> {
    parts(name).map(str::to_lowercase).collect()
}

fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use NameAgreement::{Core, Exact, Prefix};

    #[test]
    fn fits_the_names_it_gives() {
        for (pattern, name, fits) in [
            ("{planning_artifacts}/prd.md", "prd.md", true),
            ("{planning_artifacts}/prd.md", "PRD.md", true),
            ("{planning_artifacts}/prd.md", "my-prd.md", false),
            ("{a}/product-brief-{{project_name}}-{{date}}.md", "product-brief-shop-2026-01-01.md", true),
            ("{a}/product-brief-{{project_name}}-{{date}}.md", "product-brief-shop.md", false),
            ("x/{{type}}-research-{{date}}.md", "market-research-2026.md", true),
            ("[output-name]-plan-{project_name}.md", "a-plan-b.md", true),
            ("`{a}/*ux-design*.md`", "ux-design-specification.md", true),
            ("{a}/gdd.md", "gdd.txt", false),
            ("{a}/aa-{b}-aa.md", "aa-aa.md", false),
        ] {
            let parsed = OutputPattern::parse(pattern).unwrap_or_else(|| panic!("{pattern}"));
            assert_eq!(parsed.fits(name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn refuses_what_fits_everything_or_is_no_document() {
        for value in [
            "{file}.md",
            "{folder}/{{name}}.md",
            "[output-name]-{project_name}.md",
            "{a}/x.yaml",
            "",
            "*.md",
            "{status_file}",
            "x/.md",
        ] {
            assert_eq!(OutputPattern::parse(value), None, "{value}");
        }
    }

    #[test]
    fn agrees_across_releases() {
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
