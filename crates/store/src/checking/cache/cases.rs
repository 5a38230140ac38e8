//! A check or a list with a cache says what one without says, whatever happens in between.
#![expect(clippy::disallowed_methods, reason = "tests write files as other programs would")]

use std::{collections::BTreeMap, fs, slice, thread, time::Duration};

use crate::checking::{Brief, CheckReport, Known, Selection, Summaries, SummaryRow};
use crate::{manifest::CacheOutcome, workspace::Workspace};
use stepmark_model::{
    artifact::ProjectPath,
    check::{Baseline, ProblemCounts},
    delegation::{Chains, Forest, Member},
    selection::{Selectable as _, SelectionField},
};

const ARTIFACTS: usize = 80;
/// The time until a file is no longer so new that it may change without a trace.
const SETTLING: Duration = Duration::from_millis(30);

struct Project(tempfile::TempDir);

type Said = (Vec<(String, Vec<String>)>, usize, usize);

fn said(report: &CheckReport<'_>) -> Said {
    let files = report.files.iter().map(|file| {
        let findings = file.findings.iter().map(|finding| format!("{finding:?}")).collect();
        (file.path.to_string(), findings)
    });
    (files.collect(), report.left_out.suppressed, report.left_out.known)
}

fn trees(list: &Summaries<'_>) -> Vec<String> {
    let chains = Chains::of(list.rows().filter_map(|row| row.member()));
    let rows = Forest::of(&chains).rows.into_iter().map(|row| {
        let Member { delegation, .. } = row.member;
        let ids = (row.member.id(), row.member.parent_id());
        let member = Member { delegation: None, ..row.member.clone() };
        format!(
            "{member:?} {ids:?} {} {} {} {}",
            delegation.is_some(),
            row.level,
            row.is_last,
            row.is_cut_off
        )
    });
    rows.collect()
}

/// All that lists show of artifacts, where `problems` tells how many problems one has.
fn shown(
    list: &Summaries<'_>,
    problems: impl Fn(&SummaryRow<'_>) -> ProblemCounts,
) -> BTreeMap<String, String> {
    let shown = list.rows().map(|row| {
        let (counts, listed) = (problems(&row), row.listed());
        let brief = Brief { problems: counts, ..row.brief() };
        let fields = SelectionField::ALL.into_iter().filter(|field| *field != SelectionField::Problems);
        let values: Vec<_> = fields.map(|field| listed.value(field)).collect();
        (row.path().to_string(), format!("{brief:?} {:?} {values:?}", row.summary()))
    });
    shown.collect()
}

impl Project {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        project.write(".stepmark/config.yaml", CONFIGURATION);
        project.write("flow/steps/step-01-init.md", "# One\n");
        project.write("flow/steps/step-02-end.md", "# Two\n");
        project.write("docs/brief.md", "# No state\n");
        project.write("docs/1-1-story.md", "---\nstatus: review\n---\n");
        project.write("docs/sprint-status.yaml", "development_status:\n  1-1-story: review\n");
        for number in 1..ARTIFACTS {
            project.write(&format!("docs/{number:03}.md"), GOOD);
        }
        thread::sleep(SETTLING);
        project
    }

    fn write(&self, path: &str, text: &str) {
        let place = self.0.path().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.0.path().join(path)).ok();
    }

    fn list_everything(&self) {
        let mut text = MANIFEST_HEAD.to_owned();
        for artifact in self.workspace().artifacts().unwrap().artifacts {
            let (path, hash) = (artifact.path(), artifact.artifact().file_hash());
            text.push_str(&format!("\"md\",\"{}\",\"docs\",\"{path}\",\"{hash}\"\n", path.file_stem()));
        }
        self.write(MANIFEST, &text);
    }

    fn workspace(&self) -> Workspace {
        Workspace::open(self.0.path()).unwrap()
    }

    /// Returns how many artifacts a check reads, what it says, and the outcome of the cache. It is the same
    /// as without the cache.
    fn check(&self) -> (usize, Said, CacheOutcome) {
        let workspace = self.workspace();
        let (read, before) = workspace.checks().artifacts_to_check().unwrap();
        let report = workspace.checks().check_all(&read.artifacts, before, Known::LeftOut).unwrap();
        let all = workspace.artifacts().unwrap();
        let plain = workspace.check(&all.artifacts, Selection::All, Known::LeftOut).unwrap();
        assert_eq!((said(&report), read.files), (said(&plain), all.files));
        // What is committed is checked by itself, in the chains of all.
        let delegated = all.artifacts.iter().filter(|artifact| artifact.state().delegation.is_some());
        for artifact in delegated.take(3) {
            let own = slice::from_ref(artifact);
            let own = workspace.check(own, Selection::Some, Known::LeftOut).unwrap();
            let known = said(&plain).0.into_iter().find(|(path, _)| *path == artifact.path().to_string());
            assert_eq!(said(&own).0.into_iter().next(), known);
        }
        self.list();
        (read.artifacts.len(), said(&report), report.cache.clone())
    }

    /// Returns the number of artifacts that a list reads. What it says is the same as without the cache.
    fn list(&self) -> usize {
        let workspace = self.workspace();
        let mut list = workspace.checks().summaries().unwrap();
        let beside = list.check().unwrap();
        let plain = workspace.checks().summaries_of_all_read().unwrap();
        let report = workspace.check(&plain.found().artifacts, Selection::All, Known::LeftOut).unwrap();
        let counts = report.files.iter().map(|file| (&file.path, ProblemCounts::of(&file.findings)));
        let (known, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
            counts.partition(|(path, _)| plain.rows().any(|row| row.path() == *path));
        assert_eq!(beside.iter().map(|(path, count)| (path, *count)).collect::<BTreeMap<_, _>>(), others);
        assert_eq!(list.found().files, plain.found().files);
        assert_eq!(trees(&list), trees(&plain));
        assert_eq!(shown(&list, |row| row.problems()), shown(&plain, |row| known[row.path()]));
        list.found().artifacts.len()
    }

    /// Checks twice, the second time without reading more than what is not clean.
    fn settle(&self) {
        self.check();
        thread::sleep(SETTLING);
        let (read, (files, ..), _) = self.check();
        assert_eq!(read, files.iter().filter(|(_, findings)| !findings.is_empty()).count());
    }
}

