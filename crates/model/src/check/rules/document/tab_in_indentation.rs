//! SM111: a line of the frontmatter is indented with a tab.

use crate::{
    artifact::{Artifact, Problem},
    check::{Finding, Fix, Group, Rule, Safety, Severity, Subject, rule::Decision},
};
use stepmark_frontmatter::{ParseError, Span, Splice, Yaml};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM111",
    name: "tab-in-indentation",
    group: Group::Document,
    severity: Severity::Error,
    summary: "A line of the frontmatter is indented with a tab, which makes it no YAML.",
    why: "YAML indents with blanks alone (YAML 1.2.2, §6.1), since nobody knows how wide a tab is. No reader gets any state \
          out of the file.",
    bad: "---\nstatus: draft\nstepsCompleted:\n\t- step-01-init\n---\n",
    good: "---\nstatus: draft\nstepsCompleted:\n  - step-01-init\n---\n",
    fix: "Write blanks. Where all indentation is made of tabs, the fix is safe: two blanks stand for each.",
    decision: Decision::OfArtifact(check),
};

/// The blanks in place of a tab.
const BLANKS: &str = "  ";

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(tabs) = tabs_to_blame(subject.artifact) else { return };
    let Some(first) = tabs.runs.first().copied() else { return };
    let message = match tabs.runs.len() {
        1 => "this line is indented with a tab, which YAML does not allow".to_owned(),
        lines => {
            format!("this line and {} more are indented with tabs, which YAML does not allow", lines - 1)
        }
    };
    let finding = subject.finding(&RULE, first, message).with_help("indent with blanks");
    let safety = if tabs.are_alone { Safety::Safe } else { Safety::Unsafe };
    let splices: Vec<Splice> =
        tabs.runs.iter().map(|run| Splice { span: *run, text: blanks(subject.artifact, *run) }).collect();
    let fix =
        tabs.are_all.then(|| Fix { safety, title: "write two blanks for each tab".to_owned(), splices });
    found.push(finding.with_fix(fix));
}

/// Tabs that make frontmatter unreadable.
pub(super) struct TabIndentation {
    /// The blank beginnings of lines that hold a tab, in file order.
    runs: Vec<Span>,
    /// True if blanks in their place make the frontmatter readable.
    are_all: bool,
    /// True if no line is indented with blanks.
    are_alone: bool,
}

/// The tabs at the beginnings of lines, where they are why the frontmatter is no YAML: with blanks in their
/// place it can be read, at least further than now. `None` where it can be read, or something else is wrong
/// with it.
pub(super) fn tabs_to_blame(artifact: &Artifact) -> Option<TabIndentation> {
    let is_syntax =
        |problem: &Problem| matches!(problem, Problem::NotYaml { error: ParseError::Syntax { .. } });
    let failed = artifact.diagnoses().iter().find(|diagnosis| is_syntax(&diagnosis.problem))?.span.start;
    let content = artifact.state_span()?;
    let bytes = artifact.bytes();
    let indents = indents(bytes, content);
    let (runs, others): (Vec<Span>, Vec<Span>) =
        indents.into_iter().partition(|indent| bytes[indent.range()].contains(&b'\t'));
    if runs.is_empty() {
        return None;
    }
    let mut blank = Vec::with_capacity(content.len());
    let mut at = content.start;
    let mut moved = 0;
    for run in &runs {
        blank.extend_from_slice(&bytes[at..run.start]);
        let text = blanks(artifact, *run);
        blank.extend_from_slice(text.as_bytes());
        if run.start <= failed {
            moved += text.len() - run.len();
        }
        at = run.end;
    }
    blank.extend_from_slice(&bytes[at..content.end]);
    let left = Yaml::parse(&blank, Span::new(0, blank.len())).err();
    let is_further = |error: &ParseError| error.offset() > failed.saturating_sub(content.start) + moved;
    let are_alone = others.is_empty() && runs.iter().all(|run| !bytes[run.range()].contains(&b' '));
    left.as_ref().is_none_or(is_further).then(|| TabIndentation { runs, are_all: left.is_none(), are_alone })
}

/// The blank beginnings of the lines that hold something else, too.
fn indents(bytes: &[u8], content: Span) -> Vec<Span> {
    let mut indents = Vec::new();
    let mut start = content.start;
    for line in bytes[content.range()].split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
        let blank = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if blank > 0 && !line.trim_ascii().is_empty() {
            indents.push(Span::new(start, start + blank));
        }
        start += line.len();
    }
    indents
}

