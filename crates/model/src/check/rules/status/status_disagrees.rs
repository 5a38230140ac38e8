//! SM302: the line `Status:` of the body says something else than the frontmatter.

use super::sprint_status_disagrees::remedy;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::{
    artifact::Problem,
    bmad::sprint::{LedgerKey, LedgerWords, WordChange},
    check::{Fix, Safety},
};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM302",
    name: "status-disagrees",
    group: Group::Status,
    severity: Severity::Warning,
    summary: "The line `Status:` of the body says something else than the frontmatter.",
    why: "A story file keeps its status in two places. People read the line, tools read the \
              frontmatter, and after a while they see different projects.",
    bad: "---\nstatus: in-progress\n---\n\n# Story 1.1\n\nStatus: review\n",
    good: "---\nstatus: review\n---\n\n# Story 1.1\n\nStatus: review\n",
    fix: "The frontmatter counts: make the line say the same. In stories `stepmark project --ledgers` does; where the line is \
           further, and history does not tell why, only with `--reason TEXT`. `stepmark import stories --prefer furthest` takes in a line that is \
           further, as the workflows of BMAD 6.0 write it.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for diagnosis in subject.diagnoses(|problem| matches!(problem, Problem::StatusDisagrees { .. })) {
        let Problem::StatusDisagrees { frontmatter, body } = &diagnosis.problem else { continue };
        let path = subject.artifact.path();
        let key = LedgerKey::of(path).map(|(key, _)| key).filter(|key| key.is_story());
        let words = LedgerWords::of_story(subject.lifecycle()).in_file(path);
        let change = match words.change(body, frontmatter) {
            WordChange::Forward if words.is_sent_back(frontmatter, body) => WordChange::SentBack,
            change => change,
        };
        // The line is the newer of the two where it is further; and what says more than a status is a
        // person's to change.
        let is_alone = subject.artifact.state().body_status.as_ref().is_some_and(|line| !line.has_more);
        let is_safe =
            !matches!(change, WordChange::Back | WordChange::SentBack) && !frontmatter.contains(['\n', '\r']);
        let title = format!("make the line say `{frontmatter}`");
        let fix = (is_safe && is_alone)
            .then(|| Fix::splice(Safety::Unsafe, title, diagnosis.span, frontmatter.as_str()));
        let finding = subject.finding(&RULE, diagnosis.span, diagnosis.problem.to_string());
        let help = match key {
            Some(_) => remedy(change, path, "status-line", "makes the line say the same"),
            None if change == WordChange::Back => {
                "the line is further: make both say what is true".to_owned()
            }
            None => "the frontmatter counts; make the line say the same".to_owned(),
        };
        found.push(finding.with_help(help).with_fix(fix));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found, helps_in};

    #[test]
    fn a_line_that_is_further_is_not_taken_back() {
        let text = |line: &str| format!("---\nstatus: in-progress\n---\n# Story 1.1\n\nStatus: {line}\n");
        let help = |line: &str| helps_in(&RULE, &[("1-1-a.md", text(line).as_str())]).concat();
        insta::assert_snapshot!(help("review"), @"`stepmark import stories --prefer furthest 1-1-a.md` takes in what is further along, as after a workflow of BMAD; where the frontmatter is right, `stepmark project --ledgers --reason TEXT` makes the line say the same, and TEXT says why it goes back");
        insta::assert_snapshot!(help("backlog"), @"the frontmatter counts: `stepmark project --ledgers` makes the line say the same; where the other one is right, `stepmark import stories --prefer status-line 1-1-a.md`");
        assert_eq!(fixed(&RULE, &text("review")), None);
        assert_eq!(found(&RULE, &text("review")).len(), 1);
        let sent_back = text("in-progress").replace("status: in-progress", "status: review");
        assert_eq!((fixed(&RULE, &sent_back), found(&RULE, &sent_back).len()), (None, 1));
        assert_eq!(fixed(&RULE, &text("backlog")), Some(text("in-progress")));
    }

    #[test]
    fn a_sentence_is_never_replaced() {
        let file = |line: &str| format!("---\nstatus: in-progress\n---\n# 1.1\n\nStatus: {line}\n");
        assert_eq!(fixed(&RULE, &file("backlog, once Ana has seen it")), None);
        assert_eq!(found(&RULE, &file("backlog, once Ana has seen it")).len(), 1);
        assert_eq!(fixed(&RULE, &file("`backlog`.")), Some(file("`in-progress`.")));
        assert!(found(&RULE, &file("**in-progress**.")).is_empty());
    }

    #[test]
    fn the_line_says_what_the_frontmatter_says() {
        let file = "---\nstatus: in-progress\n---\n# 1.1\n\n**Status:** backlog\n";
        assert_eq!(
            found(&RULE, file),
            ["6:13 SM302 the body says `Status: backlog`, the frontmatter says `status: in-progress`"]
        );
        assert_eq!(fixed(&RULE, file), Some(file.replace("backlog", "in-progress")));
        assert!(found(&RULE, "---\nstatus: review\n---\nStatus: Review\n").is_empty());
        assert!(found(&RULE, "---\ntitle: x\n---\nStatus: review\n").is_empty());
    }
}