const CONFIGURATION: &str = "workflows:\n- {name: prd, artifacts: ['docs/'], folder: flow}\n";
const OTHER_CONFIGURATION: &str = "workflows:\n- {name: x, artifacts: ['docs/'], steps: [step-02-end]}\ncheck:\n  allow: [{paths: ['docs/'], rules: [SM204, SM217], reason: old}]\n";
const MANIFEST: &str = ".stepmark/manifests/files-manifest.csv";
const MANIFEST_HEAD: &str = "type,name,module,path,hash\n";
const GOOD: &str = "---\nstepsCompleted: [step-01-init]\ninputDocuments: [docs/brief.md]\n---\n";
const RICH: &str = "---\ntitle: 'Ä \\\"title\\\"'\ntype: feature\nslug: x\nscope: large\nassignee: dev\ncreated: 2026-01-31\nstatus: in-progress\ncontext: []\n---\n# Heading\n";
const GAP: &str = "---\nstepsCompleted: [step-02-end]\ninputDocuments: [docs/brief.md]\n---\n";

#[test]
fn what_has_not_changed_is_not_read_again() {
    let project = Project::new();
    let (read, _, cache) = project.check();
    assert_eq!((read, cache), (ARTIFACTS, CacheOutcome::Renewed));
    assert_eq!((project.check().0, project.check().2), (0, CacheOutcome::Unchanged));
    project.write("docs/003.md", GAP);
    let (read, (files, ..), _) = project.check();
    assert_eq!((read, files.len()), (1, ARTIFACTS));
    assert!(files.iter().all(|(path, findings)| findings.is_empty() == (path != "docs/003.md")), "{files:?}");
}

