//! Discovery of the workflows of a project, from paths alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::artifact::ProjectPath;

use crate::workflow::{ChainOutline, StepForm, StepId, StepOutline, Track, WorkflowOutline};

/// Relative to the project. Preferred ones first: of one workflow in several, the first is used. `_bmad`
/// (6.0.0-beta and later), `bmad` and `.bmad` (alphas) have `workflow.md` forms; the others are the
/// assistants' skill folders known to bmad-method 6.12's installer (`platform-codes.yaml`).
pub const DEFAULT_ROOTS: [&str; 26] = [
    "_bmad",
    "bmad",
    ".bmad",
    ".claude/skills",
    ".agents/skills",
    ".agent/skills",
    ".adal/skills",
    ".bob/skills",
    ".cline/skills",
    ".codebuddy/skills",
    ".codewhale/skills",
    ".cortex/skills",
    ".factory/skills",
    ".firebender/skills",
    ".github/skills",
    ".iflow/skills",
    ".junie/skills",
    ".kiro/skills",
    ".kode/skills",
    ".neovate/skills",
    ".ona/skills",
    ".qoder/skills",
    ".qwen/skills",
    ".trae/skills",
    ".zcode/skills",
    ".zencoder/skills",
];

#[derive(Clone, Debug, PartialEq, Eq)]
enum StepFolder {
    /// `steps`, `steps-c`, `steps-e`, `steps-v`.
    OfTrack(Track),
    /// `market-steps`: one of several workflows.
    OfVariant(String),
    /// Any other folder, with steps beside an entry file.
    BesideEntry,
}

impl StepFolder {
    fn named(name: &str) -> Self {
        match name {
            "steps" | "steps-c" => Self::OfTrack(Track::Create),
            "steps-e" => Self::OfTrack(Track::Edit),
            "steps-v" => Self::OfTrack(Track::Validate),
            _ => match name.strip_suffix("-steps").or_else(|| name.strip_prefix("steps-")) {
                Some(variant) if !variant.is_empty() => Self::OfVariant(variant.to_owned()),
                _ => Self::BesideEntry,
            },
        }
    }
}

/// `listing` has the files below the discovery roots, preferred roots first; it decides the order of the
/// result.
///
/// A step is a Markdown file with a step's name ([`StepId::parse`]) in a folder `steps`, `steps-c`,
/// `steps-e`, `steps-v` or `…-steps`; or a file `step-…` beside `workflow….md` or `SKILL.md`, or in one of
/// the folders `declared` in the configuration. In other places a workflow needs a numbered step.
pub fn discover(listing: &[ProjectPath], declared: &[ProjectPath]) -> Vec<WorkflowOutline> {
    let mut entry_folders: BTreeSet<&str> =
        listing.iter().filter(|path| is_entry(path)).filter_map(folder_of).collect();
    entry_folders.extend(declared.iter().map(ProjectPath::as_str));
    let mut found: Vec<WorkflowOutline> = Vec::new();
    let mut index: BTreeMap<(ProjectPath, Option<String>), usize> = BTreeMap::new();
    for path in listing {
        let Some((id, step_folder)) = step_file(path, &entry_folders) else { continue };
        let Some(holder) = path.parent() else { continue };
        let (folder, variant, track) = match step_folder {
            StepFolder::OfTrack(track) => (holder.parent(), None, track),
            StepFolder::OfVariant(variant) => (holder.parent(), Some(variant), Track::Create),
            StepFolder::BesideEntry => (Some(holder.clone()), None, id.track().unwrap_or(Track::Create)),
        };
        // A step folder at the root is its own workflow.
        let folder = folder.unwrap_or_else(|| holder.clone());
        let at = *index.entry((folder.clone(), variant.clone())).or_insert_with(|| {
            found.push(WorkflowOutline {
                folder,
                variant,
                entries: Vec::new(),
                templates: Vec::new(),
                chains: Vec::new(),
                copies: Vec::new(),
            });
            found.len() - 1
        });
        add_step(&mut found[at].chains, holder, track, StepOutline { path: path.clone(), id });
    }
    found.retain(|outline| {
        outline.has_numbers() || declared.iter().any(|folder| outline.holds_steps_in(folder))
    });
    attach_companions(&mut found, listing);
    for outline in &mut found {
        outline.chains.sort_by(|a, b| (a.track, &a.folder).cmp(&(b.track, &b.folder)));
        outline.chains.iter_mut().for_each(|chain| chain.steps.sort_by(|a, b| a.path.cmp(&b.path)));
    }
    fold_copies(found)
}

