//! Checking all artifacts; those known well enough are not read again.

use std::{collections::HashMap, mem, ops::Range};

use crate::checking::cache::{Answers, Facts, FactsKey, FolderPart, Judgement, Learned, Verdict, Verdicts};
use crate::checking::{CheckReport, Checks, Known, Selection, kept_chains};
use crate::checking::{check_report::CheckingRun, kept_chains::ChainPart};
use crate::disk::{
    file_reading::FileStat,
    folder::{EntryKind, Folder},
    in_parts::par_map,
    walk::Visitor,
};
use crate::workspace::{
    Artifacts, Workspace, artifact_files::Looked, artifact_files::Reader, artifact_files::gathered,
    artifact_files::walk_artifacts,
};
use crate::{Error, bmad::sprint::StoryLedgers};
use stepmark_model::{artifact::ProjectPath, delegation::Chains, tracked_artifact::TrackedArtifact};

#[derive(Debug, Default)]
pub struct CheckedBefore<'w> {
    pub(super) known: Vec<KnownArtifact>,
    /// `None` if all artifacts were read.
    pub(super) chains: Option<Chains>,
    /// `None` if nothing is cached.
    run: Option<Run<'w>>,
}

#[derive(Debug)]
pub(super) struct KnownArtifact {
    pub(super) path: ProjectPath,
    pub(super) entry: usize,
    /// The facts behind the decision, with the artifact's part in chains.
    facts: FactsKey,
    pub(super) part: ChainPart,
    has_findings: bool,
}

#[derive(Debug)]
struct Run<'w> {
    verdicts: Verdicts<'w>,
    learned: Learned,
    /// From before the artifacts were read.
    stats: HashMap<ProjectPath, FileStat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Findings,
    Counts,
}

impl Workspace {
    /// All artifacts: those that had to be read, and those whose `wanted` facts are known.
    pub(super) fn artifacts_apart(&self, wanted: Wanted) -> Result<(Artifacts, CheckedBefore<'_>), Error> {
        let Some(verdicts) = Verdicts::load(self) else {
            return Ok((self.artifacts()?, CheckedBefore::default()));
        };
        let new_sorter = || Sorter {
            verdicts: &verdicts,
            reader: Reader::new(self, &|_| true),
            learned: Learned::default(),
            known: Vec::new(),
            stats: Vec::new(),
        };
        let walked = walk_artifacts(self, &new_sorter)?;
        let (mut learned, mut before) = (Learned::default(), CheckedBefore::default());
        let (mut readers, mut stats, mut known) = (Vec::new(), HashMap::new(), Vec::new());
        for sorter in walked.visitors {
            readers.push(sorter.reader);
            stats.extend(sorter.stats);
            known.extend(sorter.known);
            learned.folders.extend(sorter.learned.folders);
            learned.stateless += sorter.learned.stateless;
            learned.used.extend(sorter.learned.used);
        }
        // Nearly path order, which makes sorting cheap.
        known.sort_by(|one, other| first_path(one).cmp(&first_path(other)));
        before.known = known.into_iter().flatten().collect();
        learned.visited = walked.folders.into_iter().collect();
        let mut found = gathered(self, readers, walked.problems);
        let mut chains = kept_chains::chains(&verdicts, &before.known, &found.artifacts);
        let outdated = kept_chains::take_outdated(&verdicts, &chains, &mut before.known);
        let stat = |artifact: &KnownArtifact| Some((artifact.path.clone(), verdicts.stat(artifact.entry)?));
        stats.extend(outdated.iter().filter_map(stat));
        learned.used.extend(before.known.iter().map(|artifact| artifact.facts));
        let is_shown = |artifact: &mut KnownArtifact| wanted == Wanted::Findings && artifact.has_findings;
        let to_read: Vec<_> = outdated.into_iter().chain(before.known.extract_if(.., is_shown)).collect();
        if !to_read.is_empty() {
            self.read_known(&to_read, &mut found);
            // Freshly read artifacts have current positions.
            chains = kept_chains::chains(&verdicts, &before.known, &found.artifacts);
        }
        before.chains = Some(chains);
        before.run = Some(Run { verdicts, learned, stats });
        Ok((found, before))
    }

    fn read_known(&self, known: &[KnownArtifact], found: &mut Artifacts) {
        for read in par_map(known, |artifact| self.artifact(&artifact.path)) {
            match read {
                Ok(artifact) if artifact.artifact().is_tracked() => found.artifacts.push(artifact),
                Ok(artifact) => found.stateless.push(artifact.path().clone()),
                // Gone since its name was read.
                Err(error) if error.is_missing() => {}
                Err(error) => found.unreadable.push(error),
            }
        }
        found.artifacts.sort_by(|one, other| one.path().cmp(other.path()));
        found.unreadable.sort_by_key(ToString::to_string);
    }