#[test]
fn a_list_reads_nothing_that_has_not_changed() {
    let project = Project::new();
    for number in 1..10 {
        project.write(&format!("docs/{number:03}.md"), GAP);
    }
    project.write("docs/010.md", "---\nid: A\nstatus: draft\n---\n");
    project.write("docs/011.md", RICH);
    project.write(
        "docs/012.md",
        "---\n# stepmark: allow-file SM217 as it was\nstepsCompleted: [step-02-end]\n---\n",
    );
    project.write("docs/epics.md", "---\nstatus: draft\n---\n## Epic 1: Lend\n");
    thread::sleep(SETTLING);
    assert_eq!(project.list(), ARTIFACTS + 1);
    assert_eq!(project.list(), 0, "also not the one that has an id");
    assert_eq!(project.check().0, 10, "a check says what is wrong with those that have findings");
    assert_eq!(project.list(), 0, "and forgets nothing");
    project.write("docs/001.md", GOOD);
    assert_eq!(project.list(), 1);
}

#[test]
fn what_the_baseline_knows_is_no_problem_while_it_knows_it() {
    let project = Project::new();
    project.write("docs/001.md", GAP);
    thread::sleep(SETTLING);
    project.list();
    let workspace = project.workspace();
    let all = workspace.artifacts().unwrap();
    let report = workspace.check(&all.artifacts, Selection::All, Known::Reported).unwrap();
    project.write(
        crate::checking::BASELINE_PATH,
        &String::from_utf8(Baseline::of(report.findings()).to_bytes()).unwrap(),
    );
    for _ in 0..2 {
        project.list();
    }
    project.remove(crate::checking::BASELINE_PATH);
    project.list();
}

type Change = fn(&Project);

/// Each of these changes what a check says of artifacts that have not changed themselves.
#[test]
fn whatever_decides_about_a_file_is_watched() {
    let cases: [(&str, Change); 11] = [
        ("an input document goes", |project| project.remove("docs/brief.md")),
        ("a step file comes", |project| project.write("flow/steps/step-00-first.md", "# Zero\n")),
        ("a step file goes", |project| project.remove("flow/steps/step-01-init.md")),
        ("a step moves to the end", |project| {
            project.remove("flow/steps/step-01-init.md");
            project.write("flow/steps/step-09-init.md", "# One\n");
        }),
        ("the configuration binds another workflow", |project| {
            project.write(
                ".stepmark/config.yaml",
                "workflows:\n- {name: x, artifacts: ['docs/'], steps: [step-02-end]}\n",
            );
        }),
        ("a step file names a successor that is not there", |project| {
            project.write("flow/steps/step-01-init.md", "---\nnextStepFile: ./step-07-lost.md\n---\n");
        }),
        ("a ledger says something else", |project| {
            project.write("docs/sprint-status.yaml", "development_status:\n  1-1-story: done\n");
        }),
        ("a ledger is no YAML", |project| project.write("docs/sprint-status.yaml", "a: b: c\n")),
        ("the manifest has another hash", |project| {
            let rows =
                format!("{MANIFEST_HEAD}\"md\",\"003\",\"docs\",\"docs/003.md\",\"{}\"\n", "0".repeat(64));
            project.write(MANIFEST, &rows);
        }),
        ("the configuration allows what nobody does", |project| {
            let text = "workflows:\n- {name: prd, artifacts: ['docs/'], folder: flow}\ncheck:\n  allow: [{paths: ['docs/'], rules: [SM204], reason: old}]\n";
            project.write(".stepmark/config.yaml", text);
        }),
        ("gates come", |project| {
            project.write(".stepmark/config.yaml", "gates: true\n");
            project.write(".stepmark/gates/docs/003.md/step-99.gate", "no gate");
        }),
    ];
    for (what, change) in cases {
        let project = Project::new();
        project.settle();
        change(&project);
        // What is found is found again, also where files were kept as clean in between.
        for _ in 0..2 {
            let (_, (files, ..), _) = project.check();
            assert!(files.iter().any(|(_, findings)| !findings.is_empty()), "{what}");
            thread::sleep(SETTLING);
        }
    }
}

/// An artifact in a chain of delegation; below `above`, unless that is empty.
fn member(id: &str, above: &str, depth: usize) -> String {
    let (parent, path) =
        if above.is_empty() { ("null", id.to_owned()) } else { (above, format!("{above}, {id}")) };
    format!(
        "---\nid: {id}\nstatus: in-progress\nassignee: {id}x\ndelegation: {{id: {id}, parent_id: {parent}, root_id: a, depth: {depth}, chain_path: [{path}]}}\n---\n"
    )
}

