//! SM103: the frontmatter is no YAML.

use super::tab_in_indentation;
use crate::artifact::{Artifact, Problem};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use stepmark_frontmatter::{ParseError, merge_sides};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM103",
    name: "not-yaml",
    group: Group::Document,
    severity: Severity::Error,
    summary: "The frontmatter is no YAML.",
    why: "No reader gets any state out of the file. A value with `: ` or ` #` in it, or text after a \
              closing quote, is the usual cause.",
    bad: "---\nstatus: 'draft' of May\n---\n",
    good: "---\nstatus: 'draft of May'\n---\n",
    fix: "Put the value in quotes. The message says where the reader gave up, which may be a little \
              below the mistake.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    // A tab is said to be one, by a rule of its own.
    if tab_in_indentation::tabs_to_blame(subject.artifact).is_some() {
        return;
    }
    let is_about = |problem: &Problem| {
        let error = match problem {
            Problem::NotYaml { error } => error,
            _ => return false,
        };
        matches!(
            error,
            ParseError::NotUtf8 { .. } | ParseError::Syntax { .. } | ParseError::MergeConflict { .. }
        )
    };
    found.extend(subject.diagnosed(&RULE, is_about).map(|finding| {
        let place = subject.artifact.bytes().get(finding.span.start..).unwrap_or_default();
        let help = place.starts_with(b"<<<<<<<").then(|| conflict_help(subject.artifact)).flatten();
        help.map_or(finding.clone(), |help| finding.with_help(help))
    }));
}

/// The names of both sides of a conflict, and their steps together, if both of them have some.
fn conflict_help(artifact: &Artifact) -> Option<String> {
    let [ours, theirs] = merge_sides(std::str::from_utf8(artifact.bytes()).ok()?)?;
    let names = format!("choose between `{}` and `{}`", ours.0, theirs.0);
    let steps = |side: String| -> Vec<String> {
        let side = Artifact::read(artifact.path().clone(), side.into_bytes());
        side.steps().into_iter().flat_map(|steps| steps.spellings()).map(str::to_owned).collect()
    };
    let [mut ours, theirs] = [steps(ours.1), steps(theirs.1)];
    let is_union = !ours.is_empty() && !theirs.is_empty() && ours != theirs;
    ours.extend(theirs.into_iter().filter(|step| !ours.contains(step)).collect::<Vec<_>>());
    Some(if is_union { format!("{names}; both have steps, together [{}]", ours.join(", ")) } else { names })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn says_where_the_reader_gave_up() {
        assert_eq!(
            found(&RULE, "---\nstatus: 'draft' of May\n---\n"),
            ["2:17 SM103 not YAML: invalid trailing content after single-quoted scalar"]
        );
        assert_eq!(
            found(&RULE, "---\nid: P\n<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> other\n---\n"),
            [
                "3:1 SM103 a merge conflict begins here that nobody has resolved: both versions stand in the file"
            ]
        );
        assert_eq!(found(&RULE, "---\na: {b: c\n---\n").len(), 1);
        assert!(found(&RULE, "---\nstatus: \"draft: of May\"\n---\n").is_empty());
    }
}
