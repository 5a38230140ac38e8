//! Checking all artifacts, where those that were clean before are not read again.

use std::{collections::HashMap, ops::Range, sync::atomic::AtomicUsize};

use crate::checking::{
    CheckError, CheckReport, Known, Selection, cache::Answers, cache::Facts, cache::Learned, cache::Noted,
    cache::Sight, cache::Verdict, cache::Verdicts, run::CheckingRun,
};
use crate::disk::{WalkError, file_stat::FileStat, folder::EntryKind, folder::Folder, walk::Visitor};
use crate::workspace::{
    Artifacts, Workspace, artifact_files::Looked, artifact_files::Reader, artifact_files::gathered,
    artifact_files::walk_artifacts,
};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{artifact::ProjectPath, check::Judged};

/// The artifacts that need not be read for a check: they were clean, and nothing has changed that decides about them.
#[derive(Debug, Default)]
pub struct CheckedBefore<'w> {
    clean: Vec<ProjectPath>,
    /// `None` where nothing is kept from run to run.
    run: Option<Run<'w>>,
}

/// What is needed to keep what this run learns.
#[derive(Debug)]
struct Run<'w> {
    verdicts: Verdicts<'w>,
    learned: Learned,
    /// The stats of the artifacts that were read, taken before.
    stats: HashMap<ProjectPath, FileStat>,
}

impl Workspace {
    /// All artifacts of the project, for [`Workspace::check_all`]: those that have to be looked at, and those that were clean
    /// when they were last checked. `count` says how many files were passed so far.
    ///
    /// # Errors
    /// When the root cannot be listed. A file or folder that cannot be read is reported beside the others.
    pub fn artifacts_to_check(
        &self,
        count: &AtomicUsize,
    ) -> Result<(Artifacts, CheckedBefore<'_>), WalkError> {
        let Some(verdicts) = Verdicts::load(self) else {
            return Ok((self.artifacts_counted(count)?, CheckedBefore::default()));
        };
        let new_sorter = || Sorter {
            verdicts: &verdicts,
            reader: Reader::new(self, count, &|_| true),
            learned: Learned::default(),
            clean: Vec::new(),
            stats: Vec::new(),
        };
        let walked = walk_artifacts(self, &new_sorter)?;
        let (mut learned, mut before) = (Learned::default(), CheckedBefore::default());
        let (mut readers, mut stats) = (Vec::new(), HashMap::new());
        for sorter in walked.visitors {
            readers.push(sorter.reader);
            stats.extend(sorter.stats);
            before.clean.extend(sorter.clean);
            learned.folders.extend(sorter.learned.folders);
            learned.stateless += sorter.learned.stateless;
            learned.used.extend(sorter.learned.used);
        }
        learned.visited = walked.folders.into_iter().collect();
        let artifacts = gathered(self, readers, walked.problems, count);
        before.run = Some(Run { verdicts, learned, stats });
        Ok((artifacts, before))
    }

    /// What is wrong with the artifacts of the project, by its configuration: `read` and `before` are all of them, from
    /// [`Workspace::artifacts_to_check`]. Also keeps for the next run which ones are clean.
    ///
    /// # Errors
    /// Those of [`Workspace::check`].
    pub fn check_all<'t>(
        &self,
        read: &'t [TrackedArtifact],
        before: CheckedBefore<'_>,
        known: Known,
    ) -> Result<CheckReport<'t>, CheckError> {
        let answers = Answers::new(self);
        let mut run = CheckingRun::begin(self, known)?;
        let chains = self.chains_of(read, Selection::All)?;
        let mut clean: Vec<(ProjectPath, FileStat, Noted)> = Vec::new();
        run.judge(read, chains.as_ref(), &answers, |artifact, judged, noted| {
            let stat = before.run.as_ref().and_then(|run| run.stats.get(artifact.path()));
            let noted = noted.filter(|_| is_clean(judged) && stands_alone(artifact));
            if let Some((stat, noted)) = stat.zip(noted) {
                clean.push((artifact.path().clone(), *stat, self.with_own_facts(noted, artifact, judged)));
            }
        })?;
        run.report.add_clean(before.clean);
        let mut workflows = Vec::new();
        if let Some(Run { verdicts, learned, .. }) = &before.run {
            for Facts { workflow, undecided, .. } in verdicts.used(learned) {
                run.note_allowances(undecided);
                let definition = workflow.map(|(place, track)| self.workflows().definition(place, track));
                workflows.extend(definition.transpose()?.flatten());
            }
        }
        let workflows = workflows.iter().map(|definition| &**definition);
        let workflows = workflows.chain(read.iter().filter_map(TrackedArtifact::workflow));
        run.look_beside(workflows, answers.into_ledgers());
        let mut report = run.finish(Selection::All);
        if let Some(Run { verdicts, learned, .. }) = before.run {
            report.cache = verdicts.renew(learned, clean);
        }
        Ok(report)
    }

    /// Adds what concerns files beside the artifact.
    fn with_own_facts(&self, mut noted: Noted, artifact: &TrackedArtifact, judged: &Judged) -> Noted {
        noted.facts.workflow = artifact.workflow().and_then(|workflow| self.workflows().key_of(workflow));
        noted.facts.undecided = judged.undecided.iter().map(|(at, rule)| (*at, rule.id.to_owned())).collect();
        noted
    }
}

/// Suppressed findings are counted in every run.
fn is_clean(judged: &Judged) -> bool {
    judged.findings.is_empty() && judged.suppressed == 0
}

/// Whether no other artifact decides about it: what has an id may be the parent of others.
fn stands_alone(artifact: &TrackedArtifact) -> bool {
    let member = artifact.member();
    member.id().is_none() && member.delegation.is_none()
}

/// Tells the files of one thread apart, and reads those that have to be read.
struct Sorter<'run> {
    verdicts: &'run Verdicts<'run>,
    reader: Reader<'run>,
    learned: Learned,
    clean: Vec<ProjectPath>,
    stats: Vec<(ProjectPath, FileStat)>,
}

impl Visitor for Sorter<'_> {
    fn visit(&mut self, folder: &Folder, places: Range<usize>) {
        let mut sight = self.verdicts.begin(folder, places.start);
        for place in places {
            match sight.recall(folder, place) {
                Some(verdict) => self.pass(folder, place, verdict),
                None => self.look(&mut sight, folder, place),
            }
        }
        self.learned.folders.push(sight.renewal);
    }
}

impl Sorter<'_> {
    fn pass(&mut self, folder: &Folder, place: usize, verdict: Verdict) {
        self.reader.passed();
        if let Verdict::Clean(facts) = verdict
            && let Ok(path) = ProjectPath::new(folder.path_of(folder.name(place)))
        {
            self.learned.used.insert(facts);
            self.clean.push(path);
        }
    }

    fn look(&mut self, sight: &mut Sight<'_>, folder: &Folder, place: usize) {
        let Some(path) = self.reader.candidate(folder, place) else { return };
        // What a link leads to may change without its own stat.
        let stat = (folder.kind(place) == EntryKind::File).then(|| folder.stat(place).ok()).flatten();
        let looked = self.reader.look(folder, place, path.clone());
        let Some((EntryKind::File, stat)) = stat else { return };
        match looked {
            Looked::Tracked => self.stats.push((path, stat)),
            Looked::Stateless => {
                sight.is_stateless(folder.name(place), stat);
                self.learned.stateless += 1;
            }
            Looked::Failed => {}
        }
    }
}