/// The blanks in place of the beginning of a line.
fn blanks(artifact: &Artifact, run: Span) -> String {
    artifact.bytes()[run.range()].iter().map(|byte| if *byte == b'\t' { BLANKS } else { " " }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        artifact::ProjectPath,
        check::rules::{
            document::not_yaml,
            sample::{fixed, found},
        },
    };

    #[test]
    fn a_tab_is_no_indentation() {
        let file = "---\nstatus: draft\nstepsCompleted:\n\t- step-01-init\n\t- step-02-discovery\nlead:\n\tname: Ada\n---\nbody\n";
        assert_eq!(
            found(&RULE, file),
            ["4:1 SM111 this line and 2 more are indented with tabs, which YAML does not allow"]
        );
        assert_eq!(found(&not_yaml::RULE, file), Vec::<String>::new(), "one finding for one mistake");
        assert_eq!(fixed(&RULE, file), Some(file.replace('\t', "  ")));
        let one = "---\nlead:\n\tname: Ada\nstatus: draft\n---\n";
        assert_eq!(
            found(&RULE, one),
            ["3:1 SM111 this line is indented with a tab, which YAML does not allow"]
        );
        assert_eq!(fixed(&RULE, one), Some(one.replace('\t', "  ")));
    }

    #[test]
    fn what_is_wrong_otherwise_is_no_matter_of_tabs() {
        let other = "---\nstatus: 'a' b\nnotes: |\n  text\n  \tmore\n---\n";
        assert!(found(&RULE, other).is_empty(), "{:?}", found(&RULE, other));
        assert_eq!(found(&not_yaml::RULE, other).len(), 1);
        for fine in [
            "---\nstatus:\tdraft\n---\n",
            "---\nnotes: |\n  a\n  \tb\nstatus: draft\n---\n",
            "---\na: 1\n\t\n---\n",
        ] {
            assert!(found(&RULE, fine).is_empty(), "{fine:?}");
        }
        // The tabs stand before what is wrong, and do no harm there.
        let harmless = "---\nnotes: |\n  a\n  \t\tb\n  \t\tc\nstatus: 'a' b\n---\n";
        assert!(found(&RULE, harmless).is_empty(), "{:?}", found(&RULE, harmless));
        let both = "---\nlead:\n\tname: Ada\nstatus: 'a' b\n---\n";
        assert_eq!(found(&RULE, both).len(), 1);
        assert_eq!(fixed(&RULE, both), None, "blanks alone do not fix it");
    }
    proptest::proptest! {
        #[test]
        fn a_fix_leaves_frontmatter_that_can_be_read(text in "([a-c]: ?|\\t| |\n|- |'|\\||#){0,24}") {
            let file = format!("---\n{text}\n---\n");
            if let Some(fixed) = fixed(&RULE, &file) {
                proptest::prop_assert!(found(&RULE, &fixed).is_empty(), "{:?}", fixed);
                proptest::prop_assert!(found(&not_yaml::RULE, &fixed).is_empty(), "{:?}", fixed);
            }
            let both = found(&RULE, &file).len() + found(&not_yaml::RULE, &file).len();
            proptest::prop_assert!(both <= 1, "{:?}", file);
        }
    }

    /// Returns whether blanks may be written without asking.
    fn is_safe(frontmatter: &str) -> bool {
        let file = format!("---\n{frontmatter}---\n").into_bytes();
        let artifact = Artifact::read(ProjectPath::new("prd.md").unwrap(), file);
        let mut found = Vec::new();
        check(&Subject::alone(&artifact), &mut found);
        found[0].fix.as_ref().unwrap().safety == Safety::Safe
    }

    #[test]
    fn how_wide_a_tab_is_beside_blanks_is_for_a_person_to_say() {
        assert!(is_safe("lead:\n\tname: Ada\nstatus: draft\n"));
        assert!(is_safe("lead:\n\tname: Ada\n  \nstatus: draft\n"), "an empty line says nothing");
        assert!(!is_safe("lead:\n\tname: Ada\nother:\n  name: Ben\n"));
        assert!(!is_safe("lead:\n\t name: Ada\n"));
    }
}
