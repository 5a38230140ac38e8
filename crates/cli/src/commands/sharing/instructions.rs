//! `stepmark instructions`

use clap::{Args, Subcommand};
use stepmark_model::{artifact::ProjectPath, projection::instructions::CacheState};
use stepmark_store::instructions::{CachedInstructions, Refreshed};

use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Assemble an agent's instruction file from components, settings and state digests
///
/// `instructions.output` and `instructions.components` of the configuration say where it goes and what it is
/// made of. It holds no progress and no time, so it changes exactly when one of its inputs does.
#[derive(Debug, Args)]
pub(crate) struct Instructions {
    #[command(subcommand)]
    task: Task,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Task {
    /// Write the file and the `.meta` beside it, if an input has changed
    Build,
    /// Check whether the file is what its inputs give
    ///
    /// Ends with 1 when it is absent, stale (an input has changed) or tampered with (its bytes are not those
    /// that were written).
    Verify,
    /// Print the file, after its bytes were compared with their hash
    Show,
}

impl Instructions {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match self.task {
            Task::Build => build(project, output),
            Task::Verify => verify(project, output),
            Task::Show => show(project, output),
        }
    }
}

fn build(project: &Project, output: &Output) -> Result<Exit, Failure> {
    let refreshed = project.workspace.instructions().refresh()?.ok_or_else(not_configured)?;
    let before = &refreshed.before;
    output.answer(|| {
        let mut answer = answer(before, "build", None);
        let Answer::Instructions { written, kept, .. } = &mut answer;
        (*written, *kept) = (Some(refreshed.is_written), Some(refreshed.kept.as_ref()));
        answer
    });
    say_kept(&refreshed, output);
    warn(before, output);
    let (path, size) = (&before.output, before.meta.content_size_bytes);
    match refreshed.is_written {
        true => output.remark(format_args!("wrote {path}: {size} bytes")),
        false => output.remark(format_args!("{path} is up to date: {size} bytes")),
    }
    Ok(Exit::Fine)
}

pub(crate) fn say_kept(refreshed: &Refreshed, output: &Output) {
    let Some(kept) = &refreshed.kept else { return };
    let path = &refreshed.before.output;
    output.warning(format_args!("{path} was edited, and is written anew: the edited version is in {kept}; what is to stay belongs into a component"));
}

fn verify(project: &Project, output: &Output) -> Result<Exit, Failure> {
    let cached = project.workspace.instructions().read()?.ok_or_else(not_configured)?;
    output.answer(|| answer(&cached, "verify", None));
    warn(&cached, output);
    let path = &cached.output;
    if cached.verdict == CacheState::Current {
        output.remark(format_args!("{path} is current"));
        return Ok(Exit::Fine);
    }
    output.line(format_args!("{path} is {}: {}", cached.verdict.word(), reason(&cached.verdict)));
    output.remark(format_args!("  {}", remedy(&cached.verdict)));
    Ok(Exit::Findings)
}

fn show(project: &Project, output: &Output) -> Result<Exit, Failure> {
    let cached = project.workspace.instructions().read()?.ok_or_else(not_configured)?;
    let refused = || {
        let message =
            format!("`{}` is {}: {}", cached.output, cached.verdict.word(), reason(&cached.verdict));
        Failure::new(Exit::Findings, message).with_help(remedy(&cached.verdict))
    };
    let Some(bytes) = &cached.bytes else { return Err(refused()) };
    match &cached.verdict {
        CacheState::Tampered { .. } | CacheState::Absent => return Err(refused()),
        CacheState::MetaBehind if bytes != cached.assembled.as_bytes() => return Err(refused()),
        CacheState::InputsChanged { .. } | CacheState::MetaBehind => output.warning(format_args!(
            "{} is stale: {}; {}",
            cached.output,
            reason(&cached.verdict),
            remedy(&cached.verdict)
        )),
        CacheState::Current => {}
    }
    if output.json {
        let text = String::from_utf8_lossy(bytes).into_owned();
        output.answer(|| answer(&cached, "show", Some(text)));
    } else {
        output.bytes(bytes);
    }
    Ok(Exit::Fine)
}

fn not_configured() -> Failure {
    Failure::new(Exit::Findings, "the configuration names no instruction file")
        .with_help("give `instructions: {output: PATH, components: [PATH, …]}` in `.stepmark/config.yaml`")
}

fn warn(cached: &CachedInstructions, output: &Output) {
    for path in &cached.unreadable {
        output.warning(format_args!("{path} has no state digest: `stepmark check {path}` says why"));
    }
    for problem in &cached.problems {
        output.warning(format_args!("{}: {}", problem.path, problem.kind));
    }
}

fn reason(verdict: &CacheState) -> String {
    match verdict {
        CacheState::Current => "it is what its inputs give".to_owned(),
        CacheState::Absent => "there is no such file".to_owned(),
        CacheState::InputsChanged { changed } => format!("changed since: {}", changed.join(", ")),
        CacheState::MetaBehind => "its .meta is missing or behind, as after an interrupted build".to_owned(),
        CacheState::Tampered { expected, found } => {
            format!("its SHA-256 is {found}, and {expected} was written")
        }
    }
}

const fn remedy(verdict: &CacheState) -> &'static str {
    match verdict {
        CacheState::Tampered { .. } => {
            "move what is to stay into a component; `stepmark instructions build`, or the next session, writes the file anew and keeps this version beside it"
        }
        _ => "`stepmark instructions build` writes it, and so does the next start or end of a session",
    }
}

answers! { Answer<'a>
    /// `instructions`: an instruction file and its components
    "stepmark.instructions/1" Instructions {
        task: &'a str, output: &'a ProjectPath, meta: &'a ProjectPath, verdict: &'static str, reason: String,
        changed: &'a [String], written: Option<bool>, content_hash: &'a str, content_size_bytes: u64,
        components: &'a [String], unreadable: &'a [ProjectPath], content: Option<String>,
        /// The place of the edited version, if there is one; of `build` alone
        #[serde(skip_serializing_if = "Option::is_none")] kept: Option<Option<&'a ProjectPath>>,
    }
}

fn answer<'a>(cached: &'a CachedInstructions, task: &'a str, content: Option<String>) -> Answer<'a> {
    let changed = match &cached.verdict {
        CacheState::InputsChanged { changed } => changed.as_slice(),
        _ => &[],
    };
    Answer::Instructions {
        task,
        output: &cached.output,
        meta: &cached.meta_file,
        verdict: cached.verdict.word(),
        reason: reason(&cached.verdict),
        changed,
        written: None,
        content_hash: &cached.meta.content_hash,
        content_size_bytes: cached.meta.content_size_bytes,
        components: &cached.meta.components,
        unreadable: &cached.unreadable,
        content,
        kept: None,
    }
}