    /// Like `check_all`; of unread artifacts the report contains only the `clean`.
    pub(super) fn check_rest<'t>(
        &self,
        read: &'t [TrackedArtifact],
        before: &mut CheckedBefore<'_>,
        clean: impl Iterator<Item = ProjectPath>,
        stories: Option<Vec<ProjectPath>>,
        known: Known,
    ) -> Result<CheckReport<'t>, Error> {
        let answers = Answers::new(self);
        let mut run = CheckingRun::begin(self, known)?;
        let own = || Chains::of(read.iter().map(TrackedArtifact::member));
        let chains = &*before.chains.get_or_insert_with(own);
        let mut judged: Vec<Judgement> = Vec::new();
        let note = |artifact: &TrackedArtifact| {
            let run = before.run.as_ref().filter(|run| run.stats.contains_key(artifact.path()))?;
            Some(run.verdicts.write_note(artifact, chains))
        };
        run.judge(read, Some(chains), &answers, note, |artifact, problems, noted, note| {
            let stat = before.run.as_ref().and_then(|run| run.stats.get(artifact.path()));
            if let Some(stat) = stat {
                let path = artifact.path().clone();
                judged.push(Judgement { path, stat: *stat, noted, problems, note });
            }
        })?;
        run.report.add_clean(clean);
        let mut workflows = Vec::new();
        if let Some(Run { verdicts, learned, .. }) = &before.run {
            for Facts { workflow, allowances, .. } in verdicts.used(learned) {
                run.note_allowances(allowances);
                let definition = workflow.map(|(place, track)| self.workflows().definition(place, track));
                workflows.extend(definition.transpose()?.flatten());
            }
        }
        let workflows = workflows.iter().map(|definition| &**definition);
        let workflows = workflows.chain(read.iter().filter_map(TrackedArtifact::workflow));
        #[cfg(feature = "write")]
        run.scan_files_of_records(&answers);
        run.scan_other_files(workflows, answers.into_ledgers(), stories.as_deref());
        let mut report = run.finish(Selection::All);
        if let Some(Run { verdicts, learned, .. }) = &mut before.run {
            report.cache = verdicts.renew(mem::take(learned), judged);
        }
        Ok(report)
    }
}

impl<'w> Checks<'w> {
    /// All artifacts, for [`Checks::check_all`]: those to be checked, and those clean at their last check.
    pub fn artifacts_to_check(&self) -> Result<(Artifacts, CheckedBefore<'w>), Error> {
        self.workspace.artifacts_apart(Wanted::Findings)
    }

    /// Checks the result of [`Checks::artifacts_to_check`], and caches the clean ones for the next run.
    pub fn check_all<'t>(
        &self,
        read: &'t [TrackedArtifact],
        mut before: CheckedBefore<'_>,
        known: Known,
    ) -> Result<CheckReport<'t>, Error> {
        let before_known = mem::take(&mut before.known);
        let paths = before_known.iter().map(|artifact| &artifact.path);
        let stories = StoryLedgers::stories(paths.chain(read.iter().map(TrackedArtifact::path)));
        let clean = before_known.into_iter().map(|artifact| artifact.path);
        self.workspace.check_rest(read, &mut before, clean, Some(stories), known)
    }
}

impl CheckedBefore<'_> {
    pub(super) fn verdicts(&self) -> Option<&Verdicts<'_>> {
        self.run.as_ref().map(|run| &run.verdicts)
    }

    /// From before the artifact was read; `None` if it may change without a trace.
    pub(super) fn stat(&self, path: &ProjectPath) -> Option<FileStat> {
        let run = self.run.as_ref()?;
        run.stats.get(path).copied().filter(|stat| run.verdicts.proves(stat))
    }

    /// An upper bound: artifacts read now that need not be read next time.
    pub(super) fn to_keep(&self) -> usize {
        self.run.as_ref().map_or(0, |run| run.stats.len())
    }
}

fn first_path(known: &[KnownArtifact]) -> Option<&ProjectPath> {
    known.first().map(|artifact| &artifact.path)
}

struct Sorter<'run> {
    verdicts: &'run Verdicts<'run>,
    reader: Reader<'run>,
    learned: Learned,
    /// For each part of a folder, in name order.
    known: Vec<Vec<KnownArtifact>>,
    stats: Vec<(ProjectPath, FileStat)>,
}

impl Visitor for Sorter<'_> {
    fn visit(&mut self, folder: &Folder, places: Range<usize>) {
        let mut part = self.verdicts.begin(folder, places.start);
        self.known.push(Vec::new());
        for place in places {
            match part.recall(folder, place) {
                Some((verdict, entry)) => self.pass(folder, place, verdict, entry),
                None => self.look(&mut part, folder, place),
            }
        }
        self.learned.folders.push(part.renewal);
    }
}

impl Sorter<'_> {
    fn pass(&mut self, folder: &Folder, place: usize, verdict: Verdict, entry: usize) {
        let facts = match verdict {
            Verdict::Clean(facts) | Verdict::Found(facts) => facts,
            Verdict::Stateless => return self.reader.passed(),
        };
        self.reader.passed();
        let Ok(path) = ProjectPath::new(folder.path_of(folder.name(place))) else { return };
        let (part, has_findings) = (self.verdicts.part(&facts), matches!(verdict, Verdict::Found(_)));
        if let Some(known) = self.known.last_mut() {
            known.push(KnownArtifact { path, entry, facts, part, has_findings });
        }
    }

    fn look(&mut self, part: &mut FolderPart<'_>, folder: &Folder, place: usize) {
        let Some(path) = self.reader.candidate(folder, place) else { return };
        // A link's target may change without changing the link's stat.
        let stat = (folder.kind(place) == EntryKind::File).then(|| folder.stat(place).ok()).flatten();
        let looked = self.reader.look(folder, place, path.clone());
        let Some((EntryKind::File, stat)) = stat else { return };
        match looked {
            Looked::Tracked => self.stats.push((path, stat)),
            Looked::Stateless => {
                part.is_stateless(folder.name(place), stat);
                self.learned.stateless += 1;
            }
            Looked::Failed => {}
        }
    }
}