#[test]
fn what_is_suppressed_is_read_every_time() {
    let project = Project::new();
    project.write(
        "docs/004.md",
        "---\n# stepmark: allow-file SM217 as it was\nstepsCompleted: [step-02-end]\n---\n",
    );
    thread::sleep(SETTLING);
    project.check();
    let (read, (_, suppressed, _), _) = project.check();
    assert_eq!((read, suppressed), (1, 1));
}

#[test]
fn what_takes_part_in_a_chain_is_read_when_others_decide_otherwise() {
    let project = Project::new();
    project.write("chain/003.md", &member("a", "", 0));
    project.write("chain/005.md", &member("b", "a", 1));
    project.write("chain/006.md", "---\nid: c\nstatus: done\n---\n");
    project.write("chain/007.md", "---\nid: d\nstatus: done\n---\n");
    thread::sleep(SETTLING);
    project.check();
    let wrong = |project: &Project| -> (usize, Vec<String>) {
        let (read, (files, ..), _) = project.check();
        let wrong = files.into_iter().filter(|(_, findings)| !findings.is_empty());
        (read, wrong.map(|(path, _)| path).collect())
    };
    assert_eq!(wrong(&project), (0, vec![]));
    // The parent is no longer there, so the child is wrong, which has not changed.
    project.remove("chain/003.md");
    assert_eq!(wrong(&project), (1, vec!["chain/005.md".to_owned()]));
    project.write("chain/003.md", &member("a", "", 0));
    assert_eq!(wrong(&project), (1, vec![]), "as it was kept");
    // It is finished, and the child is not.
    project.write("chain/003.md", &member("a", "", 0).replace("in-progress", "done"));
    assert_eq!(wrong(&project), (1, vec!["chain/003.md".to_owned()]));
    // It moves, and nothing else.
    project.remove("chain/003.md");
    project.write("chain/moved.md", &member("a", "", 0));
    assert_eq!(wrong(&project), (1, vec![]));
    // A copy has the id of the child, so both are wrong.
    project.write("chain/copy.md", &member("b", "a", 1));
    assert_eq!(wrong(&project), (3, vec!["chain/005.md".to_owned(), "chain/copy.md".to_owned()]));
    project.remove("chain/copy.md");
    // Something is delegated from one that only had an id, and is finished.
    project.write("chain/child.md", &member("e", "c", 1));
    let (read, wrong) = wrong(&project);
    assert_eq!((read, wrong), (3, vec!["chain/006.md".to_owned(), "chain/child.md".to_owned()]));
}

#[test]
fn a_new_manifest_that_lists_what_is_there_changes_no_verdict() {
    let project = Project::new();
    project.list_everything();
    thread::sleep(SETTLING);
    project.settle();
    project.list_everything();
    thread::sleep(SETTLING);
    let (read, _, cache) = project.check();
    assert_eq!((read, cache), (0, CacheOutcome::Renewed), "it remembers the new one");
    assert_eq!((project.check().0, project.check().2), (0, CacheOutcome::Unchanged));
    project.write("docs/003.md", "---\nstepsCompleted: [step-01-init, step-02-end]\n---\n");
    let (read, (files, ..), _) = project.check();
    let wrong: Vec<_> = files.iter().filter(|(_, findings)| !findings.is_empty()).collect();
    assert!(matches!(wrong.as_slice(), [(path, _)] if path == "docs/003.md") && read == 1, "{wrong:?}");
}

#[test]
fn a_cache_that_is_torn_or_gone_changes_nothing() {
    let project = Project::new();
    project.settle();
    for bytes in [None, Some(""), Some("torn")] {
        match bytes {
            Some(text) => project.write(".stepmark/local/cache/checked.stat", text),
            None => project.remove(".stepmark/local/cache/checked.stat"),
        }
        assert_eq!(project.check().0, ARTIFACTS, "{bytes:?}");
    }
}

