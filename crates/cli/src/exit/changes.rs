//! Failures to change an artifact.

use super::{Exit, Failure, chain};
use crate::{
    commands::{asdd, coordination::report::help_of_task, flow},
    output::Excerpt,
    published_file::PublishFileError,
};
use stepmark_frontmatter::{Document, EditError};
use stepmark_model::{
    artifact::ProjectPath,
    lifecycle::MoveRefusal,
    transition::{Remark, TransitionRefusal},
};
use stepmark_store::{
    ErrorKind,
    changes::EditFailure,
    commit::{CommitError, Found},
};

impl From<CommitError> for Failure {
    fn from(error: CommitError) -> Self {
        stepmark_store::Error::from(error).into()
    }
}

impl From<stepmark_store::Error> for Failure {
    fn from(error: stepmark_store::Error) -> Self {
        let exit = match error.kind() {
            ErrorKind::Usage | ErrorKind::Missing | ErrorKind::Unknown => Exit::Usage,
            ErrorKind::Conflict | ErrorKind::Held => Exit::Conflict,
            ErrorKind::Io => Exit::Io,
            ErrorKind::Nothing => Exit::Nothing,
            ErrorKind::Waits => Exit::Waits,
            ErrorKind::Person => Exit::Person,
            _ => Exit::Findings,
        };
        let mut failure = Self::from_error(exit, &error);
        if let Some(edit) = error.detail::<EditFailure>() {
            failure = edit_failure(edit);
        } else if let (Some(refusal), Some(path)) = (error.detail::<TransitionRefusal>(), error.path()) {
            failure.causes = vec![chain(refusal)];
            failure.help = Some(help_of_transition(path, refusal));
        } else {
            failure.help = help_of(&error);
        }
        failure.help = error.remedy().map(str::to_owned).or(failure.help);
        Self { write_state: error.write_state(), ..failure }
    }
}

/// The help, where the reason says more than the error.
fn help_of(error: &stepmark_store::Error) -> Option<String> {
    if let Some(conflict) = error.conflict() {
        return Some(match (&conflict.found, &conflict.kept) {
            (_, Some(kept)) => {
                format!("their bytes are kept in `{}`; compare, and run the command again", kept.display())
            }
            (Found::Absent, _) => "the file is gone; nothing was written".to_owned(),
            _ => "their bytes stand; run the command again".to_owned(),
        });
    }
    let of_task = error.detail().and_then(help_of_task).filter(|help| !help.is_empty());
    of_task
        .or_else(|| error.detail().and_then(asdd::help_of_refusal))
        .or_else(|| error.detail().and_then(flow::help_of_refusal))
}

fn help_of_transition(path: &ProjectPath, refusal: &TransitionRefusal) -> String {
    match refusal {
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
    }
}

pub(crate) fn foreign_head(form: &str) -> String {
    format!("it begins with {form}, which is left alone: state is kept in UTF-8 YAML between `---` lines")
}

fn edit_failure(EditFailure { path, bytes, source: error }: &EditFailure) -> Failure {
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
