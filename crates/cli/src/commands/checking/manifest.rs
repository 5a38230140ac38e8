//! `stepmark project manifest`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Map, Value as Json};
use stepmark_model::projection::files_manifest::{FileClass, FileResult, ManifestWarningKind};
use stepmark_store::disk::WalkProblem;
use stepmark_store::manifest::{CacheOutcome, IgnoreFiles, ManifestPlace, ManifestReport, UnreadableFile};

use crate::{
    exit::{Exit, Failure},
    output::{Output, on_one_line, with_spinner},
    project::Project,
};

/// Keep files-manifest.csv: which files there are, and the SHA-256 of each
///
/// Without options this is `.stepmark/manifests/files-manifest.csv` over all artifacts of the project. With
/// --root DIR and --file it is a manifest of all files in DIR; in a `_bmad` folder, of those that its
/// installer counts.
#[derive(Debug, Args)]
pub(crate) struct Manifest {
    #[command(subcommand)]
    task: Task,
    /// The manifest, instead of the default one
    #[arg(long, global = true, value_name = "CSV")]
    file: Option<PathBuf>,
    /// Leave out what .gitignore and other ignore files name (listed files are compared all the same)
    #[arg(long, global = true)]
    ignore_files: bool,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Task {
    /// Write the manifest of what is there
    Write,
    /// Compare the manifest with what is there
    ///
    /// Ends with 1 when a listed file is modified, missing or unreadable. Files whose line ends alone
    /// changed, files that went with their whole folder (BMAD's installer moves skills away), files that the
    /// installer rewrites, and files that are not listed are reported and do not fail.
    Verify,
}

impl Manifest {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let place = ManifestPlace::find(&project.manifest_choice(self.file.as_deref()))?;
        match self.task {
            Task::Write => self.write(project, output, &place),
            Task::Verify => self.verify(project, output, &place),
        }
    }

    fn verify(&self, project: &Project, output: &Output, place: &ManifestPlace) -> Result<Exit, Failure> {
        let report = with_spinner("comparing", output.quiet, project.workspace.files_looked_at(), || {
            project.workspace.manifests().verify(place, self.ignore_files())
        })?;
        if report.oddities.iter().any(|oddity| matches!(oddity.kind, ManifestWarningKind::Header { .. })) {
            return Err(no_manifest(place));
        }
        let found = &report.verification;
        output.answer(|| verified(place, &report));
        for oddity in &report.oddities {
            output.warning(format_args!("{}: {oddity}", place.manifest().display()));
        }
        report.problems.iter().for_each(|problem| walk_warning(output, problem));
        for file in &found.others {
            print_verdict(output, file);
        }
        output.remark(summary(&report));
        cache_remark(output, &report.cache);
        Ok(if found.has_findings() { Exit::Findings } else { Exit::Fine })
    }

    fn write(&self, project: &Project, output: &Output, place: &ManifestPlace) -> Result<Exit, Failure> {
        // Before the work: whether the manifest may be written at all.
        place.target()?;
        let draft = with_spinner("hashing", output.quiet, project.workspace.files_looked_at(), || {
            project.workspace.manifests().draft(place, self.ignore_files())
        })?;
        let warning = place.is_among_installers_books().then_some(
            "a manifest rewritten among the installer's own books makes edited files look untouched: the next update \
             of BMAD overwrites them without keeping a .bak",
        );
        let is_written = !project.workspace.manifests().publish(place, &draft)?.written.is_empty();
        output.answer(|| Answer::Write {
            root: place.root().path().display().to_string(),
            manifest: place.manifest().display().to_string(),
            files: draft.files,
            written: is_written,
            unreadable: &draft.unreadable,
            problems: problems(&draft.problems),
            warning,
            cache: cache_word(&draft.cache),
        });
        warning.iter().for_each(|warning| output.warning(warning));
        for file in &draft.unreadable {
            output.warning(format_args!(
                "{} is listed without a hash: {}",
                on_one_line(&file.path),
                file.reason
            ));
        }
        draft.problems.iter().for_each(|problem| walk_warning(output, problem));
        let (manifest, files) = (place.manifest().display(), draft.files);
        match is_written {
            true => output.remark(format_args!("wrote {manifest}: {files} files")),
            false => output.remark(format_args!("{manifest} is up to date: {files} files")),
        }
        cache_remark(output, &draft.cache);
        Ok(Exit::Fine)
    }

