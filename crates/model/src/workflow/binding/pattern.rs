//! File names with placeholders, as step files give them for their output.

/// The file name that a workflow gives to its artifacts, with placeholders: from
/// `{planning_artifacts}/product-brief-{{project_name}}-{{date}}.md` comes `product-brief-*-*.md`.
///
/// Placeholders are `{{…}}`, `{…}`, `[…]` and `*`; each stands for any text. Case does not count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OutputPattern {
    /// The texts between placeholders, lower-case. There are always at least one, and some text in one of them.
    literals: Vec<String>,
}

impl OutputPattern {
    /// Reads the value of a key such as `outputFile`; `None` where its last part names no Markdown file or nothing but
    /// placeholders (it would fit every file).
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
                // Only the last part is a file's name; a slash in a placeholder is none.
                '/' if depth == 0 => literals = vec![String::new()],
                letter if depth == 0 => literals.last_mut()?.push(letter),
                _ => {}
            }
        }
        let telling = literals.iter().any(|literal| literal.contains(char::is_alphanumeric));
        telling.then_some(Self { literals })
    }

    /// Whether a file name (with its extension) fits.
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

    /// How much of a name the pattern fixes, in bytes: of two that fit, the larger one says more.
    pub(in crate::workflow) fn weight(&self) -> usize {
        self.literals.iter().map(String::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
