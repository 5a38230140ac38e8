//! What of the texts of artifacts leaves this machine.

use stepmark_sync::plan::Remark;

use crate::{
    clones::{clock, clone, sync},
    fake::FakeGitHub,
};

#[tokio::test]
async fn secrets_and_what_nobody_sees_stay_here() {
    let fake = FakeGitHub::start();
    let folder = tempfile::tempdir().unwrap();
    let project = clone(folder.path(), "a", &fake, 1);
    let key = format!("{}{}", "AKIA", "IOSFODNN7EXAMPLE");
    let pem = "-----BEGIN RSA PRIVATE KEY-----\n\nMIIEowIBAAKC\n\n-----END RSA PRIVATE KEY-----";
    project.write(
        "secret",
        &format!(
            "---\nid: S-1\nstatus: draft\ninputDocuments: ['https://me:pass@example.com/a b?x=<y>', docs/a-0.md]\n---\n\n# \u{202E}Key\0s \u{1b}[31m {key}\n\n\
             ## Story\n\nWith {key},\nand 0123456789abcdef0123456789abcdef01234567.\n\n{pem}\n\nEnd.\n"
        ),
    );
    let mut ledger = project.ledger();
    let plan = project.plan(&mut ledger);
    let told: Vec<&Remark> =
        plan.remarks.iter().filter(|remark| matches!(remark, Remark::Withheld { .. })).collect();
    let [Remark::Withheld { artifact, secrets, characters, .. }] = told.as_slice() else {
        panic!("{told:?}")
    };
    assert_eq!(artifact, "docs/secret.md");
    assert_eq!(secrets, &["aws_access_key", "pem_private_key"]);
    assert_eq!(characters, &["U+0000", "U+001B", "U+202E"]);
    drop(ledger);
    sync(&project, &clock(), 1).await;
    let issues = fake.state().issues.clone();
    let issue = issues.values().find(|issue| issue.body.contains("S-1")).unwrap();
    assert_eq!(issue.title, "Keys [31m [withheld: aws_access_key]");
    for withheld in [&key, "MIIE", "BEGIN RSA", "me:pass"] {
        assert!(!issue.body.contains(withheld), "{withheld}: {}", issue.body);
    }
    for shown in [
        "With \\[withheld: aws\\_access\\_key\\], and `0123456789abcdef0123456789abcdef01234567`.",
        "End.",
        "- [https://example.com/a%20b?x=%3Cy%3E](<https://example.com/a%20b?x=%3Cy%3E>)",
    ] {
        assert!(issue.body.contains(shown), "{shown}: {}", issue.body);
    }
    assert!(project.is_settled(&mut project.ledger()));
}