    const fn ignore_files(&self) -> IgnoreFiles {
        if self.ignore_files { IgnoreFiles::Honoured } else { IgnoreFiles::Disregarded }
    }
}

/// Without a header, comparing would find all in order.
fn no_manifest(place: &ManifestPlace) -> Failure {
    let manifest = place.manifest().display();
    Failure::new(Exit::Io, format!("`{manifest}` is no files manifest: it does not begin with the header"))
        .with_help("name another with --file, or make it anew with `stepmark project manifest write`")
}

/// Files that the installer removed or rewrote are only counted: fresh installations have hundreds.
fn print_verdict(output: &Output, file: &FileResult) {
    let line = || {
        let reason = file.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{:<14} {}{reason}", file.class.label(), on_one_line(&file.path))
    };
    match file.class {
        FileClass::Ok | FileClass::RemovedWithItsFolder | FileClass::Regenerated => {}
        class if class.is_finding() => output.line(line()),
        _ => output.remark(line()),
    }
}

fn summary(report: &ManifestReport) -> String {
    let count = |class| report.verification.count(class);
    let unlisted = count(FileClass::Unlisted);
    let listed: usize =
        FileClass::ALL.into_iter().filter(|class| *class != FileClass::Unlisted).map(count).sum();
    let classes: Vec<String> = FileClass::ALL
        .into_iter()
        .filter(|class| *class != FileClass::Unlisted && count(*class) > 0)
        .map(|class| format!("{} {}", count(class), class.label()))
        .collect();
    let classes = if classes.is_empty() { String::new() } else { format!(": {}", classes.join(", ")) };
    format!("{listed} files listed{classes}; {unlisted} unlisted")
}

fn walk_warning(output: &Output, problem: &WalkProblem) {
    output.warning(format_args!("{}: {}", on_one_line(&problem.path), problem.kind));
}

fn cache_remark(output: &Output, cache: &CacheOutcome) {
    if let CacheOutcome::NotWritten { reason } = cache {
        output.remark(format_args!("the hashes cannot be kept for the next run: {reason}"));
    }
}

answers! { Answer<'a>
    /// `project manifest write`: the manifest that was written
    "stepmark.manifest-write/1" Write {
        root: String, manifest: String, files: usize, written: bool, unreadable: &'a [UnreadableFile],
        problems: Vec<ProblemRow>, warning: Option<&'a str>, cache: &'static str,
    }
    /// `project manifest verify`: what differs from the manifest
    "stepmark.manifest-verify/1" Verify {
        root: String, manifest: String,
        /// The number of files of each class
        counts: Map<String, Json>,
        files: Vec<FileRow<'a>>, oddities: Vec<OddityRow>, problems: Vec<ProblemRow>, cache: &'static str,
    }
    struct FileRow<'a> { path: &'a str, class: &'static str, reason: Option<&'a str> }
    struct OddityRow { line: usize, message: String }
    struct ProblemRow { path: String, message: String }
}

fn verified<'a>(place: &ManifestPlace, report: &'a ManifestReport) -> Answer<'a> {
    let count = |class: FileClass| (class.label().to_owned(), report.verification.count(class).into());
    let row = |file: &'a FileResult| FileRow {
        path: &file.path,
        class: file.class.label(),
        reason: file.reason.as_deref(),
    };
    let oddities = report.oddities.iter();
    Answer::Verify {
        root: place.root().path().display().to_string(),
        manifest: place.manifest().display().to_string(),
        counts: FileClass::ALL.into_iter().map(count).collect(),
        files: report.verification.others.iter().map(row).collect(),
        oddities: oddities.map(|own| OddityRow { line: own.line, message: own.kind.to_string() }).collect(),
        problems: problems(&report.problems),
        cache: cache_word(&report.cache),
    }
}

fn problems(problems: &[WalkProblem]) -> Vec<ProblemRow> {
    let row =
        |problem: &WalkProblem| ProblemRow { path: problem.path.clone(), message: problem.kind.to_string() };
    problems.iter().map(row).collect()
}

fn cache_word(cache: &CacheOutcome) -> &'static str {
    match cache {
        CacheOutcome::Absent => "absent",
        CacheOutcome::Unchanged => "unchanged",
        CacheOutcome::Renewed => "renewed",
        CacheOutcome::NotWritten { .. } => "not-written",
    }
}
