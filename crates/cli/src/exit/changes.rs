//! Failures to change an artifact.

use super::{Exit, Failure, chain};
use crate::{output::Excerpt, published_file::PublishFileError};
use stepmark_frontmatter::{Document, EditError};
use stepmark_model::{
    artifact::ProjectPath,
    lifecycle::MoveRefusal,
    transition::{Remark, TransitionRefusal},
};
use stepmark_store::{
    changes::ChangeError,
    commit::{CommitError, Found, LockError},
    disk::ResolveError,
    fixing::StagedFixError,
    leases::LeaseError,
};

impl From<ChangeError> for Failure {
    fn from(error: ChangeError) -> Self {
        let state = error.write_state();
        of_change(error).with_write_state(state)
    }
}

impl From<CommitError> for Failure {
    fn from(error: CommitError) -> Self {
        ChangeError::Commit(error).into()
    }
}

fn of_change(error: ChangeError) -> Failure {
    if let Some(conflict) = error.conflict() {
        let help = match (&conflict.found, &conflict.kept) {
            (_, Some(kept)) => {
                format!("their bytes are kept in `{}`; compare, and run the command again", kept.display())
            }
            (Found::Absent, _) => "the file is gone; nothing was written".to_owned(),
            _ => "their bytes stand; run the command again".to_owned(),
        };
        return Failure::from_error(Exit::Conflict, &error).with_help(help);
    }
    if error.is_conflict() {
        return Failure::from_error(Exit::Conflict, &error);
    }
    match error {
        ChangeError::Store(error) => error.into(),
        ChangeError::Path(error) => Failure::from_error(Exit::Usage, &error),
        ChangeError::Refused { path, source } => refusal(&path, &source),
        ChangeError::Edit { path, bytes, source } => edit_failure(&path, &bytes, &source),
        ChangeError::NoArtifact { .. } => Failure::from_error(Exit::Usage, &error),
        ChangeError::Undone { by, .. } => Failure::from_error(Exit::Findings, &error)
            .with_help(format!("`stepmark undo {by}` brings it back")),
        ChangeError::IdTaken { .. } => {
            Failure::from_error(Exit::Findings, &error).with_help("give it another id, with --id")
        }
        ChangeError::Removed { was_in_git: false, .. } => Failure::from_error(Exit::Findings, &error)
            .with_help("it was removed by force, and git did not have these bytes: they are gone"),
        ChangeError::Removed { ref path, .. } => {
            let help = format!(
                "git brings the file back: `git restore {path}` as long as the index has it, else `git checkout COMMIT -- {path}`, where COMMIT \
                 is one that has it; history goes on from there"
            );
            Failure::from_error(Exit::Findings, &error).with_help(help)
        }
        ChangeError::NotInGit { .. } => Failure::from_error(Exit::Findings, &error)
            .with_help("commit it first, or remove it with `--force`"),
        ChangeError::HasChildren { .. } => Failure::from_error(Exit::Findings, &error)
            .with_help("remove them first, or remove it with `--force`: then they have no parent (SM504)"),
        ChangeError::Lease(error) => error.into(),
        ChangeError::Exists { .. } | ChangeError::Left { .. } => Failure::from_error(Exit::Findings, &error),
        ChangeError::Commit(error) => {
            let exit = match &error {
                CommitError::Lock(LockError::Resolve(error)) => resolve_exit(error),
                _ => Exit::Io,
            };
            Failure::from_error(exit, &error)
        }
        _ => Failure::from_error(Exit::Io, &error),
    }
}

impl From<LeaseError> for Failure {
    fn from(error: LeaseError) -> Self {
        match error {
            LeaseError::Store(error) => error.into(),
            LeaseError::Commit(error) => ChangeError::Commit(error).into(),
            LeaseError::Refused { ref source, .. } => {
                Self::from_error(Exit::Conflict, &error).with_help(source.remedy())
            }
            _ => Self::from_error(Exit::Io, &error),
        }
    }
}

