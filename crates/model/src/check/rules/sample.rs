//! Files for the tests of rules, checked in surroundings made of them.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    artifact::{Artifact, FileHash, PathGlob, ProjectPath},
    asdd::{self, AsddFacts, SliceFacts, SliceKind},
    autodev::{AutodevFacts, Flows, Position, ProjectFiles},
    bmad::sprint::SprintStatus,
    check::{Finding, Group, ManifestRow, Rule, RuleEnvironment, Subject},
    coordination::{CoordinationFacts, Format, Record, RecordKind, State, orphaned},
    delegation::Chains,
    flows::{FlowFacts, FlowKind, FlowRecord, FlowState, Graph},
    records::{RecordSet as _, Signals},
    tracked_artifact::{Membership, TrackedArtifact},
    workflow::{Chain, WorkflowDefinition, sample},
};
use stepmark_frontmatter::LineIndex;

/// The findings of `rule` in a file called as its group wants it, mostly `prd.md`: `line:column id message`.
/// `workflowType: prd` binds it to the PRD of 6.0.4, `workflowType: choice` to three steps of which the
/// second is one of two.
pub(crate) fn found(rule: &'static Rule, text: &str) -> Vec<String> {
    let path = path_of(rule);
    let found = found_in(rule, &[(path, text)]).into_iter();
    found.map(|line| line[path.len()..].strip_prefix(':').map(str::to_owned).unwrap_or(line)).collect()
}

pub(crate) fn path_of(rule: &'static Rule) -> &'static str {
    match rule.group {
        Group::Autodev => "_docs/_autodev_state.md",
        Group::Asdd => ".asdd/slices/SLICE-001.md",
        Group::Coordination => ".coordination/tasks/tests.md",
        Group::Flows => "flows/r1/tasks/tests.md",
        _ => "prd.md",
    }
}

/// The same in several files: `path:line:column id message`.
pub(crate) fn found_in(rule: &'static Rule, files: &[(&str, &str)]) -> Vec<String> {
    findings(rule, files).iter().flatten().map(|finding| shown(finding, files)).collect()
}

pub(crate) fn helps_in(rule: &'static Rule, files: &[(&str, &str)]) -> Vec<String> {
    findings(rule, files).into_iter().flatten().filter_map(|finding| finding.help).collect()
}

pub(crate) fn severities(rule: &'static Rule, text: &str) -> Vec<crate::check::Severity> {
    findings(rule, &[(path_of(rule), text)]).into_iter().flatten().map(|finding| finding.severity).collect()
}

/// The file of [`found`] after the first fix that `rule` offers; `None` where it offers none.
pub(crate) fn fixed(rule: &'static Rule, text: &str) -> Option<String> {
    fixed_in(rule, &[(path_of(rule), text)])
}

pub(crate) fn fixed_in(rule: &'static Rule, files: &[(&str, &str)]) -> Option<String> {
    let findings = findings(rule, files);
    let fix = findings.first()?.iter().find_map(|finding| finding.fix.as_ref())?;
    let mut text = files.first()?.1.to_owned();
    for splice in fix.splices.iter().rev() {
        text.replace_range(splice.span.range(), &splice.text);
    }
    Some(text)
}

/// Returns whether one file `prd.md` alone can never break the rule: it takes another one, another name, or
/// the same at an earlier time.
pub(crate) fn is_of_several_files(rule: &'static Rule) -> bool {
    [
        "SM307", "SM311", "SM502", "SM509", "SM801", "SM802", "SMA02", "SMA07", "SMC04", "SMC09", "SMC12",
        "SMD12", "SMF01", "SMF07", "SMF09", "SMF11",
    ]
    .contains(&rule.id)
        || [Group::History, Group::Systems].contains(&rule.group)
}

fn shown(finding: &Finding, files: &[(&str, &str)]) -> String {
    let (path, text) = files.iter().find(|(path, _)| *path == finding.path.as_str()).unwrap();
    let place = LineIndex::new(text.as_bytes()).position(text.as_bytes(), finding.span.start);
    format!("{path}:{place} {} {}", finding.rule.id, finding.message)
}

pub(crate) const MANIFEST: &str = ".stepmark/manifests/files-manifest.csv";

pub(crate) const SKILL_STATE: &str = "_docs/02_document/state.json";

struct Files<'f>(&'f [(&'f str, &'f str)]);

