//! `stepmark project manifest`

use insta::assert_snapshot;

use crate::harness::{
    Sandbox,
    demo::{ARCHITECTURE, PRD},
};

const MANIFEST: &str = ".stepmark/manifests/files-manifest.csv";

#[test]
fn lists_every_artifact_with_its_hash() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.stepmark(&["manifest", "write"]), @r"
    exit 0
    ── stdout
    wrote [ROOT]/.stepmark/manifests/files-manifest.csv: 7 files
    ");
    let text = String::from_utf8(demo.read(MANIFEST)).unwrap();
    assert_snapshot!(text, @r#"
    type,name,module,path,hash
    "md","1-1-borrow-a-tool","_bmad-output","_bmad-output/implementation-artifacts/1-1-borrow-a-tool.md","384568534071f4069b056c390cdb591bbf05d0c0051dd64eb7ab7db5627e1602"
    "md","architecture","_bmad-output","_bmad-output/planning-artifacts/architecture.md","0f0b9c945bafe7ff24b069ca12cc717c1749e16949ab3e69b857c8da82007deb"
    "md","brainstorming-session-2026-01-12","_bmad-output","_bmad-output/brainstorming/brainstorming-session-2026-01-12.md","c86bd67aee95a776f47619d8c9b00499b9d57957196681e5d14c568515ad5737"
    "md","epics","_bmad-output","_bmad-output/planning-artifacts/epics.md","ce24371703612adb8c43d4f1e244f5520f5f205d0024c8fdca285ccfc9056503"
    "md","market-research-2026-01-13","_bmad-output","_bmad-output/planning-artifacts/market-research-2026-01-13.md","87b7fafe44e0a7c98b5821b65ee19c714e03d2997dfaa43bb76545a4044bdf16"
    "md","prd","_bmad-output","_bmad-output/planning-artifacts/prd.md","e00879cffa4298fb6b7e825f7cdc09cb172947341d187d5dd74c3957569bef4d"
    "md","product-brief-toolshed-2026-01-14","_bmad-output","_bmad-output/planning-artifacts/product-brief-toolshed-2026-01-14.md","0ad40979a58e06f4164ecb604d7d59f5eb217fcaf497ed723ace61dd3a8942fe"
    "#);
    let shown = demo.stepmark(&["show", PRD, "--json"]).json("stepmark.show/2");
    assert!(text.contains(shown["file_hash"].as_str().unwrap()));
    assert_snapshot!(demo.stepmark(&["manifest", "verify"]), @r"
    exit 0
    ── stdout
    7 files listed: 7 ok; 0 unlisted
    ");
}

#[test]
fn writing_what_is_there_writes_nothing() {
    let demo = Sandbox::demo();
    demo.stepmark(&["manifest", "write"]);
    let before = demo.read(MANIFEST);
    assert_snapshot!(demo.stepmark(&["manifest", "write"]), @r"
    exit 0
    ── stdout
    [ROOT]/.stepmark/manifests/files-manifest.csv is up to date: 7 files
    ");
    assert_eq!(demo.read(MANIFEST), before);
    let answer = demo.stepmark(&["manifest", "write", "--json"]).json("stepmark.manifest-write/1");
    assert_eq!((&answer["written"], &answer["files"]), (&false.into(), &7.into()));
}

#[test]
fn verify_tells_what_became_of_the_files() {
    let demo = Sandbox::demo();
    demo.stepmark(&["manifest", "write"]);
    demo.stepmark(&["complete", PRD, "4"]);
    let text = String::from_utf8(demo.read(ARCHITECTURE)).unwrap();
    demo.write(ARCHITECTURE, text.replace('\n', "\r\n"));
    std::fs::remove_file(demo.place("_bmad-output/planning-artifacts/epics.md")).unwrap();
    std::fs::remove_dir_all(demo.place("_bmad-output/brainstorming")).unwrap();
    demo.write("new.md", "---\nstatus: draft\n---\n");
    assert_snapshot!(demo.stepmark(&["manifest", "verify"]), @r"
    exit 1
    ── stdout
    missing        _bmad-output/brainstorming/brainstorming-session-2026-01-12.md
    line-ends-only _bmad-output/planning-artifacts/architecture.md
    missing        _bmad-output/planning-artifacts/epics.md
    modified       _bmad-output/planning-artifacts/prd.md
    unlisted       new.md
    7 files listed: 3 ok, 1 line-ends-only, 1 modified, 2 missing; 1 unlisted
    ");
    assert_snapshot!(demo.stepmark(&["manifest", "verify", "-q"]), @r"
    exit 1
    ── stdout
    missing        _bmad-output/brainstorming/brainstorming-session-2026-01-12.md
    missing        _bmad-output/planning-artifacts/epics.md
    modified       _bmad-output/planning-artifacts/prd.md
    ");
    let run = demo.stepmark(&["manifest", "verify", "--json"]);
    assert_eq!(run.code, 1);
    assert_snapshot!(run.json("stepmark.manifest-verify/1")["counts"], @r#"{"ok":3,"unhashed":0,"line-ends-only":1,"regenerated":0,"removed-with-its-folder":0,"unlisted":1,"modified":1,"missing":2,"unreadable":0}"#);
}

#[test]
fn a_manifest_elsewhere_and_of_another_folder() {
    let demo = Sandbox::demo();
    let run = demo.stepmark(&["manifest", "write", "--root", "_bmad", "--file", "list.csv"]);
    assert_snapshot!(run, @r"
    exit 0
    ── stdout
    wrote [ROOT]/list.csv: 47 files
    ");
    assert_snapshot!(demo.stepmark(&["manifest", "verify", "--root", "_bmad", "--file", "list.csv"]), @r"
    exit 0
    ── stdout
    47 files listed: 47 ok; 0 unlisted
    ");
}

#[test]
fn the_installers_own_manifest_is_written_with_a_warning() {
    let demo = Sandbox::demo();
    demo.write("_bmad/_config/files-manifest.csv", "type,name,module,path,hash\n");
    let run = demo.stepmark(&[
        "manifest",
        "write",
        "--root",
        "_bmad",
        "--file",
        "_bmad/_config/files-manifest.csv",
    ]);
    assert_snapshot!(run, @r"
    exit 0
    ── stdout
    wrote [ROOT]/_bmad/_config/files-manifest.csv: 46 files
    ── stderr
    warning: a manifest rewritten among the installer's own books makes edited files look untouched: the next update of BMAD overwrites them without keeping a .bak
    ");
}

#[test]
fn what_cannot_be_used() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["manifest", "verify"]), @r"
    exit 2
    ── stderr
    error: there is no manifest `[ROOT]/.stepmark/manifests/files-manifest.csv`: `stepmark project manifest write` makes it, or --file names another
    ");
    assert_snapshot!(demo.reads_only(&["manifest", "verify", "--file", "absent.csv"]), @r"
    exit 2
    ── stderr
    error: there is no manifest `[ROOT]/absent.csv`: `stepmark project manifest write` makes it, or --file names another
    ");
    assert_snapshot!(demo.reads_only(&["manifest", "write", "--file", "../outside.csv"]), @r"
    exit 2
    ── stderr
    error: `[ROOT]/../outside.csv` is not inside the project `[ROOT]`; choose another project with --root
    ");
    demo.write("broken.csv", b"type,name\n\xff\n");
    assert_snapshot!(demo.reads_only(&["manifest", "verify", "--file", "broken.csv"]), @r"
    exit 4
    ── stderr
    error: `[ROOT]/broken.csv` is no files manifest: it does not begin with the header
      help: name another with --file, or make it anew with `stepmark project manifest write`
    ");
    demo.write("empty.csv", "");
    assert_snapshot!(demo.reads_only(&["manifest", "verify", "--file", "empty.csv"]), @r"
    exit 4
    ── stderr
    error: `[ROOT]/empty.csv` is no files manifest: it does not begin with the header
      help: name another with --file, or make it anew with `stepmark project manifest write`
    ");
    assert_snapshot!(demo.reads_only(&["manifest", "write", "--file", "_bmad"]), @r"
    exit 4
    ── stderr
    error: cannot read the manifest `[ROOT]/_bmad`
      cause: it is not a regular file
    ");
    demo.write("with\"quote.md", "---\nstatus: draft\n---\n");
    assert_snapshot!(demo.stepmark(&["manifest", "write"]), @r#"
    exit 1
    ── stderr
    error: cannot list `with\"quote.md` in files-manifest.csv: it holds a quotation mark, and the format has no escape for it; rename the file or leave it out of the configured artifacts
    "#);
    assert!(!demo.place(MANIFEST).exists());
}
