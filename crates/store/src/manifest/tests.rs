//! Manifests against real folders.

use std::path::PathBuf;

use crate::ErrorKind;
use crate::disk::{listed_files::ListedFiles, stat_cache::ManifestKey};
use crate::manifest::{verify::verify, write::write, *};
use stepmark_model::projection::files_manifest::{
    self, ArtifactFilter, FileClass, FileRow, RowOrder, UnlistablePath,
};

struct Project {
    _folder: tempfile::TempDir,
    root: Root,
    cache: PathBuf,
    looked_at: AtomicUsize,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let cache = root.path().join(".stepmark/local/cache/files.stat");
        let project = Self { _folder: folder, root, cache, looked_at: AtomicUsize::new(0) };
        for (path, text) in files {
            project.put(path, text);
        }
        project
    }

    fn place(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn put(&self, path: &str, text: &str) {
        let place = self.place(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }

    fn request<'a>(&'a self, manifest: &'a Path, scope: ManifestScope<'a>) -> ManifestRequest<'a> {
        let ignore_files = IgnoreFiles::Disregarded;
        let stat_cache = Some(self.cache.as_path());
        ManifestRequest {
            root: &self.root,
            manifest,
            scope,
            ignore_files,
            stat_cache,
            looked_at: &self.looked_at,
        }
    }

    fn write(&self, manifest: &Path, scope: ManifestScope<'_>) -> Vec<String> {
        let draft = write(&self.request(manifest, scope)).unwrap();
        fs::create_dir_all(manifest.parent().unwrap()).unwrap();
        fs::write(manifest, &draft.bytes).unwrap();
        let text = String::from_utf8(draft.bytes).unwrap();
        text.lines().skip(1).map(|row| row.split('"').nth(7).unwrap().to_owned()).collect()
    }

    /// The files that are not in order, with their classes.
    fn verify(&self, manifest: &Path, scope: ManifestScope<'_>) -> Vec<(String, &'static str)> {
        let report = verify(&self.request(manifest, scope)).unwrap();
        report.verification.others.into_iter().map(|file| (file.path, file.class.label())).collect()
    }
}

struct Markdown;

impl ArtifactFilter for Markdown {
    fn is_artifact(&self, path: &str) -> bool {
        path.ends_with(".md")
    }

    fn skips_folder(&self, folder: &str) -> bool {
        folder == "node_modules"
    }
}

const ARTIFACTS: ManifestScope<'static> = ManifestScope::Artifacts(&Markdown);

#[test]
fn tells_each_kind_of_difference() {
    let names = ["crlf.md", "edited.md", "gone.md", "old/a.md", "same.md", "to-folder.md"];
    let files: Vec<_> = names.map(|name| (format!("docs/{name}"), "one\ntwo\n")).into();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let project = Project::new(&files);
    project.put("docs/notes.txt", "no artifact");
    project.put("node_modules/x/README.md", "");
    let manifest = project.place(DEFAULT_MANIFEST);
    assert_eq!(project.write(&manifest, ARTIFACTS).len(), 6);
    assert_eq!(project.verify(&manifest, ARTIFACTS), []);

    project.put("docs/crlf.md", "one\r\ntwo\r\n");
    project.put("docs/edited.md", "one\ntwo!\n");
    fs::remove_file(project.place("docs/gone.md")).unwrap();
    fs::remove_dir_all(project.place("docs/old")).unwrap();
    fs::remove_file(project.place("docs/to-folder.md")).unwrap();
    fs::create_dir(project.place("docs/to-folder.md")).unwrap();
    project.put("docs/new.md", "");
    let expected = [
        ("docs/crlf.md", "line-ends-only"),
        ("docs/edited.md", "modified"),
        ("docs/gone.md", "missing"),
        ("docs/new.md", "unlisted"),
        ("docs/old/a.md", "missing"),
        ("docs/to-folder.md", "unreadable"),
    ];
    let expected = expected.map(|(path, class)| (path.to_owned(), class));
    assert_eq!(project.verify(&manifest, ARTIFACTS), expected);
    assert_eq!(project.verify(&manifest, ARTIFACTS), expected, "with a warm cache");
}

