//! SM902: finished work is open again.

use super::{argument, is_finished, place_of_status, readable_base, status_move};
use crate::check::{Finding, Group, Loss, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM902",
    name: "finished-work-reopened",
    group: Group::History,
    severity: Severity::Error,
    summary: "The status of finished work went back, and neither the lifecycle nor history says that it may.",
    why: "What is finished was reviewed, and others build on it. A status that goes back by itself is mostly a file that was \
              written from an older copy.",
    bad: "---\n# in the last commit: done\nstatus: in-progress\n---\n",
    good: "---\nstatus: done\n---\n",
    fix: "Put the status back. If the work is to go on, `stepmark transition` or `set` does it, so that history tells who did that and \
              when.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(base) = readable_base(subject) else { return };
    let Some((before, after)) = status_move(&base, subject.artifact) else { return };
    if !is_finished(base.lifecycle(), before) || is_finished(base.lifecycle(), after) {
        return;
    }
    let is_legal = base.lifecycle().is_some_and(|table| table.legal_move(Some(before), after, None).is_ok());
    if is_legal || base.accepts(Loss::Value { key: "status" }) {
        return;
    }
    let message = if after.is_empty() {
        format!("the work was finished (`status: {before}`), and has no status any more")
    } else {
        format!("the work was finished (`status: {before}`), and is `{after}` now")
    };
    let path = argument(subject.artifact.path().as_str());
    let target = if after.is_empty() { "STATUS".to_owned() } else { argument(after) };
    let command = match base.lifecycle() {
        Some(_) => format!("stepmark transition {path} {target} --force --reason TEXT"),
        None => format!("stepmark set {path} status={target}"),
    };
    let help = format!("put `status: {before}` back; if the work is to go on, say so: `{command}`");
    found.push(subject.finding(&RULE, place_of_status(subject.artifact), message).with_help(help));
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Accepts, found_after, found_after_all};
    use super::RULE;
    use crate::check::Loss;

    /// A spec of BMAD 6.11 has a lifecycle.
    const SPEC: &str = "type: feature\ncontext: [a.md]\n";

    #[test]
    fn only_finished_work_is_reopened() {
        for (before, after, expected) in [
            ("status: done", "status: in-progress", 1),
            ("status: Completed", "status: draft", 1),
            ("status: complete", "title: x", 1),
            ("status: complete", "status: done", 0),
            ("status: in-progress", "status: draft", 0),
            ("title: x", "status: draft", 0),
            ("status: done", "status: DONE", 0),
        ] {
            assert_eq!(found_after(&RULE, before, after).len(), expected, "{before} → {after}");
        }
    }

    #[test]
    fn what_the_lifecycle_or_history_allows_is_accepted() {
        let spec = |status: &str| format!("{SPEC}status: {status}");
        assert!(found_after(&RULE, &spec("done"), &spec("in-review")).is_empty(), "a follow-up review");
        assert_eq!(found_after(&RULE, &spec("done"), &spec("draft")).len(), 1);
        let accepted = Accepts(&[Loss::Value { key: "status" }]);
        assert!(found_after_all(&RULE, "status: done", "status: draft", &accepted).is_empty());
    }
}