pub(super) fn refusal(path: &ProjectPath, refusal: &TransitionRefusal) -> Failure {
    let exit = match refusal {
        TransitionRefusal::EmptyStep => Exit::Usage,
        _ => Exit::Findings,
    };
    let help = match refusal {
        TransitionRefusal::Strict(_) => "without `--strict` this is only a warning".to_owned(),
        TransitionRefusal::Unknown(Remark::OtherName { .. }) => {
            format!("`stepmark show {path}` lists its steps: write the name of one, or its number alone")
        }
        TransitionRefusal::Unknown(_) => {
            format!("`stepmark show {path}` lists its steps; `--force --reason TEXT` writes it all the same")
        }
        TransitionRefusal::OtherSpelling { key, .. } => format!(
            "give the steps names first: `stepmark set {path} {key}='[step-01-init, …]'`; `--force --reason TEXT` mixes them all the same"
        ),
        TransitionRefusal::NoSteps { has_status: true } => format!(
            "its status shows how far it is: `stepmark transition {path}` lists the moves; `--force --reason TEXT` begins a list all the same"
        ),
        TransitionRefusal::NoSteps { has_status: false } => format!(
            "`stepmark show context {path}` says which workflow is looked for; `--force --reason TEXT` begins a list all the same"
        ),
        TransitionRefusal::ListReplaced { key } => format!(
            "add a step with `stepmark complete {path} STEP`, or write the whole list: `stepmark set {path} {key}='[1, 2, 3]'`"
        ),
        TransitionRefusal::NotThere { .. } => format!("`stepmark show {path}` says what is there"),
        TransitionRefusal::StepsFollow { .. } => {
            format!("`stepmark next {path}` says which command comes next")
        }
        TransitionRefusal::Record { help, .. } => help.clone(),
        TransitionRefusal::OfFlow => {
            "`stepmark help flow` lists them: `retry` tries a task again, `restore` takes back what was edited by other means".to_owned()
        }
        TransitionRefusal::EmptyStep => "write it as in `step-03-success`, `3` or `03`".to_owned(),
        TransitionRefusal::OpenChildren { .. } => {
            "finish them first, or force it: `--force --reason TEXT`; `stepmark tree` shows them".to_owned()
        }
        TransitionRefusal::NotImported => format!("`stepmark import stories {path}` takes it in"),
        TransitionRefusal::NoLifecycle => format!(
            "declare one under `lifecycles` in `.stepmark/config.yaml`, or write the word: `stepmark set {path} status=…`"
        ),
        TransitionRefusal::Move(refusal) if matches!(**refusal, MoveRefusal::UnknownTarget { .. }) => {
            format!(
                "`stepmark transition {path}` lists the moves; any word is written by `stepmark set {path} status=WORD --force --reason TEXT`"
            )
        }
        TransitionRefusal::Move(_) => {
            format!("`stepmark transition {path}` lists the moves; to force one: `--force --reason TEXT`")
        }
        TransitionRefusal::Change(refusal) if !refusal.may_be_forced() => {
            format!("add to it, and leave what is there; `stepmark show {path}` shows it")
        }
        TransitionRefusal::Change(_) => {
            format!(
                "`stepmark transition {path}` lists the moves; to change it all the same: `--force --reason TEXT`"
            )
        }
        TransitionRefusal::Finished => format!("`stepmark show {path}` shows its state"),
        TransitionRefusal::ScopeOfHuman { .. } => "a person changes it with `--by human`".to_owned(),
        TransitionRefusal::ScopeIsText { .. } => {
            format!("if it may go: `stepmark set {path} scope=small`")
        }
        _ => format!("`stepmark check {path}` shows the place"),
    };
    let mut failure = Failure::new(exit, format!("`{path}` is left as it is")).with_help(help);
    failure.causes = vec![chain(refusal)];
    failure
}

pub(crate) fn foreign_head(form: &str) -> String {
    format!("it begins with {form}, which is left alone: state is kept in UTF-8 YAML between `---` lines")
}

pub(super) fn edit_failure(path: &ProjectPath, bytes: &[u8], error: &EditError) -> Failure {
    let place = match error {
        EditError::Refused { span, .. } => span.start,
        EditError::Parse(error) => error.offset(),
        _ => 0,
    };
    let position = Excerpt::new(bytes).position(place);
    let failure = Failure::new(Exit::Findings, format!("cannot edit `{path}:{position}`: {error}"));
    match error {
        EditError::Region(_) => match Document::scan(bytes).foreign_head() {
            Some(form) => failure.with_help(foreign_head(form)),
            None => failure.with_help("put `---` lines around the keys at the very start of the file"),
        },
        EditError::Parse(_) => failure.with_help("`stepmark check` shows the place; nothing was changed"),
        _ => failure.with_help("nothing was changed"),
    }
}

failures! {
    StagedFixError: Io { Change, Store };
}

impl From<ResolveError> for Failure {
    fn from(error: ResolveError) -> Self {
        Self::from_error(resolve_exit(&error), &error)
    }
}

pub(super) const fn resolve_exit(error: &ResolveError) -> Exit {
    match error {
        ResolveError::Unreachable { .. } => Exit::Io,
        _ => Exit::Usage,
    }
}

impl From<PublishFileError> for Failure {
    fn from(error: PublishFileError) -> Self {
        match &error {
            PublishFileError::NoFile { .. } => Self::from_error(Exit::Usage, &error),
            PublishFileError::Foreign { .. } => Self::from_error(Exit::Usage, &error).with_help(
                "name another file; only an older one of this command, or an empty file, is replaced",
            ),
            PublishFileError::GitFolder { .. } => {
                Self::from_error(Exit::Usage, &error).with_help("name a file elsewhere")
            }
            PublishFileError::Write { .. } => {
                Self::from_error(Exit::Io, &error).with_help("its folder must take files")
            }
        }
    }
}