#[test]
fn a_warm_cache_never_hides_an_edit() {
    let project = Project::new(&[("docs/a.md", "one"), ("docs/b.md", "two")]);
    let manifest = project.place(DEFAULT_MANIFEST);
    project.write(&manifest, ARTIFACTS);
    assert_eq!(project.verify(&manifest, ARTIFACTS), []);
    for round in 0..20 {
        // At once, with the same length and the same time: what a careful program can do to hide an edit.
        let place = project.place("docs/a.md");
        let before = fs::metadata(&place).unwrap().modified().unwrap();
        let text = if round % 2 == 0 { "ONE" } else { "one" };
        fs::write(&place, text).unwrap();
        fs::File::options().write(true).open(&place).unwrap().set_modified(before).unwrap();
        let expected = if round % 2 == 0 { vec![("docs/a.md".to_owned(), "modified")] } else { vec![] };
        assert_eq!(project.verify(&manifest, ARTIFACTS), expected, "round {round}");
    }
}

/// Whatever happens to files and manifest, a run with a cache says what one without says; some runs come at
/// once, some so late that the cache is believed.
#[test]
fn with_a_cache_the_verdict_is_the_same() {
    let files: Vec<String> = (0..12).map(|number| format!("docs/{}/{}.md", number % 3, number)).collect();
    let project = Project::new(&files.iter().map(|path| (path.as_str(), "one\ntwo\n")).collect::<Vec<_>>());
    let manifest = project.place(DEFAULT_MANIFEST);
    project.write(&manifest, ARTIFACTS);
    let mut state: usize = 12345;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut outcomes = Vec::new();
    for round in 0..60 {
        let path = &files[random(files.len())];
        match random(8) {
            0 => project.put(path, "one\r\ntwo\r\n"),
            1 => project.put(path, "ONE\ntwo\n"),
            2 => fs::remove_file(project.place(path)).unwrap_or_default(),
            3 => fs::remove_dir_all(project.place(path).parent().unwrap()).unwrap_or_default(),
            4 => drop(project.write(&manifest, ARTIFACTS)),
            5 => {
                let rows = fs::read_to_string(&manifest).unwrap();
                let hash = FileHash::of(round.to_string().as_bytes()).to_string();
                fs::write(&manifest, rows + &format!("\"md\",\"x\",\"docs\",\"{path}\",\"{hash}\"\n"))
                    .unwrap();
            }
            6 => fs::write(&manifest, "type,name,module,path\nmd,x,docs,docs/0/0.md\n").unwrap(),
            _ => project.put(path, "one\ntwo\n"),
        }
        for _ in 0..2 {
            let cached = verify(&project.request(&manifest, ARTIFACTS)).unwrap();
            let plain =
                verify(&ManifestRequest { stat_cache: None, ..project.request(&manifest, ARTIFACTS) })
                    .unwrap();
            assert_eq!(cached.verification, plain.verification, "round {round}");
            assert_eq!(cached.oddities, plain.oddities, "round {round}");
            outcomes.push(cached.cache);
            if random(2) == 0 {
                std::thread::sleep(std::time::Duration::from_millis(45));
            }
        }
    }
    let count = |outcome| outcomes.iter().filter(|seen| **seen == outcome).count();
    assert!(count(CacheOutcome::Renewed) > 5 && count(CacheOutcome::Unchanged) > 5, "{outcomes:?}");
}

#[test]
fn a_manifest_that_is_remembered_need_not_be_read() {
    let project = Project::new(&[("docs/a.md", "one"), ("docs/sub/b.md", "two")]);
    let manifest = project.place(DEFAULT_MANIFEST);
    project.write(&manifest, ARTIFACTS);
    project.put("docs/a.md", "edited");
    std::thread::sleep(std::time::Duration::from_millis(60));
    let expected = vec![("docs/a.md".to_owned(), "modified")];
    assert_eq!(project.verify(&manifest, ARTIFACTS), expected);
    let key = ManifestKey::of(&manifest).unwrap();
    assert!(key.is_remembered_in(&project.cache));
    let cache = StatCache::load(&project.cache).unwrap();
    assert!(cache.remembers(&key));
    let files = ListedFiles::remembered(&cache);
    let names = |folder| files.in_folder(folder, None, None).map(|file| file.name).collect::<Vec<_>>();
    assert_eq!(
        (names("docs"), names("docs/sub"), names("")),
        (vec![&b"a.md"[..]], vec![&b"b.md"[..]], vec![])
    );
    assert!(files.reaches_into("docs/sub") && files.reaches_into("docs") && !files.reaches_into("doc"));
    let request = project.request(&manifest, ARTIFACTS);
    assert_eq!(
        verify(&request).unwrap().cache,
        CacheOutcome::Unchanged,
        "an edited file renews no cache for ever"
    );
    assert_eq!(project.verify(&manifest, ARTIFACTS), expected);
    // Another manifest is another key, and so is this one once it is written again.
    let other = project.place("other.csv");
    fs::copy(&manifest, &other).unwrap();
    assert!(!ManifestKey::of(&other).unwrap().is_remembered_in(&project.cache));
    project.write(&manifest, ARTIFACTS);
    assert!(!ManifestKey::of(&manifest).unwrap().is_remembered_in(&project.cache));
    assert_eq!(project.verify(&manifest, ARTIFACTS), []);
}

