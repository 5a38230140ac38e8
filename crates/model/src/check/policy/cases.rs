//! Suppressions, levels and what is left.

use super::*;
use crate::{
    artifact::{Artifact, ProjectPath},
    check::{Severity, findings, rule_of},
};
use stepmark_frontmatter::LineIndex;

/// The findings that are reported about a file: `line id severity`.
fn reported(file: &str, levels: &[(&str, &str)], allowed: &[&Allowance]) -> (Vec<String>, usize) {
    let artifact = Artifact::read(ProjectPath::new("a.md").unwrap(), file.as_bytes().to_vec());
    let subject = Subject::alone(&artifact);
    let levels: Levels =
        levels.iter().map(|(rule, level)| (rule_of(rule).unwrap(), level.parse().unwrap())).collect();
    let judged = Policy { levels: &levels, allowed }.judge(&subject, findings(&subject));
    let line = |finding: &Finding| {
        let position = LineIndex::new(file.as_bytes()).position(file.as_bytes(), finding.span.start);
        format!("{} {} {}", position.line, finding.rule.id, finding.severity)
    };
    (judged.findings.iter().map(line).collect(), judged.suppressed)
}

fn reports(file: &str) -> Vec<String> {
    reported(file, &[], &[]).0
}

/// A file in which the key `x` stands twice, at line 3.
fn with_comments(above: &str, beside: &str) -> String {
    format!("---\nx: {{a: 1}}\n{above}x: 2{beside}\n---\n")
}

#[test]
fn a_comment_beside_or_above_accepts_with_a_reason() {
    for (above, beside) in [
        ("", " # stepmark: allow SM106 both are read by us"),
        ("", " # stepmark: allow key-twice: both are read by us"),
        ("# stepmark: allow SM106 both are read by us\n", ""),
        ("#stepmark: allow sm106, SM303 -- both\n# and another comment\n", ""),
    ] {
        let file = with_comments(above, beside);
        let reports = reports(&file);
        assert!(reports.iter().all(|line| !line.contains("SM106")), "{file}: {reports:?}");
        assert!(reports.iter().all(|line| !line.contains("SM001")), "{file}: {reports:?}");
    }
    let elsewhere = "---\nx: 1 # stepmark: allow SM106 reason\nx: 2\n---\n";
    assert_eq!(reports(elsewhere), ["2 SM002 warning", "3 SM106 error"], "it covers its own line alone");
    let text = "---\nx: 1\nx: '# stepmark: allow SM106 reason'\n---\n";
    assert_eq!(reports(text), ["3 SM106 error"], "a text is no comment");
}

#[test]
fn a_whole_file_can_be_accepted() {
    let file =
        "---\n# stepmark: allow-file SM106, SM302 an import\nx: 1\nx: 2\nx: 3\nstatus: a\n---\nStatus: b\n";
    assert_eq!(reported(file, &[], &[]), (vec![], 3));
}

#[test]
fn frontmatter_that_is_no_yaml_can_be_accepted() {
    let broken = "status: 'a' b";
    for (frontmatter, suppressed) in [
        (format!("# stepmark: allow-file SM103 an import\n{broken}\n"), 1),
        (format!("{broken}\ntitle: x\n  #  stepmark: allow-file SM103 an import\n"), 1),
        (format!("title: x\r\n{broken} #stepmark: allow-file SM103 an import\r\n"), 1),
        (format!("title: x\n{broken} # stepmark: allow SM103 its own line\n"), 1),
        (format!("title: x # stepmark: allow SM103 its own line\n{broken}\n"), 0),
        (format!("{broken}\ntitle: stepmark: allow-file SM103 no comment\n"), 0),
        (format!("stepmark: allow-file SM103 no comment\n{broken}\n"), 0),
    ] {
        let (reported, counted) = reported(&format!("---\n{frontmatter}---\n"), &[], &[]);
        let errors = reported.iter().filter(|line| line.contains("SM103")).count();
        assert_eq!((errors, counted), (1 - suppressed, suppressed), "{frontmatter}: {reported:?}");
    }
}

#[test]
fn faults_of_suppressions_are_findings() {
    for (comment, expected) in [
        ("# stepmark: allow SM106", &["3 SM001 warning"][..]),
        ("# stepmark: allow SM104 reason", &["3 SM002 warning", "4 SM106 error"]),
        ("# stepmark: allow SM106, SM104 reason", &["3 SM002 warning"]),
        ("# stepmark: alow SM106 reason", &["3 SM003 warning", "4 SM106 error"]),
        ("# stepmark: allow SM106, SM999 reason", &["3 SM003 warning", "4 SM106 error"]),
        ("# stepmark: allow", &["3 SM003 warning", "4 SM106 error"]),
        ("# stepmark: allow SM212 nobody can say without the workflow", &["4 SM106 error"]),
        ("# stepmark: allow SM601 nobody looked", &["4 SM106 error"]),
        ("# stepmarks: allow SM106", &["4 SM106 error"]),
        ("# stepmark: allow SM001, SM106", &["3 SM001 warning"]),
    ] {
        let found = reports(&with_comments(&format!("{comment}\n"), ""));
        assert_eq!(found, expected, "{comment}");
    }
}