/// Keeps the first of equal workflows: same step files, same name up to a prefix. Installers copy a workflow
/// into `_bmad` (`create-prd`) and each assistant's skill folder (`bmad-create-prd`).
fn fold_copies(found: Vec<WorkflowOutline>) -> Vec<WorkflowOutline> {
    let related = |a: &str, b: &str| a == b || a.ends_with(&format!("-{b}")) || b.ends_with(&format!("-{a}"));
    let mut first: Vec<Option<usize>> = Vec::with_capacity(found.len());
    let mut groups: BTreeMap<Vec<(Track, Vec<&str>)>, Vec<usize>> = BTreeMap::new();
    for (at, outline) in found.iter().enumerate() {
        let group = groups.entry(outline.signature()).or_default();
        let original = group.iter().copied().find(|other| related(&found[*other].name(), &outline.name()));
        if original.is_none() {
            group.push(at);
        }
        first.push(original);
    }
    drop(groups);
    let mut kept: Vec<(usize, WorkflowOutline)> = Vec::new();
    for (at, (outline, original)) in found.into_iter().zip(first).enumerate() {
        match original {
            None => kept.push((at, outline)),
            Some(original) => {
                if let Some((_, kept)) = kept.iter_mut().find(|(kept, _)| *kept == original) {
                    kept.copies.push(outline.folder);
                }
            }
        }
    }
    kept.into_iter().map(|(_, outline)| outline).collect()
}

fn add_step(chains: &mut Vec<ChainOutline>, folder: ProjectPath, track: Track, step: StepOutline) {
    match chains.iter_mut().find(|chain| chain.folder == folder && chain.track == track) {
        Some(chain) => chain.steps.push(step),
        None => chains.push(ChainOutline { track, folder, steps: vec![step] }),
    }
}

fn step_file(path: &ProjectPath, entry_folders: &BTreeSet<&str>) -> Option<(StepId, StepFolder)> {
    let holder = folder_of(path)?;
    if path.extension() != Some("md") {
        return None;
    }
    let folder = StepFolder::named(holder.rsplit('/').next().unwrap_or(holder));
    let id = StepId::parse(path.file_stem());
    let is_step = match (&folder, id.form()) {
        (_, StepForm::Words) => false,
        (StepFolder::BesideEntry, _) => {
            path.file_name().starts_with("step-") && entry_folders.contains(holder) && !is_template(path)
        }
        (StepFolder::OfTrack(_) | StepFolder::OfVariant(_), _) => true,
    };
    is_step.then_some((id, folder))
}

fn attach_companions(found: &mut [WorkflowOutline], listing: &[ProjectPath]) {
    let mut at_folder: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, outline) in found.iter().enumerate() {
        at_folder.entry(outline.folder.as_str().to_owned()).or_default().push(at);
    }
    for path in listing {
        let (entry, template) = (is_entry(path), is_template(path));
        if !entry && !template {
            continue;
        }
        let Some(folder) = folder_of(path) else { continue };
        let folder = folder.strip_suffix("/templates").filter(|_| template).unwrap_or(folder);
        for at in at_folder.get(folder).into_iter().flatten() {
            let outline = &mut found[*at];
            if template {
                outline.templates.push(path.clone());
            } else if entry_fits(path, outline.variant.as_deref()) {
                outline.entries.push(path.clone());
            }
        }
    }
}

/// If a folder has several entries, the one with the variant's name.
fn entry_fits(entry: &ProjectPath, variant: Option<&str>) -> bool {
    let Some(variant) = variant else { return true };
    entry.file_stem().strip_prefix("workflow-").is_none_or(|name| name.split('-').any(|word| word == variant))
}

fn is_entry(path: &ProjectPath) -> bool {
    let name = path.file_name();
    name == "SKILL.md" || name == "workflow.md" || (name.starts_with("workflow-") && name.ends_with(".md"))
}

fn is_template(path: &ProjectPath) -> bool {
    path.extension() == Some("md") && path.file_stem().contains("template")
}