#[test]
fn the_cache_is_written_only_when_that_helps() {
    let project = Project::new(&[("docs/a.md", "one")]);
    let manifest = project.place(DEFAULT_MANIFEST);
    let cache = |request: &ManifestRequest<'_>| verify(request).unwrap().cache;
    let request = project.request(&manifest, ARTIFACTS);
    project.write(&manifest, ARTIFACTS);
    // The files are too new to be believed; a run that begins later believes them and says so in the cache.
    std::thread::sleep(std::time::Duration::from_millis(60));
    assert_eq!(cache(&request), CacheOutcome::Renewed);
    assert_eq!(cache(&request), CacheOutcome::Unchanged);
    fs::write(&project.cache, "not a cache").unwrap();
    assert_eq!(cache(&request), CacheOutcome::Renewed);
    assert_eq!(cache(&ManifestRequest { stat_cache: None, ..request }), CacheOutcome::Absent);
    let impossible = project.place("docs/a.md/files.stat");
    let outcome = cache(&ManifestRequest { stat_cache: Some(&impossible), ..request });
    assert!(matches!(outcome, CacheOutcome::NotWritten { .. }), "{outcome:?}");
}

#[test]
fn writing_again_changes_nothing_and_keeps_the_order_of_ties() {
    let project = Project::new(&[("m/a/README.md", "a"), ("m/b/README.md", "b"), ("m/c/README.md", "c")]);
    let manifest = project.place("files.csv");
    let scope = ManifestScope::Everything;
    let request = project.request(&manifest, scope);
    assert!(!write(&request).unwrap().is_up_to_date());
    assert_eq!(project.write(&manifest, scope), ["m/a/README.md", "m/b/README.md", "m/c/README.md"]);
    assert!(write(&request).unwrap().is_up_to_date());

    let text = fs::read_to_string(&manifest).unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    lines[1..].reverse();
    fs::write(&manifest, lines.join("\n") + "\n").unwrap();
    assert!(write(&request).unwrap().is_up_to_date(), "the order of ties is the existing one");
    project.put("m/0/README.md", "new");
    let order = ["m/c/README.md", "m/b/README.md", "m/a/README.md", "m/0/README.md"];
    assert_eq!(project.write(&manifest, scope), order);
    assert_eq!(project.verify(&manifest, scope), []);
}

#[test]
fn a_path_that_the_format_cannot_hold_is_an_error() {
    let project = Project::new(&[("docs/a.md", "")]);
    if fs::write(project.place("docs/say \"hi\".md"), "").is_ok() {
        let manifest = project.place("files.csv");
        let error = write(&project.request(&manifest, ARTIFACTS)).unwrap_err();
        assert!(error.detail::<UnlistablePath>().is_some(), "{error}");
    }
}

/// A small copy of what 6.12.0 leaves behind: skills are listed and gone, configuration is listed and
/// rewritten, the user's own files are there and not listed.
fn bmad_folder() -> (Project, PathBuf) {
    let installed = [
        ("_config/manifest.yaml", "v: 1"),
        ("bmm/config.yaml", "a: 1"),
        ("bmm/module-help.csv", "help"),
        ("bmm/plan/bmad-prd/SKILL.md", "skill"),
        ("bmm/plan/bmad-prd/assets/a.md", "asset"),
        ("config.toml", "x = 1"),
        ("render/.gitignore", "*"),
    ];
    let project = Project::new(&installed);
    let manifest = project.place("_config/files-manifest.csv");
    let mut rows: Vec<_> = installed
        .iter()
        .map(|(path, text)| FileRow::of(path, Some(FileHash::of(text.as_bytes()))).unwrap())
        .collect();
    RowOrder::root().unwrap().sort(&mut rows, []);
    fs::write(&manifest, files_manifest::write(&rows).unwrap()).unwrap();
    fs::remove_dir_all(project.place("bmm/plan")).unwrap();
    project.put("bmm/config.yaml", "a: 2");
    project.put("config.toml", "x = 2");
    for path in ["custom/config.toml", "_config/bmad-help.csv", "memory/pm/notes.md", "render/x.html"] {
        project.put(path, "");
    }
    (project, manifest)
}

