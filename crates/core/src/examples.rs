//! An example for each name of this crate, by what one wants to do.
//!
//! # Text and edits
//!
//! ```
//! use stepmark_core::document::{Edit, KeyPath, Region, apply};
//!
//! let bytes = b"---\nstatus: draft # or done\n---\n";
//! let edit = Edit::Set { path: KeyPath::key("status"), value: "done".into() };
//! let edited = apply(bytes, &Region::Frontmatter, &[edit])?;
//! assert_eq!(edited.bytes, b"---\nstatus: done # or done\n---\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Files and what they say
//!
//! ```
//! use stepmark_core::{PathGlobs, ProjectPath, ProjectPathError};
//!
//! let prd = ProjectPath::new("docs/prd.md")?;
//! assert_eq!((prd.file_name(), prd.file_stem()), ("prd.md", "prd"));
//! assert!(PathGlobs::new(vec!["docs/**".parse()?]).matches(&prd));
//! let outside: ProjectPathError = ProjectPath::new("../prd.md").unwrap_err();
//! assert!(!outside.to_string().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! use stepmark_core::{Artifact, FileHash, ProjectPath, StateDigest, StateUnreadable};
//!
//! let read = |text: &str| Artifact::read(ProjectPath::new("prd.md").unwrap(), text.as_bytes().to_vec());
//! let prd = read("---\nstatus: draft\nscope: small\nstepsCompleted: [step-01-init]\n---\n# PRD\n");
//! let state = prd.state();
//! assert_eq!(state.status.as_ref().map(|status| status.text.as_str()), Some("draft"));
//! assert!(state.scope.is_some() && state.delegation.is_none() && prd.diagnoses().is_empty());
//! let (one, other) = (read("---\nstatus: draft\n---\n"), read("---\nstatus: 'draft' # yet\n---\n"));
//! assert_ne!(one.file_hash(), other.file_hash());
//! assert_eq!(StateDigest::of(&one.state_value()?), StateDigest::of(&other.state_value()?));
//! assert_eq!(FileHash::of(one.bytes()).to_string().len(), 64);
//! let twice = read("---\nstatus: draft\nstatus: done\n---\n").state_value();
//! assert!(matches!(twice, Err(StateUnreadable::KeyTwice { .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! # let project = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/repos/demo");
//! use stepmark_core::{Membership, Next, ProjectPath, TrackedArtifact, Workspace};
//!
//! let workspace = Workspace::open(project)?;
//! assert!(!workspace.workflows().is_empty());
//! let path = ProjectPath::new("_bmad-output/planning-artifacts/prd.md")?;
//! let prd: TrackedArtifact = workspace.artifact(&path)?;
//! assert!(matches!(prd.membership(), Membership::Member { .. }));
//! let progress = prd.progress().ok_or("it has a workflow")?;
//! assert_eq!((progress.done_units, progress.total), (5, 14));
//! assert!(matches!(&progress.next, Next::Step { .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The project
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path();
//! # std::fs::write(project.join("prd.md"), "---\nid: PRD-1\nstatus: draft\nstepsCompleted: [step-01-init]\n---\n")?;
//! use stepmark_core::{Clock, ErrorKind, ProjectPath, Workspace};
//!
//! let noon = "2026-11-22T12:00:00Z".parse()?;
//! let workspace = Workspace::open(project)?.with_clock(Clock::of(move || noon));
//! assert_eq!(workspace.now(), noon);
//! assert_eq!(Workspace::open(project.join("none")).unwrap_err().kind(), ErrorKind::Usage);
//! let found = workspace.artifacts()?;
//! assert!(found.is_whole() && found.artifacts.len() == 1);
//! let missing = workspace.artifact(&ProjectPath::new("none.md")?);
//! assert_eq!(missing.unwrap_err().kind(), ErrorKind::Missing);
//! assert!(!workspace.context().of(None)?.has_problem());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path();
//! # std::fs::write(project.join("prd.md"), "---\nid: PRD-1\nstatus: draft\nstepsCompleted: [step-01-init]\n---\n")?;
//! use stepmark_core::{ConfigurationSources, ProjectPath, Root, Workspace};
//!
//! let root = Root::open(project)?;
//! assert!(root.resolve(&ProjectPath::new("prd.md")?)?.ends_with("prd.md"));
//! assert!(Root::open(project.join("none")).is_err());
//! let workspace = Workspace::open_with(root, &ConfigurationSources::default())?;
//! assert!(workspace.configuration().is_artifact(&ProjectPath::new("prd.md")?));
//! assert!(workspace.configuration().unknown_keys().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path();
//! # std::fs::write(project.join("prd.md"), "---\nid: PRD-1\nstatus: draft\nstepsCompleted: [step-01-init]\n---\n")?;
//! use stepmark_core::{ArtifactChange, Revision, Workspace};
//!
//! let workspace = Workspace::open(project)?;
//! let first = workspace.changes(&Revision::default())?;
//! assert!(matches!(&first.changes[..], [ArtifactChange::Added(prd)] if prd.path().as_str() == "prd.md"));
//! assert!(workspace.changes(&first.revision)?.changes.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! # #[cfg(feature = "watch")] {
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path();
//! # std::fs::write(project.join("prd.md"), "---\nid: PRD-1\nstatus: draft\nstepsCompleted: [step-01-init]\n---\n")?;
//! use stepmark_core::{Revision, Workspace};
//!
//! let mut watch = Workspace::open(project)?.watch(Revision::default());
//! let first = watch.next().ok_or("it is endless")??;
//! assert_eq!(first.changes[0].path().as_str(), "prd.md");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rules
//!
//! ```
//! # let project = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/repos/demo");
//! use stepmark_core::{Known, Level, RULES, Selection, Severity, Workspace, rule_of};
//!
//! let rule = rule_of("key-twice").ok_or("it is a rule")?;
//! assert!(RULES.contains(&rule) && "off".parse::<Level>().is_ok());
//! let workspace = Workspace::open(project)?;
//! let found = workspace.artifacts()?.artifacts;
//! let findings = found.iter().flat_map(|artifact| workspace.checks().own_findings(artifact));
//! assert!(findings.filter(|finding| finding.severity == Severity::Error).any(|one| one.rule.id == rule.id));
//! let report = workspace.check(&found, Selection::All, Known::LeftOut)?;
//! assert!(report.files.iter().any(|file| !file.findings.is_empty()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! # #[cfg(feature = "write")] {
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path();
//! # std::fs::write(project.join("prd.md"), "---\nid: PRD-1\nstatus: draft\nstepsCompleted: [step-01-init]\n---\n")?;
//! use stepmark_core::{ProjectPath, Safety, Workspace};
//!
//! let workspace = Workspace::open(project)?;
//! let path = ProjectPath::new("prd.md")?;
//! let fixed = workspace.fixes().preview(&path, b"---\nstatus: draft\n---\n", Safety::Safe)?;
//! assert!(fixed.made.is_empty(), "there is nothing to fix");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Changes
//!
//! ```
//! # let project = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/repos/demo");
//! use stepmark_core::Workspace;
//!
//! let workspace = Workspace::open(project)?;
//! let lifecycle = workspace.configuration().lifecycles().get("bmad-story").ok_or("it is built in")?;
//! assert!(lifecycle.is_terminal("done") && lifecycle.moves().count() > 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path();
//! # std::fs::write(project.join("prd.md"), "---\nid: PRD-1\nstatus: draft\nstepsCompleted: [step-01-init]\n---\n")?;
//! use stepmark_core::{ProjectPath, TransitionRefusal, Workspace};
//!
//! let prd = Workspace::open(project)?.artifact(&ProjectPath::new("prd.md")?)?;
//! let plan = prd.complete("step-02-discovery")?;
//! assert!(!plan.edits.is_empty());
//! assert!(matches!(prd.complete(""), Err(TransitionRefusal::EmptyStep)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! # #[cfg(feature = "write")] {
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path();
//! # std::fs::write(project.join("prd.md"), "---\nid: PRD-1\nstatus: draft\nstepsCompleted: [step-01-init]\n---\n")?;
//! use stepmark_core::{ChangeReason, Command, ProjectPath, Strictness, UpdateError, Workspace};
//!
//! let workspace = Workspace::open(project)?;
//! let carried = workspace.update("prd.md", |prd| prd.set("status", "review"))?;
//! assert_eq!(carried.artifact.state().status.as_ref().map(|status| &*status.text), Some("review"));
//! let refused = workspace.update("prd.md", |_| Err("not now".to_owned()));
//! assert!(matches!(refused, Err(UpdateError::Refused { source, .. }) if source == "not now"));
//! let command = Command::Complete { steps: vec!["step-02-discovery".to_owned()] };
//! let reason = ChangeReason::Said("the interviews are done".to_owned());
//! workspace.execute(&ProjectPath::new("prd.md")?, &command, Strictness::Warn, reason)?;
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! # #[cfg(feature = "write")] {
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path();
//! # std::fs::write(project.join("prd.md"), "---\nid: PRD-1\nstatus: draft\nstepsCompleted: [step-01-init]\n---\n")?;
//! use std::time::Duration;
//! use stepmark_core::{ArtifactLock, CommitOptions, FsyncPolicy, LockError, ProjectPath, Workspace};
//!
//! let options = CommitOptions { fsync: FsyncPolicy::Never, ..CommitOptions::default() };
//! let workspace = Workspace::open(project)?.with_commit_options(options);
//! let prd = ProjectPath::new("prd.md")?;
//! let _held = ArtifactLock::acquire(workspace.root(), &prd, Duration::ZERO)?;
//! let second = ArtifactLock::acquire(workspace.root(), &prd, Duration::ZERO);
//! assert!(matches!(second, Err(LockError::Timeout { .. })));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! # #[cfg(feature = "write")] {
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path();
//! # std::fs::write(project.join("prd.md"), "---\nid: PRD-1\nstatus: draft\nstepsCompleted: [step-01-init]\n---\n")?;
//! use stepmark_core::{DelegationOrder, ProjectPath, Workspace};
//!
//! let workspace = Workspace::open(project)?;
//! let prd = ProjectPath::new("prd.md")?;
//! let order = DelegationOrder {
//!     parent: &prd,
//!     agent: "researcher",
//!     task: Some("Ask three users."),
//!     file: None,
//!     child_id: "PRD-1-a",
//!     parent_id: "PRD-1",
//! };
//! let child = workspace.delegations().delegate(&order)?.child;
//! assert_eq!(workspace.delegations().chain(&child)?.len(), 2);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # History, sessions, leases, resumption
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path();
//! # std::fs::write(project.join("prd.md"), "---\nid: PRD-1\nstatus: draft\nstepsCompleted: [step-01-init]\n---\n")?;
//! use stepmark_core::{Actor, Attribution, SessionId, Workspace};
//!
//! let writer: Actor = "agent:writer".parse()?;
//! let attribution = Attribution { session: Some("s-1".parse::<SessionId>()?), ..Attribution::of(writer) };
//! let workspace = Workspace::open(project)?.with_attribution(attribution);
//! assert_eq!(workspace.attribution().actor.name, "writer");
//! assert!("writer".parse::<Actor>().is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! # #[cfg(feature = "write")] {
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path();
//! # std::fs::write(project.join("prd.md"), "---\nid: PRD-1\nstatus: draft\nstepsCompleted: [step-01-init]\n---\n")?;
//! use stepmark_core::{EventDraft, EventSelection, Kind, Workspace};
//!
//! let workspace = Workspace::open(project)?;
//! workspace.history().append_event(EventDraft::new(Kind::SESSION_START))?;
//! let events = workspace.history().ask(|history| history.select(EventSelection::default()))?;
//! assert_eq!(events.len(), 1);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path();
//! # std::fs::write(project.join("prd.md"), "---\nid: PRD-1\nstatus: draft\nstepsCompleted: [step-01-init]\n---\n")?;
//! use stepmark_core::{ProjectPath, Workspace};
//!
//! let workspace = Workspace::open(project)?;
//! let prd = ProjectPath::new("prd.md")?;
//! assert!(workspace.leases().get(&prd)?.lease.is_none());
//! let answer = workspace.gates().verify(&prd, "step-01-init")?;
//! assert!(answer.verdict.is_ok(), "the step is done");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! # #[cfg(feature = "write")] {
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path();
//! # std::fs::write(project.join("prd.md"), "---\nid: PRD-1\nstatus: draft\nstepsCompleted: [step-01-init]\n---\n")?;
//! use stepmark_core::{ProjectPath, Workspace};
//!
//! let workspace = Workspace::open(project)?;
//! let prd = ProjectPath::new("prd.md")?;
//! let made = workspace.checkpoints().make(&prd, Some("before the interviews"))?;
//! assert_eq!(workspace.checkpoints().places(&prd)?, [made.place]);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! # let project = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/repos/demo");
//! use stepmark_core::{ProjectPath, ResumeTier, Workspace};
//!
//! let prd = ProjectPath::new("_bmad-output/planning-artifacts/prd.md")?;
//! let resumption = Workspace::open(project)?.resume(&prd, ResumeTier::Frontmatter)?;
//! assert!(resumption.report.sources.iter().any(|source| source.state().is_some()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