fn folder_of(path: &ProjectPath) -> Option<&str> {
    path.as_str().rsplit_once('/').map(|(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(paths: &[&str]) -> Vec<WorkflowOutline> {
        discover(&listing(paths), &[])
    }

    fn listing(paths: &[&str]) -> Vec<ProjectPath> {
        paths.iter().map(|path| ProjectPath::new(path).unwrap()).collect()
    }

    #[test]
    fn knows_every_folder_form() {
        let found = found(&[
            "_bmad/bmm/create-prd/steps-c/step-01-init.md",
            "_bmad/bmm/create-prd/steps-c/step-01b-continue.md",
            "_bmad/bmm/create-prd/steps-e/step-e-01-discovery.md",
            "_bmad/bmm/create-prd/steps-v/step-v-01-discovery.md",
            "_bmad/bmm/create-prd/templates/prd-template.md",
            "_bmad/bmm/create-prd/workflow-create-prd.md",
            "_bmad/bmm/create-prd/workflow-edit-prd.md",
            "_bmad/bmm/research/domain-steps/step-01-init.md",
            "_bmad/bmm/research/market-steps/step-01-init.md",
            "_bmad/bmm/research/research.template.md",
            "_bmad/bmm/research/workflow-domain-research.md",
            "_bmad/bmm/research/workflow-market-research.md",
            ".claude/skills/bmad-build/SKILL.md",
            ".claude/skills/bmad-build/step-01-route.md",
            ".claude/skills/bmad-build/step-oneshot.md",
            ".claude/skills/bmad-epics/SKILL.md",
            ".claude/skills/bmad-epics/steps/step-01-check.md",
        ]);
        let names: Vec<String> = found.iter().map(WorkflowOutline::name).collect();
        assert_eq!(names, ["create-prd", "domain-research", "market-research", "bmad-build", "bmad-epics"]);
        let tracks: Vec<Track> = found[0].chains.iter().map(|chain| chain.track).collect();
        assert_eq!(tracks, [Track::Create, Track::Edit, Track::Validate]);
        assert_eq!(found[0].chains[0].steps.len(), 2);
        assert_eq!((found[0].entries.len(), found[0].templates.len()), (2, 1));
        assert_eq!(found[1].entries, listing(&["_bmad/bmm/research/workflow-domain-research.md"]));
        assert_eq!(found[2].templates.len(), 1);
        assert_eq!(found[3].chains[0].steps.len(), 2);
        assert_eq!(found[3].folder.as_str(), ".claude/skills/bmad-build");
        assert_eq!(found[4].siblings(Track::Create), []);
        assert_eq!(found[0].siblings(Track::Create).len(), 2);
    }

    #[test]
    fn takes_nothing_else_for_a_step() {
        let found = found(&[
            "_bmad/docs/templates/step-template.md",
            "_bmad/docs/guide/step-file.md",
            "_bmad/docs/guide/workflow.md",
            "_bmad/docs/step-01-init.md",
            "_bmad/docs/x/steps/notes.md",
            "_bmad/docs/x/steps/step-01-init.yaml",
            "_bmad/docs/x/steps-guide.md",
            "stories/1-2-login.md",
            "stories/workflow.md",
            "step-01-at-the-root.md",
        ]);
        assert_eq!(found, []);
    }

    #[test]
    fn steps_in_a_step_folder_need_no_prefix() {
        let found = found(&["_bmad/agent/steps-e/e-01-load.md", "steps/01-init.md"]);
        assert_eq!(found.iter().map(WorkflowOutline::name).collect::<Vec<_>>(), ["agent", "steps"]);
    }

    #[test]
    fn a_variant_is_named_once() {
        let found =
            found(&["a/research/market-steps/step-01-init.md", "b/bmad-market-research/market-steps/01.md"]);
        let names: Vec<String> = found.iter().map(WorkflowOutline::name).collect();
        assert_eq!(names, ["market-research", "bmad-market-research"]);
    }

    #[test]
    fn a_declared_folder_needs_no_entry() {
        let listing = listing(&["flows/audit/step-look.md", "flows/other/step-01-look.md"]);
        let found = discover(&listing, &[ProjectPath::new("flows/audit").unwrap()]);
        assert_eq!(found.iter().map(WorkflowOutline::name).collect::<Vec<_>>(), ["audit"]);
    }

    #[test]
    fn a_copy_is_known_by_its_steps_and_name() {
        let found = found(&[
            "_bmad/create-architecture/steps/step-01-init.md",
            ".claude/skills/bmad-create-architecture/steps/step-01-init.md",
            ".claude/skills/bmad-create-brief/steps/step-01-init.md",
        ]);
        let names: Vec<String> = found.iter().map(WorkflowOutline::name).collect();
        assert_eq!(names, ["create-architecture", "bmad-create-brief"]);
        assert_eq!(found[0].copies, listing(&[".claude/skills/bmad-create-architecture"]));
    }
}