#[test]
fn a_fresh_installation_raises_no_alarm() {
    let (project, manifest) = bmad_folder();
    let report = verify(&project.request(&manifest, ManifestScope::BmadFolder)).unwrap();
    let count = |class| report.verification.count(class);
    assert!(!report.verification.has_findings());
    assert_eq!(
        [FileClass::Ok, FileClass::RemovedWithItsFolder, FileClass::Regenerated, FileClass::Unlisted]
            .map(count),
        [3, 2, 2, 1]
    );
    fs::remove_file(project.place("bmm/module-help.csv")).unwrap();
    let files = project.verify(&manifest, ManifestScope::BmadFolder);
    assert!(files.contains(&("bmm/module-help.csv".to_owned(), "missing")), "{files:?}");
}

#[test]
fn another_manifest_of_an_installation_lists_what_the_installer_lists() {
    let (project, _) = bmad_folder();
    let other = project.place("custom/files.csv");
    assert_eq!(
        project.write(&other, ManifestScope::BmadFolder),
        [
            "_config/manifest.yaml",
            "bmm/module-help.csv",
            "bmm/config.yaml",
            "config.toml",
            "custom/config.toml",
            "render/.gitignore",
        ]
    );
    assert_eq!(project.verify(&other, ManifestScope::BmadFolder), []);
}

#[test]
fn ignore_files_count_on_request_only() {
    let project = Project::new(&[("docs/a.md", ""), ("docs/ignored.md", ""), (".gitignore", "ignored.md\n")]);
    let manifest = project.place("files.csv");
    let request = project.request(&manifest, ARTIFACTS);
    let honoured = ManifestRequest { ignore_files: IgnoreFiles::Honoured, ..request };
    assert_eq!((write(&request).unwrap().files, write(&honoured).unwrap().files), (2, 1));
    fs::write(&manifest, write(&honoured).unwrap().bytes).unwrap();
    let unlisted = |request| verify(request).unwrap().verification.count(FileClass::Unlisted);
    assert_eq!((unlisted(&request), unlisted(&honoured)), (1, 0));
    // What is listed is compared, ignored or not.
    fs::write(&manifest, write(&request).unwrap().bytes).unwrap();
    project.put("docs/ignored.md", "edited");
    assert!(verify(&honoured).unwrap().verification.has_findings());
}

#[cfg(unix)]
#[test]
fn links_are_told_and_never_lead_outside() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.md"), "s").unwrap();
    let project = Project::new(&[("docs/a.md", "a"), ("shared/b.md", "b")]);
    for (target, link) in [
        (PathBuf::from("a.md"), "docs/link.md"),
        (PathBuf::from("nowhere"), "docs/broken.md"),
        (PathBuf::from("loop.md"), "docs/loop.md"),
        (outside.path().join("secret.md"), "docs/secret.md"),
        (outside.path().to_owned(), "docs/outside"),
        (PathBuf::from("../shared"), "docs/shared"),
    ] {
        symlink(target, project.place(link)).unwrap();
    }
    let manifest = project.place("files.csv");
    let draft = write(&project.request(&manifest, ARTIFACTS)).unwrap();
    let problems: Vec<_> = draft.problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(problems, ["docs/broken.md", "docs/loop.md", "docs/secret.md", "docs/shared"]);
    assert_eq!(project.write(&manifest, ARTIFACTS), ["docs/a.md", "docs/link.md", "shared/b.md"]);
    assert_eq!(project.verify(&manifest, ARTIFACTS), []);

    // A manifest of another tool may list what lies behind a link.
    let hash = FileHash::of(b"b");
    let rows = format!("md,b,docs,docs/shared/b.md,{hash}\nmd,s,docs,docs/outside/secret.md,{hash}\n");
    fs::write(&manifest, format!("type,name,module,path,hash\n{rows}")).unwrap();
    let files = project.verify(&manifest, ManifestScope::Artifacts(&Nothing));
    assert_eq!(files, [("docs/outside/secret.md".to_owned(), "unreadable")]);
}

#[cfg(unix)]
struct Nothing;

#[cfg(unix)]
impl ArtifactFilter for Nothing {
    fn is_artifact(&self, _: &str) -> bool {
        false
    }

    fn skips_folder(&self, _: &str) -> bool {
        true
    }
}

#[test]
fn a_manifest_that_is_not_there_is_told_apart_from_one_that_cannot_be_read() {
    let project = Project::new(&[("docs/a.md", "")]);
    let missing = project.place("docs/files.csv");
    let error = verify(&project.request(&missing, ARTIFACTS)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
    let folder = project.place("docs");
    let error = verify(&project.request(&folder, ARTIFACTS)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
}