impl RuleEnvironment for Files<'_> {
    fn exists(&self, path: &ProjectPath) -> bool {
        self.0.iter().any(|(own, _)| *own == path.as_str())
    }

    fn sprint_status(&self, ledger: &ProjectPath, story: &str) -> Option<String> {
        let (_, text) = self.0.iter().find(|(own, _)| *own == ledger.as_str())?;
        SprintStatus::read(text.as_bytes()).ok()?.status_of(story).map(str::to_owned)
    }

    fn is_commit(&self, name: &str) -> bool {
        !name.starts_with("000")
    }

    fn autodev(&self, artifact: &Artifact) -> Option<AutodevFacts> {
        let states = BTreeMap::from([("Document".to_owned(), ProjectPath::new(SKILL_STATE).unwrap())]);
        let position = Position::of(artifact).ok();
        Some(AutodevFacts::gather(Flows::default(), &states, position.as_ref(), self))
    }

    fn coordination(&self) -> Option<Arc<CoordinationFacts>> {
        let read = |(path, text): &(&str, &str)| {
            Record::of(&Artifact::read(ProjectPath::new(*path).unwrap(), text.as_bytes().to_vec())).ok()
        };
        let root = Record::new(RecordKind::Coordination, "coordination", serde_json::Map::new());
        let state = State::from_records(self.0.iter().filter_map(read).chain([root]))?;
        let now = "2026-11-24T12:00:00Z".parse().unwrap();
        let orphans = orphaned(&state, &Signals::new(), now, 900);
        let orphaned = orphans.iter().map(|task| task.id.clone()).collect();
        let format = Format::OrchestratorState;
        Some(Arc::new(CoordinationFacts { state, format, claims_per_agent: 1, orphaned }))
    }

    fn asdd(&self) -> Option<Arc<AsddFacts>> {
        let read = |(path, text): &(&str, &str)| {
            let artifact = Artifact::read(ProjectPath::new(*path).unwrap(), text.as_bytes().to_vec());
            asdd::Record::of(&artifact).ok()
        };
        let project = asdd::Record::new(SliceKind::Project, "asdd", serde_json::Map::new());
        let state = asdd::State::from_records(self.0.iter().filter_map(read).chain([project]))?;
        let hash = |path: String| {
            let file = self.0.iter().find(|(own, _)| *own == path);
            (path, file.map(|(_, text)| FileHash::of(text.as_bytes())))
        };
        let files = state.slices.iter().flat_map(SliceFacts::paths_of).map(hash).collect();
        let silent = [("SLICE-009".to_owned(), vec!["implementation_agent".to_owned()])].into();
        Some(Arc::new(AsddFacts { state, files: SliceFacts { files }, rules: Default::default(), silent }))
    }

    fn flows(&self) -> Option<Arc<FlowFacts>> {
        let of_kind = |kind| {
            let read = move |(path, text): &(&str, &str)| {
                let artifact = Artifact::read(ProjectPath::new(*path).unwrap(), text.as_bytes().to_vec());
                FlowRecord::of(&artifact, kind).ok()
            };
            self.0.iter().filter_map(read).collect::<Vec<_>>()
        };
        let graph =
            of_kind(FlowKind::Graph).first().and_then(|graph| Graph::of(graph).ok()).unwrap_or_default();
        let tasks = of_kind(FlowKind::Execution);
        let state = |flow| FlowState { flow, graph: graph.clone(), tasks: tasks.clone() };
        Some(Arc::new(FlowFacts { flows: of_kind(FlowKind::Flow).into_iter().map(state).collect() }))
    }

    fn manifest_row(&self, path: &ProjectPath) -> ManifestRow {
        let manifest = self.0.iter().find(|(own, _)| *own == MANIFEST && path.as_str() != MANIFEST);
        let Some((_, manifest)) = manifest else { return ManifestRow::Uncovered };
        let quoted = format!(",\"{path}\",\"");
        match manifest.lines().find_map(|line| line.split_once(&quoted)) {
            None => ManifestRow::Missing,
            Some((_, rest)) => {
                rest.trim_end_matches('"').parse().map_or(ManifestRow::WithoutHash, ManifestRow::Hash)
            }
        }
    }
}

impl ProjectFiles for Files<'_> {
    fn exists(&self, path: &str) -> bool {
        self.0.iter().any(|(own, _)| own.starts_with(path))
    }

    fn is_empty(&self, path: &str) -> bool {
        !ProjectFiles::exists(self, path)
    }

    fn count(&self, glob: &PathGlob) -> usize {
        self.0.iter().filter(|(own, _)| glob.matches(&ProjectPath::new(*own).unwrap())).count()
    }

    fn text(&self, path: &str, key: &str) -> String {
        let text = self.0.iter().find(|(own, _)| *own == path).map_or("{}", |(_, text)| *text);
        let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        value[key].as_str().unwrap_or_default().to_owned()
    }
}

fn findings(rule: &'static Rule, files: &[(&str, &str)]) -> Vec<Vec<Finding>> {
    let artifacts: Vec<_> = files.iter().map(|(path, text)| tracked(path, text.as_bytes())).collect();
    let chains = Chains::of(artifacts.iter().map(TrackedArtifact::member));
    let files = Files(files);
    let found = artifacts.iter().map(|artifact| {
        let subject = Subject::of(artifact).within(&files).with_chains(Some(&chains));
        let mut found = Vec::new();
        rule.look_at(&subject, &mut found);
        found.sort_by_key(|finding| finding.span);
        found
    });
    found.collect()
}

pub(super) fn tracked(path: &str, text: &[u8]) -> TrackedArtifact {
    let artifact = Artifact::read(ProjectPath::new(path).unwrap(), text.to_vec());
    let membership = workflow(&artifact).map_or(Membership::None, |chain| {
        let workflow = WorkflowDefinition { name: "sample".to_owned(), chain, siblings: Vec::new() };
        Membership::Member { workflow: Arc::new(workflow), evidence: Vec::new() }
    });
    TrackedArtifact::new(artifact, membership, Arc::default())
}

fn workflow(artifact: &Artifact) -> Option<Chain> {
    match artifact.state().workflow_type.as_ref()?.text.as_str() {
        "prd" => Some(sample::prd()),
        "choice" => Some(sample::chain(&[
            ("step-01-start", "", "Then `./step-02-draft.md` or `./step-02-review.md`."),
            ("step-02-draft", "nextStepFile: ./step-03-end.md", ""),
            ("step-02-review", "nextStepFile: ./step-03-end.md", ""),
            ("step-03-end", "", ""),
        ])),
        _ => None,
    }
}
