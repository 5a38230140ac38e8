//! Files with nasty names and bytes, and findings in them, for the tests of renderers.

use stepmark_frontmatter::Span;
use stepmark_model::{
    artifact::ProjectPath,
    check::{Finding, Fix, Safety, rule_of},
};

use super::{Checked, CheckedFile};

pub(super) struct Sample {
    files: Vec<(ProjectPath, Vec<u8>, Vec<Finding>)>,
}

impl Sample {
    /// A path with blanks, UTF-8, `%`, `:` and `,`; a byte order mark, CRLF, tabs, wide characters, control
    /// characters, bytes that are no UTF-8; messages of several lines; a fix of each kind; findings over
    /// several lines, empty and at the end; and a file without any.
    pub(super) fn nasty() -> Self {
        let mut sample = Self { files: Vec::new() };
        sample.file(
            "docs/a b/ü 100%,c: d.md",
            "\u{FEFF}---\r\nkey: 猫🦀 x\r\nkey:\t2\r\n---\r\n",
            |text, found| {
                found("SM109", text.find('\u{FEFF}'), 3, "a byte order mark", Some(("", Safety::Safe)));
                found("SM106", text.rfind("key"), 3, "the key `key` stands twice, 100%: no", None);
                found(
                    "SM302",
                    text.find('x'),
                    1,
                    "wide before\nand a second line",
                    Some(("'y'", Safety::Unsafe)),
                );
            },
        );
        sample.file("docs/clean.md", "---\nstatus: done\n---\n", |_, _| ());
        sample.file("docs/steer.md", "---\na: \u{1b}[31m\n\n---\nend", |text, found| {
            found("SM103", text.find("a: "), 8, "not YAML: `\u{1b}` {0} [x](y) \u{0}", None);
            found("SM303", Some(text.len()), 0, "nothing at the end <&\"'>", None);
        });
        let path = ProjectPath::new("latin.md").unwrap();
        let rule = rule_of("SM209").unwrap();
        let finding = Finding::new(rule, &path, Span::new(7, 8), "the workflow has no step `ä`");
        sample.files.push((
            path,
            b"---\na: \xE4b\n---\n".to_vec(),
            vec![finding.with_help("`stepmark show` lists them")],
        ));
        sample
    }

    pub(super) fn unreadable(&self) -> Vec<String> {
        vec!["locked: permission denied <1>\u{1b}".to_owned()]
    }

    pub(super) fn files(&self) -> Vec<CheckedFile<'_>> {
        self.files
            .iter()
            .map(|(path, bytes, findings)| CheckedFile { path, bytes, findings: findings.clone() })
            .collect()
    }

    pub(super) fn checked(&self) -> Checked<'_> {
        Checked::new(self.files(), self.unreadable())
    }

    fn file(&mut self, path: &str, text: &str, find: impl Fn(&str, &mut Find<'_>)) {
        let path = ProjectPath::new(path).unwrap();
        let mut findings = Vec::new();
        find(text, &mut |id, at, length, message, fix| {
            let span = Span::new(at.unwrap(), at.unwrap() + length);
            let fix = fix.map(|(text, safety)| Fix::splice(safety, "fix it", span, text));
            let finding = Finding::new(rule_of(id).unwrap(), &path, span, message).with_fix(fix);
            findings.push(finding.with_help("what to do"));
        });
        self.files.push((path, text.as_bytes().to_vec(), findings));
    }
}

/// Adds a finding: id, offset, length, message, and what a fix puts there.
type Find<'f> = dyn FnMut(&str, Option<usize>, usize, &str, Option<(&str, Safety)>) + 'f;

pub(crate) fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}