#[test]
fn a_comment_that_still_accepts_something_is_not_taken_out() {
    let taken_out = |comment: &str| {
        let file = with_comments(&format!("{comment}\n"), "");
        let artifact = Artifact::read(ProjectPath::new("a.md").unwrap(), file.clone().into_bytes());
        let subject = Subject::alone(&artifact);
        let policy = Policy { levels: &Levels::default(), allowed: &[] };
        let judged = policy.judge(&subject, findings(&subject)).findings;
        let unused = judged.into_iter().find(|finding| finding.rule.id == "SM002").unwrap();
        unused.fix.map(|fix| file[fix.splices[0].span.range()].to_owned())
    };
    for (comment, is_taken_out) in [
        ("# stepmark: allow SM104 reason", true),
        ("# stepmark: allow SM104, SM101 reason", true),
        ("# stepmark: allow SM106, SM104 reason", false),
    ] {
        assert_eq!(taken_out(comment), is_taken_out.then(|| comment.to_owned()));
    }
}

#[test]
fn a_level_changes_the_severity_or_drops_the_finding() {
    let file = with_comments("", "");
    assert_eq!(reported(&file, &[("SM106", "note")], &[]).0, ["3 SM106 note"]);
    assert_eq!(reported(&file, &[("key-twice", "off")], &[]), (vec![], 0));
    let accepted = with_comments("# stepmark: allow SM106 reason\n", "");
    assert_eq!(reported(&accepted, &[("SM106", "off")], &[]), (vec![], 1), "not unused");
    let rule = rule_of("SM106").unwrap();
    assert_eq!(Levels::default().of(rule), Level::At(Severity::Error));
}

#[test]
fn the_configuration_accepts_and_says_what_it_used() {
    let allowance = |rule: &str| Allowance { rules: vec![rule_of(rule).unwrap()], reason: "old".to_owned() };
    let (idle, busy) = (allowance("SM104"), allowance("SM106"));
    let file = with_comments("", "");
    let artifact = Artifact::read(ProjectPath::new("a.md").unwrap(), file.into_bytes());
    let subject = Subject::alone(&artifact);
    let policy = Policy { levels: &Levels::default(), allowed: &[&idle, &busy] };
    let judged = policy.judge(&subject, findings(&subject));
    assert_eq!((judged.findings.len(), judged.suppressed, &judged.used), (0, 1, &vec![(1, busy.rules[0])]));
    assert!(judged.undecided.is_empty(), "{judged:?}");
}

#[test]
fn an_allowance_whose_rules_lacked_facts_is_undecided() {
    let allowance = |rule: &str| Allowance { rules: vec![rule_of(rule).unwrap()], reason: "old".to_owned() };
    let allowed = ["SM104", "SM212", "SM305", "SM503", "SM601", "SM901", "SM308"].map(allowance);
    let allowed: Vec<&Allowance> = allowed.iter().collect();
    let artifact = Artifact::read(ProjectPath::new("a.md").unwrap(), b"---\nstatus: a\n---\n".to_vec());
    let subject = Subject::alone(&artifact);
    let policy = Policy { levels: &Levels::default(), allowed: &allowed };
    let undecided = policy.judge(&subject, Vec::new()).undecided;
    let undecided: Vec<_> = undecided.into_iter().map(|(at, rule)| (at, rule.id)).collect();
    assert_eq!(undecided, [(1, "SM212"), (2, "SM305"), (3, "SM503")], "gates and history are never judged");
}

#[test]
fn files_beside_the_artifacts_are_judged_by_the_configuration() {
    let path = ProjectPath::new("sprint-status.yaml").unwrap();
    let finding =
        |rule: &str| Finding::new(rule_of(rule).unwrap(), &path, stepmark_frontmatter::Span::at(0), "x");
    let allowance = Allowance {
        rules: vec![rule_of("SM308").unwrap(), rule_of("SM004").unwrap()],
        reason: "old".to_owned(),
    };
    let levels: Levels = [(rule_of("SM103").unwrap(), "off".parse().unwrap())].into_iter().collect();
    let policy = Policy { levels: &levels, allowed: &[&allowance] };
    let judged = policy.judge_beside(["SM308", "SM103", "SM004"].map(finding).to_vec());
    assert_eq!((judged.suppressed, judged.used), (1, vec![(0, allowance.rules[0])]));
    let left: Vec<_> = judged.findings.iter().map(|finding| finding.rule.id).collect();
    assert_eq!(left, ["SM004"], "what is wrong with suppressions is not for them to accept");
}