#[test]
fn a_reader_makes_no_folder_for_itself() {
    let project = Project::new();
    fs::remove_dir_all(project.0.path().join(".stepmark")).unwrap();
    let (read, _, cache) = project.check();
    assert_eq!((read, cache), (ARTIFACTS, CacheOutcome::Absent));
    assert!(!project.0.path().join(".stepmark").is_dir());
}

#[test]
fn a_step_file_of_this_moment_is_not_believed() {
    let project = Project::new();
    project.write("flow/steps/step-02-end.md", "# Two!\n");
    assert_eq!(project.check().2, CacheOutcome::Absent);
}

/// xorshift64*, so that every run is the same.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % end
    }
}

/// The ids of artifacts in chains: few, so that they meet.
const IDS: [&str; 7] = ["a", "b", "c", "d", "e", "f", "A"];

/// Whatever is done to the project, [`Project::check`] finds both ways of checking of one mind.
#[test]
fn any_change_is_seen() {
    let project = Project::new();
    let mut random = Random(0x5EED);
    for _ in 0..60 {
        // Then all is kept as it stands, chains included.
        if random.below(6) == 0 {
            project.remove(".stepmark/local/cache/checked.stat");
        }
        for _ in 0..=random.below(3) {
            let path = format!("docs/{:03}.md", random.below(ARTIFACTS));
            match random.below(30) {
                20..=25 => {
                    let (id, above) = (IDS[random.below(IDS.len())], IDS[random.below(IDS.len())]);
                    let above = if random.below(3) == 0 { "" } else { above };
                    let status = ["in-progress", "done"][random.below(2)];
                    project.write(&path, &member(id, above, 1).replace("in-progress", status));
                }
                26 => project.write(&path, "---\nstatus: draft\ndelegation: soon\n---\n"),
                27 => {
                    project.write(&path, &format!("---\nid: {}\nstatus: done\n---\n", IDS[random.below(4)]))
                }
                28 | 29 => {
                    let to = format!("docs/{:03}-moved.md", random.below(ARTIFACTS));
                    fs::rename(project.0.path().join(&path), project.0.path().join(to)).ok();
                }
                14 => project.write(&path, RICH),
                15 => project.write(&path, "---\nid: A\nstatus: draft\n---\n# With an id\n"),
                16 => project
                    .write(&path, "---\nstepsCompleted: [step-01-init, other]\nstatus: done\n---\n## Text\n"),
                17 => {
                    project.write("docs/epic-1.md", "---\nstatus: draft\ntitle: One\n---\n## Epic 2: Two\n")
                }
                18 => project.write(
                    ".stepmark/config.yaml",
                    if random.below(2) == 0 { CONFIGURATION } else { OTHER_CONFIGURATION },
                ),
                19 => {
                    project.list();
                }
                0 | 1 => project.write(&path, GOOD),
                2 => project.write(&path, GAP),
                3 => project.write(&path, "# No state\n"),
                4 => project.remove(&path),
                5 => project.write("docs/brief.md", "# Back\n"),
                6 => project.remove("docs/brief.md"),
                7 => project.write("flow/steps/step-03-more.md", "# Three\n"),
                8 => project.write("docs/sprint-status.yaml", "development_status:\n  1-1-story: done\n"),
                9 => project.write("docs/sprint-status.yaml", "development_status:\n  1-1-story: review\n"),
                10 => project.write("docs/sprint-status.yaml", "a: b: c\n"),
                11 => project.list_everything(),
                12 => project.remove(MANIFEST),
                _ => project.remove("flow/steps/step-03-more.md"),
            }
        }
        if random.below(2) == 0 {
            thread::sleep(SETTLING);
        }
        if random.below(2) == 0 {
            project.list();
        }
        project.check();
    }
}

#[test]
fn the_stat_of_a_file_that_may_change_without_a_trace_is_not_told() {
    let project = Project::new();
    let stat = || {
        let (workspace, path) = (project.workspace(), ProjectPath::new("docs/003.md").unwrap());
        let list = workspace.checks().summaries().unwrap();
        list.rows().find(|row| *row.path() == path).unwrap().stat()
    };
    // A look may come so late that the file is settled.
    assert!((0..100).map(|_| project.write("docs/003.md", GAP)).any(|()| stat().is_none()));
    thread::sleep(SETTLING);
    assert!(stat().is_some());
}
