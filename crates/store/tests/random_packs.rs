//! Packs that are made up at random, in a project: after each move `check` is clean, what is refused changes
//! no byte and names a move that is legal, and undo gives the bytes back.
#![expect(clippy::disallowed_methods, reason = "an edge: files are read and written here as a person would")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../packs/tests/made_up/mod.rs"]
mod made_up;

use std::fs;

use made_up::{Model, Numbers, work_of};
use stepmark_model::{
    artifact::ProjectPath,
    check::ProblemCounts,
    journal::{Attribution, Kind},
    packs::MoveCall,
};
use stepmark_store::{
    changes::ChangeReason,
    checking::{Known, Selection},
    commit::{CommitOptions, FsyncPolicy, Outcome},
    history::Selection as EventSelection,
    workspace::Workspace,
};

const SEEDS: u64 = 150;

#[test]
fn a_made_up_pack_is_kept_in_a_project() {
    let (mut passed, mut refused) = (0, 0);
    for seed in 0..SEEDS {
        let folder = tempfile::tempdir().unwrap();
        let (place, path) = (folder.path().join("w/a.md"), ProjectPath::new("w/a.md").unwrap());
        let mut numbers = Numbers(seed);
        let model = Model::of(&mut numbers);
        fs::create_dir_all(folder.path().join(".stepmark/packs")).unwrap();
        fs::create_dir(folder.path().join("w")).unwrap();
        fs::write(folder.path().join(".stepmark/packs/made-up.yaml"), model.pack().to_string()).unwrap();
        fs::write(&place, "---\n# kept\nstatus: s0 # here\n---\nText\n").unwrap();
        let workspace = Workspace::open(folder.path())
            .unwrap()
            .with_commit_options(CommitOptions { fsync: FsyncPolicy::Never, ..CommitOptions::default() })
            .with_attribution(Attribution::of("agent:w".parse().unwrap()));
        for step in 0..4 {
            let before = fs::read(&place).unwrap();
            let legal = workspace.legal_moves(&path).unwrap();
            let state = work_of(&before).state;
            let out: Vec<usize> =
                (0..model.moves.len()).filter(|at| model.moves[*at].from.contains(&state)).collect();
            let at = match numbers.below(4) {
                0 => numbers.below(model.moves.len()),
                _ => *out.first().unwrap_or(&0),
            };
            let reason = (*numbers.one(&[true, true, false])).then(|| format!("reason {step}"));
            let argument =
                (model.moves[at].has_argument ^ (numbers.below(8) == 0)).then(|| format!("'{step}: #x"));
            let mut call = MoveCall::new("work", &format!("m{at}"));
            call.args.extend(argument.clone().map(|text| ("given".to_owned(), text)));
            let expected = model.after(&work_of(&before), at, (reason.as_deref(), argument.as_deref()));
            match (workspace.make_move(&path, call.clone(), reason.clone()), expected) {
                (Ok(made), Some(expected)) => {
                    let after = fs::read(&place).unwrap();
                    assert_eq!(work_of(&after), expected, "seed {seed}, step {step}, {call:?}");
                    let artifacts = workspace.artifacts().unwrap().artifacts;
                    let report = workspace.check(&artifacts, Selection::All, Known::LeftOut).unwrap();
                    let findings = report.findings();
                    assert_eq!(ProblemCounts::of(findings).errors, 0, "seed {seed}, step {step}");
                    if made.outcome != Outcome::Unchanged {
                        let events =
                            workspace.history().ask(|history| history.select(EventSelection::default()));
                        let event =
                            events.unwrap().into_iter().find(|event| event.kind == Kind::CHANGE).unwrap();
                        workspace.undo(&event, ChangeReason::Unsaid).unwrap();
                        assert_eq!(fs::read(&place).unwrap(), before, "seed {seed}, step {step}, {call:?}");
                        workspace.make_move(&path, call, reason).unwrap();
                    }
                    passed += 1;
                }
                (Err(error), None) => {
                    assert_eq!(fs::read(&place).unwrap(), before, "{error}");
                    let told = stepmark_model::spelling::with_causes(&error);
                    if told.contains(" there is ") {
                        assert!(
                            legal.iter().all(|made| told.contains(&format!("`{}`", made.name))),
                            "{told}"
                        );
                    }
                    refused += 1;
                }
                (got, expected) => panic!("seed {seed}, {call:?}: {got:?} instead of {expected:?}"),
            }
        }
    }
    assert!(passed > 100 && refused > 100, "{passed} passed, {refused} refused");
}
